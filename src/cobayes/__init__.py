"""Sequential Cooperative Bayesian Inference (SCBI).

Everything public is imported from here; modules load when they are first used, so that
``import cobayes`` is quick.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from cobayes._version import __version__

# Public name -> module that defines it.
_HOME = {
    "BI": "cobayes.rules",
    "CobayesError": "cobayes.errors",
    "CobayesWarning": "cobayes.errors",
    "ConvergenceError": "cobayes.errors",
    "cooperative_inference": "cobayes.rules",
    "CooperativeInference": "cobayes.rules",
    "empirical_rate": "cobayes.theory.empirical",
    "Ensemble": "cobayes.lessons",
    "examples": "cobayes.example_library",
    "Learner": "cobayes.lessons",
    "Lesson": "cobayes.lessons",
    "MissingDependencyError": "cobayes.errors",
    "Model": "cobayes.model",
    "num_threads": "cobayes.threads",
    "read_model": "cobayes.reading",
    "RoundsNeeded": "cobayes.lessons",
    "run_lesson": "cobayes.lessons",
    "scale": "cobayes.scaling",
    "ScalingResult": "cobayes.scaling",
    "SCBI": "cobayes.rules",
    "set_num_threads": "cobayes.threads",
    "simulate": "cobayes.lessons",
    "smooth": "cobayes.model",
    "Teacher": "cobayes.lessons",
}
_MODULES = ("plots",)

__all__ = [*_HOME, *_MODULES, "__version__"]  # pyright: ignore[reportUnsupportedDunderAll]


def __getattr__(name: str) -> Any:
    if name in _HOME:
        value = getattr(importlib.import_module(_HOME[name]), name)
    elif name in _MODULES:
        value = importlib.import_module(f"cobayes.{name}")
    else:
        raise AttributeError(f"module 'cobayes' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)


if TYPE_CHECKING:
    from cobayes import plots as plots
    from cobayes.errors import CobayesError as CobayesError
    from cobayes.errors import CobayesWarning as CobayesWarning
    from cobayes.errors import ConvergenceError as ConvergenceError
    from cobayes.errors import MissingDependencyError as MissingDependencyError
    from cobayes.example_library import examples as examples
    from cobayes.lessons import Ensemble as Ensemble
    from cobayes.lessons import Learner as Learner
    from cobayes.lessons import Lesson as Lesson
    from cobayes.lessons import RoundsNeeded as RoundsNeeded
    from cobayes.lessons import Teacher as Teacher
    from cobayes.lessons import run_lesson as run_lesson
    from cobayes.lessons import simulate as simulate
    from cobayes.model import Model as Model
    from cobayes.model import smooth as smooth
    from cobayes.reading import read_model as read_model
    from cobayes.rules import BI as BI
    from cobayes.rules import SCBI as SCBI
    from cobayes.rules import CooperativeInference as CooperativeInference
    from cobayes.rules import cooperative_inference as cooperative_inference
    from cobayes.scaling import ScalingResult as ScalingResult
    from cobayes.scaling import scale as scale
    from cobayes.theory.empirical import empirical_rate as empirical_rate
    from cobayes.threads import num_threads as num_threads
    from cobayes.threads import set_num_threads as set_num_threads
