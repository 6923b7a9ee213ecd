"""The likelihood for samplers: as a function with a gradient, and draws from it for ArviZ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import whole_number
from cobayes._runtime.randomness import generator
from cobayes.errors import CobayesError, import_optional
from cobayes.people._estimation import bounds
from cobayes.people.choices import read_choices
from cobayes.people.family import Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.problems import read_problems

if TYPE_CHECKING:
    from cobayes.people.result import Fit

Array = NDArray[np.float64]

# Steps between two draws, and chains per unit.
THINNING = 5
NUM_CHAINS = 4


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


def to_arviz(fit: Fit, num_draws: int, rng: Any) -> Any:
    """Return a DataTree with the groups posterior, log_likelihood and observed_data.

    Every unit keeps its best depth. Draws come from a random walk (Metropolis) that starts at the
    maximum and steps by the information's covariance; unidentified parameters wander between
    their bounds.
    """
    whole_number(num_draws, "num_draws", 1)
    arviz = import_optional("arviz_base", "people", "to_arviz()")
    random = generator(rng)
    num_units, names = len(fit.groups), fit.family.names
    per_chain = -(-num_draws // NUM_CHAINS)
    draws = np.empty((NUM_CHAINS, per_chain, num_units, len(names)))
    logs = np.empty((NUM_CHAINS, per_chain, len(fit.choices)))
    for part in fit.at_best():
        for chain in range(NUM_CHAINS):
            steps = walk(part.likelihood, part.parameters, per_chain, random)
            for number, (values, row_logs) in enumerate(steps):
                draws[chain, number, part.units] = values
                logs[chain, number, part.rows] = row_logs
    posterior = {name: draws[..., column] for column, name in enumerate(names)}
    label = fit.by or "everybody"
    kinds = {"choice": "datum", "guess": "guess", "rating": "rating"}
    observed = getattr(fit.choices, kinds[fit.family.response])
    return arviz.from_dict(
        {
            "posterior": posterior,
            "log_likelihood": {"response": logs},
            "observed_data": {"response": observed},
        },
        coords={label: [str(u) for u in fit.units] or ["everybody"]},
        dims={**{name: [label] for name in names}, "response": ["row"]},
    )


def walk(likelihood: Likelihood, start: Array, num_draws: int, random: np.random.Generator):
    """Yield parameters (u, p) and log-likelihoods of the rows (t,), every so many steps."""
    family, free = likelihood.family, list(likelihood.free)
    low, high = bounds(family)
    width = (high - low)[free]
    parameters = start.copy()
    starts = likelihood.starts
    rows = likelihood.rows(parameters)
    information = np.add.reduceat(rows.information, starts, axis=0)
    # A flat direction gets a step of a third of its range.
    precision = information + np.eye(len(free)) * (3.0 / width) ** 2 * (len(free) or 1)
    factor = np.linalg.cholesky(np.linalg.inv(precision)) if free else np.zeros((len(start), 0, 0))
    size = 2.4 / np.sqrt(max(1, len(free)))
    value, logs = np.add.reduceat(rows.value, starts), rows.value.copy()
    for number in range(-20, num_draws):
        for _ in range(THINNING if free else 1):
            jump = np.einsum("upq,uq->up", factor, random.standard_normal((len(start), len(free))))
            trial = parameters.copy()
            trial[:, free] += size * jump
            inside = ((trial >= low) & (trial <= high))[:, free].all(axis=1)
            trial[~inside] = parameters[~inside]
            found = likelihood.rows(trial, with_derivatives=False).value
            new = np.add.reduceat(found, starts)
            with np.errstate(divide="ignore"):
                taken = inside & (np.log(random.random(len(new))) < new - value)
            parameters[taken], value[taken] = trial[taken], new[taken]
            mask = taken[likelihood.units]
            logs[mask] = found[mask]
        if number >= 0:
            yield parameters.copy(), logs.copy()
