"""Sinkhorn scaling: the problem, its solvers, its result."""

from cobayes.scaling.blocks import ScalingBlocks, scaling_blocks
from cobayes.scaling.scale import ScalingResult, scale

__all__ = ["ScalingBlocks", "ScalingResult", "scale", "scaling_blocks"]
