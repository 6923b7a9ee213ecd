"""`cobayes info` and `cobayes examples`."""

import json

import pytest

import cobayes as cb


def test_info_reports_shape_labels_and_assumptions(run, world):
    result = run("info", world)
    assert result.exit_code == 0
    assert "3 data x 2 hypotheses" in result.stdout
    assert "'left', 'up', 'right'" in result.stdout
    assert [f"({name})" in result.stdout for name in ("i", "ii", "iii", "iv")] == [True] * 4


def test_info_warns_about_assumptions_that_do_not_hold(run, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("d,A,B,C\nx,0.1,0.2,0.5\ny,0.3,0.6,0.5\n", encoding="utf-8")
    result = run("info", path)
    assert result.exit_code == 0
    flat = " ".join(result.stdout.split())
    assert "warning (i)" in flat
    assert "warning (ii) columns are proportional: 'A', 'B'" in flat
    content = json.loads(run("info", path, "--json").stdout)
    assert content["holds"] is False
    assert [finding["status"] for finding in content["assumptions"]] == [
        "warning",
        "warning",
        "holds",
        "holds",
    ]
    assert content["column_sums"] == pytest.approx([0.4, 0.8, 1.0])


def test_info_of_an_example_is_valid_json(run):
    content = json.loads(run("info", "example:number-game", "--json").stdout)
    assert (content["num_data"], content["num_hypotheses"]) == (20, 8)
    assert content["hypotheses"][0] == "even"


def test_a_warning_while_reading_is_one_line_on_stderr(run, tmp_path):
    path = tmp_path / "m.csv"
    path.write_text("left,0.3,0.4\nup,0.1,0.3\n", encoding="utf-8")
    result = run("info", path, "--json")
    assert result.exit_code == 0
    json.loads(result.stdout)
    assert result.stderr.startswith("warning: the first line of")
    assert len(result.stderr.splitlines()) == 1


def test_examples_lists_every_name(run):
    result = run("examples")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in cb.examples)
    listed = json.loads(run("examples", "--json").stdout)
    assert [entry["name"] for entry in listed] == list(cb.examples)


@pytest.mark.parametrize("name", ["diagnosis", "example:diagnosis"])
def test_examples_shows_one_with_its_matrix_and_priors(run, name):
    result = run("examples", name)
    assert "white spots on tonsils" in result.stdout
    assert "prior winter: 0.45, 0.2, 0.1, 0.05, 0.2" in result.stdout
    content = json.loads(run("examples", name, "--json").stdout)
    example = cb.examples["diagnosis"]
    assert cb.Model(content["matrix"], content["data"], content["hypotheses"]) == example.model
    assert content["priors"]["winter"] == example.priors["winter"].tolist()


def test_an_exported_example_is_read_back_the_same(run, tmp_path):
    path = tmp_path / "mine.csv"
    assert run("examples", "number-game", "--csv", path).exit_code == 0
    assert cb.read_model(path) == cb.examples["number-game"].model


def test_unknown_examples_and_a_csv_without_a_name_are_errors(run, tmp_path):
    result = run("examples", "nonsense")
    assert result.exit_code == 2
    assert "no example called 'nonsense'" in result.stderr
    result = run("examples", "--csv", tmp_path / "x.csv")
    assert result.exit_code == 2
    assert "needs the name" in result.stderr
