"""Files from elsewhere: matrices, lessons and ledgers, damaged or crafted."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.runs import read_state, run
from tests.runs.experiments import drawing

from .strategies import LABELS, NUMBERS, TASKS
from .test_calls import attempt

FUZZ = settings.get_profile("fuzz")

CELLS = st.one_of(
    st.sampled_from(
        ["0.5", "1", "0", "1,5", "1,200", "", "x", "NaN", "-1", "=1", '"', "1e999", "\0"]
    ),
    st.floats(0.0, 1.0).map(str),
    st.text(max_size=4),
)
TABLES = st.lists(st.lists(CELLS, min_size=1, max_size=4), min_size=1, max_size=4)
JSON_VALUES = st.recursive(
    NUMBERS.filter(lambda value: not isinstance(value, (bytes, complex))) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=8,
)
# Where to change bytes, and into what.
DAMAGE = st.lists(st.tuples(st.floats(0.0, 1.0), st.integers(0, 255)), min_size=1, max_size=4)


def damaged(content: bytes, changes) -> bytes:
    found = bytearray(content)
    for place, value in changes:
        found[min(int(place * len(found)), len(found) - 1)] = value
    return bytes(found)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("fuzz")


@FUZZ
@given(table=TABLES, delimiter=st.sampled_from(",;\t|"), suffix=st.sampled_from([".csv", ".tsv"]))
@example(table=[["sep=;"], ["a", "1,5"]], delimiter=";", suffix=".csv")
def test_tables_are_read_or_refused(folder, table, delimiter, suffix):
    path = folder / f"table{suffix}"
    text = "\n".join(delimiter.join(row) for row in table)
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    model = attempt(cb.read_model, path)
    assert model is None or np.isfinite(model.matrix).all()


@FUZZ
@given(
    content=st.binary(max_size=200), suffix=st.sampled_from([".csv", ".json", ".parquet", ".tsv"])
)
def test_any_bytes_are_read_or_refused(folder, content, suffix):
    path = folder / f"bytes{suffix}"
    path.write_bytes(content)
    attempt(cb.read_model, path)


@FUZZ
@given(
    matrix=st.lists(st.lists(JSON_VALUES, max_size=3), max_size=3) | JSON_VALUES,
    data=st.lists(LABELS.filter(lambda label: isinstance(label, (str, int)))) | JSON_VALUES,
)
def test_json_is_read_or_refused(folder, matrix, data):
    path = folder / "matrix.json"
    path.write_text(json.dumps({"matrix": matrix, "data": data}, default=str), encoding="utf-8")
    attempt(cb.read_model, path)


@pytest.fixture(scope="module")
def saved_lesson(folder):
    rule = cb.SCBI([[0.5, 0.2], [0.3, 0.6], [0.2, 0.2]])
    lesson = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 3)
    lesson.save(folder / "lesson")
    return (folder / "lesson").read_bytes()


@FUZZ
@given(changes=DAMAGE)
def test_a_damaged_lesson_is_refused_or_can_go_on(folder, saved_lesson, changes):
    path = folder / "damaged"
    path.write_bytes(damaged(saved_lesson, changes))
    lesson = attempt(cb.Lesson.load, path)
    if lesson is not None:
        np.testing.assert_allclose(lesson.beliefs.sum(axis=1), 1.0, rtol=1e-5)


@pytest.fixture(scope="module")
def crafted_lessons():
    """Return saved lessons on every task, as plain content."""
    matrix = [[0.5, 0.2, 0.3], [0.3, 0.6, 0.3], [0.2, 0.2, 0.4]]
    rules = [cb.SCBI(task(matrix)) for task in TASKS.values()]
    lessons = [cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 2) for rule in rules]
    return [lesson.to_dict() for lesson in lessons]


def with_change(content, place, value):
    """Return a copy of plain content in which something at a place in [0, 1] is another value."""
    content = json.loads(json.dumps(content))
    places = []

    def visit(inner):
        for key in inner if isinstance(inner, dict) else range(len(inner)):
            places.append((inner, key))
            if isinstance(inner[key], dict | list):
                visit(inner[key])

    visit(content)
    inner, key = places[min(int(place * len(places)), len(places) - 1)]
    inner[key] = value
    return content


@FUZZ
@given(
    number=st.integers(0, len(TASKS) - 1),
    place=st.floats(0.0, 1.0),
    value=JSON_VALUES | st.sampled_from(["/etc/passwd", "example:M_1", {"#object": 0}, 2**70]),
)
def test_a_crafted_lesson_is_refused_or_can_go_on(crafted_lessons, number, place, value):
    content = with_change(crafted_lessons[number], place, value)
    lesson = attempt(cb.Lesson.from_dict, content)
    if lesson is not None:
        np.testing.assert_allclose(lesson.beliefs.sum(axis=1), 1.0, rtol=1e-5)
        assert repr(lesson)
        attempt(lesson.extend, 1)


@pytest.fixture(scope="module")
def ledger(folder):
    run(drawing(4), folder / "run", jobs=1)
    return folder / "run"


@FUZZ
@given(changes=DAMAGE)
def test_a_damaged_run_is_refused_or_tells_the_same_state(folder, ledger, changes):
    expected = read_state(ledger)
    copy = folder / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(ledger, copy)
    for path in copy.iterdir():
        if path.is_file() and path.stat().st_size:
            path.write_bytes(damaged(path.read_bytes(), changes))
    state = attempt(read_state, copy)
    assert state is None or len(state.points) == len(expected.points)
