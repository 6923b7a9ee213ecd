"""Sufficient statistics: checking, packing into bytes without loss, and adding up.

A shard's statistics are a flat mapping of names to numbers and small arrays. Packed, they are
a checksum, a line of JSON (names, types, shapes) and the raw bytes, so every float comes back
with the same bits.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
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
    for name, kind, *rest in json.loads(header):
        if kind == "int":
            statistics[name] = rest[0]
            continue
        dtype, shape = np.dtype(rest[0]), tuple(rest[1])
        size = dtype.itemsize * int(np.prod(shape, dtype=np.int64))
        array = np.frombuffer(data[offset : offset + size], dtype=dtype).reshape(shape)
        statistics[name] = array.copy() if kind == "array" else array[()]
        offset += size
    return statistics


def add(left: Statistics, right: Statistics) -> dict[str, Any]:
    """Add two sets of statistics name by name: how shards are reduced unless told otherwise.

    Parameters
    ----------
    left, right
        Statistics with the same names and shapes.
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
    """
    _check_same_names(left, right)
    return {name: np.concatenate([left[name], right[name]]) for name in left}


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
