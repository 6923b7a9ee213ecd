"""Stability: what happens when teacher and learner differ, Section 5 of the paper."""

from cobayes.stability.bounds import (
    SuccessBounds,
    conjectured_success,
    prior_distance,
    success_bounds,
    two_hypothesis_success,
)
from cobayes.stability.coupling import Coupling, coupling
from cobayes.stability.results import SuccessRate, SuccessRates
from cobayes.stability.sequences import TeachingSequences
from cobayes.stability.success import success_rate

__all__ = [
    "Coupling",
    "SuccessBounds",
    "SuccessRate",
    "SuccessRates",
    "TeachingSequences",
    "conjectured_success",
    "coupling",
    "prior_distance",
    "success_bounds",
    "success_rate",
    "two_hypothesis_success",
]
