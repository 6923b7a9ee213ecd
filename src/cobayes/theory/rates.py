"""Asymptotic rates of convergence: how fast the log-odds of the truth grow, in nats per round.

The rate of a rule is the smallest divergence of the taught column from another one, in the limit of
certainty. For BI and SCBI on a table without zeros, the divergences of all pairs come from matrix
products. For close columns x and y, KL(x, y) = sum_i x_i log(x_i / y_i) is a small difference of
large terms. Such pairs, and pairs on a table with zeros, are computed from sum_i x_i g(y_i / x_i),
where g(r) = r - 1 - log r. No term of this sum is negative, and each term is accurate if it is
computed from the difference y_i - x_i.
"""

from __future__ import annotations

from typing import Literal, SupportsIndex, overload

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import Distribution
from cobayes.errors import CobayesError, unteachable
from cobayes.model import MatrixLike
from cobayes.rules import BI, SCBI, Rule, as_rule
from cobayes.rules.naming import in_every_round
from cobayes.tasks.task import no_datum

Array = NDArray[np.float64]
Kind = Literal["bi", "scbi"]

# If |e| is below this, e - log(1 + e) is computed from a series.
_NEAR = 0.3
# A divergence is a difference of two means of logarithms. If it is smaller than this number times
# (1 + the largest absolute logarithm), it is computed again without cancellation.
_CANCELLATION = 1e-2
# The number of entries in a block of pairs that are computed together (8 MB).
_BLOCK_ENTRIES = 1 << 20


@overload
def rate_of_convergence(
    rule: Rule | MatrixLike, hypothesis: None = None, *, prior: Distribution | None = None
) -> Array: ...


@overload
def rate_of_convergence(
    rule: Rule | MatrixLike, hypothesis: SupportsIndex | str, *, prior: Distribution | None = None
) -> float: ...


def rate_of_convergence(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str | None = None,
    *,
    prior: Distribution | None = None,
) -> float | Array:
    """Return the asymptotic rate of convergence: the growth of the log-odds, in nats per round.

    Parameters
    ----------
    rule
        The rule of teacher and learner; a matrix means `SCBI(matrix)`.
    hypothesis
        The hypothesis that is taught, by position or label (default: each hypothesis).
    prior
        Only hypotheses with a positive prior are rivals (default: all). The prior of a given
        `hypothesis` must be positive. Without `hypothesis`, hypotheses with prior zero have the
        rate NaN.

    Returns
    -------
    float or ndarray
        Nats per round: a number for one hypothesis, (m,) for all. Zero if another column is
        proportional to that of the hypothesis. Infinite if there is no rival, or if zeros exclude
        each rival: a datum that is shown excludes the rival or, under SCBI, the rival allows a
        datum that the hypothesis excludes. Negative if a literal learner that takes the table as it
        is (``literal="truth"``, depth 0) converges to another hypothesis.

    Notes
    -----
    Theorems 3.2 and 3.6: R(M; h) is the smallest KL divergence of column h from another column. For
    BI they are columns of the column-normalised matrix, for SCBI of M-sharp; see `m_sharp`.
    With data prior p SCBI's rate is ``min_j log(sum_i p_i z_ij) - sum_i p_i log(z_ij)``, where
    ``z_ij = M_ij / M_ih``.

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
    rule: Rule | MatrixLike, hypothesis: SupportsIndex | str, *, prior: Distribution | None = None
) -> int: ...


def relevant_hypothesis(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str | None = None,
    *,
    prior: Distribution | None = None,
) -> int | NDArray[np.intp]:
    """Return the rival that is hardest to tell from the hypothesis that is taught.

    The rate of a built-in rule depends only on the columns of these two hypotheses. Unless another
    rival is equally hard, a small perturbation of any other column does not change the rate.

    Parameters
    ----------
    rule, hypothesis, prior
        As in `rate_of_convergence`.

    Returns
    -------
    int or ndarray
        The rival's position, or an array (m,) for all taught hypotheses; of equally hard rivals the
        first. An error is raised if a rate is infinite or NaN.

    Notes
    -----
    Section 5: the arg min of Theorem 3.6.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.theory.relevant_hypothesis("example:M_1", "h_1")
    1
    """
    values = divergences(rule, hypothesis, prior)
    rates = values.min(axis=-1)
    if not np.isfinite(rates).all():
        raise CobayesError(
            f"the rate is {rates}: if every rival is excluded, or if the hypothesis has prior "
            "zero, no rival determines the rate.",
            "give a hypothesis with a finite rate, or count rounds: simulate(...).rounds_needed.",
        )
    found = values.argmin(axis=-1)
    return found if hypothesis is None else int(found[0])


def m_sharp(rule: SCBI | MatrixLike, hypothesis: SupportsIndex | str) -> Array:
    """Return SCBI's likelihood in the limit of certainty about a hypothesis.

    Parameters
    ----------
    rule
        An `SCBI` rule; a matrix means `SCBI(matrix)`.
    hypothesis
        The hypothesis that is taught, by position or label.

    Returns
    -------
    ndarray
        The likelihood, (n, m). Columns sum to one; the column of the hypothesis is the data prior,
        restricted to the data that the hypothesis allows.

    Notes
    -----
    Theorem 3.6: row i is multiplied by p_i / M_ih, with p the data prior, then columns are
    normalised. If another hypothesis allows data that h rules out, the limit depends on the beliefs
    in the other hypotheses, and an error is raised.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.theory.m_sharp([[0.7, 0.2], [0.3, 0.8]], 0).round(3)
    array([[0.5  , 0.097],
           [0.5  , 0.903]])
    """
    own = in_every_round(as_rule(rule))
    if not own.is_scbi:
        raise CobayesError(
            "M-sharp is the limit of SCBI; other rules have other limits.",
            "use m_sharp(rule.model, hypothesis), or rule.at_certainty(hypothesis).likelihood.",
        )
    position = own.model.hypothesis_index(hypothesis)
    matrix = own.model.matrix
    share = own.model.distribution(own.data_prior, over="datum")
    available = matrix[share > 0.0]
    if (available[available[:, position] == 0.0] > 0.0).any():
        raise CobayesError(
            "a hypothesis allows data that the taught hypothesis excludes; at certainty, the "
            "column of such a hypothesis depends on the beliefs in the other hypotheses.",
            "use SCBI(matrix).likelihood(belief) at a belief close to certainty.",
        )
    return own.at_certainty(position).likelihood.copy()


def divergences(
    rule: Rule | MatrixLike, hypothesis: SupportsIndex | str | None, prior: Distribution | None
) -> Array:
    """Return the growth of the log-odds of each taught h against each j, (taught, m).

    The values are in nats per round, in the limit of certainty about h. A value is infinite if j is
    h, has prior zero or is excluded (see `pairwise_divergences`); NaN if h has prior zero.
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
    if own.is_scbi or type(own) is BI:
        share = np.ones(model.num_data) if own.data_prior is None else own.data_prior
        rows = share > 0.0
        is_empty = ~(model.matrix[rows] > 0.0).any(axis=0)
        if is_empty.any():
            raise no_datum(model, int(np.argmax(is_empty)), rows)
        kind: Kind = "bi" if type(own) is BI else "scbi"
        found = pairwise_divergences(model.matrix[rows], kind, share[rows])[taught]
    else:
        found = np.array([limit_divergences(own, int(h)) for h in taught])
    found[:, ~is_rival] = np.inf
    found[~is_rival[taught]] = np.nan
    return found


def limit_divergences(rule: Rule, hypothesis: int) -> Array:
    """Return the row of `divergences` for one taught hypothesis and any rule, (m,)."""
    response = rule.at_certainty(hypothesis)
    shares, logs = response.likelihood[:, hypothesis], response.log_likelihood
    shown = shares > 0.0
    found = shares[shown] @ (logs[shown, hypothesis, None] - logs[shown])
    found[hypothesis] = np.inf
    return np.where(np.abs(found) < 1e-14, 0.0, found)  # equal columns, up to rounding


def pairwise_divergences(matrix: Array, kind: Kind, data_prior: Array | None = None) -> Array:
    """Return the divergence of column h from column j at [h, j]; infinite on the diagonal.

    Parameters
    ----------
    matrix
        The matrix, (n, m), without negative entries or columns of zeros.
    kind
        "bi": between columns of the normalised matrix. "scbi": between columns of M-sharp, in the
        limit of certainty about h.
    data_prior
        For "scbi": the data prior, (n,), positive; it need not sum to one (default: uniform).

    Notes
    -----
    With z = M_j / M_h and data prior p, the divergence of SCBI is
    log(sum_i p_i z_i) - sum_i p_i log(z_i). It is infinite if a datum that h allows excludes j. It
    is also infinite if j allows data that h rules out: in the limit column j has all its mass on
    such data, so each datum of h excludes j.
    """
    num_data, num_hypotheses = matrix.shape
    share = np.ones(num_data) if data_prior is None else data_prior
    share = share / share.sum()
    largest = matrix.max(axis=0)
    columns = matrix / largest
    sums = columns.sum(axis=0)
    columns /= sums
    found = np.full((num_hypotheses, num_hypotheses), np.inf)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        # A difference of logarithms, because a quotient of entries may underflow.
        logs = np.log(matrix) - np.log(largest) - np.log(sums)
        if (matrix == 0.0).any():
            allowed = (matrix > 0.0).astype(np.float64)
            missing = allowed.T @ (1.0 - allowed)  # the number of data of h that exclude j
            unsure = missing + (missing.T if kind == "scbi" else 0.0) == 0.0
            logs[matrix == 0.0] = 0.0  # -inf would lead to NaN where the weight is zero
        else:
            if kind == "bi":
                cross = columns.T @ logs
                found = np.diagonal(cross)[:, None] - cross
            else:
                # Each row is divided by its largest entry to avoid overflow; this factor cancels.
                scaled = columns / columns.max(axis=1, keepdims=True)
                means = share @ logs
                found = np.log((share[:, None] / scaled).T @ scaled) - means + means[:, None]
            size = 1.0 + np.abs(logs).max()
            unsure = ~(found > _CANCELLATION * size) | ~np.isfinite(found)
    np.fill_diagonal(unsure, val=False)
    pairs = np.argwhere(unsure)
    step = max(1, _BLOCK_ENTRIES // num_data)
    for start in range(0, len(pairs), step):
        h, j = pairs[start : start + step].T
        x, y, log_ratios = columns.T[h], columns.T[j], logs.T[j] - logs.T[h]
        found[h, j] = (
            _divergences(x, y, log_ratios)
            if kind == "bi"
            else _sharp_divergences(x, y, log_ratios, (matrix.T[h] > 0.0) * share)
        )
    np.fill_diagonal(found, np.inf)
    return found


def _divergences(x: Array, y: Array, log_ratios: Array) -> Array:
    """Return KL(x, y) for rows of distributions, (pairs, n); where y = 0, x must be zero, too."""
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        excess = (y - x) / x
    # Where the columns differ much, x g(y/x) = (y - x) - x log_ratios, without a quotient. Where
    # x = 0 this term is y.
    far = np.maximum((y - x) - x * log_ratios, 0.0)
    is_near = np.abs(excess) < _NEAR
    return np.where(is_near, x * _gap(np.where(is_near, excess, 0.0)), far).sum(axis=1)


def _sharp_divergences(x: Array, y: Array, log_ratios: Array, shares: Array) -> Array:
    """Return KL(p, q) with q proportional to p y / x, for rows of x, y and data priors p.

    With z = y / x, w = z / sum_i p_i z_i and g(r) = r - 1 - log r, this is sum_i p_i g(w_i).
    `shares` is p up to a factor; it is zero for data that the hypothesis of x excludes. For other
    data x may underflow to zero.
    """
    p = shares / shares.sum(axis=1, keepdims=True)
    log_w = log_ratios - log_ratios.max(axis=1, keepdims=True)
    log_w = log_w - np.log((p * np.exp(log_w)).sum(axis=1, keepdims=True))
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        difference = np.where(p > 0.0, (y - x) / x, 0.0)
        average = (p * difference).sum(axis=1, keepdims=True)
        excess = (difference - average) / (1.0 + average)
        # Where columns differ much, `excess` may overflow or be rounded to -1; this form does not.
        far = np.maximum(np.expm1(log_w) - log_w, 0.0)
    is_near = np.abs(excess) < _NEAR
    return (p * np.where(is_near, _gap(np.where(is_near, excess, 0.0)), far)).sum(axis=1)


def _gap(excess: Array) -> Array:
    """Return e - log(1 + e) for |e| below `_NEAR`, without cancellation."""
    # With s = e / (2 + e): e = 2s/(1 - s) and log(1 + e) = 2 (s + s^3/3 + s^5/5 + ...).
    s = excess / (2.0 + excess)
    square = s * s
    series = np.zeros_like(s)
    for k in range(25, 1, -2):
        series = square * (1.0 / k + series)
    return 2.0 * square / (1.0 - s) - 2.0 * s * series
