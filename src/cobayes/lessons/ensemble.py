"""Statistics of many lessons: means, standard deviations, quantiles, rounds needed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import number_between
from cobayes._output import Result, counted, dataset, freeze, html_table, probability_text
from cobayes.errors import CobayesError
from cobayes.model import Model

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RoundsNeeded(Result):
    """The number of rounds until the learner was sure of the truth, over many lessons.

    Attributes
    ----------
    level : float
        The learner is sure when its belief in the truth is at least this.
    counts : ndarray
        The number of lessons in which the belief first reached the level at round 0, 1, ...
    num_unsure : int
        The number of lessons in which the belief never reached the level.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> ensemble = cb.simulate(rule, "h_1", num_rounds=9, num_lessons=90, rng=1)
    >>> ensemble.rounds_needed.num_unsure
    36
    """

    level: float
    counts: NDArray[np.int64]
    num_unsure: int

    def __repr__(self) -> str:
        last = len(self.counts) - 1
        half = counted(last if self.median is None else self.median, "round")
        half = f"more than {half}" if self.median is None else half
        return (
            f"RoundsNeeded(half of the learners are {100 * self.level:g} % sure after {half}; "
            f"{self.num_unsure} of {int(self.counts.sum()) + self.num_unsure} not by round {last})"
        )

    def cumulative(self) -> Array:
        """Return the share of lessons in which the learner was sure by round 0, 1, ..."""
        return np.cumsum(self.counts) / (self.counts.sum() + self.num_unsure)

    def quantile(self, share: float) -> int | None:
        """Return the first round by which this share of the learners was sure; None if never."""
        share = number_between(share, "the share", 0.0, 1.0, closed="both")
        reached = np.flatnonzero(self.cumulative() >= share)
        return int(reached[0]) if len(reached) else None

    @property
    def median(self) -> int | None:
        """The first round by which the learner was sure in half of the lessons, or None."""
        return self.quantile(0.5)


@dataclass(frozen=True, eq=False, repr=False)
class Ensemble(Result):
    """Statistics of many lessons about one hypothesis.

    Attributes
    ----------
    model : Model
        The learner's matrix with its labels.
    hypothesis : int
        The position of the taught hypothesis.
    rule_name, learner_rule_name : str
        The titles of the teacher's rule and of the learner's rule.
    num_lessons, num_rounds : int
        The number of lessons, and of rounds in each lesson.
    means, stds : ndarray
        Mean and standard deviation of the belief in every hypothesis, (num_rounds + 1, m).
    rounds_needed : RoundsNeeded
        The number of rounds until the learner was sure.
    paths : ndarray or None
        Log-beliefs of the first lessons at `path_rounds`, (num_paths, rounds, m); None if none were
        kept.
    path_rounds : ndarray
        The rounds that `paths` holds.
    num_contradicted : int
        The number of lessons in which the learner saw a datum that its own task does not allow, or
        that is impossible under every hypothesis with a positive belief; such a datum does not
        change the belief. Zero if teacher and learner have the same rule and prior.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI("example:M_3")
    >>> ensemble = cb.simulate(rule, "h_1", num_rounds=9, num_lessons=90, rng=1)
    >>> ensemble.num_lessons
    90
    """

    model: Model
    hypothesis: int
    rule_name: str
    learner_rule_name: str
    num_lessons: int
    num_rounds: int
    means: Array
    stds: Array
    rounds_needed: RoundsNeeded
    paths: Array | None
    path_rounds: NDArray[np.intp]
    num_contradicted: int = 0

    __post_init__ = freeze

    @property
    def hypothesis_label(self) -> str:
        """The label of the hypothesis that was taught."""
        return self.model.hypotheses[self.hypothesis]

    def _repr_html_(self) -> str:
        taught = self.hypothesis_label
        rounds = np.unique(np.linspace(0, self.num_rounds, 9).round().astype(int))
        means, stds = self.mean(), self.std()  # of the taught hypothesis
        rows = [(str(k), f"{means[k]:.4f}", f"{stds[k]:.4f}") for k in rounds]
        return html_table(
            f"{counted(self.num_lessons, 'lesson')} about {taught}, {self.rule_name} teacher, "
            f"{self.learner_rule_name} learner",
            ("round", f"mean belief in {taught}", "standard deviation"),
            rows,
        )

    def mean(self, hypothesis: SupportsIndex | str | None = None) -> Array:
        """Return the mean belief in a hypothesis (the true one by default) at every round."""
        return self.means[:, self._column(hypothesis)].copy()

    def std(self, hypothesis: SupportsIndex | str | None = None) -> Array:
        """Return the standard deviation of the belief in a hypothesis at every round."""
        return self.stds[:, self._column(hypothesis)].copy()

    def stderr(self, hypothesis: SupportsIndex | str | None = None) -> Array:
        """Return the standard error of `mean`; NaN for a single lesson."""
        return self._stderrs()[:, self._column(hypothesis)]

    def quantile(self, share: ArrayLike, hypothesis: SupportsIndex | str | None = None) -> Array:
        """Return quantiles of the belief over the lessons, at every round.

        They are computed from the `num_paths` lessons whose paths were kept.

        Parameters
        ----------
        share
            One number between 0 and 1, or several; the result then has one row for each.
        hypothesis
            The hypothesis, by position or label; the true one by default.

        Returns
        -------
        ndarray
            Beliefs, (num_rounds + 1,), or (shares, num_rounds + 1).
        """
        column = self._column(hypothesis)
        for one in np.ravel(np.asarray(share, dtype=object)):
            number_between(one, "the share", 0.0, 1.0, closed="both")
        shares = np.asarray(share, dtype=np.float64)
        if shares.ndim > 1:
            raise CobayesError(f"the shares have {shares.ndim} dimensions; expected at most one.")
        if self.paths is None or len(self.path_rounds) <= self.num_rounds:
            raise CobayesError(
                "quantiles need the paths of every round, which were not kept.",
                "use simulate(..., keep_paths=True).",
            )
        return np.quantile(np.exp(self.paths[:, :, column]), shares, axis=0)

    @property
    def num_paths(self) -> int:
        """The number of lessons whose paths were kept (the first ones)."""
        return 0 if self.paths is None else len(self.paths)

    def log_odds(self, hypothesis: SupportsIndex | str | None = None) -> Array:
        """Return the log-odds log(theta(h) / (1 - theta(h))) of beliefs theta on the kept paths.

        Parameters
        ----------
        hypothesis
            By position or label; the true one by default.

        Returns
        -------
        ndarray
            (num_paths, rounds), in nats; infinite if the belief is zero or one.
        """
        if self.paths is None:
            raise CobayesError(
                f"the paths of {counted(self.num_lessons, 'lesson')} were not kept.",
                "use simulate(..., keep_paths=True), or keep_paths=[rounds] for a few rounds.",
            )
        column = self._column(hypothesis)
        others = np.delete(self.paths, column, axis=-1)
        return self.paths[..., column] - np.logaddexp.reduce(others, axis=-1)

    def to_dataframe(self) -> pd.DataFrame:
        """Return a tidy table: round, hypothesis, mean, standard deviation, standard error."""
        return self.to_xarray().to_dataframe().reset_index()

    def to_dict(self) -> dict[str, Any]:
        """Return the statistics, without the paths, as a dict for JSON; see `from_dict`."""
        if self.paths is None:
            return super().to_dict()
        return replace(self, paths=None, path_rounds=self.path_rounds[:0]).to_dict()

    def to_xarray(self) -> xr.Dataset:
        """Return means, standard deviations and standard errors as a Dataset with labels."""
        return dataset(
            {"mean": self.means, "std": self.stds, "stderr": self._stderrs()},
            {"round": np.arange(self.num_rounds + 1), "hypothesis": list(self.model.hypotheses)},
            {
                "teacher_rule": self.rule_name,
                "learner_rule": self.learner_rule_name,
                "true_hypothesis": self.hypothesis_label,
                "num_lessons": self.num_lessons,
            },
        )

    def __repr__(self) -> str:
        rules = self.rule_name
        if self.learner_rule_name != rules:
            rules = f"{rules} teacher, {self.learner_rule_name} learner"
        final = probability_text(self.mean()[-1], 4)
        if self.num_lessons > 1 and final[0] not in "<>":
            final += f" ± {self.stderr()[-1]:.4f}"
        return (
            f"Ensemble({rules}; {counted(self.num_lessons, 'lesson')} of "
            f"{counted(self.num_rounds, 'round')}; taught "
            f"{self.hypothesis_label!r}; final mean belief in it {final})"
        )

    def _stderrs(self) -> Array:
        # One lesson has no standard error.
        return self.stds / np.sqrt(self.num_lessons if self.num_lessons > 1 else np.nan)

    def _column(self, hypothesis: SupportsIndex | str | None) -> int:
        return self.hypothesis if hypothesis is None else self.model.hypothesis_index(hypothesis)
