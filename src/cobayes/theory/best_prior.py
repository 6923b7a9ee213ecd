"""The data prior with the highest rate of convergence.

With row sums n p instead of ones, where p is the data prior, SCBI's rate for hypothesis h is

    R(p; h) = min_j f_hj(p),   f_hj(p) = log(sum_i p_i z_ij) - sum_i p_i log(z_ij),

where z_ij = M_ij / M_ih. Every f_hj is concave in p, and for any s > 0

    f_hj(p) <= sum_i p_i g(z_ij / s),   g(r) = r - 1 - log(r),

with equality at s = sum_i p_i z_ij. Each right-hand side is a linear upper bound, a "cut". The
linear programme over all cuts found so far gives a new p. The programme's multipliers give an
upper bound on the rate of every data prior.

On a table with zeros, the teacher of h shows only data that h allows; in the limit of certainty it
draws them in proportion to p. The rivals of h are the other hypotheses that allow exactly these
data. If hypotheses allow different data, their rates depend on different parts of p, and the mean
rate is not concave. Each set of hypotheses that allow the same data (a "pattern") has its own best
data prior. The mean of the best rates is an upper bound on the mean rate. The result is the best of
the uniform data prior and several mixtures of the patterns' best data priors.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from cobayes._input.validation import number_between
from cobayes._output import freeze
from cobayes.errors import CobayesError, ConvergenceError, import_optional
from cobayes.model import MatrixLike, Model, as_task
from cobayes.rules import Rule

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

MAX_CUTS = 100
# About log(1e-300): smaller ratios would underflow, and their inverses overflow.
SMALLEST_LOG_RATIO = -690.0
# On tables with zeros every one of the n data has a probability of at least about LEAST_SHARE / n.
# A datum that is never shown would exclude no hypothesis.
LEAST_SHARE = 1e-6
# For `_mixtures`: the factors (pattern k has the weight factor**k), and the largest number of
# rotations of the patterns' order.
FACTORS = (1.0, 0.3, 0.1, 0.03, 0.01, 1e-3, 1e-4)
MAX_ORDERS = 30


@dataclass(frozen=True, eq=False, repr=False)
class DataPrior:
    """The data prior with the highest rate, and an upper bound on the rate of any other.

    Attributes
    ----------
    data_prior : ndarray
        The probability with which each datum should be shown, (n,).
    rate : float
        SCBI's rate under this data prior, in nats per round. If `hypothesis` is None, this is the
        mean over the hypotheses whose rate is finite (infinite if no rate is finite).
    upper_bound : float
        No data prior has a higher rate than this. Exception: if a mean rate is maximised on a table
        with zeros, only data priors without zeros are compared.
    uniform_rate : float
        The rate under the uniform data prior.
    model : Model
        The matrix and its labels.
    hypothesis : int or None
        The position of the taught hypothesis; None if the mean rate was maximised.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.best_data_prior([[0.6, 0.2], [0.4, 0.8]], 0)
    >>> found.data_prior.round(3), found.rate >= found.uniform_rate
    (array([0.642, 0.358]), True)
    """

    data_prior: Array
    rate: float
    upper_bound: float
    uniform_rate: float
    model: Model
    hypothesis: int | None

    __post_init__ = freeze

    @property
    def gap(self) -> float:
        """How much higher the rate of another data prior can be at most; see `upper_bound`."""
        return self.upper_bound - self.rate if np.isfinite(self.rate) else 0.0

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per datum: its label and its probability."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        return pandas.DataFrame(
            {"share": self.data_prior}, index=pandas.Index(self.model.data, name="datum")
        )

    def __repr__(self) -> str:
        order = np.argsort(-self.data_prior, kind="stable")[:4]
        shares = ", ".join(f"{self.model.data[i]}: {self.data_prior[i]:.3g}" for i in order)
        return (
            f"DataPrior({shares}{', …' if self.model.num_data > 4 else ''}; rate "
            f"{self.rate:.5g}, uniform {self.uniform_rate:.5g}; gap {max(self.gap, 0.0):.1g})"
        )


def best_data_prior(
    matrix: MatrixLike | Rule,
    hypothesis: SupportsIndex | str | None = None,
    *,
    tolerance: float = 1e-9,
) -> DataPrior:
    """Return the data prior under which SCBI converges fastest.

    Parameters
    ----------
    matrix
        The matrix, data by hypotheses, or a rule with this matrix.
    hypothesis
        The hypothesis that is taught, by position or label (default: the mean rate of all
        hypotheses is maximised).
    tolerance
        The largest accepted gap, in nats per round; with zeros the final gap may be larger.

    Returns
    -------
    DataPrior
        ``.data_prior`` and ``.rate``. The rate of any other data prior is higher by at most
        ``.gap``; for mean rates on tables with zeros this holds only for positive data priors.

    Notes
    -----
    A cutting-plane method. For two hypotheses the best data prior is positive for two data only,
    those with the largest and the smallest ratio of the columns. On tables with zeros every datum
    has a probability of at least about 1e-6 / n, because a datum that is never shown would exclude
    no hypothesis. If hypotheses allow different data, their mean rate is not concave in the data
    prior. The result is then the best of several data priors; the gap is valid, but may be large.

    Examples
    --------
    >>> import cobayes as cb
    >>> best = cb.best_data_prior([[0.6, 0.3], [0.3, 0.3], [0.1, 0.4]], 0)
    >>> [round(float(share), 2) for share in best.data_prior]
    [0.66, 0.0, 0.34]
    >>> matrix = [[0.6, 0.3], [0.3, 0.3], [0.1, 0.4]]
    >>> rule = cb.SCBI(matrix, data_prior=best.data_prior)  # teaches with it
    """
    task = matrix.task if isinstance(matrix, Rule) else as_task(matrix)
    model = task.model
    if task is not model:
        raise CobayesError(
            f"best_data_prior needs a matrix; found the task {type(task).__name__}.",
            "give a table; if only some data may be shown, give a table of these rows.",
        )
    number_between(tolerance, "tolerance", 0.0, 1.0)
    if model.num_hypotheses < 2:
        raise CobayesError(
            "the matrix has one hypothesis; a rate needs at least two.",
            "add the hypotheses that it may be confused with.",
        )
    position = None if hypothesis is None else model.hypothesis_index(hypothesis)
    taught = list(range(model.num_hypotheses)) if position is None else [position]
    patterns = _patterns(model.matrix, taught)
    uniform = np.full(model.num_data, 1.0 / model.num_data)
    if not patterns:
        return DataPrior(uniform, np.inf, np.inf, np.inf, model, position)
    least = 0.0 if (model.matrix > 0.0).all() else LEAST_SHARE / model.num_data
    count = sum(len(pattern.ratios) for pattern in patterns)
    bound = 0.0
    parts = np.zeros((len(patterns), model.num_data))
    for part, pattern in zip(parts, patterns, strict=True):
        part[pattern.rows], upper = _cutting_planes(pattern, least, tolerance)
        bound += upper * len(pattern.ratios) / count
    candidates = [uniform, *(_floored(prior, least) for prior in _mixtures(parts))]
    best = max(candidates, key=lambda prior: _mean_rate(patterns, prior))
    rates = _mean_rate(patterns, best), _mean_rate(patterns, uniform)
    return DataPrior(best, rates[0], bound, rates[1], model, position)


def _mixtures(parts: Array) -> Iterator[Array]:
    """Yield mixtures of the patterns' best data priors, in several orders of the patterns.

    The k-th pattern has the weight factor^k. With a small factor, a pattern hardly changes the
    probabilities of the data of earlier patterns.
    """
    count = len(parts)
    orders = [np.arange(count), np.arange(count)[::-1]]
    orders += [np.roll(np.arange(count), -first) for first in range(1, count)][:MAX_ORDERS]
    for factor in FACTORS if count > 1 else FACTORS[:1]:
        for order in orders:
            weights = factor ** np.arange(count)
            yield weights / weights.sum() @ parts[order]


def _floored(prior: Array, least: float) -> Array:
    prior = np.maximum(prior, least)
    return prior / prior.sum()


class _Pattern:
    """Hypotheses with the same possible data, and their rivals.

    Parameters
    ----------
    rows
        Which data these hypotheses allow, (n,).
    ratios
        One array for each taught hypothesis: log(z_ij) up to a constant for each rival,
        (allowed data, rivals).
    """

    def __init__(self, rows: NDArray[np.bool_], ratios: list[Array]) -> None:
        self.rows = rows
        self.ratios = ratios

    def share(self, prior: Array) -> Array:
        """Return the teacher's probability of each allowed datum in the limit of certainty."""
        return prior[self.rows] / prior[self.rows].sum()

    def tangents(self, share: Array) -> list[Array]:
        """Return g(z_ij / s) >= 0 at s = sum_i p_i z_ij, for each taught hypothesis."""
        found = []
        for logs in self.ratios:
            below = logs - np.log(share @ np.exp(logs))
            found.append(np.maximum(np.expm1(below) - below, 0.0))
        return found

    def rates(self, share: Array) -> Array:
        """Return the rate of each taught hypothesis: the minimum over rivals of the mean of g."""
        return np.array([(share @ terms).min() for terms in self.tangents(share)])


def _patterns(matrix: Array, taught: list[int]) -> list[_Pattern]:
    """Group the taught hypotheses by their possible data.

    A hypothesis is left out if no other hypothesis allows exactly the same data: its rate is
    infinite under any positive data prior.
    """
    allowed = matrix > 0.0
    with np.errstate(divide="ignore"):
        logs = np.log(matrix)
    found: dict[bytes, _Pattern] = {}
    for h in taught:
        rows = allowed[:, h]
        rivals = (allowed == rows[:, None]).all(axis=0)
        rivals[h] = False
        if rivals.any():
            ratios = logs[rows][:, rivals] - logs[rows, h][:, None]
            pattern = found.setdefault(rows.tobytes(), _Pattern(rows, []))
            # Rates do not depend on the scale of columns; each rival's largest ratio is set to one.
            pattern.ratios.append(ratios - ratios.max(axis=0))
            if pattern.ratios[-1].min() < SMALLEST_LOG_RATIO:
                raise CobayesError(
                    "the ratios of the entries of two columns span more than 1e300.",
                    "make the smallest entries of the matrix larger.",
                )
    return list(found.values())


def _mean_rate(patterns: list[_Pattern], prior: Array) -> float:
    return float(np.mean(np.concatenate([one.rates(one.share(prior)) for one in patterns])))


def _cutting_planes(pattern: _Pattern, least: float, tolerance: float) -> tuple[Array, float]:
    """Return the data prior with the highest mean rate, and an upper bound on that rate."""
    size = int(pattern.rows.sum())
    cuts: list[Array] = []
    owners: list[int] = []
    levels = np.full(len(pattern.ratios), np.inf)
    share = best = np.full(size, 1.0 / size)
    rate = float(pattern.rates(best).mean())
    # `bound`: an upper bound on the rate of data priors whose probabilities are all >= least.
    # `upper`: an upper bound on the rate of any data prior.
    bound = upper = np.inf
    for _ in range(MAX_CUTS):
        # Add cuts for the pairs (h, j) whose f_hj(p) the linear programme overestimates.
        for owner, terms in enumerate(pattern.tangents(share)):
            new = terms.T[share @ terms < levels[owner]]
            cuts.extend(new)
            owners.extend([owner] * len(new))
        answer = solve_programme(np.array(cuts), owners, least)
        share = _floored(answer.x[:size], least)
        levels = answer.x[size:]
        gains = _gains(np.array(cuts), owners, -answer.ineqlin.marginals)
        upper = min(upper, gains.max())
        bound = min(bound, least * gains.sum() + (1.0 - size * least) * gains.max())
        found = float(pattern.rates(share).mean())
        if found > rate:
            best, rate = share, found
        if bound - rate <= tolerance:
            return best, float(upper)
    raise ConvergenceError(
        f"after {MAX_CUTS} steps the rate is {rate:.6g} and its upper bound {bound:.6g}; expected "
        f"a difference of at most {tolerance:.3g}.",
        "use a larger tolerance.",
    )


def solve_programme(cuts: Array, owners: list[int], least: float) -> Any:
    """Find the distribution p that maximises the mean over h of min_k sum_i p_i cuts_ki.

    Every p_i is at least `least`. The minimum is over the cuts k with ``owners[k] == h``. In the
    result, ``x`` contains p and then the minimum of each h.
    """
    count, size = cuts.shape
    groups = max(owners) + 1
    is_owner = np.zeros((count, groups))
    is_owner[np.arange(count), owners] = 1.0
    answer = linprog(
        np.concatenate([np.zeros(size), np.full(groups, -1.0 / groups)]),
        A_ub=csr_matrix(np.hstack([-cuts, is_owner])),
        b_ub=np.zeros(count),
        A_eq=np.concatenate([np.ones(size), np.zeros(groups)])[None],
        b_eq=[1.0],
        bounds=[(least, 1.0)] * size + [(None, None)] * groups,
        method="highs",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if answer.status != 0:
        raise ConvergenceError(
            f"the linear programme was not solved: {answer.message}",
            "make the smallest entries of the matrix larger.",
        )
    return answer


def _gains(cuts: Array, owners: list[int], multipliers: Array) -> Array:
    """Return numbers y_i such that sum_i p_i y_i >= the mean rate under p, for every data prior p.

    This holds for any multipliers, so the bound is valid even if the solver is inaccurate.
    """
    weights = np.maximum(multipliers, 0.0)
    totals = np.bincount(owners, weights)
    if not (totals > 0.0).all():
        return np.full(cuts.shape[1], np.inf)
    return (weights / (len(totals) * totals)[owners]) @ cuts
