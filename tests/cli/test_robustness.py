"""`cobayes robustness`."""

import json

import pytest

from cobayes.stability import Robustness


def test_robustness_prints_rate_bounds_and_the_worst_mistake(run):
    result = run("robustness", "example:M_3", "-n", "300", "--seed", "1")
    assert result.exit_code == 0
    assert "success rate" in result.stdout
    assert "proved bounds from the priors" in result.stdout
    assert "most dangerous" in result.stdout
    assert "seed" not in result.stderr


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
