"""The one decorator for compiled kernels.

Kernels are compiled when they are first called and cached on disk. Where no folder can be
written (a read-only install without a home), they are compiled again in every process.

A kernel is compiled into whatever kernel calls it. Else a function would exist in two copies, its
own and one inside its caller, optimised differently and so rounded differently; which of them runs
would depend on whether the process has compiled them or found them in the cache.
"""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import event

from cobayes._runtime.kernel_cache import KernelCache

logger = logging.getLogger("cobayes")

Function = TypeVar("Function", bound=Callable[..., Any])

# Lets sums be vectorised, and nothing else: NaN and infinity keep their meaning.
REASSOCIATE = {"reassoc", "contract"}


def compiled(
    *, fastmath: bool | set[str] = False, **options: Any
) -> Callable[[Function], Function]:
    """Compile a function at its first call, without the interpreter's lock, cached on disk.

    Parameters
    ----------
    fastmath
        At most `REASSOCIATE`; more would break the checks for NaN.
    **options
        Further options of `numba.njit`.
    """

    def decorate(function: Function) -> Function:
        settings = {
            "nogil": True,
            "error_model": "numpy",
            "fastmath": fastmath,
            "forceinline": True,
            **options,
        }
        try:
            dispatcher: Any = numba.njit(cache=True, **settings)(function)
        except RuntimeError:  # no place to put a cache
            dispatcher = numba.njit(**settings)(function)
        else:
            store = dispatcher._cache
            place = store._cache_path, store._impl.filename_base
            store._cache_file = KernelCache(*place, dispatcher)
        return dispatcher

    return decorate


class _CompilationNotice(event.Listener):
    """Says "compiling" when it takes more than a second, so that nobody is left wondering."""

    def __init__(self, patience: float = 1.0) -> None:
        self.patience = patience
        self._was_given = False
        self._local = threading.local()

    def on_start(self, event: event.Event) -> None:  # noqa: ARG002
        depth = getattr(self._local, "depth", 0)
        self._local.depth = depth + 1
        if depth == 0 and not self._was_given:
            timer = threading.Timer(self.patience, self._notify)
            timer.daemon = True
            timer.start()
            self._local.timer = timer

    def on_end(self, event: event.Event) -> None:  # noqa: ARG002
        self._local.depth = getattr(self._local, "depth", 1) - 1
        timer = getattr(self._local, "timer", None)
        if self._local.depth == 0 and timer is not None:
            timer.cancel()

    def _notify(self) -> None:
        self._was_given = True
        logger.warning("compiling cobayes's numerical code (once; it is cached on disk) ...")


_notice = _CompilationNotice()
event.register("numba:compile", _notice)
