"""What can go wrong with the ledger's file, in words that say what to do."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from cobayes.runs.failures import RunError


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
            f"cannot write to {str(path.parent)!r}: {error.strerror}.",
            "everything that had finished is kept; mend that and run the same command again",
        ) from error


def explained(error: sqlite3.Error, path: Path) -> RunError:
    """Return an error of SQLite as one that says what to do.

    Parameters
    ----------
    error
        What SQLite raised.
    path
        The ledger.
    """
    code = (getattr(error, "sqlite_errorcode", None) or sqlite3.SQLITE_CORRUPT) & 0xFF
    folder = str(path.parent)
    if code == sqlite3.SQLITE_FULL:
        return RunError(
            f"the disk of {folder!r} is full; the shards recorded before that are kept.",
            "free some space, then the same command goes on where this one stopped",
        )
    if code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM):
        return RunError(
            f"cannot write to {folder!r}: {error}.",
            "choose a folder that you may write to, or change its permissions",
        )
    if code == sqlite3.SQLITE_IOERR:
        return RunError(
            f"writing to {str(path)!r} failed: {error}; the shards recorded before are kept.",
            "check the disk and its quota, then the same command goes on where this one stopped",
        )
    if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
        return RunError(
            f"the ledger {str(path)!r} is damaged or cut short: {error}.",
            "it was left alone: restore a copy, or start over with --fresh",
        )
    if code == sqlite3.SQLITE_BUSY:
        return RunError(
            f"another program has kept {str(path)!r} locked for half a minute.",
            "close it, then run the same command again",
        )
    return RunError(f"the ledger {str(path)!r} reports: {error}.")
