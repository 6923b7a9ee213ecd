"""A run's identity covers all code that can change its numbers."""

from __future__ import annotations

import sys

import pytest

from cobayes.runs import Experiment, Point, RunError, code, run
from cobayes.runs.code import _digest_of, function_digest, package_digest


def test_digest_of_code_notices_a_change_but_no_comment():
    def digest(source: str) -> str:
        names: dict = {}
        exec(source, names)
        return _digest_of(names["f"].__code__)

    first = digest("def f(x):\n    return x in {'a', 'b'} or x + 1\n")
    assert digest("def f(x):\n    # why\n\n    return x in {'b', 'a'} or x + 1\n") == first
    assert digest("def f(x):\n    return x in {'a', 'b'} or x + 2\n") != first
    assert digest("def f(x):\n    return x in {'a', 'c'} or x + 1\n") != first


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A user's package whose shard function calls another module, which calls a third."""
    folder = tmp_path / "mypackage"
    folder.mkdir()
    (folder / "__init__.py").write_text("")
    (folder / "shards.py").write_text(
        "def shard(parameters, seeds, num_samples):\n"
        "    from .helpers import value\n"
        "    return {'total': value()}\n"
    )
    (folder / "helpers.py").write_text(
        "import numpy\nfrom mypackage import deep\n\n\ndef value():\n    return deep.VALUE\n"
    )
    (folder / "deep.py").write_text("VALUE = 1\n")
    (folder / "unrelated.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    yield folder
    for name in [name for name in sys.modules if name.partition(".")[0] == "mypackage"]:
        del sys.modules[name]


def test_a_change_of_what_the_shard_function_calls_is_never_complete_already(package, tmp_path):
    from mypackage.shards import shard  # pyright: ignore[reportMissingImports]

    experiment = Experiment("mine", [Point("p")], shard)
    run(experiment, tmp_path / "run", jobs=1)
    (package / "deep.py").write_text("VALUE = 2\n")
    with pytest.raises(RunError, match="the code of shard, or of what it imports, has changed"):
        run(experiment, tmp_path / "run", jobs=1)


def test_only_modules_that_are_reached_count_and_no_comment_does(package):
    from mypackage.shards import shard  # pyright: ignore[reportMissingImports]

    before = function_digest(shard)
    (package / "unrelated.py").write_text("x = 2\n")
    (package / "deep.py").write_text('"""Words."""\n\n# why\nVALUE = 1\n')
    assert function_digest(shard) == before
    (package / "deep.py").write_text("VALUE = 1.0\n")
    assert function_digest(shard) != before


def test_a_function_of_the_paper_covers_the_modules_of_the_paper_that_it_imports():
    from cobayes.paper.belief_experiments import exact_shard

    assert "belief_experiments.py" in code._modules_around(exact_shard)


def test_the_package_digest_covers_what_computes_and_not_what_shows(tmp_path, monkeypatch):
    import shutil
    from pathlib import Path

    import cobayes

    copy = tmp_path / "cobayes"
    shutil.copytree(
        Path(cobayes.__file__).parent, copy, ignore=shutil.ignore_patterns("__pycache__")
    )
    monkeypatch.setattr(cobayes, "__file__", str(copy / "__init__.py"))

    def digests():
        package_digest.cache_clear()
        return package_digest(), package_digest(everything=True)

    try:
        numbers, everything = digests()
        with (copy / "plots" / "style.py").open("a") as file:
            file.write("# another colour\n")
        assert digests()[0] == numbers
        assert digests()[1] != everything
        with (copy / "scaling" / "scale.py").open("a") as file:
            file.write("# anything at all\n")
        assert digests()[0] != numbers
    finally:
        monkeypatch.undo()
        package_digest.cache_clear()
