"""The invariants of the paper's proofs, checked by exact computation; the inverse of the update."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import Distribution
from cobayes._input.validation import number_between, whole_number
from cobayes._output import counted, dataset, freeze, html_table
from cobayes.errors import CobayesError, import_optional
from cobayes.model import MatrixLike, Model
from cobayes.rules import Rule, as_rule
from cobayes.rules.naming import as_agents, in_every_round
from cobayes.theory.measures import AtomicMeasure, most_rounds

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]

# By default there are at most MOST_DEFAULT_ROUNDS rounds, with at most COMFORTABLE_ATOMS sequences
# of data. One round is always allowed.
COMFORTABLE_ATOMS = 20_000
MOST_DEFAULT_ROUNDS = 6


@dataclass(frozen=True)
class Invariant:
    """One statement and its largest violation.

    Attributes
    ----------
    statement : str
        A sentence, such as "the mean belief is constant under uniform data".
    source : str
        Its place in the paper.
    deviation : float
        The largest violation; zero if there is none.
    tolerance : float
        The largest violation that is attributed to rounding.
    """

    statement: str
    source: str
    deviation: float
    tolerance: float

    @property
    def holds(self) -> bool:
        """Whether the violation is within the tolerance."""
        return bool(self.deviation <= self.tolerance)

    def __str__(self) -> str:
        verdict = "holds" if self.holds else "FAILS"
        return (
            f"{verdict}: {self.statement} ({self.source}; largest violation {self.deviation:.2g})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class InvariantReport:
    """The result of `check_invariants` over k rounds with m hypotheses; theta is the belief.

    Attributes
    ----------
    model : Model
        The matrix and its labels.
    rule_name : str
        The rule that was checked.
    hypothesis : int
        The position of the hypothesis that was taught.
    invariants : tuple of Invariant
        The statements with their verdicts.
    mean_belief : ndarray
        Mean of theta(h) when h is taught, (k + 1,).
    mean_ratios : ndarray
        Mean of theta(j) / theta(h) when h is taught, (k + 1, m).
    uniform_mean : ndarray
        Mean belief under uniform data (with a data prior or zeros: see `check_invariants`),
        (k + 1, m).
    uniform_spread : ndarray
        Mean squared distance from the uniform belief under the same data, (k + 1,).

    Examples
    --------
    >>> import cobayes as cb
    >>> report = cb.theory.check_invariants(cb.SCBI([[0.6, 0.2], [0.4, 0.8]]), 0, num_rounds=3)
    >>> report.holds, report.failures
    (True, ())
    """

    model: Model
    rule_name: str
    hypothesis: int
    invariants: tuple[Invariant, ...]
    mean_belief: Array
    mean_ratios: Array
    uniform_mean: Array
    uniform_spread: Array

    __post_init__ = freeze

    @property
    def holds(self) -> bool:
        """Whether every statement holds."""
        return all(invariant.holds for invariant in self.invariants)

    @property
    def failures(self) -> tuple[Invariant, ...]:
        """The statements that do not hold."""
        return tuple(invariant for invariant in self.invariants if not invariant.holds)

    @property
    def num_rounds(self) -> int:
        """The number of rounds, k."""
        return len(self.mean_belief) - 1

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per statement: source, largest violation, tolerance and verdict."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        return pandas.DataFrame([{**vars(one), "holds": one.holds} for one in self.invariants])

    def to_xarray(self) -> xr.Dataset:
        """Return the measured curves as a Dataset with the labels."""
        names = self.model.hypotheses
        return dataset(
            {
                "mean_belief": self.mean_belief,
                "mean_ratio": self.mean_ratios,
                "uniform_mean": self.uniform_mean,
                "uniform_spread": self.uniform_spread,
            },
            {"round": np.arange(self.num_rounds + 1), "hypothesis": list(names)},
            {"rule": self.rule_name, "true_hypothesis": names[self.hypothesis]},
        )

    def __str__(self) -> str:
        return "\n".join(str(invariant) for invariant in self.invariants)

    def __repr__(self) -> str:
        verdict = "all hold" if self.holds else f"{len(self.failures)} FAIL"
        return (
            f"InvariantReport({self.rule_name}; taught "
            f"{self.model.hypotheses[self.hypothesis]!r}; {counted(self.num_rounds, 'round')}; "
            f"{len(self.invariants)} invariants, {verdict})"
        )

    def _repr_html_(self) -> str:
        rows = [
            ("holds" if one.holds else "FAILS", one.statement, one.source, f"{one.deviation:.2g}")
            for one in self.invariants
        ]
        return html_table(repr(self), ("", "statement", "source", "largest violation"), rows)


def check_invariants(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    prior: Distribution | None = None,
    *,
    num_rounds: int | None = None,
    tolerance: float = 1e-9,
) -> InvariantReport:
    """Check by exact computation whether a rule has the invariants of SCBI's theory.

    With theta the belief: while h is taught, the mean of theta(h) never decreases and the means of
    theta(j) / theta(h) are constant. Under uniform data (all equally likely, whatever is true) the
    mean belief is constant, and the mean squared distance from the uniform belief never falls.
    `SCBI` has all four invariants, `BI` only the first two. A rule with a data prior is checked
    with data from this prior instead of uniform data. On a table with zeros, uniform data are
    replaced by data from the distribution "even" of `AtomicMeasure.push_data`, which is as close to
    the uniform distribution, or to the data prior, as the zeros allow. The second invariant is then
    that the mean ratios never rise.

    Parameters
    ----------
    rule
        The rule to check; a matrix means `SCBI(matrix)`.
    hypothesis
        The hypothesis that is taught, by position or label.
    prior
        The common prior (default: uniform).
    num_rounds
        The number of rounds (default: at most six, with at most 20,000 sequences of data).
    tolerance
        Violations up to this are attributed to rounding; those of the ratios are relative.

    Returns
    -------
    InvariantReport
        Which invariants hold, and the largest violation of each.

    Notes
    -----
    The first two invariants are the lemmas in the supplement's proof of Theorem 3.5; the others are
    Proposition 5.1 and its proof.

    Examples
    --------
    >>> import cobayes as cb
    >>> report = cb.theory.check_invariants("example:M_1", "h_1")
    >>> report.holds
    True
    """
    agents = as_agents(rule, hypothesis, prior)
    rule, column, log_prior = agents.teacher, agents.hypothesis, agents.teacher_prior
    model = rule.model
    if num_rounds is None:
        affordable = int(np.log(COMFORTABLE_ATOMS) / np.log(max(model.num_data, 2)))
        num_rounds = min(MOST_DEFAULT_ROUNDS, max(affordable, 1))
    num_rounds = whole_number(num_rounds, "num_rounds", 1)
    tolerance = number_between(tolerance, "tolerance", 0.0, np.inf, closed="low")
    most = most_rounds(*model.shape)
    if num_rounds > most and model.num_data > 1:
        raise CobayesError(
            f"num_rounds is {num_rounds}; with {model.num_data} data and {model.num_hypotheses} "
            f"hypotheses the distributions of beliefs fit into memory up to round {most}.",
            f"take num_rounds={most} or fewer.",
        )

    def mean_of_ratios(measure: AtomicMeasure) -> Array:
        logs = measure.log_beliefs
        return measure.weights @ np.exp(logs - logs[:, [column]])

    def mean_square_distance(measure: AtomicMeasure) -> float:
        distances = ((measure.beliefs - 1.0 / model.num_hypotheses) ** 2).sum(axis=1)
        return float(measure.weights @ distances)

    start = AtomicMeasure(np.ones(1), log_prior[None], model.hypotheses)
    # Only the measure of the current round is kept, because the measures of late rounds are large.
    mean_belief, mean_ratios = _by_round(
        start,
        num_rounds,
        lambda measure: measure.push(rule, column),
        lambda measure: (measure.mean()[column], mean_of_ratios(measure)),
    )
    # On a table with zeros, uniform data are replaced by "even" data; see the docstring.
    has_zeros = bool((model.matrix == 0.0).any())
    uniform_mean, spread = _by_round(
        start,
        num_rounds,
        lambda measure: measure.push_data(rule, "even" if has_zeros else None),
        lambda measure: (measure.mean(), mean_square_distance(measure)),
    )
    name = model.hypotheses[column]
    present = mean_ratios[0] > 0.0
    relative = mean_ratios[:, present] / mean_ratios[0, present]
    drift = np.abs(relative - 1.0).max()
    constancy = "is constant"
    if has_zeros:
        # Data that the taught hypothesis excludes are never shown, so the mean ratio of a
        # hypothesis that allows such data falls.
        constancy = "never rises"
        drift = np.maximum(np.diff(relative, axis=0), 0.0).max()
    data_prior = in_every_round(rule).data_prior
    source = "uniform data" if data_prior is None else "data from the data prior"
    if has_zeros:
        source = "data as equally frequent as the zeros allow"
        if data_prior is not None:
            source = "data as close to the data prior as the zeros allow"
    invariants = (
        Invariant(
            f"the mean belief in {name!r} never falls while it is taught",
            "proof of Theorem 3.5",
            _largest_fall(mean_belief),
            tolerance,
        ),
        Invariant(
            f"while {name!r} is taught, the mean ratio of the belief in another hypothesis to that "
            f"in {name!r} {constancy}",
            "proof of Theorem 3.5",
            float(drift),
            tolerance,
        ),
        Invariant(
            f"the mean belief is constant under {source}",
            "Proposition 5.1",
            float(np.abs(uniform_mean - uniform_mean[0]).max()),
            tolerance,
        ),
        Invariant(
            f"beliefs move away from the uniform one, on average, under {source}",
            "Proposition 5.1",
            _largest_fall(spread),
            tolerance,
        ),
    )
    return InvariantReport(
        model, rule.name, column, invariants, mean_belief, mean_ratios, uniform_mean, spread
    )


def _by_round(
    measure: AtomicMeasure,
    num_rounds: int,
    move: Callable[[AtomicMeasure], AtomicMeasure],
    look: Callable[[AtomicMeasure], tuple[ArrayLike, ArrayLike]],
) -> tuple[Array, Array]:
    """Return the two quantities that `look` computes, before the first round and after each."""
    seen = [look(measure)]
    for _ in range(num_rounds):
        measure = move(measure)
        seen.append(look(measure))
    one, other = zip(*seen, strict=True)
    return np.array(one), np.array(other)


def _largest_fall(values: Array) -> float:
    # The result is NaN if a value is NaN, so that such values are not reported as monotone.
    return float(np.maximum(-np.diff(values), 0.0).max())


def inverse_update(rule: Rule, posterior: ArrayLike, datum: SupportsIndex | str) -> Array:
    """Return the belief from which a datum leads to the given posterior, (m,).

    On a table without zeros there is exactly one such belief, and it excludes the same hypotheses
    as the posterior. On a table with zeros an error is raised if several beliefs may lead to the
    posterior: if the datum excludes a hypothesis or, under `SCBI`, if the posterior does.

    Parameters
    ----------
    rule
        `SCBI`, or a rule whose likelihood does not depend on the belief, like `BI`; a matrix means
        `SCBI(matrix)`.
    posterior
        A distribution over hypotheses.
    datum
        The datum that was observed, by position or label.

    Returns
    -------
    ndarray
        A distribution over hypotheses, (m,).

    Notes
    -----
    The paper states that the update by datum d is a bijection. Its inverse needs no iteration: the
    posterior is row d of ``S = diag(u) M diag(v)``, so ``v_j`` is ``posterior_j / M_dj`` up to a
    factor. Row i of S sums to ``n p_i``, with p the data prior; this gives u. Column j sums to
    ``n theta_j``, with theta the belief before the datum:

        ``theta_j = v_j sum_i (p_i M_ij / sum_k M_ik v_k)``.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI([[0.6, 0.3], [0.4, 0.7]])
    >>> cb.theory.inverse_update(rule, rule.update([0.2, 0.8], 1), 1).round(9)
    array([0.2, 0.8])
    """
    rule = in_every_round(as_rule(rule))
    row = rule.model.datum_index(datum)
    return np.exp(log_inverse(rule, rule.log_belief(posterior, "posterior"), row))


def log_inverse(rule: Rule, log_posterior: Array, datum: int) -> Array:
    """Return the logarithms of the belief before a datum, exact even if beliefs underflow."""
    if not rule.depends_on_belief:
        log_matrix = rule.respond(log_posterior).log_likelihood
    elif rule.is_scbi:
        with np.errstate(divide="ignore"):
            log_matrix = np.log(rule.model.matrix)
    else:
        raise CobayesError(
            f"the inverse of the update of {type(rule).__name__} is not known.",
            "use cobayes.SCBI or cobayes.BI.",
        )
    # Zeros in other rows matter only if the likelihood depends on the belief.
    rows = log_matrix if rule.depends_on_belief else log_matrix[datum]
    if (rows == -np.inf).any() and (log_matrix[datum] + log_posterior == -np.inf).any():
        raise CobayesError(
            f"datum {rule.model.data[datum]!r} or the posterior excludes a hypothesis; on a table "
            "with zeros several beliefs may lead to such a posterior.",
            "give a datum and a posterior that are positive for every hypothesis.",
        )
    if not rule.depends_on_belief:
        logs = log_posterior - log_matrix[datum]
    else:
        share = rule.data_prior
        with np.errstate(divide="ignore"):
            log_share = 0.0 if share is None else np.log(share)[:, None]
        # S = diag(u) M diag(v), see `inverse_update`, does not change if columns of M are scaled.
        # Here they are divided by the row of the datum, so v is proportional to the posterior.
        log_matrix = log_matrix - log_matrix[datum]
        row_sums = np.logaddexp.reduce(log_matrix + log_posterior, axis=1, keepdims=True)
        logs = log_posterior + np.logaddexp.reduce(log_matrix - row_sums + log_share, axis=0)
    return logs - np.logaddexp.reduce(logs)
