"""The coupling: teacher and learner fed the same uniform data."""

from __future__ import annotations

import operator
from functools import reduce
from typing import Any, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import counts_by
from cobayes._runtime.threads import map_chunks
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules import Rule
from cobayes.scaling.lanes import LANES
from cobayes.stability.blocks import (
    BLOCK,
    GROUP_ROUNDS,
    MOST_ROUNDS,
    block_generator,
    draw_data,
    root_seed,
)
from cobayes.stability.coupled import Coupling
from cobayes.stability.marching import Marchers
from cobayes.stability.sequences import DOUBT, MAX_ROUNDS, TeachingSequences
from cobayes.stability.validation import (
    as_rule,
    at_least_one,
    common_law,
    is_scbi,
    log_prior,
    require_affordable_lessons,
    require_same_world,
    small_probability,
)

Array = NDArray[np.float64]


@counts_by("num_sequences")
def coupling(
    teacher_matrix: MatrixLike,
    learner_matrix: MatrixLike | None = None,
    *,
    teacher_prior: ArrayLike | None = None,
    learner_prior: ArrayLike | None = None,
    num_sequences: SupportsIndex = 10_000,
    doubt: float = DOUBT,
    max_rounds: SupportsIndex = MAX_ROUNDS,
    rng: Any = None,
) -> Coupling:
    """Feed teacher and learner the same uniform data and count where they end.

    One set of pairs serves every hypothesis: the teacher of h is the process of uniform data
    given that the teacher's estimate ends at h.

    Parameters
    ----------
    teacher_matrix, learner_matrix
        The two matrices, or `SCBI` rules that hold them; the learner's is by default the same.
    teacher_prior, learner_prior
        The two priors: the teacher's is uniform by default, the learner's the teacher's.
    num_sequences
        How many pairs.
    doubt
        A pair is finished when either agent believes some hypothesis more than ``1 - doubt``:
        where it ends is then known, and the other's belief is its chance of ending anywhere.
    max_rounds
        A pair is cut off after this many rounds.
    rng
        Anything that `numpy.random.default_rng` takes. The same seed gives the same bits for
        any number of threads.

    Returns
    -------
    Coupling
        How often the two end at every pair of hypotheses, with errors and bounds.

    Notes
    -----
    Under uniform data both beliefs are martingales (Lemma of Proposition 5.1) that end at
    vertices. Taught h, the learner ends at j with probability ``C[h, j] / theta^T(h)``. Data
    come from the data prior where both rules have the same. On tables with zeros the two agents
    expect different data: C is then what lessons about each hypothesis lead to, and its
    columns need not sum to the learner's prior. Lessons go on until the learner is sure, or has
    excluded what is taught; its belief then counts as where it ends.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.coupling(model, learner_prior=[0.4, 0.6], num_sequences=1000, rng=1).matrix.round(2)
    array([[0.39, 0.1 ],
           [0.  , 0.5 ]])
    """
    agents = coupled_agents(teacher_matrix, learner_matrix, teacher_prior, learner_prior)
    count = at_least_one(num_sequences, "num_sequences")
    most = at_least_one(max_rounds, "max_rounds")
    return run_coupling(agents, count, doubt, most, root_seed(rng))


class CoupledAgents(NamedTuple):
    """Both agents of a coupling and the logarithms of their priors."""

    teacher: Rule
    learner: Rule
    teacher_log_prior: Array
    learner_log_prior: Array


def coupled_agents(
    teacher_matrix: MatrixLike,
    learner_matrix: MatrixLike | None,
    teacher_prior: ArrayLike | None,
    learner_prior: ArrayLike | None,
    hypothesis: int | None = None,
) -> CoupledAgents:
    """Validate the two agents of a coupling."""
    teacher = as_rule(teacher_matrix)
    learner = teacher if learner_matrix is None else as_rule(learner_matrix)
    require_same_world(teacher, learner)
    for rule in (teacher, learner):
        if not is_scbi(rule):
            raise CobayesError(
                f"the coupling needs two SCBI agents; one of them follows {type(rule).__name__}, "
                "whose belief is no martingale under uniform data.",
                'use success_rate(..., method="lessons").',
            )
    own = log_prior(teacher, teacher_prior, hypothesis, "teacher's prior")
    theirs = own
    if learner_prior is not None:
        theirs = log_prior(learner, learner_prior, hypothesis, "learner's prior")
    return CoupledAgents(teacher, learner, own, theirs)


def run_coupling(
    agents: CoupledAgents,
    num_sequences: int,
    doubt: float,
    max_rounds: int,
    seed: np.random.SeedSequence,
) -> Coupling:
    """Do what `coupling` does, with agents that were validated and a seed for the blocks."""
    count = at_least_one(num_sequences, "num_sequences")
    limit = at_least_one(max_rounds, "max_rounds")
    level = 1.0 - small_probability(doubt, "doubt")
    teacher, learner, teacher_log_prior, learner_log_prior = agents
    law = common_law(teacher, learner)
    if law is None:
        return _coupling_by_lessons(agents, count, doubt, limit, seed)
    require_affordable_lessons(teacher, count, limit, doubt, num_agents=2)

    def run(number: int) -> _Sums:
        size = min(BLOCK, count - number * BLOCK)
        stream = block_generator(seed, number)
        pairs = (
            Marchers(teacher, teacher_log_prior, size),
            Marchers(learner, learner_log_prior, size),
        )
        return _run_block(pairs, np.random.Generator(stream), law, level, limit)

    blocks = map_chunks(run, range(-(-count // BLOCK)))
    total = _Sums(*(reduce(operator.add, values) for values in zip(*blocks, strict=True)))
    matrix = total.ends / count
    taught = matrix.sum(axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        given = matrix / taught
        # The spread of (ends - given * taught), which has mean zero: a ratio of two means.
        spread = total.squares - 2.0 * given * total.products + given**2 * total.taught_squares
        given_stderr = np.sqrt(np.maximum(spread, 0.0)) / (count * taught)
    squares = np.maximum(total.squares - count * matrix**2, 0.0)
    variance = squares / (count - 1) if count > 1 else np.full_like(squares, np.nan)
    return Coupling(
        matrix=matrix,
        stderr=np.sqrt(variance / count),
        lower=total.lower / count,
        upper=total.upper / count,
        given_taught=given,
        given_taught_stderr=given_stderr,
        teacher_prior=np.exp(teacher_log_prior),
        learner_prior=np.exp(learner_log_prior),
        model=teacher.model,
        num_sequences=count,
        num_unfinished=int(total.unfinished),
        max_rounds=limit,
    )


def _coupling_by_lessons(
    agents: CoupledAgents,
    num_sequences: int,
    doubt: float,
    max_rounds: int,
    seed: np.random.SeedSequence,
) -> Coupling:
    """Estimate the coupling where no law makes both beliefs martingales.

    The teacher of h is what the teacher expects, given that its estimate ends at h: row h is
    what lessons about h lead to, and gets its share of the sequences.
    """
    teacher, learner = agents.teacher, agents.learner
    own, theirs = np.exp(agents.teacher_log_prior), np.exp(agents.learner_log_prior)
    size = len(own)
    mean, spread, lower, upper = (np.zeros((size, size)) for _ in range(4))
    unfinished, total = 0, 0
    for h, child in enumerate(seed.spawn(size)):
        if own[h] == 0.0:
            mean[h] = spread[h] = np.nan
            continue
        count = max(2, round(num_sequences * own[h]))
        sequences = TeachingSequences.draw(
            teacher,
            h,
            prior=own,
            num_sequences=count,
            doubt=doubt,
            max_rounds=max_rounds,
            rng=np.random.default_rng(child),
        )
        ends, known = sequences.ends_of(learner, theirs)
        is_known = known[:, None]
        mean[h], spread[h] = ends.mean(axis=0), ends.std(axis=0, ddof=1) / np.sqrt(count)
        lower[h] = own[h] * np.where(is_known, ends, 0.0).mean(axis=0)
        upper[h] = own[h] * np.where(is_known, ends, 1.0).mean(axis=0)
        unfinished += int(count - known.sum())
        total += count
    return Coupling(
        matrix=np.nan_to_num(mean) * own[:, None],
        stderr=np.nan_to_num(spread) * own[:, None],
        lower=lower,
        upper=upper,
        given_taught=mean,
        given_taught_stderr=spread,
        teacher_prior=own,
        learner_prior=theirs,
        model=teacher.model,
        num_sequences=total,
        num_unfinished=unfinished,
        max_rounds=max_rounds,
    )


class _Sums(NamedTuple):
    """What a block adds to a coupling, (m, m) each, or (m, 1) for the teacher alone."""

    ends: Array
    squares: Array
    products: Array
    taught_squares: Array
    lower: Array
    upper: Array
    unfinished: int


def _run_block(
    agents: tuple[Marchers, Marchers],
    rng: np.random.Generator,
    law: Array,
    level: float,
    max_rounds: int,
) -> _Sums:
    """Run the pairs of one block."""
    size = agents[0].size
    num_hypotheses = agents[0].rule.model.num_hypotheses
    ends = np.empty((2, size, num_hypotheses))
    open_ones = np.arange(size)
    done = 0
    while len(open_ones) and done < max_rounds:
        groups = -(-len(open_ones) // LANES)
        num_rounds = min(MOST_ROUNDS, GROUP_ROUNDS // groups, max_rounds - done)
        data = draw_data(rng, law, num_rounds)
        for agent in agents:
            agent.follow(data[:, open_ones])
        beliefs = np.array([agent.beliefs for agent in agents])
        ends[:, open_ones] = beliefs
        done += num_rounds
        is_open = beliefs.max(axis=(0, 2)) <= level
        open_ones = open_ones[is_open]
        if len(open_ones) and not is_open.all():
            for agent in agents:
                agent.keep(np.flatnonzero(is_open))
    taught, believed = ends[0][:, :, None], ends[1][:, None, :]
    joint = taught * believed
    return _Sums(
        joint.sum(axis=0),
        (joint**2).sum(axis=0),
        (joint * taught).sum(axis=0),
        (taught**2).sum(axis=0),
        np.maximum(taught + believed - 1.0, 0.0).sum(axis=0),
        np.minimum(taught, believed).sum(axis=0),
        len(open_ones),
    )
