"""Where teacher and learner end who are fed the same uniform data: the result of a coupling."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._intervals import proportion_stderr
from cobayes._output import counted, html_table
from cobayes.errors import CobayesError, import_optional, unteachable
from cobayes.model import Model
from cobayes.stability.results import SuccessRate, total_error

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]

# With fewer pairs that end at what is taught, their spread alone is no measure of the error.
FEW = 30


@dataclass(frozen=True, eq=False, repr=False)
class Coupling:
    """Where teacher and learner end when both see the same uniform data.

    Attributes
    ----------
    matrix, stderr : ndarray
        C[i, j], the chance that the teacher ends at i and the learner at j, (m, m), and its
        standard errors. Up to sampling, rows sum to the teacher's prior, columns to the learner's.
    lower, upper : ndarray
        Between which values C would lie if every pair were taken to its end, (m, m).
    given_taught, given_taught_stderr : ndarray
        C with its rows divided by their sums, (m, m), and its standard errors; see `confusion`.
    teacher_prior, learner_prior : ndarray
        The marginals, (m,).
    model : Model
        The teacher's matrix with its labels.
    num_sequences, num_unfinished : int
        How many pairs there were, and how many were cut off before either agent was sure.
    max_rounds : int
        Where they were cut off.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.coupling("example:M_1", num_sequences=200, rng=1)
    Coupling(3 hypotheses; both agree with probability 1.0000; 200 pairs, 0 unfinished)
    """

    matrix: Array
    stderr: Array
    lower: Array
    upper: Array
    given_taught: Array
    given_taught_stderr: Array
    teacher_prior: Array
    learner_prior: Array
    model: Model
    num_sequences: int
    num_unfinished: int
    max_rounds: int

    def _repr_html_(self) -> str:
        names = self.model.hypotheses
        most = 12
        rows = [
            (name, *(f"{share:.4f}" for share in row[:most]))
            for name, row in zip(names, self.matrix, strict=True)
        ]
        more = f"; {len(names) - most} columns are not shown" if len(names) > most else ""
        return html_table(
            "where teacher (rows) and learner (columns) end, "
            f"{counted(self.num_sequences, 'pair')}{more}",
            ("", *names[:most]),
            rows,
        )

    def confusion(self) -> Array:
        """Return the chance that the learner believes j when it is taught i, (m, m).

        Rows belong to what is taught and sum to one: C is divided by its own row sums, not by
        the prior that they estimate, which makes the standard errors several times smaller. A
        row is NaN where no teacher ended: that hypothesis has no prior probability, or little.
        """
        return self.given_taught.copy()

    def confusion_stderr(self) -> Array:
        """Return the standard errors of `confusion`."""
        return self.given_taught_stderr.copy()

    def success(self, hypothesis: SupportsIndex | str) -> SuccessRate:
        """Return the success rate of teaching a hypothesis, by position or label."""
        h = self.model.hypothesis_index(hypothesis)
        name = self.model.hypotheses[h]
        if self.teacher_prior[h] == 0.0:
            raise unteachable(name, "teacher's prior")
        taught = float(self.matrix[h].sum())
        # Beliefs stop short of certainty, so that a little is left even where none ended at h.
        num_taught = round(taught * self.num_sequences)
        if num_taught < 1:
            raise CobayesError(
                f"in {self.num_sequences} pairs the teacher never ended at {name!r}, whose prior "
                f"is {self.teacher_prior[h]:.2g}.",
                'take more sequences, or method="lessons", which teaches it every time.',
            )
        value, sampling = float(self.given_taught[h, h]), float(self.given_taught_stderr[h, h])
        if num_taught < FEW:
            # A handful that all agree shows no spread, which does not make it certain.
            sampling = max(sampling, proportion_stderr(round(value * num_taught), num_taught))
        lower = float(self.lower[h, h] / taught)
        upper = float(min(1.0, self.upper[h, h] / taught))
        return SuccessRate(
            value=value,
            stderr=total_error(sampling, lower, upper),
            lower=lower,
            upper=upper,
            num_sequences=self.num_sequences,
            num_unfinished=self.num_unfinished,
            outcomes=self.given_taught[h].copy(),
            outcomes_stderr=self.given_taught_stderr[h].copy(),
            method="coupling",
            hypothesis=name,
            hypotheses=self.model.hypotheses,
            max_rounds=self.max_rounds,
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return a tidy table: one row for each pair of ends."""
        return self.to_xarray().to_dataframe().reset_index()

    def to_xarray(self) -> xr.Dataset:
        """Return coupling and confusion matrix as a Dataset with the labels."""
        xarray = import_optional("xarray", "labels", "a Dataset")
        dims = ("taught", "believed")
        return xarray.Dataset(
            {
                "coupling": (dims, self.matrix),
                "stderr": (dims, self.stderr),
                "confusion": (dims, self.confusion()),
                "confusion_stderr": (dims, self.confusion_stderr()),
            },
            coords={name: list(self.model.hypotheses) for name in dims},
        )

    def __repr__(self) -> str:
        return (
            f"Coupling({len(self.matrix)} hypotheses; both agree with probability "
            f"{np.trace(self.matrix):.4f}; {counted(self.num_sequences, 'pair')}, "
            f"{self.num_unfinished} unfinished)"
        )
