"""Panels of the stability figures show the success rates that they are given."""

import numpy as np
import pytest

from cobayes.paper.stability.cases import Case, Effort, column_cases, learners_of
from cobayes.paper.stability.experiment import CaseRates
from cobayes.paper.stability.pictures import (
    column_grid,
    direction_grid,
    disc_grid,
    draw_against_belief,
    draw_against_distance,
    draw_rays,
)
from cobayes.plots.simplex import project

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.figure import Figure  # noqa: E402

EFFORT = Effort(1, num_circles=3, num_uniform=20, num_column_circles=2, num_curve=9, num_mixtures=9)


def rates_of(case):
    """Return success rates that fall with the distance."""
    learners = learners_of(case, EFFORT, 1)
    values = 1.0 - 0.5 * learners.distance.to_numpy()
    return CaseRates.of(case, learners, values[None], success=values, num_lessons=1)


@pytest.fixture
def ax():
    return Figure().subplots()


def test_rays_start_at_the_centre_and_show_the_conjectures_line(ax):
    draw_rays(rates_of(Case("disc", "M_3", "theta_1")), ax, seed=1)
    assert len(ax.lines) == 6 + 1
    for line in ax.lines[:6]:
        assert line.get_xydata()[0].tolist() == [0.0, 1.0]
        assert len(line.get_xydata()) == 4
    assert np.allclose(ax.lines[-1].get_ydata(), [1.0, 1.0 - 3.0 * 0.07])


def test_bounds_are_drawn_with_their_corners(ax):
    rates = rates_of(Case("uniform", "M_3", "theta_2"))
    taught = rates.case.teacher_prior[0]
    draw_against_belief(rates, ax)
    upper, lower, dots = (line.get_xydata() for line in ax.lines)
    assert np.allclose(upper, [[0, 0], [taught, 1], [1 - taught, 1], [1, 1]])
    assert np.allclose(lower, [[0, 0], [taught, 0], [1 - taught, 0], [1, 1]], atol=1e-12)
    assert np.allclose(dots[:, 0], rates.points[:, 0])


def test_conjectures_line_reaches_zero_at_the_teachers_belief(ax):
    rates = rates_of(Case("uniform", "M'_1", "theta'_1"))
    draw_against_distance(rates, ax)
    assert np.allclose(ax.lines[0].get_xydata(), [[0.0, 1.0], [rates.case.teacher_prior[0], 0.0]])


def test_discs_show_every_learner_in_its_colour_where_the_prior_lies():
    rates = rates_of(Case("disc", "M_3", "theta_1"))
    figure = disc_grid([rates, rates], 1)["figure-s2"]
    (circle,) = figure.axes[0].patches
    assert np.allclose(circle.center, project(rates.case.teacher_prior))
    assert circle.radius == pytest.approx(0.07 / np.sqrt(2.0))
    (dots,) = figure.axes[2].collections
    assert np.allclose(dots.get_offsets(), project(rates.points))
    assert np.allclose(dots.get_array(), rates.value)


def test_directions_are_numbered_by_their_angles():
    rates = rates_of(Case("directions", "M'_1", "theta'_1"))
    figure = direction_grid([rates], 1)["figure-s4-directions"]
    (ax,) = figure.axes
    assert [text.get_text() for text in ax.texts] == [str(k) for k in range(1, 16)]


def test_columns_are_named_by_their_roles_and_enlarged_around_the_perturbed_one():
    found = [rates_of(case) for matrix in ("M_3", "M_4") for case in column_cases(matrix)]
    figure = column_grid(found, 1)["figure-s7"]
    assert {text.get_text() for text in figure.axes[0].texts} >= {"tr. h", "rel. h", "irr. h"}
    far, near = figure.axes[0], figure.axes[1]
    assert len(far.collections[0].get_offsets()) == len(found[0].learners)
    assert np.ptp(near.get_xlim()) < 0.3 * np.ptp(far.get_xlim())
