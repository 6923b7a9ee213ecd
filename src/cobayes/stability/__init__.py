"""Stability: success rates if teacher and learner differ, Section 5 of the paper."""

from cobayes.stability.bounds import (
    conjectured_success,
    prior_distance,
    success_bounds,
    two_hypothesis_success,
)
from cobayes.stability.coupling import Coupling, coupling
from cobayes.stability.enclosure import SuccessEnclosure, success_enclosure
from cobayes.stability.robustness import Robustness, robustness, simplex_grid
from cobayes.stability.success import SuccessRate, success_rate, success_rates

__all__ = [
    "Coupling",
    "Robustness",
    "SuccessEnclosure",
    "SuccessRate",
    "conjectured_success",
    "coupling",
    "prior_distance",
    "robustness",
    "simplex_grid",
    "success_bounds",
    "success_enclosure",
    "success_rate",
    "success_rates",
    "two_hypothesis_success",
]
