"""Leave-one-person-out cross-validation: predict each person from the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from cobayes.errors import import_optional
from cobayes.people._estimation import bounds
from cobayes.people._maximise import maximise
from cobayes.people.fit import fit_choices, group_rows
from cobayes.people.likelihood import Likelihood
from cobayes.people.result import Fit

if TYPE_CHECKING:
    import pandas as pd


def cross_validate(fit: Fit) -> pd.DataFrame:
    """Return the log-likelihood of every person under the pooled fit of all other people.

    Depth and parameters are estimated from the others alone. A family that fits people one by
    one has no prediction for a new person, so the pooled family is what is validated.

    Parameters
    ----------
    fit
        Any fit of the family; its own estimates play no part.

    Returns
    -------
    DataFrame
        One row per person: ``person``, ``depth`` (chosen by the others), ``log_likelihood``.
    """
    pandas = import_optional("pandas", "people", "cross-validation")
    family, choices = fit.family, fit.choices
    people, groups = group_rows(choices, "person")
    pooled = fit_choices(choices, fit.problems, family, None)
    low, high = bounds(family)
    held_out = np.full((len(people), len(family.depth)), -np.inf)
    training = np.full_like(held_out, -np.inf)
    order = np.concatenate(groups)
    units = np.repeat(np.arange(len(groups)), [len(rows) for rows in groups])
    for number, depth in enumerate(family.depth):
        start = pooled.arrays.parameters[0, number]
        own = Likelihood(choices.take(order), family, depth, units)
        for person in range(len(people)):
            others = own.pooled(units != person)
            found = maximise(others, start[None], low, high, np.arange(len(own.free)))
            training[person, number] = found.value[0]
            alone = own.pooled(units == person)
            held_out[person, number] = alone.evaluate(found.parameters).value[0]
    best = np.argmax(training, axis=1)
    return pandas.DataFrame(
        {
            "person": people,
            "depth": np.array([float(depth) for depth in family.depth])[best],
            "log_likelihood": held_out[np.arange(len(people)), best],
        }
    )
