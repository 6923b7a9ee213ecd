"""Beliefs round by round, as tables with their labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import import_optional

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


def rounds_dataframe(beliefs: Array, names: Sequence[str]) -> pd.DataFrame:
    """Return one row a round: the belief in everything that may be believed.

    Parameters
    ----------
    beliefs
        Shape (k + 1, m); the first is the prior.
    names
        Of the m columns.
    """
    pandas = import_optional("pandas", "labels", "a DataFrame")
    return pandas.DataFrame(
        beliefs,
        index=pandas.RangeIndex(len(beliefs), name="round"),
        columns=list(names),
    )


def rounds_dataset(
    log_beliefs: Array,
    teacher_log_beliefs: Array,
    believed: str,
    names: Sequence[str],
    events: Mapping[str, Sequence[str]],
    attributes: Mapping[str, str],
) -> xr.Dataset:
    """Return beliefs, log-beliefs and what happened as a Dataset with the labels.

    Parameters
    ----------
    log_beliefs, teacher_log_beliefs
        Logarithms of the learner's beliefs and of the teacher's estimates, (k + 1, m).
    believed
        What the m columns are: "hypothesis" or "goal".
    names
        Of the m columns.
    events
        What happened, by name: k + 1 texts each.
    attributes
        Of the Dataset.
    """
    xarray = import_optional("xarray", "labels", "a Dataset")
    dims = ("round", believed)
    return xarray.Dataset(
        {
            "belief": (dims, np.exp(log_beliefs)),
            "log_belief": (dims, log_beliefs),
            "teacher_belief": (dims, np.exp(teacher_log_beliefs)),
            **{name: (("round",), texts) for name, texts in events.items()},
        },
        coords={"round": np.arange(len(log_beliefs)), believed: list(names)},
        attrs=attributes,
    )
