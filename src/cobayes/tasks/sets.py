"""Sets of data shown together, as one datum."""

from __future__ import annotations

from itertools import combinations
from math import comb
from typing import SupportsIndex

import numpy as np

from cobayes._input.validation import whole_number
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model, as_model

MOST_NUMBERS = 20_000_000
"""Sets are enumerated while their matrix has at most this many entries (160 MB)."""


def sets_of(matrix: MatrixLike, size: SupportsIndex) -> Model:
    """Return the model whose data are the sets of `size` different data, shown together.

    The entry of a set is the product of its members' entries: they are drawn independently, and
    their order does not matter. A hypothesis therefore rules a set out if it rules out one of its
    members. Sets that every hypothesis rules out are left out.

    The limit is 20 million entries, sets times hypotheses (160 MB). Beyond it, build a set one by
    one: ``plan_lesson`` on ``without_repeats(matrix)`` adds the datum that teaches best each time
    (a greedy set).

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
    size = whole_number(size, "size", 1)
    n, m = model.shape
    if size == 1:
        return model
    if size > n:
        raise CobayesError(f"there are no sets of {size} different data; the matrix has {n} data.")
    count = comb(n, size)
    if count * m > MOST_NUMBERS:
        raise CobayesError(
            f"there are {count:,} sets of {size} out of {n} data; with {m} hypotheses at most "
            f"{MOST_NUMBERS // m:,} are enumerated.",
            "build a set one by one, with the best datum each time: "
            f"plan_lesson(SCBI(without_repeats(matrix)), hypothesis, {size}). "
            "Or begin with fewer data.",
        )
    allowed = (model.matrix > 0.0).sum(axis=0)
    if allowed.min() < size:
        name = model.hypotheses[int(np.argmin(allowed))]
        raise CobayesError(
            f"hypothesis {name!r} allows {allowed.min()} data, and so no set of {size}.",
            "ask for smaller sets, or drop the hypothesis.",
        )
    members = np.array(list(combinations(range(n), size)))
    products, is_possible = np.ones((count, m)), np.ones((count, m), dtype=np.bool_)
    for column in members.T:
        with np.errstate(over="ignore"):  # refused below
            products *= model.matrix[column]
        is_possible &= model.matrix[column] > 0.0
    found = products[is_possible]
    if not (np.isfinite(found) & (found >= np.finfo(np.float64).tiny)).all():
        raise CobayesError(
            f"products of {size} entries leave the range of floating point.",
            "divide every column by its largest entry first, which changes no rule.",
        )
    kept = is_possible.any(axis=1)
    labels = [" + ".join(model.data[d] for d in row) for row in members[kept]]
    return Model(products[kept], labels, model.hypotheses)
