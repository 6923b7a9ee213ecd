"""The store of a run: one SQLite file with the plan's identity and a sealed row per finished shard.

Rows are added in transactions, so that a kill at any moment loses at most the shards that were not
yet in it. The process that works on a run holds SQLite's write lock on the file, which the
operating system frees when that process ends. Others can read meanwhile.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobayes.errors import CobayesError

STORE_NAME = "ledger.sqlite"
# SQLite's header: 16 bytes of magic, the user's version at byte 60, the application at byte 68.
_MAGIC, _FORMAT, _APPLICATION = b"SQLite format 3\x00", 4, b"CoBa"
_SCHEMA = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "shards": "CREATE TABLE shards (key INTEGER PRIMARY KEY, statistics BLOB NOT NULL, "
    "seal BLOB NOT NULL, seconds REAL NOT NULL)",
}
# A row's key is the point's position times 2**32 plus the shard's.
_SHARD_BITS = 32
_MILLISECONDS_TO_START, _MILLISECONDS_TO_WRITE = 500, 30_000

Key = tuple[int, int]
"""Positions of a point and of one of its shards."""


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


@dataclass(frozen=True)
class PointState:
    """The progress of one point.

    Parameters
    ----------
    name
        The point's name.
    num_done, num_shards
        Number of finished shards, and of all.
    seconds
        Computing time of the finished shards, summed over workers.
    experiment
        The experiment's name.

    Examples
    --------
    >>> from cobayes.runs import PointState
    >>> point = PointState("one", num_done=3, num_shards=8, seconds=4.2)
    >>> point.num_done, point.num_shards
    (3, 8)
    """

    name: str
    num_done: int
    num_shards: int
    seconds: float
    experiment: str = ""


class _UnusableError(RunError):
    """The store is ours, but damaged or of another format."""


class Store:
    """The open store of a run.

    Parameters
    ----------
    folder
        The run's folder.
    only_read
        Open it to look at, also while another process works on the run; else take its lock.

    Attributes
    ----------
    identity
        The identity of the run's plan; None in a new store.
    num_workers
        The number of workers when the run was last at work; 0 if it never was.
    num_deleted
        The number of shards that were deleted to start over.
    is_changed
        Whether shards were recorded since the last commit.
    """

    def __init__(self, folder: Path, *, only_read: bool = False) -> None:
        self.path = folder / STORE_NAME
        self.num_deleted, self.is_changed = 0, False
        with self._explained():
            self._check_beginning()
            self._connection = self._connect("ro" if only_read else "rwc")
        try:
            with self._explained():
                if not only_read:
                    self._lock(_MILLISECONDS_TO_START)
                self._check_tables()
                meta = dict(self._connection.execute("SELECT key, value FROM meta"))
                self.identity = json.loads(meta.get("identity", "null"))
                self.num_workers = int(meta.get("num_workers", 0))
                if self.identity is not None and not isinstance(self.identity["experiment"], str):
                    raise ValueError("an experiment without a name")
                for name, *sizes, _ in self.identity["points"] if self.identity is not None else ():
                    if not isinstance(name, str) or min(sizes) < 1:
                        raise ValueError("a point without samples")
                rows = self._connection.execute(
                    f"SELECT key >> {_SHARD_BITS}, COUNT(*), SUM(seconds) FROM shards GROUP BY 1"
                )
                self._counts = {point: (count, spent) for point, count, spent in rows}
        except BaseException:
            self.close()
            raise

    @classmethod
    def open(cls, folder: Path, identity: Mapping[str, Any], *, fresh: bool = False) -> Store:
        """Open the store of a run to work on, or refuse that of another run.

        Parameters
        ----------
        folder
            The run's folder; made if it does not exist.
        identity
            The identity of the plan.
        fresh
            Whether to delete the shards that are there.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
            why = getattr(error, "strerror", None) or error
            raise RunError(
                f"cannot make the folder {str(folder)!r}: {why}.",
                "choose a folder that you may write to",
            ) from error
        try:
            store = cls(folder)
        except _UnusableError:
            if not fresh:
                raise
            (folder / STORE_NAME).unlink()
            (folder / f"{STORE_NAME}-journal").unlink(missing_ok=True)
            store = cls(folder)
        try:
            if fresh or store.identity is None:
                store._start(identity)
            elif found := differences(store.identity, identity):
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

    def add(self, key: Key, packed: bytes, seconds: float) -> None:
        """Record a finished shard; the next `commit` makes it permanent.

        Parameters
        ----------
        key
            Positions of the point and of the shard.
        packed
            The shard's statistics.
        seconds
            Computing time.
        """
        number = (key[0] << _SHARD_BITS) + key[1]
        with self._explained():
            self._connection.execute(
                "INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?)",
                [number, packed, _seal(key, packed, seconds), seconds],
            )
        count, spent = self._counts.get(key[0], (0, 0.0))
        self._counts[key[0]] = (count + 1, spent + seconds)
        self.is_changed = True

    def commit(self, **meta: Any) -> None:
        """Commit all recorded shards, and values that describe the run.

        Parameters
        ----------
        **meta
            ``identity`` or ``num_workers``.
        """
        texts = [(name, json.dumps(value)) for name, value in meta.items()]
        with self._explained():
            self._connection.executemany("INSERT OR REPLACE INTO meta VALUES (?, ?)", texts)
            if self._connection.in_transaction:  # else an earlier commit was interrupted
                self._connection.execute("COMMIT")
            self.is_changed = False
            # Another process could take the lock here: then this run stops, and that one goes on.
            self._lock(_MILLISECONDS_TO_WRITE)

    def shards(self) -> Iterator[tuple[Key, bytes]]:
        """Yield every finished shard in the plan's order, or fail where a row was changed."""
        query = "SELECT * FROM shards ORDER BY key"
        with self._explained():
            for number, packed, seal, seconds in self._connection.execute(query):
                key = divmod(number, 1 << _SHARD_BITS)
                if seal != _seal(key, packed, seconds):
                    what = f"shard {key[1]} of point {key[0] + 1} does not match its digest"
                    raise self.damaged(what)
                yield key, packed

    def points(self) -> list[PointState]:
        """Return the progress of every point in the plan's order."""
        found, experiment = [], str(self.identity["experiment"])
        for position, (name, num_samples, per_shard, _) in enumerate(self.identity["points"]):
            count, seconds = self._counts.get(position, (0, 0.0))
            found.append(PointState(name, count, -(-num_samples // per_shard), seconds, experiment))
        return found

    def is_locked(self) -> bool:
        """Return whether another process works on the run."""
        with contextlib.closing(self._connect("rw", seconds=0.0)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.Error as error:
                return _code(error) == sqlite3.SQLITE_BUSY
            return False

    def damaged(self, what: str) -> RunError:
        """Return the error for content that cannot be true."""
        return _UnusableError(
            f"the ledger {str(self.path)!r} is damaged or cut short: {what}.",
            "it was left alone: restore a copy, or start over with --fresh",
        )

    def _start(self, identity: Mapping[str, Any]) -> None:
        with self._explained():
            self.num_deleted = self._connection.execute("DELETE FROM shards").rowcount
        self.identity, self._counts = identity, {}
        self.commit(identity=identity)

    def _connect(self, mode: str, seconds: float = 5.0) -> sqlite3.Connection:
        uri = f"{self.path.absolute().as_uri()}?mode={mode}"
        connection = sqlite3.connect(uri, timeout=seconds, uri=True, isolation_level=None)
        # Text in place of numbers is then found where the row is checked.
        connection.text_factory = lambda data: data.decode(errors="replace")
        return connection

    def _lock(self, milliseconds: int) -> None:
        self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
        self._connection.execute("BEGIN IMMEDIATE")

    def _check_beginning(self) -> None:
        """Refuse a file that is not ours; an empty one is that of a run killed at its start."""
        if not self.path.exists() or self.path.stat().st_size == 0:
            return
        with self.path.open("rb") as file:
            header = file.read(100)
        if len(header) < 100 or not header.startswith(_MAGIC) or header[68:72] != _APPLICATION:
            raise RunError(
                f"{str(self.path)!r} is not a ledger of cobayes, or only the beginning of one.",
                "it was left alone: move it away or restore a copy, or choose another folder",
            )
        if (number := int.from_bytes(header[60:64], "big")) != _FORMAT:
            raise _UnusableError(
                f"{str(self.path)!r} has format {number} of the ledger; this version reads "
                f"{_FORMAT}.",
                "use the version of cobayes that wrote it, or start over with --fresh",
            )

    def _check_tables(self) -> None:
        """Make the tables of a new store; refuse other tables than ours, and damaged pages."""
        execute = self._connection.execute
        execute("PRAGMA trusted_schema = OFF")
        tables = dict(execute("SELECT name, sql FROM sqlite_schema LIMIT 100"))
        if not tables and self._connection.in_transaction:
            for statement in _SCHEMA.values():
                execute(statement)
            execute(f"PRAGMA application_id = {int.from_bytes(_APPLICATION, 'big')}")
            execute(f"PRAGMA user_version = {_FORMAT}")
        elif not tables:
            raise RunError(f"{str(self.path)!r} is empty: a run was killed at its start.")
        elif tables != _SCHEMA:  # an unknown view or trigger could run for hours
            raise self.damaged("its tables are not those of a ledger")
        (verdict,) = execute("PRAGMA quick_check(1)").fetchone()
        if verdict != "ok":
            raise self.damaged(verdict)

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Turn errors of SQLite and of the operating system into one clear line."""
        folder = self.path.parent
        try:
            yield
        except RunError:
            raise
        except (sqlite3.Error, OSError) as error:
            code = _code(error)
            if getattr(error, "sqlite_errorcode", 0) == sqlite3.SQLITE_READONLY_DBMOVED:
                raise RunError(
                    f"{str(self.path)!r} was removed or replaced while the run wrote to it; the "
                    "shards of this run are lost.",
                    "keep the folder of a run in place, then run the same command again",
                ) from error
            if code == sqlite3.SQLITE_BUSY:
                raise RunError(
                    f"another process is running in {str(folder)!r} already.",
                    "wait for it, stop it, or choose another folder; "
                    f"`cobayes runs {folder}` shows its progress",
                ) from error
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self.damaged(str(error)) from error
            why = getattr(error, "strerror", None) or error
            raise RunError(
                f"cannot write to {str(folder)!r}: {why}; the shards recorded before are kept.",
                "choose a folder that you may write to, or make room on the disk (or raise the "
                "limit of open files, ulimit -n); then the same command goes on where this one "
                "stopped",
            ) from error
        except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
            raise self.damaged(f"a row cannot be read ({error!r:.80})") from error


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
            for point in [point for point in {**old, **new} if old.get(point) != new.get(point)]:
                how = "has other parameters or numbers of samples"
                how = how if point in old else "is here, not there"
                found.append(f"point {point!r} {how if point in new else 'is there, not here'}")
            found = found or ["the points are in another order"]
        elif name.startswith("code"):
            found.append(f"the {name} has changed")
        else:
            found.append(f"{name} is {there.get(name)!r} there and {here.get(name)!r} here")
    return found


def _seal(key: Key, packed: bytes, seconds: float) -> bytes:
    """Return a digest of a row and of its place in the plan."""
    return hashlib.blake2b(f"{key} {seconds!r} ".encode() + packed, digest_size=16).digest()


def _code(error: Exception) -> int:
    """Return the primary code of an error of SQLite; zero of others."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
