"""The native core: scaling, rules, lessons, exact rounds and rates of random matrices.

Beliefs are passed as logarithms; arrays are float64 and contiguous. Results depend on the arguments
alone: batches and single calls, any number of threads and any instruction set give the same bits.
No exception is raised for numerical reasons: `Rule`, `simulate` and `scale` return an estimated
error, which is infinite where no solution was found. Shapes: k beliefs, n data, m hypotheses.
A believed hypothesis is one with a positive belief.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Integers = NDArray[np.int64]
Sets = NDArray[np.uint64]

class Rule:
    """A rule with its table.

    The kind of the rule is "recursion" (BI, and pragmatic rules of finite depth) or "cooperation"
    (SCBI).
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
        """Return likelihoods (k, n, m), the largest estimated error and iteration count.

        A teacher draws from the likelihoods. Columns sum to one, or to zero if no datum is
        possible. With ``in_logs`` return the log-likelihoods with which a learner updates its
        belief: the logarithms of the same numbers, except that with ``literal="truth"`` at depth 0
        the columns are not normalised. ``gone`` has for each belief the data that are not
        available, as a set of bits, (k, 64-bit words).
        """

    def posteriors(
        self, log_beliefs: Array, gone: Sets | None = None, *, num_threads: int = 1
    ) -> tuple[Array, float, int]:
        """Return beliefs (k, n, m) after each datum; NaN if no believed hypothesis allows it.

        The other two values are as in `respond`.
        """

    def update(
        self,
        log_beliefs: Array,
        data: int | Integers,
        gone: Sets | None = None,
        *,
        in_logs: bool = True,
        num_threads: int = 1,
    ) -> tuple[Array, float, int]:
        """Return log-beliefs after a datum, (k, m); without ``in_logs``, beliefs.

        ``data`` is the datum of all beliefs, or one datum for each. The belief after a datum that
        no believed hypothesis allows is NaN. The other two values are as in `respond`.
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

    If ``learner`` or ``learner_logs`` is None, the learner has the teacher's rule or log-beliefs.
    The random number of a round is a function of (seed, lesson, round). The learner's log-beliefs
    in the first ``num_paths`` lessons are kept at the rounds ``path_rounds`` (default: all). With
    ``teacher_drops``, data that were shown are no longer available to the teacher's rule;
    ``learner_drops`` does the same for the learner's rule.

    The result has "means" and "stds" of the learner's beliefs, (num_rounds + 1, m); "first_sure",
    the numbers of lessons in which the belief in the hypothesis first reached ``level`` after round
    0, 1, ..., num_rounds, and as last entry the number of lessons in which it never did;
    "paths", the log-beliefs that were kept; "data" with ``keep_data``; "num_contradicted", the
    number of lessons with a datum that is impossible under the learner's belief; "num_responses",
    the number of likelihoods that were computed; "num_failed", the number of likelihoods without a
    solution; "error", the largest estimated error of a likelihood.
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
    """Teach K learners until the teacher's belief in the hypothesis exceeds ``level``.

    All learners are shown the same data. ``goes_on`` has one value per learner. If true, a teacher
    who is sure shows this learner more data, drawn from ``law``, until the learner is sure of a
    hypothesis or its belief in the taught one is below 2**-512.

    Return the last log-beliefs of the teacher, (lessons, m), and of the learners, (K, lessons, m);
    the number of rounds and whether the teacher was sure, (lessons,) each; and whether each
    learner's lesson ended, (K, lessons). It ended if the teacher was sure and, with ``goes_on``,
    the further data took at most ``max_rounds`` rounds.
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

    An agent is sure if a belief exceeds ``level``. Return the last log-beliefs of both, (pairs, m),
    and the number of pairs in which nobody was sure after ``max_rounds``. The random number of a
    round is a function of (seed, ``first`` + pair, round).
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
    """Return means and variances of beliefs over all sequences of data, (num_rounds, m) each.

    A teacher of the hypothesis, who knows the learner's belief, draws the data. Data that lead to
    the same posterior form a group. ``data`` has one datum of each group; ``copies`` has
    the probability of each group divided by the probability of its datum in ``data``.
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
    """Draw random matrices and sum their rates of convergence, each a mean over the hypotheses.

    Return the number of matrices on which SCBI's mean rate is at least BI's; the sums, (3,), of
    BI's rate, of SCBI's and of the difference SCBI - BI; the sums of their squares, (3,); and the
    rates of BI and SCBI, empty without ``keep``.
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

    Row sums that are None are ones; column sums that are None are equal. Return the scaled tables,
    their row factors, their column factors, the column factors divided by the column sums, the
    target row sums, the target column sums, and a report (k, 4): estimated error, residual, number
    of iterations and status. The status is 0 (exact), 1 (limit), 2 (infeasible), 3 (entries too far
    apart for float64), 4 (an invalid entry, or a row or column of zeros) or 5 (sums that are
    negative or not finite, or totals that are zero or whose relative difference exceeds 1e-3). With
    3, 4 or 5 only the status is valid.
    """

def scaling_blocks(
    matrix: Array, row_sums: Array, column_sums: Array
) -> tuple[Integers, Integers, Integers, int, int]:
    """Return the components and blocks of a table with zeros.

    Five values: the component of each row, (n,), and of each column, (m,), where -1 means none; the
    block of each component, in the first entries of an array (m,); the number of components; and
    the status, as in `scale`.
    """

def normalized(x: Array, slack: float, *, in_logs: bool = False) -> Array | None:
    """Divide distributions along the last axis by their sums; return them or their logarithms.

    Return None if an entry is negative or NaN, or if a sum differs from one by more than ``slack``.
    """

def log(x: Array) -> Array:
    """Return logarithms of finite numbers >= 0, the same bits on every machine."""

def exp(x: Array) -> Array:
    """Return exponentials of x <= 709, zero below -708, the same bits on every machine."""

def instruction_set() -> str:
    """Return the instruction set in use."""

def force_instruction_set(name: str) -> str:
    """Select the instruction set "v2", "v3", "v4" or "auto" (for tests); return the one in use."""
