"""Teaching sequences: what the teacher of a hypothesis shows until it is sure.

The teacher follows its own idea of the learner, so its sequences do not depend on the learner:
one set of them serves every learner, and learners are compared on the same data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._output import counted
from cobayes._runtime.threads import map_chunks
from cobayes.errors import CobayesError, import_optional
from cobayes.model import MatrixLike
from cobayes.rules import Rule
from cobayes.stability.blocks import (
    BLOCK,
    Block,
    Rest,
    block_generator,
    continue_block,
    empty_block,
    follow_block,
    root_seed,
)
from cobayes.stability.results import SuccessRate, SuccessRates, chances_left, summarize
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

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

DOUBT = 1e-5
MAX_ROUNDS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class TeachingSequences:
    """Many sequences of data that teach one hypothesis; make them with `draw`.

    A sequence ends when the teacher's estimate of the learner's belief in the hypothesis
    exceeds ``1 - doubt``, or after `max_rounds`.

    Attributes
    ----------
    rule : Rule
        The teacher's.
    hypothesis : int
        The position of what is taught.
    prior : ndarray
        What the teacher takes the learner's prior to be, (m,).
    doubt, max_rounds : float, int
        When a sequence ends.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.examples["M_3"].model
    >>> sequences = cb.stability.TeachingSequences.draw(model, 0, num_sequences=1000, rng=1)
    >>> round(sequences.success_of(prior=[0.3, 0.35, 0.35]).value, 1)
    0.9
    """

    rule: Rule
    hypothesis: int
    prior: Array
    doubt: float
    max_rounds: int
    _seed: np.random.SeedSequence = field(repr=False)
    _blocks: tuple[Block, ...] = field(repr=False)

    @classmethod
    def draw(
        cls,
        matrix: MatrixLike | Rule,
        hypothesis: SupportsIndex | str,
        *,
        prior: ArrayLike | None = None,
        num_sequences: int = 10_000,
        doubt: float = DOUBT,
        max_rounds: int = MAX_ROUNDS,
        rng: Any = None,
    ) -> TeachingSequences:
        """Draw teaching sequences.

        Parameters
        ----------
        matrix
            The teacher's matrix, or a rule (`SCBI` or `BI`) that holds it.
        hypothesis
            What is taught, by position or label.
        prior
            What the teacher takes the learner's prior to be; uniform by default.
        num_sequences
            The number of sequences.
        doubt
            A sequence ends when the teacher's estimate exceeds ``1 - doubt``.
        max_rounds
            A sequence is cut off after this many rounds.
        rng
            Anything that `numpy.random.default_rng` takes. The same seed gives the same bits
            for any number of threads, and the first sequences of a larger set.

        Returns
        -------
        TeachingSequences
            The sequences and the teacher's last estimates.
        """
        rule = as_rule(matrix)
        position = rule.model.hypothesis_index(hypothesis)
        log_prior(rule, prior, position, "prior")
        nothing = cls(
            rule=rule,
            hypothesis=position,
            prior=rule.model.distribution(prior),
            doubt=small_probability(doubt, "doubt"),
            max_rounds=at_least_one(max_rounds, "max_rounds"),
            _seed=root_seed(rng),
            _blocks=(),
        )
        return nothing.enlarged(num_sequences)

    @property
    def num_sequences(self) -> int:
        """How many there are."""
        return sum(block.size for block in self._blocks)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """The number of rounds of every sequence."""
        return np.concatenate([block.lengths for block in self._blocks])

    @property
    def teacher_log_beliefs(self) -> Array:
        """The logarithms of the teacher's last estimates, (num_sequences, m)."""
        return np.concatenate([block.log_beliefs for block in self._blocks])

    @property
    def teacher_beliefs(self) -> Array:
        """The teacher's last estimates of the learner's belief, (num_sequences, m)."""
        return np.exp(self.teacher_log_beliefs)

    @property
    def is_finished(self) -> NDArray[np.bool_]:
        """Whether the teacher was sure in the end, for every sequence."""
        return np.concatenate([block.is_finished for block in self._blocks])

    @property
    def num_unfinished(self) -> int:
        """How many sequences were cut off."""
        return self.num_sequences - int(self.is_finished.sum())

    def sequence(self, position: int) -> NDArray[np.int64]:
        """Return the data of one sequence, by position."""
        if not 0 <= position < self.num_sequences:
            raise CobayesError(
                f"there is no sequence {position}; they go from 0 to {self.num_sequences - 1}."
            )
        return self._blocks[position // BLOCK].sequence(position % BLOCK)

    def enlarged(self, num_sequences: int) -> TeachingSequences:
        """Return as many sequences in all; those there are already come first."""
        wanted = at_least_one(num_sequences, "num_sequences")
        have = self.num_sequences
        if wanted < have:
            raise CobayesError(
                f"there are {have} sequences already; expected at least as many, not {wanted}."
            )
        require_affordable_lessons(self.rule, wanted, self.max_rounds, self.doubt, is_stored=True)
        kept = [block for block in self._blocks if block.size == BLOCK]
        todo = range(len(kept), -(-wanted // BLOCK))
        new = map_chunks(
            lambda b: self._advanced(
                empty_block(self.rule, self.prior, min(BLOCK, wanted - b * BLOCK)), b
            ),
            todo,
        )
        return replace(self, _blocks=(*kept, *new))

    def continued(self, max_rounds: int) -> TeachingSequences:
        """Return the same sequences, with those that were cut off taken further.

        Parameters
        ----------
        max_rounds
            The new limit, counted from the first round.
        """
        limit = at_least_one(max_rounds, "max_rounds")
        if limit < self.max_rounds:
            raise CobayesError(
                f"the sequences have up to {self.max_rounds} rounds already; expected at least "
                f"as many, not {limit}."
            )
        longer = replace(self, max_rounds=limit)
        blocks = map_chunks(
            lambda b: longer._advanced(self._blocks[b], b), range(len(self._blocks))
        )
        return replace(longer, _blocks=tuple(blocks))

    def beliefs_of(
        self, learner: MatrixLike | Rule | None = None, prior: ArrayLike | None = None
    ) -> Array:
        """Return a learner's belief at the end of every sequence, (num_sequences, m).

        Where the two SCBI agents expect different data, because of zeros in a table or of
        different data priors, the sure teacher goes on until the learner is sure, too, or has
        excluded what is taught: for `max_rounds` more rounds at most.

        Parameters
        ----------
        learner
            The learner's matrix or rule; by default the teacher's.
        prior
            The learner's prior; by default the one that the teacher takes it to be.
        """
        return self.ends_of(learner, prior)[0]

    def ends_of(
        self, learner: MatrixLike | Rule | None = None, prior: ArrayLike | None = None
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Return what `beliefs_of` does, and whether each is where the learner ends.

        Parameters
        ----------
        learner, prior
            See `beliefs_of`.
        """
        return self._beliefs(*self._learner(learner, prior))

    def success_of(
        self, learner: MatrixLike | Rule | None = None, prior: ArrayLike | None = None
    ) -> SuccessRate:
        """Estimate how often a learner ends up believing the hypothesis.

        Parameters
        ----------
        learner, prior
            See `beliefs_of`.

        Returns
        -------
        SuccessRate
            The mean over these sequences, with its standard error.
        """
        return summarize(*self._ends(learner, prior), self.max_rounds)

    def most_success_of(
        self, learner: MatrixLike | Rule | None = None, prior: ArrayLike | None = None
    ) -> Array:
        """Return the greatest chance of success that the end of every sequence leaves open.

        Independent numbers between 0 and 1 whose mean is the success rate at least: what a
        sequential test against a lower bound needs.

        Parameters
        ----------
        learner, prior
            See `beliefs_of`.
        """
        return chances_left(*self._ends(learner, prior))[1]

    def success_of_many(
        self,
        learners: Sequence[MatrixLike | Rule] | None = None,
        priors: Iterable[ArrayLike] | None = None,
    ) -> SuccessRates:
        """Estimate the success of many learners, all of them on these sequences.

        Parameters
        ----------
        learners
            A matrix or a rule for each; None where they all have the teacher's.
        priors
            A prior for each; None where they all have the teacher's.

        Returns
        -------
        SuccessRates
            One rate per learner, in their order.
        """
        pairs = self._many(learners, priors)
        taught = self.teacher_beliefs

        def estimate(pair: tuple[Rule, Array]) -> SuccessRate:
            beliefs, known = self._beliefs(*pair, apply=_one_by_one)
            return summarize(
                beliefs, taught, known, self.rule, pair[0], self.hypothesis, self.max_rounds
            )

        rates = map_chunks(estimate, pairs)
        return SuccessRates.of(rates, np.exp([log_belief for _, log_belief in pairs]))

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per sequence: length, whether it was finished, the teacher's belief."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        beliefs = self.teacher_beliefs
        table = pandas.DataFrame({"rounds": self.lengths, "is_finished": self.is_finished})
        for position, name in enumerate(self.rule.model.hypotheses):
            table[f"teacher's belief in {name}"] = beliefs[:, position]
        table.index.name = "sequence"
        return table

    def __repr__(self) -> str:
        name = self.rule.model.hypotheses[self.hypothesis]
        return (
            f"TeachingSequences({counted(self.num_sequences, 'sequence')} of {self.rule.name} "
            f"teaching {name!r}; {self.lengths.mean():.1f} rounds on average; "
            f"{self.num_unfinished} unfinished)"
        )

    def _advanced(self, block: Block, number: int) -> Block:
        return continue_block(
            block,
            self.rule,
            self.hypothesis,
            block_generator(self._seed, number),
            level=1.0 - self.doubt,
            max_rounds=self.max_rounds,
        )

    def _beliefs(
        self, rule: Rule, log_belief: Array, apply: Callable[..., list] = map_chunks
    ) -> tuple[Array, NDArray[np.bool_]]:
        """Take a learner through all blocks; see `follow_block`."""
        rest = self._rest(rule)

        def follow(number: int) -> tuple[Array, NDArray[np.bool_]]:
            return follow_block(self._blocks[number], rule, log_belief, rest, number)

        beliefs, known = zip(*apply(follow, range(len(self._blocks))), strict=True)
        return np.concatenate(beliefs), np.concatenate(known)

    def _rest(self, learner: Rule) -> Rest | None:
        """Return what a learner is shown once the teacher is sure.

        None where it does not matter: where the learner's belief is a martingale under what a
        sure teacher shows, its chance of success is its belief.
        """
        teacher = self.rule
        if not (is_scbi(teacher) and is_scbi(learner)) or common_law(teacher, learner) is not None:
            return None
        seed = np.random.SeedSequence(self._seed.entropy, spawn_key=(*self._seed.spawn_key, 0))
        law = teacher.at_certainty(self.hypothesis).column(self.hypothesis)
        return Rest(law, self.hypothesis, 1.0 - self.doubt, self.max_rounds, seed)

    def _ends(
        self, learner: MatrixLike | Rule | None, prior: ArrayLike | None
    ) -> tuple[Array, Array, NDArray[np.bool_], Rule, Rule, int]:
        """Return how the sequences end for both agents: what `chances_left` is given."""
        rule, log_belief = self._learner(learner, prior)
        beliefs, known = self._beliefs(rule, log_belief)
        return beliefs, self.teacher_beliefs, known, self.rule, rule, self.hypothesis

    def _learner(
        self, learner: MatrixLike | Rule | None, prior: ArrayLike | None
    ) -> tuple[Rule, Array]:
        rule = self.rule if learner is None else as_rule(learner)
        require_same_world(self.rule, rule)
        values = self.prior if prior is None else prior
        return rule, log_prior(rule, values, self.hypothesis, "learner's prior")

    def _many(
        self,
        learners: Sequence[MatrixLike | Rule] | None,
        priors: Iterable[ArrayLike] | None,
    ) -> list[tuple[Rule, Array]]:
        own_priors = None if priors is None else list(priors)
        own_learners = None if learners is None else list(learners)
        counts = {len(found) for found in (own_priors, own_learners) if found is not None}
        if len(counts) != 1:
            found = " and ".join(map(str, sorted(counts))) or "none"
            raise CobayesError(
                f"the number of learners is unclear (found {found}).",
                "give a list of learners, a list of priors, or two lists of the same length.",
            )
        count = counts.pop()
        if count == 0:
            raise CobayesError("there are no learners.", "give at least one.")
        return [
            self._learner(
                None if own_learners is None else own_learners[k],
                None if own_priors is None else own_priors[k],
            )
            for k in range(count)
        ]


def _one_by_one(function: Callable[[int], Any], items: Iterable[int]) -> list:
    return [function(item) for item in items]
