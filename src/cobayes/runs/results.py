"""Shards reduced in their order, and what a finished run returns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cobayes.errors import CobayesError, import_optional
from cobayes.runs.failures import RunError
from cobayes.runs.plan import Experiment
from cobayes.runs.statistics import Estimate, Statistics, pack, unpack


class PointReduction:
    """The reduced statistics of one point, up to the first shard that is missing.

    Parameters
    ----------
    experiment
        The plan, with its functions to reduce and to estimate.
    position
        The point's position in the plan, from 0.
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
            The shard's position within its point, from 0.
        packed
            Its statistics, as `pack` makes them.
        seconds
            What it cost, in seconds of one worker.
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
                "finished shards are kept; correct the function and run the same command again",
            ) from error


@dataclass(frozen=True)
class PointResult:
    """The result of one point.

    Parameters
    ----------
    name
        The point's name.
    parameters
        The point's parameters.
    num_samples
        How many samples went into it.
    statistics
        Statistics of all shards, reduced in their order.
    estimates
        From these statistics.
    seconds
        Work that went into it, added up over workers.

    Examples
    --------
    >>> from cobayes.runs import Estimate, PointResult
    >>> point = PointResult("one", {}, 100, {"total": 52.0}, {"mean": Estimate(0.52, 0.03)}, 0.1)
    >>> point.estimates["mean"].value
    0.52
    """

    name: str
    parameters: Mapping[str, Any]
    num_samples: int
    statistics: Statistics = field(repr=False)
    estimates: Mapping[str, Estimate]
    seconds: float


@dataclass(frozen=True)
class RunResult:
    """The result of an experiment: a sequence of points, also found by name.

    Parameters
    ----------
    experiment
        The experiment's name.
    seed
        The experiment's seed.
    points
        In the plan's order.
    folder
        Where the ledger is.
    seconds
        Time spent, added up over sessions.

    Examples
    --------
    >>> from pathlib import Path
    >>> from cobayes.runs import Estimate, PointResult, RunResult
    >>> point = PointResult("one", {}, 100, {"total": 52.0}, {"mean": Estimate(0.52, 0.03)}, 0.1)
    >>> result = RunResult("uniform", 1, (point,), Path("results"), 0.1)
    >>> result["one"].num_samples
    100
    """

    experiment: str
    seed: int
    points: tuple[PointResult, ...]
    folder: Path
    seconds: float

    def __getitem__(self, name: str) -> PointResult:
        for point in self.points:
            if point.name == name:
                return point
        raise CobayesError(
            f"{self.experiment!r} has no point named {name!r}.",
            f"its points are {', '.join(repr(point.name) for point in self.points[:10])}"
            + (", ..." if len(self.points) > 10 else ""),
        )

    def __iter__(self) -> Iterator[PointResult]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    @property
    def digest(self) -> str:
        """A fingerprint of all statistics: equal if and only if every bit is."""
        whole = hashlib.sha256()
        for point in self.points:
            whole.update(hashlib.sha256(pack(point.statistics)).digest())
        return whole.hexdigest()

    def to_dataframe(self):
        """Return a pandas DataFrame: a row per point with parameters and estimates.

        An estimate makes two columns, ``name`` and ``name_stderr``. Parameters that are lists
        or dicts are left out.
        """
        pandas = import_optional("pandas", "labels", "A table of results")
        return pandas.DataFrame(
            [self._row(point) for point in self.points],
            index=pandas.Index([point.name for point in self.points], name="point"),
        )

    def to_xarray(self):
        """Return an xarray Dataset over points; the parameters are its coordinates."""
        xarray = import_optional("xarray", "labels", "A labelled array of results")
        table = self.to_dataframe()
        names = [name for name in self._scalar_parameters() if name in table]
        data = xarray.Dataset.from_dataframe(table).set_coords(names)
        return data.assign_attrs(experiment=self.experiment, seed=self.seed)

    def _row(self, point: PointResult) -> dict[str, Any]:
        row = {name: point.parameters.get(name) for name in self._scalar_parameters()}
        row["num_samples"] = point.num_samples
        for name, estimate in point.estimates.items():
            row[name] = estimate.value
            row[f"{name}_stderr"] = estimate.stderr
        return row

    def _scalar_parameters(self) -> list[str]:
        names = dict.fromkeys(name for point in self.points for name in point.parameters)
        return [
            name
            for name in names
            if not any(isinstance(p.parameters.get(name), list | dict) for p in self.points)
        ]

    def __repr__(self) -> str:
        lines = [f"RunResult({self.experiment!r}, seed {self.seed}, {len(self.points)} points)"]
        for point in self.points[:8]:
            shown = ", ".join(f"{name} = {value}" for name, value in point.estimates.items())
            lines.append(f"  {point.name}: {shown or f'{point.num_samples} samples'}")
        if len(self.points) > 8:
            lines.append(f"  ... and {len(self.points) - 8} more")
        return "\n".join(lines)
