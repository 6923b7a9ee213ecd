"""How well the limit of small perturbations foretells what a screening of a candidate finds.

``python -m benchmarks.limit_screening tv`` gives the numbers of docs/conjecture.md: it takes less
than a minute of processor time once kernels are compiled; the first time, seconds include that.
"""

from __future__ import annotations

import sys
import tempfile
import time
from typing import cast

import numpy as np
from scipy.stats import spearmanr

from cobayes.conjecture import search
from cobayes.conjecture.candidates import draw_candidate
from cobayes.stability.bounds import Distance

COUNT, SEQUENCES = 64, 500


def main(distance: Distance) -> None:
    """Print rank correlation, mean slopes and processor times for fresh candidates."""
    rng = np.random.default_rng(1)
    limits, slopes, seconds = [], [], np.zeros(2)
    with tempfile.TemporaryDirectory() as folder:
        falsifier = search.Falsifier(folder, distance)
        # The first calls compile.
        first = draw_candidate(np.random.default_rng(0), distance)
        falsifier._limit(first, np.random.default_rng(0))
        falsifier._measure(first, SEQUENCES, search.SCREEN_ROUNDS, np.random.default_rng(0))
        while len(slopes) < COUNT:
            candidate = draw_candidate(rng, distance)
            times = [time.process_time()]
            limit = falsifier._limit(candidate, rng)
            times.append(time.process_time())
            slope = falsifier._measure(candidate, SEQUENCES, search.SCREEN_ROUNDS, rng)
            times.append(time.process_time())
            if slope is not None:
                limits.append(limit)
                slopes.append(slope.value)
                seconds += np.diff(times)
    found = np.reshape(slopes, (-1, search.PROPOSED))
    best = np.reshape(limits, found.shape).argmax(axis=1)
    chosen = found[np.arange(len(found)), best]
    print(f"rank correlation of limit and slope: {spearmanr(limits, slopes)[0]:.2f}")
    for name, values in (("any", found.ravel()), (f"best limit of {search.PROPOSED}", chosen)):
        error = values.std(ddof=1) / np.sqrt(values.size)
        print(f"mean slope of {name}: {values.mean():.3f} ± {error:.3f}")
    each = seconds / COUNT
    print(f"seconds: {each[0]:.3f} for a limit, {each[1]:.3f} for {SEQUENCES} sequences")


if __name__ == "__main__":
    main(cast("Distance", sys.argv[1]))
