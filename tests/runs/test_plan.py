from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cobayes.errors import CobayesError
from cobayes.runs import Experiment, Point, RunError, concatenate, run, shard_seed
from cobayes.runs.plan import function_digest, package_digest

from .experiments import draw, estimate


@given(st.integers(1, 10**12), st.integers(1, 10**12))
def test_shards_together_draw_exactly_the_samples_of_the_point(num_samples, samples_per_shard):
    point = Point("p", {}, num_samples, max(samples_per_shard, num_samples // 50))
    sizes = [point.samples_in(shard) for shard in range(point.num_shards)]
    assert sum(sizes) == num_samples
    assert min(sizes) >= 1
    assert set(sizes[:-1]) <= {point.samples_per_shard}


def test_every_shard_is_computed_once(tmp_path):
    points = [Point("a", {}, 3, 1), Point("b", {}, 1), Point("c", {}, 2, 1)]
    experiment = Experiment("x", points, first_number, reduce=concatenate)
    result = run(experiment, tmp_path, jobs=1)
    assert [len(set(point.statistics["first"])) for point in result] == [3, 1, 2]
    assert experiment.num_shards == 6


def test_parameters_become_what_json_gives_back():
    point = Point("p", {"matrix": np.eye(2), "n": np.int64(3), "pair": (1, 2), "x": 0.1})
    assert point.parameters == {"matrix": [[1, 0], [0, 1]], "n": 3, "pair": [1, 2], "x": 0.1}


@pytest.mark.parametrize("value", [object(), float("nan"), {1, 2}])
def test_parameters_that_json_cannot_hold_are_refused(value):
    with pytest.raises(CobayesError, match="point 'p' cannot be written as JSON"):
        Point("p", {"x": value})


@pytest.mark.parametrize("wrong", [0, -1, 1.5])
def test_sizes_must_be_whole_and_positive(wrong):
    with pytest.raises(CobayesError, match="num_samples of point 'p'"):
        Point("p", {}, wrong)
    with pytest.raises(CobayesError, match="samples_per_shard of point 'p'"):
        Point("p", {}, 10, wrong)


def test_two_points_with_one_name_are_refused():
    with pytest.raises(CobayesError, match="two points of 'x' are named 'a'"):
        Experiment("x", [Point("a"), Point("b"), Point("a")], draw)


def test_a_function_that_workers_cannot_import_is_refused():
    def local(parameters, seeds, num_samples):
        return {}

    for function in (local, lambda parameters, seeds, num_samples: {}, max):
        with pytest.raises(CobayesError, match="expected a function at the top of a module"):
            Experiment("x", [Point("a")], function)  # type: ignore[arg-type]


def test_points_without_a_way_to_join_shards_must_be_one_shard():
    assert Experiment("x", [Point("a", {}, 3)], draw, reduce=None).num_shards == 1
    with pytest.raises(CobayesError, match="point 'a' has 3 shards"):
        Experiment("x", [Point("a", {}, 3, 1)], draw, reduce=None)


def test_identity_is_the_same_for_equal_plans():
    one = Experiment("x", [Point("a", {"v": np.ones(2)})], draw, estimate=estimate)
    two = Experiment("x", (Point("a", {"v": [1.0, 1.0]}),), draw)
    assert one.identity() == two.identity()


def test_seed_does_not_depend_on_the_hash_seed_of_the_process():
    program = (
        "from cobayes.runs import shard_seed;"
        "print(shard_seed(5, 'rates', 'n = 3', 7).generate_state(2).tolist())"
    )
    seen = {
        subprocess.check_output(
            [sys.executable, "-c", program], env={**os.environ, "PYTHONHASHSEED": value}
        )
        for value in ("1", "2")
    }
    here = shard_seed(5, "rates", "n = 3", 7).generate_state(2).tolist()
    assert seen == {f"{here}\n".encode()}


def test_streams_differ_in_seed_experiment_point_and_shard():
    paths = [
        (0, "a", "b", 0),
        (1, "a", "b", 0),
        (0, "a", "b", 1),
        (0, "a", "c", 0),
        (0, "ab", "", 0),
        (0, "", "ab", 0),
        (0, "b", "a", 0),
        (0, "1:a", "b", 0),
    ]
    states = {tuple(shard_seed(*path).generate_state(4).tolist()) for path in paths}
    assert len(states) == len(paths)


def first_number(parameters, seeds, num_samples):
    return {"first": np.random.default_rng(seeds).random(1)}


def test_stream_of_a_shard_ignores_how_many_points_and_shards_there_are(tmp_path):
    firsts = []
    for points in ([Point("b", {}, 10, 10)], [Point("a"), Point("b", {}, 50, 10)]):
        experiment = Experiment("x", points, first_number, reduce=concatenate)
        result = run(experiment, tmp_path / str(len(points)), jobs=1)
        firsts.append(result["b"].statistics["first"][0])
    assert firsts[0] == firsts[1]


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A user's package whose shard function calls another module, which calls a third."""
    folder = tmp_path / "mypackage"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "shards.py").write_text(SHARDS)
    (folder / "helpers.py").write_text(
        "import numpy\nfrom mypackage import deep\n\n\ndef value():\n    return deep.VALUE\n"
    )
    (folder / "deep.py").write_text("VALUE = 1\n")
    (folder / "unrelated.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "mypackage"]:
        del sys.modules[name]


SHARDS = """
from mypackage import unrelated

SCALE = 2
SIZES = [1, 2]
PLACES = []
CAPTION = "Words."


def shard(parameters, seeds, num_samples):
    from .helpers import value
    return {'total': twice(value())}


def twice(number):
    return SCALE * number * SIZES[0]


def draw_picture():
    return unrelated.x, CAPTION
"""


def test_a_change_of_what_the_shard_function_calls_is_never_complete_already(package, tmp_path):
    from mypackage.shards import shard  # pyright: ignore[reportMissingImports]

    experiment = Experiment("mine", [Point("p")], shard)
    run(experiment, tmp_path / "run", jobs=1)
    (package / "deep.py").write_text("VALUE = 2\n")
    with pytest.raises(RunError, match="the code of the shard function has changed"):
        run(experiment, tmp_path / "run", jobs=1)


EDITS = {
    "a comment": ("SCALE = 2", "# why\nSCALE = 2", True),
    "a docstring": ("def twice(number):\n", 'def twice(number):\n    """Words."""\n', True),
    "a caption": ('"Words."', '"Other words."', True),
    "a picture": ("unrelated.x, CAPTION", "CAPTION", True),
    "an import for a picture": ("import unrelated", "import helpers as unrelated", True),
    "another function between": ("def twice", "def thrice():\n    pass\n\n\ndef twice", True),
    "a constant": ("SCALE = 2", "SCALE = 3", False),
    "a function that is called": ("SCALE * number", "SCALE + number", False),
    "the function itself": ("'total'", "'sum'", False),
    "an assignment to the same name": ("def shard", "SCALE += 1\n\n\ndef shard", False),
    "a change in place": ("def shard", "SIZES[0] = 3\n\n\ndef shard", False),
    "a call that may change a value": ("def shard", "SIZES.append(3)\n\n\ndef shard", False),
    "a loop that may change a value": (
        "def shard",
        "for k in (0, 1):\n    SIZES[k] = k\n\n\ndef shard",
        False,
    ),
    "a change of another value": ("def shard", "PLACES.append(3)\n\n\ndef shard", True),
    "a module whose names are all imported": (
        "import unrelated\n",
        "import unrelated\nfrom mypackage.unrelated import *\n",
        False,
    ),
    "a start as a script": (
        "def shard",
        "if __name__ == '__main__':\n    print(SIZES, shard)\n\n\ndef shard",
        True,
    ),
}


@pytest.mark.parametrize("edit", EDITS)
def test_the_digest_covers_only_the_statements_that_the_function_reaches(package, edit):
    from mypackage.shards import shard  # pyright: ignore[reportMissingImports]

    old, new, is_same = EDITS[edit]
    before = function_digest(shard)
    assert old in SHARDS
    (package / "shards.py").write_text(SHARDS.replace(old, new))
    assert (function_digest(shard) == before) == is_same


def test_the_digest_covers_only_imported_modules_without_their_comments(package):
    from mypackage.shards import shard  # pyright: ignore[reportMissingImports]

    before = function_digest(shard)
    (package / "unrelated.py").write_text("x = 2\n")
    (package / "deep.py").write_text('"""Words."""\n\n# why\nVALUE = 1\n')
    assert function_digest(shard) == before
    (package / "deep.py").write_text("VALUE = 1.0\n")
    assert function_digest(shard) != before


def test_the_digest_of_an_interactive_function_covers_its_instructions():
    def digest(source):
        names = {"__name__": "__main__"}
        exec(source, names)
        return function_digest(names["interactive"])

    first = digest("def interactive(x):\n    return x + 1\n")
    assert digest("def interactive(x):\n    # why\n\n    return x + 1\n") == first
    assert digest('def interactive(x):\n    """Words."""\n    return x + 1\n') == first
    assert digest("def interactive(x):\n    return x + 2\n") != first


@pytest.mark.parametrize(
    "change",
    [
        ("x + 1", "x + 2"),
        ("SIZE = 3", "SIZE = 4"),
        ("eye(40)", "eye(40, k=39)"),
        ("step=5", "step=6"),
        ("scale=7", "scale=8"),
        ("{0, 8}", "{0, 9}"),
    ],
)
def test_the_digest_of_an_interactive_function_covers_what_it_names(change):
    source = (
        "import numpy as np\nSIZE = 3\nTABLE = np.eye(40)\nKINDS = {0, 8}\n"
        "def helper(x, step=5, *, scale=7):\n    return x + 1 if x else interactive(x)\n"
        "def interactive(x):\n    return helper(x) + SIZE + TABLE.sum() + len(KINDS)\n"
    )

    def digest(source):
        names = {"__name__": "__main__"}
        exec(source, names)
        return function_digest(names["interactive"])

    assert change[0] in source
    assert digest(source) == digest(source.replace("SIZE = 3", "SIZE = 3  # why"))
    assert digest(source) == digest(source.replace("{0, 8}", "{8, 0}"))  # another order in memory
    assert digest(source.replace(*change)) != digest(source)


def test_the_package_digest_covers_numerical_modules_without_comments(tmp_path, monkeypatch):
    import cobayes

    copy = tmp_path / "cobayes"
    for name in ("plots", "scaling", "runs"):
        (copy / name).mkdir(parents=True)
        (copy / name / "module.py").write_text("x = 1\n")
    (copy / "runs" / "progress.py").write_text("words = 'left'\n")
    monkeypatch.setattr(cobayes, "__file__", str(copy / "__init__.py"))

    def digests():
        package_digest.cache_clear()
        return package_digest(), package_digest(everything=True)

    try:
        numbers, everything = digests()
        (copy / "plots" / "module.py").write_text("x = 2\n")
        (copy / "runs" / "progress.py").write_text("words = 'to do'\n")
        (copy / "scaling" / "module.py").write_text('"""Words."""\nx = 1  # why\n')
        assert digests()[0] == numbers
        assert digests()[1] != everything
        (copy / "scaling" / "module.py").write_text("x = 3\n")
        assert digests()[0] != numbers
        numbers, everything = digests()
        core = tmp_path / "core.so"  # outside of the package, as in an editable install
        core.write_bytes(b"compiled")
        monkeypatch.setattr("cobayes.runs.plan._core", SimpleNamespace(__file__=core))
        assert digests()[0] != numbers
        assert digests()[1] != everything
    finally:
        monkeypatch.undo()
        package_digest.cache_clear()
