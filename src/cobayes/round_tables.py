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
    values: Mapping[str, Array],
    believed: str,
    names: Sequence[str],
    attributes: Mapping[str, object],
    events: Mapping[str, Sequence[str]] | None = None,
) -> xr.Dataset:
    """Return numbers round by round as a Dataset with the labels.

    Parameters
    ----------
    values
        By name, (k + 1, m) each; at least one.
    believed
        What the m columns are: "hypothesis" or "goal".
    names
        Of the m columns.
    attributes
        Of the Dataset.
    events
        What happened, by name: k + 1 texts each.
    """
    xarray = import_optional("xarray", "labels", "a Dataset")
    num_rows = len(next(iter(values.values())))
    columns = {name: (("round", believed), numbers) for name, numbers in values.items()}
    texts = {name: (("round",), listed) for name, listed in (events or {}).items()}
    return xarray.Dataset(
        columns | texts,
        coords={"round": np.arange(num_rows), believed: list(names)},
        attrs=attributes,
    )
