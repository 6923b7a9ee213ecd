"""The ledger file: never lost, never mistaken, never overwritten."""

from __future__ import annotations

import contextlib
import random
import sqlite3
import threading
import time

import pytest

from cobayes.errors import CobayesError
from cobayes.runs import RunError, read_state, run
from cobayes.runs.ledger import Ledger

from .conftest import drive, finish, wait_until
from .experiments import drawing


@pytest.fixture
def complete(tmp_path):
    """A folder with a complete run."""
    run(drawing(), tmp_path, jobs=1)
    return tmp_path


def truncated(size):
    def damage(path):
        path.write_bytes(path.read_bytes()[:size])

    return damage


def overwritten_in_the_middle(path):
    content = bytearray(path.read_bytes())
    content[4096 : 3 * 4096] = b"x" * (2 * 4096)
    path.write_bytes(bytes(content))


def replaced_by_text(path):
    path.write_text("my precious notes, not a ledger\n" * 50)


def replaced_by_another_database(path):
    path.unlink()
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE precious (value)")
    connection.close()


DAMAGES = {
    "cut to nothing": (truncated(0), "only the beginning of one"),
    "cut within the header": (truncated(60), "only the beginning of one"),
    "cut after the first page": (truncated(4096), "damaged or cut short"),
    "cut in the middle": (truncated(10_000), "damaged or cut short"),
    "overwritten": (overwritten_in_the_middle, "damaged or cut short"),
    "text": (replaced_by_text, "not a ledger of cobayes"),
    "another database": (replaced_by_another_database, "of another program"),
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_or_foreign_ledger_is_refused_with_advice_and_left_alone(complete, name):
    damage, message = DAMAGES[name]
    path = complete / "ledger.sqlite"
    damage(path)
    before = path.read_bytes()
    for attempt in (lambda: run(drawing(), complete, jobs=1), lambda: read_state(complete)):
        with pytest.raises(RunError, match=message) as caught:
            attempt()
        assert "it was left alone" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["cut to nothing", "text", "another database"])
def test_starting_over_does_not_delete_what_is_not_ours(complete, name):
    path = complete / "ledger.sqlite"
    DAMAGES[name][0](path)
    before = path.read_bytes()
    with pytest.raises(RunError, match="left alone"):
        run(drawing(), complete, jobs=1, fresh=True)
    assert path.read_bytes() == before


def test_starting_over_replaces_a_damaged_ledger_of_ours(complete):
    expected = run(drawing(), complete).digest
    truncated(10_000)(complete / "ledger.sqlite")
    assert run(drawing(), complete, jobs=1, fresh=True).digest == expected


def test_a_log_whose_ledger_is_gone_is_refused(complete):
    (complete / "ledger.sqlite").rename(complete / "ledger.sqlite-wal")
    with pytest.raises(RunError, match="left of a ledger that is no longer there"):
        run(drawing(), complete, jobs=1)


def test_a_ledger_of_another_format_is_refused(complete):
    with sqlite3.connect(complete / "ledger.sqlite") as connection:
        connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(RunError, match="has format 99"):
        run(drawing(), complete, jobs=1)


def test_a_changed_row_is_noticed(complete):
    with sqlite3.connect(complete / "ledger.sqlite") as connection:
        (packed,) = connection.execute("SELECT statistics FROM shards LIMIT 1").fetchone()
        connection.execute("UPDATE shards SET statistics = ?", [packed[:-1] + b"x"])
    connection.close()
    with pytest.raises(RunError, match=r"shard 0 of the point in place 1 does not match"):
        run(drawing(), complete, jobs=1)


def execute(folder, *statements):
    with contextlib.closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


CRAFTED = {
    "two shards exchanged": (
        "UPDATE shards SET key = -1 WHERE key = 0",
        "UPDATE shards SET key = 0 WHERE key = 1",
        "UPDATE shards SET key = 1 WHERE key = -1",
    ),
    "a shard of another point": ("UPDATE shards SET key = key + (1 << 33) WHERE key = 0",),
    "a recursive view": (
        "ALTER TABLE shards RENAME TO hidden",
        "CREATE VIEW shards AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS key, x'00' AS statistics, 0.0 AS seconds, '' AS worker, 0.0 AS finished_at "
        "FROM n WHERE i < 0",
    ),
    "a trigger": ("CREATE TRIGGER t AFTER UPDATE ON sessions BEGIN DELETE FROM shards; END",),
    "no identity": ("DELETE FROM meta WHERE key = 'identity'",),
    "an identity without points": ("UPDATE meta SET value = '{}' WHERE key = 'identity'",),
    "an identity that is nested deeply": (
        "UPDATE meta SET value = replace(hex(zeroblob(50000)), '00', '[') WHERE key = 'identity'",
    ),
    "points without samples": (
        "UPDATE meta SET value = replace(value, '1963', '0') WHERE key = 'identity'",
    ),
    "text for seconds": ("UPDATE shards SET seconds = 'long'",),
    "text for a time": ("UPDATE sessions SET seconds = 'long'",),
    "text for statistics": ("UPDATE shards SET statistics = 'none'",),
}


@pytest.mark.parametrize("name", CRAFTED)
def test_a_crafted_ledger_is_refused_and_left_alone(complete, name):
    execute(complete, *CRAFTED[name])
    before = (complete / "ledger.sqlite").read_bytes()
    with pytest.raises(RunError) as caught:
        run(drawing(), complete, jobs=1)
    assert "damaged" in str(caught.value)
    with contextlib.suppress(RunError):
        read_state(complete)
    assert (complete / "ledger.sqlite").read_bytes() == before


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_never_changes_a_result(complete, seed):
    """400 bits flipped, one at a time, anywhere in the file: refused, recomputed, or harmless."""
    expected = run(drawing(), complete, jobs=1).digest
    path = complete / "ledger.sqlite"
    intact = path.read_bytes()
    bits = random.Random(seed).sample(range(8 * len(intact)), 130)
    for bit in bits:
        flipped = bytearray(intact)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(flipped))
        with contextlib.suppress(RunError):
            assert run(drawing(), complete, jobs=1).digest == expected, bit
        for name in ("ledger.sqlite-wal", "ledger.sqlite-shm"):
            (complete / name).unlink(missing_ok=True)


def test_a_programming_error_is_not_called_damage(complete):
    ledger = Ledger.open(complete)
    ledger.close()
    with pytest.raises(RunError) as caught:
        ledger.progress()
    assert "damaged" not in str(caught.value)
    assert "fresh" not in str(caught.value)


def test_a_run_can_be_watched_from_another_process_while_it_writes(tmp_path):
    process = drive(tmp_path, "--jobs", 1, "--pause", 0.15)
    wait_until(lambda: (tmp_path / "ledger.sqlite").exists())
    seen = []
    while process.poll() is None:
        seen.append(read_state(tmp_path))
        time.sleep(0.02)
    code, _, err = finish(process)
    assert code == 0, err
    counts = [state.num_done for state in seen]
    assert counts == sorted(counts)
    running = [state for state in seen if state.status == "running" and 0 < state.num_done < 40]
    assert running
    assert running[-1].num_workers == 1
    assert running[-1].seconds_left > 0
    assert read_state(tmp_path).status == "complete"


def test_those_who_look_never_stop_a_run(tmp_path):
    """To look takes the folder's lock for an instant, in which a run may want to start."""
    run(drawing(4), tmp_path, jobs=1)
    stop = threading.Event()
    num_looks = 0

    def look():
        nonlocal num_looks
        while not stop.is_set():
            # A run that starts over may take the ledger away from under it.
            with contextlib.suppress(CobayesError):
                read_state(tmp_path)
                num_looks += 1

    watchers = [threading.Thread(target=look) for _ in range(3)]
    for watcher in watchers:
        watcher.start()
    try:
        for seed in range(5):
            expected = run(drawing(4, seed=seed), tmp_path, jobs=1, fresh=True).digest
            assert run(drawing(4, seed=seed), tmp_path, jobs=1).digest == expected
    finally:
        stop.set()
        for watcher in watchers:
            watcher.join()
    assert num_looks > 0


def test_the_ledger_has_one_row_for_each_shard_and_no_more(complete):
    ledger = Ledger.open(complete, only_read=True)
    keys = [key for key, _, _ in ledger.finished()]
    ledger.close()
    assert keys == [(point, shard) for point in range(2) for shard in range(20)]
