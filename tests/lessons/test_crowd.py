import numpy as np
import pytest

import cobayes as cb
from cobayes.lessons.crowd import Crowd
from cobayes.lessons.drawing import draw

RULES = [cb.SCBI, cb.BI]


def matrix_of(n, m, seed=1):
    return np.random.default_rng(seed).exponential(size=(n, m)) + 0.01


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize(("n", "m"), [(2, 2), (3, 3), (5, 3), (3, 6), (4, 4), (9, 7), (20, 20)])
def test_compiled_lessons_match_stepwise_lessons_draw_for_draw(kind, n, m):
    rule = kind(matrix_of(n, m))
    rng = np.random.default_rng(4)
    prior = rng.dirichlet(np.ones(m))
    taught = rng.integers(m, size=70)
    uniforms = rng.random((25, 70))
    crowd = Crowd(rule, np.log(prior), 70)
    data = []
    for k in range(25):
        data.append(crowd.draw(taught, uniforms[k]))
        crowd.observe(data[-1])
    for one in (0, 33, 69):
        learner = cb.Learner(rule, prior)
        for k in range(25):
            column = np.ascontiguousarray(learner.likelihood[:, taught[one]])
            datum = draw(column, uniforms[k, one])
            assert datum == data[k][one]
            learner.observe(datum)
        np.testing.assert_allclose(crowd.log_beliefs[one], learner.log_belief, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(crowd.beliefs[one], learner.belief, rtol=1e-9, atol=1e-150)
        np.testing.assert_allclose(crowd.likelihoods[one], learner.likelihood, rtol=1e-9)


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize("m", [3, 6])
def test_nobody_depends_on_the_neighbours(kind, m):
    rule = kind(matrix_of(m + 1, m))
    rng = np.random.default_rng(0)
    uniforms = rng.random((40, 200))
    taught = np.zeros(200, dtype=int)
    prior = np.log(rng.dirichlet(np.ones(m)))
    all_of_them = Crowd(rule, prior, 200)
    for row in uniforms:
        all_of_them.observe(all_of_them.draw(taught, row))
    some = rng.permutation(200)[:37]
    few = Crowd(rule, prior, 37)
    for row in uniforms:
        few.observe(few.draw(taught[:37], row[some]))
    assert np.array_equal(few.log_beliefs, all_of_them.log_beliefs[some])


@pytest.mark.parametrize("m", [3, 6])
def test_keeping_some_changes_nothing_for_them(m):
    rule = cb.SCBI(matrix_of(m, m))
    rng = np.random.default_rng(0)
    uniforms = rng.random((30, 150))
    prior = np.log(rng.dirichlet(np.ones(m)))
    whole, part = (Crowd(rule, prior, 150) for _ in range(2))
    kept = np.arange(150)
    for k, row in enumerate(uniforms):
        whole.observe(whole.draw(np.ones(150, dtype=int), row))
        part.observe(part.draw(np.ones(len(kept), dtype=int), row[kept]))
        if k in (4, 17):
            chosen = np.flatnonzero(rng.random(len(kept)) < 0.6)
            part.keep(chosen)
            kept = kept[chosen]
    assert 0 < len(kept) < 150
    assert np.array_equal(whole.log_beliefs[kept], part.log_beliefs)


@pytest.mark.parametrize("kind", RULES)
def test_beliefs_far_below_underflow_stay_exact_and_can_come_back(kind):
    rule = kind([[0.9, 0.1], [0.1, 0.9]])
    crowd = Crowd(rule, np.log([0.5, 0.5]), 3)
    learner = cb.Learner(rule)
    # A thousand times against the second hypothesis, then two thousand times for it.
    for datum in [0] * 1000 + [1] * 2000:
        crowd.observe(np.full(3, datum))
        learner.observe(datum)
        if learner.log_belief.min() < -2000:
            assert crowd.beliefs.min() == 0.0
    np.testing.assert_allclose(crowd.log_beliefs[1], learner.log_belief, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("n", "m"), [(3, 3), (4, 4), (5, 5), (20, 20), (30, 12), (12, 30)])
def test_every_scaling_meets_its_sums(n, m):
    rng = np.random.default_rng(n)
    rule = cb.SCBI(rng.dirichlet(np.ones(n), size=m).T)
    # From nearly even beliefs to nearly certain ones.
    beliefs = np.concatenate([rng.dirichlet(np.full(m, a), size=100) for a in (50, 1, 0.1)])
    beliefs = np.maximum(beliefs, 1e-60)
    crowd = Crowd(rule, np.log(beliefs), 300)
    likelihoods = crowd.likelihoods
    # The tolerance, 1e-12, plus rounding.
    np.testing.assert_allclose(likelihoods.sum(axis=1), 1.0, rtol=2e-12)
    np.testing.assert_allclose((likelihoods * n * beliefs[:, None]).sum(axis=2), 1.0, rtol=2e-12)


def test_matrices_that_sweeps_cannot_scale_are_solved_by_newton():
    rng = np.random.default_rng(3)
    matrix = 10.0 ** rng.uniform(-9, 0, size=(6, 6))
    rule = cb.SCBI(matrix)
    assert rule.is_nearly_blocks
    beliefs = rng.dirichlet(np.ones(6), size=50)
    crowd = Crowd(rule, np.log(beliefs), 50)
    for one in (0, 20, 49):
        np.testing.assert_allclose(crowd.likelihoods[one], rule.likelihood(beliefs[one]), rtol=1e-9)


def test_slow_but_trusted_matrices_are_rescued_too():
    # Nearly equal columns are easy; nearly diagonal ones need more sweeps than are allowed.
    matrix = np.full((5, 5), 1e-4) + np.eye(5)
    rule = cb.SCBI(matrix)
    assert not rule.is_nearly_blocks
    belief = np.array([0.21, 0.2, 0.2, 0.2, 0.19])
    crowd = Crowd(rule, np.log(belief), 2)
    np.testing.assert_allclose(crowd.likelihoods[1], rule.likelihood(belief), rtol=1e-8)
    np.testing.assert_allclose(crowd.likelihoods[1].sum(axis=0), 1.0, rtol=1e-11)


def test_a_belief_of_zero_stays_zero():
    crowd = Crowd(cb.SCBI(matrix_of(3, 3)), np.log([0.5, 0.5, 1e-300]), 2)
    crowd.observe(np.array([0, 1]))
    assert np.isfinite(crowd.log_beliefs).all()
    with np.errstate(divide="ignore"):
        crowd = Crowd(cb.SCBI(matrix_of(3, 3)), np.log([0.5, 0.5, 0.0]), 2)
    crowd.observe(np.array([0, 1]))
    assert (crowd.log_beliefs[:, 2] == -np.inf).all()


def test_entries_too_far_apart_are_refused():
    with pytest.raises(cb.CobayesError, match="span a factor"):
        Crowd(cb.SCBI([[1.0, 1e-200], [1.0, 1.0]]), np.log([0.5, 0.5]), 1)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9, 1e-14])
@pytest.mark.parametrize("m", [3, 4, 20])
def test_scalings_are_as_exact_as_asked(m, tolerance):
    rng = np.random.default_rng(m)
    rule = cb.SCBI(rng.dirichlet(np.ones(m), size=m).T, tolerance=tolerance)
    beliefs = np.concatenate([rng.dirichlet(np.full(m, a), size=100) for a in (50, 1)])
    likelihoods = Crowd(rule, np.log(beliefs), 200).likelihoods
    rows = (likelihoods * m * beliefs[:, None]).sum(axis=2)
    # Rounding comes on top.
    assert np.abs(likelihoods.sum(axis=1) - 1.0).max() <= 2 * tolerance + 1e-14
    assert np.abs(rows - 1.0).max() <= 2 * tolerance + 1e-14


def two_blocks(block, coupling):
    matrix = np.full((6, 6), coupling)
    matrix[:3, :3] = matrix[3:, 3:] = np.array(block) / 10
    return matrix


# Blocks that share few data, with nearly the same belief in both: hardly any of the error that is
# left lies where sweeps are slow, and yet it is the larger one.
HIDDEN = [
    ([[9, 9, 9], [6, 9, 8], [5, 7, 9]], [1, 2, 3], 1e-4, 1e-11),
    ([[4, 6, 4], [5, 9, 6], [5, 9, 7]], [8, 5, 6], 1e-2, 1e-10),
    ([[4, 6, 4], [5, 9, 6], [5, 9, 7]], [8, 5, 6], 1e-3, 1e-2),
]


@pytest.mark.parametrize("tolerance", [1e-12, 1e-9, 1e-6, 1e-3])
@pytest.mark.parametrize(("block", "shares", "coupling", "tilt"), HIDDEN)
def test_a_mode_that_sweeps_hardly_see_is_found(block, shares, coupling, tilt, tolerance):
    matrix = two_blocks(block, coupling)
    half = np.array(shares) / (2 * sum(shares))
    belief = np.concatenate([half * (1 + tilt), half])
    belief /= belief.sum()
    expected = cb.SCBI(matrix, tolerance=1e-14).likelihood(belief)
    rule = cb.SCBI(matrix, tolerance=tolerance)
    compiled = Crowd(rule, np.log(belief), 1).likelihoods[0]
    np.testing.assert_allclose(compiled, expected, rtol=10 * tolerance)
    np.testing.assert_allclose(rule.likelihood(belief), expected, rtol=10 * tolerance)


def test_random_blocks_are_solved_as_exactly_as_asked():
    rng = np.random.default_rng(5)
    for _ in range(60):
        matrix = np.full((6, 6), 10 ** rng.uniform(-4, -1))
        matrix[:3, :3] = matrix[3:, 3:] = rng.uniform(0.3, 2.0, size=(3, 3))
        half = rng.dirichlet(np.ones(3)) / 2
        belief = np.concatenate([half * (1 + 10 ** rng.uniform(-13, -1)), half])
        belief /= belief.sum()
        expected = cb.SCBI(matrix, tolerance=1e-14).likelihood(belief)
        for tolerance in (1e-12, 1e-6):
            rule = cb.SCBI(matrix, tolerance=tolerance)
            found = Crowd(rule, np.log(belief), 1).likelihoods[0]
            assert np.abs(found / expected - 1.0).max() <= 20 * tolerance


def test_a_hypothesis_next_to_nobody_believes_in_is_scaled_too():
    rule = cb.SCBI([[1e-4, 0.5, 2e3], [6e4, 5e-4, 8e-4], [40, 0.6, 4e-3]])
    prior = np.array([1e-45, 0.7, 0.3])
    found = Crowd(rule, np.log(prior), 1).likelihoods[0]
    np.testing.assert_allclose(found, rule.likelihood(prior), rtol=1e-11)


def test_a_subclass_with_answers_of_its_own_is_not_taken_for_its_parent():
    class Doubtful(cb.BI):
        def respond(self, log_belief, memory=None):
            return super().respond(np.log(np.full(len(log_belief), 1 / len(log_belief))), memory)

    class Renamed(cb.SCBI):
        pass

    with pytest.raises(cb.CobayesError, match="no compiled form of Doubtful"):
        Crowd(Doubtful(matrix_of(3, 3)), np.log(np.full(3, 1 / 3)), 2)
    Crowd(Renamed(matrix_of(3, 3)), np.log(np.full(3, 1 / 3)), 2)


def test_only_real_lessons_are_counted_as_not_converged(monkeypatch):
    crowd = Crowd(cb.SCBI(matrix_of(6, 6)), np.log(np.full(6, 1 / 6)), 3)

    def never(*arguments):
        arguments[-1][:] = 1
        return 64

    monkeypatch.setattr("cobayes.lessons.crowd.crowds.solve_crowd", never)
    monkeypatch.setattr("cobayes.lessons.crowd.lanes.rescue_crowd", never)
    with pytest.raises(cb.ConvergenceError, match=r"^3 scalings"):
        crowd.answer()


def test_slow_modes_are_found_again_after_certainty():
    block, shares, coupling, tilt = HIDDEN[1]
    rule = cb.SCBI(two_blocks(block, coupling))
    half = np.array(shares) / (2 * sum(shares))
    belief = np.concatenate([half * (1 + tilt), half])
    with np.errstate(divide="ignore"):
        crowd = Crowd(rule, np.log(np.eye(6)[0]), 1)
    crowd.answer()
    for _ in range(3):
        crowd.set_log_beliefs(np.log(belief / belief.sum()))
        found = crowd.likelihoods[0]
    expected = cb.SCBI(rule.model, tolerance=1e-14).likelihood(belief / belief.sum())
    np.testing.assert_allclose(found, expected, rtol=1e-11)
    assert crowd._rates.ravel()[0] > 0.9
