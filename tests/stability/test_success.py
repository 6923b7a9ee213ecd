"""The success rate: two estimators, the proved facts, and the stepwise agents.

Statistical tests have fixed seeds; tolerances of 4 standard errors are exceeded once in 16,000
comparisons by chance.
"""

import numpy as np
import pytest

import cobayes as cb
from cobayes._parallel import set_num_threads
from cobayes.errors import CobayesError
from cobayes.rules import SCBI
from cobayes.stability import (
    coupling,
    success_bounds,
    success_rate,
    success_rates,
    two_hypothesis_success,
)

from .cases import varied_cases

TWO = [[0.6, 0.3], [0.4, 0.7]]


@pytest.mark.parametrize(
    ("teacher", "learner", "own", "theirs", "h"),
    [case[1:] for case in varied_cases()],
    ids=[case[0] for case in varied_cases()],
)
def test_both_methods_agree_within_four_standard_errors(teacher, learner, own, theirs, h):
    arguments = {
        "hypothesis": h,
        "prior": own,
        "learner_prior": theirs,
        "num_lessons": 4000,
        "max_rounds": 4000,
    }
    lessons = success_rate(teacher, learner_rule=learner, **arguments, rng=1)
    coupled = success_rate(teacher, learner_rule=learner, **arguments, method="coupling", rng=2)
    error = np.hypot(lessons.stderr, coupled.stderr)
    hidden = max(lessons.upper - lessons.lower, coupled.upper - coupled.lower)
    assert hidden < 2e-3
    assert abs(lessons.value - coupled.value) <= 4.0 * error + hidden
    bounds = success_bounds(own, theirs, h)
    for rate in (lessons, coupled):
        assert bounds[0] - 4.0 * rate.stderr - 1e-4 <= rate.value
        assert rate.value <= bounds[1] + 4.0 * rate.stderr + 1e-4


@pytest.mark.parametrize("method", ["lessons", "coupling"])
@pytest.mark.parametrize(
    ("own", "theirs", "h"),
    [
        ([0.5, 0.5], [0.4, 0.6], 0),  # 0.8
        ([0.5, 0.5], [0.4, 0.6], 1),
        ([0.8, 0.2], [0.6, 0.4], 0),  # 0.75
        ([0.1, 0.9], [0.3, 0.7], 1),
    ],
)
def test_two_hypotheses_match_the_exact_formula(method, own, theirs, h):
    exact = two_hypothesis_success(own, theirs, h)
    rate = success_rate(
        TWO,
        hypothesis=h,
        prior=own,
        learner_prior=theirs,
        method=method,
        num_lessons=20_000,
        rng=5,
    )
    assert abs(rate.value - exact) <= 4.0 * rate.stderr + 2e-5


def _by_agents(teacher_rule, learner_rule, hypothesis, own, theirs, count, rng):
    """Teach one learner after another with the stepwise agents; return the mean success."""
    generator = np.random.default_rng(rng)
    ends = np.empty(count)
    for k in range(count):
        teacher = cb.Teacher(teacher_rule, hypothesis, own, rng=generator)
        learner = cb.Learner(learner_rule, theirs)
        for _ in range(1000):
            learner.observe(teacher.choose())
            if teacher.belief[hypothesis] > 1.0 - 1e-5:
                break
        ends[k] = learner.belief[hypothesis]
    return ends.mean()


@pytest.mark.slow
@pytest.mark.parametrize("point", range(6))
def test_success_rates_agree_with_stepwise_agents(point):
    rng = np.random.default_rng(100 + point)
    example = cb.examples[["M_2", "M_3", "M_4", "M'_1", "gestures", "grid-world"][point]]
    m = example.model.num_hypotheses
    own, theirs = rng.dirichlet(np.full(m, 4.0)), rng.dirichlet(np.full(m, 4.0))
    teacher = SCBI(example.model)
    learner = teacher
    if point % 2:
        learner = SCBI(
            example.model.matrix * np.exp(0.1 * rng.standard_normal(teacher.model.shape))
        )
    mean = _by_agents(teacher, learner, 0, own, theirs, 100, rng)
    rate = success_rate(
        teacher, 0, learner_rule=learner, prior=own, learner_prior=theirs, rng=point
    )
    assert rate.num_unfinished == 0
    # The standard error of the mean of 100 lessons, from the spread of all compiled lessons.
    stderr = rate.stderr * np.sqrt(rate.num_lessons / 100)
    assert abs(rate.value - mean) <= 4.0 * np.hypot(rate.stderr, stderr)


def test_results_are_the_same_bits_for_one_and_two_threads():
    example = cb.examples["M'_1"]
    found = []
    try:
        for threads in (1, 2):
            set_num_threads(threads)
            rate = success_rate(
                example, hypothesis=0, learner_prior=[0.2, 0.3, 0.3, 0.2], num_lessons=3000, rng=4
            )
            pairs = coupling(example, learner_prior=[0.2, 0.3, 0.3, 0.2], num_lessons=3000, rng=4)
            found.append((rate.value, rate.stderr, rate.lower, pairs.matrix.tobytes()))
    finally:
        set_num_threads(None)
    assert found[0] == found[1]


def test_the_same_prior_succeeds_up_to_the_teachers_doubt():
    rate = success_rate(cb.examples["M_3"], hypothesis=0, num_lessons=500, rng=0)
    assert 1.0 - 1e-5 <= rate.value <= 1.0
    assert rate.lower <= rate.value <= rate.upper <= 1.0


def test_unfinished_sequences_are_counted_and_bounded():
    close = [[0.50, 0.52], [0.50, 0.48]]
    cut = success_rate(close, hypothesis=0, learner_prior=[0.4, 0.6], max_rounds=50, rng=1)
    assert cut.num_unfinished == cut.num_lessons == 10_000
    # The exact rate is 0.8; cutting off far too early must be visible, never silent.
    assert cut.lower < 0.8 < cut.upper
    assert cut.upper - cut.lower > 0.5
    low, high = cut.interval()
    assert low < cut.lower
    assert high > cut.upper


def test_a_rate_shows_between_what_numbers_unfinished_sequences_leave_it():
    close = [[0.50, 0.52], [0.50, 0.48]]
    cut = success_rate(close, 0, learner_prior=[0.4, 0.6], max_rounds=50, num_lessons=100, rng=1)
    assert f"100 unfinished: {cut.lower:.4f} to {cut.upper:.4f}" in repr(cut)


def test_many_learners_get_what_each_would_get_alone():
    example = cb.examples["M_2"]
    priors = np.random.default_rng(1).dirichlet(np.ones(3), 5)
    settings = {"num_lessons": 1200, "rng": 2}
    together = success_rates(example, "h_1", learner_priors=priors, **settings)
    for found, prior in zip(together, priors, strict=True):
        alone = success_rate(example, "h_1", learner_prior=prior, **settings)
        assert found.to_dict() == alone.to_dict()
    with pytest.raises(CobayesError, match="2 rules and 5 priors"):
        success_rates(example, 0, learner_rules=[example, example], learner_priors=priors)


def test_a_passed_generator_gives_new_sequences_every_time():
    rng = np.random.default_rng(1)
    first = success_rate(TWO, hypothesis=0, learner_prior=[0.4, 0.6], num_lessons=100, rng=rng)
    second = success_rate(TWO, hypothesis=0, learner_prior=[0.4, 0.6], num_lessons=100, rng=rng)
    assert first.value != second.value


@pytest.mark.parametrize("method", ["lessons", "coupling"])
@pytest.mark.parametrize(
    ("name", "who"), [("prior", "the prior"), ("learner_prior", "learner's prior")]
)
def test_zero_prior_on_the_true_hypothesis_says_that_teaching_is_impossible(method, name, who):
    with pytest.raises(CobayesError, match=who) as caught:
        success_rate(TWO, hypothesis=0, method=method, num_lessons=10, **{name: [0.0, 1.0]})
    assert "impossible" in caught.value.message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hypothesis": "nobody"}, "nobody"),
        ({"hypothesis": 5}, "5"),
        ({"num_lessons": 0}, "num_lessons is 0"),
        ({"max_rounds": -1}, "max_rounds is -1"),
        ({"level": 0.1}, "level is 0.1"),
        ({"method": "guessing"}, "guessing"),
        ({"method": 5}, "method is 5; expected 'lessons' or 'coupling'"),
        ({"method": None}, "method is None; expected 'lessons' or 'coupling'"),
        ({"method": []}, "method is .*; expected 'lessons' or 'coupling'"),
        ({"learner_rule": [[0.5, 0.5, 0.5], [0.5, 0.4, 0.6]]}, "shape"),
        ({"learner_prior": [0.5, 0.9]}, "sums to 1.4"),
    ],
)
def test_bad_input_gets_an_error_that_says_why(arguments, message):
    with pytest.raises(CobayesError, match=message):
        success_rate(TWO, **{"hypothesis": 0, "num_lessons": 10, **arguments})


def test_results_print_and_tabulate_with_labels():
    rate = success_rate(cb.examples["gestures"], hypothesis="bowl", num_lessons=200, rng=1)
    assert "'bowl'" in repr(rate)
    table = rate.to_dataframe()
    assert list(table.index) == ["cup", "bowl", "book", "lamp"]
    assert rate.to_dict()["num_unfinished"] == 0


def test_the_standard_error_covers_what_stopping_hides():
    # Identical agents always succeed; lessons stop at a doubt of 1e-5 and agree with each other.
    for prior in ([0.5, 0.5], [0.2, 0.8]):
        rate = cb.success_rate(TWO, hypothesis=0, prior=prior, num_lessons=2000, rng=1)
        assert abs(rate.value - 1.0) < 4 * rate.stderr < 1e-4
        assert rate.sampling_stderr < rate.stderr


@pytest.mark.parametrize("table", [TWO, [[1, 0], [1, 1]]])  # pairs, and lessons
def test_a_coupling_with_too_few_lessons_about_a_hypothesis_says_so(table):
    with pytest.raises(cb.CobayesError, match=r"too few for .* of '0', whose prior is 1e-12"):
        cb.success_rate(
            table,
            hypothesis=0,
            prior=[1e-12, 1 - 1e-12],
            num_lessons=100,
            method="coupling",
            rng=0,
        )


def test_a_handful_of_pairs_is_not_called_certain():
    # Of 100 pairs about two end at a hypothesis with prior 0.02; seed 2 has some.
    rate = cb.success_rate(
        TWO,
        hypothesis=0,
        prior=[0.02, 0.98],
        num_lessons=100,
        method="coupling",
        rng=2,
    )
    assert abs(rate.value - 1.0) < 4 * rate.stderr
    assert rate.stderr > 0.05


def test_one_pair_has_no_standard_error():
    assert np.isnan(cb.coupling(TWO, num_lessons=1, rng=0).stderr).all()


def test_one_seed_sequence_gives_the_same_rate_every_time():
    seeds = np.random.SeedSequence(3)
    rates = [
        cb.success_rate(TWO, hypothesis=0, learner_prior=[0.4, 0.6], num_lessons=200, rng=seeds)
        for _ in range(2)
    ]
    assert rates[0].value == rates[1].value
    assert seeds.n_children_spawned == 0


def test_tables_of_a_success_rate_keep_the_labels():
    model = cb.Model(TWO, ["a", "b"], ["x", "y"])
    rate = cb.success_rate(model, hypothesis="x", num_lessons=50, rng=0)
    data = rate.to_xarray()
    assert list(data.believes.values) == ["x", "y"]
    assert data.probability.sel(believes="x").item() == rate.value
    assert data.attrs["taught"] == "x"


@pytest.mark.parametrize("method", ["lessons", "coupling"])
@pytest.mark.parametrize("is_shared", [True, False])
def test_a_task_that_limits_the_data_is_a_data_prior(method, is_shared):
    matrix = np.array([[0.5, 0.2, 0.1], [0.3, 0.3, 0.2], [0.2, 0.5, 0.7]])
    options = {"learner_prior": [0.3, 0.3, 0.4], "num_lessons": 300, "rng": 1, "method": method}
    rates = [
        cb.success_rate(rule, 0, learner_rule=None if is_shared else cb.SCBI(matrix), **options)
        for rule in (
            cb.SCBI(cb.tasks.limited_to(matrix, [0, 2])),
            cb.SCBI(matrix, data_prior=[0.5, 0.0, 0.5]),
        )
    ]
    assert rates[0].to_dict() == rates[1].to_dict()
