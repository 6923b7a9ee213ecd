"""What goes on around a compilation: a notice if it is long, and Ctrl-C at a safe time."""

from __future__ import annotations

import functools
import logging
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

logger = logging.getLogger("cobayes")

# Seconds after which a compilation is announced.
PATIENCE = 1.0

_local = threading.local()
_notice = threading.Lock()
"""Held by the thread whose compilation was announced, until it is over."""


def attended(compile_kernel: Callable[..., Any], *, is_cached: bool = False) -> Callable[..., Any]:
    """Wrap the method of a dispatcher that compiles a kernel or loads it from the cache.

    Where there is a cache, it says by `begins` that the kernel has to be compiled.
    """

    @functools.wraps(compile_kernel)
    def compile_attended(*arguments: Any) -> Any:
        # Kernels that a kernel calls are compiled inside: the outermost one is attended.
        if getattr(_local, "is_compiling", False):
            return compile_kernel(*arguments)
        _local.is_compiling = True
        try:
            with _interrupts_deferred(), _announced(is_cached) as begin:
                _local.begin = begin
                if not is_cached:
                    begin()
                return compile_kernel(*arguments)
        finally:
            _local.is_compiling = False

    return compile_attended


def begins() -> None:
    """Say that the cache does not have the kernel, which will be compiled now."""
    if getattr(_local, "is_compiling", False):
        _local.begin()


@contextmanager
def _announced(is_cached: bool = True) -> Iterator[Callable[[], None]]:
    """Log a notice when what begins by a call takes longer than a second, and how long it took.

    Numba compiles one kernel at a time: threads that wait for another's compilation stay silent.
    """
    start = time.perf_counter()
    was_announced = threading.Event()

    def announce() -> None:
        if not _notice.acquire(blocking=False):
            return
        was_announced.set()
        kept = (
            "it is kept on disk, and 'cobayes warm-up' compiles everything at once"
            if is_cached
            else "it cannot be kept, since no folder for it can be written (see NUMBA_CACHE_DIR)"
        )
        logger.info("compiling numerical code for its first use; %s ...", kept)

    timer = threading.Timer(PATIENCE, announce)
    timer.daemon = True
    has_begun = False

    def begin() -> None:
        nonlocal has_begun
        if not has_begun:
            has_begun = True
            timer.start()

    try:
        yield begin
    finally:
        timer.cancel()
        if has_begun:
            timer.join()
        if was_announced.is_set():
            took = time.perf_counter() - start
            logger.info("compiled in %.1f s.", took, extra={"is_detail": True})
            _notice.release()


@contextmanager
def _interrupts_deferred() -> Iterator[None]:
    """Let Ctrl-C wait until something is finished; a second one is obeyed at once.

    An interrupt while Numba loads its own modules would leave it half loaded, and every later
    compilation in the process would fail.
    """
    is_ours = threading.current_thread() is threading.main_thread()
    if not is_ours or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    was_interrupted = False

    def remember(number: int, frame: Any) -> None:
        nonlocal was_interrupted
        if was_interrupted:
            signal.default_int_handler(number, frame)
        was_interrupted = True
        logger.info("stopping when this compilation is finished; Ctrl-C again stops at once.")

    signal.signal(signal.SIGINT, remember)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    if was_interrupted:
        raise KeyboardInterrupt
