"""The store of a run: one SQLite file with the plan's identity and a sealed row per finished shard.

Rows are added in transactions, so that a kill at any moment loses at most the shards that were not
yet in it. The process that works on a run holds SQLite's write lock on the file, which the
operating system frees when that process ends. Others can read meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cobayes.errors import CobayesError

STORE_NAME = "ledger.sqlite"
_APPLICATION_ID = int.from_bytes(b"CoBa", "big")
_FORMAT = 3
_MAGIC = b"SQLite format 3\x00"
_SCHEMA = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "shards": "CREATE TABLE shards (key INTEGER PRIMARY KEY, statistics BLOB NOT NULL, "
    "seal BLOB NOT NULL, seconds REAL NOT NULL)",
}
# A row's key is the point's position times 2**32 plus the shard's.
_SHARD_BITS = 32

Key = tuple[int, int]
Row = tuple[Key, bytes, float]
"""Point and shard, packed statistics, seconds."""


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


class Store:
    """The open store of a run.

    Parameters
    ----------
    folder
        The run's folder.
    only_read
        Open it to look at, also while another process works on the run; else take its lock.
    """

    def __init__(self, folder: Path, *, only_read: bool = False) -> None:
        self.path = folder / STORE_NAME
        self.num_deleted = 0
        with self._explained():
            self._check_beginning()
            mode = "ro" if only_read else "rwc"
            uri = f"{self.path.absolute().as_uri()}?mode={mode}"
            self._connection = sqlite3.connect(uri, uri=True, isolation_level=None)
            # Text in place of numbers is then found where the row is checked.
            self._connection.text_factory = lambda data: data.decode(errors="replace")
        try:
            with self._explained():
                self._connection.execute("PRAGMA trusted_schema = OFF")
                if not only_read:
                    self._lock(milliseconds=500)
                self._check()
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, folder: Path, identity: Mapping[str, Any], *, fresh: bool = False) -> Store:
        """Open the store of a run to work on, or refuse that of another run.

        Parameters
        ----------
        folder
            An existing folder.
        identity
            The identity of the plan.
        fresh
            Whether to delete the shards that are there.
        """
        try:
            store = cls(folder)
        except _UnusableError:
            if not fresh:
                raise
            (folder / STORE_NAME).unlink()
            (folder / f"{STORE_NAME}-journal").unlink(missing_ok=True)
            store = cls(folder)
        try:
            there = None if fresh else store.identity()
            if there is None:
                store._start(identity)
            elif found := differences(there, identity):
                more = [f"and {len(found) - 4} more"] if len(found) > 4 else []
                raise RunError(
                    f"{str(folder)!r} holds another run: {'; '.join(found[:4] + more)}.",
                    "choose another folder, or go back to what it was started with, "
                    "or start over with --fresh (fresh=True), which deletes it",
                )
        except BaseException:
            store.close()
            raise
        return store

    def close(self) -> None:
        """Close the file and free its lock; rows that were not committed are dropped."""
        self._connection.close()

    def identity(self) -> dict[str, Any] | None:
        """Return the identity of the run's plan; None in an empty store."""
        with self._explained():
            found = json.loads(self._meta("identity") or "null")
            for name, *sizes, _ in found["points"] if found is not None else ():
                if not isinstance(name, str) or min(sizes) < 1:
                    raise ValueError("a point without samples")
            return found

    def _meta(self, key: str) -> str | None:
        with self._explained():
            rows = self._connection.execute("SELECT value FROM meta WHERE key = ?", [key])
            return next((value for (value,) in rows), None)

    def num_workers(self) -> int:
        """Return the number of workers when the run was last at work; 0 if it never was."""
        return int(self._meta("num_workers") or 0)

    def add(self, rows: Iterable[Row], num_workers: int) -> None:
        """Record finished shards in one transaction.

        Parameters
        ----------
        rows
            Shards that have finished; recording one twice changes nothing.
        num_workers
            The number of workers at present.
        """
        with self._explained():
            if not self._connection.in_transaction:  # an earlier commit failed or was interrupted
                self._lock(milliseconds=30_000)
            self._connection.executemany(
                "INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?)",
                [
                    ((key[0] << _SHARD_BITS) + key[1], packed, _seal(key, packed), seconds)
                    for key, packed, seconds in rows
                ],
            )
            self._connection.execute(
                "INSERT OR REPLACE INTO meta VALUES ('num_workers', ?)", [str(num_workers)]
            )
            self._commit()

    def shards(self) -> Iterator[Row]:
        """Yield every finished shard in the plan's order, or fail where a row was changed."""
        query = "SELECT key, statistics, seal, seconds FROM shards ORDER BY key"
        with self._explained():
            for number, packed, seal, seconds in self._connection.execute(query):
                key = divmod(number, 1 << _SHARD_BITS)
                if seal != _seal(key, packed):
                    raise self.damaged(
                        f"shard {key[1]} of point {key[0] + 1} does not match its digest"
                    )
                yield key, packed, _finite(seconds)

    def counts(self) -> dict[int, tuple[int, float]]:
        """Return the number of finished shards and their seconds, by position of the point."""
        query = f"SELECT key >> {_SHARD_BITS}, COUNT(*), SUM(seconds) FROM shards GROUP BY 1"
        with self._explained():
            rows = self._connection.execute(query)
            return {point: (count, _finite(seconds)) for point, count, seconds in rows}

    def is_locked(self) -> bool:
        """Return whether another process works on the run."""
        uri = f"{self.path.absolute().as_uri()}?mode=rw"
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=0)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                return _code(error) == sqlite3.SQLITE_BUSY
            return False

    def _start(self, identity: Mapping[str, Any]) -> None:
        with self._explained():
            self.num_deleted = self._connection.execute("DELETE FROM shards").rowcount
            self._connection.execute("DELETE FROM meta")
            self._connection.execute(
                "INSERT INTO meta VALUES ('identity', ?)", [json.dumps(identity)]
            )
            self._commit()

    def _commit(self) -> None:
        self._connection.execute("COMMIT")
        # Another process could take the lock here. Then this run stops, and that one continues it.
        self._lock(milliseconds=30_000)

    def _lock(self, milliseconds: int) -> None:
        self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
        self._connection.execute("BEGIN IMMEDIATE")

    def _check_beginning(self) -> None:
        """Refuse a file that is not SQLite's; an empty one is that of a run killed at its start."""
        try:
            with open(self.path, "rb") as file:
                header = file.read(100)
        except FileNotFoundError:
            return
        if header and (len(header) < 100 or not header.startswith(_MAGIC)):
            raise self._not_ours("is not a ledger of cobayes, or only the beginning of one")

    def _check(self) -> None:
        """Refuse other programs' files, other formats, and tables that are not ours."""
        execute = self._connection.execute
        tables = dict(execute("SELECT name, sql FROM sqlite_schema LIMIT 100"))
        (application,) = execute("PRAGMA application_id").fetchone()
        (number,) = execute("PRAGMA user_version").fetchone()
        if not tables and application == 0:
            if not self._connection.in_transaction:
                raise self._not_ours("is empty: a run was killed at its start")
            for statement in _SCHEMA.values():
                execute(statement)
            execute(f"PRAGMA application_id = {_APPLICATION_ID}")
            execute(f"PRAGMA user_version = {_FORMAT}")
        elif tables and application != _APPLICATION_ID:
            raise self._not_ours("is a SQLite file of another program")
        elif tables and number != _FORMAT:
            raise _UnusableError(
                f"{str(self.path)!r} has format {number} of the ledger; "
                f"this version reads {_FORMAT}.",
                "use the version of cobayes that wrote it, or start over with --fresh",
            )
        # A view or a trigger could compute for hours.
        elif tables != _SCHEMA:
            raise self.damaged("its tables are not those of a ledger")
        (verdict,) = execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise self.damaged(verdict)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite and of the operating system into one clear line."""
        try:
            yield
        except RunError:
            raise
        except sqlite3.Error as error:
            raise self._error(error) from error
        except OSError as error:
            raise _cannot_write(self.path.parent, error.strerror or str(error)) from error
        except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
            raise self.damaged(f"a row cannot be read ({error!r:.80})") from error

    def _error(self, error: sqlite3.Error) -> RunError:
        code, folder = _code(error), self.path.parent
        if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_READONLY_DBMOVED:
            return RunError(
                f"{str(self.path)!r} was removed or replaced while the run wrote to it; the shards "
                "of this run are lost.",
                "keep the folder of a run in place, then run the same command again",
            )
        if code == sqlite3.SQLITE_BUSY:
            return RunError(
                f"another process is running in {str(folder)!r} already.",
                "wait for it, stop it, or choose another folder; "
                f"`cobayes runs {folder}` shows its progress",
            )
        if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return self.damaged(str(error))
        if code == 0:
            return RunError(f"an operation on the ledger {str(self.path)!r} failed: {error}.")
        return _cannot_write(folder, str(error))

    def damaged(self, what: str) -> RunError:
        """Return the error for content that cannot be true."""
        return _UnusableError(
            f"the ledger {str(self.path)!r} is damaged or cut short: {what}.",
            "it was left alone: restore a copy, or start over with --fresh",
        )

    def _not_ours(self, what: str) -> RunError:
        return RunError(
            f"{str(self.path)!r} {what}.",
            "it was left alone: move it away or restore a copy, or choose another folder",
        )


class _UnusableError(RunError):
    """The store is ours, but damaged or of another format."""


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return in words how two identities differ.

    Parameters
    ----------
    there
        The identity of the run in the folder.
    here
        The identity of the experiment to run.
    """
    found = []
    for name in [name for name in {**there, **here} if there.get(name) != here.get(name)]:
        if name == "points":
            old, new = ({point[0]: point for point in who["points"]} for who in (there, here))
            found += [f"point {n!r} is there, not here" for n in old if n not in new]
            found += [f"point {n!r} is here, not there" for n in new if n not in old]
            found += [
                f"point {n!r} has other parameters or numbers of samples"
                for n in new
                if n in old and old[n] != new[n]
            ]
            found = found or ["the points are in another order"]
        elif name.startswith("code"):
            found.append(f"the {name} has changed")
        else:
            found.append(f"{name} is {there.get(name)!r} there and {here.get(name)!r} here")
    return found


def _cannot_write(folder: Path, why: str) -> RunError:
    return RunError(
        f"cannot write to {str(folder)!r}: {why}; the shards recorded before are kept.",
        "choose a folder that you may write to, or make room on the disk (or raise the limit of "
        "open files, ulimit -n); then the same command goes on where this one stopped",
    )


def _seal(key: Key, packed: bytes) -> bytes:
    """Return a digest of a shard's statistics and of its place in the plan."""
    return hashlib.blake2b(b"%d %d " % key + packed, digest_size=16).digest()


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not finite")
    return number


def _code(error: sqlite3.Error) -> int:
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
