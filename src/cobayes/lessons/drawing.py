"""Drawing a datum from a distribution with one uniform number."""

from __future__ import annotations

from cobayes._runtime.compiled import compiled


@compiled()
def draw(probabilities, uniform):
    """Return the position at which the running sum first exceeds the uniform number.

    Where the sums round down to less than one, a uniform number beyond them gives the last
    position that has a positive probability: a draw never leaves the support.
    """
    total = 0.0
    last = 0
    for position in range(probabilities.shape[0]):
        if probabilities[position] > 0.0:
            total += probabilities[position]
            last = position
            if uniform < total:
                return position
    return last
