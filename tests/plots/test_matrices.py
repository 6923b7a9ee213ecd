"""Heat maps show a matrix and its scaling."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.plots import (
    plot_matrix,
    plot_scaling,
)


def test_a_heat_map_shows_the_matrix_with_labels_and_numbers(ax):
    model = cb.examples["grid-world"].model
    assert plot_matrix(model, title="M", colorbar=True, ax=ax) is ax
    np.testing.assert_array_equal(ax.images[0].get_array(), model.matrix)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["left", "up", "right"]
    assert [label.get_text() for label in ax.get_xticklabels()] == ["A", "B"]
    assert sorted({text.get_text() for text in ax.texts}) == ["0.25", "1"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("hypothesis", "datum")


def test_a_large_heat_map_writes_no_numbers(ax):
    plot_matrix(np.random.default_rng(0).random((50, 60)) + 0.1, ax=ax)
    assert not ax.texts


def test_the_scaled_matrix_beside_the_matrix_has_the_sums_of_section_2():
    model = cb.examples["M_3"].model
    belief = np.array([0.2, 0.3, 0.5])
    left, right = plot_scaling(model, belief)
    np.testing.assert_array_equal(left.images[0].get_array(), model.matrix)
    scaled = np.asarray(right.images[0].get_array())
    np.testing.assert_allclose(scaled.sum(axis=1), 1.0, rtol=1e-9)
    np.testing.assert_allclose(scaled.sum(axis=0), 3 * belief, rtol=1e-9)


def test_the_scaled_matrix_can_be_drawn_for_a_belief_with_a_zero():
    _, right = plot_scaling(cb.examples["M_3"], [0.5, 0.5, 0.0])
    np.testing.assert_array_equal(np.asarray(right.images[0].get_array())[:, 2], 0.0)
    _, right = plot_scaling([[1, 0], [1, 1]], [0.0, 1.0])  # the first datum is impossible
    assert np.asarray(right.images[0].get_array().mask).tolist() == [[True, True], [False, False]]
    assert [text.get_text() for text in right.texts] == ["0", "1"]


def test_a_zero_of_the_scaled_matrix_is_written_as_0():
    _, right = plot_scaling([[1, 0], [1, 1]])
    assert [text.get_text() for text in right.texts] == ["1", "0", "0", "1"]


def test_the_two_panels_can_be_drawn_into_a_users_axes():
    from matplotlib.figure import Figure

    axes = Figure().subplots(1, 2)
    assert plot_scaling(cb.examples["M_3"], axes=axes) == tuple(axes)
    for wrong in ({"axes": axes[0]}, {"titles": ("a", "b", "c")}, {"titles": 3}):
        with pytest.raises(cb.CobayesError, match="expected two Axes and two titles"):
            plot_scaling(cb.examples["M_3"], **wrong)
