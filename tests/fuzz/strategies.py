"""Hostile values for every kind of argument."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st

import cobayes as cb

NUMBERS = st.one_of(
    st.sampled_from([0.0, -0.0, 1.0, 0.5, 1e-300, 5e-324, 1e300, 1.7e308, -1.0]),
    st.sampled_from([float("nan"), float("inf"), float("-inf")]),
    st.floats(0.0, 1.0),
    st.floats(),
    st.integers(-2, 5),
    st.sampled_from([10**400, -(10**400), True, None, "0.5", "", 1j, b"x"]),
)
PLAIN = st.one_of(st.floats(1e-12, 1.0), st.sampled_from([0.0, 1.0, 1e-200, 1e200, 1e-310, 1e308]))
LABELS = st.one_of(
    st.text(max_size=6),
    st.integers(-3, 4),
    st.sampled_from(
        [None, True, 1.5, "A", "0", "=1+1", "\x1b[31m", "\ud800", "a\nb", (), np.int64(1)]
    ),
)
COUNTS = st.one_of(
    st.integers(-2, 6), st.sampled_from([None, 2.5, "3", True, 10**20, np.int32(2), float("nan")])
)


@st.composite
def matrices(draw, numbers=PLAIN, most=5):
    """Draw lists of rows; most of them are matrices."""
    n, m = draw(st.integers(1, most)), draw(st.integers(1, most))
    return draw(st.lists(st.lists(numbers, min_size=m, max_size=m), min_size=n, max_size=n))


HOSTILE_MATRICES = st.one_of(
    matrices(),
    matrices(NUMBERS),
    st.lists(st.lists(NUMBERS, max_size=3), max_size=3),
    matrices().map(lambda rows: np.ma.masked_less(np.array(rows), 0.5)),
    matrices(st.floats(0.0, 1.0)).map(lambda rows: np.array(rows, dtype=np.float32)),
    matrices().map(lambda rows: np.array(rows)[None]),
    st.sampled_from([None, 3, "nowhere.csv", "example:nothing", "\0", [], [[]], {}, object()]),
)
DISTRIBUTIONS = st.one_of(
    st.none(),
    st.lists(st.floats(0.0, 1.0), min_size=1, max_size=5).map(
        lambda values: [value / sum(values) for value in values] if sum(values) > 0 else values
    ),
    st.lists(NUMBERS, max_size=5),
    st.dictionaries(LABELS, NUMBERS, max_size=4),
    st.sampled_from(["uniform", 3, [[0.5, 0.5]], np.ma.masked_equal([0.5, 0.5], 0.5), [0.5j, 0.5]]),
)

TASKS = {
    "model": lambda matrix: cb.Model(matrix),
    "no repeats": lambda matrix: cb.without_repeats(matrix),
    "limited": lambda matrix: cb.limited_to(matrix, range(max(1, len(matrix) - 1))),
    "pairs": lambda matrix: cb.sets_of(matrix, 2),
    "costs": lambda matrix: cb.moving_costs(matrix, 1.0 - np.eye(len(matrix)), 2.0),
    "nested": lambda matrix: cb.without_repeats(
        cb.moving_costs(cb.limited_to(matrix, range(len(matrix))), np.eye(len(matrix)))
    ),
    "board": lambda matrix: cb.GridWorld.with_goals_on_top(5, 3, 3, 0.5, slip=0.2),
}
