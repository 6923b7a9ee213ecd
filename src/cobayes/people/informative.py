"""The most informative trials: expected information gain about a person from one response."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from cobayes._input.validation import generator, whole_number
from cobayes.errors import CobayesError
from cobayes.people.choices import read_choices, read_problems
from cobayes.people.family import Family
from cobayes.people.groups import GroupFit
from cobayes.people.likelihood import Likelihood
from cobayes.people.model import draw_many
from cobayes.people.problems import Array, Positions
from cobayes.people.result import Fit
from cobayes.people.simulate import draw_people

# A parameter is known by the interval that it lies in, one of this number with equal probability.
# With more, the mean response in each would come from too few draws.
NUM_INTERVALS = 20
# The number of probabilities of responses that are in memory at once.
CHUNK = 2_000_000


def informative(
    problems: Any,
    family: Family | None = None,
    about: str = "depth",
    given: Fit | GroupFit | None = None,
    rng: Any = None,
    *,
    priors: Any = None,
    num_draws: int = 4000,
) -> pd.DataFrame:
    """Rank trials by the expected information gain, in nats, from one response of a person.

    The expected information gain is the mutual information of the response and the depth (or a
    parameter, in twenty intervals): the sum over responses is exact, the mean over parameters is
    over random draws.

    Parameters
    ----------
    problems, priors
        As in `score`.
    family
        As in `fit`, of choices or guesses; by default that of ``given``.
    about
        "depth", or a free parameter such as "rationality".
    given
        Prior knowledge about people: a `GroupFit` (a new person of this group) or a `Fit` (its
        people, whose depths are weighted by BIC). By default depths are drawn evenly, rationality
        between 1 and 6, the lapse below 0.2 and weights between -2 and 2.
    rng
        Anything that `numpy.random.default_rng` takes.
    num_draws
        The number of draws of people.

    Returns
    -------
    DataFrame
        One row per trial, best first: ``problem``, ``hypothesis`` (the truth that a teacher is
        given) or ``datum`` (the first one that a learner sees), and ``nats``.

    Examples
    --------
    >>> from cobayes import people
    >>> family = people.Family(depth=(0, 1), lapse=0.05)
    >>> table = people.informative({"p": [[3, 1], [1, 2], [1, 1]]}, family, rng=1)
    >>> table["hypothesis"].tolist()
    ['1', '0']
    """
    fit = given.fit if isinstance(given, GroupFit) else given
    if family is None:
        family = Family() if fit is None else fit.family
    elif fit and (fit.family.names, fit.family.depth) != (family.names, family.depth):
        raise CobayesError("the fit has other depths or parameters than the family.")
    if family.response == "rating":
        raise CobayesError("ratings have no options to sum over.", 'use response="guess".')
    if about not in (("depth",) if len(family.depth) > 1 else ()) + family.free_names():
        raise CobayesError(
            f"about is {about!r}, which is fixed in the family.",
            "choose 'depth' (with several depths) or a free parameter.",
        )
    whole_number(num_draws, "num_draws", NUM_INTERVALS)
    depth, values = _draw(family, given, num_draws, generator(rng))
    known = read_problems(problems, priors)
    shown = "hypothesis" if family.is_teacher else "datum"
    trials = [(name, label) for name, own in known.items() for label in own.labels(shown)]
    frame = pd.DataFrame(trials, columns=["problem", shown])
    # What is answered does not matter: the probabilities of all options are asked for.
    answer, kind = ("datum", "datum") if family.is_teacher else ("guess", "hypothesis")
    frame[answer] = [known[name].labels(kind)[0] for name in frame["problem"]]
    table = read_choices(frame.assign(count=1), known, family.response)
    label = depth
    if about != "depth":
        order = np.argsort(np.argsort(values[:, family.names.index(about)], kind="stable"))
        label = order * NUM_INTERVALS // num_draws
    counts = np.bincount(label)
    size = max(len(own.labels(kind)) for own in known.values())
    # Sums of the probabilities of all options over the people with each label.
    sums = np.zeros((len(counts), len(table), size))
    for place, own in enumerate(family.depth):
        likelihood = Likelihood(table, family, own, [np.arange(len(table))])
        people = np.flatnonzero(depth == place)
        for chunk in np.array_split(people, 1 + len(people) * sums[0].size // CHUNK):
            many = likelihood.take(np.zeros(len(chunk), dtype=np.int64))
            found, _ = many.responses(values[chunk][:, likelihood.columns], with_derivatives=False)
            np.add.at(sums, label[chunk], found.reshape(-1, *sums.shape[1:]))
    present = counts > 0
    share, sums = counts[present] / num_draws, sums[present]
    given_label = special.entr(sums / counts[present][:, None, None]).sum(axis=2)
    nats = special.entr(sums.sum(axis=0) / num_draws).sum(axis=1) - share @ given_label
    found = frame[["problem", shown]].assign(nats=np.maximum(nats, 0.0))
    return found.sort_values("nats", ascending=False, kind="stable", ignore_index=True)


def _draw(
    family: Family, given: Fit | GroupFit | None, count: int, random: np.random.Generator
) -> tuple[Positions, Array]:
    """Return the positions of depths (s,) and all parameters (s, names) of people."""
    if given is None:
        table = draw_people(family, count, {}, random)
        depth = np.searchsorted(family.depth, table["depth"].to_numpy())
        return depth, table[list(family.names)].to_numpy()
    if isinstance(given, GroupFit):
        return given.draw_next(count, random)
    found = given.arrays
    sizes = np.log([len(rows) for rows in given.groups])[:, None]
    weights = special.softmax(found.value - 0.5 * found.is_identified.sum(axis=2) * sizes, axis=1)
    person = random.integers(len(weights), size=count)
    depth = draw_many(weights[person], random.random(count))
    return depth, found.parameters[person, depth]
