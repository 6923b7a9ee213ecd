"""The coupling: teacher and learner are shown the same data, drawn from the data prior."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.labels import Distribution
from cobayes._input.validation import seed_of, spawn_generators
from cobayes._intervals import proportion_stderr
from cobayes._output import counted, dataset, freeze, html_table
from cobayes._parallel import num_threads
from cobayes.errors import CobayesError, unteachable
from cobayes.model import MatrixLike, Model, require_same_world
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import require_datum
from cobayes.rules.naming import Agents, in_every_round
from cobayes.stability.success import SuccessRate
from cobayes.stability.teaching import (
    MAX_ROUNDS,
    common_law,
    require_affordable_teaching,
    teach_until_sure,
)
from cobayes.theory.certainty import LEVEL

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]

# If the teacher ends at the taught hypothesis in fewer pairs than this, the standard error that is
# computed from the pairs may be too small.
FEW = 30
# The number of pairs that one call of the native core draws.
PAIRS_PER_CALL = 1 << 16


@dataclass(frozen=True, eq=False, repr=False)
class Coupling:
    """The hypotheses that teacher and learner converge to ("end at") if both see the same data.

    Attributes
    ----------
    matrix, stderr : ndarray
        C[i, j], the probability that the teacher ends at i and the learner at j, (m, m), and its
        standard errors. Up to sampling errors, rows sum to the teacher's prior, columns to the
        learner's (for exceptions see `coupling`).
    lower, upper : ndarray
        Bounds on the values that C would have if every pair were continued to its end, (m, m).
    confusion, confusion_stderr : ndarray
        The probability that the learner ends at j when it is taught i, (m, m), and its standard
        errors. Row i is row i of C divided by the sum of this row, NaN if the sum is zero. Division
        by the prior of i, which the sum estimates, would give errors several times larger.
    num_lessons, num_unfinished : int
        The number of pairs, and the number of pairs that were not finished after `max_rounds`
        rounds. If a table has zeros or the data priors differ, lessons are counted instead.
    teacher_prior, learner_prior : ndarray
        The two priors, (m,) each.
    model : Model
        The teacher's matrix with its labels.
    max_rounds : int
        The argument `max_rounds` of `coupling`.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.coupling("example:M_1", num_lessons=200, rng=1)
    Coupling(3 hypotheses; both agree with probability 1.0000; 200 data sequences, 0 unfinished)
    """

    matrix: Array
    stderr: Array
    lower: Array
    upper: Array
    confusion: Array
    confusion_stderr: Array
    num_lessons: int
    num_unfinished: int
    teacher_prior: Array
    learner_prior: Array
    model: Model
    max_rounds: int

    __post_init__ = freeze

    def success(self, hypothesis: SupportsIndex | str) -> SuccessRate:
        """Return the success rate of teaching a hypothesis, by position or label."""
        h = self.model.hypothesis_index(hypothesis)
        name = self.model.hypotheses[h]
        if self.teacher_prior[h] == 0.0:
            raise unteachable(name, "teacher's prior")
        taught = float(self.matrix[h].sum())
        # Last beliefs are not exactly 0 or 1, so row h of C is positive even if the teacher never
        # ended at h.
        num_taught = round(taught * self.num_lessons)
        if num_taught < 1:
            raise CobayesError(
                f"{self.num_lessons} lessons are too few for the success rate of {name!r}, whose "
                f"prior is {self.teacher_prior[h]:.2g}.",
                f'take more, or success_rate(..., method="lessons"), which teaches only {name!r}.',
            )
        sampling = float(self.confusion_stderr[h, h])
        if num_taught < FEW:
            share = round(self.confusion[h, h] * num_taught)
            sampling = max(sampling, proportion_stderr(share, num_taught))
        return SuccessRate(
            outcomes=self.confusion[h].copy(),
            outcomes_stderr=self.confusion_stderr[h].copy(),
            sampling_stderr=sampling,
            lower=float(self.lower[h, h]) / taught,
            upper=min(1.0, float(self.upper[h, h]) / taught),
            num_lessons=self.num_lessons,
            num_unfinished=self.num_unfinished,
            method="coupling",
            hypothesis=name,
            hypotheses=self.model.hypotheses,
            max_rounds=self.max_rounds,
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return a tidy table: one row per pair of teacher's and learner's final hypotheses."""
        return self.to_xarray().to_dataframe().reset_index()

    def to_xarray(self) -> xr.Dataset:
        """Return coupling and confusion matrix as a Dataset with the labels."""
        content = {"coupling": self.matrix, "stderr": self.stderr}
        content |= {"confusion": self.confusion, "confusion_stderr": self.confusion_stderr}
        names = list(self.model.hypotheses)
        return dataset(content, {"taught": names, "believed": names})

    def _repr_html_(self) -> str:
        names = self.model.hypotheses
        rows = zip(names, self.matrix, strict=True)
        return html_table(
            "where teacher (rows) and learner (columns) end, "
            f"{counted(self.num_lessons, 'data sequence')}",
            ("", *names),
            [(name, *(f"{share:.4f}" for share in row)) for name, row in rows],
        )

    def __repr__(self) -> str:
        return (
            f"Coupling({len(self.matrix)} hypotheses; both agree with probability "
            f"{np.trace(self.matrix):.4f}; {counted(self.num_lessons, 'data sequence')}, "
            f"{self.num_unfinished} unfinished)"
        )


def coupling(
    rule: Rule | MatrixLike,
    *,
    num_lessons: SupportsIndex = 10_000,
    prior: Distribution | None = None,
    learner_rule: Rule | MatrixLike | None = None,
    learner_prior: Distribution | None = None,
    level: float = LEVEL,
    max_rounds: SupportsIndex = MAX_ROUNDS,
    rng: Any = None,
) -> Coupling:
    """Show teacher and learner the same data, and estimate to which hypotheses they converge.

    A pair is a teacher and a learner who see one sequence of data. One set of pairs gives the
    success rates of all hypotheses: conditional on the event that the teacher converges to h, the
    data have the distribution of a lesson about h.

    Parameters
    ----------
    rule
        The teacher's rule, `SCBI`; a matrix means `SCBI(matrix)`.
    num_lessons
        The number of pairs.
    prior
        The learner's prior as the teacher assumes it (default: uniform).
    learner_rule, learner_prior
        The learner's actual rule and prior (default: what the teacher assumes).
    level
        A pair is finished when either agent's belief in some hypothesis exceeds this level. That
        agent ends at the hypothesis; the other agent's current belief is the probability
        that it ends at each hypothesis.
    max_rounds
        The largest number of rounds of a pair. A lesson (see Notes) may have this many rounds
        until the teacher is sure, and as many again after that.
    rng
        Anything that `numpy.random.default_rng` accepts. The same seed gives the same bits for
        any number of threads.

    Returns
    -------
    Coupling
        The probability of every pair of final hypotheses, with standard errors and bounds.

    Notes
    -----
    Under data from a data prior that both rules share, both beliefs are martingales that converge
    to vertices of the simplex (Lemma of Proposition 5.1). Let C be the result's `matrix`. A learner
    that is taught h ends at j with probability ``C[h, j] / teacher_prior[h]``. With different data
    priors, and on tables with zeros, the two agents may expect different data. In these cases row h
    of C is estimated from lessons about h. After the teacher is sure, a lesson goes on until the
    learner is sure or has excluded h. The columns of C need not sum to the learner's prior.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.coupling(model, learner_prior=[0.4, 0.6], num_lessons=1000, rng=1).matrix.round(1)
    array([[0.4, 0.1],
           [0. , 0.5]])
    """
    teacher = in_every_round(as_rule(rule))
    learner = teacher if learner_rule is None else in_every_round(as_rule(learner_rule))
    require_same_world(teacher.model, learner.model)
    own = theirs = teacher.log_belief(prior, "teacher's prior")
    if learner_prior is not None:
        theirs = learner.log_belief(learner_prior, "learner's prior")
    for hypothesis in np.flatnonzero(own > -np.inf).tolist():  # any hypothesis may be taught
        require_datum(teacher, hypothesis)
    for rule in (teacher, learner):
        if not rule.is_scbi:
            raise CobayesError(
                "the coupling needs two SCBI agents; one of them follows "
                f"{type(rule).__name__}, whose belief need not be a martingale.",
                'use success_rate(..., method="lessons").',
            )
    model = teacher.model
    count, most = require_affordable_teaching(model, 2, num_lessons, level, max_rounds)
    pair = Agents(teacher, learner, own, theirs, -1, is_shared=False)
    law = common_law(teacher, learner)
    if law is None:
        found = _by_lessons(pair, count, level, most, rng)
    else:
        found = _by_pairs(pair, law, count, level, most, rng)
    return Coupling(*found, np.exp(own), np.exp(theirs), model, most)


# The first eight fields of `Coupling`: six arrays (m, m), and two numbers of lessons.
Found = tuple[Array, Array, Array, Array, Array, Array, int, int]


def _by_pairs(
    pair: Agents, law: Array, count: int, level: float, max_rounds: int, rng: Any
) -> Found:
    """Estimate the coupling from pairs that see data from `law`, the common data prior."""
    own, other = pair.teacher.core, pair.learner.core
    assert own is not None
    assert other is not None
    seed = seed_of(rng)
    sums: Any = 0.0
    num_unfinished = 0
    # Pairs are drawn in chunks, so that memory does not grow with their number.
    for first in range(0, count, PAIRS_PER_CALL):
        taught, believed, unfinished = _core.couple(
            own,
            other,
            teacher_logs=pair.teacher_prior,
            learner_logs=pair.learner_prior,
            law=law,
            level=level,
            max_rounds=max_rounds,
            first=first,
            num_pairs=min(PAIRS_PER_CALL, count - first),
            seed=seed,
            num_threads=num_threads(),
        )
        sums = sums + _sums(_core.exp(taught), _core.exp(believed))
        num_unfinished += unfinished
    matrix, squares, products, taught_squares, lower, upper = sums / count
    taught = matrix.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        confusion = matrix / taught
        # Here `confusion` is a ratio of means, mean(joint) / mean(taught). Its standard error is
        # that of the mean of (joint - confusion * taught), divided by mean(taught).
        spread = squares - 2.0 * confusion * products + confusion**2 * taught_squares
        confusion_stderr = np.sqrt(np.maximum(spread, 0.0) / count) / taught
        stderr = np.sqrt(np.maximum(squares - matrix**2, 0.0) / np.float64(count - 1))
    return matrix, stderr, lower, upper, confusion, confusion_stderr, count, num_unfinished


def _by_lessons(pair: Agents, count: int, level: float, max_rounds: int, rng: Any) -> Found:
    """Estimate the coupling if no distribution of data makes both beliefs martingales.

    Row h is the prior of h times the mean of the learner's last belief over lessons about h. The
    lessons are divided among the hypotheses in proportion to the prior.
    """
    own = np.exp(pair.teacher_prior)
    mean, spread, lower, upper = np.full((4, len(own), len(own)), np.nan)
    num_lessons = num_unfinished = 0
    for h, stream in enumerate(spawn_generators(rng, len(own))):
        if own[h] == 0.0:
            continue
        size = max(2, round(count * own[h]))
        taught = [pair._replace(hypothesis=h)]
        found = teach_until_sure(taught, size, stream, level=level, max_rounds=max_rounds)
        ends, is_known = found.believed[0], found.is_known[0][:, None]
        mean[h], spread[h] = ends.mean(axis=0), ends.std(axis=0, ddof=1) / np.sqrt(size)
        lower[h] = np.where(is_known, ends, 0.0).mean(axis=0)
        upper[h] = np.where(is_known, ends, 1.0).mean(axis=0)
        num_unfinished += int(size - is_known.sum())
        num_lessons += size
    matrix, stderr, lower, upper = (
        own[:, None] * np.nan_to_num(values) for values in (mean, spread, lower, upper)
    )
    return matrix, stderr, lower, upper, mean, spread, num_lessons, num_unfinished


def _sums(taught: Array, believed: Array) -> Array:
    """Return six functions of the last beliefs, summed over pairs, (6, m, m); see `_by_pairs`."""
    taught, believed = taught[:, :, None], believed[:, None, :]
    joint = taught * believed
    return np.array(
        [
            joint.sum(axis=0),
            (joint**2).sum(axis=0),
            (joint * taught).sum(axis=0),
            np.broadcast_to((taught**2).sum(axis=0), joint.shape[1:]),
            np.maximum(taught + believed - 1.0, 0.0).sum(axis=0),
            np.minimum(taught, believed).sum(axis=0),
        ]
    )
