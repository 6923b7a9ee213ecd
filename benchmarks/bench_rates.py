"""Rates of random matrices: ours against the batched 4-D broadcast of the published code.

Both run on one core in this very process. The broadcast form gets the better of two memory
layouts and the best of several batch sizes; its matrices come from NumPy's exponentials.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import numpy as np

from cobayes._runtime.threads import set_num_threads
from cobayes.random_matrices.compare import compare_rates

CASES = ((10, 2), (50, 2), (10, 10), (50, 50))
REQUIRED_RATIO = 15.0
TURNS = 4


def broadcast_rates(rng, batch: int, n: int, m: int, data_last: bool) -> tuple[float, float]:
    """P and E of a batch in the published form: every pair of columns by broadcasting."""
    if data_last:  # memory order (batch, m, n): sums over data run along memory
        matrix = rng.standard_exponential((batch, m, n)).transpose(0, 2, 1)
    else:
        matrix = rng.standard_exponential((batch, n, m))
    matrix = matrix / matrix.sum(axis=1, keepdims=True)
    logs = np.log(matrix)
    itself = np.where(np.eye(m, dtype=bool), np.inf, 0.0)
    kl = (matrix[:, :, :, None] * (logs[:, :, :, None] - logs[:, :, None, :])).sum(axis=1)
    bayes = (kl + itself).min(axis=2).mean(axis=1)
    sharp = matrix[:, :, None, :] / matrix[:, :, :, None]
    sharp = sharp / sharp.sum(axis=1, keepdims=True)
    kl_sharp = -np.log(n * sharp).mean(axis=1)
    cooperative = (kl_sharp + itself).min(axis=2).mean(axis=1)
    difference = cooperative - bayes
    return float((difference >= 0).mean()), float(difference.mean())


def _fastest(function: Callable[[], object], seconds: float = 0.3) -> float:
    """Return the least time of a call, in seconds of this thread: both forms use no other."""
    function()
    best = np.inf
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        start = time.thread_time()
        function()
        best = min(best, time.thread_time() - start)
    return best


def measure(n: int, m: int) -> dict[str, object]:
    """Time both on matrices of one shape, in nanoseconds per matrix."""
    rng = np.random.default_rng(1)

    def published(batch: int, data_last: bool, seconds: float) -> float:
        return _fastest(partial(broadcast_rates, rng, batch, n, m, data_last), seconds) / batch

    forms = [
        (batch, data_last)
        for batch in (16, 64, 256, 1024)
        if batch * n * m * m <= 2_500_000
        for data_last in (False, True)
    ]
    best_form = min(forms, key=lambda form: published(*form, 0.1))
    # Calls of some milliseconds, like those of the other form: other programs disturb few of them.
    samples = max(100, (1_500_000 if m == 2 else 3_000_000 // m) // (n * m))
    times = []
    # In turns, so that a slow moment of the machine does not hit one of them alone.
    for _ in range(TURNS):
        ours = _fastest(partial(compare_rates, n, m, samples, rng=1)) / samples
        times.append((ours, published(*best_form, 0.3)))
    ours, theirs = np.min(times, axis=0)
    return {
        "case": f"P and E, {n} x {m}",
        "ours_ns": 1e9 * ours,
        "published_form_ns": 1e9 * theirs,
        "ratio": theirs / ours,
        "required": REQUIRED_RATIO,
    }


def rows() -> list[dict[str, object]]:
    """Return the table, one row for each shape."""
    set_num_threads(1)
    try:
        return [measure(n, m) for n, m in CASES]
    finally:
        set_num_threads(None)


if __name__ == "__main__":
    for row in rows():
        print(
            f"{row['case']:<20} ours {row['ours_ns']:>10.1f} ns   "
            f"published form {row['published_form_ns']:>10.0f} ns   {row['ratio']:>6.1f} x"
        )
