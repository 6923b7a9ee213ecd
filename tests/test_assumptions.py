"""The text of `Model.check` about zeros."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.assumptions import proportional_columns

TREES = cb.Model([[1, 0], [1, 1], [0, 1]], ["acorns", "green leaf", "needles"], ["oak", "larch"])


def test_without_zeros_there_is_no_paragraph_about_them():
    report = cb.Model([[1.0, 2.0], [3.0, 1.0]]).check()
    assert report.zeros is None
    assert "zero" not in str(report)


def test_zeros_that_do_no_harm_are_called_so():
    text = TREES.check().zeros
    assert text.startswith("2 of 6 entries are zero")
    assert "every possible pair of datum and hypothesis is used" in text
    assert text in str(TREES.check())
    assert "<p>2 of 6 entries" in TREES.check()._repr_html_()


def test_what_zeros_make_impossible_is_named_with_its_numbers():
    text = TREES.check([0.9, 0.1]).zeros
    assert "'needles' is possible under 'larch' only; the belief in it is 0.1, but 0.333 is" in text
    assert "never shows 'green leaf' for 'larch'" in text
    # The row sums that are reported are those of the scaling itself.
    scaled = cb.scale(TREES, column_sums=[2.7, 0.3], on_failure="return")
    assert f"between {scaled.row_sums.min():.3g} and {scaled.row_sums.max():.3g} times" in text


def test_pairs_that_vanish_in_the_limit_are_named():
    triangle = cb.Model([[1, 1], [0, 1]], ["a", "b"], ["x", "y"])
    text = triangle.check().zeros
    assert "leaves out some possible pairs" in text
    assert "'a' for 'y'" in text


def test_proportional_columns_are_found_among_zeros():
    twins = cb.Model([[1, 2, 1], [0, 0, 1], [3, 6, 0]], hypotheses=list("pqr"))
    assert "'p', 'q';" in twins.check().warnings[0].text
    assert "no columns are proportional" in str(TREES.check())


@pytest.mark.parametrize("seed", range(20))
def test_a_scaling_with_zeros_is_recognised_and_another_matrix_is_not(seed):
    rng = np.random.default_rng(seed)
    matrix = rng.random((5, 4)) * (rng.random((5, 4)) < 0.6)
    matrix[np.arange(5), np.arange(5) % 4] = 0.5
    scaled = rng.random((5, 1)) * matrix * rng.random(4)
    model = cb.Model(matrix)
    assert model.check(learner=scaled).findings[2].status == "holds"
    other = scaled.copy()
    other[0, 0] = 0.0 if other[0, 1:].any() and other[1:, 0].any() else other[0, 0]
    if not np.array_equal(other, scaled):
        assert "differ in what is possible" in model.check(learner=other).findings[2].text


def test_a_cycle_of_entries_that_does_not_scale_is_noticed():
    matrix = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    other = matrix.copy()
    other[0, 0] = 2.0
    found = cb.Model(matrix).check(learner=other).findings[2]
    assert found.status == "warning"


def test_thousands_of_equal_columns_are_one_group_and_not_millions_of_pairs():
    found = cb.Model(np.ones((1, 3000))).check().findings[1]
    assert "'0', '1', '2', '3', '4', '5', … (3000 in all)" in found.text
    # Columns with equal projections need not be equal: groups are found whatever lies between.
    matrix = np.random.default_rng(1).random((4, 6))
    groups = proportional_columns(np.concatenate([matrix, 3.0 * matrix[:, [4, 2, 4]]], axis=1))
    assert groups == [[2, 7], [4, 6, 8]]
