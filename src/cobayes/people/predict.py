"""What a model says about every response: the table of trials, predicted against observed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import whole_number
from cobayes._intervals import wilson_interval
from cobayes.errors import CobayesError, import_optional
from cobayes.people.choices import Choices
from cobayes.people.likelihood import Likelihood

if TYPE_CHECKING:
    import pandas as pd

    from cobayes.people.result import Fit

Array = NDArray[Any]


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


def predictions(fit: Fit) -> pd.DataFrame:
    """Return how often every option was expected and how often it was chosen.

    Parameters
    ----------
    fit
        Of choices or guesses.

    Returns
    -------
    DataFrame
        One row per problem, truth, round within the lesson (counted from 1) and option:
        ``num_responses``, ``predicted`` and ``observed`` (both frequencies between 0 and 1; an
        option that was not available has 0).

    Examples
    --------
    >>> import cobayes as cb
    >>> problems = {"p": cb.read_model("example:gestures")}
    >>> truth = {"depth": 1, "rationality": 2.0, "lapse": 0.05}
    >>> choices = cb.people.simulate(truth, problems, num_people=3, num_rounds=5, rng=1)
    >>> fit = cb.people.fit(choices, problems, cb.people.Family(depth=(0, 1), lapse=0.05))
    >>> list(cb.people.predictions(fit).columns)
    ['problem', 'hypothesis', 'round', 'datum', 'num_responses', 'predicted', 'observed']
    """
    pandas = import_optional("pandas", "people", "a table of predictions")
    response = _require_options(fit)
    totals: dict[tuple[str, int, int], list[Any]] = {}
    for choices, probability, answers, _ in _parts(fit):
        given = choices.hypothesis if response == "choice" else choices.datum
        for row, problem in enumerate(choices.problem):
            key = (problem.name, int(given[row]), len(choices.history[row]) + 1)
            entry = totals.setdefault(key, [problem, 0, 0.0, 0.0])
            entry[1] += 1
            entry[2] = entry[2] + probability[row]
            entry[3] = entry[3] + (np.arange(probability.shape[1]) == answers[row])
    records = []
    for (name, shown, number), (problem, count, expected, observed) in sorted(
        totals.items(), key=lambda item: item[0]
    ):
        model = problem.model
        options = model.data if response == "choice" else model.hypotheses
        labels = model.hypotheses if response == "choice" else model.data
        for position, option in enumerate(options):
            records.append(
                (
                    name,
                    labels[shown],
                    number,
                    option,
                    count,
                    expected[position] / count,
                    observed[position] / count,
                )
            )
    given_name, option_name = (
        ("hypothesis", "datum") if response == "choice" else ("datum", "guess")
    )
    return pandas.DataFrame(
        records,
        columns=[
            "problem",
            given_name,
            "round",
            option_name,
            "num_responses",
            "predicted",
            "observed",
        ],
    )


def calibration(fit: Fit, num_bins: int = 10) -> pd.DataFrame:
    """Return observed frequencies of options that were predicted with similar probability.

    Parameters
    ----------
    fit
        Of choices or guesses.
    num_bins
        Bins with about equal numbers of predicted responses.

    Returns
    -------
    DataFrame
        One row per bin: ``predicted``, ``observed``, ``observed_low``, ``observed_high`` (a 95 %
        interval) and ``num_options``.

    Examples
    --------
    >>> import cobayes as cb
    >>> problems = {"p": cb.read_model("example:gestures")}
    >>> truth = {"depth": 1, "rationality": 2.0, "lapse": 0.05}
    >>> choices = cb.people.simulate(truth, problems, num_people=3, num_rounds=5, rng=1)
    >>> fit = cb.people.fit(choices, problems, cb.people.Family(depth=(0, 1), lapse=0.05))
    >>> cb.people.calibration(fit, num_bins=4).shape
    (4, 5)
    """
    whole_number(num_bins, "num_bins", 1)
    pandas = import_optional("pandas", "people", "a table of predictions")
    _require_options(fit)
    chances, hits = [], []
    for _, probability, answers, available in _parts(fit):
        chances.append(probability[available])
        hits.append((np.arange(probability.shape[1]) == answers[:, None])[available])
    chance, hit = np.concatenate(chances), np.concatenate(hits)
    order = np.argsort(chance, kind="stable")
    chance, hit = chance[order], hit[order]
    # Every bin holds the same expected number of responses, so that rare options are pooled.
    share = np.cumsum(chance) / chance.sum()
    bins = np.minimum((share * num_bins).astype(int), num_bins - 1)
    records = []
    for number in np.unique(bins):
        inside = bins == number
        count, seen = int(inside.sum()), int(hit[inside].sum())
        low, high = wilson_interval(seen, count)
        records.append((chance[inside].mean(), seen / count, low, high, count))
    return pandas.DataFrame(
        records, columns=["predicted", "observed", "observed_low", "observed_high", "num_options"]
    )


def _parts(fit: Fit) -> Iterator[tuple[Choices, Array, Array, Array]]:
    """Yield responses, probabilities of the options, what was answered and what was available."""
    for part in fit.at_best():
        choices, likelihood = part.likelihood.choices, part.likelihood
        found = likelihood.responses(part.parameters, with_derivatives=False)
        answers = choices.datum if fit.family.response == "choice" else choices.guess
        yield choices, found.probability, answers, np.isfinite(likelihood.options.log_base)


def _require_options(fit: Fit) -> str:
    if fit.family.response == "rating":
        raise CobayesError(
            "ratings have no options to count.",
            "compare the columns 'belief_after' and 'rating' of fit.trials.",
        )
    return fit.family.response
