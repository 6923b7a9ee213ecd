from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests import HANGS

TESTS = Path(__file__).parents[1]


def environment() -> dict[str, str]:
    path = os.pathsep.join([str(TESTS), *filter(None, [os.environ.get("PYTHONPATH")])])
    return {**os.environ, "PYTHONPATH": path, "PYTHONUNBUFFERED": "1"}


def start(*arguments: object, **options) -> subprocess.Popen[str]:
    """Start a Python process that can import the tests' experiments."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)],
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def drive(*arguments: object, **options) -> subprocess.Popen[str]:
    """Start the standard experiment in a process of its own."""
    return start("-m", "runs.drive", *arguments, **options)


def finish(process: subprocess.Popen[str]) -> tuple[int, str, str]:
    out, err = process.communicate(timeout=HANGS)
    return process.returncode, out, err


def wait_until(condition: Callable[[], bool], process: subprocess.Popen[str] | None = None) -> None:
    """Wait for a condition; fail if the process that should fulfil it has ended."""
    deadline = time.monotonic() + HANGS
    while not condition():
        assert process is None or process.poll() is None, finish(process)
        if time.monotonic() > deadline:
            raise TimeoutError("the condition of the test was not fulfilled in time")
        time.sleep(0.01)


@pytest.fixture
def processes() -> Iterator[contextlib.ExitStack]:
    """A stack whose callbacks end processes after the test, also if it fails."""
    with contextlib.ExitStack() as stack:
        yield stack


def end(process: subprocess.Popen[str]) -> None:
    process.terminate()
    try:
        process.communicate(timeout=5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")  # also an idle cluster takes processor time
def cluster():
    """A Dask cluster of two worker processes."""
    distributed = pytest.importorskip("distributed")
    import dask

    patient = {"distributed.comm.timeouts.connect": "10 minutes"}  # however busy the machine is
    with (
        pytest.MonkeyPatch.context() as patch,
        dask.config.set(patient),
        distributed.LocalCluster(
            n_workers=2,
            threads_per_worker=1,
            processes=True,
            dashboard_address=":0",
            silence_logs=50,
        ) as cluster,
    ):
        patch.setattr("cobayes.runs.executors._SECONDS_TO_CONNECT", HANGS)
        yield cluster


@contextlib.contextmanager
def mounted(folder: Path, options: str) -> Iterator[None]:
    """Mount a small file system in memory; skip the test if that is not allowed."""
    command = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)]
    try:
        subprocess.run(command, check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError) as error:
        pytest.skip(f"no right to mount a small disk: {error}")
    try:
        yield
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)
