"""The ledger's file: its format, and what is checked before anything in it is believed."""

from __future__ import annotations

import hashlib
import math
import sqlite3
from pathlib import Path
from typing import Any

from cobayes.runs.failures import (
    RunError,
    are_descriptors_used_up,
    damaged,
    too_few_descriptors,
)
from cobayes.runs.workers.tasks import Key

LEDGER_NAME = "ledger.sqlite"
APPLICATION_ID = int.from_bytes(b"CoBa", "big")
FORMAT = 2
_MAGIC = b"SQLite format 3\x00"
CHECKSUM_LENGTH = 16

# A key is the point's position times 2**32 plus the shard's: one tree, no separate index.
SHARD_BITS = 32
SCHEMA = {
    "meta": "CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID",
    "shards": "CREATE TABLE shards (key INTEGER PRIMARY KEY, statistics BLOB NOT NULL, "
    "seconds REAL NOT NULL, worker TEXT NOT NULL, finished_at REAL NOT NULL)",
    "estimates": "CREATE TABLE estimates (point INTEGER NOT NULL, name TEXT NOT NULL, "
    "value REAL, stderr REAL, PRIMARY KEY (point, name)) WITHOUT ROWID",
    "sessions": "CREATE TABLE sessions (session INTEGER PRIMARY KEY, started_at REAL NOT NULL, "
    "seconds REAL NOT NULL, executor TEXT NOT NULL, num_workers INTEGER NOT NULL, "
    "ending TEXT NOT NULL)",
}


def files_of(folder: Path) -> list[Path]:
    """Return the files of a ledger that exist in a folder.

    Parameters
    ----------
    folder
        Where to look.
    """
    names = [LEDGER_NAME, f"{LEDGER_NAME}-wal", f"{LEDGER_NAME}-shm"]
    return [folder / name for name in names if (folder / name).exists()]


def check_file(path: Path, *, any_format: bool = False) -> None:
    """Refuse a file that does not begin as our ledgers do.

    Parameters
    ----------
    path
        An existing file.
    any_format
        Accept ledgers of other versions of cobayes, too.
    """
    try:
        with open(path, "rb") as file:
            header = file.read(100)
    except OSError as error:
        if are_descriptors_used_up(error):
            raise too_few_descriptors(path) from error
        raise RunError(f"cannot read {str(path)!r}: {error.strerror}.") from error
    if len(header) < 100 or not header.startswith(_MAGIC):
        raise RunError(
            f"{str(path)!r} is not a ledger of cobayes, or only the beginning of one "
            f"({path.stat().st_size} bytes).",
            "it was left alone: move it away or restore a copy, or choose another folder",
        )
    if int.from_bytes(header[68:72], "big") != APPLICATION_ID:
        raise RunError(
            f"{str(path)!r} is a SQLite file of another program.",
            "it was left alone: move it away, or choose another folder",
        )
    if (found := int.from_bytes(header[60:64], "big")) != FORMAT and not any_format:
        raise RunError(
            f"{str(path)!r} has format {found} of the ledger; this version reads {FORMAT}.",
            "use the version of cobayes that wrote it, or start over with --fresh",
        )


def connect(path: Path, only_read: bool) -> sqlite3.Connection:
    """Open a ledger, to write or only to look at."""
    uri = path.absolute().as_uri()
    if not only_read:
        return sqlite3.connect(f"{uri}?mode=rw", uri=True, isolation_level=None, timeout=30)
    connection = sqlite3.connect(f"{uri}?mode=ro", uri=True, isolation_level=None, timeout=30)
    try:
        connection.execute("SELECT name FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF not in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            raise
        # In a folder that cannot be written nobody writes, so nothing needs coordination.
        return sqlite3.connect(f"{uri}?immutable=1", uri=True, isolation_level=None)
    return connection


def check_schema(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse other tables, views and triggers: a view could compute for hours."""
    connection.execute("PRAGMA trusted_schema = OFF")
    found = dict(connection.execute("SELECT name, sql FROM sqlite_schema LIMIT 100"))
    if found != SCHEMA:
        raise damaged(path, "its tables are not those of a ledger")


def check_identity(found: Any) -> None:
    """Raise where a run's identity has not the form that `Experiment.identity` gives it."""
    names = ("experiment", "version", "shard_function", "shard_code")
    if not all(isinstance(found[name], str) for name in names):
        raise TypeError("a name of the experiment is not text")
    if not isinstance(found["seed"], int) or not isinstance(found["versions"], dict):
        raise TypeError("the seed or the versions have another type")
    if not isinstance(found["points"], list) or not found["points"]:
        raise TypeError("there are no points")
    for point in found["points"]:
        sizes = (point["num_samples"], point["samples_per_shard"])
        if not all(isinstance(size, int) and size >= 1 for size in sizes):
            raise ValueError("a point has no samples")
        if not isinstance(point["name"], str) or not isinstance(point["parameters"], dict):
            raise TypeError("a point has no name or no parameters")


def joined(key: Key) -> int:
    """Return the number under which a shard is stored."""
    return (key[0] << SHARD_BITS) + key[1]


def sealed(key: Key, packed: bytes) -> bytes:
    """Return statistics behind a checksum of them and of the shard that they belong to."""
    text = f"{key[0]} {key[1]} ".encode()
    return hashlib.blake2b(text + packed, digest_size=CHECKSUM_LENGTH).digest() + packed


def finite(value: Any) -> float:
    """Return a stored number, or raise where it is none."""
    number = float(value)
    if not math.isfinite(number):
        raise ValueError(f"{value!r} is not finite")
    return number
