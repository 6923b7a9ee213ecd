import json

import numpy as np
import pytest

import cobayes as cb
from cobayes.rules.response import draw

MODEL = cb.Model(
    np.random.default_rng(7).dirichlet(np.ones(4), size=3).T,
    ["a", "b", "c", "d"],
    ["x", "y", "z"],
)


def lesson(num_rounds=8, kind=cb.SCBI, seed=3):
    rule = kind(MODEL)
    return cb.run_lesson(cb.Teacher(rule, "y", rng=seed), cb.Learner(rule), num_rounds)


@pytest.mark.parametrize("kind", [cb.SCBI, cb.BI])
def test_a_lesson_follows_the_rule_step_by_step(kind):
    run, rule = lesson(kind=kind), kind(MODEL)
    belief = np.full(3, 1 / 3)
    for k, datum in enumerate(run.data):
        np.testing.assert_allclose(run.beliefs[k], belief, rtol=1e-9)
        belief = rule.update(belief, datum)
    np.testing.assert_allclose(run.beliefs[-1], belief, rtol=1e-9)
    assert run.data.shape == (8,)
    assert run.beliefs.shape == run.teacher_beliefs.shape == (9, 3)


def test_same_seed_gives_the_same_lesson_and_another_seed_another_one():
    assert np.array_equal(lesson(seed=1).log_beliefs, lesson(seed=1).log_beliefs)
    assert not np.array_equal(lesson(40, seed=1).data, lesson(40, seed=2).data)


def test_with_the_same_matrix_and_prior_the_teacher_knows_the_learners_belief():
    run = lesson()
    assert np.array_equal(run.log_beliefs, run.teacher_log_beliefs)


def test_a_scaled_matrix_gives_the_same_lesson():
    # Assumption (iii): T = E1 L E2.
    rng = np.random.default_rng(0)
    scaled = cb.Model(
        rng.uniform(0.1, 9, (4, 1)) * MODEL.matrix * rng.uniform(0.1, 9, 3),
        MODEL.data,
        MODEL.hypotheses,
    )
    own, other = cb.SCBI(MODEL), cb.SCBI(scaled)
    run = cb.run_lesson(cb.Teacher(own, 1, rng=5), cb.Learner(other), 30)
    assert np.array_equal(
        run.data, cb.run_lesson(cb.Teacher(other, 1, rng=5), cb.Learner(own), 30).data
    )
    np.testing.assert_allclose(run.log_beliefs, run.teacher_log_beliefs, rtol=1e-8, atol=1e-9)


def test_teacher_and_learner_may_differ():
    other = cb.Model(MODEL.matrix[::-1], MODEL.data, MODEL.hypotheses)
    run = cb.run_lesson(
        cb.Teacher(cb.SCBI(MODEL), "x", prior=[0.2, 0.3, 0.5], rng=0),
        cb.Learner(cb.BI(other), prior=[0.5, 0.3, 0.2]),
        5,
    )
    np.testing.assert_allclose(run.teacher_beliefs[0], [0.2, 0.3, 0.5])
    np.testing.assert_allclose(run.beliefs[0], [0.5, 0.3, 0.2])
    assert run.rule_name == "BI"


def test_log_beliefs_go_on_where_beliefs_underflow():
    rule = cb.SCBI([[0.9, 0.1], [0.1, 0.9]])
    run = cb.run_lesson(cb.Teacher(rule, 0, rng=0), cb.Learner(rule), 4000)
    assert run.beliefs[-1, 1] == 0.0
    assert -np.inf < run.log_beliefs[-1, 1] < -1000
    assert np.isfinite(run.log_beliefs).all()


def test_tables_keep_the_labels():
    run = lesson(4)
    table = run.to_dataframe()
    assert list(table.columns) == ["datum", "x", "y", "z"]
    assert list(table["datum"][1:]) == [MODEL.data[d] for d in run.data]
    teacher = run.to_dataframe("teacher")
    np.testing.assert_array_equal(teacher[["x", "y", "z"]], run.teacher_beliefs)
    content = json.loads(json.dumps(run.to_dict()))
    assert content["data"] == list(run.data_labels)
    assert content["beliefs"] == run.beliefs.tolist()
    data = run.to_xarray()
    assert data.belief.sel(round=4, hypothesis="y").item() == run.beliefs[4, 1]
    assert data.attrs["true_hypothesis"] == "y"


def test_html_and_text_show_the_lesson():
    run = lesson(2)
    html = run._repr_html_()
    assert "y (true)" in html
    assert html.count("<tr>") == 4
    assert "taught 'y'" in repr(run)
    assert "SCBI" in repr(cb.Learner(cb.SCBI(MODEL)))
    assert "SCBI; teaches 'y'; the learner's belief in it" in repr(cb.Teacher(cb.SCBI(MODEL), "y"))


def test_draw_stays_in_range_when_sums_round_down():
    probabilities = np.array([0.5, 0.5 - 1e-5, 0.0])
    assert draw(probabilities, np.nextafter(1.0, 0.0)) == 1
    assert draw(probabilities, 0.0) == 0
    assert draw(np.array([0.0, 1.0]), 0.0) == 1


def test_draws_follow_the_teaching_distribution():
    # Chi-square on 4 cells, seed fixed; the 1e-6 quantile keeps false alarms negligible.
    rule = cb.SCBI(MODEL)
    expected = rule.teach([1 / 3] * 3, "y")
    rng = np.random.default_rng(12)
    counts = np.bincount([draw(expected, u) for u in rng.random(20_000)], minlength=4)
    statistic = ((counts - 20_000 * expected) ** 2 / (20_000 * expected)).sum()
    assert statistic < 30.7  # chi-square with 3 degrees of freedom, upper 1e-6 point


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: cb.Teacher(cb.SCBI(MODEL), "y", prior=[0.5, 0.0, 0.5]), "teaching is impossible"),
        (lambda: cb.Teacher(cb.SCBI(MODEL), "w"), "no hypothesis called 'w'"),
        (lambda: cb.Learner(3), "expected a rule"),
        (lambda: lesson(-1), "integer >= 0"),
        (lambda: lesson(2.5), "expected an integer"),
        (
            lambda: cb.run_lesson(
                cb.Teacher(cb.SCBI(MODEL), 0), cb.Learner(cb.SCBI(np.ones((2, 2)) + np.eye(2))), 1
            ),
            "must share data and hypotheses",
        ),
        (
            lambda: cb.run_lesson(
                cb.Teacher(cb.SCBI(MODEL), 0),
                cb.Learner(cb.SCBI(cb.Model(MODEL, data=["d", "c", "b", "a"]))),
                1,
            ),
            "label their data differently",
        ),
        (
            lambda: cb.run_lesson(cb.Learner(cb.SCBI(MODEL)), cb.Learner(cb.SCBI(MODEL)), 1),
            "the teacher is of type Learner; expected a Teacher",
        ),
        (
            lambda: lesson(1).to_dataframe("both"),
            "agent is 'both'; expected 'learner' or 'teacher'",
        ),
        (lambda: cb.Learner(MODEL).follow(None), "the teacher is None; expected an agent"),
        (lambda: cb.Learner(MODEL).distribution_over_data(7), "no hypothesis at position 7"),
        (lambda: cb.Teacher(cb.SCBI(MODEL), 0, rng=-1), "rng is -1; expected a seed"),
        (lambda: cb.Teacher(cb.SCBI(MODEL), 0, rng="x"), "rng is 'x'; expected a seed"),
    ],
)
def test_bad_input_gets_one_clear_error(call, message):
    with pytest.raises(cb.CobayesError, match=message):
        call()


def test_a_matrix_without_labels_goes_with_a_labelled_one_of_its_shape():
    run = cb.run_lesson(
        cb.Teacher(cb.SCBI(MODEL), "x", rng=1), cb.Learner(cb.SCBI(MODEL.matrix)), 3
    )
    np.testing.assert_allclose(run.beliefs, run.teacher_beliefs, rtol=1e-9)


def test_beliefs_stay_exact_where_likelihoods_underflow():
    # Cross-ratio 1e340: no likelihood matrix in float64 can show it, the log-odds can.
    rule = cb.SCBI([[1.0, 1e-170], [1e-170, 1.0]])
    run = cb.run_lesson(cb.Teacher(rule, 0, rng=0), cb.Learner(rule), 3)
    assert np.isfinite(run.log_beliefs).all()
    # Certain after one datum; then every datum says the same: uniform columns at certainty.
    assert run.log_beliefs[1, 1] == pytest.approx(-170 * np.log(10), rel=1e-9)


def test_a_lesson_cannot_be_changed_by_accident():
    run = lesson(2)
    with pytest.raises(ValueError, match="read-only"):
        run.data[0] = 3


def test_one_agent_cannot_be_teacher_and_learner():
    teacher = cb.Teacher(cb.SCBI(MODEL), "y", rng=0)
    with pytest.raises(cb.CobayesError, match="count every datum twice"):
        cb.run_lesson(teacher, teacher, 1)
    np.testing.assert_allclose(teacher.belief, 1 / 3, rtol=1e-15)


def test_the_agents_of_a_lesson_do_not_change_it():
    run = lesson(3)
    teacher, learner = run.resume()
    cb.run_lesson(teacher, learner, 4)
    assert np.array_equal(run.extend(4).log_beliefs, lesson(7).log_beliefs)


def test_a_lesson_knows_when_the_learner_was_sure():
    run = lesson(40)
    first = run.rounds_until(0.9)
    assert (run.beliefs[:first, 1] < 0.9).all()
    assert run.beliefs[first, 1] >= 0.9
    assert run.rounds_until(0.1) == 0
    assert lesson(1).rounds_until(0.999999) is None
    with pytest.raises(cb.CobayesError, match="level is 2"):
        run.rounds_until(2)


def test_a_matrix_means_scbi_of_it():
    run = cb.run_lesson(cb.Teacher(MODEL, "y", rng=3), cb.Learner(MODEL), 8)
    assert np.array_equal(run.log_beliefs, lesson().log_beliefs)
    assert cb.plan_lesson(MODEL, "y", 3).rule_name == "SCBI"


def test_a_lesson_refers_to_the_rules_of_its_agents():
    rule = cb.SCBI(MODEL)
    run = cb.run_lesson(cb.Teacher(rule, "y", rng=0), cb.Learner(rule), 2)
    assert run.model is rule.model
    assert run.resume()[0].rule is run.resume()[1].rule is rule


def test_long_lessons_are_cut_in_a_notebook():
    model = np.random.default_rng(0).uniform(0.1, 1.0, (4, 300))
    rule = cb.BI(model)
    html = cb.run_lesson(cb.Teacher(rule, 100, rng=0), cb.Learner(rule), 500)._repr_html_()
    assert html.count("<tr>") == 22  # the head, 20 rounds, and one row of dots
    head = html.partition("</thead>")[0]
    assert head.count("<th>") == 25  # round, datum, 21 hypotheses and two gaps
    assert "100 (true)" in html
