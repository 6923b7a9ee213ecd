"""Statistics of shards: storing them as bytes, adding them, and estimating from them."""

from __future__ import annotations

import functools
import hashlib
import io
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from cobayes._input.labels import find
from cobayes._input.validation import instance
from cobayes.errors import CobayesError, import_optional

Statistics = Mapping[str, Any]

_NUMBERS = "biufc"


def pack(statistics: Statistics) -> bytes:
    """Return statistics as NPZ bytes, which depend only on the arrays, their names and their order.

    Parameters
    ----------
    statistics
        Numbers or arrays of numbers, by name.
    """
    expected = 'a dict of numbers or arrays of numbers, such as {"count": 1000, "total": total}'
    instance(statistics, Mapping, "the result of the shard function", expected)
    arrays = {}
    for name, value in statistics.items():
        arrays[name] = np.asarray(value)
        if arrays[name].dtype.kind not in _NUMBERS:
            raise CobayesError(
                f"the statistic {name!r} is a {type(value).__name__}; "
                "expected a number of at most 64 bits or an array of numbers.",
            )
    file = io.BytesIO()
    # Names are not passed as keywords: a statistic named "file" would set an argument of `savez`.
    np.savez(file, np.array(list(arrays), dtype=str), *arrays.values())
    return file.getvalue()


def unpack(packed: bytes) -> dict[str, Any]:
    """Return the statistics from bytes made by `pack`; single numbers become Python numbers.

    Parameters
    ----------
    packed
        The bytes that `pack` returned.
    """
    with np.load(io.BytesIO(packed), allow_pickle=False) as arrays:
        names, *values = arrays.values()
    return {str(name): _plain(value) for name, value in zip(names, values, strict=True)}


def _plain(array: np.ndarray) -> Any:
    """Return an array, or the Python number of an array without dimensions."""
    return array if array.ndim else array.item()


def add(left: Statistics, right: Statistics) -> dict[str, Any]:
    """Add two sets of statistics name by name, the default way to reduce shards.

    Parameters
    ----------
    left, right
        Statistics with the same names and shapes.

    Returns
    -------
    dict
        The sums, under the same names.

    Examples
    --------
    >>> from cobayes.runs import add
    >>> add({"count": 2, "total": 3.0}, {"count": 1, "total": 0.5})
    {'count': 3, 'total': 3.5}
    """
    # NumPy's sum converts int32 and smaller types to 64 bits, so that counts do not overflow.
    return _joined(left, right, functools.partial(np.sum, axis=0))


def concatenate(left: Statistics, right: Statistics) -> dict[str, Any]:
    """Join two sets of statistics along the first axis, in the order of the shards.

    For experiments whose shards return one row per sample instead of sums.

    Parameters
    ----------
    left, right
        Statistics with the same names; arrays of at least one dimension.

    Returns
    -------
    dict
        The joined arrays, under the same names.

    Examples
    --------
    >>> import numpy as np
    >>> from cobayes.runs import concatenate
    >>> concatenate({"x": np.array([1.0, 2.0])}, {"x": np.array([3.0])})["x"]
    array([1., 2., 3.])
    """
    return _joined(left, right, np.concatenate)


def _joined(left: Statistics, right: Statistics, join: Callable[..., Any]) -> dict[str, Any]:
    if left.keys() != right.keys():
        raise CobayesError(
            f"two shards of one point returned different statistics: "
            f"{sorted(left)} and {sorted(right)}.",
            "a shard function must return the same names for all parameters and seeds.",
        )
    return {name: _plain(join([left[name], right[name]])) for name in left}


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error.

    Parameters
    ----------
    value
        The estimate; NaN without samples.
    stderr
        Its standard error; NaN if it is unknown.

    Examples
    --------
    >>> from cobayes.runs import Estimate
    >>> Estimate(0.75, 0.01)
    Estimate(value=0.75, stderr=0.01)
    """

    value: float
    stderr: float = math.nan

    def __str__(self) -> str:
        if not math.isfinite(self.stderr) or self.stderr <= 0:
            return f"{self.value:.6g}"
        # Two digits of the standard error; the value with as many decimals as the standard error.
        exponent = math.floor(math.log10(self.stderr))
        decimals = 1 - exponent
        if 0 <= decimals <= 10:
            return f"{self.value:.{decimals}f} ± {self.stderr:.{decimals}f}"
        return f"{self.value:.6g} ± {self.stderr:.1e}"


def mean_estimate(count: float, total: float, total_of_squares: float) -> Estimate:
    """Estimate a mean from the number of samples, their sum and the sum of their squares.

    Parameters
    ----------
    count
        Number of samples.
    total
        Their sum.
    total_of_squares
        The sum of their squares.

    Returns
    -------
    Estimate
        The mean and its standard error.

    Examples
    --------
    >>> from cobayes.runs import mean_estimate
    >>> mean_estimate(4, 10.0, 30.0).value
    2.5
    """
    if count == 0:
        return Estimate(math.nan)
    mean = float(total / count)
    squares = max(0.0, float(total_of_squares - count * mean * mean))
    return Estimate(mean, math.sqrt(squares / (count - 1) / count) if count > 1 else math.nan)


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
        Number of samples.
    statistics
        Statistics of all shards, reduced in their order.
    estimates
        Estimates from these statistics.
    seconds
        Computing time, summed over workers.

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
    """The result of an experiment. Iterate over its points, or find a point: ``result["one"]``.

    Parameters
    ----------
    experiment
        The experiment's name.
    seed
        The experiment's seed.
    points
        The results of the points, in the plan's order.
    folder
        The run's folder.

    Examples
    --------
    >>> from pathlib import Path
    >>> from cobayes.runs import Estimate, PointResult, RunResult
    >>> point = PointResult("one", {}, 100, {"total": 52.0}, {"mean": Estimate(0.52, 0.03)}, 0.1)
    >>> result = RunResult("uniform", 1, (point,), Path("results"))
    >>> result["one"].num_samples
    100
    """

    experiment: str
    seed: int
    points: tuple[PointResult, ...]
    folder: Path

    @property
    def seconds(self) -> float:
        """Computing time, summed over workers."""
        return sum(point.seconds for point in self.points)

    def __getitem__(self, name: str) -> PointResult:
        return self.points[find(name, [point.name for point in self.points], "point")]

    def __iter__(self) -> Iterator[PointResult]:
        return iter(self.points)

    @property
    def digest(self) -> str:
        """A digest of all statistics; two results share it only if all their bits are equal."""
        packed = b"".join(pack(point.statistics) for point in self.points)
        return hashlib.sha256(packed).hexdigest()

    def to_dataframe(self):
        """Return a pandas DataFrame with a row per point.

        The columns are the parameters, the number of samples, and two columns per estimate,
        ``name`` and ``name_stderr``. Parameters that are lists or dicts are omitted.
        """
        pandas = import_optional("pandas", "labels", "A table of results")
        rows = []
        for point in self.points:
            row = {k: v for k, v in point.parameters.items() if not isinstance(v, list | dict)}
            row["num_samples"] = point.num_samples
            for name, estimate in point.estimates.items():
                row |= {name: estimate.value, f"{name}_stderr": estimate.stderr}
            rows.append(row)
        names = [point.name for point in self.points]
        return pandas.DataFrame(rows, index=pandas.Index(names, name="point"))

    def to_xarray(self):
        """Return an xarray Dataset over points; the parameters are its coordinates."""
        xarray = import_optional("xarray", "labels", "A labelled array of results")
        data = xarray.Dataset.from_dataframe(self.to_dataframe())
        names = {name for point in self.points for name in point.parameters if name in data}
        return data.set_coords(names).assign_attrs(experiment=self.experiment, seed=self.seed)

    def __repr__(self) -> str:
        lines = [f"RunResult({self.experiment!r}, seed {self.seed}, {len(self.points)} points)"]
        for point in self.points[:8]:
            shown = ", ".join(f"{name} = {value}" for name, value in point.estimates.items())
            lines.append(f"  {point.name}: {shown or f'{point.num_samples} samples'}")
        if len(self.points) > 8:
            lines.append(f"  ... and {len(self.points) - 8} more")
        return "\n".join(lines)
