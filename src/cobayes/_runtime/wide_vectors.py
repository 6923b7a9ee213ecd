"""Letting the compiler use 512-bit vectors, where it can be told to.

LLVM stops at 256 bits on processors that once ran slower with more; on today's the loops of this
package gain a third. The request is an attribute of the compiled function, which other processors
ignore. Numba has no official way to set one, so it is tried out once: should it ever fail, the
request is dropped and only speed is lost.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import intrinsic

from cobayes._runtime.compiled import compiled

logger = logging.getLogger("cobayes")

# Inside compiled code an intrinsic is called without its first argument; types cannot say so.
_lowered: Any = intrinsic


@_lowered
def ask_for_wide_vectors(typingctx):  # noqa: ARG001
    """Give the function that calls this the attribute."""

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        # llvmlite's own `add` admits only attributes that it knows; the set takes any.
        set.add(builder.function.attributes, '"prefer-vector-width"="512"')
        return context.get_dummy_value()

    return types.none(), generate


@compiled()
def ask_for_nothing():
    """Stand in for `ask_for_wide_vectors` where it does not work."""


@compiled()
def _double(values):
    ask_for_wide_vectors()
    for k in range(values.size):
        values[k] += values[k]


def choose_vector_width(trial: Callable[[Any], None] = _double) -> Any:
    """Return `ask_for_wide_vectors` if a function that calls it works, else `ask_for_nothing`.

    Parameters
    ----------
    trial
        Doubles an array in place.
    """
    try:
        values = np.arange(16.0)
        trial(values)
        np.testing.assert_array_equal(values, 2.0 * np.arange(16.0))
    except Exception as error:  # whatever goes wrong inside a compiler, there is another way
        logger.debug("512-bit vectors cannot be asked for here: %s", error)
        return ask_for_nothing
    return ask_for_wide_vectors


use_wide_vectors = choose_vector_width()
