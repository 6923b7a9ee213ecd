"""Files for spreadsheets, and labels that try to command the terminal."""

import csv
import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import cobayes as cb
from cobayes.cli.app import app

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
    assert {row[2] for row in rows} <= {"", "'=x", "-1"}  # a number is no formula
    run("teach", source, "-H", "@A", "--rounds", 4, "--seed", 1, "--csv", target, "--raw")
    with target.open(newline="", encoding="utf-8") as file:
        assert next(csv.reader(file))[3:] == ["@A", "+B"]


def test_the_package_has_one_writer_of_csv():
    # pandas writes the tables of a fit, through `_guarded`.
    package = Path(cb.__file__).parent
    writers = {
        str(path.relative_to(package)): text.count("csv.writer(") + text.count(".to_csv(")
        for path in package.rglob("*.py")
        for text in [path.read_text(encoding="utf-8")]
    }
    assert {name: count for name, count in writers.items() if count} == {
        "_output.py": 1,
        "cli/fit_results.py": 4,
    }
    fitting = (package / "cli" / "fit_results.py").read_text(encoding="utf-8")
    assert len(re.findall(r"_guarded\([\w.]+\)\.to_csv\(", fitting)) == 4


def test_an_exported_example_with_such_labels_would_be_read_back(tmp_path):
    from cobayes.cli.output import write_csv

    path = tmp_path / "m.csv"
    write_csv(path, ["datum", "=A", "B"], [["-up", 0.5, 1.5], ["@x", 1e-300, 2.0]])
    model = cb.read_model(path)
    assert model == cb.Model([[0.5, 1.5], [1e-300, 2.0]], ["-up", "@x"], ["=A", "B"])


@pytest.mark.parametrize(
    "arguments",
    [
        ("info", "FILE"),
        ("info", "FILE", "--json"),
        ("teach", "FILE", "-H", "0", "--rounds", 3, "--seed", 1),
        ("teach", "FILE", "-H", "1", "--rounds", 3, "--seed", 1, "--json"),
        ("teach", "FILE"),
        ("teach", "FILE", "-H", "none"),
        ("compare", "FILE", "-H", "1", "--lessons", 50, "--rounds", 5, "--seed", 1),
        ("rates", "FILE"),
        ("robustness", "FILE", "-H", "1", "-n", 50, "--seed", 1),
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
