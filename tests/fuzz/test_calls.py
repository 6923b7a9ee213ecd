"""Public calls: whatever is given, they return something sound or say what is wrong."""

from __future__ import annotations

import contextlib
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb

from .strategies import COUNTS, DISTRIBUTIONS, HOSTILE_MATRICES, LABELS, NUMBERS, matrices

FUZZ = settings.get_profile("fuzz")


def attempt(call, *arguments, **options):
    """Return a result, or None where the call explained itself."""
    with contextlib.suppress(cb.CobayesError):
        return call(*arguments, **options)
    return None


@FUZZ
@given(HOSTILE_MATRICES, st.none() | st.lists(LABELS, max_size=5), st.none() | st.lists(LABELS))
def test_a_model_is_sound_or_refused(matrix, data, hypotheses):
    model = attempt(cb.Model, matrix, data, hypotheses)
    if model is not None:
        assert np.isfinite(model.matrix).all()
        assert (model.matrix >= 0.0).all()
        assert model.matrix.any(axis=0).all()
        assert model.matrix.any(axis=1).all()
        assert len(set(model.data)) == model.num_data
        assert repr(model)
        assert model._repr_html_()
        attempt(model.check)


@FUZZ
@given(HOSTILE_MATRICES, DISTRIBUTIONS, DISTRIBUTIONS)
def test_scaling_meets_its_sums_or_says_why_not(matrix, row_sums, column_sums):
    attempt(cb.smooth, matrix, 1e-3)
    scaled = attempt(cb.scale, matrix, row_sums, column_sums)
    if scaled is not None:
        assert np.isfinite(scaled.matrix).all()
        assert (scaled.matrix >= 0.0).all()
        assert scaled.residual < 1e-6


@FUZZ
@given(HOSTILE_MATRICES, DISTRIBUTIONS, LABELS, LABELS, st.sampled_from([cb.BI, cb.SCBI]))
def test_rules_give_distributions_or_errors(matrix, belief, hypothesis, datum, kind):
    rule = attempt(kind, matrix)
    if rule is None:
        return
    for found in (
        attempt(rule.teach, belief, hypothesis),
        attempt(rule.update, belief, datum),
    ):
        if found is not None:
            np.testing.assert_allclose(found.sum(axis=-1), 1.0, rtol=1e-9)
            assert (found >= 0.0).all()
    posteriors = attempt(rule.posteriors, belief)
    if posteriors is not None:
        # A row of NaN is a datum that every believed hypothesis rules out.
        possible = posteriors[~np.isnan(posteriors).all(axis=-1)]
        np.testing.assert_allclose(possible.sum(axis=-1), 1.0, rtol=1e-9)


@FUZZ
@given(HOSTILE_MATRICES, DISTRIBUTIONS, DISTRIBUTIONS)
def test_one_round_of_cooperative_inference(matrix, teacher_prior, learner_prior):
    found = attempt(
        cb.cooperative_inference, matrix, learner_prior=learner_prior, teacher_prior=teacher_prior
    )
    if found is not None:
        assert np.isfinite(found.teacher).all()


@FUZZ
@given(HOSTILE_MATRICES, LABELS | st.none(), st.sampled_from([cb.BI, cb.SCBI, None]))
def test_rates_are_not_negative_or_refused(matrix, hypothesis, kind):
    rule = matrix if kind is None else attempt(kind, matrix)
    found = None if rule is None else attempt(cb.rate_of_convergence, rule, hypothesis)
    if found is not None:
        assert (np.asarray(found) >= 0.0).all()


@FUZZ
@given(matrices(), LABELS, COUNTS, COUNTS, DISTRIBUTIONS, NUMBERS)
def test_lessons_end_in_beliefs_or_errors(matrix, hypothesis, rounds, lessons, prior, level):
    rule = attempt(cb.SCBI, matrix)
    if rule is None:
        return
    teacher = attempt(cb.Teacher, rule, hypothesis, prior, rng=1)
    learner = attempt(cb.Learner, rule, prior)
    if teacher is not None and learner is not None:
        lesson = attempt(cb.run_lesson, teacher, learner, rounds)
        if lesson is not None:
            np.testing.assert_allclose(lesson.beliefs.sum(axis=1), 1.0, rtol=1e-9)
    ensemble = attempt(
        cb.simulate,
        rule,
        hypothesis,
        num_rounds=rounds,
        num_lessons=lessons,
        prior=prior,
        level=level,
        rng=1,
    )
    if ensemble is not None:
        assert np.isfinite(ensemble.mean()).all()


TASKS = {
    "model": lambda matrix: cb.Model(matrix),
    "no repeats": lambda matrix: cb.without_repeats(matrix),
    "limited": lambda matrix: cb.limited_to(matrix, range(max(1, len(matrix) - 1))),
    "pairs": lambda matrix: cb.sets_of(matrix, 2),
    "costs": lambda matrix: cb.moving_costs(matrix, 1.0 - np.eye(len(matrix)), 2.0),
    "nested": lambda matrix: cb.without_repeats(
        cb.moving_costs(cb.limited_to(matrix, range(len(matrix))), np.eye(len(matrix)))
    ),
    "board": lambda matrix: cb.GridWorld.with_goals_on_top(5, 3, 3, 0.5, slip=0.2),
}
RULES = (cb.BI, cb.SCBI, lambda task: cb.Pragmatic(task, 1))


@FUZZ
@given(
    matrices(),
    st.sampled_from(sorted(TASKS)),
    st.sampled_from(RULES),
    st.integers(0, 2),
    st.integers(0, 4),
    st.integers(0, 99),
)
def test_lessons_on_tasks_are_sound_and_go_on_after_saving(
    matrix, name, kind, taught, rounds, seed
):
    task = attempt(TASKS[name], matrix)
    rule = None if task is None else attempt(kind, task)
    teacher = None if rule is None else attempt(cb.Teacher, rule, taught, rng=seed)
    if teacher is None:
        return
    lesson = attempt(cb.run_lesson, teacher, cb.Learner(rule), rounds)
    many = attempt(cb.simulate, rule, taught, num_rounds=rounds, num_lessons=3, rng=seed)
    if many is not None:
        np.testing.assert_allclose(many.means.sum(axis=1), 1.0, rtol=1e-9)
    if lesson is None:
        return
    np.testing.assert_allclose(lesson.beliefs.sum(axis=1), 1.0, rtol=1e-9)
    with tempfile.TemporaryDirectory() as folder:
        lesson.save(Path(folder) / "lesson.npz")
        again = cb.Lesson.load(Path(folder) / "lesson.npz")
    more, expected = attempt(again.extend, 1), attempt(lesson.extend, 1)
    assert (more is None) == (expected is None)
    if more is not None:
        np.testing.assert_array_equal(more.data, expected.data)
        np.testing.assert_array_equal(more.log_beliefs, expected.log_beliefs)
        assert more.states == expected.states


@FUZZ
@given(matrices(most=3), LABELS, st.integers(-1, 3) | COUNTS, DISTRIBUTIONS)
def test_exact_rounds_agree_with_probability(matrix, hypothesis, rounds, prior):
    rule = attempt(cb.SCBI, matrix)
    if rule is not None:
        found = attempt(cb.exact_rounds, rule, hypothesis, rounds, prior)
        if found is not None:
            assert ((found.mean >= -1e-9) & (found.mean <= 1.0 + 1e-9)).all()
