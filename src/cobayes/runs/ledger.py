"""The ledger of a run: an SQLite file with a row for the plan and one for each finished shard.

Rows are added in transactions, so that a killed process loses at most the shards that were not yet
committed. The process that works on a run holds SQLite's write lock on the file. The operating
system frees the lock when that process ends. Other processes can read the locked file.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cobayes._output import Result
from cobayes.errors import CobayesError

LEDGER_NAME = "ledger.sqlite"
# Written to bytes 68 to 71 of the file's header, which SQLite reserves for the application.
_APPLICATION = b"CoBa"
_SCHEMA = (
    "CREATE TABLE shards (key INTEGER PRIMARY KEY, content BLOB NOT NULL, seal BLOB NOT NULL, "
    "seconds REAL NOT NULL)"
)
# The key of a shard's row is the point's position times 2**32 plus the shard's position. The key
# of the plan's row is smaller, so that it comes first.
_SHARD_BITS, _PLAN = 32, -1
# Waiting times while another process uses the file: when a run starts, and when it commits.
_MILLISECONDS_TO_START, _MILLISECONDS_TO_GO_ON = 500, 30_000

Key = tuple[int, int]
"""Positions of a point and of one of its shards."""


class RunError(CobayesError):
    """A run stopped or could not start; the hint says what to do.

    Examples
    --------
    >>> import cobayes as cb
    >>> from cobayes.runs import RunError
    >>> issubclass(RunError, cb.CobayesError)
    True
    """

    exit_code = 1


class _UnusableError(RunError):
    """The ledger was written by cobayes, but is damaged or of another version."""


@dataclass(frozen=True)
class PointState(Result):
    """The progress of one point.

    Parameters
    ----------
    name
        The point's name.
    num_done, num_shards
        Number of finished shards, and of all shards.
    seconds
        Computing time of the finished shards, summed over workers.

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

    @property
    def cost(self) -> float:
        """Mean computing time of a finished shard; NaN if there is none."""
        return self.seconds / self.num_done if self.num_done else math.nan


class Ledger:
    """The open ledger of a run.

    Parameters
    ----------
    folder
        The run's folder.
    plan
        The identity of the plan to run. With it, the folder is made if it does not exist, the file
        is locked, and a file with another plan raises an error. Without a plan the file is only
        read, which is possible while another process works on the run.
    fresh
        Whether to delete the finished shards, also those of another plan or in a damaged ledger.

    Attributes
    ----------
    plan
        The identity of the run's plan.
    num_workers
        The number of workers at the last commit; 0 if the run never began.
    seconds
        Computing time of each finished shard, by key.
    is_changed
        Whether shards were recorded since the last commit.
    """

    def __init__(
        self, folder: Path, plan: Mapping[str, Any] | None = None, *, fresh: bool = False
    ) -> None:
        self.path = folder / LEDGER_NAME
        try:
            self._open(plan, fresh)
        except _UnusableError:
            if not fresh:
                raise
            self.path.unlink()
            self.path.with_name(f"{LEDGER_NAME}-journal").unlink(missing_ok=True)
            self._open(plan, fresh)

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
        self._write((key[0] << _SHARD_BITS) + key[1], packed, seconds)
        self.seconds[key] = seconds
        self.is_changed = True

    def commit(self, num_workers: int) -> None:
        """Make recorded shards permanent, and note the number of workers.

        Parameters
        ----------
        num_workers
            The number of workers.
        """
        self.num_workers = num_workers
        with self._explained():
            # No transaction is open if Ctrl-C stopped the previous call after COMMIT.
            if self._connection.in_transaction:
                self._connection.execute(f"PRAGMA user_version = {num_workers}")
                self._connection.execute("COMMIT")
            self.is_changed = False
            # Another process could take the lock here; then this run stops, and the other one
            # continues.
            self._lock(_MILLISECONDS_TO_GO_ON)

    def shards(self) -> Iterator[tuple[Key, bytes]]:
        """Yield every finished shard in the plan's order; raise an error if a row was changed."""
        with self._explained():
            for number, content, _ in self._rows():
                if number != _PLAN:
                    yield divmod(number, 1 << _SHARD_BITS), content

    def points(self) -> list[PointState]:
        """Return the progress of every point in the plan's order."""
        spent = defaultdict(list)
        for (point, _), seconds in self.seconds.items():
            spent[point].append(seconds)
        return [
            # `fsum` rounds once: the sum does not depend on the order in which shards finished.
            PointState(point, len(spent[k]), -(-size // part), math.fsum(spent[k]))
            for k, (point, size, part, _) in enumerate(self.plan["points"])
        ]

    def is_locked(self) -> bool:
        """Return whether another process works on the run."""
        try:
            self._lock(0)
            self._connection.execute("ROLLBACK")
        except sqlite3.Error as error:
            return _code(error) == sqlite3.SQLITE_BUSY
        return False

    def _open(self, plan: Mapping[str, Any] | None, fresh: bool) -> None:
        """Connect; write the plan if the file is empty or `fresh` is true, else compare plans."""
        self.plan, self.seconds, self.is_changed = {}, {}, False
        with self._explained(), contextlib.ExitStack() as failure:
            if plan is not None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            self._check_header()
            uri = f"{self.path.absolute().as_uri()}?mode={'rw' if plan is None else 'rwc'}"
            self._connection = sqlite3.connect(uri, uri=True, isolation_level=None)
            self._connection.text_factory = bytes  # a damaged file may hold invalid text
            failure.callback(self.close)
            if plan is not None:
                self._lock(_MILLISECONDS_TO_START)
            is_empty = self._check_tables()
            if plan is not None and (is_empty or fresh):
                self._begin(plan)
            elif is_empty:
                raise RunError(
                    f"{str(self.path)!r} is empty: a run was killed at its start.", "run it again."
                )
            (self.num_workers,) = self._connection.execute("PRAGMA user_version").fetchone()
            for number, content, seconds in self._rows():
                if number == _PLAN:
                    self.plan = json.loads(content)
                else:
                    self.seconds[divmod(number, 1 << _SHARD_BITS)] = seconds
            self.points()  # raises an error if the plan cannot be read
            if plan is not None and (found := differences(self.plan, plan)):
                is_other_plan = all(text.startswith("point ") for text in found)
                made = " (made with another --scale or --set?)" if is_other_plan else ""
                more = [f"and {len(found) - 4} more"] if len(found) > 4 else []
                raise RunError(
                    f"{str(self.path.parent)!r} holds another run{made}: "
                    f"{'; '.join(found[:4] + more)}.",
                    "choose another folder, or continue that run with its own settings and code, "
                    "or start over with --fresh (fresh=True), which deletes it.",
                )
            failure.pop_all()

    def _begin(self, plan: Mapping[str, Any]) -> None:
        """Replace the table of shards by a new one that contains only the plan."""
        self._connection.execute("DROP TABLE IF EXISTS shards")
        self._connection.execute(_SCHEMA)
        number = int.from_bytes(_APPLICATION, "big")
        self._connection.execute(f"PRAGMA application_id = {number}")
        self._write(_PLAN, json.dumps(plan).encode(), 0.0)
        self.commit(num_workers=0)

    def _write(self, number: int, content: bytes, seconds: float) -> None:
        row = [number, content, _seal(number, content, seconds), seconds]
        with self._explained():
            self._connection.execute("INSERT OR REPLACE INTO shards VALUES (?, ?, ?, ?)", row)

    def _rows(self) -> Iterator[tuple[int, bytes, float]]:
        query = "SELECT key, content, seconds, seal FROM shards ORDER BY key"
        for number, content, seconds, seal in self._connection.execute(query):
            if seal != _seal(number, content, seconds):
                raise self._damaged(f"row {number} does not match its digest")
            yield number, content, seconds

    def _lock(self, milliseconds: int) -> None:
        self._connection.execute(f"PRAGMA busy_timeout = {milliseconds}")
        self._connection.execute("BEGIN IMMEDIATE")

    def _check_header(self) -> None:
        """Raise an error for a file of another program; an empty file is allowed."""
        if self.path.exists():
            with self.path.open("rb") as file:
                header = file.read(72)
            if header and not header.endswith(_APPLICATION):
                raise RunError(
                    f"{str(self.path)!r} is not a ledger of cobayes, or only the beginning of one.",
                    "it was not changed: move it away or restore a copy, or choose another folder.",
                )

    def _check_tables(self) -> bool:
        """Return whether the file has no tables; raise an error for unknown or damaged tables."""
        execute = self._connection.execute
        execute("PRAGMA trusted_schema = OFF")
        tables = [sql for (sql,) in execute("SELECT sql FROM sqlite_schema LIMIT 2")]
        if tables not in ([], [_SCHEMA.encode()]):  # an unknown view or trigger could run for hours
            raise self._damaged("its tables are not those of this version")
        (verdict,) = execute("PRAGMA quick_check(1)").fetchone()
        if verdict != b"ok":
            raise self._damaged(verdict.decode())
        return not tables

    def _damaged(self, what: str) -> RunError:
        return _UnusableError(
            f"the ledger {str(self.path)!r} is damaged or cut short, or was written by another "
            f"version of cobayes: {what}.",
            "it was not changed: restore a copy, or use the version that wrote it, or start over "
            "with --fresh (fresh=True), which deletes it.",
        )

    @contextlib.contextmanager
    def _explained(self) -> Iterator[None]:
        """Replace errors of SQLite, the operating system and unreadable rows by a `RunError`."""
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
                    "keep the folder of a run in place, then run the same command again.",
                ) from error
            if code == sqlite3.SQLITE_BUSY:
                raise RunError(
                    f"another process is running in {str(folder)!r} already.",
                    "wait for it, stop it, or choose another folder; "
                    f"`cobayes runs {folder}` shows its progress.",
                ) from error
            if code in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
                raise self._damaged(str(error)) from error
            why = getattr(error, "strerror", None) or error
            why = "it is a file" if isinstance(error, FileExistsError) else why
            raise RunError(
                f"cannot read or write in {str(folder)!r}: {why}; shards recorded before are kept.",
                "choose a folder that you may write to, or free disk space (or raise the "
                "limit of open files, ulimit -n); without --fresh (fresh=True) the same command "
                "continues the run.",
            ) from error
        except (TypeError, ValueError, KeyError, ArithmeticError, RecursionError) as error:
            raise self._damaged(f"a row cannot be read ({error!r:.80})") from error


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return sentences about the differences between two plans, or between two sets of versions.

    Parameters
    ----------
    there
        The plan's identity in the folder, or the versions of a worker.
    here
        The identity of the experiment to run, or the versions of this process.
    """
    found = []
    for name in [name for name in {**there, **here} if there.get(name) != here.get(name)]:
        if name == "points":
            old, new = ({point[0]: point for point in who["points"]} for who in (there, here))
            for point in [point for point in {**old, **new} if old.get(point) != new.get(point)]:
                how = "has other parameters or numbers of samples"
                how = how if point in old else "is new"
                found.append(f"point {point!r} {how if point in new else 'is missing'}")
            found = found or ["the points are in another order"]
        elif name.startswith("code"):
            found.append(f"the {name} has changed")
        else:
            found.append(f"{name} is {there.get(name)!r} there and {here.get(name)!r} here")
    return found


def _seal(number: int, content: bytes, seconds: float) -> bytes:
    """Return a digest of a row: its key, its content and its seconds."""
    return hashlib.blake2b(f"{number} {seconds!r} ".encode() + content, digest_size=16).digest()


def _code(error: Exception) -> int:
    """Return the primary code of an error of SQLite; zero for other errors."""
    return (getattr(error, "sqlite_errorcode", None) or 0) & 0xFF
