"""Saving and restoring random generators, with every field checked.

NumPy takes the state of a bit generator on trust: a position beyond its buffer reads foreign
memory. So nothing from a file reaches NumPy unchecked.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from cobayes.errors import CobayesError

Check = Callable[[Any, str], Any]


def pack(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random generator, with arrays as they are."""
    state = dict(rng.bit_generator.state)
    if state.get("bit_generator") not in FIELDS:
        raise CobayesError(
            f"the random generator {type(rng.bit_generator).__name__} cannot be saved.",
            f"use one of NumPy's own: {', '.join(FIELDS)}.",
        )
    return state


def unpack(content: Any) -> np.random.Generator:
    """Undo `pack`; ValueError where a field is not what NumPy needs."""
    if not isinstance(content, dict) or content.get("bit_generator") not in FIELDS:
        found = content.get("bit_generator") if isinstance(content, dict) else content
        raise ValueError(f"the random generator {found!r} is unknown")
    name = content["bit_generator"]
    checked = _record(FIELDS[name])({k: v for k, v in content.items() if k != "bit_generator"}, "")
    bit_generator = getattr(np.random, name)(0)
    bit_generator.state = {"bit_generator": name, **checked}
    return np.random.Generator(bit_generator)


def _whole(largest: int) -> Check:
    def check(value: Any, name: str) -> int:
        is_whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not is_whole or not 0 <= value <= largest:
            raise ValueError(f"the generator's {name} is {value!r}, outside of 0 to {largest}")
        return int(value)

    return check


def _odd(largest: int) -> Check:
    def check(value: Any, name: str) -> int:
        found = _whole(largest)(value, name)
        if found % 2 == 0:
            raise ValueError(f"the generator's {name} is {found}, which is not odd")
        return found

    return check


def _words(count: int, dtype: type, *, may_be_zeros: bool = True) -> Check:
    def check(value: Any, name: str) -> np.ndarray:
        if not isinstance(value, np.ndarray) or value.dtype != dtype or value.shape != (count,):
            raise ValueError(f"the generator's {name} is not {count} numbers of {dtype.__name__}")
        if not may_be_zeros and not value.any():
            raise ValueError(f"the generator's {name} is zero: it would draw nothing but zeros")
        return value.copy()

    return check


def _record(fields: dict[str, Check]) -> Check:
    def check(value: Any, name: str) -> dict[str, Any]:
        if not isinstance(value, dict) or set(value) != set(fields):
            raise ValueError(f"the generator's {name or 'state'} has not the fields {set(fields)}")
        return {key: fields[key](value[key], f"{name} {key}".strip()) for key in fields}

    return check


_BUFFERED = {"has_uint32": _whole(1), "uinteger": _whole(2**32 - 1)}
_PCG = {
    "state": _record({"state": _whole(2**128 - 1), "inc": _odd(2**128 - 1)}),
    **_BUFFERED,
}
FIELDS: dict[str, dict[str, Check]] = {
    "PCG64": _PCG,
    "PCG64DXSM": _PCG,
    "SFC64": {"state": _record({"state": _words(4, np.uint64)}), **_BUFFERED},
    "MT19937": {
        "state": _record({"key": _words(624, np.uint32, may_be_zeros=False), "pos": _whole(624)})
    },
    "Philox": {
        "state": _record({"counter": _words(4, np.uint64), "key": _words(2, np.uint64)}),
        "buffer": _words(4, np.uint64),
        "buffer_pos": _whole(4),
        **_BUFFERED,
    },
}
"""The fields of the state of each of NumPy's bit generators, and what they may hold."""
