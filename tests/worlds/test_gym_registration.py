"""Gymnasium knows the grid world after ``import cobayes``."""

import subprocess
import sys

import pytest

NAME = "cobayes/GridWorld-v0"


def run(code):
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.parametrize(
    ("imports", "name"),
    [
        ("cobayes, gymnasium", NAME),
        ("gymnasium, cobayes", NAME),
        ("cobayes.worlds.gym, gymnasium", NAME),
        ("gymnasium", f"cobayes:{NAME}"),
    ],
)
def test_gymnasium_makes_the_environment_whichever_package_is_imported_first(imports, name):
    code = f"import {imports}; print(gymnasium.make('{name}').unwrapped.world.width)"
    assert run(code) == "7\n"


def test_gymnasium_is_not_imported_and_imports_are_left_as_they_were():
    loaded = "'gymnasium' in sys.modules, 'numpy' in sys.modules"
    assert run(f"import sys, cobayes.worlds; print({loaded})") == "False False\n"
    code = "import sys; n = len(sys.meta_path); import cobayes, gymnasium; "
    assert run(code + "print(len(sys.meta_path) - n)") == "0\n"
