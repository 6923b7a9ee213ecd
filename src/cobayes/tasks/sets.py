"""Sets of data shown together, as one datum."""

from __future__ import annotations

from itertools import chain, combinations
from math import comb
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import whole_number
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model, as_model

Array = NDArray[np.float64]

MOST_NUMBERS = 20_000_000
"""Sets are enumerated while their matrix has at most this many entries (160 MB)."""


class Sets(Model):
    """The model of all sets of a size; made by `sets_of`.

    Attributes
    ----------
    singles : Model
        The model of single data.
    size : int
        The number of data in a set.
    """

    singles: Model
    size: int

    def __init__(self, matrix: MatrixLike, size: int) -> None:
        model = as_model(matrix)
        _require_sets(model, size)
        n, m = model.shape
        count = comb(n, size)
        flat = chain.from_iterable(combinations(range(n), size))
        members = np.fromiter(flat, np.intp, count * size).reshape(count, size)
        products = np.ones((count, m))
        for column in members.T:
            products *= model.matrix[column]
        possible = products.any(axis=1)
        labels = [" + ".join(model.data[d] for d in row) for row in members[possible]]
        super().__init__(products[possible], labels, model.hypotheses)
        object.__setattr__(self, "singles", model)
        object.__setattr__(self, "size", size)

    def settings(self) -> dict[str, Any]:
        """Return the model of single data and the size."""
        return {"matrix": self.singles, "size": self.size}


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
    return model if size == 1 else Sets(model, size)


def _require_sets(model: Model, size: int) -> None:
    """Raise an error where the sets cannot be enumerated; quick, as nothing is enumerated."""
    n, m = model.shape
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
    positive = model.matrix > 0.0
    allowed = positive.sum(axis=0)
    if allowed.min() < size:
        name = model.hypotheses[int(np.argmin(allowed))]
        raise CobayesError(
            f"hypothesis {name!r} allows {allowed.min()} data, and so no set of {size}.",
            "ask for smaller sets, or drop the hypothesis.",
        )
    # Bounds for the products of up to `size` entries of a column, in any order.
    logs = np.sort(np.log2(model.matrix, out=np.zeros((n, m)), where=positive), axis=0)
    lowest = np.minimum(logs[:size], 0.0).sum(axis=0).min()
    highest = np.maximum(logs[-size:], 0.0).sum(axis=0).max()
    limits = np.finfo(np.float64)
    if lowest < limits.minexp or highest >= limits.maxexp:
        raise CobayesError(
            f"products of {size} entries leave the range of floating point.",
            "divide every column by its largest entry first, which changes no rule.",
        )
