"""``cobayes robustness`` and ``cobayes conjecture``."""

import json

import pytest

from cobayes.conjecture import known_certificates
from cobayes.conjecture import search as falsifier


def test_robustness_prints_rate_bounds_and_the_worst_mistake(run):
    result = run("robustness", "example:M_3", "-n", "300", "--seed", "1")
    assert result.exit_code == 0
    assert "success rate" in result.stdout
    assert "proved, from the priors" in result.stdout
    assert "most dangerous" in result.stdout
    assert "seed" not in result.stderr


def test_robustness_writes_json_that_a_program_can_read(run):
    result = run(
        *("robustness", "example:gestures", "--learner-prior", "tidy", "-n", "300"),
        *("--seed", "1", "--json"),
    )
    content = json.loads(result.stdout)
    assert 0.0 <= content["proved_bounds"]["lower"] <= content["success"]["value"]
    assert set(content["most_dangerous"]["learner_prior"]) == {"cup", "bowl", "book", "lamp"}
    assert content["seed"] == 1


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


def test_a_packaged_certificate_is_confirmed(run):
    result = run("conjecture", "check", "tv-paper-matrix", "--seed", "1", "--json")
    content = json.loads(result.stdout)
    assert result.exit_code == 0
    assert content["is_confirmed"]
    assert content["is_proved"]


def test_a_check_prints_both_estimates(run):
    words = run("conjecture", "check", "--help").stdout.replace("\n", " ").split()
    assert set(known_certificates()) <= {word.rstrip(".,") for word in words}
    result = run("conjecture", "check", "tv-paper-matrix", "--seed", "1", "-n", "2000")
    assert "measured by lessons" in result.stdout
    assert "measured by coupling" in result.stdout
    assert "proved by its witness" in result.stdout


def test_what_is_not_confirmed_has_exit_code_1(run, tmp_path):
    from cobayes.conjecture.certificate import Certificate

    content = Certificate.load("tv-paper-matrix").to_dict()
    content |= {"distance": "euclidean", "witness": []}
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    result = run("conjecture", "check", path, "-n", "500", "--seed", "1")
    assert result.exit_code == 1
    assert "NOT confirmed" in result.stdout


def test_a_missing_certificate_is_bad_input(run):
    result = run("conjecture", "check", "nothing.json")
    assert result.exit_code == 2
    assert "tv-paper-matrix" in result.stderr


def test_a_search_can_be_taken_up_again(run, tmp_path, monkeypatch):
    for name in ("SCREENED", "REFINED", "TESTED", "FINAL"):
        monkeypatch.setattr(falsifier, name, 50)
    monkeypatch.setattr(falsifier, "SCREEN_ROUNDS", 50)
    monkeypatch.setattr(falsifier, "TEST_ROUNDS", 100)
    arguments = ["conjecture", "search", "--out", tmp_path / "s", "--minutes", "0.005", "--seed", 1]
    first = run(*arguments, "--json")
    assert first.exit_code == 0
    second = run(*arguments)
    assert second.exit_code == 0
    assert "steepest slope" in second.stdout or "no counter-example" in second.stdout
    state = json.loads((tmp_path / "s" / falsifier.STATE).read_text())
    assert state["num_candidates"] > json.loads(first.stdout)["num_candidates"]
