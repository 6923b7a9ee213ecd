"""Properties of BI, of SCBI and of all rules."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import root

import cobayes as cb
from cobayes.rules import base

seeds = st.integers(0, 2**32 - 1)
RULES = [cb.BI, cb.SCBI]


MATRIX = [[0.5, 0.2], [0.3, 0.2], [0.2, 0.6]]


def random_case(seed, n=None, m=None):
    rng = np.random.default_rng(seed)
    n = n or int(rng.integers(2, 7))
    m = m or int(rng.integers(2, 7))
    return rng.exponential(size=(n, m)) + 0.01, rng.dirichlet(np.ones(m)), rng


@pytest.mark.parametrize("kind", RULES)
@given(seed=seeds)
@settings(max_examples=30)
def test_posteriors_and_teaching_follow_from_a_column_stochastic_likelihood(kind, seed):
    matrix, belief, _ = random_case(seed)
    rule = kind(matrix)
    likelihood = rule.likelihood(belief)
    np.testing.assert_allclose(likelihood.sum(axis=0), 1.0, rtol=1e-11)
    joint = likelihood * belief
    posteriors = rule.posteriors(belief)
    np.testing.assert_allclose(posteriors, joint / joint.sum(axis=1, keepdims=True), rtol=1e-9)
    for datum in range(matrix.shape[0]):
        np.testing.assert_allclose(rule.update(belief, datum), posteriors[datum], rtol=1e-12)
    for hypothesis in range(matrix.shape[1]):
        np.testing.assert_allclose(rule.teach(belief, hypothesis), likelihood[:, hypothesis])


@pytest.mark.parametrize("kind", RULES)
@given(seed=seeds)
@settings(max_examples=20)
def test_permuting_data_and_hypotheses_permutes_the_posteriors(kind, seed):
    matrix, belief, rng = random_case(seed)
    p, q = rng.permutation(matrix.shape[0]), rng.permutation(matrix.shape[1])
    permuted = kind(matrix[p][:, q])
    np.testing.assert_allclose(
        permuted.posteriors(belief[q]), kind(matrix).posteriors(belief)[p][:, q], rtol=1e-9
    )


@given(seed=seeds)
@settings(max_examples=20)
def test_bi_is_bayes_formula(seed):
    matrix, belief, _ = random_case(seed)
    likelihood = matrix / matrix.sum(axis=0)
    for datum in range(matrix.shape[0]):
        expected = likelihood[datum] * belief / (likelihood[datum] * belief).sum()
        np.testing.assert_allclose(cb.BI(matrix).update(belief, datum), expected, rtol=1e-12)


@given(seed=seeds)
@settings(max_examples=20)
def test_scbi_posteriors_average_to_the_belief(seed):
    matrix, belief, _ = random_case(seed)
    np.testing.assert_allclose(cb.SCBI(matrix).posteriors(belief).mean(axis=0), belief, rtol=1e-10)


@given(seed=seeds)
@settings(max_examples=20)
def test_scaling_rows_and_columns_does_not_change_scbi(seed):
    matrix, belief, rng = random_case(seed)
    left, right = rng.uniform(0.1, 10.0, len(matrix)), rng.uniform(0.1, 10.0, len(belief))
    scaled = left[:, None] * matrix * right
    np.testing.assert_allclose(
        cb.SCBI(scaled).posteriors(belief), cb.SCBI(matrix).posteriors(belief), rtol=1e-9
    )


@pytest.mark.parametrize("seed", range(8))
def test_the_update_map_is_a_bijection(seed):
    matrix, belief, rng = random_case(seed, 4, 3)
    rule = cb.SCBI(matrix)
    datum = int(rng.integers(4))
    target = rule.update(belief, datum)

    def softmax(x):
        z = np.exp(np.append(x, 0.0) - max(x.max(), 0.0))
        return z / z.sum()

    def gap(x):
        image = rule.update(softmax(x), datum)
        return (np.log(image) - np.log(target))[:-1] - (np.log(image) - np.log(target))[-1]

    found = root(gap, np.zeros(2), tol=1e-13)
    np.testing.assert_allclose(softmax(found.x), belief, rtol=1e-7)
    # Another start leads to the same belief: only one belief has this posterior.
    again = root(gap, rng.normal(size=2), tol=1e-13)
    np.testing.assert_allclose(softmax(again.x), belief, rtol=1e-7)


def test_an_excluded_hypothesis_stays_excluded_and_does_not_affect_the_others():
    matrix = np.random.default_rng(2).exponential(size=(4, 3))
    full, part = cb.SCBI(matrix), cb.SCBI(matrix[:, [0, 2]])
    belief = full.update([0.3, 0.0, 0.7], 1)
    assert belief[1] == 0.0
    np.testing.assert_allclose(belief[[0, 2]], part.update([0.3, 0.7], 1), rtol=1e-10)


def test_beliefs_of_1e_300_are_updated_exactly():
    matrix = np.random.default_rng(2).exponential(size=(3, 3))
    rule = cb.SCBI(matrix)
    tiny = rule.update([1e-300, 0.4, 0.6], 0)[0]
    small = rule.update([1e-30, 0.4, 0.6], 0)[0]
    # A belief below 1e-16 changes the others by less than rounding: its update is linear.
    assert tiny / 1e-300 == pytest.approx(small / 1e-30, rel=1e-10)


def test_products_below_the_range_of_float64_are_exact_in_lessons():
    # The belief times its likelihood is about 1e-321, which float64 holds with eight bits.
    rule = cb.BI([[1.0, 1e-168], [1e-168, 1.0]])
    learner = cb.Learner(rule, [1.0, 1e-153])
    learner.observe(0)
    assert learner.log_belief[1] == pytest.approx((-153 - 168) * np.log(10.0), rel=1e-13)


def test_at_certainty_scbi_teaches_uniformly():
    # If the learner believes only h, all mass of every row is in column h: tau is uniform.
    matrix = np.random.default_rng(2).exponential(size=(5, 3))
    np.testing.assert_allclose(cb.SCBI(matrix).teach([1.0, 0.0, 0.0], 0), 0.2, rtol=1e-10)


@pytest.mark.parametrize("kind", RULES)
def test_labels_and_positions_mean_the_same(kind):
    rule = kind(cb.Model([[2.0, 1.0], [1.0, 3.0]], ["yes", "no"], ["cat", "dog"]))
    assert np.array_equal(rule.update([0.5, 0.5], "no"), rule.update([0.5, 0.5], 1))
    assert np.array_equal(rule.teach([0.5, 0.5], "dog"), rule.teach([0.5, 0.5], 1))
    assert np.array_equal(rule.update({"dog": 0.2, "cat": 0.8}, 0), rule.update([0.8, 0.2], 0))


@pytest.mark.parametrize("kind", RULES)
@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: r.update([0.5, 0.6], 0), "sums to 1.1"),
        (lambda r: r.update([0.5, 0.25, 0.25], 0), "one for each hypothesis"),
        (lambda r: r.update([-0.5, 1.5], 0), "not negative"),
        (lambda r: r.update([np.nan, 1.0], 0), "finite"),
        (lambda r: r.update([0.5, 0.5], 7), "no datum at position 7"),
        (lambda r: r.update([0.5, 0.5], "maybe"), "no datum called 'maybe'"),
        (lambda r: r.teach([0.5, 0.5], "cow"), "no hypothesis called 'cow'"),
        (lambda r: r.teach([0.0, 1.0], 0), "teaching is impossible"),
        (lambda r: r.update({"cat": 1.0}, 0), "has no number for 'dog'"),
        (lambda r: r.update("tidy", 0), r"is the text 'tidy'; expected 2 numbers[\s\S]*examples"),
    ],
)
def test_bad_input_gets_one_clear_error(kind, call, message):
    rule = kind(cb.Model([[2.0, 1.0], [1.0, 3.0]], ["yes", "no"], ["cat", "dog"]))
    with pytest.raises(cb.CobayesError, match=message):
        call(rule)


def test_scbi_refuses_a_tolerance_that_float64_cannot_reach():
    with pytest.raises(cb.CobayesError, match="tolerance is 1e-18; expected a number"):
        cb.SCBI([[2.0, 1.0], [1.0, 2.0]], tolerance=1e-18)
    with pytest.raises(cb.CobayesError, match="tolerance is 'x'"):
        cb.SCBI([[2.0, 1.0], [1.0, 2.0]], tolerance="x")


@pytest.mark.parametrize("kind", RULES)
def test_the_unit_of_the_entries_does_not_matter(kind):
    matrix = np.random.default_rng(1).uniform(0.5, 1.5, size=(3, 3))
    expected = kind(matrix).likelihood([0.2, 0.3, 0.5])
    for unit in (1e307, 1e-307):
        np.testing.assert_allclose(
            kind(matrix * unit).likelihood([0.2, 0.3, 0.5]), expected, rtol=1e-10
        )


def test_tolerances_above_1e_9_have_the_effect_of_1e_9():
    matrix = np.random.default_rng(0).exponential(size=(6, 6))
    loose, strict = cb.SCBI(matrix, tolerance=1e-3), cb.SCBI(matrix, tolerance=1e-9)
    belief = np.random.default_rng(1).dirichlet(np.ones(6))
    assert np.array_equal(loose.likelihood(belief), strict.likelihood(belief))
    exact = cb.SCBI(matrix).likelihood(belief)
    np.testing.assert_allclose(loose.likelihood(belief), exact, rtol=1e-8)


def test_bayes_formula_holds_for_likelihoods_beyond_float64():
    # P(d_0 | h_0) is 1e-400; if only h_0 is believed, its posterior is one all the same.
    rule = cb.BI([[1e-200, 1.0], [1e200, 1.0]])
    np.testing.assert_array_equal(rule.update([1.0, 0.0], 0), [1.0, 0.0])
    np.testing.assert_allclose(rule.posteriors([0.5, 0.5]), [[0.0, 1.0], [2 / 3, 1 / 3]])


def test_beliefs_as_arrays_and_as_lists_are_updated_alike():
    rng = np.random.default_rng(3)
    for n, m in [(2, 2), (5, 3), (20, 20)]:
        rule = cb.SCBI(rng.exponential(size=(n, m)))
        belief = rng.dirichlet(np.ones(m))
        for datum in range(n):
            np.testing.assert_allclose(
                rule.update(belief, datum), rule.update(belief.tolist(), datum), rtol=1e-11
            )
    with pytest.raises(cb.CobayesError, match="not negative"):
        rule.update(np.append(np.full(19, 0.1), -0.9), 0)


def test_a_rule_derived_from_scbi_updates_by_its_own_likelihood():
    class Literal(cb.SCBI):
        name = "literal"

        def respond(self, log_belief):
            return cb.BI(self.model).respond(log_belief)

    matrix = np.array([[0.8, 0.3], [0.2, 0.7]])
    belief = np.array([0.4, 0.6])
    np.testing.assert_allclose(
        Literal(matrix).update(belief, 0), cb.BI(matrix).update(belief, 0), rtol=1e-12
    )


def test_a_derived_rule_keeps_its_own_name_and_class():
    class Cautious(cb.SCBI):
        pass

    rule = Cautious(MATRIX)
    assert rule.name == "Cautious"
    assert type(cb.Rule.from_dict(rule.to_dict())) is Cautious


def test_rules_are_equal_where_class_table_and_settings_are():
    prior = np.full(len(MATRIX), 1.0 / len(MATRIX))
    assert cb.SCBI(MATRIX) == cb.SCBI(cb.Model(MATRIX))
    assert len({cb.BI(MATRIX), cb.BI(MATRIX)}) == 1
    assert cb.SCBI(MATRIX) != cb.BI(MATRIX)
    assert cb.SCBI(MATRIX, data_prior=prior) != cb.SCBI(MATRIX)
    assert cb.Pragmatic(MATRIX, 1) != cb.Pragmatic(MATRIX, 2)


@pytest.mark.parametrize("kind", [*RULES, lambda matrix: cb.Pragmatic(matrix, 2)])
def test_beliefs_with_more_than_two_axes_are_refused(kind):
    rule, beliefs = kind(MATRIX), np.full((2, 3, 2), 0.5)
    for call in (
        lambda: rule.likelihood(beliefs),
        lambda: rule.teach(beliefs, 0),
        lambda: rule.update(beliefs, 0),
        lambda: rule.posteriors(beliefs),
    ):
        with pytest.raises(cb.CobayesError, match=r"\(2, 3, 2\); expected \(2,\) or \(k, 2\)"):
            call()


def test_a_rule_with_a_parameter_that_settings_do_not_name_equals_only_itself():
    class Sharp(cb.Rule):
        def __init__(self, matrix, power):
            super().__init__(matrix)
            self.power = power

        def respond(self, log_belief):
            sharp = self.model.normalized() ** self.power
            return cb.rules.Response(sharp / sharp.sum(axis=0))

    rule = Sharp(MATRIX, 1.0)
    assert rule == rule
    assert rule != Sharp(MATRIX, 2.0)


def test_overriding_likelihood_of_a_custom_rule_is_an_error():
    class Plain(cb.Rule):
        def respond(self, log_belief):
            return cb.rules.Response(self.model.normalized())

    for parent in (Plain, cb.Rule):
        with pytest.raises(cb.CobayesError, match="Sharp overrides likelihood, which agents"):
            type("Sharp", (parent,), {"likelihood": lambda self, belief: self.model.normalized()})
    with pytest.raises(cb.CobayesError, match="settings of Flat are not a method"):
        type("Flat", (Plain,), {"settings": property(lambda self: {})})


def test_the_learner_uses_the_logs_of_a_response_without_repeats():
    logs = np.log([[0.9, 0.2], [0.3, 0.4], [0.1, 0.8]])

    class TwoTables(cb.Rule):
        def respond(self, log_belief):
            return cb.rules.Response(np.full((3, 2), 1.0 / 3.0), logs)

    learner = cb.Learner(TwoTables(cb.without_repeats(np.full((3, 2), 1.0 / 3.0))))
    for datum in (0, 2):
        learner.observe(datum)
    expected = np.exp(logs[0] + logs[2])
    assert learner.belief == pytest.approx(expected / expected.sum(), rel=1e-12)


def test_a_rule_has_its_own_read_only_copy_of_the_data_prior():
    prior = np.full(len(MATRIX), 1.0 / len(MATRIX))
    rule = cb.SCBI(MATRIX, data_prior=prior)
    prior[0] = 0.0
    assert rule.data_prior is not None
    assert rule.data_prior[0] > 0.0
    with pytest.raises(ValueError, match="read-only"):
        rule.data_prior[0] = 0.0


def made_rules():
    matrix = [[0.7, 0.2], [0.2, 0.2], [0.1, 0.6]]
    prior = [0.2, 0.3, 0.5]
    return [
        cb.BI(matrix),
        cb.SCBI(matrix, data_prior=prior),
        cb.Pragmatic(matrix, 2, rationality=3.0, data_prior=prior, literal="truth"),
        cb.SCBI(cb.without_repeats(matrix)),
    ]


@pytest.mark.parametrize("rule", made_rules(), ids=repr)
@pytest.mark.parametrize("copied", [copy.deepcopy, lambda given: pickle.loads(pickle.dumps(given))])
def test_rules_and_agents_can_be_pickled_and_copied(rule, copied):
    again = copied(rule)
    assert again == rule
    belief = [0.3, 0.7]
    np.testing.assert_array_equal(again.likelihood(belief), rule.likelihood(belief))
    lesson = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 1)
    longer = copied(lesson).extend(1)
    np.testing.assert_array_equal(longer.data, lesson.extend(1).data)


def test_lessons_on_a_task_have_the_same_bits_in_any_thread_and_with_any_cache(monkeypatch):
    rng = np.random.default_rng(0)
    task = cb.without_repeats(cb.moving_costs(rng.random((6, 3)), rng.random((6, 6))))

    def means(rule):
        return cb.simulate(rule, 0, num_rounds=4, num_lessons=50, rng=3).means

    expected = means(cb.SCBI(task))
    for kept in (base.MOST_KEPT, 1):
        monkeypatch.setattr(base, "MOST_KEPT", kept)
        shared = cb.SCBI(task)
        with ThreadPoolExecutor(4) as threads:
            for found in threads.map(means, [shared] * 8):
                np.testing.assert_array_equal(found, expected)
