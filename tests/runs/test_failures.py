"""A disk that is full, and a folder that cannot be written: a clear error, the ledger intact."""

from __future__ import annotations

import contextlib
import os
import resource
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from cobayes.runs import RunError, read_state, run
from cobayes.runs.ledger import Ledger

from .conftest import drive, finish
from .experiments import drawing


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a small file system in memory, where that is allowed."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no right to mount a small disk: {error}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


def rows_of(folder: Path) -> list:
    ledger = Ledger.open(folder, only_read=True)
    try:
        return list(ledger.finished())
    finally:
        ledger.close()


def check_that_it_stopped_cleanly(folder: Path, code: int, err: str) -> list:
    assert code == 1, err
    assert "Traceback" not in err
    assert "RunError: " in err
    assert "kept" in err
    assert "goes on where this one stopped" in err
    rows = rows_of(folder)
    assert 0 < len(rows) < 40
    return rows


def test_a_full_disk_stops_the_run_and_more_space_lets_it_go_on(tmp_path):
    with mounted(tmp_path, "size=400k"):
        code, _, err = finish(drive(tmp_path, "--jobs", 1, "--bulky"))
        assert f"the disk of {str(tmp_path)!r} is full" in err or "No space left" in err
        rows = check_that_it_stopped_cleanly(tmp_path, code, err)
        subprocess.run(["mount", "-o", "remount,size=8m", str(tmp_path)], check=True)
        code, out, err = finish(drive(tmp_path, "--jobs", 1, "--bulky"))
        assert code == 0, err
        assert rows_of(tmp_path)[: len(rows)] == rows
    code, undisturbed, _ = finish(drive(tmp_path / "run", "--jobs", 1, "--bulky"))
    assert out == undisturbed


def test_a_quota_stops_the_run_and_without_it_it_goes_on(tmp_path):
    """A limit on the size of files, which needs no rights, fails writes as a quota does."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))

    process = drive(tmp_path / "run", "--jobs", 1, "--bulky", preexec_fn=limit)
    code, _, err = finish(process)
    rows = check_that_it_stopped_cleanly(tmp_path / "run", code, err)
    code, out, err = finish(drive(tmp_path / "run", "--jobs", 1, "--bulky"))
    assert code == 0, err
    assert rows_of(tmp_path / "run")[: len(rows)] == rows
    code, undisturbed, _ = finish(drive(tmp_path / "other", "--jobs", 1, "--bulky"))
    assert out == undisturbed


def test_a_read_only_folder_is_refused_and_can_still_be_looked_at(tmp_path):
    with mounted(tmp_path, "size=8m"):
        expected = run(drawing(), tmp_path / "complete", jobs=1).digest
        subprocess.run(["mount", "-o", "remount,ro", str(tmp_path)], check=True)
        before = (tmp_path / "complete" / "ledger.sqlite").read_bytes()
        for folder in ("complete", "new"):
            with pytest.raises(RunError, match=r"cannot write to|cannot make the folder"):
                run(drawing(), tmp_path / folder, jobs=1)
        state = read_state(tmp_path / "complete")
        assert state.status == "complete"
        assert (tmp_path / "complete" / "ledger.sqlite").read_bytes() == before
        subprocess.run(["mount", "-o", "remount,rw", str(tmp_path)], check=True)
        assert run(drawing(), tmp_path / "complete", jobs=1).digest == expected


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere; the test above counts")
def test_a_folder_without_permission_is_refused(tmp_path):
    run(drawing(), tmp_path, jobs=1)
    for path in [*tmp_path.iterdir(), tmp_path]:
        path.chmod(0o555 if path.is_dir() else 0o444)
    try:
        with pytest.raises(RunError, match="cannot write to"):
            run(drawing(), tmp_path, jobs=1)
        assert read_state(tmp_path).status == "complete"
    finally:
        tmp_path.chmod(0o755)


def test_a_file_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "file").write_text("here")
    for path in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(RunError, match="cannot make the folder"):
            run(drawing(), path, jobs=1)
    assert (tmp_path / "file").read_text() == "here"
