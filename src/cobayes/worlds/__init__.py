"""Worlds: a walker shows its goal by its moves, and a watcher infers it.

Modules load when they are first used. ``import cobayes`` registers the grid world with Gymnasium.
Gymnasium has no entry points for environments, and importing it here would make ``import cobayes``
slow. Therefore, if Gymnasium is not loaded yet, an import hook registers the environment later,
right after the import of Gymnasium.
"""

import sys
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)

ENVIRONMENT = "cobayes/GridWorld-v0"


def register() -> None:
    """Register the environment, unless it is registered already."""
    from gymnasium.envs import registration

    if ENVIRONMENT not in registration.registry:
        registration.register(
            id=ENVIRONMENT, entry_point="cobayes.worlds.gym:GridWorldEnv", max_episode_steps=200
        )


class AfterImport:
    """An import hook that registers our environment after Gymnasium has been imported."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:  # noqa: ARG002
        """Return the spec of Gymnasium's module; its loader then registers our environment."""
        if name != "gymnasium.envs":
            return None
        sys.meta_path.remove(self)
        spec = PathFinder.find_spec(name, path)
        loader: Any = None if spec is None else spec.loader
        if loader is not None:
            execute = loader.exec_module

            def execute_and_register(module: ModuleType) -> None:
                execute(module)
                register()

            loader.exec_module = execute_and_register
        return spec


def register_with_gymnasium() -> None:
    """Register now if Gymnasium is already imported, else after its import."""
    if "gymnasium.envs" in sys.modules:
        register()
    else:
        sys.meta_path.insert(0, AfterImport())
