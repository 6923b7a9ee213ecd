"""Bounds on the success rate, computed from the priors: proved bounds and Conjecture 5.3."""

from __future__ import annotations

from typing import Any, Literal, SupportsIndex, cast, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import Distribution, as_distribution, find, make_labels
from cobayes._input.tables import as_floats
from cobayes._input.validation import one_of
from cobayes.errors import CobayesError, unteachable

Array = NDArray[np.float64]

Distance = Literal["euclidean", "l1", "tv"]


def success_bounds(
    teacher_prior: Distribution, learner_prior: Distribution, hypothesis: SupportsIndex | str
) -> tuple[float, float]:
    """Return the proved bounds on the success rate of two SCBI agents.

    Let theta^T and theta^L be the two priors. The bounds need tables without zeros and a common
    data prior. If both agents see the same data, drawn from this data prior, the teacher's belief
    converges to certainty about i with probability theta^T(i), the learner's to certainty about j
    with probability theta^L(j). The success rate is the probability that both converge to h, given
    that the teacher's belief does. The bounds hold for any joint distribution of i and j.

    Parameters
    ----------
    teacher_prior, learner_prior
        The two priors: numbers in the same order, or mappings from label to number.
    hypothesis
        The hypothesis that is taught, by position or label.

    Returns
    -------
    tuple of float
        The lower and the upper bound.

    Notes
    -----
    Frechet's bounds: ``max(0, theta^T(h) + theta^L(h) - 1) / theta^T(h)`` and
    ``min(1, theta^L(h) / theta^T(h))``.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.stability.success_bounds([0.5, 0.5], [0.4, 0.6], 0)
    (0.0, 0.8)
    """
    taught, believed, position = validated_priors(teacher_prior, learner_prior, hypothesis)
    lower, upper = frechet(taught[position], believed[position])
    return float(lower), float(upper)


def frechet(taught, believed):
    """Return the smallest and the largest possible P(B | A), given P(A) and P(B).

    Parameters
    ----------
    taught
        P(A): the teacher's belief in the hypothesis, positive; a number or an array.
    believed
        P(B): the learner's belief in it.
    """
    lower = np.maximum(0.0, taught + believed - 1.0) / taught
    return lower, np.minimum(1.0, believed / taught)


def two_hypothesis_success(
    teacher_prior: Distribution, learner_prior: Distribution, hypothesis: SupportsIndex | str
) -> float:
    """Return the exact success rate of two agents who share an SCBI rule on a positive n x 2 table.

    Parameters
    ----------
    teacher_prior, learner_prior
        The two priors, two numbers each.
    hypothesis
        The hypothesis that is taught, by position or label.

    Returns
    -------
    float
        Between zero and one.

    Notes
    -----
    The posterior increases with the belief before it. Both agents see the same data, so the agent
    with the larger prior in h always has the larger belief in h. The success rate is then the upper
    bound of `success_bounds`:
    ``min(1, theta^L(h) / theta^T(h))``.

    Examples
    --------
    >>> import cobayes as cb
    >>> round(cb.stability.two_hypothesis_success([0.5, 0.5], [0.4, 0.6], 0), 3)
    0.8
    """
    taught, believed, position = validated_priors(teacher_prior, learner_prior, hypothesis)
    if len(taught) != 2:
        raise CobayesError(
            f"there are {len(taught)} hypotheses; expected two, for which the formula is exact.",
            "use success_rate(...) for an estimate, or success_bounds(...) for proved bounds.",
        )
    return float(min(1.0, believed[position] / taught[position]))


def conjectured_success(
    teacher_prior: Distribution,
    learner_prior: Distribution,
    hypothesis: SupportsIndex | str,
    distance: Distance = "euclidean",
) -> float:
    """Return Conjecture 5.3's lower bound on the success rate; it may be negative.

    Parameters
    ----------
    teacher_prior, learner_prior
        The two priors.
    hypothesis
        The hypothesis that is taught, by position or label.
    distance
        "euclidean" (as in the paper's figures), "l1", or "tv" (total variation, half of l1).

    Returns
    -------
    float
        At most one.

    Notes
    -----
    Conjecture 5.3: ``1 - distance(theta^T, theta^L) / theta^T(h)``. `cobayes.conjecture` has
    counter-examples.

    Examples
    --------
    >>> import cobayes as cb
    >>> round(cb.stability.conjectured_success([0.5, 0.5], [0.4, 0.6], 0, "tv"), 3)
    0.8
    """
    taught, believed, position = validated_priors(teacher_prior, learner_prior, hypothesis)
    return float(1.0 - prior_distance(taught, believed, distance) / taught[position])


def prior_distance(first: ArrayLike, second: ArrayLike, distance: Distance = "euclidean") -> Any:
    """Return the distance between distributions along the last axis.

    Parameters
    ----------
    first, second
        Distributions; they broadcast against each other.
    distance
        "euclidean", "l1" or "tv" (half of l1).

    Returns
    -------
    float or ndarray
        One number for each pair.

    Examples
    --------
    >>> import cobayes as cb
    >>> round(float(cb.stability.prior_distance([0.5, 0.5], [0.4, 0.6], "l1")), 3)
    0.2
    """
    one_of(distance, "distance", get_args(Distance))
    one = as_floats(first, copy=True, name="first distribution")
    other = as_floats(second, copy=True, name="second distribution")
    try:
        difference = one - other
    except ValueError:
        difference = None
    if difference is None or one.shape[-1:] != other.shape[-1:]:
        raise CobayesError(
            f"the distributions have shapes {one.shape} and {other.shape}; expected shapes that "
            "broadcast against each other, with equal last axes."
        )
    if distance == "euclidean":
        return np.sqrt((difference**2).sum(axis=-1))
    return (0.5 if distance == "tv" else 1.0) * np.abs(difference).sum(axis=-1)


def validated_priors(
    teacher_prior: Distribution, learner_prior: Distribution, hypothesis: SupportsIndex | str
) -> tuple[Array, Array, int]:
    """Return both validated priors and the position of the taught hypothesis."""
    if hasattr(teacher_prior, "keys"):
        names = list(cast(Any, teacher_prior).keys())
        labels = make_labels(names, len(names), "hypothesis")
    else:
        labels = make_labels(
            None, as_floats(teacher_prior, copy=True, name="teacher's prior").size, "hypothesis"
        )
    taught = as_distribution(teacher_prior, labels, "hypothesis", "teacher's prior")
    believed = as_distribution(learner_prior, labels, "hypothesis", "learner's prior")
    position = find(hypothesis, labels, "hypothesis")
    if taught[position] == 0.0:
        raise unteachable(labels[position], "teacher's prior")
    return taught, believed, position
