"""How many threads to use, and running independent chunks on them.

Kernels release the interpreter's lock, so plain threads suffice. Work is always cut into
chunks by its size, never by the number of threads: results are the same bits for any number.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from cobayes.errors import CobayesError

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

_lock = threading.Lock()
_chosen: int | None = None
_pool: tuple[int, int, ThreadPoolExecutor] | None = None


def num_threads() -> int:
    """Return the number of threads that compiled code uses.

    The last value given to `set_num_threads`, else the environment variable
    ``COBAYES_NUM_THREADS``, else the number of cores that this process may use.
    """
    if _chosen is not None:
        return _chosen
    text = os.environ.get("COBAYES_NUM_THREADS")
    if text is None:
        return available_cores()
    try:
        count = int(text)
    except ValueError:
        count = 0
    return _validated(count, f"COBAYES_NUM_THREADS is {text!r}")


def set_num_threads(count: int | None) -> None:
    """Choose the number of threads; None goes back to the default.

    Parameters
    ----------
    count
        At least one, or None.
    """
    global _chosen
    _chosen = None if count is None else _validated(count, f"the number of threads is {count!r}")


def available_cores() -> int:
    """Return the number of cores that this process may run on."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def map_chunks(function: Callable[[Chunk], Result], chunks: Iterable[Chunk]) -> list[Result]:
    """Apply a function to every chunk, on several threads, and keep the order.

    Parameters
    ----------
    function
        Does its work in compiled code that releases the interpreter's lock.
    chunks
        Independent pieces of work, cut without regard to the number of threads.
    """
    pieces = list(chunks)
    threads = min(num_threads(), len(pieces))
    if threads <= 1:
        return [function(piece) for piece in pieces]
    return list(_shared_pool(num_threads()).map(function, pieces))


def _shared_pool(threads: int) -> ThreadPoolExecutor:
    global _pool
    with _lock:
        # A forked child has no threads of its parent's pool: it needs one of its own.
        if _pool is None or _pool[:2] != (threads, os.getpid()):
            _pool = (threads, os.getpid(), ThreadPoolExecutor(threads, "cobayes"))
        return _pool[2]


def _validated(count: int, found: str) -> int:
    if count < 1:
        raise CobayesError(f"{found}; expected a whole number of at least 1.")
    return count
