"""The application: the list of commands, and the one place where errors are shown."""

from __future__ import annotations

import importlib
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import click

from cobayes import __version__
from cobayes.cli import terminal
from cobayes.errors import CobayesError, CobayesWarning

COMMANDS = {
    "teach": "Run one lesson and show the learner's belief after every round.",
    "compare": "Compare rules or teachers by the rounds that learners need.",
    "rates": "Show the asymptotic rates at which the truth is learnt.",
    "robustness": "Measure the success rate if the teacher assumes a wrong prior.",
    "conjecture": "Check counter-examples to Conjecture 5.3 of the paper.",
    "world": "Simulate a walk to a goal and a watcher who infers the goal.",
    "fit": "Fit models to people's choices, and compare the models.",
    "studio": "Write a page with interactive lessons.",
    "experiment": "Write an experiment for people that runs in a browser.",
    "info": "Describe a matrix and check the paper's assumptions.",
    "examples": "List the built-in examples, show one, or write it to a file.",
    "reproduce": "Compute the paper's results and write the report.",
    "runs": "Show the progress of the runs in a folder.",
}
"""The commands and their descriptions, in the order of the help text.

To add a command, write a function with its name and the decorator `options.command` in a module of
`cobayes.cli`, and add the name here. The module has the command's name unless `MODULES` names
another.
"""
MODULES = {
    "info": "describe",
    "examples": "describe",
    "studio": "pages",
    "experiment": "pages",
    "runs": "reproduce",
}

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130

_LONG_WORD = re.compile(r"(\S{150})\S+")  # longer words in messages are cut to 150 characters


class Application(click.Group):
    """All commands; each is imported when it is used.

    ``--debug`` may be anywhere on the command line, because users append it to a command that
    failed.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the names of the commands in the order of the help text."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context | None, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """Import a command and return it; None if the name is unknown."""
        if cmd_name not in COMMANDS:
            return None
        module = MODULES.get(cmd_name, cmd_name)
        return getattr(importlib.import_module(f"cobayes.cli.{module}"), cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """Write the list of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; unlike click, print no empty line at Ctrl-C."""
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
            warnings.simplefilter("ignore")
            warnings.simplefilter("always", CobayesWarning)
            warnings.showwarning = _show_warning
            try:
                for word in given:
                    if "\0" in word:
                        raise click.UsageError(f"{word!r} holds a null byte.")
                    # U+DC80 to U+DCFF are allowed: they stand for the bytes of a file name that is
                    # not UTF-8.
                    if re.search("[\ud800-\udc7f\udd00-\udfff]", word):
                        raise click.UsageError(f"{word!r} is not Unicode text.")
                code = super().main(
                    given, *rest, **{**options, "standalone_mode": False, "obj": given}
                )
                sys.stdout.flush()
            except click.Abort as stop:
                # The message of `RunInterrupted` says what is saved, its hint how to continue.
                told = getattr(stop.__cause__, "message", "stopped by Ctrl-C.")
                _say("interrupted", "yellow", told, getattr(stop.__cause__, "hint", None))
                code = INTERRUPTED
            except Exception as error:
                if is_debugging:
                    raise
                code = explain(error)
        sys.exit(code if isinstance(code, int) else 0)


def explain(error: Exception) -> int:
    """Describe an error on stderr, or print help if no command was given. Return the exit code."""
    code, hint = FAILED, None
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        print(error.format_message())
        return 0
    if isinstance(error, CobayesError):
        code, text, hint = getattr(error, "exit_code", BAD_INPUT), error.message, error.hint
    elif isinstance(error, click.ClickException):
        context = getattr(error, "ctx", None)
        path = "cobayes" if context is None else context.command_path
        code, text = BAD_INPUT, error.format_message()
        text = text[:1].lower() + text[1:]
        hint = f"run '{path} --help' for its arguments and options."
    elif isinstance(error, OSError) and error.strerror:  # such as a full disk
        text = ("" if error.filename is None else f"{error.filename}: ") + f"{error.strerror}."
    else:
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        hint = "run again with --debug for the full traceback."
    _say("error", "red", text, hint)
    return code


def _say(kind: str, color: str, message: str, hint: str | None) -> None:
    """Write a message and its hint to stderr; `kind` is "error", "warning" or "interrupted"."""
    terminal.say(_LONG_WORD.sub(r"\1…", " ".join(message.split())), kind, color)
    if hint:
        terminal.say(" ".join(hint.split()), "hint", "cyan")


def _show_warning(message: Any, *_place: Any, **_more: Any) -> None:
    _say("warning", "yellow", str(message), None)


@click.group(
    "cobayes",
    cls=Application,
    commands={name: click.Command(name) for name in COMMANDS},  # for suggestions after a typo
    epilog="Try:  cobayes teach example:diagnosis --rule both --seed 16",
    context_settings={
        "help_option_names": ["-h", "--help"],
        "max_content_width": 100,
        "show_default": True,
    },
)
@click.version_option(__version__, message="cobayes %(version)s")
@click.option(
    "--debug", is_flag=True, expose_value=False, help="Show the full traceback of an error."
)
def app() -> None:
    """Teach and learn by Sequential Cooperative Bayesian Inference (SCBI).

    A teacher who knows the true hypothesis chooses data; a learner updates its belief. In plain
    Bayesian inference (BI) neither reasons about the other; in SCBI both do.
    """
