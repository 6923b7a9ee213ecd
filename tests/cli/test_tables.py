"""Narrow terminals, terminals that know ASCII alone, and terminals without colours."""

import json
import os
import re
import subprocess
import sys

import pytest
from typer.testing import CliRunner

import cobayes as cb
from cobayes.cli.app import app
from cobayes.theory.rates import rate_of_convergence
from tests.cli.conftest import PATIENT

ASCII_ALONE = (
    {"LC_ALL": "C", "PYTHONIOENCODING": "ascii"},
    {"LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
)


@pytest.fixture
def greek(tmp_path):
    path = tmp_path / "greek.csv"
    path.write_text("datum,Äpfel,βῆτα\nx,0.2,0.7\ny,0.8,0.3\n", encoding="utf-8")
    return path


EACH_COMMAND = """
import json, sys
from cobayes.cli import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["cobayes", *words]
    try:
        main()
    except SystemExit as end:
        assert not end.code, end.code
"""


def run_with(environment, *commands):
    """Run commands one after the other in a process with an environment."""
    words = json.dumps([[str(word) for word in command] for command in commands])
    return subprocess.run(
        [sys.executable, "-c", PATIENT + EACH_COMMAND, words],
        capture_output=True,
        check=False,
        timeout=120,
        env={**os.environ, "COLUMNS": "100", **environment},
    )


def run_at_width(width, *arguments):
    runner = CliRunner(env={"COLUMNS": str(width), "NO_COLOR": "1", "TERM": "dumb"})
    result = runner.invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == 0
    return result.stdout


@pytest.mark.parametrize("environment", ASCII_ALONE)
def test_every_table_can_be_shown_in_ascii(environment, greek):
    done = run_with(
        environment,
        ("teach", greek, "-H", "0", "--rounds", 3, "--seed", 1),
        ("compare", greek, "-H", "0", "--lessons", 50, "--seed", 1),
        ("info", greek),
    )
    assert done.stderr == b""
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_ascii_tables_keep_their_bars_and_their_shape(world):
    arguments = ("compare", world, "-H", "A", "--lessons", 50, "--seed", 1)
    lines = run_with(ASCII_ALONE[0], arguments).stdout.decode("ascii").splitlines()
    assert any("####" in line for line in lines)
    assert any("+-" in line and line.startswith("|mean") for line in lines)
    framed = [len(line) for line in lines[: lines.index(next(x for x in lines if "Share" in x))]]
    assert len(set(framed[2:])) == 1


@pytest.mark.parametrize("environment", [*ASCII_ALONE, {"PYTHONIOENCODING": "utf-8"}])
def test_json_keeps_labels_whatever_the_terminal_can_show(environment, greek):
    done = run_with(environment, ("info", greek, "--json"))
    assert json.loads(done.stdout.decode("utf-8"))["hypotheses"] == ["Äpfel", "βῆτα"]


@pytest.mark.parametrize("width", [60, 40, 20])
def test_rates_are_never_shortened(width):
    words = run_at_width(width, "rates", "example:diagnosis").split()
    model = cb.examples["diagnosis"].model
    for position in range(model.num_hypotheses):
        for rule in ("bi", "scbi"):
            assert f"{rate_of_convergence(model, position, rule):.5g}" in words


@pytest.mark.parametrize("width", [60, 40, 20])
@pytest.mark.parametrize(
    "arguments",
    [
        ("rates", "example:diagnosis"),
        ("teach", "example:diagnosis", "--rounds", 4, "--seed", 1),
        ("teach", "example:M_3", "--rounds", 4, "--seed", 1),
        ("examples", "diagnosis"),
        ("world", "--seed", 1),
    ],
)
def test_a_narrow_terminal_shows_the_numbers_of_a_wide_one(width, arguments):
    def numbers(text):
        return set(re.findall(r"\d+\.\d+", text))

    narrow, wide = run_at_width(width, *arguments), run_at_width(300, *arguments)
    assert numbers(narrow) <= numbers(wide)
    # In a narrow terminal a lesson shows the strongest other hypothesis instead of all.
    assert numbers(narrow) == numbers(wide) or arguments[0] == "teach"


@pytest.mark.parametrize("width", [40, 60])
def test_labels_shrink_but_never_vanish(width):
    text = run_at_width(width, "rates", "example:diagnosis")
    for label in cb.examples["diagnosis"].model.hypotheses:
        assert label.split()[0][:4] in text


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals on Windows")
@pytest.mark.parametrize(
    ("environment", "is_coloured"),
    [({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)],
)
def test_errors_on_a_terminal_are_coloured_unless_no_color_is_set(environment, is_coloured):
    import pty

    inherited = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-c", "from cobayes.cli import main; main()", "info", "nowhere.csv"],
        stdout=subprocess.DEVNULL,
        stderr=writer,
        env={**inherited, "TERM": "xterm", **environment},
    )
    try:
        process.wait(timeout=120)
        found = os.read(reader, 4096).decode()
    finally:
        os.close(writer)
        os.close(reader)
    assert "there is no file nowhere.csv" in found
    assert ("\x1b[" in found) is is_coloured
