"""Distributions of beliefs with finitely many atoms, and the operator Psi that moves them.

After k rounds a learner's belief is random: one atom for every sequence of data. `push` moves
the whole distribution on by one round, as a teacher would, and `push_data` as data that are
drawn from a fixed distribution would.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import number_between, whole_number
from cobayes.errors import CobayesError, import_optional
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import in_every_round
from cobayes.theory.atoms import (
    checked_beliefs,
    checked_weights,
    even_shares,
    expectation,
    joined_labels,
    merge_equal,
    split_atoms,
    without_lightest,
)

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]

# Logarithms of beliefs exceed zero by rounding at most; beliefs themselves do by more.
LARGEST_LOG = 1e-6


@dataclass(frozen=True, eq=False, repr=False)
class AtomicMeasure:
    """A probability measure on beliefs that sits on finitely many of them.

    Make one with `at`, `from_atoms` or `mixture`; every method returns a new one.

    Attributes
    ----------
    weights : ndarray
        Positive, sum to one, (a,).
    log_beliefs : ndarray
        Logarithms of the beliefs, (a, m), exact where beliefs underflow.
    hypotheses : tuple of str or None
        The labels, where they are known: a rule brings them along.
    pruned_mass : float
        How far, in total variation, pruning may have taken it from the measure it stands for:
        an expectation is off by at most this times the function's range.

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
    pruned_mass: float = 0.0

    def __post_init__(self) -> None:
        weights, logs = self.weights, self.log_beliefs
        is_usable = isinstance(weights, np.ndarray) and isinstance(logs, np.ndarray)
        is_usable = is_usable and logs.ndim == 2 and weights.shape == logs.shape[:1]
        if not is_usable or logs.max() > LARGEST_LOG:
            raise CobayesError(
                "an AtomicMeasure is made of an array of weights and a table of log-beliefs.",
                "AtomicMeasure.from_atoms(weights, beliefs) takes beliefs, lists too; "
                "AtomicMeasure.at(belief) is the measure on one.",
            )
        self.weights.flags.writeable = False
        self.log_beliefs.flags.writeable = False

    @classmethod
    def at(cls, belief: ArrayLike, hypotheses: Iterable[object] | None = None) -> AtomicMeasure:
        """Return the measure that sits on one belief.

        Parameters
        ----------
        belief
            A distribution over hypotheses: numbers, or a mapping or Series with labels.
        hypotheses
            The labels, where the belief brings none and they are wanted now.
        """
        labels, beliefs = checked_beliefs([belief], hypotheses)
        with np.errstate(divide="ignore"):
            return cls(np.ones(1), np.log(beliefs), labels)

    @classmethod
    def from_atoms(
        cls,
        weights: ArrayLike,
        beliefs: Sequence[ArrayLike] | ArrayLike,
        hypotheses: Iterable[object] | None = None,
    ) -> AtomicMeasure:
        """Return the measure with the given atoms; those of weight zero are left out.

        Parameters
        ----------
        weights
            Not negative, with sum one.
        beliefs
            One distribution over hypotheses for each weight.
        hypotheses
            The labels.
        """
        labels, table = checked_beliefs(beliefs, hypotheses)
        shares = checked_weights(weights, len(table), "weights")
        kept = shares > 0.0
        with np.errstate(divide="ignore"):
            return cls(shares[kept], np.log(table[kept]), labels)

    @classmethod
    def mixture(cls, shares: ArrayLike, measures: Sequence[AtomicMeasure]) -> AtomicMeasure:
        """Return a convex combination of measures.

        Parameters
        ----------
        shares
            Not negative, with sum one: one for each measure.
        measures
            Over the same hypotheses.
        """
        parts = list(measures) if isinstance(measures, Iterable) else [measures]
        for part in parts:
            if not isinstance(part, AtomicMeasure):
                raise CobayesError(
                    f"the measures hold an object of type {type(part).__name__}.",
                    "give a list of AtomicMeasure; AtomicMeasure.at(belief) makes one.",
                )
        checked = checked_weights(shares, len(parts), "shares")
        if len({part.log_beliefs.shape[1] for part in parts}) > 1:
            raise CobayesError("the measures are over different numbers of hypotheses.")
        labels = None
        for part in parts:
            labels = joined_labels(labels, part.hypotheses)
        chosen = [(share, part) for share, part in zip(checked, parts, strict=True) if share > 0.0]
        return cls(
            np.concatenate([share * part.weights for share, part in chosen]),
            np.concatenate([part.log_beliefs for _, part in chosen]),
            labels,
            float(sum(share * part.pruned_mass for share, part in chosen)),
        )

    @property
    def beliefs(self) -> Array:
        """The beliefs, (a, m)."""
        return np.exp(self.log_beliefs)

    @property
    def num_atoms(self) -> int:
        """The number of atoms, a."""
        return len(self.weights)

    def __len__(self) -> int:
        return len(self.weights)

    def push(self, rule: Rule, hypothesis: SupportsIndex | str) -> AtomicMeasure:
        """Return the measure after one more round in which a hypothesis is taught.

        Parameters
        ----------
        rule
            That of teacher and learner.
        hypothesis
            The true one, by position or label; every atom must believe in it a little.

        Notes
        -----
        Psi(h)(mu): Definition 3.3 and Eq. (4) of the paper.
        """
        rule = in_every_round(as_rule(rule))
        labels = self._labels_with(rule)
        column = rule.model.hypothesis_index(hypothesis)
        lost = self.log_beliefs[:, column] == -np.inf
        if lost.any():
            raise CobayesError(
                f"{int(lost.sum())} of {len(self)} atoms, of weight "
                f"{self.weights[lost].sum():.3g}, rule out the hypothesis to teach, "
                f"{rule.model.hypotheses[column]!r}; no data can ever raise it, so teaching is "
                "impossible.",
                "start from beliefs that give it a positive probability, or use push_data.",
            )

        def chances(_: Array, likelihoods: Array) -> Array:
            # Columns sum to one up to the scaling's tolerance; no mass may leak over many rounds.
            drawn = likelihoods[:, :, column]
            return drawn / drawn.sum(axis=1, keepdims=True)

        weights, logs = split_atoms(
            self.weights, self.log_beliefs, rule, np.arange(rule.model.num_data), chances
        )
        return replace(self, weights=weights, log_beliefs=logs, hypotheses=labels)

    def push_data(
        self, rule: Rule, distribution: ArrayLike | Literal["predictive", "even"] | None = None
    ) -> AtomicMeasure:
        """Return the measure after one more datum that no teacher has chosen.

        Parameters
        ----------
        rule
            The learner's.
        distribution
            Over data, whatever the learner believes; by default the rule's data prior, which is
            uniform unless it was given. "predictive" draws what the learner itself expects,
            "even" the data prior as far as the table's zeros allow it at the learner's belief:
            the row sums of `scaling_blocks`.

        Notes
        -----
        Psi_D^L of Section 5 of the paper. Under SCBI the learner expects the data prior, as far
        as zeros allow it, and so its belief is a martingale.
        """
        rule = in_every_round(as_rule(rule))
        labels = self._labels_with(rule)
        possible = np.arange(rule.model.num_data)
        if isinstance(distribution, str) and distribution == "predictive":

            def chances(log_beliefs: Array, likelihoods: Array) -> Array:
                expected = (np.exp(log_beliefs)[:, None, :] * likelihoods).sum(axis=2)
                return expected / expected.sum(axis=1, keepdims=True)

        elif isinstance(distribution, str) and distribution == "even":

            def chances(log_beliefs: Array, likelihoods: Array) -> Array:  # noqa: ARG001
                return even_shares(rule, np.exp(log_beliefs))

        else:
            given = getattr(rule, "data_prior", None) if distribution is None else distribution
            shares = rule.model.distribution(given, over="datum", name="distribution of data")
            possible = np.flatnonzero(shares)

            def chances(log_beliefs: Array, likelihoods: Array) -> Array:  # noqa: ARG001
                return np.broadcast_to(shares[possible], (len(log_beliefs), len(possible)))

        weights, logs = split_atoms(self.weights, self.log_beliefs, rule, possible, chances)
        return replace(self, weights=weights, log_beliefs=logs, hypotheses=labels)

    def mean(self) -> Array:
        """Return the mean belief, (m,)."""
        return self.weights @ self.beliefs

    def std(self) -> Array:
        """Return the standard deviation of the belief in every hypothesis, (m,)."""
        return np.sqrt(self.moment(2, central=True))

    def moment(self, order: float, *, central: bool = False) -> Array:
        """Return a moment of the belief in every hypothesis, (m,).

        Parameters
        ----------
        order
            1 for the mean, 2 for the mean square, and so on; about zero any positive number.
        central
            Whether about the mean.
        """
        beliefs = self.beliefs
        if central:
            # Deviations are negative half of the time: a root of them is no number.
            power = whole_number(order, "the order of a central moment", 0)
            return self.weights @ (beliefs - self.weights @ beliefs) ** power
        power = number_between(order, "the order of the moment", 0.0, np.inf, closed="low")
        return self.weights @ beliefs**power

    def expect(self, function: Callable[[Array], ArrayLike], *, log: bool = False) -> float | Array:
        """Return the expectation of a function of the belief.

        Parameters
        ----------
        function
            Of one belief, (m,); returns a number or an array. One that also takes a table of
            beliefs, (a, m), and gives a result for each row, is called once.
        log
            Whether to hand it the logarithms instead, which do not underflow.

        Returns
        -------
        float or ndarray
            In the shape of what the function returns.

        Examples
        --------
        >>> AtomicMeasure.at([0.25, 0.75]).expect(lambda belief: belief[0] ** 2)
        0.0625
        >>> AtomicMeasure.at([0.25, 0.75]).expect(lambda beliefs: beliefs[:, 0] ** 2)
        0.0625
        """
        return expectation(self.weights, self.log_beliefs if log else self.beliefs, function)

    def merged(self, tolerance: float = 1e-9) -> AtomicMeasure:
        """Return the measure with equal atoms made one.

        Under `BI` the order of the data does not matter, so that merging after every round
        leaves one atom for each count of the data.

        Parameters
        ----------
        tolerance
            Beliefs are equal when the belief in no hypothesis differs by more than this,
            relatively.
        """
        distance = number_between(tolerance, "tolerance", 0.0, 1.0, closed="low")
        weights, kept = merge_equal(self.weights, self.log_beliefs, distance)
        return replace(self, weights=weights, log_beliefs=self.log_beliefs[kept])

    def pruned(self, mass: float) -> AtomicMeasure:
        """Return the measure without its lightest atoms, the rest scaled up.

        Parameters
        ----------
        mass
            The most that the dropped atoms may weigh together. What they did weigh is added to
            `pruned_mass`, which bounds the error also after further rounds.

        Notes
        -----
        Dropping mass p and scaling up moves a measure by p in total variation, and a round,
        being a Markov operator, never increases that distance.
        """
        most = number_between(
            mass, "the mass to prune", 0.0, 1.0, closed="low", hint="1e-6 is a common choice."
        )
        kept, dropped = without_lightest(self.weights, most)
        if len(kept) == len(self):
            return self
        weights = self.weights[kept]
        return replace(
            self,
            weights=weights / weights.sum(),
            log_beliefs=self.log_beliefs[kept],
            pruned_mass=self.pruned_mass + dropped,
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row an atom: its weight and its belief in every hypothesis."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        table = pandas.DataFrame(self.beliefs, columns=list(self._shown_labels()))
        table.index.name = "atom"
        table.insert(0, "weight", self.weights, allow_duplicates=True)
        return table

    def to_xarray(self) -> xr.Dataset:
        """Return weights, beliefs and log-beliefs as a Dataset with the labels."""
        xarray = import_optional("xarray", "labels", "a Dataset")
        dims = ("atom", "hypothesis")
        return xarray.Dataset(
            {
                "weight": (("atom",), self.weights),
                "belief": (dims, self.beliefs),
                "log_belief": (dims, self.log_beliefs),
            },
            coords={"atom": np.arange(len(self)), "hypothesis": list(self._shown_labels())},
            attrs={"pruned_mass": self.pruned_mass},
        )

    def __repr__(self) -> str:
        names = self._shown_labels()
        means = ", ".join(
            f"{name}: {value:.4g}" for name, value in zip(names[:4], self.mean()[:4], strict=True)
        )
        pruned = f"; pruned {self.pruned_mass:.2g}" if self.pruned_mass else ""
        return (
            f"AtomicMeasure({len(self)} atom{'s' if len(self) > 1 else ''} on {len(names)} "
            f"hypotheses; mean {means}{', …' if len(names) > 4 else ''}{pruned})"
        )

    def _shown_labels(self) -> tuple[str, ...]:
        if self.hypotheses is not None:
            return self.hypotheses
        return tuple(str(position) for position in range(self.log_beliefs.shape[1]))

    def _labels_with(self, rule: Rule) -> tuple[str, ...] | None:
        if self.log_beliefs.shape[1] != rule.model.num_hypotheses:
            raise CobayesError(
                f"the measure is over {self.log_beliefs.shape[1]} hypotheses, the rule over "
                f"{rule.model.num_hypotheses}."
            )
        return joined_labels(self.hypotheses, rule.model.hypotheses)
