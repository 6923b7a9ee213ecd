import json
import math

import numpy as np
import pytest

import cobayes as cb
from tests.rules.crowd import Crowd


def recursion(matrix, belief, depth, rationality=1.0, prior=None, literal="likelihood"):
    """Return the teacher's likelihood and the learner's posteriors by the definition."""
    prior = np.ones(len(matrix)) if prior is None else prior
    teacher = matrix / matrix.sum(axis=0)
    learner = (matrix if literal == "truth" else teacher) * belief
    learner = learner / learner.sum(axis=1, keepdims=True)
    for _ in range(depth):
        teacher = prior[:, None] * learner**rationality
        teacher = teacher / teacher.sum(axis=0)
        learner = teacher * belief
        learner = learner / learner.sum(axis=1, keepdims=True)
    return teacher, learner


def random_problem(seed, n=5, m=4):
    rng = np.random.default_rng(seed)
    return rng.gamma(1.0, size=(n, m)) + 0.05, rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n))


@pytest.mark.parametrize("literal", ["likelihood", "truth"])
@pytest.mark.parametrize("rationality", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("depth", [0, 1, 2, 4])
def test_every_depth_agrees_with_its_definition(depth, rationality, literal):
    matrix, belief, prior = random_problem(depth)
    rule = cb.Pragmatic(matrix, depth, rationality=rationality, data_prior=prior, literal=literal)
    teacher, learner = recursion(matrix, belief, depth, rationality, prior, literal)
    np.testing.assert_allclose(rule.likelihood(belief), teacher, rtol=1e-12)
    np.testing.assert_allclose(rule.teach(belief, 2), teacher[:, 2], rtol=1e-12)
    np.testing.assert_allclose(rule.posteriors(belief), learner, rtol=1e-12)
    np.testing.assert_allclose(rule.update(belief, 3), learner[3], rtol=1e-12)


@pytest.mark.parametrize("literal", ["likelihood", "truth"])
@pytest.mark.parametrize("rationality", [0.3, 1.0, 2.5])
@pytest.mark.parametrize("depth", [0, 1, 3])
@pytest.mark.parametrize("zeros", [False, True])
def test_batches_of_beliefs_equal_single_beliefs(depth, rationality, literal, zeros):
    matrix, _, prior = random_problem(depth)
    if zeros:
        matrix[1, 2] = matrix[3, 0] = matrix[4, 1] = matrix[4, 2] = 0.0
        prior[2] = 0.0
    rule = cb.Pragmatic(
        matrix, depth, rationality=rationality, data_prior=prior / prior.sum(), literal=literal
    )
    beliefs = np.random.default_rng(1).dirichlet(np.full(4, 0.4), size=70)
    for view in (rule.likelihood, rule.posteriors):
        each = np.array([view(one) for one in beliefs])
        np.testing.assert_allclose(view(beliefs), each, rtol=1e-11, atol=1e-300)


def test_depth_zero_is_plain_bayes():
    matrix, belief, _ = random_problem(3)
    for rule in (cb.Pragmatic(matrix, 0), cb.Pragmatic(matrix, 0, rationality=7.0)):
        np.testing.assert_allclose(rule.likelihood(belief), cb.BI(matrix).likelihood(belief))
        np.testing.assert_allclose(rule.posteriors(belief), cb.BI(matrix).posteriors(belief))


@pytest.mark.parametrize("prior", [None, [0.1, 0.3, 0.0, 0.2, 0.4]])
def test_infinite_depth_is_scbi_and_large_depths_tend_to_it(prior):
    matrix, belief, _ = random_problem(4)
    limit = cb.Pragmatic(matrix, math.inf, data_prior=prior)
    scbi = cb.SCBI(matrix, data_prior=prior)
    assert np.array_equal(limit.likelihood(belief), scbi.likelihood(belief))
    assert cb.rate_of_convergence(limit, 1) == cb.rate_of_convergence(scbi, 1)
    for compute in (
        lambda rule: cb.theory.inverse_update(rule, belief, 0),
        lambda rule: cb.coupling(rule, num_lessons=20, rng=1).matrix,
        lambda rule: cb.success_enclosure(rule, 0, num_rounds=2).upper,
    ):
        assert np.array_equal(compute(limit), compute(scbi))
    deep = cb.Pragmatic(matrix, 400, data_prior=prior)
    np.testing.assert_allclose(deep.likelihood(belief), scbi.likelihood(belief), rtol=1e-9)


def test_at_certainty_infinite_depth_is_scbi_too():
    # T(d|0) = p_d, and T(d|1) is p_d M_d1 / M_d0, normalised: 8/70 to 96/60.
    rule = cb.Pragmatic([[0.7, 0.2], [0.3, 0.8]], math.inf, data_prior=[0.4, 0.6])
    expected = [[0.4, 1.0 / 15.0], [0.6, 14.0 / 15.0]]
    np.testing.assert_allclose(rule.at_certainty(0).likelihood, expected, rtol=1e-12)


@pytest.mark.parametrize("depth", [0, math.inf])
def test_a_derived_rule_with_its_own_likelihood_is_neither_bayes_nor_scbi(depth):
    def respond(self, log_belief):
        likelihood, share = self.model.normalized(), 0.3 * np.exp(log_belief[0])
        return cb.rules.Response((1.0 - share) * likelihood + share / len(likelihood))

    matrix, _, _ = random_problem(3)
    derived = type("Derived", (cb.Pragmatic,), {"respond": respond})(matrix, depth)
    custom = type("Custom", (cb.Rule,), {"respond": respond})(matrix)
    found, expected = (cb.exact_rounds(rule, 0, 2).means for rule in (derived, custom))
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    found, expected = map(cb.rate_of_convergence, (derived, custom))
    np.testing.assert_allclose(found, expected, rtol=1e-9)


def test_infinite_depth_needs_rationality_one():
    with pytest.raises(cb.CobayesError, match="needs rationality 1"):
        cb.Pragmatic([[0.8, 0.3], [0.2, 0.7]], math.inf, rationality=2.0)


@pytest.mark.parametrize("depth", [-1, 1.5, "deep", math.nan, None, True])
def test_a_depth_is_an_integer_or_infinity(depth):
    with pytest.raises(cb.CobayesError, match="expected an integer >= 0, or infinity"):
        cb.Pragmatic([[0.8, 0.3], [0.2, 0.7]], depth)


def test_powers_beyond_float64_are_computed_in_logarithms():
    # 3 ** 12 = 531441: entries to that power are far below 1e-308.
    matrix, belief, _ = random_problem(5)
    rule = cb.Pragmatic(matrix, 12, rationality=3.0)
    likelihood = rule.likelihood(belief)
    np.testing.assert_allclose(likelihood.sum(axis=0), 1.0, rtol=1e-12)
    posteriors = rule.posteriors(belief)
    np.testing.assert_allclose(posteriors.sum(axis=1), 1.0, rtol=1e-12)
    np.testing.assert_allclose(rule.posteriors(np.array([belief]))[0], posteriors, rtol=1e-9)


def test_reference_game_of_frank_and_goodman():
    # Blue square, blue circle, green square; words blue, green, square, circle. L1 at depth 1 with
    # rationality 1: Frank and Goodman (2012), by hand.
    table = [[1, 1, 0], [0, 0, 1], [1, 0, 1], [0, 1, 0]]
    learner = cb.Pragmatic(table, 1, literal="truth").posteriors([1 / 3, 1 / 3, 1 / 3])
    np.testing.assert_allclose(learner[0], [0.6, 0.4, 0.0], atol=1e-15)
    np.testing.assert_allclose(learner[2], [0.6, 0.0, 0.4], atol=1e-15)


def test_a_teacher_of_depth_2_teaches_a_learner_of_depth_1():
    matrix, _, _ = random_problem(6)
    ensemble = cb.simulate(
        cb.Pragmatic(matrix, 2),
        1,
        num_rounds=30,
        num_lessons=2000,
        learner_rule=cb.Pragmatic(matrix, 1),
        rng=1,
    )
    assert ensemble.num_contradicted == 0
    assert ensemble.mean()[-1] > 0.9


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_compiled_lessons_match_stepwise_lessons(depth):
    matrix, prior, _ = random_problem(8)
    matrix[0, 1] = matrix[2, 3] = 0.0
    rule = cb.Pragmatic(matrix, depth, rationality=1.7)
    crowd = Crowd(rule, np.log(prior), 70)
    learners = [cb.Learner(rule, prior) for _ in range(70)]
    rng = np.random.default_rng(2)
    for _ in range(12):
        data = crowd.draw(np.full(70, 2), rng.random(70))
        assert (matrix[data, 2] > 0.0).all()
        crowd.observe(data)
        for learner, datum in zip(learners, data, strict=True):
            learner.observe(int(datum))
    expected = np.array([learner.log_belief for learner in learners])
    np.testing.assert_allclose(crowd.log_beliefs, expected, rtol=1e-9, atol=1e-12)


def test_rates_are_slopes_of_simulated_lessons():
    matrix, _, prior = random_problem(9, 6, 3)
    rule = cb.Pragmatic(matrix, 2, data_prior=prior)
    ensemble = cb.simulate(rule, 0, num_rounds=400, num_lessons=400, rng=3)
    odds = ensemble.log_odds()
    slopes = (odds[:, 400] - odds[:, 200]) / 200
    stderr = slopes.std(ddof=1) / np.sqrt(len(slopes))
    assert abs(slopes.mean() - cb.rate_of_convergence(rule, 0)) < 4 * stderr + 1e-3


def test_a_rule_is_made_again_from_its_settings():
    matrix, belief, prior = random_problem(1)
    for rule in (
        cb.Pragmatic(matrix, 2, rationality=3.0, data_prior=prior, literal="truth"),
        cb.Pragmatic(matrix, math.inf),
        cb.SCBI(matrix, data_prior=prior),
    ):
        again = cb.Rule.from_dict(
            {**json.loads(json.dumps(rule.to_dict())), "rule": rule.name.lower()}
        )
        assert type(again) is type(rule)
        assert np.array_equal(again.posteriors(belief), rule.posteriors(belief))
    with pytest.raises(cb.CobayesError, match="rule SCBI; expected BI"):
        cb.BI.from_dict(rule.to_dict())
    with pytest.raises(cb.CobayesError, match="unexpected keyword argument 'deep'"):
        cb.Rule.from_dict({**rule.to_dict(), "deep": 2})
    with pytest.raises(cb.CobayesError, match="no entry 'rule'"):
        cb.Rule.from_dict(cb.Model(matrix).to_dict())
    with pytest.raises(cb.CobayesError, match=r"(?s)task WithoutRepeats; .*Learner\(rule\)\.save"):
        cb.SCBI(cb.without_repeats(matrix)).to_dict()


def test_titles_tell_rules_of_one_kind_apart():
    matrix, *_ = random_problem(1)
    deep = cb.Pragmatic(matrix, 2, rationality=3.0, literal="truth")
    assert deep.title == "Pragmatic, depth 2, rationality 3, literal truth"
    lesson = cb.run_lesson(cb.Teacher(deep, 0, rng=1), cb.Learner(deep), 1)
    assert lesson.rule_name == deep.title
    assert cb.Pragmatic(matrix, 1).title == "Pragmatic, depth 1"
    assert cb.SCBI(matrix).title == "SCBI"


@pytest.mark.parametrize(("depth", "rationality"), [(1, 0.3), (4, 1.0), (1, 3.0), (2, 2.0)])
def test_batches_are_exact_if_zeros_exclude_all_but_tiny_beliefs(depth, rationality):
    rng = np.random.default_rng(6)
    for spread in (100.0, 300.0, 800.0):
        pattern = rng.random((6, 4)) < 0.5
        pattern[np.arange(6), rng.integers(4, size=6)] = True
        pattern[rng.integers(6, size=4), np.arange(4)] = True
        rule = cb.Pragmatic(
            np.where(pattern, rng.random((6, 4)) + 0.01, 0.0), depth, rationality=rationality
        )
        logs = -np.log(10.0) * spread * rng.random((80, 4))
        logs[:, rng.integers(4)] = 0.0
        logs -= np.logaddexp.reduce(logs, axis=1)[:, None]
        found = Crowd(rule, logs).likelihoods
        expected = np.array([rule.respond(one).likelihood for one in logs])
        # Beliefs below 1e-154 are stored as logarithms, with a relative rounding error of 1e-13.
        np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("matrix", "depth", "rationality", "literal"),
    [
        ([[2e9, 1e9], [1e9, 2e9]], 1, 50.0, "truth"),
        ([[3.0, 3.0]], 4, 20.0, "truth"),
        ([[1.0]] * 5, 2, 50.0, "likelihood"),
        ([[0.5, 0.2], [0.3, 0.4], [0.2, 0.4]], 3, 1e99, "likelihood"),
    ],
)
def test_high_rationality_gives_the_same_distributions_in_batches(
    matrix, depth, rationality, literal
):
    rule = cb.Pragmatic(matrix, depth, rationality=rationality, literal=literal)
    belief = rule.model.distribution()
    one, many = rule.likelihood(belief), rule.likelihood([belief] * 3)
    np.testing.assert_array_equal(many, [one] * 3)
    np.testing.assert_allclose(one.sum(axis=0), 1.0, rtol=1e-12)
    means = cb.simulate(rule, 0, num_rounds=3, num_lessons=9, rng=1).means
    np.testing.assert_allclose(means.sum(axis=1), 1.0, rtol=1e-12)
    assert np.isfinite(cb.exact_rounds(rule, 0, 2).mean).all()


def test_a_rationality_that_would_overflow_is_refused():
    with pytest.raises(cb.CobayesError, match="rationality"):
        cb.Pragmatic([[1.0, 2.0]], 2, rationality=1.7e308)
