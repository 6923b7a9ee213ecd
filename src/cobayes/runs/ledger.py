"""The ledger: a SQLite file with one row for every finished shard.

It is the only truth about a run. Rows are added in transactions in write-ahead mode, so that
others can read while one process writes, and a kill at any moment loses at most the shards
that were not yet in it. Each row carries a checksum of its key and its statistics. A file whose
tables are not exactly ours is refused before anything in it is evaluated.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from cobayes.runs.failures import RunError, damaged, failures_explained
from cobayes.runs.ledger_file import (
    APPLICATION_ID,
    CHECKSUM_LENGTH,
    FORMAT,
    LEDGER_NAME,
    SCHEMA,
    SHARD_BITS,
    check_file,
    check_identity,
    check_schema,
    connect,
    files_of,
    finite,
    joined,
    sealed,
)
from cobayes.runs.statistics import Estimate
from cobayes.runs.workers.tasks import Key, Outcome


class Ledger:
    """An open ledger; make one with `create` or `open`.

    Parameters
    ----------
    connection
        To a file that was checked to be a ledger.
    path
        The ledger's file.
    """

    def __init__(self, connection: sqlite3.Connection, path: Path) -> None:
        self._connection = connection
        self.path = path
        self._file = os.stat(path)

    @classmethod
    def create(cls, folder: Path, identity: Mapping[str, Any]) -> Ledger:
        """Create the ledger of a new run and open it.

        Parameters
        ----------
        folder
            Where; it must not have one.
        identity
            All that decides the result: experiment, parameters, seed, versions.
        """
        path = folder / LEDGER_NAME
        for leftover in files_of(folder):
            # A log without its ledger would be replayed into the new one; the files of those
            # who only looked are empty.
            if leftover.name.endswith("-wal") and leftover.stat().st_size:
                raise RunError(
                    f"{str(leftover)!r} is left of a ledger that is no longer there.",
                    "put the ledger back, or move this file away, or choose another folder",
                )
            leftover.unlink(missing_ok=True)
        unfinished = folder / f"{LEDGER_NAME}.new"
        with failures_explained(path):
            unfinished.unlink(missing_ok=True)
            connection = sqlite3.connect(unfinished, isolation_level=None)
            with contextlib.closing(connection):
                connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
                connection.execute(f"PRAGMA user_version = {FORMAT}")
                connection.executescript(f"BEGIN; {'; '.join(SCHEMA.values())}; COMMIT;")
                connection.execute(
                    "INSERT INTO meta VALUES ('identity', ?), ('created_at', ?)",
                    [json.dumps(identity), json.dumps(time.time())],
                )
            # Whole or not at all: an empty ledger could not be told from a damaged one.
            os.replace(unfinished, path)
        return cls.open(folder)

    @classmethod
    def open(cls, folder: Path, *, only_read: bool = False) -> Ledger:
        """Open the ledger of a folder, or say what is wrong with it.

        Parameters
        ----------
        folder
            A folder that has one.
        only_read
            Open it to look at, also while another process writes.
        """
        path = folder / LEDGER_NAME
        check_file(path)
        with failures_explained(path):
            connection = connect(path, only_read)
            try:
                check_schema(connection, path)
                # Pages that are missing or damaged.
                verdict = connection.execute("PRAGMA quick_check(1)").fetchone()[0]
                if verdict != "ok":
                    raise damaged(path, verdict)
                if not only_read:
                    connection.execute("PRAGMA journal_mode = WAL")
                    # A crash of the machine may lose the last rows, never the order of them.
                    connection.execute("PRAGMA synchronous = NORMAL")
                return cls(connection, path)
            except BaseException:
                connection.close()
                raise

    def close(self) -> None:
        """Close the file; whatever was not committed is dropped."""
        self._connection.close()

    def is_in_place(self) -> bool:
        """Return whether the file that is open is still the one that its path names."""
        try:
            return os.path.samestat(os.stat(self.path), self._file)
        except OSError:
            return False

    def identity(self) -> dict[str, Any]:
        """Return what the run was started with."""
        with self._reading():
            found = json.loads(self._meta("identity"))
            check_identity(found)
            return found

    def created_at(self) -> float:
        """Return when the run was first started, in seconds since 1970."""
        with self._reading():
            return finite(json.loads(self._meta("created_at")))

    def _meta(self, key: str) -> str:
        rows = self._connection.execute("SELECT value FROM meta WHERE key = ?", [key])
        return rows.fetchone()[0]

    def add(self, outcomes: Iterable[Outcome]) -> None:
        """Record finished shards in one transaction.

        Parameters
        ----------
        outcomes
            Outcomes of shards that have finished.
        """
        now = time.time()
        rows = [
            (
                joined(outcome.key),
                sealed(outcome.key, outcome.packed or b""),
                outcome.seconds,
                outcome.worker,
                now,
            )
            for outcome in outcomes
        ]
        with self._transaction() as connection:
            connection.executemany("INSERT INTO shards VALUES (?, ?, ?, ?, ?)", rows)

    def finished(self) -> Iterator[tuple[Key, bytes, float]]:
        """Yield key, packed statistics and seconds of every shard, in the plan's order."""
        query = "SELECT key, statistics, seconds FROM shards ORDER BY key"
        with self._reading():
            for number, blob, seconds in self._connection.execute(query):
                key = divmod(number, 1 << SHARD_BITS)
                yield key, self._opened(key, blob), finite(seconds)

    def progress(self) -> dict[int, tuple[int, float]]:
        """Return the number of finished shards and their seconds, by point."""
        query = f"SELECT key >> {SHARD_BITS}, COUNT(*), SUM(seconds) FROM shards GROUP BY 1"
        with self._reading():
            return {row[0]: (row[1], finite(row[2])) for row in self._connection.execute(query)}

    def _opened(self, key: Key, blob: Any) -> bytes:
        packed = bytes(blob)[CHECKSUM_LENGTH:]
        if blob != sealed(key, packed):
            point, shard = key
            raise damaged(
                self.path,
                f"shard {shard} of the point in place {point + 1} does not match its checksum",
            )
        return packed

    def num_finished_since(self, moment: float) -> int:
        """Return how many shards finished after a moment.

        Parameters
        ----------
        moment
            In seconds since 1970.
        """
        query = "SELECT COUNT(*) FROM shards WHERE finished_at >= ?"
        with self._reading():
            return int(self._connection.execute(query, [moment]).fetchone()[0])

    def start_session(self, executor: str, num_workers: int) -> int:
        """Record that a process starts to work on the run; return the session's number.

        Parameters
        ----------
        executor
            Where shards are computed.
        num_workers
            How many at once.
        """
        with self._transaction() as connection:
            cursor = connection.execute(
                "INSERT INTO sessions (started_at, seconds, executor, num_workers, ending) "
                "VALUES (?, 0, ?, ?, 'stopped')",
                [time.time(), executor, num_workers],
            )
            return int(cursor.lastrowid or 0)

    def update(
        self,
        session: int,
        seconds: float,
        num_workers: int,
        ending: str,
        estimates: Mapping[int, Mapping[str, Estimate]],
    ) -> None:
        """Record the time spent in a session and the estimates that have changed.

        Parameters
        ----------
        session
            The number that `start_session` returned.
        seconds
            The time since it started.
        num_workers
            How many workers there were at the last look.
        ending
            How it ended; "stopped" while it goes on, which is true once it is killed.
        estimates
            By position of the point.
        """
        rows = [
            (point, name, estimate.value, estimate.stderr)
            for point, named in estimates.items()
            for name, estimate in named.items()
        ]
        with self._transaction() as connection:
            connection.execute(
                "UPDATE sessions SET seconds = ?, num_workers = ?, ending = ? WHERE session = ?",
                [seconds, num_workers, ending, session],
            )
            connection.executemany("INSERT OR REPLACE INTO estimates VALUES (?, ?, ?, ?)", rows)

    def sessions(self) -> list[dict[str, Any]]:
        """Return what is known of every session, oldest first."""
        names = ("started_at", "seconds", "executor", "num_workers", "ending")
        with self._reading():
            rows = self._connection.execute(
                f"SELECT {', '.join(names)} FROM sessions ORDER BY session"
            )
            return [
                {
                    "started_at": finite(started_at),
                    "seconds": finite(seconds),
                    "executor": str(executor),
                    "num_workers": int(num_workers),
                    "ending": str(ending),
                }
                for started_at, seconds, executor, num_workers, ending in rows
            ]

    def estimates(self) -> dict[int, dict[str, Estimate]]:
        """Return the estimates recorded last, by point."""
        found: dict[int, dict[str, Estimate]] = {}
        with self._reading():
            for point, name, *numbers in self._connection.execute("SELECT * FROM estimates"):
                # SQLite keeps NaN as NULL.
                value, stderr = (math.nan if x is None else float(x) for x in numbers)
                found.setdefault(point, {})[str(name)] = Estimate(value, stderr)
        return found

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """Refuse rows that none of ours can be: of other types, missing, or not JSON."""
        with failures_explained(self.path):
            try:
                yield
            except RunError:
                raise
            except (TypeError, ValueError, KeyError, OverflowError, RecursionError) as error:
                raise damaged(self.path, f"a row cannot be read ({error!r:.80})") from error

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        with failures_explained(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
                self._connection.execute("COMMIT")
            except BaseException:
                # SQLite has rolled back by itself where the disk was full.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise
