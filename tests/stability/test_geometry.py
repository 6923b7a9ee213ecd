"""Points around priors and columns: counts, distances, divergences and what is left out."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import cobayes as cb
from cobayes.errors import CobayesError
from cobayes.stability.columns import (
    CURVE,
    DISC,
    MIXTURE,
    column_roles,
    equal_divergence_curve,
    mixtures_with_target,
    normalized_divergence,
    perturb_column,
    with_column,
)
from cobayes.stability.geometry import (
    along_directions,
    disc,
    plane_basis,
    random_directions,
    spherical_coordinates,
    uniform_points,
)
from cobayes.theory.rates import rate_of_convergence

MIDDLE = np.full(3, 1.0 / 3.0)


def test_the_papers_disc_has_630_points_of_which_84_lie_on_six_rays():
    points = disc(MIDDLE)
    assert len(points) == 630
    assert len(points.on_rays()) == 84
    for ray in range(6):
        np.testing.assert_allclose(points.ray(ray).distances, 0.005 * np.arange(1, 15), rtol=1e-9)
    assert points.num_left_out == 0
    np.testing.assert_allclose(points.points.sum(axis=1), 1.0, rtol=1e-12)


def test_rays_are_sixty_degrees_apart_and_the_first_aims_at_the_first_corner():
    points = disc(MIDDLE, num_circles=1)
    steps = points.points - MIDDLE
    unit = steps / np.linalg.norm(steps, axis=1, keepdims=True)
    np.testing.assert_allclose((unit * np.roll(unit, 1, axis=0)).sum(axis=1), 0.5, atol=1e-12)
    corner = np.array([1.0, 0.0, 0.0]) - MIDDLE
    np.testing.assert_allclose(unit[0], corner / np.linalg.norm(corner), atol=1e-12)


def test_points_outside_the_open_simplex_are_left_out_and_counted():
    points = disc([0.03, 0.47, 0.5])
    assert points.num_left_out == 630 - len(points) > 0
    assert (points.points > 0.0).all()


def test_the_papers_directions_have_301_points():
    directions = random_directions(15, 4, rng=1)
    np.testing.assert_allclose(directions.sum(axis=1), 0.0, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1.0)
    points = along_directions(np.full(4, 0.25), directions)
    assert len(points) == 15 * 20 + 1
    assert points.distances[0] == 0.0
    np.testing.assert_allclose(points.ray(7).distances, 0.005 * np.arange(1, 21), rtol=1e-9)


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


def test_uniform_points_have_uniform_coordinates():
    points = uniform_points(4000, 3, rng=1)
    # P(x > t) = (1 - t)^2 on the triangle; four standard errors of a proportion.
    for level in (0.1, 0.3, 0.6):
        share = (points.points[:, 0] > level).mean()
        expected = (1.0 - level) ** 2
        assert abs(share - expected) < 4.0 * np.sqrt(expected * (1.0 - expected) / 4000)


@pytest.mark.parametrize("name", [f"M_{k}" for k in range(1, 6)])
def test_column_perturbations_keep_their_promises(name):
    roles = column_roles(cb.examples[name])
    assert {roles.target, roles.relevant, *roles.irrelevant} == {0, 1, 2}
    for column in (roles.relevant, *roles.irrelevant):
        found = perturb_column(cb.examples[name], column)
        assert len(found) + found.num_left_out == 330 + 90 + 50
        assert len(found.of_kind(DISC)) == 330 - found.num_left_out
        assert (found.columns > 0.0).all()
        np.testing.assert_allclose(found.columns.sum(axis=1), 1.0, rtol=1e-12)
        own, aim = found.model.matrix[:, column], found.model.matrix[:, 0]
        curve = found.of_kind(CURVE).columns
        np.testing.assert_allclose(
            normalized_divergence(curve, aim), normalized_divergence(own, aim), rtol=1e-12
        )
        np.testing.assert_allclose(curve[0], own, rtol=1e-9)
        steps = np.linalg.norm(np.diff(np.vstack([curve, curve[:1]]), axis=0), axis=1)
        assert steps.max() < 1.3 * steps.min()
        line = found.of_kind(MIXTURE).columns
        # On one line through both columns, from beyond the column to close to the target.
        assert np.linalg.matrix_rank(np.vstack([line, aim]) - own, tol=1e-9) == 1
        assert line[0].min() < 0.02
        assert np.abs(line[-1] - aim).max() < 0.05


def test_perturbing_the_irrelevant_column_slightly_keeps_the_rate():
    example = cb.examples["M_3"]
    roles = column_roles(example)
    rate = rate_of_convergence(example, 0)
    near = disc(
        example.model.normalized()[:, roles.irrelevant[0]], num_circles=2, step=0.005
    ).points
    for values in near:
        changed = with_column(example, roles.irrelevant[0], values)
        assert rate_of_convergence(changed, 0) == pytest.approx(rate, rel=1e-9)


def test_the_curve_survives_extreme_columns():
    matrix = np.array([[0.999998, 1e-6, 0.3], [1e-6, 0.999998, 0.3], [1e-6, 1e-6, 0.4]])
    curve = equal_divergence_curve(matrix, 1, num_points=30)
    found = normalized_divergence(curve, matrix[:, 0])
    np.testing.assert_allclose(found, found[0], rtol=1e-9)


def test_mixtures_take_any_number_of_data():
    matrix = np.random.default_rng(1).dirichlet(np.ones(6), 4).T
    line = mixtures_with_target(matrix, 2, hypothesis=1, num_points=7)
    assert line.shape == (7, 6)
    assert (line > 0.0).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: disc([0.5, 0.5]), "triangle of three"),
        (lambda: disc([0.0, 0.5, 0.5]), "border"),
        (lambda: disc(MIDDLE, step=-1.0), "step is -1.0"),
        (lambda: disc([1e-9, 0.5, 0.5 - 1e-9], num_circles=0), "num_circles is 0"),
        (lambda: along_directions(MIDDLE, [[1.0, 1.0, 1.0]]), "sum to zero"),
        (lambda: along_directions(MIDDLE, [[1.0, -1.0]]), "3 coordinates"),
        (lambda: along_directions(MIDDLE, [[1.0, -1.0, 0.0]], step=2.0, with_centre=False), "outs"),
        (lambda: random_directions(3, 1), "no direction"),
        (lambda: spherical_coordinates([[1.0, -1.0, 0.0]]), "belong to four"),
        (lambda: equal_divergence_curve(np.ones((4, 2)) + np.eye(4, 2), 1), "three data only"),
        (lambda: equal_divergence_curve(np.ones((3, 2)), 1), "equals that of"),
        (lambda: mixtures_with_target(np.ones((3, 2)), 1), "nothing to mix"),
        (lambda: perturb_column(cb.examples["M_1"], 0), "the one of what is taught"),
        (lambda: perturb_column(cb.examples["M_1"], "h_9"), "h_9"),
    ],
)
def test_where_the_geometry_does_not_allow_it_the_error_says_why(call, message):
    with pytest.raises(CobayesError, match=message):
        call()
