"""`cobayes compare`: rounds needed by both rules."""

import json

import numpy as np
import pytest

import cobayes as cb


def test_compare_agrees_with_simulate(run):
    result = run("compare", "example:M_3", "--lessons", 500, "--rounds", 30, "--seed", 7, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert [rule["rule"] for rule in found["rules"]] == ["BI", "SCBI"]
    example = cb.examples["M_3"]
    seeds = np.random.SeedSequence(7).spawn(2)
    for rule, seed, shown in zip((cb.BI, cb.SCBI), seeds, found["rules"], strict=True):
        expected = cb.simulate(
            rule(example),
            example.hypothesis,
            num_rounds=30,
            num_lessons=500,
            rng=np.random.default_rng(seed),
        )
        assert shown["rounds_needed"]["counts"] == expected.rounds_needed.counts.tolist()
        assert shown["rounds_needed"]["median"] == expected.rounds_needed.median
        assert shown["final_belief"]["mean"] == expected.mean()[-1]
        assert shown["mean_belief"] == expected.mean().tolist()


def test_counts_and_the_unsure_add_up_to_the_lessons(run):
    arguments = ("--lessons", 300, "--rounds", 6, "--level", 0.9, "--seed", 1, "--json")
    result = run("compare", "example:M_5", *arguments)
    for rule in json.loads(result.stdout)["rules"]:
        needed = rule["rounds_needed"]
        assert sum(needed["counts"]) + needed["num_unsure"] == 300
        assert len(needed["counts"]) == 7
        assert needed["num_unsure"] > 0
        assert needed["mean_if_all_were_sure"] is None


def test_the_mean_is_known_when_every_learner_got_there(run):
    arguments = ("--lessons", 200, "--rounds", 300, "--level", 0.6, "--seed", 1, "--json")
    result = run("compare", "example:M_2", *arguments)
    for rule in json.loads(result.stdout)["rules"]:
        needed = rule["rounds_needed"]
        counts = np.array(needed["counts"])
        rounds = np.repeat(np.arange(len(counts)), counts)
        assert needed["num_unsure"] == 0
        assert needed["mean_if_all_were_sure"] == pytest.approx(rounds.mean())
        assert needed["mean_stderr"] == pytest.approx(rounds.std(ddof=1) / np.sqrt(200))


def test_where_some_never_got_there_the_mean_has_a_lower_bound(run):
    arguments = ("compare", "example:M_5", "--lessons", 300, "--rounds", 6, "--seed", 1)
    rules = json.loads(run(*arguments, "--json").stdout)["rules"]
    table = run(*arguments).stdout
    for rule in rules:
        needed = rule["rounds_needed"]
        rounds = np.repeat(np.arange(8), [*needed["counts"], needed["num_unsure"]])
        assert f"at least {rounds.mean():.1f}" in table


def test_the_table_names_the_winner_and_repeats_with_the_seed(run, world):
    arguments = ("compare", world, "-H", "A", "--lessons", 2000, "--rounds", 60, "--seed", 3)
    first, second = run(*arguments), run(*arguments)
    assert first.exit_code == 0
    assert first.stdout == second.stdout
    assert "95 % sure of A" in first.stdout
    assert "SCBI brings half of the learners there by round" in first.stdout
    assert "99." in first.stdout
    assert "seed" not in first.stderr
    assert "add --seed" in run("compare", world, "-H", "A", "--lessons", 10).stderr


def test_too_few_rounds_are_said_so(run):
    result = run("compare", "example:M_5", "--rounds", 1, "--lessons", 50, "--seed", 1)
    assert "By neither rule were half of the learners sure" in result.stdout
    assert "more than 1" in result.stdout


@pytest.mark.parametrize("suffix", ["svg", "png", "pdf"])
def test_the_picture_is_written(run, tmp_path, suffix):
    path = tmp_path / f"compare.{suffix}"
    result = run("compare", "example:M_3", "--lessons", 50, "--seed", 1, "--plot", path)
    assert result.exit_code == 0
    assert path.stat().st_size > 1000
    assert f"compare.{suffix}" in result.stderr.replace("\n", "")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["example:nothing"], "nothing"),
        (["example:M_1", "--hypothesis", "h_9"], "h_9"),
        (["example:M_1", "--level", "1.5"], "found 1.5"),
        (["example:M_1", "--lessons", "1"], "lessons"),
        (["example:M_1", "--plot", "compare.xyz"], "picture format"),
        (["example:M_1", "--prior", "0.5,0.6"], "prior"),
    ],
)
def test_bad_requests_are_errors(run, arguments, message):
    result = run("compare", *arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
