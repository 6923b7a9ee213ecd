"""An interval that is proved, without sampling, to contain the success rate.

Let t and l be the teacher's and the learner's belief in the taught hypothesis h after some data. If
the data are independent draws from the data prior, t and l are martingales that end at zero or one.
So for every finite tree of sequences of data

    E (t + l - 1)^+  <=  theta^T(h) * success(h)  <=  E min(t, l),

with theta^T the teacher's prior, and E the mean over the leaves, weighted by their probabilities.
Expanding a leaf never lowers the left side and never raises the right side. The gap of a leaf is
its contribution to the difference of the two sides; the leaves with the widest gaps are expanded.

The left side is rounded down, the right side up. Errors of the scaling are bounded, too. A computed
scaled matrix S is the exact scaling to some belief, found from the column factors v of S. The
error e is the distance of this belief from the agent's exact belief in Hilbert's projective metric.
In a round e grows to at most e / (1 - c), where c is the smaller of two numbers. The first is
Dobrushin's coefficient of the Markov chain A^T B from hypotheses to data and back, where A is S
with normalised columns, and B is S with normalised rows. The second is Birkhoff's bound
tanh(D / 4)^2, with D the largest log cross-ratio of the matrix. With Dobrushin's coefficient the
bound has a further factor e^(4 SMALL_ERROR). docs/beyond.md has the proofs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NamedTuple, SupportsIndex, cast

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.labels import Distribution
from cobayes._input.validation import whole_number
from cobayes._output import Result
from cobayes._parallel import require_affordable
from cobayes.errors import CobayesError, unteachable
from cobayes.model import MatrixLike, Model
from cobayes.rules import SCBI, Rule, as_rule
from cobayes.rules.naming import in_every_round
from cobayes.stability.bounds import frechet

Array = NDArray[np.float64]

# Leaves whose gap, divided by their probability, is at most this are not expanded further.
SETTLED_GAP = 1e-13
# Leaves at which any belief is at most this are not expanded further.
SMALLEST_BELIEF = 1e-200
# The children of leaves are computed in blocks of about this number of float64 values.
BLOCK_NUMBERS = 2_000_000
# Lower bounds on seconds and bytes per leaf, measured with three data and three hypotheses.
LEAF_SECONDS, LEAF_BYTES = 2e-6, 64
EPSILON = float(np.finfo(np.float64).eps)
# The bounds on the growth of an error hold as long as the error stays below this.
SMALL_ERROR = 1e-3
# Products of two numbers above this are normal: they keep all digits of float64.
SMALLEST = 1e-150


@dataclass(frozen=True)
class SuccessEnclosure(Result):
    """An interval that contains the success rate.

    Attributes
    ----------
    lower, upper : float
        The ends of the interval, rounded outwards.
    num_leaves : int
        The number of leaves of the tree of data.
    num_rounds : int
        The length of the longest sequence of data in the tree.
    hypothesis : str
        The label of the taught hypothesis.

    Examples
    --------
    >>> import cobayes as cb
    >>> matrix = [[0.9, 0.2], [0.1, 0.8]]
    >>> found = cb.success_enclosure(matrix, 0, learner_prior=[0.4, 0.6], num_rounds=9)
    >>> round(found.lower, 2), round(found.upper, 2)
    (0.8, 0.8)
    """

    lower: float
    upper: float
    num_leaves: int
    num_rounds: int
    hypothesis: str

    def __contains__(self, value: float) -> bool:
        return self.lower <= value <= self.upper

    def __repr__(self) -> str:
        return (
            f"SuccessEnclosure([{self.lower:.6g}, {self.upper:.6g}] for {self.hypothesis!r}; "
            f"{self.num_leaves} leaves, {self.num_rounds} rounds)"
        )


def success_enclosure(
    rule: Rule | MatrixLike,
    hypothesis: SupportsIndex | str,
    *,
    num_rounds: SupportsIndex,
    prior: Distribution | None = None,
    learner_prior: Distribution | None = None,
    max_leaves: SupportsIndex = 200_000,
) -> SuccessEnclosure:
    """Enclose the success rate of two SCBI agents that share a matrix without zeros.

    Parameters
    ----------
    rule
        The `SCBI` rule of both agents, which may have a data prior; a matrix means `SCBI(matrix)`.
    hypothesis
        The hypothesis that is taught, by position or label.
    num_rounds
        The largest number of rounds: the depth of the tree of all sequences of data.
    prior
        The learner's prior as the teacher assumes it (default: uniform).
    learner_prior
        The learner's actual prior (default: what the teacher assumes).
    max_leaves
        The largest number of leaves of the tree. If the full tree has more leaves, only the leaves
        that contribute most to the width of the interval are expanded; the interval is still valid.

    Returns
    -------
    SuccessEnclosure
        ``.lower`` and ``.upper``.

    Notes
    -----
    Definition 5.2; the proof is Theorem 12 of docs/beyond.md. Data whose rows are proportional are
    merged.

    Examples
    --------
    >>> import cobayes as cb
    >>> matrix = [[0.9, 0.2], [0.1, 0.8]]
    >>> found = cb.success_enclosure(matrix, 0, learner_prior=[0.4, 0.6], num_rounds=9)
    >>> 0.8 in found, found.upper - found.lower < 0.05  # exact: 0.4 / 0.5
    (True, True)
    """
    rule = in_every_round(as_rule(rule))
    model = rule.model
    if not rule.is_scbi:
        raise CobayesError(
            f"the rule is {type(rule).__name__}; expected SCBI, whose beliefs are martingales.",
            "use success_rate(...), which takes any rule.",
        )
    if (model.matrix == 0.0).any():
        raise CobayesError(
            "the table has zeros, so teacher and learner may have different predictive "
            "distributions; expected a positive table.",
            "use success_rate(...), which takes any table.",
        )
    position = model.hypothesis_index(hypothesis)
    depth = whole_number(num_rounds, "num_rounds", 0)
    max_leaves = whole_number(max_leaves, "max_leaves", 1)
    own = model.distribution(prior, name="teacher's prior")
    theirs = own
    if learner_prior is not None:
        theirs = model.distribution(learner_prior, name="learner's prior")
    name = model.hypotheses[position]
    if own[position] == 0.0:
        raise unteachable(name, "teacher's prior")
    if theirs[position] == 0.0:
        return SuccessEnclosure(0.0, 0.0, 1, 0, name)
    count = float(max_leaves) if max_leaves < 10**300 else 1e300
    # If the table has only one datum, it changes no belief. Otherwise the depth is limited to 10^6:
    # a full tree of this depth has more than 10^300 leaves.
    depth = 0 if model.num_data == 1 else min(depth, 10**6)
    if depth * math.log(model.num_data) < math.log(count):
        count = float(model.num_data) ** depth
    require_affordable(
        f"a tree of {count:.3g} leaves",
        "take a smaller num_rounds or max_leaves; the interval is then wider, but valid.",
        seconds=count * LEAF_SECONDS,
        num_bytes=count * (LEAF_BYTES + 32.0 * model.num_hypotheses),
    )
    agents = _Agent(rule, own, position), _Agent(rule, theirs, position)
    tree = _Tree(agents, depth, max_leaves)
    return SuccessEnclosure(*tree.interval(), tree.num_leaves, tree.depth, name)


class _Leaves(NamedTuple):
    """Leaves of the tree; all arrays have the same order.

    Attributes
    ----------
    log_weights, rounds : ndarray
        The logarithm of a leaf's probability under the data prior, and its depth, (a,).
    taught, believed : ndarray
        The beliefs of teacher and learner, (a, m'), each over the m' hypotheses that have a
        positive prior for that agent.
    taught_errors, believed_errors : ndarray
        Bounds on the distances of these beliefs from the exact ones, in Hilbert's metric, (a,).
    """

    log_weights: Array
    rounds: NDArray[np.int64]
    taught: Array
    believed: Array
    taught_errors: Array
    believed_errors: Array

    def chosen(self, which: NDArray | slice) -> _Leaves:
        return _Leaves(*(cast(Any, values[which]) for values in self))

    @classmethod
    def joined(cls, parts: list[_Leaves]) -> _Leaves:
        return cls(*(cast(Any, np.concatenate(values)) for values in zip(*parts, strict=True)))


class _Agent:
    """An agent, restricted to the hypotheses to which its prior gives a positive probability.

    Attributes
    ----------
    rule : Rule
        SCBI on the columns of the m' hypotheses with a positive prior.
    prior : ndarray
        The positive entries of the prior, (m',).
    position : int
        The position of the taught hypothesis among the m'.
    data_prior : ndarray
        The data prior, (n,), uniform if the rule has none.
    most_growth : float
        The largest factor by which an error grows in a round: Birkhoff's cosh(D / 4)^2.
    """

    def __init__(self, rule: Rule, prior: Array, position: int) -> None:
        kept = np.flatnonzero(prior > 0.0)
        model = rule.model
        part = Model(model.matrix[:, kept], model.data, [model.hypotheses[j] for j in kept])
        self.data_prior = model.distribution(rule.data_prior, over="datum")
        self.rule = SCBI(part, data_prior=self.data_prior)
        self.prior, self.position = prior[kept], int(np.searchsorted(kept, position))
        logs = np.log(part.matrix)
        # The largest log cross-ratio: the largest range of the difference of two columns of `logs`.
        spread = max(
            float(np.ptp(logs[:, j : j + 1] - logs[:, j + 1 :], axis=0).max(initial=0.0))
            for j in range(logs.shape[1])
        )
        self.most_growth = math.cosh(min((spread + 1e-12) / 4.0, 300.0)) ** 2

    def expand(self, beliefs: Array, errors: Array) -> tuple[Array, Array]:
        """Return posteriors (a, n, m') and error bounds (a,), NaN where no bound is proved."""
        matrix, share = self.rule.model.matrix, self.data_prior
        num_data, num_hypotheses = matrix.shape
        likelihoods = _core.exp(self.rule.respond_many(_core.log(beliefs)))
        # For any v there is a u such that the row sums of diag(u) M diag(v) are the data prior.
        # This matrix is the exact scaling to the belief given by its column sums. Here v comes from
        # the likelihood's first row.
        with np.errstate(over="ignore"):
            factors = likelihoods[:, 0] * beliefs / matrix[0]
            rows = matrix * factors[:, None, :]
        # Nothing is proved where numbers underflow or overflow: their relative rounding errors have
        # no bound.
        is_normal = (factors > SMALLEST).all(axis=1) & (rows > SMALLEST).all(axis=(1, 2))
        is_normal &= (rows < 1.0 / SMALLEST).all(axis=(1, 2))
        rows[~is_normal] = 1.0
        rows /= rows.sum(axis=2, keepdims=True)
        columns = (share[:, None] * rows).sum(axis=1)
        # A bound on the relative rounding error of every number above: all are sums of positive
        # terms.
        rounding = 2.0 * (num_data + num_hypotheses + 8) * EPSILON
        apart = np.log(columns / beliefs)
        residual = apart.max(axis=1) - apart.min(axis=1) + 2.0 * rounding
        chain = np.einsum("dij,dik->djk", share[:, None] * rows / columns[:, None, :], rows)
        overlap = np.ones(len(beliefs))
        for j in range(num_hypotheses):
            common = np.minimum(chain[:, j : j + 1], chain[:, j + 1 :]).sum(axis=2)
            overlap = np.minimum(overlap, common.min(axis=1, initial=1.0))
        # At posteriors within SMALL_ERROR of the computed ones, the entries of the chain differ
        # from the computed entries by a factor of at most e^(4 SMALL_ERROR).
        local = math.exp(4.0 * SMALL_ERROR) * (1.0 + 100.0 * rounding) / overlap
        growth = np.minimum(local, self.most_growth)
        found = growth * (errors + residual)
        is_proved = is_normal & (found <= SMALL_ERROR)
        return rows, np.where(is_proved, found + 2.0 * rounding, np.nan)


class _Tree:
    """A tree of data, expanded at the leaves whose lower and upper bounds differ most.

    Parameters
    ----------
    agents
        Teacher and learner.
    depth, max_leaves
        The largest depth and the largest number of leaves.
    """

    def __init__(self, agents: tuple[_Agent, _Agent], depth: int, max_leaves: int) -> None:
        self.agents = agents
        self.data, shares = _different_data(agents)
        self._log_shares = np.log(shares)
        none = np.zeros(1)
        first = np.zeros(1, dtype=np.int64)
        leaves = _Leaves(none, first, agents[0].prior[None], agents[1].prior[None], none, none)
        sides = self._sides(leaves)
        while len(self.data) > 1:
            budget = (max_leaves - len(leaves.rounds)) // (len(self.data) - 1)
            chosen = self._choose(leaves, sides, depth, budget)
            if not len(chosen):
                break
            rest = np.ones(len(leaves.rounds), dtype=np.bool_)
            rest[chosen] = False
            grown = self._expanded(leaves.chosen(chosen), depth)
            leaves = _Leaves.joined([leaves.chosen(rest), grown])
            sides = np.concatenate([sides[:, rest], self._sides(grown)], axis=1)
        self._lower, self._upper = sides
        self.num_leaves = len(leaves.rounds)
        self.depth = int((leaves.rounds % (depth + 1)).max())

    def interval(self) -> tuple[float, float]:
        teacher, learner = self.agents
        prior = float(teacher.prior[teacher.position] / teacher.prior.sum())
        start = float(learner.prior[learner.position] / learner.prior.sum())
        slack = (len(teacher.prior) + len(learner.prior) + 16) * EPSILON
        least, most = (float(bound) for bound in frechet(prior, start))
        lower = max(math.fsum(self._lower.tolist()) / prior, least) * (1.0 - slack) - slack
        upper = min(math.fsum(self._upper.tolist()) / prior, most) * (1.0 + slack)
        return max(lower, 0.0), min(upper, 1.0)

    def _sides(self, leaves: _Leaves) -> Array:
        """Return every leaf's contribution to both bounds, rounded outwards, (2, leaves)."""
        weights = np.exp(leaves.log_weights)
        # A bound on the relative rounding errors of the weights and of the products below.
        slack = (leaves.rounds + 8) * (1.0 + np.abs(leaves.log_weights)) * EPSILON
        t_low, t_high = _belief_range(leaves.taught, leaves.taught_errors, self.agents[0])
        l_low, l_high = _belief_range(leaves.believed, leaves.believed_errors, self.agents[1])
        lower = np.maximum(t_low + l_low - 1.0 - 2.0 * EPSILON, 0.0) * weights * (1.0 - slack)
        return np.array([lower, np.minimum(t_high, l_high) * weights * (1.0 + slack)])

    def _choose(self, leaves: _Leaves, sides: Array, depth: int, budget: int) -> NDArray[np.intp]:
        """Return the positions of the leaves to expand next, those with the widest gaps first.

        A leaf is open if `depth`, SETTLED_GAP and SMALLEST_BELIEF allow its expansion. If the full
        tree is small enough, all open leaves are chosen, otherwise an eighth of them, but at least
        64. At most `budget` leaves are chosen.
        """
        gaps = sides[1] - sides[0]
        is_open = (gaps > SETTLED_GAP * np.exp(leaves.log_weights)) & (leaves.rounds < depth)
        for beliefs in (leaves.taught, leaves.believed):
            is_open &= beliefs.min(axis=1) > SMALLEST_BELIEF
        chosen = np.flatnonzero(is_open)
        whole = depth * math.log(len(self.data)) <= math.log(budget + len(gaps))
        count = min(budget, len(chosen) if whole else max(64, len(chosen) // 8))
        return chosen[np.argsort(-gaps[chosen], kind="stable")[: max(count, 0)]]

    def _expanded(self, leaves: _Leaves, depth: int) -> _Leaves:
        """Return the children of leaves; a leaf whose children have no error bound stays a leaf.

        Such a leaf is never expanded again, because depth + 1 is added to its number of rounds.
        """
        widest = max(len(agent.prior) for agent in self.agents)
        size = max(1, BLOCK_NUMBERS // ((len(self.data) + widest) * widest))
        parts = []
        for start in range(0, len(leaves.rounds), size):
            block = leaves.chosen(slice(start, start + size))
            taught, taught_errors = self.agents[0].expand(block.taught, block.taught_errors)
            believed, believed_errors = self.agents[1].expand(block.believed, block.believed_errors)
            is_proved = np.isfinite(taught_errors) & np.isfinite(believed_errors)
            left = block.chosen(~is_proved)
            copies = len(self.data)
            parts += [
                _Leaves(
                    (block.log_weights[is_proved, None] + self._log_shares).reshape(-1),
                    np.repeat(block.rounds[is_proved] + 1, copies),
                    taught[is_proved][:, self.data].reshape(-1, taught.shape[2]),
                    believed[is_proved][:, self.data].reshape(-1, believed.shape[2]),
                    np.repeat(taught_errors[is_proved], copies),
                    np.repeat(believed_errors[is_proved], copies),
                ),
                left._replace(rounds=left.rounds + depth + 1),
            ]
        return _Leaves.joined(parts)


def _different_data(agents: tuple[_Agent, _Agent]) -> tuple[NDArray[np.intp], Array]:
    """Return one datum of each set of data with proportional rows, and the sets' probabilities.

    Data with proportional rows lead to the same beliefs. Proportionality is checked with exact
    fractions.
    """
    share = agents[0].data_prior
    kinds: dict[tuple[Fraction, ...], list[int]] = {}
    tables = [agent.rule.model.matrix for agent in agents]
    for datum in np.flatnonzero(share > 0.0).tolist():
        key: list[Fraction] = []
        for table in tables:
            row = [Fraction(value) for value in table[datum].tolist()]
            key += [value / row[0] for value in row[1:]]
        kinds.setdefault(tuple(key), []).append(datum)
    chosen = np.array([data[0] for data in kinds.values()])
    return chosen, np.array([math.fsum(share[data]) for data in kinds.values()])


def _belief_range(beliefs: Array, errors: Array, agent: _Agent) -> tuple[Array, Array]:
    """Return lower and upper bounds on the belief in the taught hypothesis, (a,) each."""
    value = beliefs[:, agent.position]
    rest = beliefs.sum(axis=1) - value
    # If two beliefs are at a distance d, their probabilities of h differ by a factor of at most
    # exp(d). The same holds for one minus these probabilities, which gives a better bound near
    # certainty. Sums are one up to rounding.
    wide = errors + (beliefs.shape[1] + 8) * EPSILON
    low = np.maximum(value * np.exp(-wide), 1.0 - rest * np.exp(wide) - 4.0 * EPSILON)
    high = np.minimum(value * np.exp(wide), 1.0 - rest * np.exp(-wide) + 4.0 * EPSILON)
    return np.maximum(low, 0.0), np.minimum(high, 1.0)
