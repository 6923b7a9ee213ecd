"""`scale`, single and in batches, and single updates of a belief, on one core."""

from __future__ import annotations

import tracemalloc
from functools import partial

import numpy as np

import cobayes as cb
from benchmarks import peers
from benchmarks.timing import fastest_in_turns

SIZES = (3, 20, 200, 2000)
BATCH = {3: 4096, 20: 1024, 200: 32}


def scale_rows() -> list[dict[str, object]]:
    """One scaling, seconds per call."""
    ott = peers.ott_scale() if peers.HAS_OTT else None
    rows = []
    for size in SIZES:
        matrix, columns = peers.problem(size, size)
        contestants = {
            "ours": partial(cb.scale, matrix, column_sums=columns),
            "textbook": partial(peers.textbook_scale, matrix, columns),
            "POT": partial(peers.pot_scale, matrix, columns),
        }
        if ott is not None:
            contestants["OTT"] = partial(ott, matrix, columns)
        expected = peers.textbook_scale(matrix, columns)
        for name, function in contestants.items():
            found = function()
            entries = found.matrix if name == "ours" else found
            np.testing.assert_allclose(entries, expected, rtol=1e-7)
        rows.append(
            {
                "case": f"scale {size} x {size}",
                **fastest_in_turns(contestants),
                "required": {"POT": 1.5} if size == 2000 else {},
            }
        )
    return rows


def batch_rows() -> list[dict[str, object]]:
    """One matrix scaled to many column sums, seconds per item."""
    rows = []
    for size, count in BATCH.items():
        matrix, _ = peers.problem(size, size)
        columns = size * np.random.default_rng(2).dirichlet(np.full(size, 5.0), size=count)
        rule, beliefs = cb.SCBI(matrix), columns / size
        contestants = {
            "scale": partial(cb.scale, matrix, column_sums=columns),
            "posteriors": partial(rule.posteriors, beliefs),
            "likelihood": partial(rule.likelihood, beliefs),
            "update": partial(rule.update, beliefs, 0),
            "NumPy": partial(peers.batched_scale, matrix, columns),
        }
        np.testing.assert_allclose(
            contestants["scale"]().matrix, contestants["NumPy"](), rtol=1e-7, atol=1e-300
        )
        times = fastest_in_turns(contestants)
        rows += [
            {
                "case": f"{name}, batch of {count}, {size} x {size}",
                "ours": times[name] / count,
                "NumPy": times["NumPy"] / count,
                "required": {"NumPy": 1.0},
            }
            for name in ("scale", "posteriors", "likelihood", "update")
        ]
    return rows


def call_rows() -> list[dict[str, object]]:
    """Return what single calls cost, in microseconds of processor time."""
    rows = []
    for size, goals in ((3, (20, 10)), (20, (40, 20)), (200, (None, None))):
        matrix, columns = peers.problem(size, size)
        belief = columns / size
        rule = cb.SCBI(matrix)
        times = fastest_in_turns(
            {
                "scale": partial(cb.scale, matrix, column_sums=columns),
                "update": partial(rule.update, belief, 0),
            }
        )
        for (name, taken), goal in zip(times.items(), goals, strict=True):
            rows.append(
                {
                    "name": f"{name} {size} x {size}",
                    "value": 1e6 * taken,
                    "unit": "us",
                    "target": "" if goal is None else f"<= {goal}",
                }
            )
    return rows


def memory_row() -> dict[str, object]:
    matrix, _ = peers.problem(2000, 2000)
    tracemalloc.start()
    cb.scale(matrix)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return {
        "name": "scale 2000 x 2000: peak extra memory, in copies of the matrix",
        "value": peak / matrix.nbytes,
        "unit": "copies",
        "target": "<= 1.02",
    }
