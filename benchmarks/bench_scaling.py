"""`scale` and a lesson of thirty rounds, against the textbook and POT, on one core."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from functools import partial

import numpy as np

import cobayes as cb
from benchmarks import peers
from benchmarks.timing import fastest, fastest_cold

SIZES = (3, 20, 200, 2000)
NUM_ROUNDS = 30
# Lessons that are compiled side by side; larger matrices are taught one lesson at a time.
CROWD = {3: 8192, 20: 2048, 200: 64}


def scale_rows() -> list[dict[str, object]]:
    rows = []
    for size in SIZES:
        matrix, columns = peers.problem(size, size)
        ours = cb.scale(matrix, column_sums=columns).matrix
        np.testing.assert_allclose(ours, peers.textbook_scale(matrix, columns), rtol=1e-7)
        np.testing.assert_allclose(ours, peers.pot_scale(matrix, columns), rtol=1e-7)
        rows.append(
            {
                "case": f"scale {size}x{size}",
                "ours": fastest(partial(cb.scale, matrix, column_sums=columns)),
                "textbook": fastest(partial(peers.textbook_scale, matrix, columns)),
                "POT": fastest(partial(peers.pot_scale, matrix, columns)),
                "required": {"POT": 1.5} if size == 2000 else {},
            }
        )
    return rows


def our_lesson(matrix: np.ndarray) -> float:
    """Return the seconds that one round of one lesson takes."""
    rule = cb.SCBI(matrix, tolerance=peers.TOLERANCE)
    size = len(matrix)
    if size in CROWD:
        lessons = CROWD[size]
        taken = fastest(
            lambda: cb.simulate(
                rule, 0, num_rounds=NUM_ROUNDS, num_lessons=lessons, rng=0, keep_paths=False
            )
        )
        return taken / (lessons * NUM_ROUNDS)

    def teach() -> None:
        teacher = cb.Teacher(rule, 0, rng=0)
        for _ in range(NUM_ROUNDS):
            teacher.choose()

    return fastest_cold(teach) / NUM_ROUNDS


def peer_lesson(scale: Callable[..., np.ndarray], matrix: np.ndarray) -> float:
    """Return the seconds that one round of a peer's lesson takes."""
    return fastest_cold(partial(peers.lesson, scale, matrix, NUM_ROUNDS), 0.2, 2) / NUM_ROUNDS


def lesson_rows() -> list[dict[str, object]]:
    rows = []
    for size in SIZES:
        # The number of sweeps depends on the matrix: small ones are averaged over several, and
        # all three are timed on one before the next, so that a slow moment hits them all.
        times = []
        for seed in range(8 if size <= 20 else 1):
            matrix, _ = peers.problem(size, size, seed)
            ours = our_lesson(matrix)
            textbook = peer_lesson(peers.textbook_scale, matrix)
            times.append((ours, textbook, peer_lesson(peers.pot_scale, matrix)))
        ours, textbook, pot = (float(value) for value in np.mean(times, axis=0))
        rows.append(
            {
                "case": f"lesson round {size}x{size}",
                "ours": ours,
                "textbook": textbook,
                "POT": pot,
                "required": {3: {"textbook": 400}, 20: {"textbook": 100}}.get(size, {}),
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
        "name": "scale 2000x2000: peak extra memory, in copies of the matrix",
        "value": peak / matrix.nbytes,
        "unit": "copies",
        "target": "<= 1.02",
    }
