"""The inner loop of the rates of random matrices: two columns of eight matrices at once.

It exists twice. `plain_column_pairs` is ordinary Numba and works wherever Numba does, but its
compiler cannot keep the sums of eight lanes in registers, which makes the loop several times
slower than the processor allows. `lowered_column_pairs` says the same in LLVM's own terms. These
belong to Numba's inside and may change, so they are tried out when this module is imported: should
anything fail, the plain loops are used. Results differ in rounding at most.

Attributes
----------
sum_columns, find_nearest, pairs_with
    The kernels; see `plain_column_pairs` for what they do.
"""

from __future__ import annotations

import importlib
import logging
from types import ModuleType

import numpy as np

from cobayes.random_matrices import plain_column_pairs
from cobayes.random_matrices.plain_column_pairs import WIDTH as WIDTH

logger = logging.getLogger("cobayes")


def choose_kernels() -> ModuleType:
    """Return the quick kernels if they compile and compute rightly here, else the plain ones."""
    try:
        quick = importlib.import_module("cobayes.random_matrices.lowered_column_pairs")
        try_out(quick)
    except Exception as error:  # whatever goes wrong inside a compiler, there is another way
        logger.info("the quick loops over columns do not work here (%s); using plain ones", error)
        return plain_column_pairs
    return quick


def try_out(kernels: ModuleType) -> None:
    """Run the kernels on a small case and raise an error unless the numbers are right.

    Parameters
    ----------
    kernels
        `plain_column_pairs` or a module with the same functions.
    """
    x = np.linspace(0.5, 2.0, 4 * WIDTH).reshape(2, 2, WIDTH)
    planes = np.stack([x, np.log(x), 1.0 / x]).reshape(3, -1)
    totals, pairs = np.full((7, 2 * WIDTH), 0.5), np.full((4, 2 * WIDTH), np.nan)
    kernels.sum_columns(planes, 0, 2, 2, totals)
    _require_close(totals[:3], np.stack([x, x * np.log(x), np.log(x)]).sum(axis=2).reshape(3, -1))
    totals[:3], totals[3], totals[4] = 0.5, -np.inf, np.inf
    kernels.pairs_with(0, planes, totals, 2, pairs)
    crosses = 0.5 * (x[0] * np.log(x)).sum(axis=1) - 0.5
    ratios = 0.5 * (x / x[0]).sum(axis=1)
    back_crosses = 0.5 * (x * np.log(x[0])).sum(axis=1) - 0.5
    back_ratios = 0.5 * (x[0] / x).sum(axis=1)
    expected = np.stack([crosses, ratios, back_crosses, back_ratios])
    _require_close(pairs, expected.reshape(4, -1))
    kernels.find_nearest(planes, 2, 2, totals)
    _require_close(totals[3], np.concatenate([crosses[1], back_crosses[1]]))
    _require_close(totals[4], np.concatenate([ratios[1], back_ratios[1]]))


def _require_close(found: np.ndarray, expected: np.ndarray) -> None:
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-14)


_kernels = choose_kernels()
sum_columns = _kernels.sum_columns
find_nearest = _kernels.find_nearest
pairs_with = _kernels.pairs_with
