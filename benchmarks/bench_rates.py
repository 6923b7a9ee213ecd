"""Rates of random matrices: ours against the published broadcast and against matrix products.

All run on one core in this very process. Each form in NumPy gets the better of two memory layouts
and the best of several batch sizes.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import peers
from benchmarks.timing import fastest_in_turns
from cobayes.random_matrices.compare import compare_rates

SHAPES = ((10, 2), (50, 2), (10, 10), (20, 20), (50, 50))
REQUIRED = {
    (10, 2): {"published": 15.0},
    (50, 2): {"published": 15.0},
    (10, 10): {"published": 15.0},
    (20, 20): {"matmul": 5.0},
    (50, 50): {"published": 15.0, "matmul": 5.0},
}


def rows() -> list[dict[str, object]]:
    """One row per shape, seconds per matrix."""
    return [measure(n, m) for n, m in SHAPES]


def measure(n: int, m: int) -> dict[str, object]:
    rng = np.random.default_rng(1)
    largest = {"published": 2_500_000 // (n * m * m), "matmul": 2_500_000 // (n * m)}
    forms = {"published": peers.broadcast_rates, "matmul": peers.matmul_rates}
    chosen = {}
    for name, form in forms.items():
        trials = {
            (batch, data_last): partial(form, rng, batch, n, m, data_last)
            for batch in (16, 64, 256, 1024)
            if batch <= max(16, largest[name])
            for data_last in (False, True)
        }
        times = fastest_in_turns(trials, seconds=0.05, tries=2)
        batch, data_last = min(trials, key=lambda trial: times[trial] / trial[0])
        chosen[name] = (batch, trials[batch, data_last])
    # Enough for the fixed cost of a call, about 0.2 ms, not to count.
    samples = max(1000, (6_000_000 if m == 2 else 12_000_000 // m) // (n * m))
    contestants = {name: function for name, (_, function) in chosen.items()}
    contestants["ours"] = partial(compare_rates, n, m, samples, rng=1)
    times = fastest_in_turns(contestants, seconds=1.0)
    counts = {"ours": samples, **{name: batch for name, (batch, _) in chosen.items()}}
    return {
        "case": f"P and E, {n} x {m}",
        **{name: taken / counts[name] for name, taken in times.items()},
        "required": REQUIRED[n, m],
    }
