"""The coupling of two agents that see the same uniform data."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.errors import CobayesError
from cobayes.rules import BI
from cobayes.stability import coupling, success_rate

from .cases import varied_cases


@pytest.mark.parametrize("case", varied_cases()[::3], ids=lambda case: case[0])
def test_marginals_are_the_priors(case):
    _, teacher, learner, own, theirs, _ = case
    found = coupling(
        teacher,
        learner_rule=learner,
        prior=own,
        learner_prior=theirs,
        num_lessons=5000,
        max_rounds=4000,
        rng=7,
    )
    # A marginal is a mean of numbers in [0, 1]: its variance is at most p (1 - p) / N.
    for values, prior in ((found.matrix.sum(axis=1), own), (found.matrix.sum(axis=0), theirs)):
        prior = prior / prior.sum()
        error = np.sqrt(prior * (1.0 - prior) / found.num_lessons)
        assert (np.abs(values - prior) <= 4.0 * error).all()
    assert found.matrix.sum() == pytest.approx(1.0, abs=1e-12)


def test_every_row_of_the_confusion_matrix_is_a_success_rate():
    example = cb.examples["M_3"]
    theirs = [0.2, 0.4, 0.4]
    found = coupling(example, learner_prior=theirs, num_lessons=20_000, rng=3)
    confusion, stderr = found.confusion, found.confusion_stderr
    np.testing.assert_allclose(confusion.sum(axis=1), 1.0, rtol=1e-12)
    for taught in range(3):
        lessons = success_rate(
            example, hypothesis=taught, learner_prior=theirs, num_lessons=5000, rng=taught
        )
        error = np.hypot(stderr[taught], lessons.outcomes_stderr)
        assert (np.abs(confusion[taught] - lessons.outcomes) <= 4.0 * error + 2e-5).all()
        assert found.success(taught).value == confusion[taught, taught]


def test_dividing_by_the_prior_or_by_the_row_sum_agree():
    found = coupling(cb.examples["M_3"], learner_prior=[0.2, 0.4, 0.4], rng=3)
    prior = found.teacher_prior[:, None]
    assert (np.abs(found.matrix / prior - found.confusion) <= 4.0 * found.stderr / prior).all()


def test_a_hypothesis_nobody_can_teach_has_no_row():
    found = coupling(cb.examples["M_3"], prior=[0.5, 0.5, 0.0], num_lessons=200, rng=1)
    assert np.isnan(found.confusion[2]).all()
    with pytest.raises(CobayesError, match="teaching is impossible"):
        found.success(2)


def test_standard_errors_shrink_with_the_root_of_the_number_of_pairs():
    few = coupling(cb.examples["M_4"], learner_prior=[0.5, 0.2, 0.3], num_lessons=2000, rng=1)
    many = coupling(cb.examples["M_4"], learner_prior=[0.5, 0.2, 0.3], num_lessons=32_000, rng=1)
    ratio = np.diag(few.stderr) / np.diag(many.stderr)
    np.testing.assert_allclose(ratio, 4.0, rtol=0.15)


def test_plain_bayes_is_refused_with_a_way_out():
    with pytest.raises(CobayesError, match="two SCBI agents") as caught:
        coupling(cb.examples["M_3"], learner_rule=BI(cb.examples["M_3"].model))
    assert "lessons" in (caught.value.hint or "")


def test_labels_travel_into_tables():
    found = coupling(cb.examples["gestures"], num_lessons=300, rng=1)
    table = found.to_dataframe()
    assert set(table["taught"]) == {"cup", "bowl", "book", "lamp"}
    assert found.to_xarray()["confusion"].sel(taught="cup", believed="cup") > 0.99
    # With other arguments they are lessons, not pairs.
    assert "300 data sequences" in repr(found)
    assert "300 data sequences" in found._repr_html_()


@pytest.mark.parametrize("count", [10**12, 10**400])
def test_pairs_that_would_take_days_are_refused_with_the_estimate(count):
    with pytest.raises(CobayesError, match="would take about"):
        coupling([[0.6, 0.3], [0.4, 0.7]], num_lessons=count)
    with pytest.raises(CobayesError, match="would take about"):
        success_rate([[0.6, 0.3], [0.4, 0.7]], hypothesis=0, num_lessons=count)


def test_with_a_data_prior_marginals_are_the_priors():
    matrix = np.random.default_rng(2).dirichlet(np.ones(3), 3).T
    rule = cb.SCBI(matrix, data_prior=[0.6, 0.3, 0.1])
    own, theirs = np.array([0.3, 0.3, 0.4]), np.array([0.2, 0.5, 0.3])
    found = coupling(
        rule, prior=own, learner_prior=theirs, num_lessons=4000, max_rounds=5000, rng=1
    )
    for values, prior in ((found.matrix.sum(axis=1), own), (found.matrix.sum(axis=0), theirs)):
        assert (np.abs(values - prior) <= 4.0 * np.sqrt(prior * (1.0 - prior) / 4000)).all()
    lessons = success_rate(
        rule, hypothesis=0, prior=own, learner_prior=theirs, num_lessons=4000, rng=2
    )
    pairs = found.success(0)
    assert abs(pairs.value - lessons.value) <= 4.0 * np.hypot(pairs.stderr, lessons.stderr)


def test_with_zeros_rows_are_lessons_about_each_hypothesis():
    table = np.array([[1, 0, 0], [1, 1, 0], [0, 1, 1], [0, 0, 1], [1, 1, 1.0]])
    theirs = [0.2, 0.3, 0.5]
    found = coupling(table, learner_prior=theirs, num_lessons=1500, rng=1)
    np.testing.assert_allclose(found.matrix.sum(axis=1), np.full(3, 1 / 3), rtol=1e-12)
    for h in range(3):
        lessons = success_rate(table, hypothesis=h, learner_prior=theirs, num_lessons=1000, rng=2)
        pairs = found.success(h)
        assert abs(pairs.value - lessons.value) <= 4.0 * np.hypot(pairs.stderr, lessons.stderr)


def test_with_zeros_a_hypothesis_without_prior_has_an_empty_row():
    matrix = [[0.5, 0.2, 0.0], [0.3, 0.3, 0.6], [0.2, 0.5, 0.4]]
    found = coupling(matrix, prior=[0.25, 0.75, 0.0], num_lessons=400, rng=1)
    assert found.matrix.sum(axis=1) == pytest.approx([0.25, 0.75, 0.0], abs=1e-9)
    assert np.isnan(found.confusion[2]).all()
    assert (found.matrix[2] == 0.0).all()
