"""Score responses with given parameters; fit free parameters by person, pooled, or as a group."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import chdtri

from cobayes._input.labels import shorten
from cobayes._input.validation import generator, number_between, one_of, whole_number
from cobayes.errors import CobayesError, import_optional, warn_user
from cobayes.people.choices import Choices, read_choices, read_problems
from cobayes.people.family import Family, as_family
from cobayes.people.groups import SPREAD, GroupFit, draw_group
from cobayes.people.likelihood import Likelihood
from cobayes.people.maximise import Maximum, climb, profile
from cobayes.people.nuts import draw_by_nuts
from cobayes.people.problems import Array, Positions
from cobayes.people.result import Estimates, Fit, Progress, group_rows, teller, trial_table
from cobayes.people.tables import row_of

# Responses per chunk. With this number, and 36 options per response, the arrays of one evaluation
# fit the processor's cache.
CHUNK_ROWS = 4_000
# Draws by Laplace's method that centre and scale the coordinates of NUTS.
NUM_GUESSES = 500
# `fit_group` warns if the group's draws are worth fewer independent draws than this share of
# `num_draws`.
LEAST_EFFECTIVE = 0.05
# `fit_group` warns if a person's `GroupFit.effective` is below FEWEST_EFFECTIVE, or if a spread (in
# logits) is less than NEAR_BOUND away from a limit of `SPREAD`.
FEWEST_EFFECTIVE, NEAR_BOUND = 50, 0.1
# An eigenvalue of the expected information per response counts as zero if it is below this. The
# unit of each parameter is the distance between its bounds.
NO_INFORMATION = 1e-9


def score(
    choices: Any,
    problems: Any,
    depth: float = 1,
    rationality: float = 1.0,
    lapse: float = 0.0,
    *,
    priors: Any = None,
    **settings: Any,
) -> pd.DataFrame:
    """Return the responses with their probabilities and beliefs, for given parameters.

    The added columns are ``depth``, ``probability`` and ``log_likelihood`` of the response, and
    ``rank`` of the chosen option (1: the likeliest; ties share their mean rank). ``belief`` and
    ``belief_after`` are the learner's belief in the truth before and after the datum; for guesses
    and ratings, the belief in the guessed or rated hypothesis. ``entropy`` and ``entropy_after``
    are the entropies of the whole belief, and ``information_gain`` is the Kullback-Leibler
    divergence of the later belief from the earlier one, all in nats. For ratings, ``probability``
    is the model's rating without noise, and ``rank`` is that of the rated hypothesis;
    ``log_likelihood`` is the logarithm of a density, or of a probability for the ratings 0 and 1. A
    user's column that has the name of an added column is renamed: ``rank`` becomes ``rank_given``.

    Parameters
    ----------
    choices
        A table (DataFrame, mapping or file) with the columns person, round and, if there are
        several problems, problem. Choices also have hypothesis and datum; guesses have datum and
        guess; ratings have datum, hypothesis and rating. With a column ``count``, each row stands
        for ``count`` equal responses, each in the first round of a lesson; person and round are
        then not needed.
    problems
        A mapping from name to matrix or task, a folder of model files, or one file, matrix or task.
    depth, rationality, lapse
        As in `Family`.
    priors
        A mapping from problem ("*" if it has no name) to prior, or a table (or file) with the
        columns problem, hypothesis and prior. Without the column problem, all problems have the
        same prior. Uniform by default.
    **settings
        Further settings of `Family`, with numbers for all parameters; ``noise`` is 0.1 by default.

    Returns
    -------
    DataFrame
        One row per response, with the columns named above.

    Examples
    --------
    >>> from cobayes import people
    >>> choices = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [0]}
    >>> people.score(choices, [[0.5, 0.2], [0.5, 0.8]])["probability"].round(3).tolist()
    [0.65]
    """
    if settings.get("response") == "rating":
        settings.setdefault("noise", 0.1)
    family = Family(depth=depth, rationality=rationality, lapse=lapse, **settings)
    free = family.free_names()
    if free or len(family.depth) > 1:
        raise CobayesError(
            f"{(*free, 'depth')[0]} is not a single number; a score needs one for each parameter.",
            "give one number for each parameter, or use people.fit to estimate parameters.",
        )
    table = read_choices(choices, read_problems(problems, priors), family.response)
    likelihood = Likelihood(table, family, family.depth[0], [np.arange(len(table))])
    return trial_table(likelihood, np.empty((1, 0)))


def fit(
    choices: Any,
    problems: Any,
    family: Family | None = None,
    by: str | None = "person",
    *,
    priors: Any = None,
    intervals: str | None = "profile",
    confidence: float = 0.95,
    num_starts: int = 4,
    progress: Progress | None = None,
) -> Fit:
    """Estimate a family's parameters by maximum likelihood.

    Parameters
    ----------
    choices, problems, priors
        As in `score`.
    family
        The family of models; by default `Family()`, with the depths 0, 1, 2 and infinity.
    by
        The column whose values are the units: each unit has a separate fit. None pools all people.
    intervals
        "profile" (profile likelihood and chi-squared quantile), "information" (normal
        approximation; faster, but its coverage is too low for parameters near a bound, such as
        small lapses) or None (no intervals).
    confidence
        Confidence level of the intervals.
    num_starts
        The number of starting points for each unit and depth. In simulated studies, 4 starting
        points missed the highest maximum by more than 0.001 for 0 to 2.5 % of the people (most with
        two features and 10 choices per person); 12 found it for almost all.
    progress
        A function that is called with a text and the finished share, 0 to 1.

    Returns
    -------
    Fit
        Estimates with intervals, and log-likelihoods and regressors of every trial.

    Examples
    --------
    >>> from cobayes import people
    >>> problems = {"coins": [[0.9, 0.5], [0.1, 0.5]]}
    >>> truth = {"depth": 1, "rationality": 2.0, "lapse": 0.0}
    >>> choices = people.simulate(truth, problems, num_people=3, num_rounds=20, rng=1)
    >>> people.fit(choices, problems, people.Family(depth=1, lapse=0.0))  # doctest: +ELLIPSIS
    Fit(person: 3; responses: 60; depths: 1; log-likelihood: ...)
    """
    family = as_family(family)
    one_of(intervals, "intervals", ("profile", "information", None))
    number_between(confidence, "confidence", 0.0, 1.0)
    whole_number(num_starts, "num_starts", 1)
    known = read_problems(problems, priors)
    table = read_choices(choices, known, family.response)
    units, groups = group_rows(table, by)
    tell, count = teller(progress), len(family.depth) + 1
    likelihoods, maxima = {}, []
    # A chunk consists of successive units that have about CHUNK_ROWS responses in total.
    chunk = np.cumsum([len(rows) for rows in groups]) // CHUNK_ROWS
    chunks = [np.flatnonzero(chunk == number) for number in np.unique(chunk)]
    for number, depth in enumerate(family.depth):
        tell(f"depth {depth:g}", number / count)
        whole = likelihoods[depth] = Likelihood(table, family, depth, groups)
        climbs = [climb(whole.take(own), num_starts) for own in chunks]
        maxima.append(Maximum(*(np.concatenate(parts) for parts in zip(*climbs, strict=True))))
    _require_possible(np.max([found.value for found in maxima], axis=0), table, family, groups)
    tell("intervals", 1.0 - 1.0 / count)
    estimates = _collect(maxima, list(likelihoods.values()), intervals, confidence)
    tell("done", 1.0)
    return Fit(family, table, known, by, units, groups, estimates, likelihoods)


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
    """Fit a hierarchical model: people's parameters are normally distributed around a group mean.

    The less information a person's responses carry, the closer the person's estimate is to the
    group mean. A person's likelihood is the mean over depths, weighted by the depths' shares.

    Parameters
    ----------
    choices, problems, priors
        As in `score`.
    family
        As in `fit`. Parameters are normally distributed after a logit transform of their position
        between the bounds.
    method
        "laplace": a normal approximation for every person at every depth, corrected by importance
        sampling. "nuts": four chains of NumPyro's sampler (``pip install '.[people-groups]'``),
        which take several times as long. With ratings, or if `prior_temperature`,
        `inner_rationality` or a learner's `rationality` is free, NUTS is slower by a further factor
        of ten.
    rng
        Anything that `numpy.random.default_rng` accepts.
    num_draws
        The number of draws of the posterior. With NUTS, let N be the larger of this number and 800.
        The four chains together make at least N draws. They continue until every R-hat is below
        1.01, up to about 4 N draws.
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
            "the family has one depth and no free parameter.",
            "give bounds to a parameter, such as rationality=(0.0, 20.0), or several depths.",
        )
    if method == "nuts":
        guess = draw_group(alone, NUM_GUESSES, random, part("", 0.2, 0.3))
        found = draw_by_nuts(alone, guess, num_draws, random, part("NUTS, ", 0.3, 1.0))
    else:
        found = draw_group(alone, num_draws, random, part("", 0.2, 1.0))
        if (effective := found.group_effective.min()) < LEAST_EFFECTIVE * num_draws:
            warn_user(
                f"the {num_draws} draws of the group are worth {effective:.0f} independent draws, "
                'so estimates are inaccurate; use method="nuts", or free fewer parameters.'
            )
    few = [str(alone.units[place]) for place in np.flatnonzero(found.effective < FEWEST_EFFECTIVE)]
    if few:
        warn_user(
            f"persons with fewer than {FEWEST_EFFECTIVE} effective draws: {shorten(few)}; their "
            "estimates are inaccurate."
        )
    low, high = SPREAD[0] + NEAR_BOUND, SPREAD[1] - NEAR_BOUND
    spreads = zip(alone.family.free_names(), found.draws["spread"].mean(axis=(0, 1)), strict=True)
    if limited := [f"spread {name}" for name, own in spreads if not low < own < high]:
        warn_user(
            f"{shorten(limited)} is near the limit of spreads ({SPREAD[0]:g} or {SPREAD[1]:g}): "
            "fix the parameter if people do not differ; widen the parameter's bounds if estimates "
            "lie at them."
        )
    tell("done", 1.0)
    return found


def _collect(
    maxima: list[Maximum], likelihoods: list[Likelihood], intervals: str | None, confidence: float
) -> Estimates:
    """Return the estimates at all depths, with intervals at each unit's best depth only."""
    family, num_units = likelihoods[0].family, len(maxima[0].value)
    shape = (num_units, len(maxima), len(family.names))
    estimates = Estimates(
        np.tile(family.low, (*shape[:2], 1)),
        np.stack([found.value for found in maxima], axis=1),
        np.zeros(shape, dtype=bool),
        np.stack([found.is_converged for found in maxima], axis=1),
        *np.full((2, *shape[::2]), np.nan),
    )
    for number, (likelihood, found) in enumerate(zip(likelihoods, maxima, strict=True)):
        columns, low, high = likelihood.columns, likelihood.low, likelihood.high
        # Estimates that differ from a bound only by rounding are set to the bound.
        values, near = found.parameters, 1e-9 * (high - low)
        values = np.where(values - low < near, low, values)
        estimates.parameters[:, number, columns] = np.where(high - values < near, high, values)
        known = estimates.is_identified[:, number, columns] = _identified(likelihood, found)
        units = np.flatnonzero(estimates.best == number)
        if intervals is not None and len(units) and columns:
            parts: Any = (part[units] for part in found)
            own = likelihood.take(units), Maximum(*parts)
            ends = _interval_ends(*own, known[units], intervals, confidence)
            estimates.low[units[:, None], columns], estimates.high[units[:, None], columns] = ends
    return estimates


def _identified(likelihood: Likelihood, found: Maximum) -> NDArray[np.bool_]:
    """Return whether the responses identify each parameter, (units, parameters).

    If the responses have no information about a linear combination of the parameters, no
    parameter in this combination is identified.
    """
    width = likelihood.high - likelihood.low
    counts = np.bincount(likelihood.units)[:, None, None]
    sizes, directions = np.linalg.eigh(found.information * width * width[:, None] / counts)
    involved = (np.abs(directions) > 0.1) & (sizes < NO_INFORMATION)[:, None, :]
    return np.asarray(~involved.any(axis=2))


def _interval_ends(
    likelihood: Likelihood, found: Maximum, is_identified: Any, kind: str, confidence: float
) -> Array:
    """Return the lower and the upper ends of the intervals, (2, units, parameters).

    The interval of a parameter that is not identified goes from bound to bound.
    """
    low, high = likelihood.low, likelihood.high
    quantile = float(chdtri(1, 1.0 - confidence))
    bounds = np.stack([low, high])
    if kind == "profile":
        ends = [
            [profile(likelihood, found, *at, 0.5 * quantile) for at in enumerate(own)]
            for own in bounds
        ]
        ends = np.array(ends).transpose(0, 2, 1)
    else:
        covariance = np.linalg.pinv(found.information, rcond=1e-12, hermitian=True)
        errors = np.sqrt(quantile * np.maximum(np.einsum("upp->up", covariance), 0.0))
        ends = np.stack([found.parameters - errors, found.parameters + errors])
    return np.where(is_identified, np.clip(ends, low, high), bounds[:, None])


def _require_possible(
    value: Array, table: Choices, family: Family, groups: Sequence[Positions]
) -> None:
    """Raise an error if some unit's responses are impossible at every depth."""
    rows = [rows for rows, own in zip(groups, value, strict=True) if not np.isfinite(own)]
    if not rows:
        return
    rows, known = np.concatenate(rows), table.situations
    message = "some responses are impossible at every depth of the family"
    hint = "allow finite depths if the only depth is infinite"
    if family.is_teacher:
        index, datum = known.tables.index[known.at[rows]], table.datum[rows]
        gone = rows[np.isneginf(known.tables.log_data_prior[index, datum])]
        if len(gone):
            label = known.problems[known.at[gone[0]]].model.data[table.datum[gone[0]]]
            raise CobayesError(
                f"{row_of(table.frame, gone[0])}: datum {label!r} is not available in the "
                "problem's task.",
                "give the matrix itself as the problem (omit --no-repeats), or drop the row.",
            )
        ruled_out = rows[np.isneginf(known.tables.log_matrix[index, datum, table.hypothesis[rows]])]
        if len(ruled_out):
            rows, hint = ruled_out, "drop these rows"
            message = (
                f"{row_of(table.frame, rows[0])}: the datum is impossible under the truth (such "
                f"responses: {len(rows)}), and without a lapse they have probability zero"
            )
    if "person" in table.frame.columns:
        people = table.frame["person"].iloc[rows].astype(str).unique()
        message += f"; persons: {shorten(people.tolist())}"
    raise CobayesError(f"{message}.", f"free the lapse, lapse=(0.0, 0.5), or {hint}.")
