"""The native core: everything that is computed often.

Beliefs are logarithms, arrays are float64 and contiguous. An answer depends on its arguments alone:
batches and single calls, any number of threads and any instruction set give the same bits. No
exception is raised for numerical reasons: each problem has an estimated error, which is infinite
where no answer was found.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Sets = NDArray[np.uint64]

class Rule:
    """A rule bound to its table.

    Its kind is "recursion" (literal and pragmatic rules) or "cooperation" (SCBI).
    """

    def __init__(
        self,
        matrix: Array,
        *,
        data_prior: Array | None = None,
        kind: str,
        depth: int = 0,
        rationality: float = 1.0,
        literal: str = "likelihood",
        tolerance: float = 1e-12,
    ) -> None: ...
    def respond(
        self,
        log_beliefs: Array,
        gone: Sets | None = None,
        *,
        in_logs: bool = False,
        num_threads: int = 1,
    ) -> tuple[Array, float, int]:
        """Return likelihoods or logarithms (k, n, m), the largest error and iteration count.

        Likelihoods are what a teacher draws from: columns sum to one. Their logarithms are what a
        learner takes as evidence. ``gone`` holds for each belief the set of data that are not
        available, (k, words of 64 bits).
        """

    def posteriors(
        self, log_beliefs: Array, gone: Sets | None = None, *, num_threads: int = 1
    ) -> tuple[Array, float, int]:
        """Return beliefs after every datum, (k, n, m); NaN after impossible data."""

    def update(
        self,
        log_beliefs: Array,
        data: int | Integers,
        gone: Sets | None = None,
        *,
        in_logs: bool = True,
        num_threads: int = 1,
    ) -> tuple[Array, float, int]:
        """Return log-beliefs after one datum for all or one datum each, (k, m); NaN if impossible.

        Without ``in_logs`` return beliefs.
        """

def simulate(
    teacher: Rule,
    learner: Rule | None,
    *,
    teacher_logs: Array,
    learner_logs: Array | None = None,
    hypothesis: int,
    num_rounds: int,
    num_lessons: int,
    seed: int,
    level: float = 0.95,
    teacher_drops: bool = False,
    learner_drops: bool = False,
    num_paths: int = 0,
    path_rounds: Integers | None = None,
    keep_data: bool = False,
    num_threads: int = 1,
) -> dict[str, Any]:
    """Simulate lessons and return their statistics.

    A learner of None has the teacher's rule, log-beliefs of None are the teacher's. The random
    number of a round is a function of (seed, lesson, round). The first ``num_paths`` lessons
    keep their log-beliefs at ``path_rounds``. "drops" means that data which were shown are no
    longer available to this agent's rule.

    The result has the moments "means" and "stds" of the beliefs, (rounds + 1, m); "first_sure",
    the number of lessons by the round in which they reached the level (last: never); "paths";
    "data" where asked for; "num_contradicted"; "num_answers", the
    distinct beliefs that were answered; "num_failed" and "error" of these answers.
    """

def teach(
    teacher: Rule,
    learners: list[Rule],
    *,
    teacher_logs: Array,
    learner_logs: Array,
    goes_on: list[bool],
    law: Array | None = None,
    hypothesis: int,
    level: float,
    max_rounds: int,
    num_lessons: int,
    seed: int,
    num_threads: int = 1,
) -> tuple[Array, Array, Integers, NDArray[np.bool_], NDArray[np.bool_]]:
    """Teach until the teacher's belief exceeds ``level``; K learners follow the same data.

    ``goes_on`` says for which learners a sure teacher continues, with data drawn from ``law``,
    until they are sure or have excluded the hypothesis. Return log-beliefs of the teacher (lessons,
    m) and of the learners (K, lessons, m), rounds and whether the teacher was sure (lessons,), and
    whether a learner's belief determines the hypothesis that it converges to (K, lessons).
    """

def couple(
    teacher: Rule,
    learner: Rule,
    *,
    teacher_logs: Array,
    learner_logs: Array,
    law: Array,
    level: float,
    max_rounds: int,
    first: int = 0,
    num_pairs: int,
    seed: int,
    num_threads: int = 1,
) -> tuple[Array, Array, int]:
    """Show the same data from ``law`` to two agents until one of them is sure of a hypothesis.

    Return the log-beliefs of both, (pairs, m), and the number of pairs that were cut off. Pairs are
    numbered from ``first`` on.
    """

def exact_rounds(
    rule: Rule,
    *,
    log_prior: Array,
    hypothesis: int,
    num_rounds: int,
    data: Integers,
    copies: Array,
    num_threads: int = 1,
) -> tuple[Array, Array]:
    """Return means and variances of beliefs after every round, (k, m), from all sequences of data.

    ``data`` are data that lead to different posteriors; ``copies`` is the number of data that share
    each posterior.
    """

def random_rates(
    num_data: int,
    num_hypotheses: int,
    *,
    num_samples: int,
    seed: int,
    keep: bool = False,
    num_threads: int = 1,
) -> tuple[int, Array, Array, Array, Array]:
    """Draw random matrices and sum the mean rates of BI, of SCBI and their difference.

    Return the number of matrices on which SCBI's rate is at least BI's, the sums and sums of
    squares (3,), and with ``keep`` the rates themselves.
    """

def scale(
    matrices: Array,
    row_sums: Array | None,
    column_sums: Array | None,
    *,
    tolerance: float,
    max_iterations: int,
    num_threads: int = 1,
) -> tuple[Array, Array, Array, Array, Array, Array, Array]:
    """Scale tables (k or 1, n, m) to row sums (k or 1, n) and column sums (k or 1, m).

    Row sums of None are ones, column sums of None are equal. Return scaled tables, row factors,
    column factors, column factors before they were multiplied by the column sums, the target row
    and column sums, and a report (k, 4): estimated error, residual, iterations and status (0 exact,
    1 limit, 2 infeasible, 3 beyond the range of numbers, 4 not a table, 5 sums that no table has).
    """

def scaling_blocks(
    matrix: Array, row_sums: Array, column_sums: Array
) -> tuple[Integers, Integers, Integers, int, int]:
    """Return the component of each row and column, their blocks, their number, the status."""

def normalized(x: Array, slack: float, *, in_logs: bool = False) -> Array | None:
    """Return distributions along the last axis divided by their sums, or their logarithms.

    None where an entry is negative or not a number, or a sum is farther than ``slack`` from one.
    """

def log(x: Array) -> Array:
    """Return logarithms, the same bits on every machine."""

def exp(x: Array) -> Array:
    """Return exponentials, the same bits on every machine."""

def instruction_set() -> str:
    """Return the instruction set in use."""

def force_instruction_set(name: str) -> str:
    """Choose the instruction set "v2", "v3", "v4" or "auto", for tests; return the one in use."""
