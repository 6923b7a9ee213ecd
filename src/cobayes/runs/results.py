"""What a finished run returns."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cobayes.errors import CobayesError, import_optional
from cobayes.runs.estimates import Estimate
from cobayes.runs.statistics import Statistics, pack


@dataclass(frozen=True)
class PointResult:
    """The result of one point.

    Parameters
    ----------
    name
        Of the point.
    parameters
        Of the point.
    num_samples
        How many samples went into it.
    statistics
        Of all shards, reduced in their order.
    estimates
        From these statistics.
    seconds
        Work that went into it, added up over workers.
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
        Its name.
    seed
        Its seed.
    points
        In the plan's order.
    folder
        Where the ledger is.
    seconds
        Time spent, added up over sessions.
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
