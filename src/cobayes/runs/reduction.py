"""Reducing the shards of a point in their order, as they arrive in any order."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cobayes.errors import CobayesError
from cobayes.runs.estimates import Estimate
from cobayes.runs.failures import RunError
from cobayes.runs.plan import Experiment
from cobayes.runs.statistics import Statistics, unpack


class PointReduction:
    """The reduced statistics of one point, up to the first shard that is missing.

    Parameters
    ----------
    experiment
        Which reduces and estimates.
    position
        Of the point.
    """

    def __init__(self, experiment: Experiment, position: int) -> None:
        self._experiment = experiment
        self._point = experiment.points[position]
        self._waiting: dict[int, bytes] = {}
        self._next = 0
        self.statistics: Statistics | None = None
        self.num_done = 0
        self.seconds = 0.0
        self.estimates: Mapping[str, Estimate] = {}
        self.has_news = False

    def put(self, shard: int, packed: bytes, seconds: float) -> None:
        """Take the statistics of a shard.

        Parameters
        ----------
        shard
            Its position.
        packed
            Its statistics.
        seconds
            Its cost.
        """
        self._waiting[shard] = packed
        self.num_done += 1
        self.seconds += seconds
        while self._next in self._waiting:
            statistics = self._unpacked(self._next)
            self._next += 1
            self.has_news = True
            if self.statistics is None:
                self.statistics = statistics
            else:
                self.statistics = self._call(
                    "reduce", self._experiment.reduce, self.statistics, statistics
                )

    def refresh(self) -> None:
        """Estimate anew from what is reduced so far."""
        self.has_news = False
        if self._experiment.estimate is not None and self.statistics is not None:
            self.estimates = self._call(
                "estimate", self._experiment.estimate, self.statistics, self._point.parameters
            )

    def _unpacked(self, shard: int) -> Statistics:
        try:
            return unpack(self._waiting.pop(shard))
        except CobayesError as error:
            raise RunError(
                f"shard {shard} of point {self._point.name!r} is damaged in the ledger: "
                f"{error.message}",
                "it was left alone: restore a copy of the ledger, or start over with --fresh",
            ) from error

    def _call(self, role: str, function: Any, *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except Exception as error:
            raise RunError(
                f"the {role} function failed on point {self._point.name!r}: {error!r}.",
                "finished shards are kept; mend the function and run the same command again",
            ) from error
