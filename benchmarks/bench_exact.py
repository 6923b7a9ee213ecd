"""Exact distributions: time and memory of a tree of 20x20 to round five, on one core."""

from __future__ import annotations

import os
import subprocess
import sys

CODE = """
import time
import numpy as np
import cobayes as cb
cb.set_num_threads(1)
matrix = np.random.default_rng(0).dirichlet(np.ones(20), size=20).T
rule = cb.SCBI(matrix)
cb.exact_rounds(rule, 0, 2)
before = time.process_time()
cb.exact_rounds(rule, 0, 5)
spent = time.process_time() - before
# Of this process alone: what getrusage says also counts the one that started it.
with open("/proc/self/status") as status:
    peak = next(line for line in status if line.startswith("VmHWM"))
print(spent, int(peak.split()[1]) / 1024)
"""


def rows() -> list[dict[str, object]]:
    """One row per measure: name, value, unit, and the most it should be."""
    found = subprocess.run(
        [sys.executable, "-c", CODE],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},
    )
    seconds, megabytes = map(float, found.stdout.split())
    case = "20x20 to round 5, all 20 hypotheses, one core"
    return [
        {"name": f"{case}: time", "value": seconds, "unit": "s", "target": "<= 5"},
        {"name": f"{case}: peak memory", "value": megabytes, "unit": "MB", "target": "<= 500"},
    ]
