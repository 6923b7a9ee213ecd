import json
import subprocess
import sys

import numpy as np
import pytest

import cobayes as cb
from cobayes import _core
from cobayes._parallel import set_num_threads
from cobayes.lessons import RoundsNeeded

MATRIX = np.random.default_rng(5).dirichlet(np.ones(4), size=3).T
RULES = [cb.SCBI, cb.BI]


def ensemble(kind=cb.SCBI, **changes):
    options = dict(num_rounds=12, num_lessons=2500, rng=8) | changes
    return cb.simulate(kind(MATRIX), options.pop("hypothesis", 1), **options)


@pytest.mark.parametrize("kind", RULES)
def test_statistics_are_those_of_the_paths(kind):
    e = ensemble(kind)
    beliefs = np.exp(e.paths)
    np.testing.assert_allclose(e.means, beliefs.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(e.stds, beliefs.std(axis=0), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(e.quantile(0.3), np.quantile(beliefs[:, :, 1], 0.3, axis=0))
    expected = np.log(beliefs[..., 1] / (1.0 - beliefs[..., 1]))
    np.testing.assert_allclose(e.log_odds(), expected, rtol=1e-7, atol=1e-9)


def test_rounds_needed_are_first_passages():
    e = ensemble(level=0.9)
    beliefs = np.exp(e.paths[:, :, 1])
    reached = beliefs >= 0.9
    first = np.where(reached.any(axis=1), reached.argmax(axis=1), 13)
    needed = e.rounds_needed
    assert np.array_equal(needed.counts, np.bincount(first, minlength=14)[:-1])
    assert needed.num_unsure == (first == 13).sum()
    assert needed.quantile(0.0) == 0
    assert needed.median == np.sort(first)[len(first) // 2 - 1]
    assert ensemble(num_rounds=1, level=0.999).rounds_needed.median is None


def test_rounds_needed_are_told_in_words():
    found = RoundsNeeded(0.9, np.array([1, 0, 3, 2]), 1)
    assert "half of the learners are 90 % sure after 2 rounds; 1 of 7 not by round 3" in repr(found)
    never = RoundsNeeded(0.9, np.array([1, 2]), 5)
    assert "after more than 1 round; 5 of 8 not by round 1" in repr(never)


def test_the_same_seed_gives_the_same_bits_for_any_number_of_threads():
    found = []
    try:
        for threads in (1, 2, 3):
            set_num_threads(threads)
            found.append(ensemble(num_lessons=3 * 1024 + 5))
    finally:
        set_num_threads(None)
    for other in found[1:]:
        assert np.array_equal(found[0].paths, other.paths)
        assert np.array_equal(found[0].means, other.means)
        assert np.array_equal(found[0].stds, other.stds)


def test_paths_are_kept_only_where_asked_for():
    some = ensemble(keep_paths=[0, 12])
    none = ensemble(keep_paths=False)
    every = ensemble()
    assert np.array_equal(some.paths, every.paths[:, [0, 12]])
    assert some.log_odds().shape == (2500, 2)
    assert none.paths is None
    assert np.array_equal(none.means, every.means)
    with pytest.raises(cb.CobayesError, match="were not kept"):
        none.log_odds()
    with pytest.raises(cb.CobayesError, match="need the paths"):
        none.quantile(0.5, 0)
    assert every.quantile([0.1, 0.9]).shape == (2, 13)
    assert (none.num_paths, every.num_paths) == (0, 2500)


def test_of_many_lessons_the_first_keep_their_paths(monkeypatch):
    module = sys.modules["cobayes.lessons.simulate"]
    assert 8 * module.AUTOMATIC_PATHS == 256 * 2**20  # bytes, as the docstring says
    monkeypatch.setattr(module, "AUTOMATIC_PATHS", 2**15)
    e = cb.simulate(cb.BI(MATRIX), 0, num_rounds=60, num_lessons=2000, rng=0)
    assert e.num_paths == 2**15 // (61 * 3) < 2000
    assert e.log_odds().shape == (e.num_paths, 61)
    few = cb.simulate(cb.BI(MATRIX), 0, num_rounds=60, num_lessons=50, rng=0)
    assert np.array_equal(few.paths, e.paths[:50])


@pytest.mark.parametrize("shape", [(4, 3), (5, 6), (12, 9)])
@pytest.mark.parametrize("zeros", [0.0, 0.3])
def test_every_path_is_what_the_learner_makes_of_its_data(shape, zeros):
    rng = np.random.default_rng(1)
    matrix = rng.exponential(size=shape) * (rng.random(shape) >= zeros) + np.eye(*shape)
    matrix += np.where(matrix.sum(axis=1, keepdims=True) == 0.0, 1.0, 0.0)
    prior = rng.dirichlet(np.ones(shape[1]))
    for rule in (cb.SCBI(matrix), cb.BI(matrix), cb.Pragmatic(matrix, 2, rationality=3.0)):
        found = _core.simulate(
            rule.core,
            None,
            teacher_logs=np.log(prior),
            hypothesis=1,
            num_rounds=15,
            num_lessons=40,
            seed=3,
            num_paths=40,
            keep_data=True,
        )
        for path, data in zip(found["paths"][::13], found["data"][::13], strict=True):
            learner = cb.Learner(rule, prior)
            for k, datum in enumerate(data.tolist()):
                assert learner.likelihood[datum, 1] > 0.0
                learner.observe(datum)
                np.testing.assert_allclose(path[k + 1], learner.log_belief, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", RULES)
def test_it_agrees_with_stepwise_lessons(kind):
    # Two independent samples; 5 standard errors of their difference: error rate below 1e-5.
    e = ensemble(kind, num_lessons=20_000, num_rounds=5)
    rule = kind(MATRIX)
    finals = np.array(
        [
            cb.run_lesson(cb.Teacher(rule, 1, rng=seed), cb.Learner(rule), 5).beliefs[-1, 1]
            for seed in range(300)
        ]
    )
    gap = abs(e.mean()[-1] - finals.mean())
    assert gap < 5 * np.hypot(e.stderr()[-1], finals.std() / np.sqrt(300))


def test_teacher_and_learner_may_differ():
    e = cb.simulate(
        cb.SCBI(MATRIX),
        0,
        num_rounds=6,
        num_lessons=400,
        prior=[0.2, 0.3, 0.5],
        learner_rule=cb.BI(MATRIX[:, [0, 2, 1]]),
        learner_prior=[0.5, 0.25, 0.25],
        rng=1,
    )
    np.testing.assert_allclose(e.means[0], [0.5, 0.25, 0.25])
    assert e.learner_rule_name == "BI"
    assert "SCBI teacher, BI learner" in repr(e)


def test_the_learner_follows_the_same_data_whoever_it_is():
    # A learner with the teacher's matrix and prior, given explicitly, is the shared one.
    rule = cb.SCBI(MATRIX)
    shared = cb.simulate(rule, 0, num_rounds=9, num_lessons=100, rng=1)
    apart = cb.simulate(
        rule, 0, num_rounds=9, num_lessons=100, rng=1, learner_rule=cb.SCBI(MATRIX * 2.0)
    )
    np.testing.assert_allclose(shared.paths, apart.paths, rtol=1e-8, atol=1e-9)


def test_mean_belief_in_the_truth_never_falls_under_scbi():
    # Supplement, Lemma A.3; exact in expectation, so allow 4 standard errors of the sample.
    e = ensemble(num_lessons=20_000)
    assert (np.diff(e.mean()) > -4 * e.stderr()[1:]).all()


def test_tables_keep_the_labels():
    model = cb.Model(MATRIX, list("abcd"), ["x", "y", "z"])
    e = cb.simulate(cb.SCBI(model), "y", num_rounds=3, num_lessons=50, rng=0)
    table = e.to_dataframe()
    assert len(table) == 4 * 3
    assert set(table["hypothesis"]) == {"x", "y", "z"}
    assert e.to_xarray()["mean"].sel(round=3, hypothesis="y").item() == e.mean("y")[3]
    assert "taught 'y'" in repr(e)
    content = json.loads(json.dumps(e.to_dict()))
    assert content["means"] == e.means.tolist()
    assert content["rounds_needed"]["median"] == e.rounds_needed.median
    assert "1 lesson of 1 round;" in repr(ensemble(num_rounds=1, num_lessons=1))


def test_counts_may_be_numpy_integers():
    e = ensemble(num_rounds=np.int64(3), num_lessons=np.int64(10))
    assert e.log_odds().shape == (10, 4)
    assert ensemble(num_lessons=10, keep_paths=np.True_).paths.shape == (10, 13, 3)


def test_one_seed_sequence_gives_the_same_lessons_every_time():
    seeds = np.random.SeedSequence(5)
    first, second = (ensemble(num_lessons=20, rng=seeds) for _ in range(2))
    assert np.array_equal(first.paths, second.paths)
    assert seeds.n_children_spawned == 0
    moving = np.random.default_rng(5)
    third, fourth = (ensemble(num_lessons=20, rng=moving) for _ in range(2))
    assert np.array_equal(first.paths, third.paths)
    assert not np.array_equal(third.paths, fourth.paths)


def test_labels_of_teacher_and_learner_must_agree():
    mine = cb.Model(MATRIX, list("abcd"), ["x", "y", "z"])
    turned = cb.Model(MATRIX[:, ::-1], list("abcd"), ["z", "y", "x"])
    with pytest.raises(cb.CobayesError, match="label their hypotheses differently"):
        cb.simulate(cb.SCBI(mine), "x", learner_rule=cb.SCBI(turned), num_rounds=2, num_lessons=2)


def test_an_ensemble_cannot_be_changed_by_accident():
    with pytest.raises(ValueError, match="read-only"):
        ensemble(num_lessons=5).means[0, 0] = 5.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        (dict(hypothesis="nobody"), "no hypothesis called"),
        (dict(num_rounds=-1), "integer >= 0"),
        (dict(num_lessons=0), "integer >= 1"),
        (dict(prior=[0.5, 0.0, 0.5]), "teaching is impossible"),
        (dict(level=0.0), "level"),
        (dict(level="a"), "level is 'a'; expected a number"),
        (dict(keep_paths="a"), "a round of keep_paths is 'a'; expected an integer"),
        (dict(keep_paths=1), "expected a list of rounds, True or False"),
        (dict(rng=-1), "rng is -1; expected a seed"),
        (dict(keep_paths=[99]), "expected rounds from 0 to 12"),
        (dict(learner_rule=cb.SCBI(np.ones((2, 2)) + np.eye(2))), "must share"),
    ],
)
def test_bad_input_gets_one_clear_error(changes, message):
    with pytest.raises(cb.CobayesError, match=message):
        ensemble(**changes)


PEAK = """
import resource, sys
import cobayes as cb
rule = cb.SCBI([[0.6, 0.3], [0.4, 0.7]])
cb.set_num_threads(1)
cb.simulate(rule, 0, num_rounds=400, num_lessons=int(sys.argv[1]), rng=1, keep_paths=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
"""


def test_memory_does_not_grow_with_the_number_of_lessons():
    peaks = [
        int(subprocess.check_output([sys.executable, "-c", PEAK, str(count)]))
        for count in (1024, 64 * 1024)
    ]
    # All beliefs together would be 420 MB.
    assert peaks[1] - peaks[0] < 20_000  # kB


def test_kept_rounds_come_in_order_and_once():
    every = ensemble(num_lessons=5)
    some = ensemble(num_lessons=5, keep_paths=[7, 3, 3, 0])
    assert some.path_rounds.tolist() == [0, 3, 7]
    assert np.array_equal(some.paths, every.paths[:, [0, 3, 7]])
    backwards = ensemble(num_lessons=5, keep_paths=range(12, -1, -1))
    assert np.array_equal(backwards.quantile(0.5), every.quantile(0.5))


@pytest.mark.parametrize("keep_paths", [[1.7], 1, [[1, 2]], ["1"], [13], [-1], [True]])
def test_bad_rounds_to_keep_are_refused(keep_paths):
    with pytest.raises(cb.CobayesError, match="keep_paths"):
        ensemble(keep_paths=keep_paths)


def test_shares_in_a_table_are_refused():
    with pytest.raises(cb.CobayesError, match="2 dimensions"):
        ensemble().quantile([[0.1, 0.2]])


def test_one_lesson_has_no_standard_error():
    one = ensemble(num_lessons=1)
    assert np.isnan(one.stderr()).all()
    assert np.isnan(one.to_xarray()["stderr"]).all()
    assert "±" not in repr(one)
    assert "1 lesson of" in repr(one)


def test_a_learner_who_rules_out_the_truth_cannot_be_taught():
    with pytest.raises(cb.CobayesError, match="learner's prior"):
        ensemble(learner_prior=[0.5, 0.0, 0.5])


def test_lessons_without_rounds_are_counted_too():
    with pytest.raises(cb.CobayesError, match="would take about"):
        cb.simulate([[1.0]], 0, num_rounds=0, num_lessons=10**20)


def test_log_odds_stay_exact_far_below_underflow():
    # A datum multiplies the odds by 99 or 1/99: after 300 rounds they are beyond 10^500.
    rule = cb.BI([[0.99, 0.01], [0.01, 0.99]])
    odds = cb.simulate(rule, 0, num_rounds=300, num_lessons=20, rng=1).log_odds()[:, -1]
    steps = odds / np.log(99.0)
    assert odds.min() > 1000.0
    np.testing.assert_allclose(steps, np.round(steps), rtol=1e-13)


def test_a_custom_rule_that_would_take_years_is_refused():
    class Plain(cb.Rule):
        def respond(self, log_belief):
            del log_belief
            return cb.rules.Response(self.model.normalized())

    with pytest.raises(cb.CobayesError, match="by a custom rule would take about"):
        cb.simulate(Plain(MATRIX), 1, num_rounds=10**6, num_lessons=10**6)


@pytest.mark.parametrize("seed", [1, 3, 5, 7])  # their first random number is above 1/2
def test_a_datum_is_drawn_if_the_random_number_is_below_the_sum_of_chances(seed):
    # One hypothesis with the chances p and 1 - p: datum 0 is drawn if u < p, u = (k + 1/2) / 2**52.
    # The largest p in [1/2, 1) that draws datum 1 is u itself; for u >= 1/2 it is an odd multiple
    # of 2**-53, and its neighbours are even ones.
    def draws_second(p):
        rule = cb.BI([[p], [1.0 - p]]).core
        options = {"hypothesis": 0, "num_rounds": 1, "num_lessons": 1, "keep_data": True}
        found = _core.simulate(rule, None, teacher_logs=np.zeros(1), seed=seed, **options)
        return found["data"][0, 0] == 1

    low, high = 2**52, 2**53 - 1  # p = low / 2**53
    assert draws_second(0.5)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if draws_second(middle * 2.0**-53) else (low, middle)
    assert low % 2 == 1


def test_a_belief_equal_to_the_level_has_reached_it():
    options = {"hypothesis": 0, "num_rounds": 2, "num_lessons": 5, "seed": 1, "level": 0.5}
    rule, logs = cb.SCBI(MATRIX).core, np.log([0.5, 0.25, 0.25])
    assert _core.simulate(rule, None, teacher_logs=logs, **options)["first_sure"][0] == 5


def test_evidence_against_all_that_is_believed_is_counted_on_tasks_too():
    # BI ignores costs: datum 2, which the learner rules out, comes in 1 - (2/3)^4 of the lessons.
    def rule(matrix):
        return cb.BI(cb.moving_costs(matrix, 1.0 - np.eye(3)))

    teacher = rule([[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [1.0, 1.0, 1.0]])
    learner = rule([[1.0, 1.0, 1.0], [1.0, 2.0, 1.0], [0.0, 0.0, 1.0]])
    prior = [0.5, 0.5, 0.0]
    options = {"num_rounds": 4, "num_lessons": 200, "learner_prior": prior, "rng": 1}
    found = cb.simulate(teacher, 0, learner_rule=learner, **options)
    expected = 1.0 - (2 / 3) ** 4
    assert abs(found.num_contradicted / 200 - expected) < 4 * np.sqrt(expected / 200)
    np.testing.assert_allclose(found.means.sum(axis=1), 1.0)
