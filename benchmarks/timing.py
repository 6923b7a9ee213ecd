"""Timing functions fairly: warmed up, in turns, and the fastest of several tries.

Processor time is counted, not time on the clock: everything compared runs on one core, and
whatever else the machine does must not decide who wins. Contestants take turns, so that a slow
moment of the machine does not hit one of them alone.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def fastest_in_turns(
    contestants: Mapping[str, Callable[[], object]], seconds: float = 0.4, tries: int = 3
) -> dict[str, float]:
    """Return the shortest processor time of one call of each; the first call does not count.

    Parameters
    ----------
    contestants
        Functions by name.
    seconds
        The time that each contestant gets, at least.
    tries
        The least number of calls of each that is timed. One is enough for a call that takes
        longer than `seconds`.
    """
    best = dict.fromkeys(contestants, float("inf"))
    spent = dict.fromkeys(contestants, 0.0)
    count = dict.fromkeys(contestants, 0)
    for function in contestants.values():
        function()
    waiting = set(contestants)
    while waiting:
        for name in [name for name in contestants if name in waiting]:
            start = time.process_time()
            contestants[name]()
            taken = time.process_time() - start
            best[name] = min(best[name], taken)
            spent[name] += taken
            count[name] += 1
            if spent[name] >= seconds and (count[name] >= tries or taken > seconds):
                waiting.discard(name)
    return best


def fastest_on_the_clock(function: Callable[[], object], tries: int = 5) -> float:
    """Return the shortest time on the clock, for work that several cores share."""
    function()
    best = float("inf")
    for _ in range(tries):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start)
    return best
