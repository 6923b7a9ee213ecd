import numpy as np
import pytest

import cobayes as cb
from cobayes import _core
from cobayes.rules.response import draw
from tests.rules.crowd import Crowd

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
def test_a_belief_does_not_depend_on_the_others_of_a_batch(kind, m):
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
def test_beliefs_do_not_change_if_others_leave_the_batch(m):
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
    # A thousand data against the second hypothesis, then two thousand for it.
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
    # From nearly uniform beliefs to nearly certain ones.
    beliefs = np.concatenate([rng.dirichlet(np.full(m, a), size=100) for a in (50, 1, 0.1)])
    beliefs = np.maximum(beliefs, 1e-60)
    crowd = Crowd(rule, np.log(beliefs), 300)
    likelihoods = crowd.likelihoods
    # The tolerance, 1e-12, plus rounding.
    np.testing.assert_allclose(likelihoods.sum(axis=1), 1.0, rtol=2e-12)
    np.testing.assert_allclose((likelihoods * n * beliefs[:, None]).sum(axis=2), 1.0, rtol=2e-12)


def test_batches_of_a_matrix_with_entries_far_apart_equal_single_beliefs():
    rng = np.random.default_rng(3)
    matrix = 10.0 ** rng.uniform(-9, 0, size=(6, 6))
    rule = cb.SCBI(matrix)
    beliefs = rng.dirichlet(np.ones(6), size=50)
    crowd = Crowd(rule, np.log(beliefs), 50)
    for one in (0, 20, 49):
        np.testing.assert_allclose(crowd.likelihoods[one], rule.likelihood(beliefs[one]), rtol=1e-9)


def test_nearly_diagonal_matrices_are_scaled():
    matrix = np.full((5, 5), 1e-4) + np.eye(5)
    rule = cb.SCBI(matrix)
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


@pytest.mark.parametrize("kind", RULES)
def test_entries_far_apart_give_the_same_posteriors_in_batches(kind):
    rule = kind([[1.0, 1e-200], [1.0, 1.0]])
    crowd = Crowd(rule, np.log([0.5, 0.5]), 2)
    crowd.observe(np.array([0, 1]))
    expected = [rule.update([0.5, 0.5], 0), rule.update([0.5, 0.5], 1)]
    np.testing.assert_allclose(crowd.log_beliefs[0], np.log(expected[0]), rtol=1e-12)
    np.testing.assert_allclose(crowd.beliefs[1], expected[1], rtol=1e-12)


@pytest.mark.parametrize("tolerance", [1e-3, 1e-6, 1e-9, 1e-14])
@pytest.mark.parametrize("m", [3, 4, 20])
def test_sums_of_scalings_are_within_the_tolerance(m, tolerance):
    rng = np.random.default_rng(m)
    rule = cb.SCBI(rng.dirichlet(np.ones(m), size=m).T, tolerance=tolerance)
    beliefs = np.concatenate([rng.dirichlet(np.full(m, a), size=100) for a in (50, 1)])
    likelihoods = Crowd(rule, np.log(beliefs), 200).likelihoods
    rows = (likelihoods * m * beliefs[:, None]).sum(axis=2)
    # The tolerance plus rounding.
    assert np.abs(likelihoods.sum(axis=1) - 1.0).max() <= 2 * tolerance + 1e-14
    assert np.abs(rows - 1.0).max() <= 2 * tolerance + 1e-14


def two_blocks(block, coupling):
    matrix = np.full((6, 6), coupling)
    matrix[:3, :3] = matrix[3:, 3:] = np.array(block) / 10
    return matrix


# Two weakly coupled blocks with nearly equal beliefs. The slow mode, one block against the other,
# has little share in the change of a sweep, but most of the remaining error.
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


def test_errors_of_random_blocks_are_within_the_tolerance():
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


def test_a_column_with_the_belief_1e_45_is_scaled():
    rule = cb.SCBI([[1e-4, 0.5, 2e3], [6e4, 5e-4, 8e-4], [40, 0.6, 4e-3]])
    prior = np.array([1e-45, 0.7, 0.3])
    found = Crowd(rule, np.log(prior), 1).likelihoods[0]
    np.testing.assert_allclose(found, rule.likelihood(prior), rtol=1e-11)


class Doubtful(cb.BI):
    """Mixes its likelihood with the uniform one."""

    name = "doubtful"

    def respond(self, log_belief):
        likelihood = super().respond(log_belief).likelihood
        return cb.rules.Response(0.5 * likelihood + 0.5 / len(likelihood))


class Mixin:
    def respond(self, log_belief):
        del log_belief
        return cb.rules.Response(np.full(self.model.shape, 1.0 / self.model.num_data))


class Mixed(Mixin, cb.SCBI):
    name = "mixed"


class Renamed(cb.SCBI):
    name = "renamed"


def test_a_subclass_uses_its_own_likelihood():
    beliefs = np.full((2, 3), 1 / 3)
    for kind in (Doubtful, Mixed):
        rule = kind(matrix_of(3, 3))
        assert rule.core is None
        expected = rule.respond(np.log(beliefs[0])).likelihood
        for found in (rule.likelihood(beliefs)[1], rule.likelihood(beliefs[0])):
            np.testing.assert_allclose(found, expected, rtol=1e-14)
        posterior = expected[2] / expected[2].sum()
        np.testing.assert_allclose(rule.update(beliefs[0], 2), posterior, rtol=1e-12)
        np.testing.assert_allclose(rule.posteriors(beliefs)[1, 2], posterior, rtol=1e-12)
    assert Renamed(matrix_of(3, 3)).core is not None


def test_a_custom_rule_draws_and_learns_as_the_native_rule():
    class Plain(cb.Rule):
        name = "plain"

        def respond(self, log_belief):
            del log_belief
            return cb.rules.Response(self.model.normalized())

    rng = np.random.default_rng(3)
    matrix = matrix_of(5, 4)
    uniforms, taught = rng.random((20, 90)), rng.integers(4, size=90)
    crowds = [Crowd(kind(matrix), np.log([0.1, 0.2, 0.3, 0.4]), 90) for kind in (Plain, cb.BI)]
    for row in uniforms:
        own, compiled = (crowd.draw(taught, row) for crowd in crowds)
        assert np.array_equal(own, compiled)
        for crowd in crowds:
            crowd.observe(own)
    np.testing.assert_allclose(crowds[0].log_beliefs, crowds[1].log_beliefs, rtol=1e-11, atol=1e-14)


def test_a_draw_never_leaves_the_support_when_sums_round_down():
    class Short(cb.Rule):
        name = "short"

        def respond(self, log_belief):
            del log_belief
            return cb.rules.Response(np.array([[0.5, 0.5], [0.5 - 1e-7, 0.5], [0.0, 0.0]]))

    crowd = Crowd(Short(matrix_of(3, 2)), np.log([0.5, 0.5]), 2)
    with np.errstate(divide="ignore"):
        assert crowd.draw(np.array([0, 1]), np.array([1.0 - 1e-8, 1.0])).tolist() == [1, 1]


@pytest.mark.parametrize("kind", [*RULES, Doubtful])
@pytest.mark.parametrize("m", [3, 6])
def test_methods_of_a_rule_give_the_same_for_many_beliefs_and_for_each(kind, m):
    rule = kind(matrix_of(4, m))
    beliefs = np.random.default_rng(2).dirichlet(np.ones(m), size=7)
    beliefs[3] = np.eye(m)[1]
    close = {"rtol": 1e-10, "atol": 1e-14}
    for view in (rule.likelihood, rule.posteriors):
        np.testing.assert_allclose(view(beliefs), [view(one) for one in beliefs], **close)
    np.testing.assert_allclose(
        rule.teach(beliefs, 1), [rule.teach(one, 1) for one in beliefs], **close
    )
    np.testing.assert_allclose(
        rule.update(beliefs, 2), [rule.update(one, 2) for one in beliefs], **close
    )
    with pytest.raises(cb.CobayesError, match=r"is zero"):
        rule.teach(beliefs, 0)
    with pytest.raises(cb.CobayesError, match="sums to"):
        rule.likelihood(2 * beliefs)


def scaled_with_rows(matrix, belief, shares):
    """Return the likelihood at a belief under a data prior, by many plain sweeps."""
    n = len(matrix)
    likelihood = matrix / matrix.sum(axis=0)
    for _ in range(1000):
        rows = (likelihood * (n * belief)).sum(axis=1)
        likelihood = (
            likelihood * np.where(rows > 0, n * shares / np.maximum(rows, 1e-300), 0)[:, None]
        )
        likelihood = likelihood / likelihood.sum(axis=0)
    return likelihood


@pytest.mark.parametrize(("n", "m"), [(3, 2), (3, 3), (6, 4), (5, 6), (20, 20)])
def test_each_belief_of_a_batch_may_have_its_own_unavailable_data(n, m):
    rng = np.random.default_rng(n)
    rule = cb.SCBI(matrix_of(n, m))
    beliefs = rng.dirichlet(np.ones(m), size=70)
    is_gone = rng.random((70, n)) < 0.3
    is_gone[:, 0] = False
    sets = (is_gone * 2 ** np.arange(n, dtype=np.uint64)).sum(axis=1, dtype=np.uint64)
    found = rule.core.respond(np.log(beliefs), sets[:, None])[0]
    for one in (0, 5, 69):
        prior = np.where(is_gone[one], 0.0, 1.0)
        expected = scaled_with_rows(rule.model.matrix, beliefs[one], prior / prior.sum())
        np.testing.assert_allclose(found[one], expected, rtol=1e-9, atol=1e-15)
        alone = cb.SCBI(rule.model, data_prior=prior / prior.sum()).likelihood(beliefs[one])
        np.testing.assert_allclose(found[one], alone, rtol=1e-11, atol=1e-300)


@pytest.mark.parametrize(("n", "m"), [(3, 2), (6, 4), (5, 6), (20, 20)])
def test_a_data_prior_gives_the_row_sums(n, m):
    rng = np.random.default_rng(n)
    beliefs, prior = rng.dirichlet(np.ones(m), size=9), rng.dirichlet(np.ones(n))
    found = cb.SCBI(matrix_of(n, m), data_prior=prior).likelihood(beliefs)
    for one in (0, 5, 8):
        expected = scaled_with_rows(matrix_of(n, m), beliefs[one], prior)
        np.testing.assert_allclose(found[one], expected, rtol=1e-9, atol=1e-15)
    even = cb.SCBI(matrix_of(n, m), data_prior=np.full(n, 1.0 / n)).likelihood(beliefs)
    np.testing.assert_allclose(even, cb.SCBI(matrix_of(n, m)).likelihood(beliefs), rtol=1e-12)


def test_scalings_that_fail_are_an_error_with_a_hint():
    # Entries over 300 powers of ten.
    matrix = 10.0 ** np.random.default_rng(0).uniform(-300, 0, size=(8, 8))
    with pytest.raises(cb.ConvergenceError, match="did not converge to 1e-12") as caught:
        cb.simulate(cb.SCBI(matrix), 0, num_rounds=3, num_lessons=9, rng=1)
    assert "make the smallest entries of the matrix and of the data prior" in caught.value.hint


def test_a_likelihood_depends_only_on_its_belief():
    block, shares, coupling, tilt = HIDDEN[1]
    rule = cb.SCBI(two_blocks(block, coupling))
    half = np.array(shares) / (2 * sum(shares))
    belief = np.concatenate([half * (1 + tilt), half])
    belief /= belief.sum()
    alone = rule.likelihood(belief)
    others = np.random.default_rng(0).dirichlet(np.ones(6), size=40)
    for place in (0, 7, 39):
        crowd = others.copy()
        crowd[place] = belief
        assert np.array_equal(rule.likelihood(crowd)[place], alone)
    expected = cb.SCBI(rule.model, tolerance=1e-14).likelihood(belief)
    np.testing.assert_allclose(alone, expected, rtol=1e-11)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (np.full((3, 2), 1 / 3), "an object of type ndarray; expected a Response"),
        (cb.rules.Response([[0.5, 0.5]] * 3), "a likelihood of type list; expected an array"),
        (
            cb.rules.Response(np.full((3, 2), 1 / 3), np.zeros(2)),
            r"logs of shape \(2,\); expected \(3, 2\)",
        ),
        (
            cb.rules.Response(np.full((2, 2), 0.5)),
            r"a likelihood of shape \(2, 2\); expected \(3, 2\)",
        ),
        (
            cb.rules.Response(np.array([[0.5, 0.5], [0.5, 0.6], [0.0, 0.0]])),
            "a likelihood whose column of hypothesis '1' sums to 1.1, not to 1",
        ),
        (
            cb.rules.Response(np.array([[1.5, 0.5], [-0.5, 0.5], [0.0, 0.0]])),
            "a likelihood whose column of hypothesis '0' has a negative entry or NaN",
        ),
        (
            cb.rules.Response(np.full((3, 2), np.nan)),
            "a likelihood whose column of hypothesis '0' has a negative entry or NaN",
        ),
    ],
)
def test_the_error_about_a_custom_rule_describes_its_invalid_response(answer, found):
    class Wrong(cb.Rule):
        def respond(self, log_belief):
            del log_belief
            return answer

    rule = Wrong(matrix_of(3, 2))
    message = rf"Wrong.respond returns {found}\."
    with pytest.raises(cb.CobayesError, match=message):
        rule.teach([0.5, 0.5], 0)
    with pytest.raises(cb.CobayesError, match=message):
        cb.Learner(rule).observe(0)


def test_the_repr_of_a_rule_shows_its_task_settings_and_data_prior():
    task = cb.without_repeats(cb.Model([[0.6, 0.2], [0.4, 0.8]], ["a", "b"], ["x", "y"]))
    assert repr(cb.Pragmatic(task, 2, data_prior=[0.25, 0.75])) == (
        "Pragmatic(without_repeats(Model(2 data x 2 hypotheses; data: 'a', 'b'; hypotheses: 'x', "
        "'y')); depth 2; data prior 0.25, 0.75)"
    )
    assert "data prior" not in repr(cb.SCBI(task))
    many = cb.SCBI(matrix_of(6, 2), data_prior=[0.1, 0.1, 0.1, 0.1, 0.3, 0.3])
    assert repr(many).endswith("; data prior 0.1, 0.1, 0.1, 0.1, … (6 in all))")


def test_beliefs_and_logarithms_have_the_bits_of_the_core_on_every_processor():
    # NumPy's exp and log differ from the core's in the last bit for a tenth and a third of numbers.
    table = np.random.default_rng(0).dirichlet(np.ones(40), 40).T
    response = cb.BI(table).respond(np.zeros(40))
    plain = type(response)(response.likelihood)
    assert np.array_equal(plain.log_likelihood, _core.log(response.likelihood))
    lesson = cb.run_lesson(cb.Teacher(cb.BI(table), 0, rng=0), cb.Learner(cb.BI(table)), 3)
    assert np.array_equal(lesson.beliefs, _core.exp(lesson.log_beliefs))
    assert np.array_equal(lesson.learner.belief, lesson.beliefs[-1])
