"""The likelihood as a differentiable function, for samplers and optimisers of others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError
from cobayes.people._estimation import bounds
from cobayes.people.choices import read_choices
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.problems import read_problems

Array = NDArray[np.float64]


class LogLikelihood:
    """The log-likelihood of pooled responses at one depth, with its exact gradient.

    Calling it with the free parameters, in the order of `names`, returns value and gradient. It
    is what a sampler that takes its own functions (an operation of PyTensor, a callback of JAX,
    emcee, `scipy.optimize`) needs.

    Parameters
    ----------
    choices, problems, priors
        As in `score`.
    family
        With one depth.

    Attributes
    ----------
    names : tuple of str
        The free parameters.
    low, high : ndarray
        Their bounds.

    Examples
    --------
    >>> from cobayes import people
    >>> choices = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [0]}
    >>> family = people.Family(depth=1, lapse=0.0)
    >>> density = people.LogLikelihood(choices, [[0.9, 0.5], [0.1, 0.5]], family)
    >>> density.names
    ('rationality',)
    >>> value, gradient = density([2.0])
    """

    def __init__(
        self,
        choices: Any,
        problems: Any,
        family: Family,
        *,
        priors: Mapping[str, Any] | None = None,
    ) -> None:
        if len(family.depth) != 1:
            raise CobayesError(
                f"the family has {len(family.depth)} depths; a differentiable function needs one.",
                "write family.at(depth=1).",
            )
        known = read_problems(problems, priors)
        table = read_choices(choices, known, family.response)
        units = np.zeros(len(table), dtype=np.int64)
        self._likelihood = Likelihood(table, family, family.depth[0], units)
        self._free = list(self._likelihood.free)
        low, high = bounds(family)
        # Fixed parameters have equal bounds; an unused inner rationality plays no part.
        self._whole = low.copy()
        self.names = family.free_names(family.depth[0])
        self.low, self.high = low[self._free], high[self._free]

    def __call__(self, parameters: ArrayLike) -> tuple[float, Array]:
        """Return the log-likelihood and its gradient; minus infinity outside of the bounds."""
        values = np.asarray(parameters, dtype=np.float64)
        if values.shape != (len(self._free),):
            raise CobayesError(
                f"the parameters have shape {values.shape}; expected {len(self._free)} numbers: "
                f"{', '.join(self.names)}."
            )
        if not ((values >= self.low) & (values <= self.high)).all():
            return -np.inf, np.zeros(len(values))
        whole = self._whole.copy()
        whole[self._free] = values
        found = self._likelihood.evaluate(whole[None])
        return float(found.value[0]), found.gradient[0]
