"""How a run can end early, each with the exit code that the command line gives it."""

from __future__ import annotations

from cobayes.errors import CobayesError


class RunError(CobayesError):
    """A run stopped or was refused; what had finished is kept in its folder."""

    exit_code = 1


class ShardError(RunError):
    """A shard failed as often as it may; its parameters are in the message."""


class RunInterrupted(KeyboardInterrupt):
    """Ctrl-C: what had finished is saved, and the message says how to go on.

    It is a `KeyboardInterrupt`, so that ``except Exception`` in a loop over experiments does
    not swallow it.

    Parameters
    ----------
    message
        What was saved.
    hint
        How to resume.
    """

    exit_code = 130

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}\n  hint: {hint}")
        self.message = message
        self.hint = hint
