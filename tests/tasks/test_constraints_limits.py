"""Tasks in which only some of the data may be shown."""

import numpy as np
import pytest

import cobayes as cb

MODEL = cb.Model(np.random.default_rng(1).uniform(0.05, 1.0, (5, 3)), data="abcde")


@pytest.mark.parametrize("kind", [cb.BI, cb.SCBI, lambda task: cb.Pragmatic(task, 2)])
def test_only_the_allowed_data_are_drawn_or_planned(kind):
    rule = kind(cb.limited_to(MODEL, ["b", 4]))
    drawn = cb.run_lesson(cb.Teacher(rule, 1, rng=3), cb.Learner(cb.BI(MODEL)), 12)
    assert set(drawn.data_labels) == {"b", "e"}
    planned = cb.plan_lesson(rule, 1, 4, learner_rule=cb.BI(MODEL))
    assert set(planned.data_labels) <= {"b", "e"}


def test_without_repeats_there_are_as_many_rounds_as_allowed_data():
    rule = cb.BI(cb.without_repeats(cb.limited_to(MODEL, "bde")))
    lesson = cb.plan_lesson(rule, 0, 3, learner_rule=cb.BI(MODEL))
    assert sorted(lesson.data_labels) == ["b", "d", "e"]
    with pytest.raises(cb.CobayesError, match="ask for at most 3 rounds"):
        cb.plan_lesson(rule, 0, 4, learner_rule=cb.BI(MODEL))


def test_a_lesson_that_ends_without_data_warns_at_the_users_line():
    within = cb.moving_costs(cb.limited_to(MODEL, "bde"), np.zeros((5, 5)))
    rule = cb.BI(cb.without_repeats(within))
    with pytest.warns(cb.CobayesWarning, match="ends after 3 of 4 rounds: no datum") as caught:
        lesson = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 4)
    assert caught[0].filename == __file__
    assert lesson.num_rounds == 3


def test_a_rule_derived_from_bi_keeps_its_own_likelihood():
    class Doubtful(cb.BI):
        def respond(self, log_belief):
            likelihood = super().respond(log_belief).likelihood
            return cb.rules.Response(0.5 * likelihood + 0.5 / len(likelihood))

    found = Doubtful(cb.limited_to(MODEL, "bd")).likelihood([0.2, 0.3, 0.5])
    mixed = (0.5 * MODEL.normalized() + 0.1)[[1, 3]]
    np.testing.assert_allclose(found[[1, 3]], mixed / mixed.sum(axis=0), rtol=1e-12)
    assert not found[[0, 2, 4]].any()


@pytest.mark.parametrize("kind", [cb.BI, cb.SCBI])
def test_exact_results_and_rates_use_only_the_allowed_data(kind):
    rule = kind(cb.limited_to(MODEL, "bd"))
    found = cb.exact_rounds(rule, 0, 2)
    measure = cb.AtomicMeasure.at([1 / 3] * 3).push(rule, 0).push(rule, 0)
    sampled = cb.simulate(rule, 0, num_rounds=2, num_lessons=400, rng=1)
    np.testing.assert_allclose(measure.mean()[0], found.mean[-1], rtol=1e-12)
    # Six standard errors: one seed in 500 million.
    assert abs(sampled.mean()[-1] - found.mean[-1]) < 6 * sampled.stderr()[-1]
    alone = kind(MODEL.matrix[[1, 3]])
    expected = cb.rate_of_convergence(alone, 0)
    np.testing.assert_allclose(cb.rate_of_convergence(rule, 0), expected)


@pytest.mark.parametrize(
    "compute",
    [
        lambda rule: cb.AtomicMeasure.at([0.2, 0.3, 0.5]).push(rule, 0),
        lambda rule: cb.success_rate(rule, 0, num_lessons=10),
        lambda rule: cb.rate_of_convergence(rule, 0),
        lambda rule: cb.rate_of_convergence(rule.task, 0),
        lambda rule: cb.best_data_prior(rule.task, 0),
    ],
)
def test_computations_with_one_matrix_refuse_a_task_that_changes(compute):
    with pytest.raises(cb.CobayesError, match=r"WithoutRepeats( they may depend on|\.\n)"):
        compute(cb.SCBI(cb.without_repeats(MODEL)))


def test_a_limit_to_all_data_changes_no_lesson():
    lessons = [
        cb.run_lesson(cb.Teacher(cb.SCBI(task), 1, rng=3), cb.Learner(cb.SCBI(task)), 5)
        for task in (MODEL, cb.limited_to(MODEL, "abcde"))
    ]
    np.testing.assert_allclose(lessons[0].beliefs, lessons[1].beliefs, rtol=1e-12)


def test_a_lesson_with_allowed_data_is_saved_and_extended(tmp_path):
    rule = cb.SCBI(cb.limited_to(MODEL, "bd"))
    lesson = cb.run_lesson(cb.Teacher(rule, 1, rng=3), cb.Learner(rule), 3)
    lesson.save(tmp_path / "lesson.json")
    assert set(cb.Lesson.load(tmp_path / "lesson.json").extend(9).data_labels) == {"b", "d"}


TABLE = cb.Model([[1, 0], [0, 1], [1, 1]], data="abc", hypotheses="xy")


@pytest.mark.parametrize("kind", [cb.BI, cb.SCBI, lambda task, **options: cb.Pragmatic(task, 1)])
@pytest.mark.parametrize(
    "teach",
    [
        lambda rule: rule.teach([0.5, 0.5], "y"),
        lambda rule: cb.Teacher(rule, "y").choose(),
        lambda rule: cb.run_lesson(cb.Teacher(rule, "y"), cb.Learner(rule), 2),
        lambda rule: cb.plan_lesson(rule, "y", 2),
        lambda rule: cb.simulate(rule, "y", num_rounds=2, num_lessons=3),
        lambda rule: cb.exact_rounds(rule, "y", 2),
        lambda rule: cb.AtomicMeasure.at([0.5, 0.5]).push(rule, "y"),
        lambda rule: cb.success_rate(rule, "y", num_lessons=3),
        lambda rule: cb.coupling(rule, num_lessons=3),
    ],
)
def test_a_hypothesis_that_allows_none_of_the_data_is_refused_everywhere(kind, teach):
    with pytest.raises(cb.CobayesError, match=r"'y' allows none of the data .*\('a'\)") as refusal:
        teach(kind(cb.limited_to(TABLE, "a")))
    assert refusal.value.hint == "make one of 'b', 'c' available, or teach another hypothesis."
    if kind is cb.SCBI:
        with pytest.raises(cb.CobayesError, match=r"'y' allows none of the data .*\('a'\)"):
            teach(cb.SCBI(TABLE, data_prior=[1, 0, 0]))


@pytest.mark.parametrize(
    "make", [lambda task: cb.limited_to(task, "ab"), lambda task: cb.sets_of(task, 2)]
)
@pytest.mark.parametrize("task", [cb.without_repeats(MODEL), cb.limited_to(MODEL, "bd")])
def test_a_task_whose_constraints_would_be_lost_is_refused(make, task):
    with pytest.raises(cb.CobayesError, match="expected a matrix or a Model, not a task"):
        make(task)


def test_unknown_data_and_an_empty_list_are_errors():
    with pytest.raises(cb.CobayesError, match="no datum called 'z'"):
        cb.limited_to(MODEL, "az")
    with pytest.raises(cb.CobayesError, match="data has 0 items; expected at least 1"):
        cb.limited_to(MODEL, [])
