"""One run per folder: a lock that the operating system releases when its holder dies.

The lock is SQLite's own, on a file of its own: it works on every system that Python does, and
leaves nothing behind after SIGKILL that could block the next run.
"""

from __future__ import annotations

import contextlib
import json
import os
import socket
import sqlite3
from datetime import datetime
from pathlib import Path
from typing import Any

from cobayes.runs.failures import RunError, explained

LOCK_NAME = "lock.sqlite"
_SCHEMA = "CREATE TABLE holder (description TEXT)"


class FolderLock:
    """Held from `acquire` to `release`.

    Parameters
    ----------
    folder
        An existing folder.
    """

    def __init__(self, folder: Path) -> None:
        self._path = folder / LOCK_NAME
        self._connection: sqlite3.Connection | None = None

    def acquire(self) -> None:
        """Take the lock, or say who has it."""
        try:
            # A short wait, because a look at the state of a run takes the lock for an instant.
            connection = sqlite3.connect(self._path, timeout=0.5, isolation_level=None)
        except sqlite3.Error as error:
            raise self._explained(error) from error
        try:
            connection.execute("BEGIN IMMEDIATE")
            if _schema_of(connection) is None:
                connection.execute(_SCHEMA)
            elif _schema_of(connection) != _SCHEMA:
                raise self._damaged("its table is not that of a lock")
            connection.execute("DELETE FROM holder")
            connection.execute("INSERT INTO holder VALUES (?)", [json.dumps(_this_process())])
            connection.execute("COMMIT")
            # Nothing is written under it: whoever asks may still read the holder's name.
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.Error as error:
            connection.close()
            raise self._explained(error) from error
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def _explained(self, error: sqlite3.Error) -> RunError:
        code = (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
        folder = self._path.parent
        if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
            return RunError(
                f"{_describe(self.holder())} is running in {str(folder)!r} already.",
                "wait for it, stop it, or choose another folder; "
                f"`cobayes runs {folder}` shows how far it is",
            )
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return self._damaged(str(error))
        return explained(error, self._path)

    def _damaged(self, what: str) -> RunError:
        return RunError(
            f"the lock file {str(self._path)!r} is damaged: {what}. It holds no results, and the "
            "ledger beside it is not concerned.",
            f"when no other process works in this folder, delete {LOCK_NAME} alone",
        )

    def release(self) -> None:
        """Let the next run in."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def holder(self) -> dict[str, Any] | None:
        """Return who holds the lock now, or None where nobody does or it cannot be known."""
        if not self._path.exists():
            return None
        try:
            with contextlib.closing(_open_to_look(self._path)) as connection:
                return _holder(connection)
        except sqlite3.Error:
            # A folder that cannot be written, or a damaged lock file, has no run in it.
            return None


def _holder(connection: sqlite3.Connection) -> dict[str, Any] | None:
    try:
        connection.execute("BEGIN IMMEDIATE")
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
    else:
        return None
    try:
        if _schema_of(connection) != _SCHEMA:
            return {}
        row = connection.execute("SELECT description FROM holder").fetchone()
        found = json.loads(row[0]) if row else {}
    except (sqlite3.OperationalError, ValueError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _schema_of(connection: sqlite3.Connection) -> str | None:
    rows = connection.execute("SELECT sql FROM sqlite_schema LIMIT 2").fetchall()
    return None if not rows else " ".join(str(sql) for (sql,) in rows)


def _open_to_look(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0)


def _this_process() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
    }


def _describe(holder: dict[str, Any] | None) -> str:
    if not holder or not {"pid", "host", "since"} <= holder.keys():
        return "another process"
    return "process {pid} on {host}, since {since},".format(**holder)
