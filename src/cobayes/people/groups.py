"""Hierarchical fits: people's parameters come from a group distribution, estimated jointly.

On the logit scale (`Likelihood.from_line`: logits of the positions between the bounds) people's
parameters are normally distributed around the group's mean; every depth has a share of people.
Priors are flat: for the group's median between the bounds, for its standard deviation in logits
within `cobayes.people.candidates.SPREAD`, and for the shares of depths (a Dirichlet distribution
with all parameters one).

Axes: people (u), depths (k), free parameters (p).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd

from cobayes._input.validation import generator, one_of, whole_number
from cobayes.errors import CobayesError, import_optional, warn_user
from cobayes.people.candidates import Group, draw_group
from cobayes.people.family import Family, depth_name
from cobayes.people.fit import Progress, fit, teller
from cobayes.people.model import draw_many
from cobayes.people.nuts import draw_by_nuts
from cobayes.people.problems import Array, Positions
from cobayes.people.result import Fit

INTERVAL = (0.025, 0.975)
# The number of draws of Laplace's method from which NUTS starts.
NUM_GUESSES = 500
# Importance sampling has failed if the effective number of draws is below this share of all draws.
LEAST_EFFECTIVE = 0.05


@dataclass(frozen=True, eq=False, repr=False)
class GroupFit:
    """A hierarchical fit.

    Attributes
    ----------
    fit : Fit
        Maximum-likelihood fits of the same people one by one.
    draws : dict of ndarray
        Draws of the posterior, with leading axes chain and draw. Of the group: ``median`` (p) in
        the units of the parameters, ``spread`` (p), the standard deviation of logits, and ``share``
        (k). Of people: every free parameter (u), and ``person_depth`` (u).
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
    draws: dict[str, Array]
    depth_probability: Array
    effective: Array
    group_effective: Array
    r_hat: Array | None = None

    @cached_property
    def estimates(self) -> pd.DataFrame:
        """One row per person: likeliest depth, posterior means, 95 % intervals, depth posterior."""
        depths = self.fit.family.depth
        columns: dict[str, Any] = {"person": self.fit.units}
        columns["depth"] = np.array(depths, dtype=np.float64)[self.depth_probability.argmax(axis=1)]
        for name in self.fit.family.free_names():
            values = self.draws[name]
            columns[name] = values.mean(axis=(0, 1))
            ends = np.quantile(values, INTERVAL, axis=(0, 1))
            columns[f"{name}_low"], columns[f"{name}_high"] = ends
        for number, depth in enumerate(depths):
            columns[f"depth_{depth_name(depth)}"] = self.depth_probability[:, number]
        return pd.DataFrame(columns | {"effective": self.effective})

    @cached_property
    def group(self) -> pd.DataFrame:
        """The group: medians and spreads of the parameters, shares of depths, 95 % intervals."""
        names = self.fit.family.free_names()
        labels = {
            "median": [f"median {name}" for name in names],
            "spread": [f"spread {name}" for name in names],
            "share": [f"share of depth {depth_name(depth)}" for depth in self.fit.family.depth],
        }
        values = np.concatenate([self.draws[kind] for kind in labels], axis=2)
        low, high = np.quantile(values, INTERVAL, axis=(0, 1))
        columns = {"estimate": values.mean(axis=(0, 1)), "low": low, "high": high}
        columns["effective"] = np.broadcast_to(self.group_effective, low.shape)
        if self.r_hat is not None:
            columns["r_hat"] = self.r_hat
        return pd.DataFrame(columns, index=[text for own in labels.values() for text in own])

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
                "depth": [depth_name(depth) for depth in depths],
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
        family = self.fit.family
        median, spread, share = (
            self.draws[name].reshape(-1, self.draws[name].shape[-1])
            for name in ("median", "spread", "share")
        )
        drawn = random.integers(len(share), size=count)
        line = family.to_line(median[drawn])
        line += spread[drawn] * random.standard_normal(line.shape)
        values = np.tile(family.low, (count, 1))
        values[:, family.columns] = family.from_line(line)
        return draw_many(share[drawn], random.random(count)), values

    def __repr__(self) -> str:
        count = self.draws["share"][..., 0].size
        return f"Group{repr(self.fit).rpartition(';')[0]}; draws: {count:,})"


def fit_group(
    choices: Any,
    problems: Any,
    family: Family | None = None,
    method: Literal["laplace", "nuts"] = "laplace",
    rng: Any = None,
    *,
    priors: Any = None,
    num_draws: int = 1000,
    progress: Progress | None = None,
) -> GroupFit:
    """Fit a hierarchical model: people's parameters are normal around their group's.

    Estimates of people with little information in their responses are shrunk towards the group. The
    likelihood is summed over a person's possible depths.

    Parameters
    ----------
    choices, problems, priors
        As in `score`.
    family
        As in `fit`. The normal distributions are those of logits between the family's bounds.
    method
        "laplace": a normal approximation for every person at every depth, corrected by importance
        sampling. "nuts": four chains of NumPyro's sampler (``pip install '.[people-groups]'``),
        which take several times longer; with ratings, or free parameters of the learner in mind,
        ten times longer still.
    rng
        Anything that `numpy.random.default_rng` takes.
    num_draws
        The number of draws of the posterior. Chains of NUTS have at least 800 draws, and continue
        until R-hat is below 1.01, for at most four times `num_draws`.
    progress
        A function that is called with a text and the finished share, 0 to 1.

    Returns
    -------
    GroupFit
        Estimates of people and of the group, and draws.

    Examples
    --------
    >>> from cobayes import people
    >>> family = people.Family(depth=(0, 1), lapse=0.05)
    >>> found = people.fit_group(*people.example_study(), family, num_draws=100, rng=1)
    >>> found.group.index.tolist()
    ['median rationality', 'spread rationality', 'share of depth 0', 'share of depth 1']
    """
    one_of(method, "method", ("laplace", "nuts"))
    if method == "nuts":
        import_optional("numpyro", "people-groups", 'method="nuts"')
    whole_number(num_draws, "num_draws", 1)
    random, tell = generator(rng), teller(progress)

    def part(what: str, first: float, last: float) -> Progress:
        return lambda text, share: tell(f"{what}{text}", first + (last - first) * share)

    one_by_one = part("one by one, ", 0.0, 0.2)
    alone = fit(choices, problems, family, priors=priors, intervals=None, progress=one_by_one)
    if len(alone.family.depth) == 1 and not alone.family.free_names():
        raise CobayesError(
            "the family has one depth and no free parameter.", "free one: rationality=(0.0, 20.0)."
        )
    if method == "nuts":
        guess = draw_group(alone, NUM_GUESSES, random, part("", 0.2, 0.3))
        found = draw_by_nuts(alone, guess, num_draws, random, part("NUTS, ", 0.3, 1.0))
    else:
        found = draw_group(alone, num_draws, random, part("", 0.2, 1.0))
        if (effective := found.group_effective.min()) < LEAST_EFFECTIVE * num_draws:
            warn_user(
                f"the {num_draws} draws of the group are worth {effective:.0f} independent ones: "
                'the approximation is poor here; use method="nuts", or free fewer parameters.'
            )
    tell("done", 1.0)
    return GroupFit(alone, _named(alone.family, *found[:3]), *found[3:])


def _named(family: Family, lines: Array, people: Array, depth: Positions) -> dict[str, Array]:
    """Return draws by name, in the units of the parameters."""
    group = Group.from_line(lines, len(family.columns))
    draws = {
        "median": family.from_line(group.mean),
        "spread": group.spread,
        "share": np.exp(group.log_share),
        "person_depth": np.array(family.depth, dtype=np.float64)[depth],
    }
    of_people = np.moveaxis(family.from_line(people), -1, 0)
    return draws | dict(zip(family.free_names(), of_people, strict=True))
