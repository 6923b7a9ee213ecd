"""The data prior with the highest rate of convergence: which data deserve emphasis.

With row sums n p instead of ones, SCBI's rate for hypothesis h is

    R(p; h) = min_j f_hj(p),   f_hj(p) = log(sum_i p_i z_ij) - sum_i p_i log(z_ij),

where z_ij = M_ij / M_ih. Every f_hj is concave in p, and for any s > 0

    f_hj(p) <= sum_i p_i g(z_ij / s),   g(r) = r - 1 - log(r),

with equality at s = sum_i p_i z_ij: linear upper bounds ("cuts"). The linear programme over all
cuts found so far gives a new p and, by its multipliers, a bound on the rate of every data prior.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog
from scipy.sparse import csr_matrix

from cobayes._input.validation import number_between
from cobayes.errors import CobayesError, ConvergenceError, import_optional
from cobayes.model import MatrixLike, Model, as_model
from cobayes.rules import Rule

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

MAX_CUTS = 100
# On tables with zeros every datum stays available: without it, what it excludes would return.
LEAST_SHARE = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class DataPrior:
    """The data prior with the highest rate, and how far from the highest it may be.

    Attributes
    ----------
    data_prior : ndarray
        How often each datum should be shown, (n,).
    rate : float
        SCBI's rate under it: of the hypothesis, or the mean over hypotheses.
    upper_bound : float
        No data prior has a higher rate than this.
    uniform_rate : float
        The rate under the uniform data prior.
    model : Model
        The matrix and its labels.
    hypothesis : int or None
        What is taught, by position; None where the mean over all was maximised.
    """

    data_prior: Array
    rate: float
    upper_bound: float
    uniform_rate: float
    model: Model
    hypothesis: int | None

    @property
    def gap(self) -> float:
        """By how much another data prior could be better, at most."""
        return self.upper_bound - self.rate if np.isfinite(self.rate) else 0.0

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per datum: its label and its share."""
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
        Data by hypotheses, or a rule that holds it.
    hypothesis
        The one that is taught; None maximises the mean rate over all hypotheses.
    tolerance
        Stop when no data prior can be better by more than this, in nats per round.

    Returns
    -------
    DataPrior
        ``.data_prior`` and ``.rate``; ``.gap`` bounds what is left to gain.

    Notes
    -----
    A cutting-plane method. For two hypotheses the best data prior sits on two data, those where
    the ratio of the columns is largest and smallest. On tables with zeros every datum keeps a
    share of at least 1e-6 / n, and the bound is for such data priors.

    Examples
    --------
    >>> import cobayes as cb
    >>> best = cb.best_data_prior([[0.6, 0.3], [0.3, 0.3], [0.1, 0.4]], 0)
    >>> [round(float(share), 2) for share in best.data_prior]
    [0.66, 0.0, 0.34]
    """
    model = matrix.model if isinstance(matrix, Rule) else as_model(matrix)
    number_between(tolerance, "tolerance", 0.0, 1.0)
    if model.num_hypotheses < 2:
        raise CobayesError(
            "the matrix has one hypothesis; a rate needs at least two.",
            "add the hypotheses that it may be confused with.",
        )
    position = None if hypothesis is None else model.hypothesis_index(hypothesis)
    taught = list(range(model.num_hypotheses)) if position is None else [position]
    problem = _Problem(model.matrix, taught)
    uniform = np.full(model.num_data, 1.0 / model.num_data)
    if not problem.groups:
        return DataPrior(uniform, np.inf, np.inf, np.inf, model, position)
    uniform_rate = problem.rate(uniform)
    best, rate = uniform, uniform_rate
    bound = np.inf
    prior = uniform
    for _ in range(MAX_CUTS):
        problem.add_cuts(prior)
        prior, upper = problem.solve()
        bound = min(bound, upper)
        found = problem.rate(prior)
        if found > rate:
            best, rate = prior, found
        if bound - rate <= tolerance:
            return DataPrior(best, rate, bound, uniform_rate, model, position)
    raise ConvergenceError(
        f"after {MAX_CUTS} steps a better data prior is not excluded: the rate is {rate:.6g}, "
        f"the bound {bound:.6g}.",
        "use a larger tolerance.",
    )


class _Problem:
    """The linear programme: maximise the mean of t_h, each below all cuts of its rivals.

    Parameters
    ----------
    matrix
        Shape (n, m).
    taught
        The hypotheses whose rates are averaged. Those that one datum tells from every other
        have an infinite rate under any data prior and are left out.
    """

    def __init__(self, matrix: Array, taught: list[int]) -> None:
        allowed = matrix > 0.0
        self.num_data = len(matrix)
        self.least = 0.0 if allowed.all() else LEAST_SHARE / self.num_data
        self.groups: list[tuple[NDArray[np.bool_], Array]] = []
        with np.errstate(divide="ignore"):
            logs = np.log(matrix)
        for h in taught:
            rows = allowed[:, h]
            rivals = (allowed == rows[:, None]).all(axis=0)
            rivals[h] = False
            if rivals.any():
                ratios = logs[rows][:, rivals] - logs[rows, h][:, None]
                # Columns may be multiplied by anything; the largest ratio becomes one.
                self.groups.append((rows, ratios - ratios.max(axis=0)))
        self._cuts: list[Array] = []
        self._owners: list[int] = []
        self._levels = np.full(len(self.groups), np.inf)

    def rate(self, prior: Array) -> float:
        """Return the mean over the taught hypotheses of the smallest bracket."""
        rates = []
        for rows, logs in self.groups:
            share = prior[rows] / prior[rows].sum()
            log_mean = np.log(share @ np.exp(logs))
            # The mean of g(z / mean z): no term is negative.
            terms = np.expm1(logs - log_mean) - (logs - log_mean)
            rates.append((share @ np.maximum(terms, 0.0)).min())
        return float(np.mean(rates))

    def add_cuts(self, prior: Array) -> None:
        """Add the tangents at a data prior of the pairs whose bracket is below the model."""
        for group, (rows, logs) in enumerate(self.groups):
            log_mean = np.log(prior[rows] @ np.exp(logs)) - np.log(prior[rows].sum())
            terms = np.maximum(np.expm1(logs - log_mean) - (logs - log_mean), 0.0)
            share = prior[rows] / prior[rows].sum()
            for values in terms.T[share @ terms < self._levels[group]]:
                cut = np.zeros(self.num_data)
                cut[rows] = values
                self._cuts.append(cut)
                self._owners.append(group)

    def solve(self) -> tuple[Array, float]:
        """Return the best data prior for the cuts, and a bound on every data prior's rate."""
        cuts = np.array(self._cuts)
        count, groups = len(cuts), len(self.groups)
        owners = np.zeros((count, groups))
        owners[np.arange(count), self._owners] = 1.0
        objective = np.concatenate([np.zeros(self.num_data), np.full(groups, -1.0 / groups)])
        answer = linprog(
            objective,
            A_ub=csr_matrix(np.hstack([-cuts, owners])),
            b_ub=np.zeros(count),
            A_eq=np.concatenate([np.ones(self.num_data), np.zeros(groups)])[None],
            b_eq=[1.0],
            bounds=[(self.least, 1.0)] * self.num_data + [(0.0, None)] * groups,
            method="highs",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if answer.status != 0:
            raise ConvergenceError(f"the linear programme failed: {answer.message}")
        prior = np.maximum(answer.x[: self.num_data], self.least)
        prior /= prior.sum()
        self._levels = answer.x[self.num_data :]
        # Any multipliers with the right sums give a bound; so it does not rest on the solver.
        weights = np.maximum(-answer.ineqlin.marginals, 0.0)
        totals = weights @ owners
        weights = weights / (groups * np.maximum(totals, 1e-300))[self._owners]
        gains = weights @ cuts
        bound = self.least * gains.sum() + (1.0 - self.num_data * self.least) * gains.max()
        return prior, float(bound) if (totals > 0.0).all() else np.inf
