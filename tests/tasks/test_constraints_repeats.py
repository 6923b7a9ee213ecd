"""Tasks in which no datum is shown twice."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import cobayes as cb

MODEL = cb.Model(np.random.default_rng(1).uniform(0.05, 1.0, (5, 3)))


@given(st.integers(0, 2**32 - 1), st.integers(2, 6), st.integers(2, 4), st.booleans())
def test_no_datum_is_shown_twice(seed, n, m, is_bayes):
    matrix = np.random.default_rng(seed).uniform(0.01, 1.0, (n, m))
    rule = (cb.BI if is_bayes else cb.SCBI)(cb.without_repeats(matrix))
    run = cb.run_lesson(cb.Teacher(rule, 0, rng=seed), cb.Learner(rule), n)
    assert sorted(run.data.tolist()) == list(range(n))


@pytest.mark.parametrize("kind", [cb.BI, cb.SCBI])
def test_data_that_were_shown_are_left_out_of_the_likelihood(kind):
    learner = cb.Learner(kind(cb.without_repeats(MODEL)))
    first = learner.observe(2)
    left = [0, 1, 3, 4]
    part = kind(MODEL.matrix[left])
    np.testing.assert_allclose(learner.observe(3), part.update(first, 2), rtol=1e-9)
    assert not learner.likelihood[[2, 3]].any()


def test_the_learner_knows_the_constraint_only_if_its_rule_holds_the_task():
    teacher = cb.BI(cb.without_repeats(MODEL))
    naive = cb.run_lesson(cb.Teacher(teacher, 1, rng=3), cb.Learner(cb.BI(MODEL)), 4)
    aware = cb.run_lesson(cb.Teacher(teacher, 1, rng=3), cb.Learner(teacher), 4)
    assert np.array_equal(naive.data, aware.data)
    assert np.array_equal(naive.beliefs[1], aware.beliefs[1])  # nothing was shown before
    assert not np.allclose(naive.beliefs[-1], aware.beliefs[-1])


def test_more_rounds_than_data_is_an_error_before_the_first_round():
    rule = cb.SCBI(cb.without_repeats(MODEL))
    teacher, learner = cb.Teacher(rule, 0, rng=0), cb.Learner(rule)
    with pytest.raises(cb.CobayesError, match=r"6 rounds was asked for; .* has data for 5"):
        cb.run_lesson(teacher, learner, 6)
    assert teacher.state == rule.task.start


def test_a_datum_that_was_shown_is_not_available():
    learner = cb.Learner(cb.SCBI(cb.without_repeats(MODEL)))
    before = learner.observe(1)
    with pytest.raises(cb.CobayesError, match="datum '1' is not available in the current state"):
        learner.observe(1)
    assert np.array_equal(learner.belief, before)


def test_a_lesson_without_repeats_is_saved_and_continued(tmp_path):
    rule = cb.SCBI(cb.without_repeats(MODEL))

    def lesson(num_rounds):
        return cb.run_lesson(cb.Teacher(rule, 0, rng=5), cb.Learner(rule), num_rounds)

    for split in (0, 2, 5):
        lesson(split).save(tmp_path / "lesson.json")
        again = cb.Lesson.load(tmp_path / "lesson.json").extend(5 - split)
        assert np.array_equal(again.log_beliefs, lesson(5).log_beliefs)


def test_walks_can_be_without_repeats_too():
    task = cb.without_repeats(cb.GridWorld.paper(0.5))
    rule = cb.SCBI(task)
    run = cb.run_lesson(cb.Teacher(rule, "A", rng=1), cb.Learner(rule), 3)
    assert len(set(run.data.tolist())) == run.num_rounds


def test_a_walker_without_moves_towards_its_goal_makes_another_move():
    world = cb.GridWorld(3, 3, (0, 1), {"A": (2, 0), "B": (2, 2)}, 0.5)
    walker = cb.Teacher(cb.SCBI(cb.without_repeats(world)), "A", rng=0, choice="forward")
    moves = [world.action_labels[walker.choose()] for _ in range(4)]
    assert set(moves[:2]) == {"left", "down"}
    assert set(moves[2:]) == {"up", "right"}


@pytest.mark.parametrize("shown", [[0.9], [True], [-1], [5], [2, 1], [1, 1]])
def test_a_saved_state_holds_different_positions_in_order(shown):
    with pytest.raises(ValueError, match="shown"):
        cb.without_repeats(MODEL).read_state([shown, None])


@pytest.mark.parametrize("slip", [0.0, 0.3])
def test_a_watcher_need_not_know_that_no_move_is_made_twice(slip):
    world = cb.GridWorld.with_goals_on_top(5, 3, 2, 0.5, slip=slip)
    teacher = cb.Teacher(cb.SCBI(cb.without_repeats(world)), "A", rng=3)
    learner = cb.Learner(cb.SCBI(world))
    run = cb.run_lesson(teacher, learner, 3)
    assert len(set(run.data.tolist())) == run.num_rounds
    assert learner.state == teacher.state[1]


def test_with_zeros_a_lesson_has_as_many_rounds_as_the_truth_allows():
    model = cb.Model([[1, 1, 0], [1, 0, 1], [0, 1, 1], [0, 1, 0]])
    for kind in (cb.BI, cb.SCBI, lambda task: cb.Pragmatic(task, 1)):
        rule = kind(cb.without_repeats(model))
        run = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 2)
        assert sorted(run.data.tolist()) == [0, 1]
        assert run.beliefs[-1, 0] == pytest.approx(1.0)
        with pytest.raises(cb.CobayesError, match="has data for 2"):
            cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 3)


def _pragmatic(task):
    return cb.Pragmatic(task, 1)


@settings(max_examples=40)
@given(
    arrays(np.float64, (6, 3), elements=st.sampled_from([0.0, 1.0])),
    st.sampled_from([cb.BI, cb.SCBI, _pragmatic]),
    st.integers(0, 2),
    st.integers(0, 2**32 - 1),
)
def test_with_zeros_a_lesson_shows_every_datum_that_the_truth_allows(matrix, kind, truth, seed):
    # Other hypotheses run out of data before the truth does.
    assume(matrix.any(axis=0).all() and matrix.any(axis=1).all())
    rule = kind(cb.without_repeats(matrix))
    allowed = np.flatnonzero(matrix[:, truth]).tolist()
    for choice in ("draw", "likeliest"):
        teacher, learner = cb.Teacher(rule, truth, rng=seed, choice=choice), cb.Learner(rule)
        run = cb.run_lesson(teacher, learner, len(allowed))
        assert sorted(run.data.tolist()) == allowed
        assert np.isfinite(run.beliefs).all()
        assert run.beliefs[-1, truth] > 0.0
        with pytest.raises(cb.CobayesError, match=f"'{truth}' allows none|no datum is left"):
            teacher.choose()
    assert sorted(cb.plan_lesson(rule, truth, len(allowed)).data.tolist()) == allowed
    many = cb.simulate(rule, truth, num_rounds=len(allowed), num_lessons=3, rng=seed)
    assert np.isfinite(many.means).all()


@pytest.mark.parametrize("kind", [cb.BI, cb.SCBI, _pragmatic])
def test_after_the_last_datum_an_agent_says_that_none_is_left(kind):
    learner = cb.Learner(kind(cb.without_repeats(MODEL)))
    for datum in range(5):
        learner.observe(datum)
    assert learner.belief.sum() == pytest.approx(1.0)
    with pytest.raises(cb.CobayesError, match="no datum is left"):
        learner.likelihood  # noqa: B018
    with pytest.raises(cb.CobayesError, match="datum '0' is not available in the current state"):
        learner.observe(0)


def test_a_hypothesis_without_data_left_is_ruled_out_by_the_next_datum():
    learner = cb.Learner(cb.BI(cb.without_repeats([[1, 1], [0, 1], [0, 1]])))
    np.testing.assert_allclose(learner.observe(0), [0.75, 0.25])
    np.testing.assert_allclose(learner.observe(1), [0.0, 1.0])


@pytest.mark.parametrize(
    "teach",
    [
        lambda rule: cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 3),
        lambda rule: cb.simulate(rule, 0, num_rounds=3, num_lessons=3, rng=1),
        lambda rule: cb.exact_rounds(rule, 0, 3),
        lambda rule: cb.plan_lesson(rule, 0, 3),
    ],
)
def test_a_data_prior_that_leaves_no_datum_is_refused(teach):
    rule = cb.SCBI(cb.without_repeats([[1, 2], [2, 1], [1, 1]]), data_prior=[0.5, 0.5, 0])
    with pytest.raises(cb.CobayesError, match="no datum is left"):
        teach(rule)


def test_exact_rounds_have_as_many_rounds_as_there_are_data():
    rule = cb.SCBI(cb.without_repeats([[1, 2], [2, 1]]))
    assert cb.exact_rounds(rule, 0, 2).num_rounds == 2
    with pytest.raises(cb.CobayesError, match="the teacher's task has data for 2"):
        cb.exact_rounds(rule, 0, 3)
