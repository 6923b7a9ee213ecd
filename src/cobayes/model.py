"""The validated, labelled matrix of teacher and learner."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input import labels as label_rules
from cobayes._input.labels import Distribution, as_distribution
from cobayes._input.tables import as_floats, require_entries, unpack
from cobayes._input.text import parse_table
from cobayes._input.validation import instance, number_between
from cobayes._output import MOST_SHOWN, csv_text, html_table, shape_in_words, shown, write_csv
from cobayes.assumptions import Report, check_assumptions
from cobayes.errors import CobayesError, import_optional
from cobayes.tasks.task import State, Task, require_usable

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

_TABLES = "give a list of rows, an array, a DataFrame, the name of a file, or 'example:gestures'."

# Entries below this number can be added without overflow.
LARGE = 1e290

MatrixLike = Any
"""An array, a DataFrame, a DataArray, a sparse matrix, a `Model` or an example, or the path of a
file that `read_model` reads."""


@dataclass(frozen=True, eq=False, repr=False)
class Model(Task):
    """A non-negative data-by-hypotheses matrix with labels.

    Entry (d, h) says how well datum d fits hypothesis h; zero means that the datum is impossible
    under the hypothesis. Columns need not sum to one: BI and SCBI normalise them. Labels are text.
    In every call of the library an integer means a position and a string means a label.

    Parameters
    ----------
    matrix
        An array, DataFrame, DataArray, sparse matrix, `Model` or example, or the path of a file;
        shape (n, m). Entries are finite and >= 0; every row and column has a positive entry.
    data
        Labels of the n rows (default: those of `matrix`, else "0", "1", ...).
    hypotheses
        Labels of the m columns (default: as for `data`).

    Attributes
    ----------
    matrix : ndarray
        Read-only, float64, shape (n, m).
    data, hypotheses : tuple of str
        The labels.
    num_data, num_hypotheses : int
        n and m.
    shape : tuple of int
        (n, m).

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> model
    Model(2 data x 2 hypotheses; data: 'sun', 'rain'; hypotheses: 'summer', 'autumn')
    >>> model.hypotheses
    ('summer', 'autumn')
    """

    matrix: NDArray[np.float64]
    data: tuple[str, ...] = field(default=())
    hypotheses: tuple[str, ...] = field(default=())
    num_data: int = field(init=False)
    num_hypotheses: int = field(init=False)
    shape: tuple[int, int] = field(init=False)

    def __init__(
        self,
        matrix: MatrixLike,
        data: Iterable[object] | None = None,
        hypotheses: Iterable[object] | None = None,
    ) -> None:
        array, rows, columns = _read_table(matrix, data, hypotheses)
        array.flags.writeable = False
        vars(self).update(
            matrix=array,
            data=rows,
            hypotheses=columns,
            shape=array.shape,
            num_data=array.shape[0],
            num_hypotheses=array.shape[1],
        )

    def matrix_at(self, state: State) -> Model:  # noqa: ARG002
        """Return the model itself, which is the matrix in every state."""
        return self

    def settings(self) -> dict[str, Any]:
        """Return the matrix and the labels."""
        return {"matrix": self.matrix, "data": list(self.data), "hypotheses": list(self.hypotheses)}

    def datum_index(self, datum: SupportsIndex | str) -> int:
        """Return the row of a datum given by position or label."""
        return label_rules.find(datum, self.data, "datum")

    def hypothesis_index(self, hypothesis: SupportsIndex | str) -> int:
        """Return the column of a hypothesis given by position or label."""
        return label_rules.find(hypothesis, self.hypotheses, "hypothesis")

    def distribution(
        self, values: Distribution | None = None, *, over: str = "hypothesis", name: str = "prior"
    ) -> NDArray[np.float64]:
        """Validate a distribution over hypotheses (or data); None is the uniform distribution.

        Parameters
        ----------
        values
            Non-negative numbers in the order of the labels, or by label in a mapping, Series or
            DataArray. A sum within 1e-3 of one is attributed to rounding, and the values are
            renormalised.
        over
            "hypothesis" or "datum".
        name
            The name of the distribution in error messages.

        Returns
        -------
        ndarray
            The probabilities, (m,), or (n,) over data; they sum to one.
        """
        labels = self.hypotheses if over == "hypothesis" else self.data
        return as_distribution(values, labels, over, name)

    def normalized(self) -> NDArray[np.float64]:
        """Return the column-normalised matrix: the likelihood of plain Bayesian inference."""
        return normalize_columns(self.matrix)

    def check(
        self,
        prior: Distribution | None = None,
        *,
        learner: MatrixLike | None = None,
        learner_prior: Distribution | None = None,
    ) -> Report:
        """Report whether the paper's assumptions (i) to (iv) hold, and what the matrix's zeros do.

        Parameters
        ----------
        prior
            The learner's prior as the teacher assumes it; uniform by default.
        learner
            The learner's matrix, if it differs from this matrix.
        learner_prior
            The learner's actual prior, if it differs from `prior`.

        Returns
        -------
        Report
            A finding for each assumption, and a paragraph about zeros, if there are any.

        Examples
        --------
        >>> import cobayes as cb
        >>> report = cb.Model([[1, 0], [1, 1]], ["a", "b"], ["x", "y"]).check()
        >>> print(report.zeros)  # doctest: +ELLIPSIS
        1 of 4 entries is zero: the datum is impossible under the hypothesis, and excludes ...
        """
        other = self if learner is None else as_model(learner)
        own = theirs = self.distribution(prior, name="teacher's prior")
        if learner_prior is not None:
            theirs = self.distribution(learner_prior, name="learner's prior")
        return check_assumptions(self, other, own, theirs)

    def to_dataframe(self) -> pd.DataFrame:
        """Return the matrix as a DataFrame: index = data, columns = hypotheses."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        return pandas.DataFrame(
            self.matrix.copy(),
            index=pandas.Index(self.data, name="datum"),
            columns=pandas.Index(self.hypotheses, name="hypothesis"),
        )

    def to_xarray(self) -> xr.DataArray:
        """Return the matrix as a DataArray with dimensions (datum, hypothesis)."""
        xarray = import_optional("xarray", "labels", "a DataArray")
        return xarray.DataArray(
            self.matrix.copy(),
            dims=("datum", "hypothesis"),
            coords={"datum": list(self.data), "hypothesis": list(self.hypotheses)},
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the matrix and the labels as lists, for JSON."""
        return {**self.settings(), "matrix": self.matrix.tolist()}

    def to_csv(self, path: str | PathLike[str], *, raw: bool = False) -> None:
        """Write the matrix with its labels to a CSV file, which `read_model` reads.

        Parameters
        ----------
        path
            The file to write or replace.
        raw
            Whether to write labels unchanged. By default a label that a spreadsheet would execute
            as a formula is written with an apostrophe in front, which `read_model` removes.

        Examples
        --------
        >>> import pathlib, tempfile
        >>> import cobayes as cb
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "gestures.csv"
        >>> model = cb.examples["gestures"].model
        >>> model.to_csv(file)
        >>> cb.read_model(file) == model
        True
        """
        rows = zip(self.data, self.matrix.tolist(), strict=True)
        table = [["datum", *self.hypotheses], *([datum, *row] for datum, row in rows)]
        try:
            found = parse_table(Path(), csv_text(table, raw=raw), ",")
            is_kept = (found.data, found.hypotheses) == ([*self.data], [*self.hypotheses])
        except CobayesError:
            is_kept = False
        if not is_kept:
            raise CobayesError(
                "a CSV file would change the labels of this matrix.",
                "rename labels that are empty, begin or end with a space, or contain semicolons; "
                "or write json.dumps(model.to_dict()) to a .json file.",
            )
        write_csv(path, table, raw=raw)

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Model:
        """Make a model from the content that `to_dict` returned."""
        if "matrix" not in instance(content, Mapping, "content", "a mapping, as to_dict makes it"):
            raise CobayesError(
                f"there is no entry 'matrix'; found {label_rules.shorten(tuple(content))}."
            )
        if isinstance(content["matrix"], (str, PathLike)):
            # Content from an untrusted source must not make the library read files.
            raise CobayesError(
                "the entry 'matrix' is text; expected a list of rows.",
                "cobayes.read_model(path) reads a file.",
            )
        return cls(content["matrix"], content.get("data"), content.get("hypotheses"))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return (
            self.data == other.data
            and self.hypotheses == other.hypotheses
            and np.array_equal(self.matrix, other.matrix)
        )

    def __hash__(self) -> int:
        # Equal models need equal hashes; adding 0.0 turns -0.0 into 0.0.
        return hash((self.data, self.hypotheses, (self.matrix + 0.0).tobytes()))

    def __reduce__(self):
        return (Model, (self.matrix, self.data, self.hypotheses))

    def __repr__(self) -> str:
        return (
            f"Model({shape_in_words(*self.shape)}; data: {label_rules.shorten(self.data, 4)}; "
            f"hypotheses: {label_rules.shorten(self.hypotheses, 4)})"
        )

    def _repr_html_(self) -> str:
        n, m = self.shape
        rows = [
            i if i == "…" else [self.data[i], *shown([f"{entry:.4g}" for entry in self.matrix[i]])]
            for i in shown(range(n))
        ]
        size = f"<p>{n} data × {m} hypotheses</p>" if max(n, m) > MOST_SHOWN else ""
        return html_table("", ["", *shown(self.hypotheses)], rows) + size


def _read_table(
    matrix: Any, data: Any = None, hypotheses: Any = None, *, empty_allowed: bool = False
) -> tuple[NDArray[np.float64], tuple[str, ...], tuple[str, ...]]:
    """Return a table as a float64 matrix, and the labels of its rows and of its columns.

    Parameters
    ----------
    matrix
        See `unpack`.
    data, hypotheses
        Labels that replace those of the table, or None.
    empty_allowed
        Whether rows may consist of zeros.
    """
    values, own_data, own_hypotheses = unpack(matrix, empty_allowed=empty_allowed)
    if values is None:
        raise CobayesError("the matrix is None; expected a table, data by hypotheses.", _TABLES)
    array = as_floats(values, copy=True)
    if array.ndim != 2:
        found = f"{array.ndim} dimension{'' if array.ndim == 1 else 's'}"
        raise CobayesError(f"the matrix has {found}; expected two, data by hypotheses.", _TABLES)
    if array.size == 0:
        raise CobayesError(
            f"the matrix is empty (shape {array.shape}).", "give at least one row and one column."
        )
    rows = label_rules.make_labels(own_data if data is None else data, array.shape[0], "datum")
    columns = label_rules.make_labels(
        own_hypotheses if hypotheses is None else hypotheses, array.shape[1], "hypothesis"
    )
    # A quick check without a temporary array; a NaN entry fails it, too.
    if not (array.min() > 0.0 and array.max() < np.inf):
        require_entries(array, rows, columns, empty_allowed=empty_allowed)
    return array, rows, columns


def as_model(matrix: MatrixLike) -> Model:
    """Return the `Model` of a matrix, an example or a task; return a `Model` unchanged."""
    if isinstance(matrix, Model):
        return matrix
    held = getattr(matrix, "model", None)
    return held if isinstance(held, Model) else Model(matrix)


def as_task(matrix: MatrixLike | Task) -> Task:
    """Return a task unchanged; convert a matrix to a `Model`."""
    if isinstance(matrix, Model):
        return matrix
    return require_usable(matrix) if isinstance(matrix, Task) else Model(matrix)


def smooth(matrix: MatrixLike, epsilon: float) -> Model:
    """Make a non-negative matrix positive by mixing every column with the uniform distribution.

    Every column is normalised to sum to one and becomes ``(1 - epsilon) column + epsilon / n``.

    Parameters
    ----------
    matrix
        Non-negative and finite; the row of a datum may be all zeros.
    epsilon
        The share of the uniform distribution, strictly between 0 and 1.

    Returns
    -------
    Model
        The positive matrix, with the labels of `matrix`.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.smooth([[1.0, 0.0], [0.0, 1.0]], 0.1).matrix
    array([[0.95, 0.05],
           [0.05, 0.95]])
    """
    number_between(epsilon, "epsilon", 0.0, 1.0, hint="0.02 is a common choice.")
    array, *names = _read_table(matrix, empty_allowed=True)
    return Model((1.0 - epsilon) * normalize_columns(array) + epsilon / array.shape[0], *names)


def normalize_columns(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide every column by its sum, also if the sum exceeds the range of float64."""
    if array.max() >= LARGE:
        array = array / array.max(axis=0)
    return array / array.sum(axis=0)


def require_same_world(teacher: Model, learner: Model) -> None:
    """Raise an error unless two models have the same data and hypotheses.

    A model without labels may be combined with any model of the same shape.
    """
    if teacher.shape != learner.shape:
        raise CobayesError(
            f"the teacher's matrix has shape {teacher.shape}, the learner's {learner.shape}; they "
            "must share data and hypotheses."
        )
    for kind, own, other in (
        ("data", teacher.data, learner.data),
        ("hypotheses", teacher.hypotheses, learner.hypotheses),
    ):
        if own != other and label_rules.make_labels(None, len(own), kind) not in (own, other):
            raise CobayesError(
                f"teacher and learner label their {kind} differently: "
                f"{label_rules.shorten(own, 4)} and {label_rules.shorten(other, 4)}.",
                "give both matrices the same labels in the same order.",
            )
