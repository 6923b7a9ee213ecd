"""Failures on the command line: one line, a hint, and an exit code; a traceback on request."""

from __future__ import annotations

import difflib
import functools
import os
import re
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from cobayes.cli import streams

BAD_INPUT, FAILED, INTERRUPTED = 2, 1, 130


# What the help shows instead of a type of Python.
_PLACEHOLDERS = {"int": "N", "int range": "N", "float": "NUMBER", "float range": "NUMBER"}
_PLACEHOLDERS |= {"str": "TEXT", "path": "FILE"}


def _without_types(parameters: list[Any], ctx: Any) -> list[Any]:
    """Return parameters that show no type of Python in the help, such as "<bool>" or "<str>"."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":  # its name says what it is
            parameter.display_type_rich = _no_type
            parameter.get_usage_pieces = functools.partial(_usage, parameter)
        elif parameter.metavar is None and getattr(parameter, "is_flag", False):
            parameter.metavar = ""
        elif parameter.metavar is None and hasattr(parameter, "display_type"):
            shown = str(parameter.display_type(ctx)).strip("<>")
            parameter.metavar = _PLACEHOLDERS.get(shown, shown)
    return parameters


def _no_type(ctx: Any) -> None:
    del ctx  # the toolkit gives it


def _usage(argument: Any, ctx: Any) -> list[str]:
    """Return an argument as the line of usage shows it: MATRIX, [MATRIX] or MATRIX..."""
    del ctx
    name = argument.metavar + ("..." if argument.nargs != 1 else "")
    return [name if argument.required else f"[{name}]"]


_ANY_LENGTH = 1000


class _PlainHelp:
    """Help without words of the toolkit, for a command and for a group of commands."""

    epilog: str | None

    def get_params(self, ctx: Any) -> list[Any]:
        """Return the parameters, the option of the help text among them."""
        return _without_types(super().get_params(ctx), ctx)  # pyright: ignore[reportAttributeAccessIssue]

    def get_short_help_str(self, limit: int = _ANY_LENGTH) -> str:
        """Return the sentence for a list of commands, uncut."""
        return super().get_short_help_str(max(limit, _ANY_LENGTH))  # pyright: ignore[reportAttributeAccessIssue]

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Write examples as they are: a command that is broken in two cannot be copied."""
        del ctx
        if self.epilog:
            formatter.write_paragraph()
            formatter.write("".join(f"  {line}\n" for line in self.epilog.split("\n\n")))


class FriendlyCommand(_PlainHelp, TyperCommand):
    """A command with plain help."""


class CommandGroup(_PlainHelp, TyperGroup):
    """A group of commands with plain help."""


class FriendlyGroup(CommandGroup):
    """The group of all commands, with our own answers to failures.

    ``--debug`` is taken at any place of the command line, since that is where people add it when
    they run a command again.
    """

    _interrupt: BaseException | None = None

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the commands in the order of `app.COMMANDS`; typer puts groups last."""
        from cobayes.cli.app import COMMANDS

        names = super().list_commands(ctx)
        return sorted(names, key=lambda name: COMMANDS.index(name) if name in COMMANDS else -1)

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run a command and exit with its code."""
        given, is_debugging = _without_debug(list(sys.argv[1:] if args is None else args))
        options["standalone_mode"] = False
        streams.never_fail_to_encode()
        streams.show_notices()
        with warnings.catch_warnings():
            _show_warnings_in_one_line()
            try:
                code = super().main(given, *rest, **options)
                sys.stdout.flush()
            except (KeyboardInterrupt, typer.Abort):
                code = INTERRUPTED
            except BrokenPipeError:
                # The reader, say `head`, has seen enough; Python must not complain at exit either.
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
                code = FAILED
            except Exception as error:
                if is_debugging:
                    raise
                code = explain(error, self._command_path(given))
        if code == INTERRUPTED:
            _explain_interrupt(self._interrupt)
        sys.exit(code if isinstance(code, int) else 0)

    def invoke(self, context: Any) -> Any:
        """Run a command, and remember what Ctrl-C found: typer keeps its exit code alone."""
        try:
            return super().invoke(context)
        except KeyboardInterrupt as interrupt:
            self._interrupt = interrupt
            raise

    def _command_path(self, arguments: list[str]) -> str:
        """Return the commands that were given; an error of an option does not know its own."""
        command: Any = self
        names = ["cobayes"]
        for argument in arguments:
            command = getattr(command, "commands", {}).get(argument)
            if command is None:
                break
            names.append(argument)
        return " ".join(names)


def explain(error: Exception, path: str = "cobayes") -> int:
    """Describe an error on stderr and return the exit code that goes with it.

    Parameters
    ----------
    error
        What a command raised.
    path
        The commands that were given, for errors that do not tell them.
    """
    from cobayes.errors import CobayesError

    if isinstance(error, CobayesError):
        _say("error", error.message)
        if error.hint:
            _say("hint", error.hint)
        return getattr(error, "exit_code", BAD_INPUT)
    if type(error).__name__ == "NoArgsIsHelpError":
        # Where rich has not printed the help text already, it is the message.
        if str(error):
            typer.echo(str(error))
        return 0
    usage = getattr(error, "format_message", None)
    if usage is not None:  # the usage errors of every version of typer and click
        _say("error", _in_plain_words(error, usage()))
        context = getattr(error, "ctx", None)
        known = getattr(context, "command_path", None) or path
        _say("hint", f"run '{known} --help' to see what it takes.")
        return BAD_INPUT
    _say("error", f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)
    _say("hint", "run again with --debug for the full traceback.")
    return FAILED


def _in_plain_words(error: Any, text: str) -> str:
    """Return a usage error without the toolkit's phrases."""
    parameter, message = getattr(error, "param", None), getattr(error, "message", None)
    if text.startswith("Invalid value for") and parameter is not None and message:
        names = [name for name in parameter.opts if name.startswith("--")]
        return f"{names[0] if names else parameter.metavar}: {message}"
    wrong = getattr(error, "option_name", None)
    if wrong is not None and hasattr(error, "possibilities"):
        near = difflib.get_close_matches(wrong, error.possibilities or (), n=1)
        return f"there is no option {wrong}." + (f" Did you mean {near[0]}?" if near else "")
    extra = re.search(r"unexpected extra arguments? ?\(?s?\)? ?\((.*)\)", text)
    if extra:
        return f"too many arguments: {extra[1]}."
    return text[:1].lower() + text[1:]


def _explain_interrupt(interrupt: BaseException | None) -> None:
    # A run that was stopped says what is saved and how to go on.
    _say("interrupted", getattr(interrupt, "message", "by Ctrl-C; nothing more was done."))
    hint = getattr(interrupt, "hint", None)
    if hint:
        _say("hint", hint)


def _without_debug(arguments: list[str]) -> tuple[list[str], bool]:
    end = arguments.index("--") if "--" in arguments else len(arguments)
    options, rest = arguments[:end], arguments[end:]
    kept = [argument for argument in options if argument != "--debug"]
    return [*kept, *rest], len(kept) < len(options)


def _show_warnings_in_one_line() -> None:
    from cobayes.errors import CobayesWarning

    def show(message: Any, _category: Any, *_place: Any, **_more: Any) -> None:
        _say("warning", str(message))

    warnings.simplefilter("ignore")
    warnings.simplefilter("always", CobayesWarning)
    warnings.showwarning = show


def _say(kind: str, text: str) -> None:
    """Write one line to stderr, its kind in colour where that is shown."""
    colors = {"error": "red", "hint": "cyan", "warning": "yellow", "interrupted": "yellow"}
    line = streams.printable(" ".join(text.split()))
    start = f"{kind}:"
    if streams.wants_color():
        start = typer.style(start, fg=colors[kind], bold=True)
    typer.echo(f"{start} {line}", err=True)
