"""Custom tasks: states, random outcomes, and lessons on them."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.tasks.task import as_state, task_from_settings

MODEL = cb.Model([[0.5, 0.2, 0.1], [0.3, 0.3, 0.3], [0.2, 0.5, 0.6]], "abc", "xyz")


class Constant(cb.tasks.Task):
    """A task whose state changes and whose matrix does not."""

    start = 0

    def matrix_at(self, state):
        return MODEL

    def next_state(self, state, datum):
        return state + 1

    def settings(self):
        return {}


class InTurn(cb.tasks.Task):
    """Every round has its own matrix; the task is over after the last one."""

    start = 0

    def __init__(self, models):
        self.models = tuple(models)

    def matrix_at(self, state):
        return self.models[min(state, len(self.models) - 1)]

    def next_state(self, state, datum):
        return state + 1

    def is_over(self, state, hypothesis):
        return state == len(self.models)


def lesson(task, kind, num_rounds=6):
    rule = kind(task)
    return cb.run_lesson(cb.Teacher(rule, 1, rng=7), cb.Learner(rule), num_rounds)


class MadeAnew(Constant):
    """A task that makes a new copy of its matrix in every call."""

    def matrix_at(self, state):
        return cb.Model(MODEL.matrix.copy(), MODEL.data, MODEL.hypotheses)


KINDS = [cb.SCBI, cb.BI, lambda task: cb.Pragmatic(task, 2)]


@pytest.mark.parametrize("task", [Constant(), MadeAnew()])
@pytest.mark.parametrize("kind", KINDS)
def test_a_task_of_constant_matrix_equals_the_model_bit_for_bit(kind, task):
    ordinary, other = lesson(MODEL, kind, 20), lesson(task, kind, 20)
    assert np.array_equal(other.data, ordinary.data)
    assert np.array_equal(other.log_beliefs, ordinary.log_beliefs)


class Coin(cb.tasks.Task):
    """After every datum a coin decides which of two matrices comes next."""

    start = 0

    def matrix_at(self, state):
        return MODEL if state == 0 else cb.Model(MODEL.matrix[::-1], MODEL.data, MODEL.hypotheses)

    def next_states(self, state, datum):
        return ((0, 0.5), (1, 0.5))


class Two(cb.tasks.Task):
    """Two data are available, for two rounds."""

    start = 0

    def matrix_at(self, state):
        return MODEL

    def data_prior_at(self, state):
        return np.array([0.5, 0.5, 0.0]) if state < 2 else np.zeros(3)

    def next_state(self, state, datum):
        return state + 1


CUSTOM = [Constant(), MadeAnew(), InTurn([MODEL] * 3), Coin(), Two()]


@pytest.mark.filterwarnings("ignore:the lesson ends after 2 of 3 rounds")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("task", CUSTOM, ids=lambda task: type(task).__name__)
def test_lessons_and_simulations_accept_custom_tasks(task, kind):
    rule = kind(task)
    for learner in (rule, kind(task), cb.BI(MODEL)):
        run = cb.run_lesson(cb.Teacher(rule, 1, rng=7), cb.Learner(learner), 3)
        assert run.num_rounds == (2 if isinstance(task, Two) else 3)
        many = cb.simulate(rule, 1, num_rounds=3, num_lessons=5, learner_rule=learner, rng=1)
        assert many.num_contradicted == 0
        assert np.isfinite(many.means).all()


@pytest.mark.filterwarnings("ignore:the lesson ends after 2 of 3 rounds")
@pytest.mark.parametrize("task", CUSTOM, ids=lambda task: type(task).__name__)
def test_comparisons_plans_and_tables_of_choices_accept_custom_tasks(task):
    found = cb.lessons.compare_teachers(task, 1, num_rounds=3, num_lessons=5, rng=1)
    problems = {"p": task}
    asked = {"depth": 1, "rationality": 2.0, "lapse": 0.0}
    if task.is_certain:
        assert set(found.left_out) == {"active"}
        assert cb.plan_lesson(cb.SCBI(task), 1, 3, look_ahead=3).num_rounds >= 2
        choices = cb.people.simulate(asked, problems, num_people=2, num_rounds=2, rng=1)
        assert np.isfinite(cb.people.score(choices, problems, depth=1).log_likelihood).all()
    else:
        assert set(found.left_out) == {"greedy", "optimal", "active"}
        with pytest.raises(cb.CobayesError, match="expected one certain state"):
            cb.plan_lesson(cb.SCBI(task), 1, 3)
        with pytest.raises(cb.CobayesError, match="has 2 possible outcomes, and a table"):
            cb.people.simulate(asked, problems, num_people=2, num_rounds=2, rng=1)


class Odd(cb.tasks.Task):
    """A task with an invalid matrix, data prior or start."""

    def __init__(self, matrix=MODEL, prior=None, start=0):
        self.matrix, self.prior, self.start = matrix, prior, start

    def matrix_at(self, state):
        return self.matrix

    def data_prior_at(self, state):
        return self.prior


@pytest.mark.parametrize(
    ("task", "message"),
    [
        (Odd(matrix=MODEL.matrix), "Odd.matrix_at returns a ndarray; expected a cobayes.Model"),
        (
            Odd(prior=[1, 1, 1]),
            r"Odd.data_prior_at returns \[1, 1, 1\]; expected None or an array of 3 numbers",
        ),
        (Odd(prior=np.ones(2)), "expected None or an array of 3 numbers, one for each datum"),
        (Odd(prior=np.array([1.0, -1.0, 1.0])), "expected 3 finite numbers that are not negative"),
        (Odd(start=[0]), "the states of Odd cannot be keys of a dict"),
    ],
)
def test_an_invalid_custom_task_gets_one_clear_error(task, message):
    with pytest.raises(cb.CobayesError, match=message):
        lesson(task, cb.SCBI, 1)


def test_a_lesson_on_a_task_saved_and_continued_equals_an_uninterrupted_one(tmp_path):
    lesson(Constant(), cb.SCBI, 2).save(tmp_path / "lesson.json")
    again = cb.Lesson.load(tmp_path / "lesson.json").extend(4)
    assert np.array_equal(again.log_beliefs, lesson(Constant(), cb.SCBI).log_beliefs)


def test_a_task_without_settings_says_how_it_can_be_saved(tmp_path):
    with pytest.raises(cb.CobayesError, match="task InTurn cannot be saved"):
        lesson(InTurn([MODEL] * 2), cb.BI, 1).save(tmp_path / "lesson.json")


@pytest.mark.parametrize("kind", [cb.SCBI, cb.BI])
def test_every_round_is_updated_with_the_matrix_of_its_state(kind):
    draws = np.random.default_rng(3).dirichlet(np.ones(3), (4, 3)).transpose(0, 2, 1)
    models = [cb.Model(matrix) for matrix in draws]
    found = lesson(InTurn(models), kind, 10)
    assert found.num_rounds == 4  # the task is over
    belief = np.full(3, 1 / 3)
    for model, datum, after in zip(models, found.data, found.beliefs[1:], strict=True):
        belief = kind(model).update(belief, int(datum))
        np.testing.assert_allclose(after, belief, rtol=1e-9)


def test_teacher_and_learner_may_have_different_tasks():
    other = cb.Model(MODEL.matrix[::-1], MODEL.data, MODEL.hypotheses)
    run = cb.run_lesson(
        cb.Teacher(cb.SCBI(InTurn([MODEL, other])), 0, rng=0), cb.Learner(cb.BI(MODEL)), 2
    )
    second = cb.BI(MODEL).update(cb.BI(MODEL).update(np.full(3, 1 / 3), run.data[0]), run.data[1])
    np.testing.assert_allclose(run.beliefs[-1], second)


def test_without_repeats_a_later_matrix_may_allow_a_datum_that_the_first_excludes():
    models = [cb.Model([[1.0, 0.5], [0.0, 0.5]]), cb.Model([[0.0, 0.5], [1.0, 0.5]])]
    rule = cb.SCBI(cb.without_repeats(InTurn(models)))
    assert cb.run_lesson(cb.Teacher(rule, 0), cb.Learner(rule), 2).data.tolist() == [0, 1]


def test_a_saved_task_loads_as_the_last_definition_of_its_class():
    kinds = [type("Twice", (Constant,), {"__module__": name}) for name in ("a", "b", "b", "c")]
    for module, k in (("a", 0), ("b", 2), ("c", 3), ("d", 3)):
        assert type(task_from_settings(f"{module}.Twice", {})) is kinds[k]


def test_matrices_of_a_task_share_their_labels():
    odd = cb.Model(MODEL.matrix, "abd", "xyz")
    with pytest.raises(cb.CobayesError, match="different data or hypotheses"):
        lesson(InTurn([MODEL, odd]), cb.SCBI, 2)


def test_a_task_is_accepted_as_a_matrix():
    np.testing.assert_array_equal(cb.BI(Constant()).likelihood([0.2, 0.3, 0.5]), MODEL.normalized())
    assert cb.Model(Constant()) == MODEL


TABLE = {s: {0: [(1.0, max(s - 1, 0))], 1: [(1.0, min(s + 1, 4))]} for s in range(5)}
MAKERS = [
    lambda: cb.without_repeats(MODEL),
    lambda: cb.without_repeats(cb.moving_costs(MODEL, np.ones((3, 3)))),
    lambda: cb.moving_costs(MODEL, np.ones((3, 3))),
    lambda: cb.moving_costs(MODEL, np.ones((3, 3)), 2.0),
    lambda: cb.moving_costs(MODEL, np.eye(3)),
    lambda: cb.limited_to(MODEL, "ab"),
    lambda: cb.limited_to(MODEL, "bc"),
    lambda: cb.GridWorld(3, 3, (2, 1), {"A": (0, 0), "B": (0, 2)}, 0.5),
    lambda: cb.GridWorld(3, 3, (2, 1), {"B": (0, 2), "A": (0, 0)}, 0.5),
    lambda: cb.worlds.TabularWorld(TABLE, 2, {"left": 0, "right": 4}, 0.5),
    Constant,
]


def test_tasks_and_their_rules_are_equal_where_class_and_settings_are():
    tasks, copies = [make() for make in MAKERS], [make() for make in MAKERS]
    for k, task in enumerate(tasks):
        assert [task == other for other in copies] == [k == j for j in range(len(copies))]
        assert hash(task) == hash(copies[k])
        assert cb.SCBI(task) == cb.SCBI(copies[k])
    assert len({*map(cb.BI, tasks), *map(cb.BI, copies)}) == len(tasks)


def test_a_task_without_complete_settings_equals_only_itself():
    class Named(Constant):
        def __init__(self, name):
            self.name = name

    for task, other in ((Named("a"), Named("a")), (InTurn([MODEL]), InTurn([MODEL]))):
        assert task == task
        assert task != other


def test_the_likeliest_choice_is_the_largest_probability():
    rule = cb.SCBI(MODEL)
    teacher = cb.Teacher(rule, "z", choice="likeliest")
    for _ in range(5):
        expected = int(np.argmax(teacher.distribution))
        assert teacher.choose() == expected
    with pytest.raises(cb.CobayesError, match="expected 'draw', 'likeliest' or 'forward'"):
        cb.Teacher(rule, "z", choice="best")


def test_the_choice_is_saved(tmp_path):
    cb.Teacher(cb.SCBI(MODEL), 0, rng=0, choice="likeliest").save(tmp_path / "t.json")
    assert cb.Teacher.load(tmp_path / "t.json").choice == "likeliest"


def test_a_saved_state_is_made_of_plain_values():
    rule = cb.SCBI(cb.without_repeats([[0.5, 0.2], [0.5, 0.8]]))
    content = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 1).to_dict()
    content["teacher"]["state"] = [[], {}]
    with pytest.raises(cb.CobayesError, match=r"a state holds \{\}; expected numbers"):
        cb.Lesson.from_dict(content)


def test_states_are_plain_tuples_and_numbers_at_any_depth():
    state = as_state((np.int64(1), [2, np.array([3, 4])]))
    assert state == (1, (2, (3, 4)))
    assert type(state[0]) is int
    hash(state)
