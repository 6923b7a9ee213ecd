"""Making ``gymnasium.make("cobayes/GridWorld-v0")`` work, whichever is imported first.

Gymnasium 1.0 and later look for no plug-ins: an environment is known once its package has been
imported and has registered it. Importing Gymnasium takes long, so this waits for somebody else to
do it.
"""

from __future__ import annotations

import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from typing import Any

ENVIRONMENT = "cobayes/GridWorld-v0"


def register() -> None:
    """Tell Gymnasium about the grid world; a second time nothing happens."""
    from gymnasium.envs import registration

    if ENVIRONMENT not in registration.registry:
        registration.register(
            id=ENVIRONMENT, entry_point="cobayes.worlds.gym:GridWorldEnv", max_episode_steps=200
        )


def register_when_imported() -> None:
    """Register now if Gymnasium is loaded, else as soon as it is."""
    if "gymnasium" in sys.modules:
        register()
    elif not any(isinstance(finder, _Waiter) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Waiter())


class _Waiter(MetaPathFinder):
    """Steps aside when Gymnasium is imported, and registers when that is done."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        del path, target
        if fullname != "gymnasium":
            return None
        sys.meta_path.remove(self)
        spec = find_spec(fullname)
        if spec is None or spec.loader is None:
            return spec
        load = spec.loader.exec_module

        def load_and_register(module: Any) -> None:
            load(module)
            register()

        spec.loader.exec_module = load_and_register
        return spec
