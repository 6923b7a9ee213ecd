"""`cobayes compare --teachers` and `cobayes teach --best`."""

import json

import cobayes as cb
from cobayes.lessons.comparing import TEACHERS


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
    assert found["rounds"] == 3  # M_3 has three data


def test_the_table_has_a_row_for_every_teacher(run):
    result = run("compare", "example:M_3", "--teachers", "all", "--lessons", 20, "--rounds", 3)
    assert result.exit_code == 0
    for name in TEACHERS:
        assert f"\n {name} " in result.stdout
    assert "to see the same numbers" in result.stderr


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


def test_the_best_lesson_needs_no_seed_and_repeats_nothing(run):
    result = run("teach", "example:diagnosis", "--best", "--no-repeats", "-k", 4, "--json")
    assert result.exit_code == 0
    (lesson,) = json.loads(result.stdout)["lessons"]
    plan = cb.plan_lesson(
        cb.SCBI(cb.without_repeats("example:diagnosis")), cb.examples["diagnosis"].hypothesis, 4
    )
    assert lesson["data"] == list(plan.data_labels)
