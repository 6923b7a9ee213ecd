"""What exact_rounds returns: means and deviations with their labels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobayes._output import rounds_dataset
from cobayes.errors import import_optional, unteachable
from cobayes.model import Model

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ExactRounds:
    """Exact moments of a learner's belief while one hypothesis is taught for k rounds.

    Attributes
    ----------
    model : Model
        The matrix and its labels.
    rule_name : str
        "BI" or "SCBI".
    hypothesis : int
        The position of the hypothesis that is taught.
    means, stds : ndarray
        Mean and standard deviation of the belief in every hypothesis, (k + 1, m).
    num_atoms : int
        How many different beliefs the last round was computed from.
    """

    model: Model
    rule_name: str
    hypothesis: int
    means: Array
    stds: Array
    num_atoms: int

    @property
    def mean(self) -> Array:
        """The mean of the belief in the hypothesis that is taught, (k + 1,)."""
        return self.means[:, self.hypothesis]

    @property
    def std(self) -> Array:
        """The standard deviation of the belief in the hypothesis that is taught, (k + 1,)."""
        return self.stds[:, self.hypothesis]

    @property
    def num_rounds(self) -> int:
        """The number of rounds, k."""
        return len(self.means) - 1

    @property
    def hypothesis_label(self) -> str:
        """The label of the hypothesis that is taught."""
        return self.model.hypotheses[self.hypothesis]

    def to_dataframe(self) -> pd.DataFrame:
        """Return a tidy table: one row for each round and hypothesis."""
        return self.to_xarray().to_dataframe().reset_index()

    def to_xarray(self) -> xr.Dataset:
        """Return means and standard deviations as a Dataset with the labels."""
        return rounds_dataset(
            {"mean": self.means, "std": self.stds},
            "hypothesis",
            self.model.hypotheses,
            {"rule": self.rule_name, "true_hypothesis": self.hypothesis_label},
        )

    def __repr__(self) -> str:
        return (
            f"ExactRounds({self.rule_name}; {self.num_rounds} rounds; taught "
            f"{self.hypothesis_label!r}; belief in it {self.mean[0]:.4f} -> {self.mean[-1]:.4f}, "
            f"sd {self.std[-1]:.4f}; {self.num_atoms} atoms)"
        )


@dataclass(frozen=True, eq=False, repr=False)
class AllExactRounds:
    """Exact moments of a learner's belief for every hypothesis that might be taught.

    Attributes
    ----------
    model : Model
        The matrix and its labels.
    rule_name : str
        "BI" or "SCBI".
    means, stds : ndarray
        Of the belief in hypothesis j when h is taught, at [round, h, j]: (k + 1, m, m).
        NaN where the prior rules h out.
    num_atoms : int
        How many different beliefs the last round was computed from.
    """

    model: Model
    rule_name: str
    means: Array
    stds: Array
    num_atoms: int

    @property
    def mean(self) -> Array:
        """The mean of the belief in h when h is taught, (k + 1, m)."""
        return np.diagonal(self.means, axis1=1, axis2=2)

    @property
    def std(self) -> Array:
        """The standard deviation of the belief in h when h is taught, (k + 1, m)."""
        return np.diagonal(self.stds, axis1=1, axis2=2)

    @property
    def num_rounds(self) -> int:
        """The number of rounds, k."""
        return len(self.means) - 1

    def for_hypothesis(self, hypothesis: int | str) -> ExactRounds:
        """Return what `exact_rounds` gives when this one is taught.

        Parameters
        ----------
        hypothesis
            By position or label.
        """
        column = self.model.hypothesis_index(hypothesis)
        if np.isnan(self.means[0, column]).any():
            raise unteachable(self.model.hypotheses[column], "prior")
        return ExactRounds(
            self.model,
            self.rule_name,
            column,
            self.means[:, column],
            self.stds[:, column],
            self.num_atoms,
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return a tidy table: one row for each round, taught and believed hypothesis."""
        return self.to_xarray().to_dataframe().reset_index()

    def to_xarray(self) -> xr.Dataset:
        """Return means and standard deviations as a Dataset with the labels."""
        xarray = import_optional("xarray", "labels", "a Dataset")
        dims = ("round", "taught", "hypothesis")
        names = list(self.model.hypotheses)
        return xarray.Dataset(
            {"mean": (dims, self.means), "std": (dims, self.stds)},
            coords={
                "round": np.arange(self.num_rounds + 1),
                "taught": names,
                "hypothesis": names,
            },
            attrs={"rule": self.rule_name},
        )

    def __repr__(self) -> str:
        last = self.mean[-1]
        span = "none can be taught"
        if not np.isnan(last).all():
            span = f"belief in the taught one {np.nanmin(last):.4f} to {np.nanmax(last):.4f}"
        return (
            f"AllExactRounds({self.rule_name}; {self.num_rounds} rounds; "
            f"{self.model.num_hypotheses} hypotheses; {span}; {self.num_atoms} atoms)"
        )
