"""What a rule answers to many beliefs at once: one block for the compiled twin, or one by one."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cobayes.rules import BeliefState, Rule

Array = NDArray[np.float64]

# Beliefs are answered in blocks that keep compiled code busy and yet fit into the cache;
# these count numbers in the answer, except the first two, which count beliefs.
SMALLEST_BLOCK = 64
LARGEST_BLOCK = 4096
COMFORTABLE_ANSWER = 100_000
LARGEST_ANSWER = 4_000_000


def block_size(rule: Rule) -> int:
    """Return how many beliefs to answer at once; the answer takes 32 MB at most."""
    size = rule.model.matrix.size
    comfortable = min(LARGEST_BLOCK, max(SMALLEST_BLOCK, COMFORTABLE_ANSWER // size))
    return max(1, min(comfortable, LARGEST_ANSWER // size))


def likelihoods_at(rule: Rule, log_beliefs: Array) -> Array:
    """Return the rule's likelihood matrix at every belief, (a, n, m).

    Parameters
    ----------
    rule
        Any rule; `BI` and `SCBI` are answered by compiled code.
    log_beliefs
        Normalised, (a, m); at most `block_size` of them, since the answer is kept whole.
    """
    return rule.respond_many(BeliefState.from_logs(log_beliefs)).likelihoods


def log_posteriors(log_beliefs: Array, likelihoods: Array) -> Array:
    """Return the logarithms of every belief's posterior after every datum, (a, n, m).

    Parameters
    ----------
    log_beliefs
        Shape (a, m); minus infinity where a hypothesis is ruled out.
    likelihoods
        Shape (a, n, m).
    """
    joint = np.log(likelihoods)
    joint += log_beliefs[:, None, :]
    peak = joint.max(axis=-1, keepdims=True)
    joint -= peak + np.log(np.exp(joint - peak).sum(axis=-1, keepdims=True))
    return joint
