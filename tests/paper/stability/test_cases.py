"""Points around priors and columns: counts, distances, divergences and omitted points."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cobayes as cb
from cobayes.paper.stability.cases import (
    CURVE,
    DISC,
    MIXTURE,
    Case,
    Effort,
    all_columns,
    circles,
    column_cases,
    equal_divergence_curve,
    learners_of,
    normalized_divergence,
    plane_basis,
    points_of,
    random_directions,
    spherical_coordinates,
)

MIDDLE = np.full(3, 1.0 / 3.0)
PAPER = Effort(10_000)


def test_the_papers_disc_has_630_points_of_which_84_lie_on_six_rays():
    points, rays = circles(MIDDLE, 14, 0.07)
    assert len(points) == 630
    distances = np.linalg.norm(points - MIDDLE, axis=1)
    for ray in range(6):
        np.testing.assert_allclose(distances[rays == ray], 0.005 * np.arange(1, 15), rtol=1e-9)
    assert (rays >= 0).sum() == 84
    np.testing.assert_allclose(points.sum(axis=1), 1.0, rtol=1e-12)


def test_rays_are_sixty_degrees_apart_and_the_first_aims_at_the_first_corner():
    points, _ = circles(MIDDLE, 1, 0.005)
    steps = points - MIDDLE
    unit = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    np.testing.assert_allclose((unit * np.roll(unit, 1, axis=0)).sum(axis=1), 0.5, atol=1e-12)
    corner = np.array([1.0, 0.0, 0.0]) - MIDDLE
    np.testing.assert_allclose(unit[0], corner / np.linalg.norm(corner), atol=1e-12)


def test_points_outside_the_open_simplex_are_omitted_and_counted():
    found = learners_of(Case("directions", "M'_1", "theta'_3"), PAPER, 1)
    assert found.attrs["num_left_out"] == 301 - len(found) > 0
    assert (points_of(found) > 0.0).all()


def test_directions_have_length_one_and_lie_in_the_simplex():
    directions = random_directions(1)
    assert directions.shape == (15, 4)
    np.testing.assert_allclose(directions.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0)
    found = learners_of(Case("directions", "M'_1", "theta'_1"), PAPER, 1)
    np.testing.assert_allclose(found.distance[found.ray == 7], 0.005 * np.arange(1, 21))


@given(st.integers(2, 9))
def test_the_basis_is_orthonormal_and_sums_to_zero(m):
    basis = plane_basis(m)
    np.testing.assert_allclose(basis @ basis.T, np.eye(m - 1), atol=1e-12)
    np.testing.assert_allclose(basis.sum(axis=1), 0.0, atol=1e-12)


def test_spherical_axes_are_the_papers():
    corners = np.eye(4) - 0.25
    angles = spherical_coordinates(corners)
    assert angles[0, 0] == pytest.approx(0.0, abs=1e-12)
    assert angles[1, 1] == pytest.approx(0.0, abs=1e-12)


def test_uniform_priors_have_uniform_coordinates():
    found = learners_of(Case("uniform", "M_3", "theta_1"), Effort(1, num_uniform=4000), 1)
    # P(x > t) = (1 - t)^2 on the triangle; four standard errors of a proportion.
    for level in (0.1, 0.3, 0.6):
        share = (found.learner_prior_1 > level).mean()
        expected = (1.0 - level) ** 2
        assert abs(share - expected) < 4.0 * np.sqrt(expected * (1.0 - expected) / 4000)


@pytest.mark.parametrize("case", all_columns(), ids=lambda case: case.name)
def test_perturbed_columns_have_their_defining_properties(case):
    found = learners_of(case, PAPER, 1)
    assert len(found) + found.attrs["num_left_out"] == 1 + 330 + 90 + 50
    assert (found.kind == DISC).sum() == 330 - found.attrs["num_left_out"]
    assert (points_of(found) > 0.0).all()
    np.testing.assert_allclose(points_of(found).sum(axis=1), 1.0, rtol=1e-12)
    own, aim = case.model.matrix[:, case.column], case.model.matrix[:, 0]
    curve = points_of(found[found.kind == CURVE])
    np.testing.assert_allclose(
        normalized_divergence(curve, aim), normalized_divergence(own, aim), rtol=1e-12
    )
    np.testing.assert_allclose(curve[0], own, rtol=1e-9)
    steps = np.linalg.norm(np.diff(np.vstack([curve, curve[:1]]), axis=0), axis=1)
    assert steps.max() < 1.3 * steps.min()
    line = points_of(found[found.kind == MIXTURE])
    # On one line through both columns, from beyond the column to close to the target.
    assert np.linalg.matrix_rank(np.vstack([line, aim]) - own, tol=1e-9) == 1
    assert line[0].min() < 0.02
    assert np.abs(line[-1] - aim).max() < 0.05


def test_perturbing_the_irrelevant_column_slightly_keeps_the_rate():
    irrelevant, relevant = column_cases("M_3")
    assert relevant.is_relevant
    assert not irrelevant.is_relevant
    rate = cb.rate_of_convergence(irrelevant.model, 0)
    points, _ = circles(irrelevant.model.matrix[:, irrelevant.column], 2, 0.01)
    for values in points:
        changed = irrelevant.model.matrix.copy()
        changed[:, irrelevant.column] = values
        assert cb.rate_of_convergence(changed, 0) == pytest.approx(rate, rel=1e-9)


def test_the_curve_is_accurate_for_extreme_columns():
    matrix = np.array([[0.999998, 1e-6, 0.3], [1e-6, 0.999998, 0.3], [1e-6, 1e-6, 0.4]])
    curve = equal_divergence_curve(matrix[:, 1], matrix[:, 0], 30)
    found = normalized_divergence(curve, matrix[:, 0])
    np.testing.assert_allclose(found, found[0], rtol=1e-9)
