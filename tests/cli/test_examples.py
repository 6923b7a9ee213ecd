"""`cobayes examples`."""

import json

import pytest

import cobayes as cb


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
