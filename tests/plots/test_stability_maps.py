"""Panels of the stability figures: each takes and returns an Axes, and shows what it is given."""

import numpy as np
import pytest

from cobayes import plots as panels
from cobayes.plots import stability
from cobayes.plots.simplex import project
from cobayes.stability.geometry import disc, random_directions, spherical_coordinates

matplotlib = pytest.importorskip("matplotlib")
from matplotlib.figure import Figure  # noqa: E402

CENTRE = np.array([0.3, 0.3, 0.4])


@pytest.fixture
def ax():
    return Figure().subplots()


def test_falls_start_at_the_centre_and_show_the_conjectures_line(ax):
    around = disc(CENTRE, num_circles=3)
    distances = np.concatenate([[0.0], around.distances])
    rays = np.concatenate([[-1], around.rays])
    values = 1.0 - distances
    assert panels.plot_success_rays(distances, values, rays, slope=3.0, ax=ax) is ax
    assert len(ax.lines) == 6 + 1
    for line in ax.lines[:6]:
        assert line.get_xydata()[0].tolist() == [0.0, 1.0]
        assert len(line.get_xydata()) == 4
    assert np.allclose(ax.lines[-1].get_ydata(), [1.0, 1.0 - 3.0 * 0.015])


def test_bounds_are_drawn_with_their_corners(ax):
    assert panels.plot_success_against_prior([0.1, 0.9], [0.2, 1.0], 0.4, ax=ax) is ax
    upper, lower, dots = (line.get_xydata() for line in ax.lines)
    assert np.allclose(upper, [[0.0, 0.0], [0.4, 1.0], [0.6, 1.0], [1.0, 1.0]])
    assert np.allclose(lower, [[0.0, 0.0], [0.4, 0.0], [0.6, 0.0], [1.0, 1.0]], atol=1e-12)
    assert np.allclose(dots, [[0.1, 0.2], [0.9, 1.0]])


def test_conjectures_line_reaches_zero_at_the_teachers_belief(ax):
    assert panels.plot_success_against_distance([0.1], [0.8], 0.25, ax=ax) is ax
    assert np.allclose(ax.lines[0].get_xydata(), [[0.0, 1.0], [0.25, 0.0]])


def test_disc_shows_every_point_in_its_colour(ax):
    points = disc(CENTRE, num_circles=2).points
    values = np.linspace(0.8, 1.0, len(points))
    assert panels.plot_success_disc(points, values, (0.8, 1.0), ax=ax) is ax
    (dots,) = ax.collections
    assert np.allclose(dots.get_offsets(), project(points))
    assert np.allclose(dots.get_array(), values)
    assert dots.get_clim() == (0.8, 1.0)


def test_position_is_where_the_prior_lies(ax):
    assert panels.plot_position(CENTRE, 0.07, ax=ax) is ax
    (circle,) = ax.patches
    assert np.allclose(circle.center, project(CENTRE))
    assert circle.radius == pytest.approx(0.07 / np.sqrt(2.0))


@pytest.mark.parametrize("zoom", [False, True])
def test_column_map_marks_the_teachers_columns(ax, zoom):
    own = np.array([[0.7, 0.1, 0.2], [0.2, 0.5, 0.3], [0.75, 0.2, 0.05]])
    points = disc(own[1], num_circles=2).points
    drawn = panels.plot_column_map(
        points, np.ones(len(points)), own, ("a", "b", "c"), (0.0, 1.0), zoom=zoom, ax=ax
    )
    assert drawn is ax
    assert np.allclose(ax.lines[-1].get_xydata(), project(own))
    assert [text.get_text() for text in ax.texts] == ([] if zoom else ["a", "b", "c"])
    low, high = ax.get_xlim()
    assert (high - low < 0.2) == zoom


def test_angles_are_numbered_and_readable_on_any_shade(ax):
    angles = spherical_coordinates(random_directions(5, 4, 1))
    colors = stability.shades(angles[:, 0])
    assert panels.plot_angles(angles, colors, ax=ax) is ax
    assert [text.get_text() for text in ax.texts] == ["1", "2", "3", "4", "5"]
    darkest, lightest = int(angles[:, 0].argmin()), int(angles[:, 0].argmax())
    assert ax.texts[darkest].get_color() == "white"
    assert ax.texts[lightest].get_color() != "white"


def test_names_of_close_columns_do_not_cover_each_other(ax):
    own = np.array([[0.66, 0.17, 0.17], [0.55, 0.34, 0.11], [0.73, 0.04, 0.23]])
    panels.plot_column_map(own, np.ones(3), own, ("tr. h", "rel. h", "irr. h"), (0.0, 1.0), ax=ax)
    places = [np.add(text.xy, np.array(text.get_position()) / 160.0) for text in ax.texts]
    for k in range(3):
        for other in range(k):
            assert np.abs(places[k] - places[other]).max() > 0.05
