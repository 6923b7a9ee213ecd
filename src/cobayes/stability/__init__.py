"""Stability: what happens when teacher and learner differ, Section 5 of the paper."""

from cobayes.stability.bounds import (
    SuccessBounds,
    conjectured_success,
    prior_distance,
    success_bounds,
    two_hypothesis_success,
)
from cobayes.stability.columns import (
    ColumnPerturbations,
    ColumnRoles,
    column_roles,
    equal_divergence_curve,
    mixtures_with_target,
    normalized_divergence,
    perturb_column,
    with_column,
)
from cobayes.stability.coupled import Coupling
from cobayes.stability.coupling import coupling
from cobayes.stability.enclosure import SuccessEnclosure, success_enclosure
from cobayes.stability.geometry import (
    SimplexPoints,
    along_directions,
    disc,
    random_directions,
    spherical_coordinates,
    uniform_points,
)
from cobayes.stability.results import SuccessRate, SuccessRates
from cobayes.stability.robustness import Robustness, robustness, simplex_grid
from cobayes.stability.sequences import TeachingSequences
from cobayes.stability.success import success_rate

__all__ = [
    "ColumnPerturbations",
    "ColumnRoles",
    "Coupling",
    "Robustness",
    "SimplexPoints",
    "SuccessBounds",
    "SuccessEnclosure",
    "SuccessRate",
    "SuccessRates",
    "TeachingSequences",
    "along_directions",
    "column_roles",
    "conjectured_success",
    "coupling",
    "disc",
    "equal_divergence_curve",
    "mixtures_with_target",
    "normalized_divergence",
    "perturb_column",
    "prior_distance",
    "random_directions",
    "robustness",
    "simplex_grid",
    "spherical_coordinates",
    "success_bounds",
    "success_enclosure",
    "success_rate",
    "two_hypothesis_success",
    "uniform_points",
    "with_column",
]
