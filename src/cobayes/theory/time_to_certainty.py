"""How many rounds a lesson will need, without simulation: the normal limit of the log-odds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats

from cobayes._input.validation import number_between
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import require_teachable
from cobayes.theory.rates import rate_of_convergence, relevant_hypothesis


@dataclass(frozen=True)
class PredictedRounds:
    """The number of rounds until a learner is sure, in the limit of small doubt.

    Attributes
    ----------
    mean, std : float
        Mean and standard deviation of the number of rounds.
    rate, variance : float
        Mean and variance, per round, of what the log-odds against the hardest rival gain in the
        limit of certainty.
    doubt : float
        The learner is sure when its belief exceeds 1 - doubt.
    hypothesis, rival : str
        The labels of what is taught and of the hypothesis that is hardest to tell from it.
    """

    mean: float
    std: float
    rate: float
    variance: float
    doubt: float
    hypothesis: str
    rival: str

    def quantile(self, share: float) -> float:
        """Return the number of rounds by which this share of the lessons is over.

        Parameters
        ----------
        share
            Strictly between 0 and 1.

        Notes
        -----
        Of the inverse Gaussian distribution, which a random walk with drift has for its first
        passage; it has the same normal limit.
        """
        share = number_between(share, "the share", 0.0, 1.0)
        if not self.std > 0.0:
            return self.mean
        shape = self.mean**3 / self.std**2
        return float(stats.invgauss.ppf(share, self.mean / shape, scale=shape))

    def __repr__(self) -> str:
        return (
            f"PredictedRounds({self.mean:.4g} +- {self.std:.3g} rounds until the doubt about "
            f"{self.hypothesis!r} is {self.doubt:g}; {self.rate:.4g} nats per round against "
            f"{self.rival!r})"
        )


def predicted_rounds(
    matrix: MatrixLike | Rule,
    hypothesis: SupportsIndex | str,
    *,
    rule: Any = "scbi",
    prior: ArrayLike | None = None,
    doubt: float = 1e-5,
) -> PredictedRounds:
    """Predict how many rounds a lesson needs until the learner is sure.

    Parameters
    ----------
    matrix
        Data by hypotheses, or a rule.
    hypothesis
        The one that is taught, by position or label.
    rule
        For a matrix: "scbi", "bi", or a class of rules.
    prior
        The common prior; uniform by default.
    doubt
        The learner is sure when its belief in the hypothesis exceeds ``1 - doubt``.

    Returns
    -------
    PredictedRounds
        ``.mean``, ``.std`` and ``.quantile(share)``.

    Notes
    -----
    In the limit of certainty the log-odds against the hardest rival are a random walk with mean
    R and variance s per round. From log-odds of a below the level they reach it after about
    ``a / R`` rounds, with variance ``a s / R**3``. The prediction is for small doubt: what
    happens before the limit is reached, and a second rival that is nearly as hard, shift it by
    a number of rounds that does not grow as the doubt becomes smaller (see docs/beyond.md).

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.predicted_rounds([[0.6, 0.3], [0.4, 0.7]], 0, doubt=1e-6).mean.__round__(1)
    74.9
    """
    found = matrix if isinstance(matrix, Rule) else as_rule(rule, matrix)
    model = found.model
    number_between(doubt, "doubt", 0.0, 0.5, hint="1e-5 is the default.")
    h = model.hypothesis_index(hypothesis)
    log_prior = found.log_belief(prior, "prior")
    require_teachable(model, log_prior, h, "prior")
    share = np.exp(log_prior)
    rate = float(rate_of_convergence(found, h, prior=share))
    name = model.hypotheses[h]
    if not math.isfinite(rate):
        raise CobayesError(
            f"one datum can exclude every rival of {name!r}: lessons end after finitely many "
            "rounds, and their number has no normal limit.",
            "use cobayes.simulate(...).rounds_needed, or exact_rounds.",
        )
    rival = int(relevant_hypothesis(found, h, prior=share))
    if rate == 0.0:
        return PredictedRounds(math.inf, math.inf, 0.0, 0.0, doubt, name, model.hypotheses[rival])
    limit = found.at_certainty(h)
    shown = limit.column(h)
    logs = limit.log_likelihood
    steps = (logs[:, h] - logs[:, rival])[shown > 0.0]
    shown = shown[shown > 0.0] / shown.sum()
    variance = float(shown @ (steps - shown @ steps) ** 2)
    climb = math.log1p(-doubt) - math.log(doubt) - float(log_prior[h] - log_prior[rival])
    mean = max(climb, 0.0) / rate
    return PredictedRounds(
        mean,
        math.sqrt(mean * variance) / rate,
        rate,
        variance,
        doubt,
        name,
        model.hypotheses[rival],
    )
