"""Worlds: a walker shows its goal by its moves, and a watcher infers it.

Modules load when they are first used. The Gymnasium environment ``cobayes/GridWorld-v0`` is
registered by importing `cobayes.worlds.gym`, which happens here if Gymnasium is loaded already;
``gymnasium.make("cobayes.worlds.gym:cobayes/GridWorld-v0")`` works in any case.
"""

from __future__ import annotations

import importlib
import sys
from typing import TYPE_CHECKING, Any

# Public name -> module that defines it.
_HOME = {
    "GridWorld": "grid",
    "Legibility": "legibility",
    "TabularWorld": "tabular",
    "Trajectory": "trajectory",
    "WalkDistribution": "tree",
    "World": "base",
    "WorldLearner": "agents",
    "WorldTeacher": "agents",
    "measure_legibility": "legibility",
    "plan_trajectory": "planning",
    "run_trajectory": "trajectory",
    "taxi_world": "adapters",
    "walk_distribution": "tree",
    "watch_actions": "trajectory",
    "world_from_gymnasium": "adapters",
}

__all__ = sorted(_HOME)  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'cobayes.worlds' has no attribute {name!r}")
    value = getattr(importlib.import_module(f"cobayes.worlds.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from cobayes.worlds.adapters import taxi_world as taxi_world
    from cobayes.worlds.adapters import world_from_gymnasium as world_from_gymnasium
    from cobayes.worlds.agents import WorldLearner as WorldLearner
    from cobayes.worlds.agents import WorldTeacher as WorldTeacher
    from cobayes.worlds.base import World as World
    from cobayes.worlds.grid import GridWorld as GridWorld
    from cobayes.worlds.legibility import Legibility as Legibility
    from cobayes.worlds.legibility import measure_legibility as measure_legibility
    from cobayes.worlds.planning import plan_trajectory as plan_trajectory
    from cobayes.worlds.tabular import TabularWorld as TabularWorld
    from cobayes.worlds.trajectory import Trajectory as Trajectory
    from cobayes.worlds.trajectory import run_trajectory as run_trajectory
    from cobayes.worlds.trajectory import watch_actions as watch_actions
    from cobayes.worlds.tree import WalkDistribution as WalkDistribution
    from cobayes.worlds.tree import walk_distribution as walk_distribution

if "gymnasium" in sys.modules:
    importlib.import_module("cobayes.worlds.gym")
