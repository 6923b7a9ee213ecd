"""`cobayes compare`: rounds needed by both rules, and by teachers (`--teachers`)."""

import json

import numpy as np
import pytest

import cobayes as cb
from cobayes.lessons.teachers import TEACHERS


def test_compare_agrees_with_simulate(run):
    result = run("compare", "example:M_3", "--lessons", 500, "--rounds", 30, "--seed", 7, "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    assert [rule["rule_name"] for rule in found["rules"]] == ["BI", "SCBI"]
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
        assert shown["means"] == expected.means.tolist()


def test_counts_and_the_unsure_add_up_to_the_lessons(run):
    arguments = ("--lessons", 300, "--rounds", 6, "--level", 0.9, "--seed", 1, "--json")
    result = run("compare", "example:M_5", *arguments)
    for rule in json.loads(result.stdout)["rules"]:
        needed = rule["rounds_needed"]
        assert sum(needed["counts"]) + needed["num_unsure"] == 300
        assert len(needed["counts"]) == 7
        assert needed["num_unsure"] > 0


def test_the_mean_is_known_if_every_learner_was_sure(run):
    arguments = ("compare", "example:M_2", "--lessons", 200, "--rounds", 300, "--level", 0.6)
    table = run(*arguments, "--seed", 1).stdout
    for rule in json.loads(run(*arguments, "--seed", 1, "--json").stdout)["rules"]:
        counts = rule["rounds_needed"]["counts"]
        rounds = np.repeat(np.arange(len(counts)), counts)
        stderr = rounds.std(ddof=1) / np.sqrt(200)
        assert rule["rounds_needed"]["num_unsure"] == 0
        assert f"{rounds.mean():.2f} ± {stderr:.2f}" in table


def test_the_mean_has_a_lower_bound_if_some_learners_were_never_sure(run):
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
    assert "SCBI makes half of the learners sure by round" in first.stdout
    assert "99." in first.stdout
    assert "seed" not in first.stderr
    assert "add --seed" in run("compare", world, "-H", "A", "--lessons", 10).stderr


def test_too_few_rounds_to_be_sure_are_reported(run):
    result = run("compare", "example:M_5", "--rounds", 1, "--lessons", 50, "--seed", 1)
    assert "Neither rule made half of the learners sure by round 1." in result.stdout
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
        (["example:M_1", "--level", "1.5"], "--level is 1.5"),
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


def test_teachers_are_compared_as_the_library_does(run):
    arguments = ("--teachers", "literal,greedy", "--lessons", 50, "--rounds", 4, "--seed", 2)
    result = run("compare", "example:M_3", *arguments, "--no-repeats", "--json")
    assert result.exit_code == 0
    found = json.loads(result.stdout)
    expected = cb.lessons.compare_teachers(
        cb.without_repeats("example:M_3"),
        cb.examples["M_3"].hypothesis,
        teachers=["literal", "greedy"],
        num_rounds=4,
        num_lessons=50,
        rng=2,
    )
    assert found["results"] == expected.to_dict()["results"]
    assert found["num_rounds"] == 3  # M_3 has three data


def test_the_table_has_a_row_for_every_teacher(run):
    result = run("compare", "example:M_3", "--teachers", "all", "--lessons", 20, "--rounds", 3)
    assert result.exit_code == 0
    for name in TEACHERS:
        assert f"\n {name} " in result.stdout
    assert "to repeat this result" in result.stderr


def test_the_rule_on_the_command_line_is_that_of_a_learner(run):
    arguments = ("--teachers", "greedy", "--rounds", 3, "--seed", 1, "--json")
    result = run("compare", "example:M_3", *arguments, "--rule", "pragmatic", "--depth", 4)
    found = {row["learner"]: row["final_belief"] for row in json.loads(result.stdout)["results"]}
    assert list(found) == ["BI", "Pragmatic, depth 4", "SCBI"]
    deep = cb.Pragmatic("example:M_3", 4)
    plan = cb.plan_lesson(deep, cb.examples["M_3"].hypothesis, 3)
    assert found["Pragmatic, depth 4"] == plan.beliefs[-1, plan.hypothesis]


def test_questions_are_given_with_commas(run):
    active = ("compare", "example:M_3", "--teachers", "active", "--lessons", 5)
    assert run(*active, "--questions", "a,b,b").exit_code == 0
    assert "2 questions were given for 3 data" in run(*active, "--questions", "a,b").stderr
    result = run("compare", "example:M_3", "--questions", "a,b,b")
    assert (result.exit_code, "belongs to --teachers" in result.stderr) == (2, True)


def test_an_unknown_teacher_is_an_error(run):
    result = run("compare", "example:M_3", "--teachers", "magic")
    assert result.exit_code == 2
    assert "no teacher called 'magic'" in result.stderr
