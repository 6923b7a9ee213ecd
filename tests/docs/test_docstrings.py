"""Examples in docstrings print what they say."""

import doctest
import importlib

import pytest

MODULES = (
    "assumptions",
    "classifiers",
    "lessons.agents",
    "lessons.comparing",
    "lessons.lesson",
    "lessons.planning",
    "lessons.simulation",
    "model",
    "rules.pragmatic",
    "rules.sequential",
    "scaling.blocks",
    "scaling.scale",
)


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name):
    found = doctest.testmod(importlib.import_module(f"cobayes.{name}"))
    assert found.failed == 0
