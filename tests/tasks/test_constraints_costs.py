"""Costs of going from one datum to the next."""

import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from tests import HANGS

MODEL = cb.Model(np.random.default_rng(1).uniform(0.05, 1.0, (4, 3)))
PLACES = np.arange(4.0)
COSTS = abs(PLACES[:, None] - PLACES)
KINDS = [cb.BI, cb.SCBI, lambda task: cb.Pragmatic(task, 2)]


def lesson(task, kind, num_rounds=5):
    rule = kind(task)
    return cb.run_lesson(cb.Teacher(rule, 1, rng=3), cb.Learner(rule), num_rounds)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("costs", "weight"), [(np.zeros((4, 4)), 1.0), (COSTS, 0.0)])
def test_costs_of_zero_change_nothing(kind, costs, weight):
    free = lesson(MODEL, kind)
    priced = lesson(cb.moving_costs(MODEL, costs, weight), kind)
    assert np.array_equal(free.log_beliefs, priced.log_beliefs)


@settings(max_examples=20)
@given(st.integers(0, 3), st.floats(0.1, 5.0))
def test_the_prior_is_the_exponential_of_the_costs(last, weight):
    task = cb.moving_costs(MODEL, COSTS, weight)
    prior = task.data_prior_at(task.next_state(task.start, last))
    expected = np.exp(-weight * COSTS[last])
    np.testing.assert_allclose(prior, expected / expected.sum())


def test_the_second_round_of_scbi_has_the_prior_of_the_first_datum():
    learner = cb.Learner(cb.SCBI(cb.moving_costs(MODEL, COSTS, 2.0)))
    first = learner.observe(3)
    prior = np.exp(-2.0 * COSTS[3])
    expected = cb.SCBI(MODEL, data_prior=prior / prior.sum())
    np.testing.assert_allclose(learner.observe(1), expected.update(first, 1), rtol=1e-9)


def test_high_costs_make_steps_shorter():
    def steps(weight):
        data = lesson(cb.moving_costs(MODEL, COSTS, weight), cb.SCBI, 200).data
        return np.abs(np.diff(data)).mean()

    assert steps(3.0) < 0.5 * steps(0.0)


def test_infinite_costs_forbid_a_move():
    costs = np.where(COSTS > 1.0, np.inf, COSTS)
    data = lesson(cb.moving_costs(MODEL, costs), cb.SCBI, 50).data
    assert np.abs(np.diff(data)).max() <= 1


def test_where_all_moves_are_forbidden_no_datum_is_available():
    # After one of the two available data only the other two could follow.
    available = np.arange(4) < 2
    costs = np.where(available[:, None] == available, np.inf, 1.0)
    task = cb.moving_costs(cb.limited_to(MODEL, [0, 1]), costs)
    state = task.next_state(task.start, 0)
    assert task.data_prior_at(task.start).tolist() == [0.5, 0.5, 0.0, 0.0]
    assert task.data_prior_at(state).tolist() == [0.0] * 4
    with pytest.warns(cb.CobayesWarning, match="ends after 1 of 2 rounds: no datum is left"):
        assert len(lesson(task, cb.SCBI, 2).data) == 1


def test_only_infinite_costs_forbid_a_move_when_cheap_moves_are_not_available():
    task = cb.moving_costs(cb.without_repeats(MODEL), 1000.0 * COSTS)
    assert sorted(lesson(task, cb.SCBI, 4).data.tolist()) == [0, 1, 2, 3]


def test_costs_and_no_repeats_go_together(tmp_path):
    task = cb.without_repeats(cb.moving_costs(MODEL, COSTS))
    run = lesson(task, cb.SCBI, 4)
    assert sorted(run.data.tolist()) == [0, 1, 2, 3]
    lesson(task, cb.SCBI, 2).save(tmp_path / "lesson.json")
    again = cb.Lesson.load(tmp_path / "lesson.json").extend(2)
    assert np.array_equal(again.log_beliefs, run.log_beliefs)


def test_costs_with_labels_are_put_in_order():
    model = cb.Model(MODEL, list("abcd"))
    costs = COSTS + np.arange(4.0)
    shuffled = pd.DataFrame(costs, list("abcd"), list("abcd")).loc[list("dbca"), list("cadb")]
    assert np.array_equal(cb.moving_costs(model, shuffled).costs, costs)
    with pytest.raises(cb.CobayesError, match="no datum called 'e'"):
        cb.moving_costs(model, shuffled.rename(index={"a": "e"}))


@pytest.mark.parametrize(
    ("costs", "weight", "message"),
    [
        (np.zeros((3, 3)), 1.0, "expected \\(4, 4\\)"),
        (np.full((4, 4), np.inf), 1.0, "all costs from datum '0' are infinite"),
        (np.full((4, 4), np.nan), 1.0, "contain NaN"),
        ("x", 1.0, "cannot be read as numbers"),
        (COSTS, -1.0, "weight is -1.0"),
    ],
)
def test_bad_costs_get_one_clear_error(costs, weight, message):
    with pytest.raises(cb.CobayesError, match=message):
        cb.moving_costs(MODEL, costs, weight)


def test_ctrl_c_ends_lessons_with_costs_soon():
    code = (
        "import numpy as np, cobayes as cb; place = np.arange(60.0)\n"
        "task = cb.moving_costs(np.random.default_rng(0).random((60, 20)),"
        " abs(place[:, None] - place), 0.1)\n"
        "rule = cb.SCBI(task); cb.simulate(rule, 0, num_rounds=1, num_lessons=1)\n"
        "print('started', flush=True)\n"
        # Hours of work, which are not waited for.
        "cb.simulate(rule, 0, num_rounds=200, num_lessons=2_000_000, rng=1)"
    )
    lessons = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert lessons.stdout is not None
    lessons.stdout.readline()
    time.sleep(0.5)
    lessons.send_signal(signal.SIGINT)
    _, errors = lessons.communicate(timeout=HANGS)
    assert errors.rstrip().endswith("KeyboardInterrupt")
