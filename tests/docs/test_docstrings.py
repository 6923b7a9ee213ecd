"""Examples in docstrings print what they say, and every public name has one."""

import ast
import doctest
import importlib
import inspect
import itertools
import re

import matplotlib as mpl
import pytest

import cobayes as cb
from tests.docs.pages import ROOT

mpl.use("Agg")

SOURCE = ROOT / "src"
MODULES = sorted(
    ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")
    for path in (SOURCE / "cobayes").rglob("*.py")
    if ">>> " in path.read_text(encoding="utf-8")
)


@pytest.mark.slow
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name, tmp_path, monkeypatch):
    from matplotlib import pyplot as plt

    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(importlib.import_module(name))
    plt.close("all")
    assert found.failed == 0


def test_every_public_name_has_an_example_and_says_what_it_returns():
    """Names in `__all__` of the package and of its public modules; constants need none."""
    rooms = [cb] + [
        importlib.import_module(f"cobayes.{path.parent.name}")
        for path in (SOURCE / "cobayes").glob("[a-z]*/__init__.py")
    ]
    things = {
        f"{room.__name__}.{name}": getattr(room, name)
        for room in rooms
        for name in getattr(room, "__all__", ())
    }
    callables = {
        name: thing
        for name, thing in things.items()
        if callable(thing) and not inspect.ismodule(thing)
    }
    assert len(callables) > 150
    assert [name for name, thing in callables.items() if ">>> " not in (thing.__doc__ or "")] == []
    for name, thing in callables.items():
        if inspect.isfunction(thing):
            assert "return" in thing.__annotations__, name
            if inspect.unwrap(thing).__annotations__["return"] != "None":
                assert re.search(r"\n *(Returns|Yields)\n", thing.__doc__), name


def test_every_parameter_in_a_docstring_has_an_indented_text():
    wrong = []
    for path in (SOURCE / "cobayes").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef | ast.ClassDef):
                continue
            _, _, text = (ast.get_docstring(node) or "").partition("Parameters\n----------\n")
            lines = [*text.split("\n\n")[0].splitlines(), ""]
            for name, described in itertools.pairwise(lines):
                if not name.startswith(" ") and not described.startswith(" "):
                    wrong.append((path.name, node.name, name))
    assert wrong == []
