"""The application: one list of commands, and what happens when one of them fails."""

from __future__ import annotations

import importlib
from typing import Annotated

import typer

from cobayes.cli.failures import FriendlyCommand, FriendlyGroup

COMMANDS = (
    "teach",
    "compare",
    "rates",
    "robustness",
    "conjecture",
    "world",
    "fit",
    "studio",
    "experiment",
    "info",
    "examples",
    "reproduce",
    "runs",
    "warm-up",
)
"""Modules of `cobayes.cli`, in the order of the help text.

To add a command, add its module here, with hyphens where the module's name has underscores. The
module defines a function of the module's own name, whose docstring is the help text, and may define
``EPILOG``, shown below its options. A command with commands of its own defines a `typer.Typer` of
that name instead.
"""

app = typer.Typer(
    name="cobayes",
    cls=FriendlyGroup,
    no_args_is_help=True,
    add_completion=True,
    rich_markup_mode=None,  # rich's boxes cut the names of options off at 80 columns
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Try:  cobayes teach example:diagnosis --rule both --seed 16",
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from cobayes import __version__

        typer.echo(f"cobayes {__version__}")
        raise typer.Exit


@app.callback(
    help=(
        "Teach and learn by Sequential Cooperative Bayesian Inference (SCBI).\n\n"
        "A teacher who knows the true hypothesis picks data; a learner updates its belief. In "
        "plain Bayesian inference (BI) neither thinks of the other; in SCBI both do."
    )
)
def cobayes(
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            callback=_show_version,
            is_eager=True,
            help="Show the version and exit.",
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the full traceback of an error.")
    ] = False,
) -> None:
    """Take the options that stand before the command."""
    # Both options do their work elsewhere: the callback above, and FriendlyGroup.
    del version, debug


for _name in COMMANDS:
    _module = importlib.import_module(f"cobayes.cli.{_name.replace('-', '_')}")
    _command = getattr(_module, _name.replace("-", "_"))
    if isinstance(_command, typer.Typer):
        app.add_typer(_command, name=_name)
    else:
        app.command(_name, cls=FriendlyCommand, epilog=getattr(_module, "EPILOG", None))(_command)
