"""Distributions of beliefs with finitely many atoms; the operator Psi, a round of teaching.

After k rounds a learner's belief is random; its distribution has one atom for every sequence of
data. `push` returns the distribution after one more round of teaching, `push_data` after one more
datum without a teacher.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import Distribution, as_distribution, make_labels, shorten
from cobayes._input.validation import items, number_between
from cobayes._output import counted, dataset, freeze
from cobayes.assumptions import first_equal
from cobayes.errors import CobayesError, import_optional
from cobayes.model import MatrixLike
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import require_datum
from cobayes.rules.naming import in_every_round
from cobayes.rules.response import add_evidence
from cobayes.scaling import scaling_blocks

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]
# A function from log-beliefs (a, m) and likelihoods (a, n, m) to probabilities of the data, (a, n).
Chances = Callable[[Array, Array], Array]

# Only rounding errors make log-beliefs positive; a log-belief above this shows that beliefs were
# given instead of logarithms.
LARGEST_LOG = 1e-6
# The largest number of float64 values in a measure (80 MB, which take seconds to compute) and in a
# block of likelihoods that are computed together.
MOST_NUMBERS, BLOCK_NUMBERS = 10_000_000, 400_000


@dataclass(frozen=True, eq=False, repr=False)
class AtomicMeasure:
    """A probability measure on the set of beliefs, with finitely many atoms.

    Make a measure with `at` or `from_atoms`; `push`, `push_data` and `merged` return new measures.

    Attributes
    ----------
    weights : ndarray
        The probabilities of the atoms: positive, with sum one, (a,).
    log_beliefs : ndarray
        Logarithms of the beliefs, (a, m), exact even if beliefs underflow.
    hypotheses : tuple of str or None
        The labels, if they are known; `push` takes them from the rule.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> measure = cb.AtomicMeasure.at([0.5, 0.5]).push(cb.SCBI(model), "summer")
    >>> measure.mean().round(4)
    array([0.6284, 0.3716])
    """

    weights: Array
    log_beliefs: Array
    hypotheses: tuple[str, ...] | None = None

    def __post_init__(self) -> None:
        weights, logs = self.weights, self.log_beliefs
        is_usable = isinstance(weights, np.ndarray) and isinstance(logs, np.ndarray)
        is_usable = is_usable and logs.ndim == 2 and logs.size and weights.shape == logs.shape[:1]
        if not is_usable or logs.max() > LARGEST_LOG:
            raise CobayesError(
                "AtomicMeasure(...) needs an array of weights and an array of log-beliefs.",
                "use AtomicMeasure.from_atoms(weights, beliefs), which also takes lists and needs "
                "no logarithms, or AtomicMeasure.at(belief) for one atom.",
            )
        # Copies, so that the caller's arrays stay writeable.
        object.__setattr__(self, "weights", weights.copy())
        object.__setattr__(self, "log_beliefs", logs.copy())
        freeze(self)

    @classmethod
    def at(cls, belief: Distribution, hypotheses: Iterable[object] | None = None) -> AtomicMeasure:
        """Return the measure with one atom.

        Parameters
        ----------
        belief
            A distribution over hypotheses: numbers, or a mapping or Series with labels.
        hypotheses
            The labels, if the belief has none.
        """
        return cls.from_atoms([1.0], [belief], hypotheses)

    @classmethod
    def from_atoms(
        cls,
        weights: ArrayLike,
        beliefs: Sequence[Distribution] | ArrayLike,
        hypotheses: Iterable[object] | None = None,
    ) -> AtomicMeasure:
        """Return the measure with the given atoms; atoms of weight zero are omitted.

        Parameters
        ----------
        weights
            The probability of each atom: not negative, with sum one.
        beliefs
            One distribution over hypotheses for each weight.
        hypotheses
            The labels, if the beliefs have none.
        """
        labels, table = _checked_beliefs(beliefs, hypotheses)
        atoms = make_labels(None, len(table), "atom")
        shares = as_distribution(weights, atoms, "atom", "set of weights")
        kept = shares > 0.0
        with np.errstate(divide="ignore"):
            return cls(shares[kept], np.log(table[kept]), labels)

    @property
    def beliefs(self) -> Array:
        """The beliefs, (a, m)."""
        return np.exp(self.log_beliefs)

    @property
    def num_atoms(self) -> int:
        """The number of atoms."""
        return len(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def push(self, rule: Rule | MatrixLike, hypothesis: SupportsIndex | str) -> AtomicMeasure:
        """Return the measure after one more round in which a hypothesis is taught.

        Parameters
        ----------
        rule
            The rule of teacher and learner; a matrix means `SCBI(matrix)`.
        hypothesis
            The true hypothesis, by position or label; every atom must give it a positive belief.

        Notes
        -----
        Psi(h)(mu): Definition 3.3 and Eq. (3) of the paper.
        """
        own = self._rule_of(rule)
        column = own.model.hypothesis_index(hypothesis)
        require_datum(own, column)
        is_excluded = self.log_beliefs[:, column] == -np.inf
        if is_excluded.any():
            raise CobayesError(
                f"{int(is_excluded.sum())} of {len(self)} atoms, of total weight "
                f"{self.weights[is_excluded].sum():.3g}, rule out the hypothesis to teach, "
                f"{own.model.hypotheses[column]!r}; no data raise a belief of zero, so teaching "
                "is impossible.",
                "start from beliefs that give it a positive probability, or use push_data.",
            )

        def chances(_: Array, likelihoods: Array) -> Array:
            # Columns sum to one up to the scaling's tolerance; they are normalised so that the
            # total weight stays one over many rounds.
            drawn = likelihoods[:, :, column]
            return drawn / drawn.sum(axis=1, keepdims=True)

        return self._split(own, chances)

    def push_data(
        self,
        rule: Rule | MatrixLike,
        distribution: Distribution | Literal["predictive", "even"] | None = None,
    ) -> AtomicMeasure:
        """Return the measure after one more datum from a given distribution, without a teacher.

        Parameters
        ----------
        rule
            The learner's rule; a matrix means `SCBI(matrix)`.
        distribution
            A distribution over data, the same for all beliefs (default: the rule's data prior,
            which is uniform unless it was given). "predictive" is the learner's predictive
            distribution. "even" is the distribution closest to the data prior among those that the
            table's zeros allow at the learner's belief; see `scaling_blocks`.

        Notes
        -----
        Psi_D^L of Section 5 of the paper. Under SCBI "predictive" and "even" are the same
        distribution (the data prior if there are no zeros). With data from this distribution the
        belief is a martingale.
        """
        own = self._rule_of(rule)
        if isinstance(distribution, str) and distribution == "predictive":
            return self._split(own, _predictive_shares)
        if isinstance(distribution, str) and distribution == "even":
            return self._split(
                own, lambda logs, _: np.array([_even_shares(own, np.exp(one)) for one in logs])
            )
        given = own.data_prior if distribution is None else distribution
        shares = own.model.distribution(given, over="datum", name="distribution of data")
        return self._split(own, lambda logs, _: np.broadcast_to(shares, (len(logs), len(shares))))

    def mean(self) -> Array:
        """Return the mean belief, (m,)."""
        return self.weights @ self.beliefs

    def std(self) -> Array:
        """Return the standard deviation of the belief in every hypothesis, (m,)."""
        return np.sqrt(self.weights @ (self.beliefs - self.mean()) ** 2)

    def expect(self, function: Callable[[Array], ArrayLike], *, log: bool = False) -> Any:
        """Return the expectation of a function of the belief.

        Parameters
        ----------
        function
            A function of one belief, (m,), that returns a number or an array.
        log
            Whether to call the function with log-beliefs, which do not underflow.

        Returns
        -------
        float, complex or ndarray
            The expectation, of the shape that the function returns.

        Examples
        --------
        >>> AtomicMeasure.at([0.25, 0.75]).expect(lambda belief: belief[0] ** 2)
        0.0625
        """
        table = self.log_beliefs if log else self.beliefs
        try:
            values = np.array([function(row) for row in table])
        except (IndexError, TypeError, ValueError) as error:
            raise CobayesError(
                f"the function fails when it is given one belief, an array of shape "
                f"{table[0].shape}, or returns arrays of different shapes: {error}.",
                "give a function of one belief, such as lambda belief: belief[0] ** 2.",
            ) from error
        if values.dtype.kind not in "biufc":
            raise CobayesError(
                f"the function returns {values.dtype} values; expected numbers.",
                "return a number, or an array of numbers, for each belief.",
            )
        expected = np.tensordot(self.weights, values, axes=1)
        return expected.item() if expected.ndim == 0 else expected

    def merged(self, tolerance: float = 1e-9) -> AtomicMeasure:
        """Return the measure with equal atoms merged.

        Under `BI` the order of the data does not matter: merging after every round gives one atom
        for each vector of counts of the data.

        Parameters
        ----------
        tolerance
            Two atoms are equal if the relative difference between their beliefs is at most this
            for every hypothesis.
        """
        distance = number_between(tolerance, "tolerance", 0.0, 1.0, closed="low")
        kept, atoms = np.unique(first_equal(self.log_beliefs, distance), return_inverse=True)
        weights = np.bincount(atoms, self.weights)
        return replace(self, weights=weights, log_beliefs=self.log_beliefs[kept])

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per atom: its weight and its belief in every hypothesis."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        table = pandas.DataFrame(self.beliefs, columns=list(self._shown_labels()))
        table.index.name = "atom"
        table.insert(0, "weight", self.weights, allow_duplicates=True)
        return table

    def to_xarray(self) -> xr.Dataset:
        """Return weights, beliefs and log-beliefs as a Dataset with the labels."""
        return dataset(
            {"weight": self.weights, "belief": self.beliefs, "log_belief": self.log_beliefs},
            {"atom": np.arange(len(self)), "hypothesis": list(self._shown_labels())},
        )

    def __repr__(self) -> str:
        names = self._shown_labels()
        means = ", ".join(
            f"{name}: {value:.4g}" for name, value in zip(names[:4], self.mean()[:4], strict=True)
        )
        return (
            f"AtomicMeasure({counted(len(self), 'atom')} on {len(names)} hypotheses; mean "
            f"{means}{', …' if len(names) > 4 else ''})"
        )

    def _shown_labels(self) -> tuple[str, ...]:
        if self.hypotheses is not None:
            return self.hypotheses
        return tuple(str(position) for position in range(self.log_beliefs.shape[1]))

    def _rule_of(self, rule: Rule | MatrixLike) -> Rule:
        """Return the rule of all rounds; refuse a rule with another number of hypotheses."""
        own, width = in_every_round(as_rule(rule)), self.log_beliefs.shape[1]
        if own.model.num_hypotheses != width:
            raise CobayesError(
                f"the measure has {width} hypotheses, the rule {own.model.num_hypotheses}; "
                "expected the same number."
            )
        return own

    def _split(self, rule: Rule, chances: Chances) -> AtomicMeasure:
        """Return the measure after one more datum, drawn with the probabilities `chances`."""
        num_atoms, width = self.log_beliefs.shape
        model = rule.model
        labels = _joined_labels(self.hypotheses, model.hypotheses)
        if num_atoms * model.num_data * width > MOST_NUMBERS:
            raise CobayesError(
                f"one more round takes the measure from {num_atoms} to "
                f"{num_atoms * model.num_data} atoms on {width} hypotheses; the limit is "
                f"{MOST_NUMBERS:.0e} numbers in memory.",
                "use exact_rounds for means and standard deviations; where the order of data does "
                "not matter, use merged() after every round.",
            )
        weights, logs = [], []
        step = max(1, BLOCK_NUMBERS // model.matrix.size)
        for start in range(0, num_atoms, step):
            before = self.log_beliefs[start : start + step]
            log_likelihoods = rule.respond_many(before)
            shares = chances(before, np.exp(log_likelihoods))
            after = add_evidence(before[:, None, :], log_likelihoods)
            shares = self.weights[start : start + step, None] * shares
            # `shown` is true for NaN, so that the result of a failed computation contains NaN.
            shown = shares != 0.0
            ruled_out = (log_likelihoods == -np.inf) | (before == -np.inf)[:, None, :]
            surprising = (shares > 0.0) & ruled_out.all(axis=2)
            if surprising.any():
                datum = model.data[int(np.argwhere(surprising)[0][1])]
                raise CobayesError(
                    f"datum {datum!r} may be shown, but in some atom every hypothesis with a "
                    "positive belief rules it out.",
                    "give such data probability zero, or start from another belief.",
                )
            weights.append(shares[shown])
            logs.append(after[shown])
        return replace(
            self,
            weights=np.concatenate(weights),
            log_beliefs=np.concatenate(logs),
            hypotheses=labels,
        )


def most_rounds(num_data: int, num_hypotheses: int) -> int:
    """Return the largest number of rounds whose sequences of data fit into one measure.

    With a single datum every number of rounds fits, but the result is zero.
    """
    rounds, numbers = 0, num_hypotheses
    while num_data > 1 and numbers * num_data <= MOST_NUMBERS:
        numbers *= num_data
        rounds += 1
    return rounds


def _predictive_shares(log_beliefs: Array, likelihoods: Array) -> Array:
    """Return the learner's predictive probability of each datum, (a, n)."""
    expected = (np.exp(log_beliefs)[:, None, :] * likelihoods).sum(axis=2)
    return expected / expected.sum(axis=1, keepdims=True)


def _even_shares(rule: Rule, belief: Array) -> Array:
    """Return the distribution "even" of `AtomicMeasure.push_data` at a belief, (n,)."""
    prior = rule.model.distribution(rule.data_prior, over="datum")
    shares = np.zeros_like(prior)
    for rows, _, ratio in scaling_blocks(rule.model, prior, belief).blocks:
        shares[rows] = prior[rows] * ratio
    return shares / shares.sum()


def _checked_beliefs(
    beliefs: Sequence[Any] | ArrayLike, hypotheses: Iterable[object] | None
) -> tuple[tuple[str, ...] | None, Array]:
    """Return the labels of the hypotheses, or None, and the validated beliefs, (a, m)."""
    rows: list[Any] = list(beliefs) if isinstance(beliefs, Iterable) else [beliefs]
    first: Any = rows[0] if rows else None
    if not hasattr(first, "__len__") or isinstance(first, str | bytes):
        raise CobayesError(
            f"the belief of an atom is {first!r}; expected a distribution over hypotheses."
            if rows
            else "there are no beliefs; a measure needs at least one atom.",
            "for one atom use AtomicMeasure.at([0.2, 0.8]), for several "
            "AtomicMeasure.from_atoms([0.5, 0.5], [[0.2, 0.8], [0.4, 0.6]]).",
        )
    if hypotheses is None and hasattr(first, "keys"):
        hypotheses = list(first.keys())
    given = None if hypotheses is None else items(hypotheses, "hypotheses", "labels")
    labels = make_labels(given, len(first), "hypothesis")
    table = np.array([as_distribution(row, labels, "hypothesis", "belief") for row in rows])
    return None if given is None else labels, table


def _joined_labels(own: tuple[str, ...] | None, other: tuple[str, ...]) -> tuple[str, ...]:
    """Return the common labels of a measure and a rule; positions or None match any labels."""
    positions = tuple(map(str, range(len(other))))
    if own is None or own in (positions, other):
        return other
    if other == positions:
        return own
    raise CobayesError(
        f"the hypotheses of the measure are {shorten(own, 4)}, those of the rule "
        f"{shorten(other, 4)}.",
        "give both the same labels in the same order.",
    )
