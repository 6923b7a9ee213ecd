"""Timing a function fairly: warmed up, and the fastest of several tries.

Processor time is counted, not time on the clock: everything compared runs on one core, and
whatever else the machine does must not decide who wins.
"""

from __future__ import annotations

import time
from collections.abc import Callable


def fastest(function: Callable[[], object], seconds: float = 0.5, tries: int = 3) -> float:
    """Return the shortest time of one call; the first call does not count."""
    function()
    return fastest_cold(function, seconds, tries)


def fastest_cold(function: Callable[[], object], seconds: float = 0.5, tries: int = 3) -> float:
    """Return the shortest time of one call, for slow functions that need no warm-up."""
    best = float("inf")
    count = 0
    end = time.perf_counter() + seconds
    while count < tries or time.perf_counter() < end:
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
        count += 1
        if best > seconds:
            break
    return best
