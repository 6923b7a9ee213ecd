"""`cobayes.jax`: values agree with NumPy, derivatives with finite differences."""

import jax
import numpy as np
import pytest
from jax.test_util import check_grads

import cobayes as cb
import cobayes.jax as cj
from cobayes import people


@pytest.fixture(autouse=True)
def _in_double_precision():
    with jax.enable_x64(True):
        yield


RNG = np.random.default_rng(5)
POSITIVE = RNG.random((5, 3)) + 0.05
# Two blocks that do not touch: the factors have a free constant in each.
APART = np.array([[2.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 3.0]])


def test_values_are_those_of_numpy():
    belief = np.array([0.5, 0.2, 0.3])
    assert cj.scale(POSITIVE) == pytest.approx(cb.scale(POSITIVE).matrix)
    assert jax.jit(cj.posteriors)(POSITIVE, belief) == pytest.approx(
        cb.SCBI(POSITIVE).posteriors(belief)
    )


@pytest.mark.parametrize("given", [cb.Model([[2, 1], [1, 1]]), [[2, 1], [1, 1]]])
def test_lists_and_models_are_accepted_by_both_functions(given):
    assert cj.scale(given) == pytest.approx(cb.scale(given).matrix)
    assert cj.posteriors(given, [0.5, 0.5]) == pytest.approx(cb.SCBI(given).posteriors([0.5, 0.5]))
    assert cj.scale(cb.examples["M_1"]).dtype == float


def test_derivatives_of_the_scaling_hold_in_every_argument():
    rows, columns = np.array([1.0, 2.0, 1.5, 0.5, 1.0]), np.array([1.0, 2.5, 2.5])

    # The totals may differ: the column sums are rescaled.
    for arguments in ((POSITIVE, rows, columns), (POSITIVE, rows, 5.0 * columns), (POSITIVE, rows)):
        check_grads(cj.scale, arguments, order=1, modes=("fwd", "rev"), rtol=1e-6)


def test_derivatives_hold_where_zeros_leave_blocks_that_do_not_touch():
    columns = np.array([1.3, 0.7, 1.0])

    def scaled(change):
        return cj.scale(APART * jax.numpy.exp(change), None, columns)

    check_grads(scaled, (np.zeros((3, 3)),), order=1, modes=("fwd", "rev"), rtol=1e-6)


def test_zero_sums_are_constants_whose_derivatives_are_zero():
    rows, columns = np.array([1.0, 0.0, 1.5, 0.5, 1.0]), np.array([1.0, 0.0, 3.0])

    def scaled(*changes):
        given = zip((POSITIVE, rows, columns), changes, strict=True)
        return cj.scale(*(values * jax.numpy.exp(change) for values, change in given))

    changes = np.zeros((5, 3)), np.zeros(5), np.zeros(3)
    check_grads(scaled, changes, order=1, modes=("fwd", "rev"), rtol=1e-6)
    slopes = jax.grad(lambda *sums: cj.scale(POSITIVE, *sums)[0, 0], (0, 1))(rows, columns)
    assert (slopes[0][1], slopes[1][1]) == (0.0, 0.0)


def test_posteriors_of_many_beliefs_and_their_derivatives():
    beliefs = np.array([[0.5, 0.2, 0.3], [0.1, 0.1, 0.8]])
    many = jax.vmap(cj.posteriors, in_axes=(None, 0))(POSITIVE, beliefs)
    assert many == pytest.approx(cb.SCBI(POSITIVE).posteriors(beliefs))
    check_grads(lambda b: cj.posteriors(POSITIVE, b), (beliefs[0],), order=1, modes=("rev",))


@pytest.mark.parametrize("depth", [1, np.inf])
def test_people_likelihood_has_the_exact_gradient_under_jit_and_vmap(depth):
    problems = {"p": POSITIVE, "q": POSITIVE[::-1] ** 2}
    truth = {"depth": 1, "rationality": 2.0, "lapse": 0.1}
    choices = people.simulate(truth, problems, num_people=2, num_rounds=2, rng=1)
    family = people.Family(depth=depth, prior_temperature=(0.1, 5.0))
    host = people.LogLikelihood(choices, problems, family)
    density = jax.jit(jax.value_and_grad(cj.log_likelihood(choices, problems, family)))
    points = np.array([[2.0, 0.1, 1.0], [3.0, 0.2, 0.7]])
    for point in points:
        value, gradient = density(point)
        assert value == pytest.approx(host(point)[0])
        assert gradient == pytest.approx(host(point)[1])
    assert jax.vmap(density)(points)[0] == pytest.approx([host(point)[0] for point in points])
    assert density(np.array([2.0, 0.9, 1.0]))[0] == -np.inf
