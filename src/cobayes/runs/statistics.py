"""Sufficient statistics: packing into bytes without loss, adding up, and estimates from them.

A shard's statistics are a flat mapping of names to numbers and small arrays. Packed, they are
a checksum, a line of JSON (names, types, shapes) and the raw bytes, so every float comes back
with the same bits.
"""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from cobayes.errors import CobayesError

Statistics = Mapping[str, Any]

_ARRAY_KINDS = "biufc"


def pack(statistics: Statistics) -> bytes:
    """Pack statistics into bytes; the same statistics always give the same bytes.

    Parameters
    ----------
    statistics
        Names to ints, floats, bools, or NumPy arrays and scalars of numbers.
    """
    if not isinstance(statistics, Mapping):
        raise CobayesError(
            f"the shard function returned a {type(statistics).__name__}; "
            "expected a dict of names to numbers or arrays of numbers.",
            'return something like {"count": 1000, "total": total}',
        )
    fields: list[list[Any]] = []
    chunks: list[bytes] = []
    for name, value in statistics.items():
        if not isinstance(name, str):
            raise CobayesError(f"a statistic is named {name!r}; expected a string.")
        if isinstance(value, int) and not isinstance(value, bool):
            # Python's ints have no largest value; JSON keeps all their digits.
            fields.append([name, "int", value])
            continue
        array = np.asarray(value)
        if array.dtype.kind not in _ARRAY_KINDS:
            raise CobayesError(
                f"the statistic {name!r} is a {type(value).__name__}; "
                "expected a number or an array of numbers.",
            )
        array = array.astype(array.dtype.newbyteorder("<"), copy=False)
        kind = "array" if isinstance(value, np.ndarray) else "scalar"
        fields.append([name, kind, array.dtype.str, list(array.shape)])
        chunks.append(array.tobytes())
    body = json.dumps(fields, separators=(",", ":")).encode() + b"\n" + b"".join(chunks)
    return zlib.crc32(body).to_bytes(4, "little") + body


def unpack(packed: bytes) -> dict[str, Any]:
    """Return the statistics that `pack` made into bytes.

    Parameters
    ----------
    packed
        What `pack` returned.
    """
    body = packed[4:]
    if len(packed) < 4 or zlib.crc32(body) != int.from_bytes(packed[:4], "little"):
        raise CobayesError("the stored statistics of a shard do not match their checksum.")
    header, _, data = body.partition(b"\n")
    statistics: dict[str, Any] = {}
    offset = 0
    try:
        for name, kind, *rest in json.loads(header):
            if kind == "int":
                statistics[str(name)] = int(rest[0])
                continue
            dtype, shape = np.dtype(str(rest[0])), tuple(map(int, rest[1]))
            if dtype.kind not in _ARRAY_KINDS or min(shape, default=0) < 0:
                raise ValueError(f"an array of type {dtype} and shape {shape}")
            size = dtype.itemsize * math.prod(shape)
            array = np.frombuffer(data[offset : offset + size], dtype=dtype).reshape(shape)
            statistics[str(name)] = array.copy() if kind == "array" else array[()]
            offset += size
    except (ValueError, TypeError, KeyError, OverflowError, RecursionError) as error:
        raise CobayesError(f"the stored statistics cannot be read: {error}.") from error
    if offset != len(data):
        raise CobayesError(f"{len(data) - offset} bytes follow the stored statistics.")
    return statistics


def add(left: Statistics, right: Statistics) -> dict[str, Any]:
    """Add two sets of statistics name by name: how shards are reduced unless told otherwise.

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
    _check_same_names(left, right)
    return {name: _widened(left[name]) + _widened(right[name]) for name in left}


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
    _check_same_names(left, right)
    return {name: np.concatenate([left[name], right[name]]) for name in left}


@dataclass(frozen=True)
class Estimate:
    """A number and its standard error.

    Parameters
    ----------
    value
        The estimate; NaN where there are no samples yet.
    stderr
        Its standard error; NaN where it is not known.

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
        # Two digits of the uncertainty, and as many decimals of the value.
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
    count, total, total_of_squares = float(count), float(total), float(total_of_squares)
    if count == 0:
        return Estimate(math.nan)
    mean = total / count
    if count == 1:
        return Estimate(mean)
    variance = max(0.0, total_of_squares - count * mean * mean) / (count - 1)
    return Estimate(mean, math.sqrt(variance / count))


def proportion_estimate(successes: float, trials: float) -> Estimate:
    """Estimate a probability from counts.

    The standard error adds two successes and two failures (Agresti and Coull), so that it
    is never zero: a proportion of one in a finite sample is not certain.

    Parameters
    ----------
    successes
        How often it happened.
    trials
        How often it could have.

    Returns
    -------
    Estimate
        The probability and its standard error.

    Examples
    --------
    >>> from cobayes.runs import proportion_estimate
    >>> found = proportion_estimate(10, 10)
    >>> found.value, round(found.stderr, 3)
    (1.0, 0.094)
    """
    successes, trials = float(successes), float(trials)
    if trials == 0:
        return Estimate(math.nan)
    adjusted = (successes + 2) / (trials + 4)
    return Estimate(successes / trials, math.sqrt(adjusted * (1 - adjusted) / (trials + 4)))


def _widened(value: Any) -> Any:
    """Return small integers as 64-bit ones: counts of many shards overflow them silently."""
    kind = getattr(getattr(value, "dtype", None), "kind", None)
    if kind in ("b", "i"):
        return value.astype(np.int64)
    if kind == "u":
        return value.astype(np.uint64)
    return value


def _check_same_names(left: Statistics, right: Statistics) -> None:
    if left.keys() != right.keys():
        raise CobayesError(
            f"two shards of one point returned different statistics: "
            f"{sorted(left)} and {sorted(right)}.",
            "a shard function returns the same names whatever its parameters and seed",
        )
