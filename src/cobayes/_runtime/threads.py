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

from cobayes._input.validation import whole_number

Chunk = TypeVar("Chunk")
Result = TypeVar("Result")

_lock = threading.Lock()
_here = threading.local()
_chosen: int | None = None
_pool: tuple[int, int, ThreadPoolExecutor] | None = None


def num_threads() -> int:
    """Return the number of threads that compiled code uses.

    The last value given to `set_num_threads`, else the environment variable
    ``COBAYES_NUM_THREADS``, else the number of cores that this process may use.

    Returns
    -------
    int
        At least one.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.num_threads() >= 1
    True
    """
    if _chosen is not None:
        return _chosen
    text = os.environ.get("COBAYES_NUM_THREADS")
    if text is None:
        return available_cores()
    return whole_number(int(text) if text.strip().isdigit() else text, "COBAYES_NUM_THREADS", 1)


def set_num_threads(count: int | None) -> None:
    """Choose the number of threads; None goes back to the default.

    Parameters
    ----------
    count
        At least one, or None.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.set_num_threads(1)
    >>> cb.num_threads()
    1
    >>> cb.set_num_threads(None)  # all cores again
    """
    global _chosen
    _chosen = None if count is None else whole_number(count, "the number of threads", 1)


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
    # A thread of the pool that waited for the pool could wait for ever: it does the work itself.
    if min(num_threads(), len(pieces)) <= 1 or getattr(_here, "is_worker", False):
        return [function(piece) for piece in pieces]
    return list(_shared_pool(num_threads()).map(function, pieces))


def _shared_pool(threads: int) -> ThreadPoolExecutor:
    global _pool
    with _lock:
        # A forked child has no threads of its parent's pool: it needs one of its own.
        if _pool is None or _pool[:2] != (threads, os.getpid()):
            pool = ThreadPoolExecutor(threads, "cobayes", initializer=_mark_worker)
            _pool = (threads, os.getpid(), pool)
        return _pool[2]


def _mark_worker() -> None:
    _here.is_worker = True
