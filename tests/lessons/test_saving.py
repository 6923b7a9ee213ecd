"""Files of lessons and agents: exact, compact, and checked in full."""

import json
import os
import subprocess
import sys
import zlib

import numpy as np
import pytest

import cobayes as cb
from tests.lessons.test_lesson import MODEL, lesson


@pytest.mark.parametrize("split", [0, 1, 5, 8])
def test_a_lesson_saved_and_continued_equals_one_that_was_not_interrupted(tmp_path, split):
    whole = lesson(8)
    lesson(split).save(tmp_path / "lesson.json")
    again = cb.Lesson.load(tmp_path / "lesson.json").extend(8 - split)
    assert np.array_equal(again.data, whole.data)
    assert np.array_equal(again.log_beliefs, whole.log_beliefs)
    assert np.array_equal(again.teacher_log_beliefs, whole.teacher_log_beliefs)


def test_agents_saved_in_mid_lesson_go_on_exactly(tmp_path):
    rule = cb.SCBI(MODEL)
    teacher = cb.Teacher(rule, 2, rng=5)
    learner = cb.Learner(rule, prior=[0.1, 0.0, 0.9])
    for _ in range(3):
        learner.observe(teacher.choose())
    teacher.save(tmp_path / "t.json")
    learner.save(tmp_path / "l.json")
    first = cb.run_lesson(teacher, learner, 5)
    second = cb.run_lesson(
        cb.Teacher.load(tmp_path / "t.json"), cb.Learner.load(tmp_path / "l.json"), 5
    )
    assert np.array_equal(first.data, second.data)
    assert np.array_equal(first.log_beliefs, second.log_beliefs)


def edit(path, change):
    """Rewrite a saved file after a change of its content, as somebody with bad intent would."""
    saved = json.loads(path.read_text())
    change(saved["content"])
    saved["checksum"] = zlib.crc32(json.dumps(saved["content"]).encode())
    path.write_text(json.dumps(saved))


def put(part, key, value):
    return lambda content: content[part].update({key: value})


def logs(values):
    """Return a change of the learner's log-beliefs."""
    return lambda content: content.update(log_beliefs=np.asarray(values).tolist())


GOOD = np.log(np.full((4, 3), 1 / 3))


def with_entry(value):
    beliefs = GOOD.copy()
    beliefs[1, 1] = value
    return beliefs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.pop("data"), "no entry 'data'"),
        (lambda c: c.pop("objects"), "no entry 'objects'"),
        (lambda c: c.update(objects=3), "damaged"),
        (lambda c: c["learner"].pop("rule"), "no entry 'rule'"),
        (lambda c: c["objects"][0].pop("task"), "has no entry 'of'"),
        (lambda c: c["objects"][0]["settings"].update(matrix=[[1, 2], [3]]), "cannot be read"),
        (lambda c: c["objects"][1].update(rule="magic"), "no rule called 'magic'"),
        (
            lambda c: c["objects"][1].update(settings={"depth": 3}),
            "unexpected keyword argument 'depth'",
        ),
        (lambda c: c.update(data=["a", "no such datum", "a"]), "no datum called 'no such datum'"),
        (lambda c: c.update(data=[0, 99, 0]), "no datum at position 99"),
        (lambda c: c.update(data=[0, -1, 0]), "no datum at position -1"),
        (lambda c: c.update(data=[0.0, 1.5, 1.0]), "no datum called"),
        (lambda c: c.update(data=[0]), "log_beliefs has the shape"),
        (lambda c: c.update(teacher_log_beliefs=[[0.0]]), "teacher_log_beliefs has the shape"),
        (lambda c: c.update(log_beliefs=[[0.0], [0.0, 1.0]]), "damaged"),
        (lambda c: c.update(log_beliefs="text"), "damaged"),
        (logs(with_entry(np.nan)), "do not sum to 1"),
        (logs(with_entry(0.5)), "do not sum to 1"),
        (logs(with_entry(-3.0)), "do not sum to 1"),
        (logs(with_entry(1e300)), "do not sum to 1"),
        (logs(GOOD), "is not that of the last round"),
        (put("teacher", "hypothesis", 3), "no hypothesis at position 3"),
        (put("teacher", "hypothesis", 1.0), "no hypothesis called 1.0"),
        (put("teacher", "hypothesis", True), "no hypothesis called True"),
        (put("teacher", "rng", None), "damaged"),
        (put("teacher", "rng", {"bit_generator": "Generator"}), "damaged"),
        (put("teacher", "choice", "best"), "choice is 'best'"),
        (put("teacher", "kind", "learner"), "the teacher is a learner"),
        (put("teacher", "kind", "wizard"), "agent is a 'wizard'"),
        (
            lambda c: c["learner"].update(log_belief=[0.0, None, None]),
            "is not that of the last round",
        ),
        (lambda c: c.update(learner=3), "damaged"),
        (put("learner", "rule", {"#object": 99}), "a reference is 99"),
        (put("learner", "rule", {"#object": -1}), "a reference is -1"),
        (put("learner", "rule", {"#object": True}), "a reference is True"),
        (put("learner", "rule", {"#object": 0}), "the rule is of type Model; expected a rule"),
    ],
)
def test_damaged_lessons_get_one_clear_error(tmp_path, change, message):
    path = tmp_path / "lesson.json"
    lesson(3).save(path)
    edit(path, change)
    with pytest.raises(cb.CobayesError, match=message):
        cb.Lesson.load(path)


def test_a_lesson_goes_through_json_and_back():
    rule = cb.SCBI([[1.0, 0.0, 1.0], [1.0, 2.0, 1.0], [0.0, 1.0, 1.0]])  # beliefs become zero
    made = cb.run_lesson(cb.Teacher(rule, 2, rng=4), cb.Learner(rule), 6)
    assert np.isinf(made.log_beliefs).any()
    content = json.loads(json.dumps(made.to_dict(), allow_nan=False))
    again = cb.Lesson.from_dict(content)
    assert again.to_dict() == content
    assert np.array_equal(again.extend(3).log_beliefs, made.extend(3).log_beliefs)
    assert again.teacher.rule is again.learner.rule


@pytest.mark.parametrize(
    "change",
    [
        lambda s: s["state"].update(state=2**128),
        lambda s: s["state"].update(state=-1),
        lambda s: s["state"].update(inc="1"),
        lambda s: s["state"].update(inc=2),
        lambda s: s["state"].pop("inc"),
        lambda s: s.update(uinteger=2**32),
        lambda s: s.update(has_uint32=2),
        lambda s: s.update(extra=0),
        lambda s: s.update(bit_generator="MT19937"),
    ],
)
def test_no_unchecked_field_of_a_generator_reaches_numpy(tmp_path, change):
    path = tmp_path / "teacher.json"
    cb.Teacher(cb.SCBI(MODEL), 0, rng=1).save(path)
    edit(path, lambda content: change(content["rng"]))
    with pytest.raises(cb.CobayesError, match=r"saved teacher (is damaged|has no entry)"):
        cb.Teacher.load(path)


def test_only_numpys_default_generator_is_saved(tmp_path):
    teacher = cb.Teacher(cb.SCBI(MODEL), 0, rng=np.random.Generator(np.random.MT19937(1)))
    with pytest.raises(cb.CobayesError, match="generator MT19937 cannot be saved"):
        teacher.save(tmp_path / "teacher.json")


def test_a_matrix_that_both_agents_hold_is_written_once(tmp_path):
    matrix = np.random.default_rng(0).uniform(0.1, 1.0, (400, 50))
    rule = cb.BI(matrix)
    run = cb.run_lesson(cb.Teacher(rule, 0, rng=0), cb.Learner(rule), 2)
    run.save(tmp_path / "lesson.json")
    assert (tmp_path / "lesson.json").read_text().count(str(matrix[0, 0])) == 1
    again = cb.Lesson.load(tmp_path / "lesson.json")
    assert again.teacher.rule is again.learner.rule
    assert again.model == rule.model


def test_a_changed_number_is_found(tmp_path):
    path = tmp_path / "lesson.json"
    lesson(3).save(path)
    text = path.read_text()
    start = text.index(str(MODEL.matrix[0, 0]))
    path.write_text(f"{text[:start]}1{text[start:]}")
    with pytest.raises(cb.CobayesError, match="does not match its checksum"):
        cb.Lesson.load(path)


def test_deep_nesting_is_an_error(tmp_path):
    path = tmp_path / "lesson.json"
    path.write_text("[" * 100_000)
    with pytest.raises(cb.CobayesError, match="not valid JSON"):
        cb.Lesson.load(path)


def test_loading_something_else_says_what_it_is(tmp_path):
    path = tmp_path / "x.json"
    cb.Learner(cb.SCBI(MODEL)).save(path)
    with pytest.raises(cb.CobayesError, match="not a saved lesson: its kind is 'learner'"):
        cb.Lesson.load(path)
    for content in (b"{", b"PK rest", b"\xff\xfe", b""):
        path.write_bytes(content)
        with pytest.raises(cb.CobayesError, match="not valid JSON"):
            cb.Lesson.load(path)
    path.write_text("{}")
    with pytest.raises(cb.CobayesError, match="not saved by cobayes"):
        cb.Lesson.load(path)
    with pytest.raises(cb.CobayesError, match="there is no file"):
        cb.Lesson.load(tmp_path / "missing.json")
    with pytest.raises(cb.CobayesError, match="cannot be written"):
        cb.Learner(cb.SCBI(MODEL)).save(tmp_path / "no" / "such" / "folder.json")


@pytest.mark.parametrize("path", [None, 3, b"lesson.json"])
def test_what_is_no_path_is_an_error(path):
    with pytest.raises(cb.CobayesError, match="expected the path"):
        cb.Lesson.load(path)
    with pytest.raises(cb.CobayesError, match="expected the path"):
        lesson(2).save(path)


def test_a_device_or_a_pipe_is_not_read(tmp_path):
    (tmp_path / "endless").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / "pipe")
    for name in ("endless", "pipe"):
        with pytest.raises(cb.CobayesError, match="is a device or a pipe"):
            cb.Lesson.load(tmp_path / name)


def test_a_file_cannot_name_another_file_to_be_read(tmp_path):
    secret = tmp_path / "secret.csv"
    secret.write_text("0.7,0.2\n0.3,0.8\n")
    path = tmp_path / "lesson.json"
    rule = cb.BI(cb.without_repeats([[0.7, 0.2], [0.3, 0.8]]))
    cb.Learner(rule).save(path)
    edit(path, lambda c: c["objects"][1]["settings"].update(task=str(secret)))
    with pytest.raises(cb.CobayesError, match="the task of a task is text"):
        cb.Learner.load(path)
    edit(path, lambda c: c["objects"][0]["settings"].update(matrix=str(secret)))
    with pytest.raises(cb.CobayesError, match="the matrix of a task is text"):
        cb.Learner.load(path)


TASKS = {
    "sets": lambda M: cb.sets_of(M, 2),
    "limits": lambda M: cb.limited_to(M, [0, 2]),
    "costs": lambda M: cb.moving_costs(M, np.ones((4, 4)) - np.eye(4)),
    "all three": lambda M: cb.without_repeats(
        cb.moving_costs(cb.limited_to(M, [0, 1, 3]), np.eye(4))
    ),
    "the paper's grid": lambda _: cb.GridWorld.paper(),
    "a board": lambda _: cb.without_repeats(cb.GridWorld.from_text("A..B\n.#..\n.S..", slip=0.1)),
    "gymnasium": lambda _: cb.worlds.world_from_gymnasium("FrozenLake-v1", [15, 3]),
}


@pytest.mark.parametrize("make", TASKS.values(), ids=TASKS)
def test_lessons_on_every_task_load_in_a_fresh_process(tmp_path, make):
    rule = cb.SCBI(make(np.arange(12.0).reshape(4, 3) % 5 + 1))
    lesson = cb.run_lesson(cb.Teacher(rule, 1, rng=3), cb.Learner(rule), 2)
    lesson.save(tmp_path / "lesson.json")
    load = """import sys, cobayes as cb
lesson = cb.Lesson.load(sys.argv[1])
print(lesson.extend(1).data_labels, lesson.log_beliefs.tolist(), lesson.states)"""
    command = [sys.executable, "-c", load, str(tmp_path / "lesson.json")]
    loaded = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    more = lesson.extend(1)
    assert loaded == f"{more.data_labels} {lesson.log_beliefs.tolist()} {lesson.states}\n"


class Softer(cb.Rule):
    """A custom rule whose settings do not name its parameter."""

    name = "softer"

    def __init__(self, matrix, softness=0.5):
        super().__init__(matrix)
        self.softness = softness

    def respond(self, log_belief, memory=None):
        softer = self.model.normalized() ** self.softness
        return cb.rules.Response(softer / softer.sum(axis=0))


class Named(Softer):
    """The same with settings."""

    name = "named softer"

    def settings(self):
        return {"softness": self.softness}


def test_a_parameter_that_settings_do_not_name_is_never_lost(tmp_path):
    with pytest.raises(cb.CobayesError, match="do not name the parameter 'softness'"):
        cb.Learner(Softer(MODEL, 0.9)).save(tmp_path / "learner.json")
    with pytest.raises(cb.CobayesError, match="do not name the parameter 'softness'"):
        Softer(MODEL, 0.9).to_dict()
    with pytest.raises(cb.CobayesError, match="do not name the parameter 'softness'"):
        cb.Learner(Softer(cb.without_repeats(MODEL), 0.9)).observe(0)
    cb.Learner(Named(MODEL, 0.9)).save(tmp_path / "learner.json")
    assert cb.Learner.load(tmp_path / "learner.json").rule.softness == 0.9


class Scaled(cb.tasks.Task):
    """A custom task whose settings leave out a parameter."""

    def __init__(self, matrix, power=1.0):
        self._model = cb.Model(cb.Model(matrix).matrix ** power)

    def matrix_at(self, state):
        return self._model

    def settings(self):
        return {"matrix": self._model}


def test_a_parameter_of_a_task_is_never_lost_either(tmp_path):
    with pytest.raises(cb.CobayesError, match="do not name the parameter 'power'"):
        cb.Learner(cb.BI(Scaled(MODEL, 2.0))).save(tmp_path / "learner.json")
