"""Teaching a class, and a learner whose prior is unknown."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.lessons.planning import Planner

MODEL = cb.examples["M_4"].model
PRIORS = [[1 / 3, 1 / 3, 1 / 3], [0.4, 0.55, 0.05], [0.1, 0.3, 0.6]]


def test_with_one_prior_and_equal_rows_it_is_the_greedy_teacher():
    rule = cb.SCBI(MODEL)
    teacher = cb.lessons.ClassTeacher(rule, 0, [PRIORS[1]])
    data = [teacher.choose() for _ in range(6)]
    assert data == cb.plan_lesson(rule, 0, 6, prior=PRIORS[1]).data.tolist()


@pytest.mark.parametrize("aim", ["mean", "worst", "number"])
def test_everybody_learns(aim):
    teacher = cb.lessons.ClassTeacher(cb.SCBI(MODEL), 0, PRIORS, aim=aim, level=0.9)
    for _ in range(60):
        teacher.choose()
    assert (teacher.beliefs[:, 0] > 0.9).all()


def test_the_worst_aim_leaves_the_lowest_belief_highest():
    def lowest(aim):
        teacher = cb.lessons.ClassTeacher(cb.SCBI(MODEL), 0, PRIORS, aim=aim)
        teacher.choose()
        return teacher.beliefs[:, 0].min()

    assert lowest("worst") >= lowest("mean")


def test_it_teaches_a_learner_of_a_prior_that_a_plain_teacher_misjudges():
    # docs/choosing.md: the success rate of an SCBI teacher who assumes a uniform prior is 0.45.
    rule = cb.SCBI(MODEL)
    learner = cb.Learner(rule, PRIORS[1])
    lesson = cb.run_lesson(cb.lessons.ClassTeacher(rule, "h_1", PRIORS), learner, 60)
    assert lesson.beliefs[-1, 0] > 0.99


def test_answers_find_out_which_learner_it_is():
    teacher = cb.lessons.ClassTeacher(cb.SCBI(MODEL), 0, PRIORS, lapse=0.05)
    for _ in range(4):
        weights = teacher.hear("h_3")
    assert weights.argmax() == 2
    assert weights.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(teacher.belief, weights @ np.array(PRIORS))


def test_the_likelihood_is_that_of_the_current_belief():
    rule = cb.SCBI(MODEL)
    teacher, planner = cb.lessons.ClassTeacher(rule, 0, PRIORS), Planner(rule, 0)
    for agent, change in (
        (teacher, teacher.choose),
        (teacher, lambda: teacher.hear("h_3")),
        (planner, planner.choose),
    ):
        before = agent.likelihood
        change()
        np.testing.assert_allclose(agent.likelihood, rule.likelihood(agent.belief), rtol=1e-9)
        assert not np.allclose(agent.likelihood, before)


def test_an_answer_updates_the_weights_by_the_choice_model():
    teacher = cb.lessons.ClassTeacher(cb.SCBI(MODEL), 0, PRIORS, lapse=0.1, sharpness=2.0)
    squared = np.array(PRIORS) ** 2
    chances = 0.9 * squared[:, 1] / squared.sum(axis=1) + 0.1 / 3
    np.testing.assert_allclose(teacher.hear(1), chances / chances.sum())


def test_a_class_can_be_taught_without_repeats_and_saved(tmp_path):
    model = np.random.default_rng(1).uniform(0.1, 1.0, (7, 3))
    rule = cb.SCBI(cb.without_repeats(model))

    def lesson(num_rounds):
        teacher = cb.lessons.ClassTeacher(rule, 0, PRIORS, [0.5, 0.3, 0.2], aim="worst")
        return cb.run_lesson(teacher, cb.Learner(rule, PRIORS[2]), num_rounds)

    lesson(3).save(tmp_path / "lesson.json")
    again = cb.Lesson.load(tmp_path / "lesson.json").extend(4)
    assert np.array_equal(again.data, lesson(7).data)
    assert np.array_equal(again.log_beliefs, lesson(7).log_beliefs)


def test_a_saved_class_teacher_keeps_its_generator_and_tiny_beliefs(tmp_path):
    world = cb.GridWorld(5, 5, (2, 0), {"A": (0, 4), "B": (4, 4)}, 0.98, slip=0.3)
    rule = cb.SCBI(world)
    teacher = cb.lessons.ClassTeacher(rule, "A", [[0.5, 0.5], [0.3, 0.7]])
    walk = cb.run_lesson(teacher, cb.Learner(rule), 3)
    walk.save(tmp_path / "walk.json")
    again = cb.Lesson.load(tmp_path / "walk.json")
    assert np.array_equal(walk.extend(5).data, again.extend(5).data)

    matrix = np.array([[1e-200, 1.0], [1.0, 1.0]])
    teacher = cb.lessons.ClassTeacher(cb.BI(matrix), 0, [[0.5, 0.5], [0.1, 0.9]])
    for _ in range(2):
        teacher.observe(0)
    assert (teacher.beliefs[:, 0] == 0.0).all()
    teacher.save(tmp_path / "teacher.json")
    loaded = cb.lessons.ClassTeacher.load(tmp_path / "teacher.json")
    assert np.array_equal(loaded.log_belief, teacher.log_belief)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"aim": "fame"}, "expected 'mean', 'worst' or 'number'"),
        ({"weights": [1.0]}, "expected 3 numbers"),
        ({"weights": [1.0, -1.0, 1.0]}, "expected 3 numbers"),
        ({"lapse": 2.0}, "lapse is 2.0"),
        ({"priors": [[0.0, 0.5, 0.5]]}, "teaching is impossible"),
        ({"priors": []}, "no priors were given"),
    ],
)
def test_bad_input_gets_one_clear_error(options, message):
    priors = options.pop("priors", PRIORS)
    with pytest.raises(cb.CobayesError, match=message):
        cb.lessons.ClassTeacher(cb.SCBI(MODEL), 0, priors, **options)


def test_an_answer_that_no_learner_can_give_is_refused():
    teacher = cb.lessons.ClassTeacher(cb.SCBI(MODEL), 0, [[0.5, 0.5, 0.0]], lapse=0.0)
    with pytest.raises(cb.CobayesError, match="'h_3' has probability zero for every learner"):
        teacher.hear("h_3")
    assert "1 prior; teaches 'h_1'; aim 'mean'" in repr(teacher)


def test_the_class_arrives_where_the_lesson_is():
    rule = cb.SCBI(cb.without_repeats(MODEL))
    teacher, other = (cb.lessons.ClassTeacher(rule, 0, PRIORS) for _ in range(2))
    other.observe(1)
    assert teacher.state != other.state
    teacher.arrive(other.state)
    assert teacher.state == other.state
    assert [learner.state for learner in teacher.learners] == [other.state] * len(PRIORS)
