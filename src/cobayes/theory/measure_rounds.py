"""One round of a measure: every atom is split by what the next datum is."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from cobayes._runtime.threads import map_chunks
from cobayes.errors import CobayesError
from cobayes.rules import Rule
from cobayes.theory.answers import block_size, likelihoods_at, log_posteriors

Array = NDArray[np.float64]

# The most numbers that one measure may hold (400 MB); exact_rounds needs no such table.
MOST_NUMBERS = 50_000_000


def most_rounds(num_data: int, num_hypotheses: int) -> int:
    """Return after how many rounds all sequences of data still fit into one measure."""
    rounds, numbers = 0, num_hypotheses
    while num_data > 1 and numbers * num_data <= MOST_NUMBERS:
        numbers *= num_data
        rounds += 1
    return rounds


def split_atoms(
    weights: Array,
    log_beliefs: Array,
    rule: Rule,
    data: NDArray[np.intp],
    chances: Callable[[Array], Array],
) -> tuple[Array, Array]:
    """Return weights (a',) and log-beliefs (a', m) after one more datum.

    Parameters
    ----------
    weights, log_beliefs
        Shapes (a,) and (a, m).
    rule
        The learner's.
    data
        Positions of the data that may come.
    chances
        From likelihoods (a, n, m) to the probabilities of these data, (a, len(data)).
    """
    num_atoms, width = log_beliefs.shape
    count = num_atoms * len(data)
    if count * width > MOST_NUMBERS:
        raise CobayesError(
            f"one more round takes the measure from {num_atoms} to {count} atoms on {width} "
            f"hypotheses; more than {MOST_NUMBERS:.0e} numbers are not kept in memory.",
            "use pruned(mass) or, where the order of data does not matter, merged() after "
            "every round; exact_rounds gives means and deviations without storing atoms.",
        )
    shares = np.empty((num_atoms, len(data)))
    logs = np.empty((num_atoms, len(data), width))
    size = block_size(rule)

    def split(start: int) -> None:
        block = slice(start, start + size)
        likelihoods = likelihoods_at(rule, log_beliefs[block])
        shares[block] = weights[block, None] * chances(likelihoods)
        logs[block] = log_posteriors(log_beliefs[block], likelihoods[:, data])

    map_chunks(split, range(0, num_atoms, size))
    return shares.reshape(-1), logs.reshape(-1, width)
