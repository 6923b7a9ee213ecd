"""Blocks of teaching sequences: the unit of seeding, of storage and of parallel work.

A block has random numbers of its own, one for each round and sequence, so a sequence is the
same whoever computes it, together with whichever others, and can be taken further later.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.randomness import spawn_sequences
from cobayes.rules import Rule
from cobayes.scaling.lanes import LANES
from cobayes.stability.marching import Marchers, datum_type

Array = NDArray[np.float64]

# Enough to amortise calls into compiled code, few enough for the cache and for two cores.
BLOCK = 1024
# Between two looks at who is finished: rounds times groups of lanes, and most rounds. Sequences
# that have come far go on for long: an eighth of their rounds is not too many.
GROUP_ROUNDS, MOST_ROUNDS, PATIENCE = 128, 64, 8
# Rounds that are packed in one go, side by side.
WINDOW = 1024


@dataclass(frozen=True, eq=False)
class Block:
    """Some sequences, sorted by length into groups of similar length.

    Attributes
    ----------
    packed : ndarray
        The groups' data below each other, (rounds, lanes).
    starts : ndarray
        Where each group's data start, and the end: (groups + 1,).
    order : ndarray
        The sequences in the order in which they are packed, (size,).
    lengths, is_finished, log_beliefs : ndarray
        Of every sequence, in their own order: its rounds, whether the teacher was sure at the
        end, and the teacher's last estimate, (size, m).
    """

    packed: NDArray[np.unsignedinteger]
    starts: NDArray[np.int64]
    order: NDArray[np.int64]
    lengths: NDArray[np.int64]
    is_finished: NDArray[np.bool_]
    log_beliefs: Array

    @property
    def size(self) -> int:
        """The number of sequences."""
        return len(self.lengths)

    def sequence(self, position: int) -> NDArray[np.int64]:
        """Return the data of one sequence."""
        place = int(np.flatnonzero(self.order == position)[0])
        start = self.starts[place // LANES]
        stop = start + self.lengths[position]
        return self.packed[start:stop, place % LANES].astype(np.int64)


class _Chunk(NamedTuple):
    """Some rounds of some sequences.

    Attributes
    ----------
    first : int
        The number of rounds before them.
    members : ndarray
        Which sequences, (k,).
    data : ndarray
        (rounds, k) or wider.
    """

    first: int
    members: NDArray[np.int64]
    data: NDArray[np.unsignedinteger]


def root_seed(rng: Any) -> np.random.SeedSequence:
    """Return the seed from which every block's is derived.

    A generator that is handed in gives another seed at every call.
    """
    return spawn_sequences(rng, 1)[0]


def block_generator(seed: np.random.SeedSequence, number: int) -> np.random.PCG64:
    """Return the stream of random numbers of one block."""
    own = np.random.SeedSequence(seed.entropy, spawn_key=(*seed.spawn_key, number))
    return np.random.PCG64(own)


def empty_block(rule: Rule, prior: Array, size: int) -> Block:
    """Return sequences without any round yet."""
    groups = -(-size // LANES)
    with np.errstate(divide="ignore"):
        log_beliefs = np.tile(np.log(prior), (size, 1))
    return Block(
        packed=np.empty((0, LANES), dtype=datum_type(rule.model.num_data)),
        starts=np.zeros(groups + 1, dtype=np.int64),
        order=np.arange(size),
        lengths=np.zeros(size, dtype=np.int64),
        is_finished=np.zeros(size, dtype=np.bool_),
        log_beliefs=log_beliefs,
    )


def continue_block(
    block: Block,
    rule: Rule,
    hypothesis: int,
    stream: np.random.PCG64,
    *,
    level: float,
    max_rounds: int,
) -> Block:
    """Go on with the sequences that are not finished.

    Parameters
    ----------
    block
        Where to go on from.
    rule, hypothesis
        The teacher's, and what it teaches.
    stream
        The block's random numbers from the first round on.
    level
        The teacher's belief in the hypothesis above which a sequence is finished.
    max_rounds
        Where to stop, counted from the first round.
    """
    open_ones = np.flatnonzero(~block.is_finished)
    if not len(open_ones):
        return block
    # All that are not finished have come equally far.
    done = int(block.lengths[open_ones[0]])
    # Every round has a number for each place of a full block, used or not.
    uniforms = np.random.Generator(stream.advance(done * BLOCK))
    lengths, finished = block.lengths.copy(), block.is_finished.copy()
    log_beliefs = block.log_beliefs.copy()
    teachers = Marchers(rule, log_beliefs[open_ones], len(open_ones))
    chunks = _unpacked(block)
    while len(open_ones) and done < max_rounds:
        groups = -(-len(open_ones) // LANES)
        num_rounds = min(MOST_ROUNDS, max(GROUP_ROUNDS // groups, done // PATIENCE))
        num_rounds = min(num_rounds, max_rounds - done)
        chance = uniforms.random((num_rounds, BLOCK)).take(open_ones, axis=1)
        data, rounds = teachers.teach(hypothesis, chance, level)
        chunks.append(_Chunk(done, open_ones, data))
        sure = rounds >= 0
        lengths[open_ones] = done + np.where(sure, rounds, num_rounds)
        if sure.any() or done + num_rounds == max_rounds:
            log_beliefs[open_ones] = teachers.log_beliefs
        finished[open_ones[sure]] = True
        done += num_rounds
        open_ones = open_ones[~sure]
        if sure.any() and len(open_ones):
            teachers.keep(np.flatnonzero(~sure))
    return _packed(block, chunks, lengths, finished, log_beliefs)


class Rest(NamedTuple):
    """What is shown once the teacher is sure, to learners who are not.

    Attributes
    ----------
    law : ndarray
        How often each datum is shown, (n,).
    hypothesis : int
        The position of what is taught.
    level : float
        The belief in any hypothesis above which a learner is sure.
    max_rounds : int
        For so many more rounds at most.
    seed : SeedSequence
        From which each block's random numbers are derived.
    """

    law: Array
    hypothesis: int
    level: float
    max_rounds: int
    seed: np.random.SeedSequence


def follow_block(
    block: Block, rule: Rule, log_prior: Array, rest: Rest | None = None, number: int = 0
) -> tuple[Array, NDArray[np.bool_]]:
    """Return where a learner ends, (size, m), and of which sequences that is known, (size,).

    Parameters
    ----------
    block
        The sequences.
    rule, log_prior
        The learner's.
    rest
        Where given, those who are not sure when the teacher is are shown more data.
    number
        The position of the block, for the random numbers of the rest.
    """
    learners = Marchers(rule, log_prior, block.size)
    groups = len(block.starts) - 1
    lengths = np.zeros(groups * LANES, dtype=np.int64)
    lengths[: block.size] = block.lengths[block.order]
    learners.follow_packed(block.packed, block.starts, lengths.reshape(groups, LANES))
    beliefs = np.empty((block.size, rule.model.num_hypotheses))
    beliefs[block.order] = learners.beliefs
    if rest is None:
        return beliefs, block.is_finished
    rng = np.random.Generator(block_generator(rest.seed, number))
    members = block.order
    is_open = (block.is_finished & _is_undecided(beliefs, rest))[members]
    done = 0
    while done < rest.max_rounds and is_open.any():
        members = members[is_open]
        learners.keep(np.flatnonzero(is_open))
        groups = -(-len(members) // LANES)
        num_rounds = min(MOST_ROUNDS, GROUP_ROUNDS // groups, rest.max_rounds - done)
        learners.follow(draw_data(rng, rest.law, num_rounds)[:, members])
        beliefs[members] = learners.beliefs
        done += num_rounds
        is_open = _is_undecided(learners.beliefs, rest)
    is_known = block.is_finished.copy()
    is_known[members[is_open]] = False
    return beliefs, is_known


def _is_undecided(beliefs: Array, rest: Rest) -> NDArray[np.bool_]:
    """Tell which learners neither are sure nor have excluded what is taught."""
    return (beliefs.max(axis=1) <= rest.level) & (beliefs[:, rest.hypothesis] > 0.0)


def draw_data(rng: np.random.Generator, law: Array, num_rounds: int) -> NDArray:
    """Draw independent data for every place of a block, (num_rounds, BLOCK)."""
    kind = datum_type(len(law))
    if (law == law[0]).all():
        return rng.integers(len(law), size=(num_rounds, BLOCK), dtype=kind)
    steps = np.cumsum(law)
    drawn = np.searchsorted(steps, rng.random((num_rounds, BLOCK)) * steps[-1], side="right")
    # Rounding must not lead beyond the last datum that is ever shown.
    return np.minimum(drawn, np.flatnonzero(law)[-1]).astype(kind)


def _packed(
    block: Block,
    chunks: list[_Chunk],
    lengths: NDArray[np.int64],
    finished: NDArray[np.bool_],
    log_beliefs: Array,
) -> Block:
    """Pack chunks of rounds, which lie one after the other, by length."""
    order = np.argsort(lengths, kind="stable")
    # The last of a group is its longest.
    last = np.minimum(np.arange(LANES, block.size + LANES, LANES), block.size) - 1
    longest = lengths[order[last]]
    starts = np.concatenate([[0], np.cumsum(longest)]).astype(np.int64)
    packed = np.zeros((int(starts[-1]), LANES), dtype=block.packed.dtype)
    for first in range(0, int(longest[-1]), WINDOW):
        table = np.zeros((WINDOW, block.size), dtype=packed.dtype)
        for chunk in chunks:
            here, there = max(chunk.first - first, 0), max(first - chunk.first, 0)
            data = chunk.data[there:][: WINDOW - here, : len(chunk.members)]
            if here < WINDOW:
                table[here : here + len(data), chunk.members] = data
        for g in range(len(longest)):
            part = table[: max(longest[g] - first, 0), order[g * LANES : (g + 1) * LANES]]
            packed[starts[g] + first :][: len(part), : part.shape[1]] = part
    return Block(packed, starts, order, lengths, finished, log_beliefs)


def _unpacked(block: Block) -> list[_Chunk]:
    """Return the rounds of a block, group by group."""
    return [
        _Chunk(
            0,
            block.order[g * LANES : (g + 1) * LANES],
            block.packed[block.starts[g] : block.starts[g + 1]],
        )
        for g in range(len(block.starts) - 1)
        if block.starts[g + 1] > block.starts[g]
    ]
