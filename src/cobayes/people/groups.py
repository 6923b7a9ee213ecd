"""Hierarchical fits: people's parameters come from a group distribution, estimated jointly.

On the logit scale (`Likelihood.from_line`: logits of the positions between the bounds) people's
parameters are normally distributed around the group's mean; every depth has a share of people.
Priors are flat: for the group's median between the bounds, for its standard deviation in logits
within `SPREAD`, and for the shares of depths (a Dirichlet distribution
with all parameters one).

Axes: people (u), depths (k), free parameters (p).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from cobayes.errors import import_optional
from cobayes.people.model import draw_many
from cobayes.people.problems import Array, Positions
from cobayes.people.result import Fit

INTERVAL = (0.025, 0.975)
# Smallest and largest standard deviation between people, in logits: below the first, people are
# practically equal; with the second, most people are near one of the two bounds.
SPREAD = (0.1, 3.0)


class Group(NamedTuple):
    """A group: mean (..., p) and spread (..., p) in logits, log shares of depths (..., k)."""

    mean: Array
    spread: Array
    log_share: Array

    @classmethod
    def from_line(cls, lines: Any, num_free: int, xp: Any = np) -> Group:
        """Return the group at points (..., 2 p + k - 1) on the logit scale.

        Flat priors are logistic distributions there. Shares are coded by stick breaking.

        Parameters
        ----------
        lines, num_free
            The points, and p.
        xp
            NumPy, or ``jax.numpy``.
        """
        mean, spread, sticks = xp.split(lines, [num_free, 2 * num_free], axis=-1)
        # The part that is broken off, 1 - kept, is Beta(1, number of shares after it).
        log_kept = -xp.logaddexp(0.0, sticks) / xp.arange(sticks.shape[-1], 0, -1)
        edge = xp.zeros_like(lines[..., :1])
        log_left = xp.concatenate([edge, xp.cumsum(log_kept, axis=-1)], axis=-1)
        log_broken = xp.concatenate([xp.log(-xp.expm1(log_kept)), edge], axis=-1)
        low, high = SPREAD
        return cls(mean, low + (high - low) / (1.0 + xp.exp(-spread)), log_left + log_broken)


@dataclass(frozen=True, eq=False, repr=False)
class GroupFit:
    """A hierarchical fit.

    Attributes
    ----------
    fit : Fit
        Maximum-likelihood fits of the same people one by one.
    lines, people, depth : ndarray
        Draws of the posterior in chains (c) of draws (g), as they are made: (c, g, 2 p + k - 1),
        points for `Group.from_line`; (c, g, u, p), logits; (c, g, u), positions of depths.
    depth_probability : ndarray
        (u, k): the posterior of every person's depth.
    effective : ndarray
        (u,): the effective number of candidates behind the draws of every person (of draws with
        NUTS); values below 50 mean that the draws are poor.
    group_effective : ndarray
        The effective number of draws of the group, (1,); with NUTS one number for each quantity in
        `group`.
    r_hat : ndarray or None
        With NUTS: R-hat of each quantity in `group`.

    Examples
    --------
    >>> import cobayes as cb
    >>> family = cb.people.Family(depth=(0, 1), lapse=0.05)
    >>> cb.people.fit_group(*cb.people.example_study(), family, num_draws=100, rng=1)
    GroupFit(person: 3; responses: 15; depths: 0, 1; draws: 100)
    """

    fit: Fit
    lines: Array
    people: Array
    depth: Positions
    depth_probability: Array
    effective: Array
    group_effective: Array
    r_hat: Array | None = None

    @cached_property
    def draws(self) -> dict[str, Array]:
        """Draws of the posterior, with leading axes chain and draw.

        Of the group: ``median`` (p) in the units of the parameters, ``spread`` (p), the standard
        deviation of logits, and ``share`` (k). Of people: every free parameter (u), and
        ``person_depth`` (u).
        """
        family = self.fit.family
        group = Group.from_line(self.lines, len(family.columns))
        of_people = np.moveaxis(family.from_line(self.people), -1, 0)
        return {
            "median": family.from_line(group.mean),
            "spread": group.spread,
            "share": np.exp(group.log_share),
            "person_depth": np.array(family.depth, dtype=np.float64)[self.depth],
        } | dict(zip(family.free_names(), of_people, strict=True))

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row per person: likeliest depth, posterior means, 95 % intervals, depth posterior."""
        depths = self.fit.family.depth
        table = pd.DataFrame({"person": self.fit.units})
        table["depth"] = np.array(depths, dtype=np.float64)[self.depth_probability.argmax(axis=1)]
        for name in self.fit.family.free_names():
            table[[name, f"{name}_low", f"{name}_high"]] = _summary(self.draws[name])
        table[[f"depth_{depth:g}" for depth in depths]] = self.depth_probability
        return table.assign(effective=self.effective)

    @cached_property
    def group(self) -> pd.DataFrame:
        """The group: medians and spreads of the parameters, shares of depths, 95 % intervals."""
        names = self.fit.family.free_names()
        labels = {
            "median": [f"median {name}" for name in names],
            "spread": [f"spread {name}" for name in names],
            "share": [f"share of depth {depth:g}" for depth in self.fit.family.depth],
        }
        values = np.concatenate([self.draws[kind] for kind in labels], axis=2)
        index = [text for own in labels.values() for text in own]
        table = pd.DataFrame(_summary(values), index, ["estimate", "low", "high"])
        table["effective"] = np.broadcast_to(self.group_effective, len(table))
        return table if self.r_hat is None else table.assign(r_hat=self.r_hat)

    def to_arviz(self) -> Any:
        """Return the draws for ArviZ, with the coordinates person, depth and parameter."""
        arviz = import_optional("arviz_base", "people", "to_arviz()")
        names, depths = self.fit.family.free_names(), self.fit.family.depth
        return arviz.from_dict(
            {
                "posterior": self.draws,
                "constant_data": {
                    "depth_probability": self.depth_probability,
                    "effective": self.effective,
                },
            },
            coords={
                "person": [str(unit) for unit in self.fit.units],
                "depth": [f"{depth:g}" for depth in depths],
                "parameter": list(names),
            },
            dims={key: ["person"] for key in (*names, "person_depth", "effective")}
            | {"median": ["parameter"], "spread": ["parameter"], "share": ["depth"]}
            | {"depth_probability": ["person", "depth"]},
        )

    def plot(self, parameter: str = "rationality", *, ax: Any = None) -> Any:
        """Draw the shrinkage of a parameter: `cobayes.plots.plot_shrinkage`."""
        from cobayes.plots import plot_shrinkage

        return plot_shrinkage(self, parameter, ax=ax)

    def draw_next(self, count: int, random: np.random.Generator) -> tuple[Positions, Array]:
        """Return depths (positions) and parameters, (s, names), of new people from the group."""
        family, lines = self.fit.family, np.concatenate(self.lines)
        drawn = lines[random.integers(len(lines), size=count)]
        group = Group.from_line(drawn, len(family.columns))
        values = np.tile(family.low, (count, 1))
        z = random.standard_normal(group.mean.shape)
        values[:, family.columns] = family.from_line(group.mean + group.spread * z)
        return draw_many(np.exp(group.log_share), random.random(count)), values

    def __repr__(self) -> str:
        count = self.lines[..., 0].size
        return f"Group{repr(self.fit).rpartition(';')[0]}; draws: {count:,})"


def _summary(draws: Array) -> Array:
    """Return means and ends of 95 % intervals, (..., 3), of draws with axes chain and draw."""
    ends = np.quantile(draws, INTERVAL, axis=(0, 1))
    return np.stack([draws.mean(axis=(0, 1)), *ends], axis=-1)
