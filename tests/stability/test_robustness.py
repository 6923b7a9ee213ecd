"""A user's own question about robustness, and its pictures."""

import json

import matplotlib as mpl
import numpy as np
import pytest

import cobayes as cb
from cobayes.errors import CobayesError
from cobayes.plots.house import with_subscripts
from cobayes.stability import success_bounds
from cobayes.stability.robustness import robustness, simplex_grid

mpl.use("Agg")


@pytest.fixture(scope="module")
def found():
    return robustness(
        cb.examples["M_3"],
        hypothesis="h_1",
        learner_prior=[0.3, 0.35, 0.35],
        num_lessons=1500,
        num_random=6,
        rng=1,
    )


def test_the_answer_has_rate_bounds_and_the_worst_direction(found):
    assert found.bounds == pytest.approx(success_bounds(np.full(3, 1 / 3), [0.3, 0.35, 0.35], 0))
    assert found.bounds[0] <= found.rate.value <= found.bounds[1] + 4 * found.rate.stderr
    # Taking weight from the truth is the worst mistake: the bound falls nowhere faster.
    assert found.directions[found.worst][0] < 0.0
    assert found.worst_rate.value < 0.95
    assert "less h_1" in found.describe_direction()
    assert "most dangerous" in repr(found)
    assert json.dumps(found.to_dict())
    assert len(found.to_dataframe()) == len(found.directions)


@pytest.mark.parametrize("rule", [cb.SCBI([[1, 0], [1, 1]]), cb.BI([[0.6, 0.3], [0.4, 0.7]])])
def test_bounds_that_are_not_proved_are_left_out(rule):
    found = robustness(rule, 0, learner_prior=[0.4, 0.6], num_lessons=20, num_random=0, rng=1)
    assert found.bounds is None
    assert type(found).from_dict(found.to_dict()).to_dict() == found.to_dict()


def test_moved_priors_stay_inside_the_simplex():
    close = robustness(
        cb.examples["M_3"],
        hypothesis=0,
        prior=[0.96, 0.02, 0.02],
        radius=0.3,
        num_lessons=300,
        num_random=4,
        rng=1,
    )
    assert (close.moved_priors > 0.0).all()
    assert close.distances.min() < 0.3


def test_nothing_is_taken_from_a_hypothesis_without_weight():
    certain = robustness(
        cb.examples["M_3"], hypothesis=0, prior=[1.0, 0.0, 0.0], num_lessons=50, rng=1
    )
    assert (certain.moved_priors >= 0.0).all()
    assert (certain.directions[:, 0] < 0.0).all()


def test_the_same_seed_gives_the_same_answer():
    first, second = (
        robustness(cb.examples["grid-world"], hypothesis=0, num_lessons=200, rng=5)
        for _ in range(2)
    )
    assert first.to_dict() == second.to_dict()


def test_a_learner_may_have_another_matrix():
    example = cb.examples["M_3"]
    other = example.model.matrix * np.array([[1.0, 1.2, 1.0], [1.0, 1.0, 0.8], [1.1, 1.0, 1.0]])
    result = robustness(example, 0, learner_rule=other, num_lessons=300, num_random=2, rng=1)
    assert result.rate.value < 1.0


def test_the_grid_is_even_and_inside():
    grid = simplex_grid(3, 10)
    assert len(grid) == 66
    assert (grid > 0.0).all()
    np.testing.assert_allclose(grid.sum(axis=1), 1.0)
    assert simplex_grid(4, 5).shape == (56, 4)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"radius": 0.0}, "radius is 0.0"),
        ({"prior": [0.0, 0.5, 0.5]}, "teaching is impossible"),
        ({"hypothesis": "h_7"}, "h_7"),
    ],
)
def test_bad_input_gets_an_error_that_says_why(arguments, message):
    with pytest.raises(CobayesError, match=message):
        robustness(cb.examples["M_3"], **{"hypothesis": 0, "num_lessons": 10, **arguments})


def test_the_most_dangerous_direction_is_the_first_of_the_picture():
    from cobayes.plots import plot_directions

    # Moves that end near the border are shorter: they lose less success, but more per distance.
    prior = [0.05, 0.9, 0.05]
    found = robustness("example:M_3", 0, prior=prior, radius=0.3, num_lessons=300, rng=1)
    assert found.worst not in np.argsort([moved.value for moved in found.moved_rates])[:3]
    ax = plot_directions(found, most=3)
    assert ax.get_yticklabels()[-1].get_text() == with_subscripts(found.describe_direction())
    rate, distance = found.moved_rates[found.worst].value, found.distances[found.worst]
    assert ax.get_lines()[-1].get_xdata() == pytest.approx([0.01 * (1.0 - rate) / distance])


def test_pictures_show_what_was_measured(found):
    from matplotlib.figure import Figure

    from cobayes.plots import plot_directions, plot_robustness_map

    left, right = Figure().subplots(1, 2)
    plot_directions(found, ax=left)
    assert len(left.get_yticklabels()) == 12
    grid = simplex_grid(3, 6)
    plot_robustness_map(found, grid, np.linspace(0, 1, len(grid)), ax=right)
    assert right.get_legend() is not None


@pytest.mark.parametrize("radius", ["x", None, 1j, -0.1, 10**400, [0.1]])
def test_a_radius_that_is_no_positive_number_is_refused(radius):
    with pytest.raises(CobayesError, match="radius"):
        robustness([[0.6, 0.3], [0.4, 0.7]], hypothesis=0, radius=radius)


def test_a_prior_below_the_normal_range_is_no_direction():
    found = robustness(np.eye(3) + 1.0, 0, num_lessons=20, prior=[5e-309, 0.5, 0.5])
    assert np.isfinite(found.worst_slope)


def test_a_table_with_one_datum_is_refused():
    with pytest.raises(CobayesError, match="one datum"):
        robustness([[0.2, 0.8]], hypothesis=0)


@pytest.mark.parametrize("arguments", [(12, 20), (10**400, 2), (3, 10**400), (1, 20)])
def test_a_grid_too_fine_to_hold_or_of_one_hypothesis_is_refused(arguments):
    with pytest.raises(CobayesError, match=r"points|num_hypotheses is 1"):
        simplex_grid(*arguments)


@pytest.mark.parametrize("position", [99, -1, 2.5, "x", []])
def test_a_direction_that_does_not_exist_is_refused(found, position):
    with pytest.raises(CobayesError, match="no direction"):
        found.describe_direction(position)


def test_with_many_hypotheses_weight_moves_between_one_and_all_others():
    m = 13
    matrix = np.random.default_rng(1).uniform(0.1, 1.0, (m, m))
    found = robustness(matrix, 2, num_lessons=20, num_random=3, radius=0.01, rng=1)
    steps = found.directions
    assert len(steps) == 2 + 2 * m + 3
    assert np.linalg.norm(steps, axis=1) == pytest.approx(1.0)
    assert steps.sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    for j in range(m):
        others = np.delete(steps[2 + 2 * j], j)
        assert steps[2 + 2 * j, j] > 0.0
        assert others == pytest.approx(others[0])
        assert steps[3 + 2 * j] == pytest.approx(-steps[2 + 2 * j])
    assert found.moved_priors == pytest.approx(1 / m + 0.01 * steps)
