"""The table of trials: what a regression or an fMRI design needs about every response."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobayes.people.likelihood import Likelihood

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]


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
    """Return the user's rows with the added columns."""
    return likelihood.choices.frame.assign(
        depth=likelihood.depth, **trial_columns(likelihood, parameters)
    )
