"""The ledger of a run: never lost, mixed up or overwritten; one process at a time."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
import time
from pathlib import Path

import pytest

from cobayes.errors import CobayesError
from cobayes.runs import Experiment, Point, RunError, ledger, plan, read_state, run
from cobayes.runs.ledger import Ledger
from tests import AFTER_CTRL_C

from .conftest import drive, end, finish, mounted, wait_until
from .experiments import Gate, bulky, bulky_experiment, draw, drawing


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A complete run that no test changes."""
    folder = tmp_path_factory.mktemp("finished")
    run(drawing(), folder, jobs=1)
    return folder


@pytest.fixture
def complete(finished, tmp_path):
    """A folder with a complete run."""
    return Path(shutil.copytree(finished, tmp_path, dirs_exist_ok=True))


def rows_of(folder: Path) -> list:
    with contextlib.closing(Ledger(folder)) as ledger:
        return list(ledger.shards())


def test_the_ledger_has_one_row_for_each_shard_and_is_the_only_file(complete):
    assert [path.name for path in complete.iterdir()] == ["ledger.sqlite"]
    keys = [key for key, _ in rows_of(complete)]
    assert keys == [(point, shard) for point in range(2) for shard in range(20)]


# Runs that a folder with a run refuses.


def changed(**changes):
    return dataclasses.replace(drawing(), **changes)


POINT = drawing().points[0]
OTHERS = {
    "seed is 3 there and 4 here": drawing(seed=4),
    "version is '1' there and '2' here": changed(version="2"),
    "experiment is 'drawing' there and 'sketching' here": changed(name="sketching"),
    "shard function is 'draw' there and 'bulky' here": changed(shard=bulky),
    "point 'scale 1' has other parameters or numbers of samples": drawing(30),
    "point 'scale 2' has other parameters or numbers of samples": drawing(gate="other"),
    "point 'scale 2' is missing": drawing(num_points=1),
    "point 'scale 3' is new": drawing(num_points=3),
    "the points are in another order": changed(points=drawing().points[::-1]),
}


@pytest.mark.parametrize("difference", OTHERS)
def test_another_run_in_the_folder_is_an_error_that_names_the_difference(complete, difference):
    before = (complete / "ledger.sqlite").read_bytes()
    with pytest.raises(RunError) as caught:
        run(OTHERS[difference], complete, jobs=1)
    assert difference in caught.value.message
    assert "--fresh" in (caught.value.hint or "")
    assert (complete / "ledger.sqlite").read_bytes() == before


def test_another_package_version_is_refused(complete, monkeypatch):
    other = {**plan.versions(), "numpy": "9.9"}
    monkeypatch.setattr(plan, "versions", lambda: other)
    with pytest.raises(RunError, match=r"numpy is '.*' there and '9\.9' here"):
        run(drawing(), complete, jobs=1)


def test_a_change_of_cobayes_itself_is_refused(complete, monkeypatch):
    monkeypatch.setattr(plan, "package_digest", lambda: "other")
    with pytest.raises(RunError, match="the code of cobayes has changed"):
        run(drawing(), complete, jobs=1)


def test_starting_over_deletes_the_shards_and_nothing_else(complete, capsys):
    (complete / "figure.png").write_bytes(b"kept")
    result = run(drawing(seed=4), complete, jobs=1, fresh=True, progress=True)
    assert "drawing: 0/40 shards" in capsys.readouterr().err
    assert result.seed == 4
    assert (complete / "figure.png").read_bytes() == b"kept"
    assert run(drawing(seed=4), complete).digest == result.digest


def test_a_second_process_on_the_folder_is_refused_and_the_first_goes_on(tmp_path, processes):
    gate = Gate(tmp_path / "gate").folder
    first = drive(tmp_path, "--jobs", 1, "--gate", gate)
    processes.callback(end, first)
    wait_until(lambda: is_running(tmp_path), first)
    for options in ({}, {"fresh": True}):
        with pytest.raises(RunError, match="another process is running in"):
            run(drawing(gate=gate), tmp_path, jobs=1, **options)
    assert first.poll() is None
    assert read_state(tmp_path).status == "running"
    first.send_signal(signal.SIGINT)
    code, _, err = finish(first)
    assert code in AFTER_CTRL_C, err


def is_running(folder) -> bool:
    with contextlib.suppress(CobayesError):
        return read_state(folder).status == "running"
    return False


def test_a_killed_run_leaves_no_lock_behind(tmp_path):
    gate = Gate(tmp_path / "gate").folder
    process = drive(tmp_path, "--jobs", 2, "--gate", gate)
    wait_until(lambda: is_running(tmp_path), process)
    process.send_signal(signal.SIGKILL)
    finish(process)
    assert read_state(tmp_path).status == "stopped"
    Ledger(tmp_path, drawing(gate=gate).identity()).close()


def test_a_run_that_is_taken_over_between_two_commits_stops_and_loses_nothing(tmp_path):
    ledger = Ledger(tmp_path, drawing().identity())
    ledger._connection.execute("COMMIT")  # frees the lock, as between two commits
    other = Ledger(tmp_path, drawing().identity())
    try:
        ledger._connection.execute("PRAGMA busy_timeout = 0")
        with pytest.raises(RunError, match="another process is running"):
            ledger.add((0, 0), b"x", 1.0)
    finally:
        other.close()
        ledger.close()
    assert rows_of(tmp_path) == []


# Damage.


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
    with contextlib.closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE precious (value)")


DAMAGES = {
    "cut within the header": (truncated(60), "only the beginning of one"),
    "cut after the first page": (truncated(4096), "damaged or cut short"),
    "cut in the middle": (truncated(10_000), "damaged or cut short"),
    "overwritten": (overwritten_in_the_middle, "damaged or cut short"),
    "text": (replaced_by_text, "not a ledger of cobayes"),
    "another database": (replaced_by_another_database, "not a ledger of cobayes"),
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
        assert "it was not changed" in str(caught.value)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["cut within the header", "text", "another database"])
def test_starting_over_does_not_delete_a_file_of_another_program(complete, name):
    path = complete / "ledger.sqlite"
    DAMAGES[name][0](path)
    before = path.read_bytes()
    with pytest.raises(RunError, match="not changed"):
        run(drawing(), complete, jobs=1, fresh=True)
    assert path.read_bytes() == before


@pytest.mark.parametrize("name", ["cut in the middle", "overwritten"])
def test_starting_over_replaces_a_damaged_ledger_of_cobayes(complete, name):
    expected = run(drawing(), complete).digest
    DAMAGES[name][0](complete / "ledger.sqlite")
    assert run(drawing(), complete, jobs=1, fresh=True).digest == expected


def test_an_empty_file_is_a_run_that_was_killed_at_its_start(tmp_path):
    (tmp_path / "ledger.sqlite").touch()
    with pytest.raises(RunError, match="killed at its start"):
        read_state(tmp_path)
    assert run(drawing(2), tmp_path, jobs=1)["scale 1"].num_samples == 163


def execute(folder, *statements):
    with contextlib.closing(sqlite3.connect(folder / "ledger.sqlite")) as connection:
        for statement in statements:
            connection.execute(statement)
        connection.commit()


def test_a_ledger_of_another_version_is_refused_until_one_starts_over(complete):
    execute(complete, "ALTER TABLE shards ADD COLUMN worker TEXT")
    with pytest.raises(RunError, match="written by another version of cobayes: its tables"):
        run(drawing(), complete, jobs=1)
    run(drawing(), complete, jobs=1, fresh=True)


def test_a_plan_in_the_form_of_an_earlier_version_is_said_to_be_of_another_version(complete):
    ledger = Ledger(complete, drawing().identity())
    ledger._write(-1, json.dumps({"plan": ledger.plan, "num_workers": 2}).encode(), 0.0)
    ledger.commit(num_workers=0)
    ledger.close()
    with pytest.raises(RunError, match="or was written by another version of cobayes"):
        read_state(complete)
    run(drawing(), complete, jobs=1, fresh=True)


CRAFTED = {
    "changed statistics": ("UPDATE shards SET content = content || x'00' WHERE key = 3",),
    "two shards exchanged": (
        "UPDATE shards SET key = -2 WHERE key = 0",
        "UPDATE shards SET key = 0 WHERE key = 1",
        "UPDATE shards SET key = 1 WHERE key = -2",
    ),
    "a shard of another point": ("UPDATE shards SET key = key + (1 << 33) WHERE key = 0",),
    "a recursive view": (
        "ALTER TABLE shards RENAME TO hidden",
        "CREATE VIEW shards AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT i AS key, x'00' AS content, x'00' AS seal, 0.0 AS seconds FROM n WHERE i < 0",
    ),
    "a trigger": ("CREATE TRIGGER t AFTER UPDATE ON shards BEGIN DELETE FROM shards; END",),
    "an identity without points": ("UPDATE shards SET content = '{}' WHERE key = -1",),
    "an identity that is nested deeply": (
        "UPDATE shards SET content = replace(hex(zeroblob(50000)), '00', '[') WHERE key = -1",
    ),
    "points without samples": (
        "UPDATE shards SET content = replace(content, '1963', '0') WHERE key = -1",
    ),
    "an experiment without a name": (
        "UPDATE shards SET content = replace(content, 'experiment', 'expiriment') WHERE key = -1",
    ),
    "text for seconds": ("UPDATE shards SET seconds = 'long'",),
    "text for statistics": ("UPDATE shards SET content = 'none'",),
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


@pytest.mark.parametrize("points", [[["p", 0, 0, ""]], [["p"]], 3])
def test_a_plan_that_cannot_be_read_is_refused_though_it_is_sealed(complete, points):
    ledger = Ledger(complete, drawing().identity())
    sealed = json.dumps({**ledger.plan, "points": points}).encode()
    ledger._write(-1, sealed, 0.0)
    ledger.commit(num_workers=7)
    ledger.close()
    for attempt in (lambda: run(drawing(), complete, jobs=1), lambda: read_state(complete)):
        with pytest.raises(RunError, match="damaged"):
            attempt()


@pytest.mark.parametrize("seed", range(3))
def test_a_flipped_bit_never_changes_a_result(tmp_path, seed):
    """Flip 130 random bits of the file, one at a time: each run fails, or its result is right."""
    expected = run(drawing(4), tmp_path, jobs=1).digest
    path = tmp_path / "ledger.sqlite"
    intact = path.read_bytes()
    bits = random.Random(seed).sample(range(8 * len(intact)), 130)
    for bit in bits:
        flipped = bytearray(intact)
        flipped[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bytes(flipped))
        with contextlib.suppress(RunError):
            assert run(drawing(4), tmp_path, jobs=1).digest == expected, bit
        (tmp_path / "ledger.sqlite-journal").unlink(missing_ok=True)


@pytest.mark.parametrize("again", [False, True])
def test_a_folder_removed_during_the_run_is_said_to_be_gone(tmp_path, again):
    def remove(state):
        if state.status == "running" and (tmp_path / "run").exists():
            shutil.rmtree(tmp_path / "run")
            if again:
                (tmp_path / "run").mkdir()

    with pytest.raises(RunError) as caught:
        run(drawing(3), tmp_path / "run", jobs=1, progress=remove)
    assert "removed or replaced" in str(caught.value)
    assert "are lost" in str(caught.value)
    assert "kept" not in str(caught.value)


# Reading while a run writes.


def test_a_run_can_be_watched_from_another_process_while_it_writes(tmp_path):
    gate, folder = Gate(tmp_path / "gate"), tmp_path / "run"
    gate.open(10)
    process = drive(folder, "--jobs", 2, "--gate", gate.folder)
    wait_until(lambda: is_running(folder), process)
    seen = []
    while process.poll() is None:
        seen.append(read_state(folder))
        if seen[-1].num_done == 20:
            gate.open(20)
        time.sleep(0.02)
    code, _, err = finish(process)
    assert code == 0, err
    counts = [state.num_done for state in seen]
    assert counts == sorted(counts)
    middle = seen[counts.index(20)]
    assert (middle.status, middle.num_workers) == ("running", 2)
    assert middle.seconds_left > 0
    assert read_state(folder).status == "complete"


def test_readers_never_stop_a_run(tmp_path, monkeypatch):
    """A reader takes the lock for an instant, in which a run may start or write."""
    # On a busy machine an instant may be long.
    monkeypatch.setattr(ledger, "_MILLISECONDS_TO_START", 30_000)
    run(drawing(4), tmp_path, jobs=1)
    stop = threading.Event()
    num_reads = 0

    def read():
        nonlocal num_reads
        while not stop.is_set():
            read_state(tmp_path)
            num_reads += 1

    readers = [threading.Thread(target=read) for _ in range(3)]
    for reader in readers:
        reader.start()
    try:
        for seed in range(5):
            expected = run(drawing(4, seed=seed), tmp_path, jobs=1, fresh=True).digest
            assert run(drawing(4, seed=seed), tmp_path, jobs=1).digest == expected
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert num_reads > 0


# Disks.


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    """The digest of the bulky experiment on a disk with space."""
    return run(bulky_experiment(), tmp_path_factory.mktemp("bulky"), jobs=1).digest


def check_that_it_stopped_cleanly(folder: Path, code: int, err: str) -> list:
    assert code == 1, err
    assert "Traceback" not in err
    assert "RunError: cannot read or write in" in err
    assert "kept" in err
    assert "the same command continues the run" in err
    rows = rows_of(folder)
    assert 0 < len(rows) < 40
    return rows


def test_a_full_disk_stops_the_run_and_more_space_lets_it_go_on(tmp_path, undisturbed):
    with mounted(tmp_path, "size=400k"):
        code, _, err = finish(drive(tmp_path, "--jobs", 1, "--bulky"))
        assert "database or disk is full" in err or "No space left" in err
        rows = check_that_it_stopped_cleanly(tmp_path, code, err)
        subprocess.run(["mount", "-o", "remount,size=8m", str(tmp_path)], check=True)
        assert run(bulky_experiment(), tmp_path, jobs=1).digest == undisturbed
        assert rows_of(tmp_path)[: len(rows)] == rows


def test_a_quota_stops_the_run_and_without_it_it_goes_on(tmp_path, undisturbed):
    """Writes fail at a limit on the size of files as at a quota; any user may set the limit."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    process = drive(tmp_path / "run", "--jobs", 1, "--bulky", preexec_fn=limit)
    code, _, err = finish(process)
    rows = check_that_it_stopped_cleanly(tmp_path / "run", code, err)
    assert run(bulky_experiment(), tmp_path / "run", jobs=1).digest == undisturbed
    assert rows_of(tmp_path / "run")[: len(rows)] == rows


def test_a_read_only_folder_can_be_read_and_is_refused_where_shards_are_missing(tmp_path):
    with mounted(tmp_path, "size=8m"):
        expected = run(drawing(), tmp_path / "complete", jobs=1).digest
        (tmp_path / "begun").mkdir()
        Ledger(tmp_path / "begun", drawing().identity()).close()
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
        for folder in ("begun", "new"):
            with pytest.raises(RunError, match="cannot read or write in"):
                run(drawing(), tmp_path / folder, jobs=1)
        assert read_state(tmp_path / "begun").status == "stopped"
        assert read_state(tmp_path / "complete").status == "complete"
        assert run(drawing(), tmp_path / "complete", jobs=1).digest == expected
        subprocess.run(["mount", "-o", "remount,rw", str(tmp_path)], check=True)
        assert run(drawing(), tmp_path / "complete", jobs=1).digest == expected


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; see the test above")
def test_a_folder_without_permission_is_refused(complete):
    for path in [*complete.iterdir(), complete]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with pytest.raises(RunError, match="cannot read or write in"):
            run(drawing(), complete, jobs=1)
        assert read_state(complete).status == "complete"
    finally:
        complete.chmod(0o755)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("here")
    for name, why in {"file": "it is a file", "file/below": "Not a directory"}.items():
        with pytest.raises(RunError, match=rf"cannot read or write in '.*{name}': {why}"):
            run(drawing(), tmp_path / name, jobs=1)
    assert (tmp_path / "file").read_text() == "here"


def test_one_point_of_one_shard_is_enough(tmp_path):
    result = run(Experiment("one", [Point("p", {"scale": 1.0})], draw), tmp_path, jobs=1)
    assert result["p"].statistics["count"] == 1
