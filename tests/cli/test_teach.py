"""`cobayes teach`: the lesson that the library would run, as table, JSON, CSV and picture."""

import csv
import json

import numpy as np
import pytest

import cobayes as cb


def library_lesson(rule, seed, rounds, prior=None, learner_prior=None):
    example = cb.examples["gestures"]
    made = rule(example)
    teacher = cb.Teacher(made, example.hypothesis, prior, rng=seed)
    learner = cb.Learner(made, prior if learner_prior is None else learner_prior)
    return cb.run_lesson(teacher, learner, rounds)


def test_json_is_the_librarys_lesson_and_alone_on_stdout(run):
    result = run(
        "teach", "example:gestures", "--rule", "both", "--seed", 3, "--rounds", 5, "--json"
    )
    assert result.exit_code == 0
    content = json.loads(result.stdout)
    assert result.stderr == ""
    assert (content["hypothesis"], content["seed"], content["rounds"]) == ("bowl", 3, 5)
    for found, rule in zip(content["lessons"], (cb.BI, cb.SCBI), strict=True):
        expected = library_lesson(rule, 3, 5)
        assert found["rule"] == rule.name
        assert found["data"] == list(expected.data_labels)
        np.testing.assert_array_equal(found["beliefs"], expected.beliefs)
        np.testing.assert_array_equal(found["log_beliefs"], expected.log_beliefs)


def test_a_belief_of_zero_is_null_in_json_logarithms(run, world):
    result = run("teach", world, "-H", "A", "--prior", "1,0", "--seed", 1, "-k", 1, "--json")
    lesson = json.loads(result.stdout)["lessons"][0]
    assert lesson["beliefs"] == [[1.0, 0.0], [1.0, 0.0]]
    assert lesson["log_beliefs"][0][1] is None


def test_the_same_seed_gives_the_same_output_and_a_new_one_is_told(run, world):
    first = run("teach", world, "-H", "A", "--seed", 5)
    again = run("teach", world, "-H", "A", "--seed", 5)
    assert first.exit_code == 0
    assert first.stdout == again.stdout
    fresh = run("teach", world, "-H", "A")
    told = fresh.stderr.split()[1]
    repeated = run("teach", world, "-H", "A", "--seed", told)
    assert repeated.stdout == fresh.stdout


def test_the_table_shows_every_round_and_hypothesis(run, world):
    result = run("teach", world, "--hypothesis", "B", "--rounds", 3, "--seed", 1, "--rule", "bi")
    assert "BI teaches B, 3 rounds" in result.stdout
    assert "B (taught)" in result.stdout
    rows = [line for line in result.stdout.splitlines() if line.strip()[:1].isdigit()]
    assert len(rows) == 4
    assert "prior" in rows[0]
    assert "0.5000" in rows[0]


def test_many_hypotheses_are_shown_by_the_strongest_other(run):
    result = run("teach", "example:number-game", "--rounds", 2, "--seed", 1)
    assert "strongest other" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= 100


def test_a_single_hypothesis_is_shown_in_a_narrow_terminal(run, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text(f"datum,{'A' * 99}\nx,0.4\ny,0.6\n", encoding="utf-8")
    result = run("teach", path, "-H", "A" * 99, "--rounds", 1, "--seed", 1)
    assert result.exit_code == 0, result.stderr
    assert "strongest other" not in result.stdout


def test_the_table_never_wraps(run):
    for name in ("diagnosis", "gestures", "M_3"):
        result = run("teach", f"example:{name}", "--rounds", 6, "--seed", 1)
        rows = [line for line in result.stdout.splitlines() if line.strip()]
        assert len(rows) == 2 + 1 + 7  # title, headings and their line, prior and six rounds
        assert max(map(len, rows)) <= 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("0.2,0.8", [0.2, 0.8]),
        ("1/5, 4/5", [0.2, 0.8]),
        ("A=0.2,B=0.8", [0.2, 0.8]),
        ("B=0.8, A=0.2", [0.2, 0.8]),
        ("uniform", [0.5, 0.5]),
    ],
)
def test_priors_are_read_in_every_spelling(run, world, text, expected):
    result = run("teach", world, "-H", "A", "--prior", text, "--rounds", 0, "--json")
    lesson = json.loads(result.stdout)["lessons"][0]
    np.testing.assert_allclose(lesson["beliefs"], [expected], rtol=1e-15)


def test_an_examples_own_priors_are_known_by_name(run):
    result = run("teach", "example:M1p", "--prior", "theta'_3", "--rounds", 0, "--json")
    prior = json.loads(result.stdout)["lessons"][0]["beliefs"][0]
    printed = cb.examples["M'_1"].priors["theta'_3"]
    np.testing.assert_allclose(prior, printed / printed.sum(), rtol=1e-15)


def test_teacher_and_learner_may_start_from_different_priors(run):
    arguments = ("--prior", "uniform", "--learner-prior", "tidy", "--seed", 2, "-k", 4, "--json")
    result = run("teach", "example:gestures", *arguments)
    lesson = json.loads(result.stdout)["lessons"][0]
    tidy = cb.examples["gestures"].priors["tidy"]
    expected = library_lesson(cb.SCBI, 2, 4, learner_prior=tidy)
    np.testing.assert_array_equal(lesson["beliefs"], expected.beliefs)
    np.testing.assert_array_equal(lesson["teacher_beliefs"], expected.teacher_beliefs)
    assert lesson["beliefs"] != lesson["teacher_beliefs"]


def test_csv_holds_the_beliefs_of_all_rounds(run, tmp_path):
    path = tmp_path / "lesson.csv"
    result = run("teach", "example:gestures", "--rule", "both", "--seed", 3, "-k", 2, "--csv", path)
    assert result.exit_code == 0
    assert f"wrote {path}" in " ".join(result.stderr.split("\n"))
    with path.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [(row["rule"], row["round"]) for row in rows] == [
        (rule, str(k)) for rule in ("BI", "SCBI") for k in range(3)
    ]
    expected = library_lesson(cb.SCBI, 3, 2)
    assert float(rows[-1]["bowl"]) == expected.beliefs[-1, 1]
    assert rows[-1]["datum"] == expected.data_labels[-1]


@pytest.mark.parametrize(
    ("suffix", "start"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")]
)
def test_a_picture_is_written_in_the_format_of_its_suffix(run, world, tmp_path, suffix, start):
    path = tmp_path / f"lesson.{suffix}"
    result = run("teach", world, "-H", "A", "--rule", "both", "-k", 3, "--seed", 0, "--plot", path)
    assert result.exit_code == 0
    assert path.read_bytes().startswith(start)


@pytest.mark.parametrize(
    ("arguments", "error", "hint"),
    [
        (["WORLD"], "no hypothesis to teach was given", "A, B"),
        (["WORLD", "-H", "C"], "no hypothesis called 'C'", "'A', 'B'"),
        (["WORLD", "-H", "1"], "no hypothesis called '1'", "'A', 'B'"),
        (["nowhere.csv", "-H", "A"], "there is no file nowhere.csv", "check the spelling"),
        (["M_3"], "there is no file M_3", "example:M_3"),
        (["example:M_9"], "no example called 'M_9'", "'M_1'"),
        (["WORLD", "-H", "A", "--prior", "0.5"], "prior", None),
        (["WORLD", "-H", "A", "--prior", "0.5,0.9"], "sums to 1.4", "divide it"),
        (["WORLD", "-H", "A", "--prior", "a,b"], "'a', which is not a finite number", "0.2,0.8"),
        (["WORLD", "-H", "A", "--prior", "A=0.5,C=0.5"], "no hypothesis called 'C'", None),
        (["WORLD", "-H", "A", "--prior", "A=1"], "has no number for 'B'", None),
        (["WORLD", "-H", "A", "--prior", "A=.5,A=.5"], "gives 'A' twice", None),
        (["WORLD", "-H", "A", "--prior", "0,1"], "is zero", "positive probability"),
        (["WORLD", "-H", "A", "--learner-prior", "1,1"], "learner's prior sums to 2", None),
        (
            ["WORLD", "-H", "A", "--csv", "no/such/x.csv"],
            "no/such does not exist",
            "make the folder",
        ),
        (["WORLD", "-H", "A", "--plot", "x.foo"], "unknown picture format '.foo'", ".png"),
        (["WORLD", "-H", "A", "--plot", "picture"], "unknown picture format ''", ".png"),
        (["WORLD", "-H", "A", "--plot", f"{5000 * 'x'}.png"], "File name too long", None),
        (["WORLD", "-H"], "requires an argument", "cobayes teach --help"),
        (["WORLD", "-H", "9" * 5000], "no hypothesis called '999", None),
        (["WORLD", "-H", "A", "--prior", "1e99999999,0"], "not a finite number", "0.2,0.8"),
        (["WORLD", "-H", "A", "--prior", "1/0,1"], "'1/0', which is not a finite", "0.2,0.8"),
        (["WORLD", "-H", "A", "--prior", "inf,0"], "not a finite number", "0.2,0.8"),
        (["WORLD", "-H", "A", "--prior", "1_0,0"], "not a finite number", "0.2,0.8"),
        (["WORLD", "-H", "A", "--plot", "."], "is a directory", "cobayes teach --help"),
        (["WORLD", "-H", "A", "--rounds", "-1"], "--rounds", "cobayes teach --help"),
        (["WORLD", "-H", "A", "--rule", "best"], "--rule", "cobayes teach --help"),
        (["WORLD", "--nonsense"], "--nonsense", "cobayes teach --help"),
    ],
)
def test_bad_input_is_one_line_with_a_hint_and_exit_code_2(run, world, arguments, error, hint):
    arguments = [str(world) if argument == "WORLD" else argument for argument in arguments]
    result = run("teach", *arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    lines = result.stderr.splitlines()
    assert lines[0].startswith("error: ")
    assert error in lines[0]
    assert all(line.startswith("hint: ") for line in lines[1:])
    assert len(lines) <= 2
    if hint is not None:
        assert hint in lines[1]


def test_a_pragmatic_rule_has_depth_rationality_and_a_data_prior(run, world, tmp_path):
    shares = tmp_path / "shares.csv"
    shares.write_text("datum,share\nleft,0.2\nup,0.5\nright,0.3\n", encoding="utf-8")
    options = ("--rule", "pragmatic", "--depth", 2, "--rationality", 3, "--data-prior", shares)
    options += ("--literal", "truth")
    result = run("teach", world, "-H", "A", *options, "--rounds", 4, "--seed", 1, "--json")
    assert result.exit_code == 0, result.stderr
    settings = {"rationality": 3, "data_prior": [0.2, 0.5, 0.3], "literal": "truth"}
    rule = cb.Pragmatic(str(world), 2, **settings)
    lesson = cb.run_lesson(cb.Teacher(rule, "A", rng=1), cb.Learner(rule), 4)
    np.testing.assert_array_equal(
        json.loads(result.stdout)["lessons"][0]["beliefs"], lesson.beliefs
    )


def test_infinite_depth_is_scbi(run, world):
    arguments = ("teach", world, "-H", "A", "--rounds", 3, "--seed", 1, "--json")
    deep = run(*arguments, "--rule", "pragmatic", "--depth", "inf")
    full = run(*arguments, "--data-prior", "uniform")
    found, expected = (json.loads(r.stdout)["lessons"][0]["beliefs"] for r in (deep, full))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--depth", "2"), "--depth belongs to --rule pragmatic"),
        (("--literal", "truth"), "--literal belongs to --rule pragmatic"),
        (("--rule", "bi", "--data-prior", "uniform"), "has no --data-prior"),
        (("--rule", "pragmatic", "--depth", "-1"), "--depth is -1; expected an integer >= 0"),
        (
            ("--rule", "pragmatic", "--rationality", "0"),
            "--rationality is 0.0; expected a number > 0",
        ),
        (("--data-prior", "left=0.5,up=0.5"), "the data prior has no number for 'right'"),
        (("--rule", "pragmatic", "--depth", "inf", "--rationality", "2"), "rationality"),
    ],
)
def test_bad_settings_of_rules_are_explained(run, world, arguments, error):
    result = run("teach", world, "-H", "A", "--rounds", 1, *arguments)
    assert result.exit_code == 2
    assert error in result.stderr


def test_the_best_lesson_needs_no_seed_and_repeats_nothing(run):
    result = run("teach", "example:diagnosis", "--best", "--no-repeats", "-k", 4, "--json")
    assert result.exit_code == 0
    (lesson,) = json.loads(result.stdout)["lessons"]
    plan = cb.plan_lesson(
        cb.SCBI(cb.without_repeats("example:diagnosis")), cb.examples["diagnosis"].hypothesis, 4
    )
    assert lesson["data"] == list(plan.data_labels)


def test_the_best_lesson_is_planned_for_the_assumed_prior_and_shown_to_the_actual_learner(run):
    arguments = ("--prior", "theta_3", "--learner-prior", "theta_2", "-k", 4, "--best", "--json")
    (lesson,) = json.loads(run("teach", "example:M_3", *arguments).stdout)["lessons"]
    example = cb.examples["M_3"]
    plan = cb.plan_lesson(cb.SCBI(example), example.hypothesis, 4, prior=example.priors["theta_3"])
    assert lesson["data"] == list(plan.data_labels)
    np.testing.assert_array_equal(lesson["teacher_beliefs"], plan.beliefs)
    np.testing.assert_allclose(lesson["beliefs"][0], example.priors["theta_2"], rtol=1e-3)


@pytest.mark.parametrize(
    "text",
    [
        "data_prior,p_1\nleft,0.2\nup,0.5\nright,0.3\n",
        "left;0,2\nup;0,5\nright;0,3\n",
        "left; 0,2\nup; 0,5\nright; 0,3\n",
        "datum\tshare\nleft\t0.2\nup\t0.5\nright\t0.3\n",
    ],
)
def test_files_of_a_data_prior_may_have_any_heading_and_separator(run, world, tmp_path, text):
    shares = tmp_path / "shares.csv"
    shares.write_text(text, encoding="utf-8")
    options = ("-H", "A", "--seed", 1, "--json")
    found, typed, uniform = (
        json.loads(run("teach", world, *options, "--data-prior", prior).stdout)["lessons"]
        for prior in (shares, "0.2,0.5,0.3", "uniform")
    )
    assert found == typed != uniform


def test_a_first_row_with_a_decimal_comma_and_an_unknown_label_is_not_taken_for_a_heading(
    run, world, tmp_path
):
    shares = tmp_path / "shares.csv"
    shares.write_text("down;0,1\nleft;0,2\nup;0,5\nright;0,3\n", encoding="utf-8")
    result = run("teach", world, "-H", "A", "--data-prior", shares)
    assert result.exit_code == 2
    assert "there is no datum called 'down'" in result.stderr


def test_a_file_of_a_data_prior_may_guard_its_labels_as_the_matrix_does(run, tmp_path):
    matrix, shares = tmp_path / "matrix.csv", tmp_path / "shares.csv"
    matrix.write_text("datum,A,B\n'=x,1,2\ny,2,1\n", encoding="utf-8")
    shares.write_text("'=x,0.2\ny,0.8\n", encoding="utf-8")
    assert run("teach", matrix, "-H", "A", "--data-prior", shares).exit_code == 0


@pytest.mark.parametrize("value", ["nan", "0.x"])
def test_a_wrong_number_in_the_first_row_is_not_taken_for_a_heading(run, world, tmp_path, value):
    shares = tmp_path / "shares.csv"
    shares.write_text(f"left,{value}\nup,0.5\nright,0.3\n", encoding="utf-8")
    result = run("teach", world, "-H", "A", "--data-prior", shares)
    assert result.exit_code == 2
    assert f"the data prior holds '{value}'" in result.stderr
    assert "hint: write a number such as 0.2 or 1/3." in result.stderr


def test_a_datum_that_a_file_names_twice_is_refused(run, world, tmp_path):
    shares = tmp_path / "shares.csv"
    shares.write_text("left,0.2\nup,0.5\nright,0.3\nleft,0.3\n", encoding="utf-8")
    result = run("teach", world, "-H", "A", "--data-prior", shares)
    assert result.exit_code == 2
    assert "the data prior gives 'left' twice" in result.stderr
