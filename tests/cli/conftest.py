import os
import subprocess
import sys

import matplotlib as mpl
import pytest
from click.testing import CliRunner

mpl.use("Agg")

WORLD = "move,A,B\nleft,1.0,0.25\nup,1.0,1.0\nright,0.25,1.0\n"


@pytest.fixture(autouse=True)
def no_notice_of_slowness(monkeypatch):
    """Keep notices about slow work out of stderr, however busy the machine is."""
    monkeypatch.setattr("cobayes.cli.terminal.PATIENCE", 600.0)


# Code that does the same in a process of its own.
PATIENT = "from cobayes.cli import terminal; terminal.PATIENCE = 600.0\n"


@pytest.fixture
def run():
    """Run a command line in this process; the result has stdout, stderr and exit_code."""
    from cobayes.cli.app import app

    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})

    def invoke(*arguments):
        return runner.invoke(app, [str(argument) for argument in arguments])

    return invoke


@pytest.fixture
def world(tmp_path):
    path = tmp_path / "world.csv"
    path.write_text(WORLD, encoding="utf-8")
    return path


@pytest.fixture
def command():
    """Start the installed command's entry point as a process of its own."""
    started = []

    def start(*arguments, before="", **options):
        script = f"{PATIENT}{before}\nfrom cobayes.cli import main\nmain()"
        process = subprocess.Popen(
            [sys.executable, "-c", script, *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "NO_COLOR": "1"},
            **options,
        )
        started.append(process)
        return process

    yield start
    for process in started:  # no process outlives its test, even if it failed
        process.kill()
        process.wait()
        process.stdout.close()
        process.stderr.close()
