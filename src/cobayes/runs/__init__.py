"""Experiments that are computed in parts, called shards.

An interrupted run can be continued. The result has the same bits on one core and on a cluster of
equal nodes.

>>> import cobayes as cb
>>> points = [cb.runs.Point(f"n = {n}", {"n": n}, 1000, 100) for n in (2, 3)]
>>> experiment = cb.runs.Experiment("mine", points, shard_function, seed=7)  # doctest: +SKIP
>>> result = cb.runs.run(experiment, "results/mine")                         # doctest: +SKIP
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
