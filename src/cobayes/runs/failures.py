"""How a run can end early, and what to do about it."""

from __future__ import annotations

import contextlib
import errno
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from cobayes.errors import CobayesError


class RunError(CobayesError):
    """A run stopped or was refused; the message says what is kept.

    Examples
    --------
    >>> import cobayes as cb
    >>> from cobayes.runs import RunError
    >>> issubclass(RunError, cb.CobayesError)
    True
    """

    exit_code = 1


class ShardError(RunError):
    """A shard failed as often as it may; its parameters are in the message.

    Examples
    --------
    >>> from cobayes.runs import RunError, ShardError
    >>> issubclass(ShardError, RunError)
    True
    """


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

    Examples
    --------
    >>> from cobayes.runs import RunInterrupted
    >>> issubclass(RunInterrupted, KeyboardInterrupt)
    True
    >>> print(RunInterrupted("3 of 8 shards are saved.", "run the same command again."))
    3 of 8 shards are saved.
      hint: run the same command again.
    """

    exit_code = 130

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(f"{message}\n  hint: {hint}")
        self.message = message
        self.hint = hint


@contextlib.contextmanager
def failures_explained(path: Path) -> Iterator[None]:
    """Turn errors of SQLite and of the operating system into `RunError`.

    Parameters
    ----------
    path
        The ledger.
    """
    try:
        yield
    except sqlite3.Error as error:
        raise explained(error, path) from error
    except OSError as error:
        raise RunError(
            f"cannot write to {str(path.parent)!r}: {error.strerror}; {what_is_kept(path)}.",
            "remove the cause, then run the same command again",
        ) from error


def explained(error: sqlite3.Error, path: Path) -> RunError:
    """Return an error of SQLite as one that says what to do.

    Only what SQLite itself calls damaged is called so here.

    Parameters
    ----------
    error
        What SQLite raised.
    path
        The ledger.
    """
    code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
    folder = str(path.parent)
    if code in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_IOERR) and are_descriptors_used_up():
        return too_few_descriptors(path)
    if code == sqlite3.SQLITE_FULL:
        return RunError(
            f"the disk of {folder!r} is full; {what_is_kept(path)}.",
            "free some space, then the same command goes on where this one stopped",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return RunError(
            f"cannot write to {folder!r}: {error}.",
            "choose a folder that you may write to, or change its permissions",
        )
    if code == sqlite3.SQLITE_IOERR:
        return RunError(
            f"writing to {str(path)!r} failed: {error}; {what_is_kept(path)}.",
            "check the disk and its quota, then the same command goes on where this one stopped",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return damaged(path, str(error))
    if code == sqlite3.SQLITE_BUSY:
        return RunError(
            f"another program has kept {str(path)!r} locked for half a minute.",
            "close it, then run the same command again",
        )
    return RunError(
        f"an operation on the ledger {str(path)!r} failed: {type(error).__name__}: {error}.",
        "the ledger was left alone; run the same command again, and report this if it recurs",
    )


def damaged(path: Path, what: str) -> RunError:
    """Return the error for a ledger whose content cannot be true.

    Parameters
    ----------
    path
        The ledger.
    what
        The damage in words.
    """
    return RunError(
        f"the ledger {str(path)!r} is damaged or cut short: {what}.",
        "it was left alone: restore a copy, or start over with --fresh",
    )


def what_is_kept(path: Path) -> str:
    """Return in words whether finished shards are still on disk.

    Parameters
    ----------
    path
        The ledger.
    """
    if path.exists():
        return "the shards recorded before that are kept"
    return f"the ledger {path.name} is no longer there, and with it the shards recorded so far"


def are_descriptors_used_up(error: OSError | None = None) -> bool:
    """Return whether this process, or the system, cannot open another file.

    Parameters
    ----------
    error
        What went wrong, if it says so itself; SQLite's errors do not.
    """
    if error is None:
        try:
            os.close(os.open(os.devnull, os.O_RDONLY))
        except OSError as found:
            error = found
    return error is not None and error.errno in (errno.EMFILE, errno.ENFILE)


def too_few_descriptors(path: Path) -> RunError:
    """Return the error for a process that may not open another file.

    Parameters
    ----------
    path
        The ledger.
    """
    return RunError(
        f"this process has too many open files to work on {str(path.parent)!r}.",
        "raise the limit (ulimit -n 1024), close files, or use fewer --jobs",
    )
