"""Asymptotic rates of convergence: how fast the log-odds of the truth grow, in nats per round.

The rate of a rule is the smallest divergence of the taught column from another one, in the limit of
certainty. For BI and SCBI the divergences of all pairs come from two matrix products.
KL(x, y) = sum_i x_i log(x_i / y_i) is a small difference of large terms when y is close to x; such
pairs are computed again, from sum_i x_i g(y_i / x_i) with g(r) = r - 1 - log r, all of whose terms
are positive and, given the differences y_i - x_i, accurate.
"""

from __future__ import annotations

from typing import Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from cobayes._input.distributions import Distribution
from cobayes.errors import CobayesError, unteachable
from cobayes.model import MatrixLike
from cobayes.rules import BI, SCBI, Rule, as_rule
from cobayes.rules.base import in_every_round

Array = NDArray[np.float64]
Kind = Literal["bi", "scbi"]

# |e| below which e - log(1 + e) comes from a series.
_NEAR = 0.3
# Divergences below this share of the logarithms that they are differences of are computed again
# without cancellation.
_CANCELLATION = 1e-2
# Numbers of a block of pairs that are computed together: 8 MB.
_BLOCK_ENTRIES = 1 << 20


@overload
def rate_of_convergence(
    rule: Rule | MatrixLike, hypothesis: None = None, *, prior: Distribution | None = None
) -> Array: ...


@overload
def rate_of_convergence(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    prior: Distribution | None = None,
) -> float: ...


def rate_of_convergence(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str | None = None,
    *,
    prior: Distribution | None = None,
) -> float | Array:
    """Return the asymptotic rate of convergence: nats per round that the log-odds gain.

    Parameters
    ----------
    rule
        The rule of teacher and learner; a matrix means `SCBI` of it.
    hypothesis
        The hypothesis that is taught, by position or label (default: each of them in turn).
    prior
        Only hypotheses with a positive prior are rivals (default: all). Where the taught
        hypothesis has none, its rate is NaN.

    Returns
    -------
    float or ndarray
        A number for one hypothesis, (m,) for all. Zero where another column is the same; infinite
        where every rival is excluded by some datum that is shown for the taught hypothesis, which
        only zeros in the matrix can do. Negative where a literal learner that takes the table as
        it is (``literal="truth"``, depth 0) is led to another hypothesis.

    Notes
    -----
    Theorems 3.2 and 3.6: R(M; h) is the smallest KL divergence of column h from another column,
    of the column-normalised matrix for BI and of M-sharp for SCBI; see `m_sharp`. With a data
    prior p it is ``min_j log(sum_i p_i z_ij) - sum_i p_i log(z_ij)``, ``z_ij = M_ij / M_ih``.

    Examples
    --------
    >>> import cobayes as cb
    >>> round(cb.rate_of_convergence([[0.6, 0.3], [0.4, 0.7]], 0), 4)
    0.1845
    >>> cb.rate_of_convergence(cb.BI([[0.6, 0.3], [0.4, 0.7]])).round(4)
    array([0.192 , 0.1838])
    """
    found = divergences(rule, hypothesis, prior)
    rates = np.where(np.isnan(found).all(axis=-1), np.nan, found.min(axis=-1))
    return rates if hypothesis is None else float(rates[0])


@overload
def relevant_hypothesis(
    rule: Rule | MatrixLike, hypothesis: None = None, *, prior: Distribution | None = None
) -> NDArray[np.intp]: ...


@overload
def relevant_hypothesis(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    prior: Distribution | None = None,
) -> int: ...


def relevant_hypothesis(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str | None = None,
    *,
    prior: Distribution | None = None,
) -> int | NDArray[np.intp]:
    """Return the hypothesis that is hardest to tell from the one that is taught.

    Its column alone decides the rate: a perturbation of another column leaves it as it is.

    Parameters
    ----------
    rule, hypothesis, prior
        As in `rate_of_convergence`.

    Returns
    -------
    int or ndarray
        A position for one hypothesis, (m,) for all. The first one where several are equally hard.

    Notes
    -----
    Section 5.2: the arg min of Theorem 3.6.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.theory.relevant_hypothesis("example:M_1", "h_1")
    1
    """
    found = divergences(rule, hypothesis, prior).argmin(axis=-1)
    return found if hypothesis is None else int(found[0])


def m_sharp(rule: SCBI | MatrixLike, hypothesis: SupportsIndex | str) -> Array:
    """Return SCBI's likelihood in the limit of certainty about a hypothesis.

    Parameters
    ----------
    rule
        An `SCBI` rule; a matrix means `SCBI` of it.
    hypothesis
        The hypothesis that is taught, by position or label.

    Returns
    -------
    ndarray
        Columns sum to one; that of the hypothesis is the data prior, restricted to the data
        that it allows.

    Notes
    -----
    Theorem 3.6: rows are divided by the hypothesis's column, then columns normalised. With
    zeros the limit is determined by the hypothesis alone only where all others allow no
    further data.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.theory.m_sharp([[0.7, 0.2], [0.3, 0.8]], 0).round(3)
    array([[0.5  , 0.097],
           [0.5  , 0.903]])
    """
    own = in_every_round(as_rule(rule))
    if not isinstance(own, SCBI):
        raise CobayesError(
            "M-sharp belongs to SCBI; other rules have another limit.",
            "use m_sharp(rule.model, hypothesis), or rule.at_certainty(hypothesis).likelihood.",
        )
    position = own.model.hypothesis_index(hypothesis)
    matrix = own.model.matrix
    share = own.model.distribution(own.data_prior, over="datum")
    available = matrix[share > 0.0]
    if (available[available[:, position] == 0.0] > 0.0).any():
        raise CobayesError(
            "another hypothesis allows data that the taught one excludes; its column in the "
            "limit depends on the beliefs in the others.",
            "use SCBI(matrix).likelihood(belief) at a belief close to certainty.",
        )
    return own.at_certainty(position).likelihood.copy()


def divergences(
    rule: Rule | MatrixLike, hypothesis: SupportsIndex | str | None, prior: Distribution | None
) -> Array:
    """Return what each hypothesis loses per round in the limit of certainty, (taught, m).

    In nats; infinite for the taught hypothesis itself and for those without a prior, NaN in the
    row of a taught hypothesis without a prior.
    """
    own = in_every_round(as_rule(rule))
    model = own.model
    if model.num_hypotheses < 2:
        raise CobayesError(
            "the matrix has one hypothesis; a rate needs at least two.",
            "add the hypotheses that it may be confused with.",
        )
    taught = np.arange(model.num_hypotheses)
    is_rival = np.ones(model.num_hypotheses, dtype=np.bool_)
    if prior is not None:
        is_rival = model.distribution(prior) > 0.0
    if hypothesis is not None:
        taught = np.array([model.hypothesis_index(hypothesis)])
        if not is_rival[taught[0]]:
            raise unteachable(model.hypotheses[taught[0]], "prior")
    kind = _closed_form(own)
    if kind is not None:
        share = getattr(own, "data_prior", None)
        rows = np.ones(model.num_data, dtype=np.bool_) if share is None else share > 0.0
        _require_data(own, rows)
        found = pairwise_divergences(
            model.matrix[rows], kind, None if share is None else share[rows]
        )
        found = found[taught]
    else:
        found = np.array([own.divergences(int(h)) for h in taught])
    found[:, ~is_rival] = np.inf
    found[~is_rival[taught]] = np.nan
    return found


def _closed_form(rule: Rule) -> Kind | None:
    """Return whose formula gives the rate; None for a rule that has none."""
    if rule.core is None:
        return None
    return "bi" if type(rule) is BI else "scbi" if isinstance(rule, SCBI) else None


def _require_data(rule: Rule, rows: NDArray[np.bool_]) -> None:
    empty = ~(rule.model.matrix[rows] > 0.0).any(axis=0)
    if empty.any():
        name = rule.model.hypotheses[int(np.argmax(empty))]
        raise CobayesError(
            f"hypothesis {name!r} allows none of the data that the data prior makes available.",
            "give a positive probability to one of its data.",
        )


def pairwise_divergences(matrix: Array, kind: Kind, data_prior: Array | None = None) -> Array:
    """Return the divergences (h, j) of h's column from j's, infinite on the diagonal.

    Parameters
    ----------
    matrix
        Without negative entries and empty columns, (n, m).
    kind
        "bi": of the normalised columns. "scbi": of M-sharp's, in the limit of certainty about h.
    data_prior
        For "scbi": how often each datum is to be shown, (n,), all positive (default: uniform).

    Notes
    -----
    With z = M_j / M_h and data prior p, SCBI's is log(sum_i p_i z_i) - sum_i p_i log(z_i). It is
    infinite where one datum that h allows excludes j, and in the limit every j that allows other
    data than h is excluded by each of h's own: it spends all its mass on those others.
    """
    if (matrix == 0.0).any():
        return _divergences_with_zeros(matrix, kind, data_prior)
    num_data = len(matrix)
    share = np.full(num_data, 1.0 / num_data) if data_prior is None else data_prior
    largest = matrix.max(axis=0)
    columns = matrix / largest
    sums = columns.sum(axis=0)
    columns /= sums
    # From the entries themselves: a quotient may underflow, its logarithm does not.
    logs = np.log(matrix) - np.log(largest) - np.log(sums)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if kind == "bi":
            cross = columns.T @ logs
            found = np.diagonal(cross)[:, None] - cross
        else:
            # Rows may be divided by anything; by their largest entry, ratios stay in range.
            scaled = columns / columns.max(axis=1, keepdims=True)
            means = share @ logs
            found = np.log((share[:, None] / scaled).T @ scaled) - means + means[:, None]
    size = 1.0 + np.abs(logs).max()
    unsure = ~(found > _CANCELLATION * size) | ~np.isfinite(found)
    np.fill_diagonal(unsure, val=False)
    pairs = np.argwhere(unsure)
    step = max(1, _BLOCK_ENTRIES // num_data)
    for start in range(0, len(pairs), step):
        taught, other = pairs[start : start + step].T
        x, y, log_x, log_y = columns.T[taught], columns.T[other], logs.T[taught], logs.T[other]
        found[taught, other] = (
            divergence_of_pairs(x, y, log_x, log_y)
            if kind == "bi"
            else sharp_divergence_of_pairs(x, y, log_x, log_y, share)
        )
    np.fill_diagonal(found, np.inf)
    return found


def _divergences_with_zeros(matrix: Array, kind: Kind, data_prior: Array | None) -> Array:
    """Return what `pairwise_divergences` does, for a matrix with zeros."""
    num_data, num_hypotheses = matrix.shape
    columns = matrix / matrix.max(axis=0)
    columns /= columns.sum(axis=0)
    with np.errstate(divide="ignore"):
        logs = np.log(matrix) - np.log(matrix.max(axis=0))
    logs -= np.log(np.exp(logs).sum(axis=0))
    prior = np.full(num_data, 1.0 / num_data) if data_prior is None else data_prior
    allowed = matrix > 0.0
    found = np.full((num_hypotheses, num_hypotheses), np.inf)
    for h in range(num_hypotheses):
        rows = allowed[:, h]
        # BI excludes j by a datum of h that j does not allow; SCBI by any difference.
        differs = rows[:, None] & ~allowed if kind == "bi" else rows[:, None] != allowed
        others = ~differs.any(axis=0) & (np.arange(num_hypotheses) != h)
        if not others.any():
            continue
        x = np.broadcast_to(columns[rows, h], (int(others.sum()), int(rows.sum())))
        log_x = np.broadcast_to(logs[rows, h], x.shape)
        y, log_y = columns[rows][:, others].T, logs[rows][:, others].T
        if kind == "bi":
            # y need not sum to one over h's data: the rest is what g leaves out.
            outside = columns[~rows][:, others].sum(axis=0)
            found[h, others] = divergence_of_pairs(x, y, log_x, log_y) + outside
        else:
            share = prior[rows] / prior[rows].sum()
            found[h, others] = sharp_divergence_of_pairs(x, y, log_x, log_y, share)
    return found


def excess_over_log(excess: Array, log: Array) -> Array:
    """Return e - log(1 + e), which is never negative.

    Parameters
    ----------
    excess
        e, greater than -1.
    log
        log(1 + e), used where e is not small.
    """
    # With s = e / (2 + e): e = 2s/(1 - s) and log(1 + e) = 2 (s + s^3/3 + s^5/5 + ...).
    s = np.where(np.abs(excess) < _NEAR, excess, 0.0)
    s = s / (2.0 + s)
    square = s * s
    series = np.zeros_like(s)
    for k in range(25, 1, -2):
        series = square * (1.0 / k + series)
    near = 2.0 * square / (1.0 - s) - 2.0 * s * series
    return np.where(np.abs(excess) < _NEAR, near, np.maximum(excess - log, 0.0))


def divergence_of_pairs(x: Array, y: Array, log_x: Array, log_y: Array) -> Array:
    """Return KL(x, y) for rows of normalised distributions, (pairs, n), and their logarithms."""
    log_ratio = log_y - log_x
    # x g(y/x) = (y - x) - x log(y/x) needs no quotient where the columns differ much.
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excess = (y - x) / x
    near = np.abs(excess) < _NEAR
    far_terms = np.maximum((y - x) - x * log_ratio, 0.0)
    near_terms = x * excess_over_log(np.where(near, excess, 0.0), np.zeros_like(x))
    return np.where(near, near_terms, far_terms).sum(axis=-1)


def sharp_divergence_of_pairs(
    x: Array, y: Array, log_x: Array, log_y: Array, data_prior: Array
) -> Array:
    """Return KL(p, N(p y/x)) for rows of normalised distributions and a data prior p, (n,).

    With z = y/x and w = z / mean(z) it is the mean of g(w), both means under p.
    """
    log_ratio = log_y - log_x
    shift = log_ratio.max(axis=-1, keepdims=True)
    log_mean = shift + np.log(np.exp(log_ratio - shift) @ data_prior)[..., None]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        difference = (y - x) / x
        average = (difference @ data_prior)[..., None]
        excess = (difference - average) / (1.0 + average)
    log_w = log_ratio - log_mean
    # Differences that overflowed, or lost their digits, are far from equal: logarithms serve.
    near = np.abs(excess) < _NEAR
    with np.errstate(over="ignore"):
        far = np.maximum(np.expm1(log_w) - log_w, 0.0)
    return np.where(near, excess_over_log(np.where(near, excess, 0.0), log_w), far) @ data_prior
