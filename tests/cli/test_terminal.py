"""Terminals: narrow, without colours, ASCII alone; hostile labels; files; progress."""

import csv
import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

import cobayes as cb
from cobayes.cli import terminal
from cobayes.cli.app import app
from cobayes.theory.rates import rate_of_convergence
from tests import HANGS
from tests.cli.conftest import PATIENT

ESCAPES = "\x1b]0;owned\x07\x1b[31m\x9b2J\u202e"


@pytest.fixture
def hostile(tmp_path):
    """A matrix whose labels are formulas and terminal escapes."""
    path = tmp_path / "hostile.json"
    content = {
        "matrix": [[0.2, 0.7], [0.8, 0.3]],
        "data": [f"=cmd|{ESCAPES}", "@sum"],
        "hypotheses": ["=A", f"+B{ESCAPES}"],
    }
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


def test_no_label_of_a_csv_file_is_a_formula_and_reading_undoes_the_guard(run, tmp_path):
    source, target = tmp_path / "m.json", tmp_path / "out.csv"
    content = {"matrix": [[1, 2], [3, 1]], "data": ["=x", "-1"], "hypotheses": ["@A", "+B"]}
    source.write_text(json.dumps(content), encoding="utf-8")
    result = run("teach", source, "-H", "@A", "--rounds", 4, "--seed", 1, "--csv", target)
    assert result.exit_code == 0
    with target.open(newline="", encoding="utf-8") as file:
        header, *rows = list(csv.reader(file))
    assert header[3:] == ["'@A", "'+B"]
    assert {row[2] for row in rows} <= {"", "'=x", "-1"}  # a negative number is not a formula
    run("teach", source, "-H", "@A", "--rounds", 4, "--seed", 1, "--csv", target, "--raw")
    with target.open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file))[3:] == ["@A", "+B"]


def test_only_one_module_writes_csv_and_guards_its_labels():
    # `Model.to_csv` is called elsewhere: it writes by that module, too.
    package = Path(cb.__file__).parent
    writers = {
        str(path.relative_to(package))
        for path in package.rglob("*.py")
        if re.search(r"csv\.writer\(|\.to_csv\([^)]*index=", path.read_text(encoding="utf-8"))
    }
    assert writers == {"_output.py"}


@pytest.mark.parametrize(
    "arguments",
    [
        ("info", "FILE"),
        ("info", "FILE", "--json"),
        ("teach", "FILE", "-H", "=A", "--rounds", 3, "--seed", 1),
        ("teach", "FILE", "-H", f"+B{ESCAPES}", "--rounds", 3, "--seed", 1, "--json"),
        ("teach", "FILE"),
        ("teach", "FILE", "-H", "none"),
        ("compare", "FILE", "-H", f"+B{ESCAPES}", "--lessons", 50, "--rounds", 5, "--seed", 1),
        ("rates", "FILE"),
        ("robustness", "FILE", "-H", f"+B{ESCAPES}", "-n", 50, "--seed", 1),
        ("world", "--goal", ESCAPES),
        ("teach", ESCAPES),
        ("tea" + ESCAPES,),
    ],
)
def test_no_escape_in_a_label_reaches_the_terminal(hostile, arguments):
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    result = runner.invoke(app, [str(hostile) if a == "FILE" else str(a) for a in arguments])
    for stream in (result.stdout, result.stderr):
        assert not set("\x1b\x07\x9b\u202e") & set(stream)
    if "--json" in arguments:
        assert json.loads(result.stdout)["hypotheses"][1] == f"+B{ESCAPES}"


def test_output_to_a_pipe_is_not_cut(monkeypatch, tmp_path):
    path = tmp_path / "wide.csv"
    names = [f"hypothesis number {k}" for k in range(30)]
    rows = [["d" * 300, *range(1, 31)], ["e", *range(31, 1, -1)]]
    path.write_text(
        "\n".join(",".join(map(str, row)) for row in [["datum", *names], *rows]), encoding="utf-8"
    )
    monkeypatch.delenv("COLUMNS", raising=False)
    result = CliRunner().invoke(
        app, ["teach", str(path), "-H", names[0], "--rounds", "3", "--seed", "1"]
    )
    assert "…" not in result.stdout
    assert all(name in result.stdout for name in names)


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
        timeout=HANGS,
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
        ("teach", greek, "-H", "βῆτα", "--rounds", 3, "--seed", 1),
        ("compare", greek, "-H", "βῆτα", "--lessons", 50, "--seed", 1),
        ("info", greek),
    )
    assert done.stderr == b""
    assert done.returncode == 0
    assert done.stdout.isascii()


def test_ascii_tables_keep_their_bars_and_their_shape(world):
    arguments = ("compare", world, "-H", "A", "--lessons", 50, "--seed", 1)
    lines = run_with(ASCII_ALONE[0], arguments).stdout.decode("ascii").splitlines()
    assert any("####" in line for line in lines)
    assert any("+-" in line and line.startswith(" mean") for line in lines)
    table = lines[: lines.index(next(line for line in lines if "Share" in line))]
    assert len({len(line) for line in table[2:] if line}) == 1


@pytest.mark.parametrize("environment", [*ASCII_ALONE, {"PYTHONIOENCODING": "utf-8"}])
def test_json_keeps_labels_whatever_the_terminal_can_show(environment, greek):
    done = run_with(environment, ("info", greek, "--json"))
    assert json.loads(done.stdout.decode("utf-8"))["hypotheses"] == ["Äpfel", "βῆτα"]


@pytest.mark.parametrize("width", [60, 40, 20])
def test_rates_are_never_shortened(width):
    words = run_at_width(width, "rates", "example:diagnosis").split()
    model = cb.examples["diagnosis"].model
    for position in range(model.num_hypotheses):
        for rule in (cb.BI, cb.SCBI):
            assert f"{rate_of_convergence(rule(model), position):.5g}" in words


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


def test_wide_characters_and_long_numbers_keep_their_table_within_its_width(monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", "24")
    terminal.show_table(None, [("a", "<"), ("漢字", "<")], [["b漢字" * 4, "漢字" * 9]])
    terminal.show_table(None, [("k", ">"), ("b", "<")], [["1234567", "c" * 40]], least=[1, 7])
    lines = capsys.readouterr().out.splitlines()
    assert max(map(terminal._width, lines)) <= 24
    assert "1234567   cccc" in lines[-2]


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
        process.wait(timeout=HANGS)
        found = os.read(reader, 4096).decode()
    finally:
        os.close(writer)
        os.close(reader)
    assert "there is no file nowhere.csv" in found
    assert ("\x1b[" in found) is is_coloured


def test_slow_work_is_shown_once(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "PATIENCE", 0.0)
    with terminal.patience("running 3 lessons"):
        deadline = time.monotonic() + HANGS
        while not capsys_has(capsys, "running 3 lessons ...\n") and time.monotonic() < deadline:
            time.sleep(0.01)
    assert capsys.readouterr().err == ""
    assert SEEN == ["running 3 lessons ...\n"]


SEEN = []


def capsys_has(capsys, text):
    found = capsys.readouterr().err
    if found:
        SEEN.append(found)
    return text in SEEN


def test_quick_work_is_not_shown(monkeypatch, capsys):
    monkeypatch.setattr(terminal, "PATIENCE", 600.0)
    with terminal.patience("running"):
        pass
    assert capsys.readouterr().err == ""
