"""The success rate: how well teaching survives a difference between the two agents."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike

from cobayes._input.validation import counts_by, number_between
from cobayes.errors import CobayesError, warn_user
from cobayes.model import MatrixLike
from cobayes.stability.blocks import root_seed
from cobayes.stability.coupling import coupled_agents, run_coupling
from cobayes.stability.results import SuccessRate
from cobayes.stability.sequences import DOUBT, MAX_ROUNDS, TeachingSequences
from cobayes.stability.validation import as_rule, at_least_one, log_prior, require_same_world

Method = Literal["lessons", "coupling"]

# With a wanted precision: how much further than asked rounds may go.
PATIENCE = 1024


@counts_by("num_sequences")
def success_rate(
    teacher_matrix: MatrixLike,
    learner_matrix: MatrixLike | None = None,
    *,
    hypothesis: SupportsIndex | str,
    teacher_prior: ArrayLike | None = None,
    learner_prior: ArrayLike | None = None,
    num_sequences: SupportsIndex = 10_000,
    method: Method = "lessons",
    doubt: float = DOUBT,
    max_rounds: SupportsIndex = MAX_ROUNDS,
    precision: float | None = None,
    max_sequences: SupportsIndex = 10_000_000,
    rng: Any = None,
) -> SuccessRate:
    """Estimate how often a learner ends up believing the hypothesis it is taught.

    Parameters
    ----------
    teacher_matrix, learner_matrix
        The two matrices; the learner's is by default the same. A rule may stand for a matrix: a
        learner that follows `BI` is possible with method "lessons".
    hypothesis
        What is taught, by position or label.
    teacher_prior, learner_prior
        What the teacher takes the learner's prior to be (uniform by default), and what it is
        (by default the same).
    num_sequences
        How many lessons, or pairs.
    method
        "lessons" draws data from the teacher; "coupling" draws uniform data and weighs them.
    doubt
        A sequence stops when the teacher's estimate exceeds ``1 - doubt``; in a coupling, when
        either agent's belief in any hypothesis does.
    max_rounds
        A sequence is cut off after this many rounds; `lower` and `upper` say what that hides.
    precision
        Go on, with more sequences and longer ones, until the standard error and the width from
        `lower` to `upper` are at most this.
    max_sequences
        With a precision: never draw more than this.
    rng
        Anything that `numpy.random.default_rng` takes. The same seed gives the same bits for
        any number of threads.

    Returns
    -------
    SuccessRate
        The rate, its standard error, and between which values unfinished lessons leave it.

    Notes
    -----
    Definition 5.2 and Proposition 5.1: the learner's belief when the teacher is sure has the
    success rate as its mean, up to `doubt`. On tables with zeros, and with different data priors,
    the proposition does not hold: the sure teacher then goes on until the learner is sure, too, or
    has excluded what is taught. With a learner (or teacher) that follows plain Bayes the value is
    the learner's mean belief at the moment at which the teacher stops.

    Examples
    --------
    >>> import cobayes as cb
    >>> rate = cb.success_rate([[0.6, 0.3], [0.4, 0.7]], hypothesis=0,
    ...                        learner_prior=[0.4, 0.6], rng=1)
    >>> abs(rate.value - 0.4 / 0.5) < 4 * rate.stderr  # min(1, theta^L(h) / theta^T(h))
    True
    """
    if precision is not None:
        number_between(precision, "precision", 0.0, 1.0)
    max_sequences = at_least_one(max_sequences, "max_sequences")
    max_rounds = at_least_one(max_rounds, "max_rounds")
    num_sequences = at_least_one(num_sequences, "num_sequences")
    if not isinstance(method, str) or method not in ("lessons", "coupling"):
        raise CobayesError(f"method is {method!r}; expected 'lessons' or 'coupling'.")
    prepare = _lessons if method == "lessons" else _coupled
    run = prepare(
        teacher_matrix, learner_matrix, hypothesis, teacher_prior, learner_prior, doubt, rng
    )
    rate = run(num_sequences, max_rounds)
    if precision is None:
        return rate
    return _until(rate, run, precision, max_sequences, PATIENCE * max_rounds)


def _lessons(
    teacher_matrix: MatrixLike,
    learner_matrix: MatrixLike | None,
    hypothesis: SupportsIndex | str,
    teacher_prior: ArrayLike | None,
    learner_prior: ArrayLike | None,
    doubt: float,
    rng: Any,
) -> Callable[[int, int], SuccessRate]:
    """Return a function that estimates with so many lessons of so many rounds at most."""
    sequences: TeachingSequences | None = None
    # A bad learner must be found before the teacher's work is done.
    teacher = as_rule(teacher_matrix)
    learner = teacher if learner_matrix is None else as_rule(learner_matrix)
    require_same_world(teacher, learner)
    if learner_prior is not None:
        position = learner.model.hypothesis_index(teacher.model.hypothesis_index(hypothesis))
        log_prior(learner, learner_prior, position, "learner's prior")

    def run(num_sequences: int, max_rounds: int) -> SuccessRate:
        nonlocal sequences
        if sequences is None:
            sequences = TeachingSequences.draw(
                teacher,
                hypothesis,
                prior=teacher_prior,
                num_sequences=num_sequences,
                doubt=doubt,
                max_rounds=max_rounds,
                rng=rng,
            )
        else:
            sequences = sequences.continued(max_rounds).enlarged(num_sequences)
        return sequences.success_of(learner, learner_prior)

    return run


def _coupled(
    teacher_matrix: MatrixLike,
    learner_matrix: MatrixLike | None,
    hypothesis: SupportsIndex | str,
    teacher_prior: ArrayLike | None,
    learner_prior: ArrayLike | None,
    doubt: float,
    rng: Any,
) -> Callable[[int, int], SuccessRate]:
    """Return a function that estimates with so many pairs of so many rounds at most."""
    position = as_rule(teacher_matrix).model.hypothesis_index(hypothesis)
    agents = coupled_agents(teacher_matrix, learner_matrix, teacher_prior, learner_prior, position)
    seed = root_seed(rng)

    def run(num_sequences: int, max_rounds: int) -> SuccessRate:
        return run_coupling(agents, num_sequences, doubt, max_rounds, seed).success(position)

    return run


def _until(
    rate: SuccessRate,
    run: Callable[[int, int], SuccessRate],
    precision: float,
    max_sequences: int,
    most_rounds: int,
) -> SuccessRate:
    """Take more and longer sequences until an estimate is precise."""
    while True:
        count, rounds = rate.num_sequences, rate.max_rounds
        if rate.upper - rate.lower > precision and rate.num_unfinished:
            rounds = min(2 * rounds, most_rounds)
        # A sample of one has no standard error: NaN must not count as precise.
        sampling = rate.sampling_stderr
        if not sampling <= precision:
            needed = count * (sampling / precision) ** 2 if sampling > 0.0 else 2 * count
            needed = 2 * count if not math.isfinite(needed) else needed
            count = int(min(np.ceil(max(1.1 * needed, count + 1)), max_sequences))
        if count <= rate.num_sequences and rounds == rate.max_rounds:
            break
        rate = run(max(count, rate.num_sequences), rounds)
    if not (rate.sampling_stderr <= precision and rate.upper - rate.lower <= precision):
        warn_user(
            f"the wanted precision of {precision:g} was not reached: standard error "
            f"{rate.sampling_stderr:.2g}, width of what stopping hides "
            f"{rate.upper - rate.lower:.2g}, after {rate.num_sequences} sequences of up to "
            f"{rate.max_rounds} rounds."
        )
    return rate
