"""One thread per shard: no oversubscription, and the same rounding everywhere.

Products of large matrices round differently on another number of BLAS threads (seen with
OpenBLAS from 100 x 100 on), so this is also what makes results the same bits for any executor.
Libraries that are loaded are told directly; those that a shard may load later read variables.
"""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterator

import threadpoolctl

from cobayes._runtime import threads

_VARIABLES = (
    "COBAYES_NUM_THREADS",
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


# Numba refuses to have it changed once its threads run, so only new processes get it.
_VARIABLES_OF_WORKERS = (*_VARIABLES, "NUMBA_NUM_THREADS")


@contextlib.contextmanager
def environment(names: tuple[str, ...] = _VARIABLES_OF_WORKERS) -> Iterator[None]:
    """Set the variables for processes started, and libraries loaded, within the block.

    Parameters
    ----------
    names
        The variables to set.
    """
    before = {name: os.environ.get(name) for name in names}
    os.environ.update(dict.fromkeys(names, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextlib.contextmanager
def here() -> Iterator[None]:
    """Limit this process within the block."""
    before = threads.num_threads()
    threads.set_num_threads(1)
    try:
        with environment(_VARIABLES), threadpoolctl.threadpool_limits(1):
            yield
    finally:
        threads.set_num_threads(before)


@functools.cache
def for_good() -> None:
    """Limit this process, which is a worker, from now on."""
    os.environ.update(dict.fromkeys(_VARIABLES, "1"))
    threads.set_num_threads(1)
    threadpoolctl.threadpool_limits(1)
