"""`cobayes robustness`."""

import json

import pytest
from matplotlib.figure import Figure

import cobayes as cb
from cobayes.plots import robustness as plots
from cobayes.stability import Robustness


def test_robustness_prints_rate_bounds_and_the_worst_mistake(run):
    result = run("robustness", "example:M_3", "-n", "300", "--seed", "1")
    assert result.exit_code == 0
    assert "success rate" in result.stdout
    assert "proved bounds from the priors" in result.stdout
    assert "most dangerous" in result.stdout
    assert "seed" not in result.stderr


def test_robustness_shows_no_bounds_on_a_table_with_zeros(run, tmp_path):
    (tmp_path / "zeros.csv").write_text("1,0\n1,1\n")
    result = run(
        "robustness", tmp_path / "zeros.csv", "--hypothesis", "0", "-n", "20", "--seed", "1"
    )
    assert result.exit_code == 0
    assert "proved bounds" not in result.stdout


def test_robustness_writes_json_that_a_program_can_read(run):
    result = run(
        *("robustness", "example:gestures", "--learner-prior", "tidy", "-n", "300"),
        *("--seed", "1", "--json"),
    )
    content = json.loads(result.stdout)
    seed = content.pop("seed")
    found = Robustness.from_dict(content)
    assert 0.0 <= found.bounds[0] <= found.rate.value
    assert found.rate.hypotheses == ("cup", "bowl", "book", "lamp")
    assert content["worst_prior"] == found.worst_prior.tolist()
    assert seed == 1


@pytest.mark.parametrize("example", ["example:M_3", "example:gestures"])
def test_robustness_draws_a_map_or_directions(run, tmp_path, example):
    path = tmp_path / "map.png"
    result = run("robustness", example, "-n", "200", "--seed", "1", "--plot", path)
    assert result.exit_code == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    assert f"wrote {path}" in result.stderr


def test_the_map_of_priors_has_the_given_number_of_rounds(run, monkeypatch, tmp_path):
    drawn = []
    monkeypatch.setattr(
        plots, "draw_robustness", lambda _, drawing: drawn.append(drawing) or Figure()
    )
    arguments = ("-n", "200", "--seed", "1", "--rounds", "2", "--plot", tmp_path / "map.png")
    assert run("robustness", "example:M_3", *arguments).exit_code == 0
    ((grid, values),) = drawn
    options = {"learner_priors": grid[:3], "num_lessons": 2000, "max_rounds": 2, "rng": 1}
    expected = cb.stability.success_rates("example:M_3", 0, **options)
    assert values[:3] == [rate.value for rate in expected]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["example:M_3", "--learner-prior", "0,0.5,0.5"], "teaching is impossible"),
        (["example:M_3", "--learner-matrix", "example:grid-world"], "shape"),
        (["example:M_3", "--hypothesis", "h_9"], "h_9"),
        (["example:M_3", "--plot", "map.nothing"], "picture format"),
    ],
)
def test_robustness_explains_bad_input(run, arguments, message):
    result = run("robustness", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
