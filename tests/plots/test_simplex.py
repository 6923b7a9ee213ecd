"""The triangle: an affine bijection that keeps distances, and a frame with labels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cobayes as cb
from cobayes.plots import plot_simplex_path, plot_simplex_points, simplex

weights = st.lists(st.floats(0.01, 1.0), min_size=3, max_size=3)


def normalised(values):
    return np.array(values) / np.sum(values)


@given(weights, weights)
def test_projection_keeps_distances_up_to_a_factor(first, second):
    beliefs = np.array([normalised(first), normalised(second)])
    points = simplex.project(beliefs)
    distance = np.linalg.norm(beliefs[0] - beliefs[1])
    np.testing.assert_allclose(
        np.linalg.norm(points[0] - points[1]) * np.sqrt(2), distance, atol=1e-12
    )


def test_certain_beliefs_are_corners_and_the_uniform_belief_is_the_center():
    np.testing.assert_allclose(simplex.project(np.eye(3)), simplex.CORNERS)
    np.testing.assert_allclose(simplex.project([1 / 3] * 3), simplex.CORNERS.mean(axis=0))


def test_printed_priors_that_sum_to_one_up_to_rounding_are_taken():
    assert np.isfinite(simplex.project([0.3333, 0.3333, 0.3333])).all()


@pytest.mark.parametrize(
    ("values", "message"),
    [([0.5, 0.5], "exactly three"), ([0.25] * 4, "exactly three"), ([1, 1, 1], "sums from 3 to 3")],
)
def test_vectors_that_are_no_distribution_over_three_hypotheses_are_errors(values, message):
    with pytest.raises(cb.CobayesError, match=message):
        simplex.project(values)


def test_the_frame_writes_the_labels_and_marks_one_corner(ax):
    simplex.draw_frame(ax, ["a", "b", "c"], highlight=1)
    assert [text.get_text() for text in ax.texts] == ["a", "b", "c"]
    stars = [line for line in ax.get_lines() if line.get_marker() == "*"]
    np.testing.assert_allclose(stars[0].get_xydata()[0], simplex.CORNERS[1])


def test_points_lie_where_the_projection_puts_them_and_carry_their_values(ax):
    beliefs = np.random.default_rng(0).dirichlet(np.ones(3), 20)
    same = plot_simplex_points(beliefs, beliefs[:, 0], labels="abc", value_label="rate", ax=ax)
    assert same is ax
    drawn = ax.collections[0]
    np.testing.assert_allclose(drawn.get_offsets(), simplex.project(beliefs))
    np.testing.assert_allclose(drawn.get_array(), beliefs[:, 0])
    assert ax.get_figure().axes[1].get_ylabel() == "rate"


def test_a_path_runs_through_the_projected_beliefs(lessons, ax):
    plot_simplex_path(lessons["BI"], ax=ax)
    plot_simplex_path(lessons["SCBI"], frame=False, ax=ax)
    lines = {line.get_label(): line for line in ax.get_lines()}
    for name, lesson in lessons.items():
        np.testing.assert_allclose(lines[name].get_xydata(), simplex.project(lesson.beliefs))
    assert [text.get_text() for text in ax.texts] == ["h₁", "h₂", "h₃"]


def test_a_path_needs_three_hypotheses():
    with pytest.raises(cb.CobayesError, match="exactly three hypotheses; 2 were given"):
        plot_simplex_path([[0.5, 0.5]])
