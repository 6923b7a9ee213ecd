"""What a model says about every response: the table of trials, posterior predictive checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import whole_number
from cobayes._runtime.randomness import generator
from cobayes.errors import CobayesError, import_optional
from cobayes.people._response import draw_many
from cobayes.people.likelihood import Likelihood
from cobayes.people.posterior import walk

if TYPE_CHECKING:
    import pandas as pd

    from cobayes.people.result import Fit

Array = NDArray[Any]

# Draws of the parameters, and sets of responses made from each.
NUM_DRAWS, NUM_REPLICATES = 100, 4
BAND = (0.025, 0.975)


def trial_columns(likelihood: Likelihood, parameters: Array) -> dict[str, Array]:
    """Return the added columns, one number for each row.

    ``rank`` is 1 for the likeliest option; options of equal probability share their mean rank.
    ``belief`` is in the truth (teachers), in the guessed or in the rated hypothesis (learners).
    Entropies and the information gain are in nats.
    """
    choices, response = likelihood.choices, likelihood.family.response
    rows = likelihood.rows(parameters)
    probability = likelihood.responses(parameters).probability
    before, after = likelihood.beliefs(parameters)
    answer = {"choice": choices.datum, "guess": choices.guess, "rating": choices.hypothesis}[
        response
    ]
    about = choices.guess if response == "guess" else choices.hypothesis
    every = np.arange(len(answer))
    own = probability[every, answer][:, None]
    available = np.isfinite(likelihood.options.log_base)
    above = ((probability > own * (1.0 + 1e-9)) & available).sum(axis=1)
    equal = ((np.abs(probability - own) <= 1e-9 * own) & available).sum(axis=1)
    gain = np.where(np.isfinite(after) & np.isfinite(before), after, 0.0) - np.where(
        np.isfinite(before), before, 0.0
    )
    return {
        "probability": own[:, 0],
        "log_likelihood": rows.value,
        "rank": above + 0.5 * (equal + 1.0),
        "belief": np.exp(before[every, about]),
        "belief_after": np.exp(after[every, about]),
        "entropy": _entropy(before),
        "entropy_after": _entropy(after),
        "information_gain": (np.exp(after) * np.where(np.isfinite(after), gain, 0.0)).sum(axis=1),
    }


def _entropy(logs: Array) -> Array:
    return -(np.exp(logs) * np.where(np.isfinite(logs), logs, 0.0)).sum(axis=1) + 0.0


def trial_table(likelihood: Likelihood, parameters: Array) -> pd.DataFrame:
    """Return the user's rows with the added columns.

    A column of the user's that has the name of an added one is kept as ``..._given``.
    """
    added = {"depth": likelihood.depth, **trial_columns(likelihood, parameters)}
    frame = likelihood.choices.frame
    clashes = {name: f"{name}_given" for name in frame.columns if name in added}
    return frame.rename(columns=clashes).assign(**added)


def predictions(fit: Fit, *, num_draws: int = NUM_DRAWS, rng: Any = 0) -> pd.DataFrame:
    """Return how often every option was expected and how often it was chosen.

    A posterior predictive check: parameters are drawn from the posterior under flat priors (as in
    ``fit.to_arviz``; every unit keeps its best depth), and every response is made again from
    them, given what was shown before it.

    Parameters
    ----------
    fit
        Of choices or guesses.
    num_draws, rng
        Draws of the parameters, each with four sets of responses, and their seed.

    Returns
    -------
    DataFrame
        One row per problem, truth, round within the lesson (counted from 1) and option:
        ``num_responses``; ``predicted`` with ``predicted_low`` and ``predicted_high``, between
        which 95 % of the replicated frequencies lie; and ``observed``. An option that was not
        available has 0.

    Examples
    --------
    >>> from cobayes import people
    >>> fit = people.fit(*people.example_study(), people.Family(depth=(0, 1)))
    >>> people.predictions(fit).columns[-4:].tolist()
    ['predicted', 'predicted_low', 'predicted_high', 'observed']
    """
    pandas = import_optional("pandas", "people", "a table of predictions")
    response = _require_options(fit)
    given_name, option_name = (
        ("hypothesis", "datum") if response == "choice" else ("datum", "guess")
    )
    check = _replicate(fit, num_draws, rng)
    groups: dict[tuple[str, int, int], list[int]] = {}
    given = getattr(fit.choices, given_name)
    for row, problem in enumerate(fit.choices.problem):
        key = (problem.name, int(given[row]), len(fit.choices.history[row]) + 1)
        groups.setdefault(key, []).append(row)
    records = []
    for (name, shown, number), rows in sorted(groups.items()):
        model = fit.choices.problem[rows[0]].model
        labels, options = model.hypotheses, model.data
        if response == "guess":
            labels, options = options, labels
        count = len(options)
        counts = [np.bincount(drawn, minlength=count) for drawn in check.drawn[:, rows]]
        low, high = np.quantile(counts, BAND, axis=0) / len(rows)
        expected = check.mean[rows, :count].mean(axis=0)
        observed = np.bincount(check.answer[rows], minlength=count) / len(rows)
        records += [
            (name, labels[shown], number, option, len(rows), *values)
            for option, *values in zip(options, expected, low, high, observed, strict=True)
        ]
    names = ["problem", given_name, "round", option_name, "num_responses"]
    return pandas.DataFrame(
        records, columns=[*names, "predicted", "predicted_low", "predicted_high", "observed"]
    )


def calibration(
    fit: Fit, num_bins: int = 10, *, num_draws: int = NUM_DRAWS, rng: Any = 0
) -> pd.DataFrame:
    """Return observed frequencies of options that were predicted with similar probability.

    A posterior predictive check like `predictions`, over all problems: an observed frequency
    outside of its band is one that the fitted model would rarely produce.

    Parameters
    ----------
    fit
        Of choices or guesses.
    num_bins
        Bins with about equal numbers of predicted responses.
    num_draws, rng
        As in `predictions`.

    Returns
    -------
    DataFrame
        One row per bin: ``predicted`` with the 95 % band from ``predicted_low`` to
        ``predicted_high``, ``observed`` and ``num_options``.

    Examples
    --------
    >>> from cobayes import people
    >>> fit = people.fit(*people.example_study(), people.Family(depth=(0, 1)))
    >>> people.calibration(fit, num_bins=4).shape
    (4, 5)
    """
    whole_number(num_bins, "num_bins", 1)
    pandas = import_optional("pandas", "people", "a table of predictions")
    _require_options(fit)
    check = _replicate(fit, num_draws, rng)
    row, option = np.nonzero(check.available)
    order = np.argsort(check.fitted[row, option], kind="stable")
    row, option = row[order], option[order]
    # Every bin holds the same expected number of responses, so that rare options are pooled.
    share = np.cumsum(check.fitted[row, option])
    bins = np.minimum((share / share[-1] * num_bins).astype(int), num_bins - 1)
    sizes = np.bincount(bins, minlength=num_bins)
    of_option = np.zeros(check.fitted.shape, dtype=np.int64)
    of_option[row, option] = bins
    every = np.arange(len(of_option))
    replicated = np.array(
        [np.bincount(of_option[every, drawn], minlength=num_bins) for drawn in check.drawn]
    )
    used = sizes > 0
    low, high = np.quantile(replicated[:, used], BAND, axis=0) / sizes[used]
    hits = np.bincount(of_option[every, check.answer], minlength=num_bins)
    expected = np.bincount(bins, weights=check.mean[row, option], minlength=num_bins)
    return pandas.DataFrame(
        {
            "predicted": expected[used] / sizes[used],
            "predicted_low": low,
            "predicted_high": high,
            "observed": hits[used] / sizes[used],
            "num_options": sizes[used],
        }
    )


class _Replicates(NamedTuple):
    """Responses (t) with options (k), and what the model would have answered in s replicates.

    Attributes
    ----------
    fitted, mean : ndarray
        (t, k): probabilities at the estimates, and their mean over the posterior.
    available : ndarray
        (t, k).
    answer, drawn : ndarray
        (t,) and (s, t): positions of the options answered, and answered in each replicate.
    """

    fitted: Array
    mean: Array
    available: Array
    answer: Array
    drawn: Array


def _replicate(fit: Fit, num_draws: int, rng: Any) -> _Replicates:
    whole_number(num_draws, "num_draws", 1)
    random = generator(rng)
    rows = len(fit.choices)
    answer = fit.choices.datum if fit.family.response == "choice" else fit.choices.guess
    parts = list(fit.at_best())
    widest = max(part.likelihood.options.log_base.shape[1] for part in parts)
    fitted, mean = np.zeros((rows, widest)), np.zeros((rows, widest))
    available = np.zeros((rows, widest), dtype=bool)
    drawn = np.empty((num_draws, NUM_REPLICATES, rows), dtype=np.int64)
    for part in parts:
        likelihood, own = part.likelihood, part.rows
        base = likelihood.options.log_base
        columns = slice(base.shape[1])
        available[own, columns] = np.isfinite(base)
        at_best = likelihood.responses(part.parameters, with_derivatives=False)
        fitted[own, columns] = at_best.probability
        for number, (values, _) in enumerate(walk(likelihood, part.parameters, num_draws, random)):
            found = likelihood.responses(values, with_derivatives=False).probability
            mean[own, columns] += found / num_draws
            for place in range(NUM_REPLICATES):
                drawn[number, place, own] = draw_many(found, random.random(len(own)))
    return _Replicates(fitted, mean, available, answer, drawn.reshape(-1, rows))


def _require_options(fit: Fit) -> str:
    if fit.family.response == "rating":
        raise CobayesError(
            "ratings have no options to count.",
            "compare the columns 'belief_after' and 'rating' of fit.trials.",
        )
    return fit.family.response
