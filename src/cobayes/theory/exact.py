"""Exact means and standard deviations of beliefs, round by round.

An "atom" is a possible belief of the learner after a round, with its probability. If the likelihood
depends on the belief, as in SCBI, there is one atom for each sequence of data. If the likelihood
does not depend on the belief, as in BI, the order of the data does not matter. There is then one
atom for each vector of counts of the data. Data with proportional rows count as one datum.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.labels import Distribution
from cobayes._input.validation import whole_number
from cobayes._output import counted, dataset, freeze
from cobayes._parallel import num_threads, require_affordable, short_number
from cobayes.assumptions import first_equal
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model
from cobayes.rules import Rule
from cobayes.rules.naming import as_agents
from cobayes.rules.response import add_evidence
from cobayes.tasks.task import State, no_datum, require_left

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]
Indices = NDArray[np.int64]

MAX_ATOMS = 100_000_000
# Lower bounds on seconds and bytes per belief on a task, and on seconds per belief in the core;
# measured with eight data.
ATOM_SECONDS, ATOM_BYTES, CORE_SECONDS = 1e-5, 350.0, 5e-8
# Two rows are treated as proportional if the logarithms of their entries, each minus the row's mean
# logarithm, differ by at most this.
PROPORTIONAL = 1e-14


@dataclass(frozen=True, eq=False, repr=False)
class ExactRounds:
    """Exact moments of a learner's belief over k rounds.

    Attributes
    ----------
    model : Model
        The matrix and its labels.
    rule_name : str
        The name of the rule.
    hypothesis : int
        The position of the hypothesis that is taught.
    means, stds : ndarray
        Mean and standard deviation of the belief in every hypothesis, (k + 1, m).
    num_atoms : int
        An upper bound on the number of beliefs in the last round.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.exact_rounds(cb.SCBI([[0.6, 0.2], [0.4, 0.8]]), 0, 2)
    >>> found.mean.round(3)
    array([0.5  , 0.588, 0.644])
    """

    model: Model
    rule_name: str
    hypothesis: int
    means: Array
    stds: Array
    num_atoms: int

    __post_init__ = freeze

    @property
    def mean(self) -> Array:
        """The mean of the belief in the taught hypothesis, (k + 1,)."""
        return self.means[:, self.hypothesis]

    @property
    def std(self) -> Array:
        """The standard deviation of the belief in the taught hypothesis, (k + 1,)."""
        return self.stds[:, self.hypothesis]

    @property
    def num_rounds(self) -> int:
        """The number of rounds, k."""
        return len(self.means) - 1

    @property
    def hypothesis_label(self) -> str:
        """The label of the hypothesis that is taught."""
        return self.model.hypotheses[self.hypothesis]

    def to_dataframe(self) -> pd.DataFrame:
        """Return a tidy table: one row per round and hypothesis."""
        return self.to_xarray().to_dataframe().reset_index()

    def to_xarray(self) -> xr.Dataset:
        """Return means and standard deviations as a Dataset with the labels."""
        return dataset(
            {"mean": self.means, "std": self.stds},
            {"round": np.arange(self.num_rounds + 1), "hypothesis": list(self.model.hypotheses)},
            {"rule": self.rule_name, "true_hypothesis": self.hypothesis_label},
        )

    def __repr__(self) -> str:
        return (
            f"ExactRounds({self.rule_name}; {counted(self.num_rounds, 'round')}; taught "
            f"{self.hypothesis_label!r}; belief in it {self.mean[0]:.4f} -> {self.mean[-1]:.4f}, "
            f"sd {self.std[-1]:.4f}; {counted(self.num_atoms, 'atom')})"
        )


def exact_rounds(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    num_rounds: SupportsIndex,
    prior: Distribution | None = None,
    *,
    max_atoms: SupportsIndex = MAX_ATOMS,
) -> ExactRounds:
    """Compute the exact mean and standard deviation of a learner's belief, round by round.

    Parameters
    ----------
    rule
        The rule of teacher and learner, on a matrix, a task or a world; a matrix means
        `SCBI(matrix)`.
    hypothesis
        The hypothesis that is taught, by position or label.
    num_rounds
        The number of rounds; with SCBI each round multiplies the work by the number of data.
    prior
        The common prior (default: uniform); positive for the hypothesis that is taught.
    max_atoms
        The largest number of beliefs in a round; an error is raised if there are more. On a matrix,
        if the likelihood does not depend on the belief, the beliefs of all rounds are counted.

    Returns
    -------
    ExactRounds
        ``.mean`` and ``.std`` have shape (num_rounds + 1,).

    Notes
    -----
    The operator Psi(h), Eq. (3) of the paper, is iterated, as for Figure 3 (top). Data with
    proportional rows lead to the same posterior and are merged, except under custom rules.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.exact_rounds(model, "summer", 3).mean.round(4)
    array([0.5   , 0.6284, 0.6892, 0.7524])
    """
    agents = as_agents(rule, hypothesis, prior)
    own, column, log_prior = agents.teacher, agents.hypothesis, agents.teacher_prior
    rounds = whole_number(num_rounds, "num_rounds", 0)
    most = whole_number(max_atoms, "max_atoms", 1)
    if own.task is not own.model:
        require_left(rounds, own.task, own.task.start, "teacher", column)
        own = own.at(own.task.start) if own.task.is_constant else own
    if own.task is not own.model:
        moments, count = moments_on_task(own, log_prior, column, rounds, most)
    else:
        data, copies = distinct_data(own)
        count = _num_atoms(own, len(data), rounds, most)
        if not own.depends_on_belief:
            moments = moments_by_counts(own, log_prior, column, rounds, data, copies)
        elif own.core is None:
            moments, count = moments_on_task(own, log_prior, column, rounds, most)
        else:
            moments = _core.exact_rounds(
                own.core,
                log_prior=log_prior,
                hypothesis=column,
                num_rounds=rounds,
                data=data,
                copies=copies,
                num_threads=num_threads(),
            )
    means, variances = moments
    return ExactRounds(
        own.model,
        own.name,
        column,
        np.vstack([_core.exp(log_prior), means]),
        np.sqrt(np.vstack([np.zeros_like(log_prior), variances])),
        count,
    )


def moments_on_task(
    rule: Rule, log_prior: Array, h: int, num_rounds: int, max_atoms: int
) -> tuple[Array, int]:
    """Return means and variances, (2, k, m), and the number of atoms, for any rule and task.

    Atoms with the same state and belief are merged; a lesson that has ended keeps its last belief.
    """
    task = rule.task
    atoms: dict[tuple[State, bytes], tuple[Array, float]] = {(task.start, b""): (log_prior, 1.0)}
    found = np.empty((2, num_rounds, len(log_prior)))
    growth = 1.0
    for k in range(num_rounds):
        require_affordable(
            f"round {k + 1} of {num_rounds} with about {growth * len(atoms):.3g} beliefs",
            "take fewer rounds, or use cobayes.simulate.",
            # The check divides by the number of threads, but this loop runs in one thread.
            seconds=ATOM_SECONDS * growth * len(atoms) * num_threads(),
            num_bytes=(ATOM_BYTES + 32.0 * len(log_prior)) * growth * len(atoms),
        )
        after: dict[tuple[State, bytes], tuple[Array, float]] = {}
        for (state, _), (logs, weight) in atoms.items():
            for following, belief, share in _children(rule, state, logs, h):
                key = following, belief.tobytes()
                after[key] = belief, weight * share + after.get(key, (belief, 0.0))[1]
            if len(after) > max_atoms:
                raise CobayesError(
                    f"{counted(num_rounds, 'round')} need more than "
                    f"{short_number(max_atoms)} beliefs.",
                    "take fewer rounds, raise max_atoms, or use cobayes.simulate.",
                )
        growth, atoms = len(after) / len(atoms), after
        logs, weights = zip(*atoms.values(), strict=True)
        found[:, k] = _moments(np.array(weights), np.exp(np.array(logs)))
    return found, len(atoms)


def _children(
    rule: Rule, state: State, logs: Array, h: int
) -> Iterator[tuple[State, Array, float]]:
    """Yield the states and log-beliefs that one round leads to, and their probabilities."""
    if rule.task.is_over(state, h):
        yield state, logs, 1.0
        return
    response = rule.at(state).answer(logs)
    chances = response.likelihood[:, h]
    if not chances.any():
        raise no_datum(rule.model, h, response.likelihood.sum(axis=1) > 0.0)
    chances = chances / chances.sum()
    for datum in np.flatnonzero(chances).tolist():
        belief = add_evidence(logs, response.log_likelihood[datum])
        for following, chance in rule.task.next_states(state, datum):
            yield following, belief, float(chances[datum] * chance)


def _num_atoms(rule: Rule, num_data: int, num_rounds: int, max_atoms: int) -> int:
    """Return the number of beliefs in the last round; raise an error if there are too many."""
    # `total` stays infinite if there are more rounds than max_atoms, or if the likelihood depends
    # on the belief and there are at least 10^300 beliefs.
    power = min(num_rounds, 10**300) * math.log10(num_data) if rule.depends_on_belief else 0.0
    total: float = math.inf
    count = 0
    if num_rounds <= max_atoms and not rule.depends_on_belief:
        count = math.comb(num_data + num_rounds - 1, num_rounds)
        total = math.comb(num_data + num_rounds, num_rounds)  # summed over rounds
        power = math.log10(total)
    elif num_rounds <= max_atoms and power < 300.0:
        count = num_data**num_rounds
        total = max(count, num_rounds)
    if total > max_atoms:
        many = f"about 10^{power:.0f}" if power >= 6.0 else f"more than {short_number(max_atoms)}"
        raise CobayesError(
            f"{counted(num_rounds, 'round')} with {num_data} different data need {many} "
            f"beliefs; exact_rounds goes up to {short_number(max_atoms)}.",
            "take fewer rounds, raise max_atoms (time grows in proportion), or use "
            "cobayes.simulate, which draws lessons at random.",
        )
    width = rule.model.num_hypotheses
    # The core walks the tree of beliefs depth first, and stores few of them.
    stored = count if rule.core is None or not rule.depends_on_belief else 0
    require_affordable(
        f"the exact moments of {num_rounds} rounds",
        "take fewer rounds.",
        seconds=CORE_SECONDS * min(total, 10**300),
        num_bytes=16.0 * min((num_rounds + 1) * width + stored * (width + 2), 10**300),
    )
    return count


def moments_by_counts(
    rule: Rule, log_prior: Array, h: int, num_rounds: int, data: Indices, copies: Array
) -> Array:
    """Return means and variances of the belief, (2, k, m), for a rule that ignores the belief."""
    log_likelihood = rule.respond_many(log_prior[None])[0][data]
    log_chances = np.log(copies) + log_likelihood[:, h]
    log_chances -= np.logaddexp.reduce(log_chances)
    # Every multiset of data is visited once, as a sorted sequence. A multiset with counts c has
    # k! / prod(c!) orders; `runs` is the count of the last datum of the sequence.
    seen, log_weights = np.zeros((1, len(log_prior))), np.zeros(1)
    last, runs = np.zeros(1, dtype=np.int64), np.zeros(1, dtype=np.int64)
    found = np.empty((2, num_rounds, len(log_prior)))
    for k in range(num_rounds):
        parts = []
        for d in np.flatnonzero(log_chances > -np.inf):
            before = last <= d
            own = np.where(last[before] == d, runs[before], 0) + 1
            weight = log_weights[before] + log_chances[d] - np.log(own)
            parts.append((seen[before] + log_likelihood[d], weight, np.full(len(own), d), own))
        seen, log_weights, last, runs = map(np.concatenate, zip(*parts, strict=True))
        weights = np.exp(log_weights + math.lgamma(k + 2.0))
        found[:, k] = _moments(weights, np.exp(add_evidence(log_prior, seen)))
    return found


def _moments(weights: Array, beliefs: Array) -> tuple[Array, Array]:
    total = weights.sum()
    mean = weights @ beliefs / total
    return mean, weights @ (beliefs - mean) ** 2 / total


def distinct_data(rule: Rule) -> tuple[Indices, Array]:
    """Group the data by the posteriors that they lead to; return one datum of each group.

    Also return the probability of each group divided by that of the returned datum. Data with
    proportional rows lead to the same posterior under BI, pragmatic rules and SCBI; for custom
    rules no data are merged. If the likelihood depends on the belief, the data of a group have
    probabilities in proportion to the data prior, otherwise in proportion to their rows.
    """
    matrix = rule.model.matrix
    if rule.core is None:
        return np.arange(len(matrix)), np.ones(len(matrix))
    share = np.ones(len(matrix)) if rule.data_prior is None else rule.data_prior
    data = np.flatnonzero(share > 0.0)
    with np.errstate(divide="ignore"):
        logs = np.log(matrix[data])
    sizes = logs.mean(axis=1, where=logs > -np.inf)
    leaders = first_equal(logs - sizes[:, None], PROPORTIONAL)
    copies = share[data] / share[data[leaders]]
    if not rule.depends_on_belief:
        copies = np.exp(sizes - sizes[leaders])
    chosen, groups = np.unique(leaders, return_inverse=True)
    return data[chosen], np.bincount(groups, copies).astype(np.float64)
