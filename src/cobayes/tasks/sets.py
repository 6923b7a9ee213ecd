"""Sets of data shown together, as one datum."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np

from cobayes._input.validation import whole_number
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model, as_model

MOST_NUMBERS = 20_000_000
"""Sets are enumerated while their matrix has at most this many entries (160 MB)."""


def sets_of(matrix: MatrixLike, size: int) -> Model:
    """Return the model whose data are the sets of `size` different data, shown together.

    The entry of a set is the product of its members' entries: they are drawn independently, and
    their order does not matter. Sets that no hypothesis allows are left out.

    Parameters
    ----------
    matrix
        A matrix of any kind or a `Model`.
    size
        The number of data in a set, at least one.

    Returns
    -------
    Model
        Labelled "a + b"; sets of size one are the data themselves.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.sets_of(cb.Model([[0.8, 0.3], [0.1, 0.2], [0.1, 0.5]], data="abc"), 2).data
    ('a + b', 'a + c', 'b + c')
    """
    model = as_model(matrix)
    n, m = model.shape
    size = whole_number(size, "size", 1)
    if size > n:
        raise CobayesError(f"there are no sets of {size} different data; the matrix has {n} data.")
    if size == 1:
        return model
    count = comb(n, size)
    if count * m > MOST_NUMBERS:
        raise CobayesError(
            f"there are {count:,} sets of {size} out of {n} data; with {m} hypotheses at most "
            f"{MOST_NUMBERS // m:,} are enumerated.",
            "build a set one by one: plan_lesson(SCBI(without_repeats(matrix)), hypothesis, "
            f"{size}) adds the best datum each time. Or begin with fewer data.",
        )
    members = np.array(list(combinations(range(n), size)), dtype=np.intp)
    products = np.ones((count, m))
    positive = np.ones((count, m), dtype=bool)
    with np.errstate(over="ignore", under="ignore"):
        for position in range(size):
            factors = model.matrix[members[:, position]]
            products *= factors
            positive &= factors > 0.0
    if not np.isfinite(products).all() or (positive & (products == 0.0)).any():
        raise CobayesError(
            f"products of {size} entries leave the range of floating point.",
            "divide rows and columns by their largest entries first, which changes no rule.",
        )
    possible = products.any(axis=1)
    labels = [" + ".join(model.data[d] for d in row) for row in members[possible]]
    return Model(products[possible], labels, model.hypotheses)
