"""Scaling problems, easy and hard; their sums are exact in binary."""

from __future__ import annotations

import numpy as np


def exact_sums(rng, count, total, smallest=1):
    """Return `count` positive sums that add up to the total without any rounding."""
    parts = rng.multinomial(2**20 - count * smallest, rng.dirichlet(np.ones(count))) + smallest
    return parts * (total / 2.0**20)


def nearly_diagonal(rng, n, off):
    """Return a matrix with 1 - off on the diagonal and uneven entries of about `off` elsewhere."""
    matrix = off / max(n - 1, 1) * rng.uniform(0.5, 2.0, size=(n, n))
    np.fill_diagonal(matrix, 1.0 - off)
    return matrix


def blocks(rng, sizes, coupling):
    """Return dense blocks on the diagonal, which small other entries couple."""
    n = sum(sizes)
    matrix = coupling * rng.uniform(0.5, 2.0, size=(n, n))
    start = 0
    for size in sizes:
        matrix[start : start + size, start : start + size] = rng.exponential(size=(size, size))
        start += size
    return matrix


def tiny_belief(rng, m, smallest, n):
    """Return column sums n * theta in which one belief is `smallest`."""
    sums = exact_sums(rng, m, float(n))
    tiny = rng.integers(m)
    other = (tiny + 1) % m
    sums[other] += sums[tiny]
    sums[tiny] = smallest * n
    return sums


def all_cases():
    """Return (name, matrix, row_sums, column_sums) for every case."""
    rng = np.random.default_rng(20200712)
    cases = []

    def add(name, matrix, rows=None, columns=None):
        n, m = matrix.shape
        rows = np.ones(n) if rows is None else rows
        columns = exact_sums(rng, m, float(rows.sum())) if columns is None else columns
        cases.append((f"{len(cases):02d}-{name}", matrix, rows, columns))

    for n, m in [
        (2, 2),
        (3, 3),
        (4, 4),
        (8, 8),
        (16, 16),
        (5, 2),
        (2, 5),
        (16, 4),
        (4, 16),
        (1, 4),
    ]:
        add(f"exponential-{n}x{m}", rng.exponential(size=(n, m)))
    add("one-column", rng.exponential(size=(4, 1)), columns=np.array([4.0]))
    for n, m in [(4, 3), (6, 8), (8, 8)]:
        add(f"row-sums-{n}x{m}", rng.exponential(size=(n, m)), rows=exact_sums(rng, n, 8.0))
    for n in (2, 3, 4, 8, 8, 16):
        add(f"span-1e12-{n}", 10.0 ** rng.uniform(-12, 0, size=(n, n)))
        add(f"span-1e12-even-{n}", 10.0 ** rng.uniform(-12, 0, size=(n, n)), columns=np.ones(n))
    for off in (1e-3, 1e-8, 1e-12, 1e-15):
        for n in (2, 4, 8):
            add(f"near-diagonal-{off:g}-{n}-even", nearly_diagonal(rng, n, off), columns=np.ones(n))
            add(f"near-diagonal-{off:g}-{n}", nearly_diagonal(rng, n, off))
    for smallest in (1e-14, 1e-100, 1e-290, 1e-300):
        for n in (3, 8):
            add(
                f"belief-{smallest:g}-{n}",
                rng.exponential(size=(n, n)),
                columns=tiny_belief(rng, n, smallest, n),
            )
        add(
            f"belief-{smallest:g}-span",
            10.0 ** rng.uniform(-12, 0, size=(4, 4)),
            columns=tiny_belief(rng, 4, smallest, 4),
        )
    for coupling in (1e-6, 1e-10, 1e-13):
        matrix = blocks(rng, (3, 5), coupling)
        add(f"blocks-{coupling:g}-even", matrix, columns=np.ones(8))
        add(f"blocks-{coupling:g}", matrix)
    # Three scales nested in each other: 1, 1e-5, 1e-11.
    nested = blocks(rng, (4, 4), 1e-11)
    nested[:4, :4] = blocks(rng, (2, 2), 1e-5)
    add("nested-blocks", nested, columns=np.ones(8))
    return cases
