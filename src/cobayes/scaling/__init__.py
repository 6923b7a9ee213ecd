"""Sinkhorn scaling: the problem, its solvers, its result."""

from cobayes.scaling.result import ScalingResult
from cobayes.scaling.scale import scale

__all__ = ["ScalingResult", "scale"]
