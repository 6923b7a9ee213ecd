"""The application: the list of commands, and the one place where errors are shown."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from cobayes.cli import terminal

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
)
"""The commands, in the order of the help text.

To add one, add its name here and a module of that name (with underscores for hyphens) to
`cobayes.cli`. The module defines a click command of the module's own name by `command` below.
"""

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130

_LONG_WORD = re.compile(r"(\S{150})\S+")  # a file's name or a number that fills the screen


class Command(click.Command):
    """A command whose help shows whole sentences, and examples as they are typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the command line; an error then knows its command, whatever option is wrong."""
        try:
            return super().parse_args(ctx, args)
        except click.UsageError as error:
            error.ctx = error.ctx or ctx
            raise

    def get_short_help_str(self, limit: int = 0) -> str:
        """Return the first sentence, uncut."""
        return super().get_short_help_str(max(limit, 1000))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write examples as they are: a command that is broken in two cannot be copied."""
        if self.epilog:
            formatter.write_paragraph()
            formatter.write("".join(f"  {line}\n" for line in self.epilog.splitlines()))


class Group(Command, click.Group):
    """A command with commands of its own."""


class Application(Group):
    """All commands; each is imported when it is used.

    ``--debug`` is taken at any place of the command line, since that is where people add it when
    they run a command again.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands in the order of the help text."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        name = cmd_name.replace("-", "_")
        return getattr(importlib.import_module(f"cobayes.cli.{name}"), name)

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; click would write an empty line at Ctrl-C."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as interrupt:
            raise click.Abort from interrupt

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run a command and exit with its code."""
        given = list(sys.argv[1:] if args is None else args)
        end = given.index("--") if "--" in given else len(given)
        is_debugging = "--debug" in given[:end]
        given = [word for word in given[:end] if word != "--debug"] + given[end:]
        terminal.never_fail_to_encode()
        with warnings.catch_warnings():
            _show_warnings_in_one_line()
            try:
                code = super().main(given, *rest, **{**options, "standalone_mode": False})
                sys.stdout.flush()
            except click.Abort as stop:
                # A run that was stopped says what is saved and how to go on.
                told = getattr(stop.__cause__, "message", "by Ctrl-C; nothing more was done.")
                code = _explain("interrupted", told, getattr(stop.__cause__, "hint", None))
            except Exception as error:
                if is_debugging:
                    raise
                code = explain(error)
        sys.exit(code if isinstance(code, int) else 0)


def explain(error: Exception) -> int:
    """Describe an error on stderr and return the exit code that goes with it."""
    from cobayes.errors import CobayesError

    if isinstance(error, CobayesError):
        _explain("error", error.message, error.hint)
        return getattr(error, "exit_code", BAD_INPUT)
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.format_message())
        return 0
    if isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        path = "cobayes" if context is None else context.command_path
        return _explain("error", _message(error), f"run '{path} --help' to see what it takes.")
    if isinstance(error, OSError) and error.strerror:  # a folder that may not be read, a full disk
        where = "" if error.filename is None else f"{error.filename}: "
        _explain("error", f"{where}{error.strerror}.", None)
        return FAILED
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    _explain("error", text, "run again with --debug for the full traceback.")
    return FAILED


def _message(error: click.ClickException) -> str:
    """Return what is wrong with a command line, beginning with the option or the argument."""
    if type(error) is click.BadParameter and error.param is not None:
        names = [name for name in error.param.opts if name.startswith("--")]
        return f"{names[0] if names else error.param.human_readable_name}: {error.message}"
    text = error.format_message()
    return text[:1].lower() + text[1:]


def _explain(kind: str, message: str, hint: str | None) -> int:
    """Write a line of some kind and a hint; return the exit code of the kind."""
    color, code = {"error": ("red", BAD_INPUT), "interrupted": ("yellow", INTERRUPTED)}[kind]
    terminal.say(_LONG_WORD.sub(r"\1…", " ".join(message.split())), kind, color)
    if hint:
        terminal.say(" ".join(hint.split()), "hint", "cyan")
    return code


def _show_warnings_in_one_line() -> None:
    from cobayes.errors import CobayesWarning

    def show(message: Any, *_place: Any, **_more: Any) -> None:
        terminal.say(" ".join(str(message).split()), "warning", "yellow")

    warnings.simplefilter("ignore")
    warnings.simplefilter("always", CobayesWarning)
    warnings.showwarning = show


def command(*examples: str, **settings: Any) -> Any:
    """Return a decorator that makes a command of a function, whose docstring is the help text."""
    epilog = "\n".join(["Examples:" if len(examples) > 1 else "Example:", *examples])
    return click.command(cls=Command, epilog=epilog, **settings)


def _show_version(ctx: click.Context, _option: Any, is_wanted: bool) -> None:
    if is_wanted:
        from cobayes import __version__

        print(f"cobayes {__version__}")
        ctx.exit()


@click.group(
    "cobayes",
    cls=Application,
    epilog="Try:  cobayes teach example:diagnosis --rule both --seed 16",
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_show_version,
    help="Show the version and exit.",
)
@click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the full traceback of an error."
)
def app() -> None:
    """Teach and learn by Sequential Cooperative Bayesian Inference (SCBI).

    A teacher who knows the true hypothesis picks data; a learner updates its belief. In plain
    Bayesian inference (BI) neither thinks of the other; in SCBI both do.
    """
