"""Sinkhorn scaling of a table, and the blocks of a table with zeros."""

from cobayes.scaling.blocks import ScalingBlocks, scaling_blocks
from cobayes.scaling.scale import ScalingResult, scale

__all__ = ["ScalingBlocks", "ScalingResult", "scale", "scaling_blocks"]
