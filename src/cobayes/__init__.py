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
    "AllExactRounds": "cobayes.theory.exact_results",
    "AtomicMeasure": "cobayes.theory.measures",
    "BI": "cobayes.rules",
    "Certificate": "cobayes.stability.conjecture",
    "check_certificate": "cobayes.stability.conjecture",
    "check_invariants": "cobayes.theory.invariants",
    "CobayesError": "cobayes.errors",
    "CobayesWarning": "cobayes.errors",
    "compare_rates": "cobayes.theory.efficiency",
    "conjectured_success": "cobayes.stability",
    "ConvergenceError": "cobayes.errors",
    "cooperative_inference": "cobayes.rules",
    "CooperativeInference": "cobayes.rules",
    "coupling": "cobayes.stability",
    "Coupling": "cobayes.stability",
    "empirical_rate": "cobayes.theory.empirical",
    "EmpiricalRate": "cobayes.theory.empirical",
    "Ensemble": "cobayes.lessons",
    "exact_rounds": "cobayes.theory.exact",
    "exact_rounds_all": "cobayes.theory.exact",
    "ExactRounds": "cobayes.theory.exact_results",
    "Example": "cobayes.example_library",
    "examples": "cobayes.example_library",
    "expected_advantage": "cobayes.theory.advantage",
    "GridWorld": "cobayes.worlds",
    "InvariantReport": "cobayes.theory.invariants",
    "inverse_update": "cobayes.theory.maps",
    "Learner": "cobayes.lessons",
    "Legibility": "cobayes.worlds",
    "Lesson": "cobayes.lessons",
    "m_sharp": "cobayes.theory.rates",
    "measure_legibility": "cobayes.worlds",
    "MissingDependencyError": "cobayes.errors",
    "Model": "cobayes.model",
    "num_threads": "cobayes.threads",
    "plan_trajectory": "cobayes.worlds",
    "rare_probability": "cobayes.theory.rare_events",
    "RareProbability": "cobayes.theory.rare_events",
    "rate_of_convergence": "cobayes.theory.rates",
    "RateComparison": "cobayes.theory.efficiency",
    "read_model": "cobayes.reading",
    "relevant_hypothesis": "cobayes.theory.rates",
    "robustness": "cobayes.stability.robustness",
    "Robustness": "cobayes.stability.robustness",
    "RoundsNeeded": "cobayes.lessons",
    "run_lesson": "cobayes.lessons",
    "run_trajectory": "cobayes.worlds",
    "run_varying_lesson": "cobayes.worlds",
    "scale": "cobayes.scaling",
    "ScalingResult": "cobayes.scaling",
    "SCBI": "cobayes.rules",
    "set_num_threads": "cobayes.threads",
    "simulate": "cobayes.lessons",
    "smooth": "cobayes.model",
    "success_bounds": "cobayes.stability",
    "success_rate": "cobayes.stability",
    "SuccessBounds": "cobayes.stability",
    "SuccessRate": "cobayes.stability",
    "SuccessRates": "cobayes.stability",
    "TabularWorld": "cobayes.worlds",
    "taxi_world": "cobayes.worlds",
    "Teacher": "cobayes.lessons",
    "teaching_map": "cobayes.theory.maps",
    "TeachingSequences": "cobayes.stability",
    "Trajectory": "cobayes.worlds",
    "two_hypothesis_success": "cobayes.stability",
    "update_map": "cobayes.theory.maps",
    "walk_distribution": "cobayes.worlds",
    "WalkDistribution": "cobayes.worlds",
    "watch_actions": "cobayes.worlds",
    "World": "cobayes.worlds",
    "world_from_gymnasium": "cobayes.worlds",
    "WorldLearner": "cobayes.worlds",
    "WorldTeacher": "cobayes.worlds",
}
_MODULES = ("plots", "runs", "worlds")

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
    from cobayes import runs as runs
    from cobayes import worlds as worlds
    from cobayes.errors import CobayesError as CobayesError
    from cobayes.errors import CobayesWarning as CobayesWarning
    from cobayes.errors import ConvergenceError as ConvergenceError
    from cobayes.errors import MissingDependencyError as MissingDependencyError
    from cobayes.example_library import Example as Example
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
    from cobayes.stability import Coupling as Coupling
    from cobayes.stability import SuccessBounds as SuccessBounds
    from cobayes.stability import SuccessRate as SuccessRate
    from cobayes.stability import SuccessRates as SuccessRates
    from cobayes.stability import TeachingSequences as TeachingSequences
    from cobayes.stability import conjectured_success as conjectured_success
    from cobayes.stability import coupling as coupling
    from cobayes.stability import success_bounds as success_bounds
    from cobayes.stability import success_rate as success_rate
    from cobayes.stability import two_hypothesis_success as two_hypothesis_success
    from cobayes.stability.conjecture import Certificate as Certificate
    from cobayes.stability.conjecture import check_certificate as check_certificate
    from cobayes.stability.robustness import Robustness as Robustness
    from cobayes.stability.robustness import robustness as robustness
    from cobayes.theory.advantage import expected_advantage as expected_advantage
    from cobayes.theory.efficiency import RateComparison as RateComparison
    from cobayes.theory.efficiency import compare_rates as compare_rates
    from cobayes.theory.empirical import EmpiricalRate as EmpiricalRate
    from cobayes.theory.empirical import empirical_rate as empirical_rate
    from cobayes.theory.exact import exact_rounds as exact_rounds
    from cobayes.theory.exact import exact_rounds_all as exact_rounds_all
    from cobayes.theory.exact_results import AllExactRounds as AllExactRounds
    from cobayes.theory.exact_results import ExactRounds as ExactRounds
    from cobayes.theory.invariants import InvariantReport as InvariantReport
    from cobayes.theory.invariants import check_invariants as check_invariants
    from cobayes.theory.maps import inverse_update as inverse_update
    from cobayes.theory.maps import teaching_map as teaching_map
    from cobayes.theory.maps import update_map as update_map
    from cobayes.theory.measures import AtomicMeasure as AtomicMeasure
    from cobayes.theory.rare_events import RareProbability as RareProbability
    from cobayes.theory.rare_events import rare_probability as rare_probability
    from cobayes.theory.rates import m_sharp as m_sharp
    from cobayes.theory.rates import rate_of_convergence as rate_of_convergence
    from cobayes.theory.rates import relevant_hypothesis as relevant_hypothesis
    from cobayes.threads import num_threads as num_threads
    from cobayes.threads import set_num_threads as set_num_threads
    from cobayes.worlds import GridWorld as GridWorld
    from cobayes.worlds import Legibility as Legibility
    from cobayes.worlds import TabularWorld as TabularWorld
    from cobayes.worlds import Trajectory as Trajectory
    from cobayes.worlds import WalkDistribution as WalkDistribution
    from cobayes.worlds import World as World
    from cobayes.worlds import WorldLearner as WorldLearner
    from cobayes.worlds import WorldTeacher as WorldTeacher
    from cobayes.worlds import measure_legibility as measure_legibility
    from cobayes.worlds import plan_trajectory as plan_trajectory
    from cobayes.worlds import run_trajectory as run_trajectory
    from cobayes.worlds import run_varying_lesson as run_varying_lesson
    from cobayes.worlds import taxi_world as taxi_world
    from cobayes.worlds import walk_distribution as walk_distribution
    from cobayes.worlds import watch_actions as watch_actions
    from cobayes.worlds import world_from_gymnasium as world_from_gymnasium
