"""Files of lessons and agents: exact, compact, and checked in full."""

import base64
import io
import json
import zipfile

import numpy as np
import pytest

import cobayes as cb
from tests.lessons.test_lesson import MODEL, lesson


@pytest.mark.parametrize("split", [0, 1, 5, 8])
def test_a_lesson_saved_and_continued_equals_one_that_was_not_interrupted(tmp_path, split):
    whole = lesson(8)
    lesson(split).save(tmp_path / "lesson.npz")
    again = cb.Lesson.load(tmp_path / "lesson.npz").extend(8 - split)
    assert np.array_equal(again.data, whole.data)
    assert np.array_equal(again.log_beliefs, whole.log_beliefs)
    assert np.array_equal(again.teacher_log_beliefs, whole.teacher_log_beliefs)


@pytest.mark.parametrize(
    "bits",
    [
        np.random.PCG64,
        np.random.PCG64DXSM,
        np.random.MT19937,
        np.random.Philox,
        np.random.SFC64,
    ],
)
def test_agents_saved_in_mid_lesson_go_on_exactly(tmp_path, bits):
    rule = cb.SCBI(MODEL)
    teacher = cb.Teacher(rule, 2, rng=np.random.Generator(bits(5)))
    learner = cb.Learner(rule, prior=[0.1, 0.0, 0.9])
    for _ in range(3):
        learner.observe(teacher.choose())
    teacher.save(tmp_path / "t.npz")
    learner.save(tmp_path / "l.npz")
    first = cb.run_lesson(teacher, learner, 5)
    second = cb.run_lesson(
        cb.Teacher.load(tmp_path / "t.npz"), cb.Learner.load(tmp_path / "l.npz"), 5
    )
    assert np.array_equal(first.data, second.data)
    assert np.array_equal(first.log_beliefs, second.log_beliefs)


def edit(path, change):
    """Rewrite a saved file after a change of its content or its arrays."""
    with zipfile.ZipFile(path) as archive:
        content = json.loads(archive.read("content.json"))
        arrays = {
            name: np.load(io.BytesIO(archive.read(name)))
            for name in archive.namelist()
            if name.endswith(".npy")
        }
    change(content, arrays)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.json", json.dumps(content))
        for name, array in arrays.items():
            buffer = io.BytesIO()
            np.save(buffer, array)
            archive.writestr(name, buffer.getvalue())


def set_array(entry, values):
    """Return a change that puts other values into an array of a lesson."""

    def change(content, arrays):
        number = content["content"][entry]["#array"]
        arrays[f"{number}.npy"] = np.array(values)

    return change


def put(part, key, value):
    return lambda content, arrays: content["content"][part].update({key: value})


GOOD = np.log(np.full((4, 3), 1 / 3))


def with_entry(value):
    beliefs = GOOD.copy()
    beliefs[1, 1] = value
    return beliefs


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, _: c["content"].pop("data"), "no entry 'data'"),
        (lambda c, _: c.pop("objects"), "no entry 'objects'"),
        (lambda c, _: c["content"]["learner"].pop("rule"), "no entry 'rule'"),
        (lambda c, _: c["objects"][0].pop("task"), "damaged"),
        (lambda c, _: c["objects"][1].update(rule="magic"), "no rule called 'magic'"),
        (lambda c, _: c["objects"][1].update(settings={"depth": 3}), "damaged"),
        (set_array("data", [0, 99, 0]), "outside of 0 to 3"),
        (set_array("data", [0, -1, 0]), "outside of 0 to 3"),
        (set_array("data", [0.0, 1.5, 1.0]), "not a list of integers"),
        (set_array("data", [0]), "log_beliefs has the shape"),
        (set_array("teacher_log_beliefs", [[0.0]]), "teacher_log_beliefs has the shape"),
        (set_array("log_beliefs", with_entry(np.nan)), "do not sum to 1"),
        (set_array("log_beliefs", with_entry(0.5)), "do not sum to 1"),
        (set_array("log_beliefs", with_entry(-3.0)), "do not sum to 1"),
        (set_array("log_beliefs", with_entry(1e300)), "do not sum to 1"),
        (set_array("log_beliefs", GOOD), "another belief than its last round"),
        (put("teacher", "hypothesis", 3), "hypothesis is 3, outside of 0 to 2"),
        (put("teacher", "hypothesis", 1.0), "hypothesis is 1.0, not an integer"),
        (put("teacher", "hypothesis", True), "not an integer"),
        (put("teacher", "memory", "x"), "memory is a str"),
        (put("teacher", "rng", None), "random generator None is unknown"),
        (put("teacher", "rng", {"bit_generator": "Generator"}), "generator 'Generator' is unknown"),
        (put("learner", "rule", {"#object": 99}), "reference is 99"),
        (put("learner", "log_belief", {"#array": -1}), "reference is -1"),
    ],
)
def test_damaged_lessons_get_one_clear_error(tmp_path, change, message):
    path = tmp_path / "lesson.npz"
    lesson(3).save(path)
    edit(path, change)
    with pytest.raises(cb.CobayesError, match=message):
        cb.Lesson.load(path)


@pytest.mark.parametrize(
    ("bits", "change"),
    [
        ("MT19937", lambda s, _: s["state"].update(pos=700)),
        ("MT19937", lambda s, _: s["state"].update(pos=-1)),
        ("MT19937", lambda s, a: a.update({f"{s['state']['key']['#array']}.npy": np.zeros(3)})),
        ("Philox", lambda s, _: s.update(buffer_pos=5)),
        ("Philox", lambda s, _: s.update(has_uint32=2)),
        ("Philox", lambda s, _: s["state"].pop("counter")),
        ("PCG64", lambda s, _: s["state"].update(state=2**128)),
        ("PCG64", lambda s, _: s["state"].update(inc="1")),
        ("PCG64", lambda s, _: s["state"].update(inc=2)),
        ("PCG64", lambda s, _: s.update(uinteger=2**32)),
        ("PCG64", lambda s, _: s.update(extra=0)),
        ("SFC64", lambda s, _: s.update(state=[1, 2, 3, 4])),
    ],
)
def test_no_unchecked_field_of_a_generator_reaches_numpy(tmp_path, bits, change):
    path = tmp_path / "teacher.npz"
    rng = np.random.Generator(getattr(np.random, bits)(1))
    cb.Teacher(cb.SCBI(MODEL), 0, rng=rng).save(path)
    edit(path, lambda content, arrays: change(content["content"]["rng"], arrays))
    with pytest.raises(cb.CobayesError, match="saved teacher is damaged: the generator's"):
        cb.Teacher.load(path)


@pytest.mark.parametrize(
    "header",
    [
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,), }",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (True,), }",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "[" * 100,
        "no header",
    ],
)
def test_arrays_that_are_not_what_they_say_are_refused(tmp_path, header):
    path = tmp_path / "lesson.npz"
    lesson(3).save(path)
    line = f"{header:<117}\n".encode()
    raw = b"\x93NUMPY\x01\x00" + len(line).to_bytes(2, "little") + line + bytes(8)
    with zipfile.ZipFile(path) as old:
        entries = {name: old.read(name) for name in old.namelist()}
    with zipfile.ZipFile(path, "w") as new:
        for name, entry in {**entries, "0.npy": raw}.items():
            new.writestr(name, entry)
    with pytest.raises(cb.CobayesError, match="not a whole file that cobayes saved"):
        cb.Lesson.load(path)


def test_a_memory_of_another_size_is_not_used(tmp_path):
    path = tmp_path / "learner.npz"
    learner = cb.Learner(cb.SCBI(MODEL))
    learner.observe(0)
    learner.save(path)
    number = {}

    def shorten(content, arrays):
        number.update(content["content"]["memory"])
        arrays[f"{number['#array']}.npy"] = np.ones(1)

    edit(path, shorten)
    np.testing.assert_allclose(cb.Learner.load(path).observe(1), learner.observe(1), rtol=1e-9)


def test_a_matrix_that_both_agents_hold_is_written_once(tmp_path):
    matrix = np.random.default_rng(0).uniform(0.1, 1.0, (400, 50))
    rule = cb.BI(matrix)
    run = cb.run_lesson(cb.Teacher(rule, 0, rng=0), cb.Learner(rule), 2)
    run.save(tmp_path / "lesson.npz")
    assert (tmp_path / "lesson.npz").stat().st_size < 1.1 * matrix.nbytes
    again = cb.Lesson.load(tmp_path / "lesson.npz")
    assert again.teacher_state["rule"] is again.learner_state["rule"]
    assert again.model == rule.model


def test_numpy_opens_a_saved_lesson(tmp_path):
    run = lesson(3)
    run.save(tmp_path / "lesson.npz")
    with np.load(tmp_path / "lesson.npz") as arrays:
        assert any(np.array_equal(arrays[name], MODEL.matrix) for name in arrays if name.isdigit())


def test_a_flipped_bit_is_found(tmp_path):
    path = tmp_path / "lesson.npz"
    lesson(3).save(path)
    raw = path.read_bytes()
    start = raw.index(MODEL.matrix.tobytes())
    path.write_bytes(raw[: start + 5] + bytes([raw[start + 5] ^ 1]) + raw[start + 6 :])
    with pytest.raises(cb.CobayesError, match="not a whole file"):
        cb.Lesson.load(path)


def test_an_archive_that_is_larger_than_it_says_is_refused(tmp_path):
    path = tmp_path / "lesson.npz"
    for compression, header in ((zipfile.ZIP_DEFLATED, "(1,)"), (zipfile.ZIP_STORED, "(10**12,)")):
        with zipfile.ZipFile(path, "w", compression) as archive:
            archive.writestr("content.json", "{}")
            text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {header}, }}"
            text = text.replace("10**12", "1000000000000").ljust(117) + "\n"
            body = b"\x93NUMPY\x01\x00" + len(text).to_bytes(2, "little") + text.encode()
            archive.writestr("0.npy", body + bytes(8))
        with pytest.raises(cb.CobayesError, match="not a whole file"):
            cb.Lesson.load(path)


def test_deep_nesting_is_an_error(tmp_path):
    path = tmp_path / "lesson.npz"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("content.json", "[" * 100_000)
    with pytest.raises(cb.CobayesError, match="is not JSON"):
        cb.Lesson.load(path)


def test_loading_something_else_says_what_it_is(tmp_path):
    path = tmp_path / "x.npz"
    cb.Learner(cb.SCBI(MODEL)).save(path)
    with pytest.raises(cb.CobayesError, match="not a saved lesson: it says 'learner'"):
        cb.Lesson.load(path)
    path.write_text('{"cobayes_form')
    with pytest.raises(cb.CobayesError, match="is not JSON"):
        cb.Lesson.load(path)
    path.write_text("{}")
    with pytest.raises(cb.CobayesError, match="not saved by cobayes"):
        cb.Lesson.load(path)
    path.write_bytes(b"PK rest")
    with pytest.raises(cb.CobayesError, match="not a whole file"):
        cb.Lesson.load(path)
    with pytest.raises(cb.CobayesError, match="cannot be read"):
        cb.Lesson.load(tmp_path / "missing.npz")
    with pytest.raises(cb.CobayesError, match="cannot be written"):
        cb.Learner(cb.SCBI(MODEL)).save(tmp_path / "no" / "such" / "folder.npz")


def first_format():
    """Return a lesson of two rounds as version 1 wrote it."""
    beliefs = [
        [-0.6931471805599453, -0.6931471805599453],
        [-0.4282192471859265, -1.0546007314335861],
        [-0.23810241908570684, -1.551744491704482],
    ]
    agent = {
        "rule": {
            "rule": "SCBI",
            "matrix": [[0.7, 0.4], [0.3, 0.6]],
            "data": ["a", "b"],
            "hypotheses": ["x", "y"],
            "tolerance": 1e-12,
        },
        "log_belief": beliefs[-1],
        "memory": [1.056974407286046, 0.9303128919736129, 0.08204134366925064],
    }
    state = {
        "state": 287293064181297705261668019868518144697,
        "inc": 222003063171874261427395693950637096479,
    }
    rng = {"bit_generator": "PCG64", "state": state, "has_uint32": 0, "uinteger": 0}
    return {
        "cobayes_format": 1,
        "kind": "lesson",
        "data": [0, 0],
        "log_beliefs": beliefs,
        "teacher_log_beliefs": beliefs,
        "teacher": {"kind": "teacher", **agent, "hypothesis": 0, "rng": rng},
        "learner": {"kind": "learner", **agent},
    }


def test_lessons_of_the_first_format_go_on_as_they_would_have(tmp_path):
    path = tmp_path / "lesson.json"
    path.write_text(json.dumps(first_format()))
    run = cb.Lesson.load(path).extend(3)
    assert run.data_labels == ("a", "a", "b", "a", "a")  # what version 1 drew
    np.testing.assert_allclose(run.beliefs[-1], [0.90486062, 0.09513938], atol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c: c.update(data=[0, 1.5]), "datum is a float"),
        (lambda c: c.update(data=[0, True]), "datum is a bool"),
        (lambda c: c.update(data=[0, 2]), "outside of 0 to 1"),
        (lambda c: c.update(data=[0, 10**40]), "damaged"),
        (lambda c: c["log_beliefs"][1].__setitem__(0, "nan"), "do not sum to 1"),
        (lambda c: c["log_beliefs"][1].__setitem__(0, []), "damaged"),
        (lambda c: c["teacher"]["rule"].pop("matrix"), "no entry 'matrix'"),
        (lambda c: c["teacher"]["rng"]["state"].update(state=-1), "generator's state state is -1"),
        (
            lambda c: c["teacher"]["rng"].update(
                state={"dtype": "O", "values": [base64.b64encode(b"x").decode()]}
            ),
            "not the type of a generator's numbers",
        ),
        (lambda c: c.pop("learner"), "no entry 'learner'"),
    ],
)
def test_damaged_lessons_of_the_first_format_get_one_clear_error(tmp_path, change, message):
    path = tmp_path / "lesson.json"
    content = first_format()
    change(content)
    path.write_text(json.dumps(content))
    with pytest.raises(cb.CobayesError, match=message):
        cb.Lesson.load(path)
