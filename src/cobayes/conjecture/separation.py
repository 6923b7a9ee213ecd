"""The block argument: success rates where hypotheses separate on different time scales.

Suppose that data soon tell whether the truth is hypothesis k or one of a block of others, and
tell nothing about which one of the block until much later. Seen at the first time scale there
are two hypotheses, k and the block, and a belief in the block keeps its proportions. For two
hypotheses the success rate is known: a learner whose share of the block is smaller than the
teacher's by a factor f follows into the block with probability f. After that the same happens
inside the block. The success rate is the product over the nested blocks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.tables import as_floats
from cobayes._input.validation import number_between, whole_number
from cobayes.errors import CobayesError
from cobayes.stability.bounds import validated_priors

Array = NDArray[np.float64]


def nested_success(
    teacher_prior: ArrayLike,
    learner_prior: ArrayLike,
    hypothesis: SupportsIndex | str,
    order: Sequence[int],
) -> float:
    """Return the success rate in the limit of time scales that are far apart.

    Parameters
    ----------
    teacher_prior, learner_prior
        The two priors.
    hypothesis
        What is taught, by position or label.
    order
        The positions of all other hypotheses, the one that separates first at the front.

    Returns
    -------
    float
        Between zero and one.

    Notes
    -----
    ``prod_k min(1, q^L_k / q^T_k)`` where ``q_k`` is the share of the block that is left after
    step k in the block before it.

    Examples
    --------
    >>> import cobayes as cb
    >>> round(cb.conjecture.nested_success([0.2, 0.3, 0.5], [0.1, 0.4, 0.5], 0, [2, 1]), 4)
    0.5
    """
    taught, believed, position = validated_priors(teacher_prior, learner_prior, hypothesis)
    if isinstance(order, str) or not isinstance(order, Iterable):
        raise CobayesError(f"the order is {order!r}; expected a list of positions.")
    steps = [whole_number(step, "a position in the order", 0) for step in order]
    if sorted([*steps, position]) != list(range(len(taught))):
        raise CobayesError(
            f"the order {steps} does not name every hypothesis other than {position} once."
        )
    success = 1.0
    own, theirs = 1.0, 1.0
    for step in steps:
        own_left, theirs_left = own - taught[step], theirs - believed[step]
        success *= min(1.0, (theirs_left / theirs) / (own_left / own))
        own, theirs = own_left, theirs_left
    return float(success)


def separated_matrix(strengths: ArrayLike) -> Array:
    """Return a matrix whose hypotheses separate one after the other, (n, m).

    The first column is uniform; column j deviates from it along the j-th column of a Hadamard
    matrix, by a strength s_j: it separates at a rate of about ``s_j ** 2 / 2``.

    Parameters
    ----------
    strengths
        One for every further column, between 0 and 1, best far apart.

    Returns
    -------
    ndarray
        Columns sum to one, (n, m), with n the next power of two above the number of strengths.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.conjecture.separated_matrix([1e-3, 1e-6]).shape
    (4, 3)
    """
    values = as_floats(strengths, copy=True, name="list of strengths")
    if values.ndim != 1 or not ((values > 0.0) & (values < 1.0)).all():
        raise CobayesError(
            f"the strengths are {values.tolist()}; each must lie strictly between 0 and 1."
        )
    size = 1
    signs = np.ones((1, 1))
    while size <= len(values):
        signs = np.block([[signs, signs], [signs, -signs]])
        size *= 2
    deviations = np.concatenate([[0.0], values]) * signs[:, : len(values) + 1]
    return (1.0 + deviations) / size


def alternating_prior(teacher_prior: ArrayLike, size: float) -> Array:
    """Return a prior moved by plus and minus `size` in turn, away from the first hypothesis.

    Parameters
    ----------
    teacher_prior
        An even number of hypotheses.
    size
        By how much every coordinate moves.

    Returns
    -------
    ndarray
        The moved prior, (m,); it sums to one.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.conjecture.alternating_prior([0.2, 0.3, 0.4, 0.1], 0.05).round(3)
    array([0.15, 0.35, 0.35, 0.15])
    """
    prior = as_floats(teacher_prior, copy=True, name="teacher's prior")
    if prior.ndim != 1 or len(prior) % 2:
        raise CobayesError(
            f"the prior has shape {prior.shape}; alternating signs need an even number of "
            "hypotheses."
        )
    size = number_between(size, "size", -1.0, 1.0, closed="both")
    moved = prior + size * np.where(np.arange(len(prior)) % 2 == 0, -1.0, 1.0)
    if not (moved > 0.0).all():
        raise CobayesError(f"a step of {size} leaves the simplex.", "take a smaller one.")
    return moved
