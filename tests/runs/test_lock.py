"""One run per folder, and a lock file that holds nothing but the lock."""

from __future__ import annotations

import contextlib
import signal
import sqlite3

import pytest

from cobayes.runs import RunError, read_state, run
from cobayes.runs.lock import FolderLock

from .conftest import drive, finish, wait_until
from .experiments import drawing


def test_starting_over_does_not_touch_a_run_at_work(tmp_path):
    lock = FolderLock(tmp_path)
    lock.acquire()
    try:
        with pytest.raises(RunError, match="is running in"):
            run(drawing(), tmp_path, jobs=1, fresh=True)
    finally:
        lock.release()
    run(drawing(), tmp_path, jobs=1)


def test_a_killed_run_leaves_no_lock_behind(tmp_path):
    process = drive(tmp_path, "--jobs", 2, "--pause", 3600)
    wait_until(lambda: (tmp_path / "manifest.json").exists())
    assert read_state(tmp_path).status == "running"
    process.send_signal(signal.SIGKILL)
    finish(process)
    assert read_state(tmp_path).status == "stopped"
    lock = FolderLock(tmp_path)
    lock.acquire()
    lock.release()


@pytest.mark.parametrize("content", [b"x" * 5000, b"SQLite format 3\x00" + b"y" * 5000])
def test_a_damaged_lock_file_is_not_called_a_damaged_ledger(tmp_path, content):
    expected = run(drawing(2), tmp_path, jobs=1).digest
    (tmp_path / "lock.sqlite").write_bytes(content)
    with pytest.raises(RunError) as caught:
        run(drawing(2), tmp_path, jobs=1)
    assert "the lock file" in str(caught.value)
    assert "fresh" not in str(caught.value)
    assert read_state(tmp_path).status == "complete"
    (tmp_path / "lock.sqlite").unlink()
    assert run(drawing(2), tmp_path, jobs=1).digest == expected


def test_a_crafted_lock_file_is_refused(tmp_path):
    with contextlib.closing(sqlite3.connect(tmp_path / "lock.sqlite")) as connection:
        connection.execute(
            "CREATE VIEW holder AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
            "SELECT i AS description FROM n WHERE i < 0"
        )
        connection.commit()
    with pytest.raises(RunError, match="its table is not that of a lock"):
        run(drawing(2), tmp_path, jobs=1)
