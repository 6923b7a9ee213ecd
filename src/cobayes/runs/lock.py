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

from cobayes.runs.failures import RunError

LOCK_NAME = "lock.sqlite"


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
        # A short wait, because a look at the state of a run takes the lock for an instant.
        connection = sqlite3.connect(self._path, timeout=0.5, isolation_level=None)
        try:
            connection.execute("BEGIN IMMEDIATE")
            connection.execute("CREATE TABLE IF NOT EXISTS holder (description TEXT)")
            connection.execute("DELETE FROM holder")
            connection.execute("INSERT INTO holder VALUES (?)", [json.dumps(_this_process())])
            connection.execute("COMMIT")
            # Nothing is written under it: whoever asks may still read the holder's name.
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError as error:
            connection.close()
            if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise
            raise RunError(
                f"{_describe(self.holder())} is running in {str(self._path.parent)!r} already.",
                "wait for it, stop it, or choose another folder; "
                f"`cobayes runs {self._path.parent}` shows how far it is",
            ) from error
        except BaseException:
            connection.close()
            raise
        self._connection = connection

    def release(self) -> None:
        """Let the next run in."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def holder(self) -> dict[str, Any] | None:
        """Return who holds the lock now, or None."""
        if not self._path.exists():
            return None
        with contextlib.closing(_open_to_look(self._path)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    # A folder that cannot be written has no run in it.
                    return None
            else:
                return None
            try:
                row = connection.execute("SELECT description FROM holder").fetchone()
            except sqlite3.OperationalError:
                row = None
            return json.loads(row[0]) if row else {}


def _open_to_look(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.absolute().as_uri()}?mode=rw", uri=True, timeout=0)


def _this_process() -> dict[str, Any]:
    return {
        "pid": os.getpid(),
        "host": socket.gethostname(),
        "since": datetime.now().astimezone().isoformat(timespec="seconds"),
    }


def _describe(holder: dict[str, Any] | None) -> str:
    if not holder:
        return "another process"
    return "process {pid} on {host}, since {since},".format(**holder)
