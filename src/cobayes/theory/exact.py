"""Exact means and deviations of beliefs, round by round.

The beliefs after k rounds do not depend on what is taught, only their probabilities do. One
pass over all sequences of data therefore serves every hypothesis: each sequence carries one
weight for each hypothesis that might have produced it.

SCBI needs the whole tree of sequences, BI one atom for each count of the data.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import whole_number
from cobayes._output import counted, rounds_dataset
from cobayes._runtime.limits import require_affordable, short_number
from cobayes.errors import CobayesError, import_optional, unteachable
from cobayes.model import Model
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import in_every_round, require_teachable
from cobayes.theory.sequences import Counts, Tree, distinct_data

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]
Indices = NDArray[np.intp]
Method = Literal["auto", "tree", "counts"]

MAX_ATOMS = 100_000_000


@dataclass(frozen=True, eq=False, repr=False)
class ExactRounds:
    """Exact moments of a learner's belief over k rounds.

    Attributes
    ----------
    model : Model
        The matrix and its labels.
    rule_name : str
        The name of the rule.
    hypothesis : int or None
        The position of the hypothesis that is taught; None where each one is, in turn.
    means, stds : ndarray
        Mean and standard deviation of the belief in every hypothesis, (k + 1, m). Where each
        one is taught they are at [round, taught, believed], (k + 1, m, m); NaN where the prior
        excludes the taught one.
    num_atoms : int
        How many different beliefs the last round was computed from, at most.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.exact_rounds(cb.SCBI([[0.6, 0.2], [0.4, 0.8]]), 0, 2)
    >>> found.mean.round(3)
    array([0.5  , 0.588, 0.644])
    """

    model: Model
    rule_name: str
    hypothesis: int | None
    means: Array
    stds: Array
    num_atoms: int

    @property
    def mean(self) -> Array:
        """The mean of the belief in what is taught, (k + 1,), or (k + 1, m) for each in turn."""
        return self._of_taught(self.means)

    @property
    def std(self) -> Array:
        """The standard deviation of the belief in what is taught, in the shape of `mean`."""
        return self._of_taught(self.stds)

    @property
    def num_rounds(self) -> int:
        """The number of rounds, k."""
        return len(self.means) - 1

    @property
    def hypothesis_label(self) -> str | None:
        """The label of the hypothesis that is taught; None where each one is."""
        return None if self.hypothesis is None else self.model.hypotheses[self.hypothesis]

    def for_hypothesis(self, hypothesis: SupportsIndex | str) -> ExactRounds:
        """Return the moments while one hypothesis is taught, by position or label."""
        column = self.model.hypothesis_index(hypothesis)
        if self.hypothesis is not None:
            if column != self.hypothesis:
                raise CobayesError(
                    f"these are the moments while {self.hypothesis_label!r} is taught.",
                    "use exact_rounds_all(...) for every hypothesis.",
                )
            return self
        if np.isnan(self.means[0, column]).any():
            raise unteachable(self.model.hypotheses[column], "prior")
        return replace(
            self, hypothesis=column, means=self.means[:, column], stds=self.stds[:, column]
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return a tidy table: one row per round and hypothesis (taught and believed)."""
        return self.to_xarray().to_dataframe().reset_index()

    def to_xarray(self) -> xr.Dataset:
        """Return means and standard deviations as a Dataset with the labels."""
        names, content = list(self.model.hypotheses), {"mean": self.means, "std": self.stds}
        if self.hypothesis is not None:
            attributes = {"rule": self.rule_name, "true_hypothesis": self.hypothesis_label}
            return rounds_dataset(content, "hypothesis", names, attributes)
        xarray = import_optional("xarray", "labels", "a Dataset")
        dims = ("round", "taught", "hypothesis")
        return xarray.Dataset(
            {name: (dims, values) for name, values in content.items()},
            coords=dict(zip(dims, (np.arange(self.num_rounds + 1), names, names), strict=True)),
            attrs={"rule": self.rule_name},
        )

    def _of_taught(self, values: Array) -> Array:
        if self.hypothesis is None:
            return np.diagonal(values, axis1=1, axis2=2)
        return values[:, self.hypothesis]

    def __repr__(self) -> str:
        last = self.mean[-1]
        if self.hypothesis is not None:
            what = (
                f"taught {self.hypothesis_label!r}; belief in it {self.mean[0]:.4f} -> "
                f"{last:.4f}, sd {self.std[-1]:.4f}"
            )
        elif np.isnan(last).all():
            what = f"{len(last)} hypotheses; none can be taught"
        else:
            what = (
                f"{len(last)} hypotheses; belief in the taught one {np.nanmin(last):.4f} to "
                f"{np.nanmax(last):.4f}"
            )
        return (
            f"ExactRounds({self.rule_name}; {counted(self.num_rounds, 'round')}; {what}; "
            f"{counted(self.num_atoms, 'atom')})"
        )


def exact_rounds(
    rule: Rule,
    hypothesis: SupportsIndex | str,
    num_rounds: SupportsIndex,
    prior: ArrayLike | None = None,
    *,
    method: Method = "auto",
    max_atoms: SupportsIndex = MAX_ATOMS,
) -> ExactRounds:
    """Compute the exact mean and standard deviation of a learner's belief, round by round.

    Parameters
    ----------
    rule
        That of teacher and learner, who share the matrix and the prior.
    hypothesis
        The one that is taught, by position or label.
    num_rounds
        How many; every further one multiplies the work by the number of data for SCBI.
    prior
        Uniform by default; positive for the hypothesis that is taught.
    method
        "tree" goes through all sequences of data; "counts", for `BI` only, through all counts of
        the data; "auto" takes the quicker one that applies.
    max_atoms
        Refuse to go through more beliefs than this.

    Returns
    -------
    ExactRounds
        ``.mean`` and ``.std`` have shape (num_rounds + 1,).

    Notes
    -----
    Iterates Psi(h), Eq. (4) of the paper, as for Figure 3 (top).

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.exact_rounds(cb.SCBI(model), "summer", 3).mean.round(4)
    array([0.5   , 0.6284, 0.6892, 0.7524])
    """
    rule = in_every_round(as_rule(rule))
    model = rule.model
    column = model.hypothesis_index(hypothesis)
    log_prior = rule.log_belief(prior, "prior")
    require_teachable(model, log_prior, column, "prior")
    means, stds, count = _moments_by_round(
        rule, log_prior, np.array([column]), num_rounds, method, max_atoms
    )
    return ExactRounds(model, rule.name, column, means[:, 0], stds[:, 0], count)


def exact_rounds_all(
    rule: Rule,
    num_rounds: SupportsIndex,
    prior: ArrayLike | None = None,
    *,
    method: Method = "auto",
    max_atoms: SupportsIndex = MAX_ATOMS,
) -> ExactRounds:
    """Do what `exact_rounds` does, for every hypothesis that might be taught, in one pass.

    Parameters
    ----------
    rule
        That of teacher and learner.
    num_rounds
        The number of rounds.
    prior
        Uniform by default. A hypothesis of prior zero cannot be taught: its results are NaN.
    method, max_atoms
        As for `exact_rounds`.

    Returns
    -------
    ExactRounds
        As from `exact_rounds`, with an axis for the hypothesis that is taught.

    Notes
    -----
    A sequence of data has probability ``theta_k(h) / theta_0(h)`` times its probability under
    independent uniform data when SCBI teaches h. All hypotheses share one tree of beliefs.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.theory.exact_rounds_all(cb.SCBI(model), 3).means.shape
    (4, 2, 2)
    """
    rule = in_every_round(as_rule(rule))
    model = rule.model
    log_prior = rule.log_belief(prior, "prior")
    everything = np.arange(model.num_hypotheses)
    means, stds, count = _moments_by_round(
        rule, log_prior, everything, num_rounds, method, max_atoms
    )
    for table in (means, stds):
        table[:, log_prior == -np.inf] = np.nan
    return ExactRounds(model, rule.name, None, means, stds, count)


def _moments_by_round(
    rule: Rule,
    log_prior: Array,
    taught: Indices,
    num_rounds: SupportsIndex,
    method: Method,
    max_atoms: SupportsIndex,
) -> tuple[Array, Array, int]:
    """Return means and deviations, (k + 1, t, m), and the number of atoms in the last round."""
    num_rounds = whole_number(num_rounds, "num_rounds", 0)
    max_atoms = whole_number(max_atoms, "max_atoms", 1)
    if not isinstance(method, str) or method not in ("auto", "tree", "counts"):
        raise CobayesError(f"method is {method!r}; expected 'auto', 'tree' or 'counts'.")
    if method == "counts" and rule.depends_on_belief:
        raise CobayesError(
            f"under {rule.name} the order of the data matters: counts are not enough.",
            "use method='tree' or 'auto'.",
        )
    by_counts = not rule.depends_on_belief and method != "tree"
    data, copies = distinct_data(rule)
    # Beyond this many rounds every case with two data has too many atoms: no power is computed.
    if num_rounds > max_atoms:
        raise _too_many(num_rounds, len(data), f"more than {short_number(max_atoms)}", max_atoms)
    if by_counts:
        count = math.comb(len(data) + num_rounds - 1, num_rounds)
        # The sum over rounds: the counts of up to num_rounds data.
        total = math.comb(len(data) + num_rounds, num_rounds)
    else:
        power = num_rounds * math.log10(len(data))
        if power > 300.0:  # an integer this long takes time itself
            raise _too_many(num_rounds, len(data), f"about 10^{power:.0f}", max_atoms)
        count = len(data) ** num_rounds
        total = max(count, num_rounds)
    if total > max_atoms:
        raise _too_many(num_rounds, len(data), short_number(total), max_atoms)
    shape = (num_rounds + 1, len(taught), len(log_prior))
    require_affordable(
        f"the moments of {num_rounds} rounds",
        "take fewer rounds.",
        num_bytes=16.0 * math.prod(shape),
    )
    means, stds = np.empty(shape), np.zeros(shape)
    means[0] = np.exp(log_prior)
    if by_counts:
        levels = Counts(rule, log_prior, taught, data, copies).moments(num_rounds)
    else:
        levels = Tree(rule, log_prior, taught, data, copies).moments(num_rounds)
    for k, moments in enumerate(levels, start=1):
        means[k] = moments.mean
        stds[k] = np.sqrt(moments.squares / moments.total[:, None])
    return means, stds, count


def _too_many(num_rounds: int, num_data: int, count: str, max_atoms: int) -> CobayesError:
    return CobayesError(
        f"{counted(num_rounds, 'round')} with {num_data} different data lead through {count} "
        f"beliefs; exact_rounds goes up to {short_number(max_atoms)}.",
        "take fewer rounds, raise max_atoms (time grows in proportion), or use "
        "cobayes.simulate, which draws lessons at random.",
    )
