"""The validated, labelled matrix that teacher and learner hold."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import labels as label_rules
from cobayes.assumptions import Report, check_assumptions
from cobayes.errors import CobayesError, import_optional
from cobayes.validation import number_between

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

# How far from one a printed distribution may sum and still be taken as rounded.
SUM_SLACK = 1e-3
# Sums of numbers below this do not overflow.
LARGE = 1e290

MatrixLike = Any
"""An array, a DataFrame, a DataArray, a `Model`, or an example that holds one."""


@dataclass(frozen=True, eq=False, repr=False)
class Model:
    """A positive data-by-hypotheses matrix with labels.

    Entry (d, h) says how strongly datum d goes with hypothesis h. Columns need not sum to
    one: both rules normalise them. Labels are text; a DataFrame's or DataArray's own labels
    are taken over. In every call of the library an integer means a position and a string
    means a label.

    Parameters
    ----------
    matrix
        Positive, finite, shape (n, m): an array, DataFrame, DataArray or `Model`.
    data
        Labels of the n rows.
    hypotheses
        Labels of the m columns.

    Attributes
    ----------
    matrix : ndarray
        Read-only, float64, shape (n, m).
    data, hypotheses : tuple of str
        The labels.
    """

    matrix: NDArray[np.float64]
    data: tuple[str, ...] = field(default=())
    hypotheses: tuple[str, ...] = field(default=())

    def __init__(
        self,
        matrix: MatrixLike,
        data: Iterable[object] | None = None,
        hypotheses: Iterable[object] | None = None,
    ) -> None:
        values, own_data, own_hypotheses = unpack(matrix)
        array = _as_float_matrix(values)
        data_labels = label_rules.make_labels(
            own_data if data is None else data, array.shape[0], "datum"
        )
        hypothesis_labels = label_rules.make_labels(
            own_hypotheses if hypotheses is None else hypotheses, array.shape[1], "hypothesis"
        )
        require_positive(array, data_labels, hypothesis_labels)
        array.flags.writeable = False
        object.__setattr__(self, "matrix", array)
        object.__setattr__(self, "data", data_labels)
        object.__setattr__(self, "hypotheses", hypothesis_labels)

    @property
    def shape(self) -> tuple[int, int]:
        """(number of data, number of hypotheses)."""
        return self.matrix.shape  # type: ignore[return-value]

    @property
    def num_data(self) -> int:
        """The number of rows, n."""
        return self.matrix.shape[0]

    @property
    def num_hypotheses(self) -> int:
        """The number of columns, m."""
        return self.matrix.shape[1]

    def datum_index(self, datum: int | str) -> int:
        """Return the row of a datum given by position or label."""
        return label_rules.find(datum, self.data, "datum")

    def hypothesis_index(self, hypothesis: int | str) -> int:
        """Return the column of a hypothesis given by position or label."""
        return label_rules.find(hypothesis, self.hypotheses, "hypothesis")

    def distribution(
        self, values: ArrayLike | None = None, *, over: str = "hypothesis", name: str = "prior"
    ) -> NDArray[np.float64]:
        """Validate a distribution over hypotheses (or data); None is the uniform one.

        Parameters
        ----------
        values
            Non-negative numbers in the order of the labels, or a mapping or Series from label
            to number. A sum within 1e-3 of one counts as rounded and is renormalised.
        over
            "hypothesis" or "datum".
        name
            What to call it in an error message.
        """
        labels = self.hypotheses if over == "hypothesis" else self.data
        return as_distribution(values, labels, over, name)

    def normalized(self) -> NDArray[np.float64]:
        """Return the column-normalised matrix: the likelihood of plain Bayesian inference."""
        return normalize_columns(self.matrix)

    def check(
        self,
        learner: MatrixLike | None = None,
        *,
        teacher_prior: ArrayLike | None = None,
        learner_prior: ArrayLike | None = None,
    ) -> Report:
        """Report on the paper's assumptions (i) to (iv).

        Parameters
        ----------
        learner
            The learner's matrix, where it differs from this one.
        teacher_prior, learner_prior
            The two priors, where they were given.
        """
        other = None if learner is None else as_model(learner)
        return check_assumptions(
            self,
            other,
            self.distribution(teacher_prior, name="teacher's prior"),
            None
            if learner_prior is None
            else self.distribution(learner_prior, name="learner's prior"),
        )

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
        """Return plain lists that JSON can hold."""
        return {
            "matrix": self.matrix.tolist(),
            "data": list(self.data),
            "hypotheses": list(self.hypotheses),
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Model:
        """Undo `to_dict`."""
        if "matrix" not in content:
            raise CobayesError(
                f"there is no entry 'matrix'; found {label_rules.shorten(tuple(content))}."
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
        return hash((self.data, self.hypotheses, self.matrix.tobytes()))

    def __reduce__(self):
        return (_restore, (self.matrix, self.data, self.hypotheses))

    def __repr__(self) -> str:
        n, m = self.shape
        return (
            f"Model({n} data x {m} hypotheses; data: {label_rules.shorten(self.data, 4)}; "
            f"hypotheses: {label_rules.shorten(self.hypotheses, 4)})"
        )

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{escape(name)}</th>" for name in self.hypotheses)
        rows = "".join(
            f"<tr><th>{escape(name)}</th>"
            + "".join(f"<td>{value:.4g}</td>" for value in row)
            + "</tr>"
            for name, row in zip(self.data, self.matrix, strict=True)
        )
        return f"<table><thead><tr><th></th>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _restore(matrix: NDArray, data: tuple[str, ...], hypotheses: tuple[str, ...]) -> Model:
    return Model(matrix, data, hypotheses)


def as_model(matrix: MatrixLike) -> Model:
    """Return a `Model`, making one where something else was given."""
    if isinstance(matrix, Model):
        return matrix
    held = getattr(matrix, "model", None)
    return held if isinstance(held, Model) else Model(matrix)


def smooth(matrix: MatrixLike, epsilon: float) -> Model:
    """Make a non-negative matrix positive by mixing every column with the uniform one.

    Every column is normalised to sum to one and becomes ``(1 - epsilon) column + epsilon / n``.

    Parameters
    ----------
    matrix
        Non-negative and finite; zeros are allowed here and nowhere else.
    epsilon
        How much of the uniform distribution to mix in, strictly between 0 and 1.
    """
    number_between(epsilon, "epsilon", 0.0, 1.0, hint="1e-6 is a common choice.")
    values, data, hypotheses = unpack(matrix)
    array = _as_float_matrix(values)
    names = (
        label_rules.make_labels(data, array.shape[0], "datum"),
        label_rules.make_labels(hypotheses, array.shape[1], "hypothesis"),
    )
    require_positive(array, *names, zeros_allowed=True)
    largest = array.max(axis=0)
    if not largest.all():
        name = names[1][int(np.argmin(largest))]
        raise CobayesError(
            f"the column of hypothesis {name!r} is all zeros.", "drop the hypothesis."
        )
    return Model((1.0 - epsilon) * normalize_columns(array) + epsilon / array.shape[0], *names)


def normalize_columns(array: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide every column by its sum, which may be too large for a float64."""
    largest = array.max(axis=0)
    if array.max() < LARGE:
        return array / array.sum(axis=0)
    array = array / largest
    return array / array.sum(axis=0)


def as_distribution(
    values: ArrayLike | None, labels: tuple[str, ...], kind: str, name: str
) -> NDArray[np.float64]:
    """Validate a distribution over labels; see `Model.distribution`."""
    count = len(labels)
    if values is None:
        return np.full(count, 1.0 / count)
    values = aligned(values, labels, kind, name)
    try:
        array = np.array(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CobayesError(f"the {name} holds something that is not a number: {error}.") from error
    if array.shape != (count,):
        raise CobayesError(
            f"the {name} has shape {array.shape}; expected one number for each of the "
            f"{count} {label_rules.plural(kind)}."
        )
    for position, value in enumerate(array):
        if not np.isfinite(value) or value < 0.0:
            raise CobayesError(
                f"the {name} is {value} at {kind} {labels[position]!r}; probabilities are "
                "finite and not negative."
            )
    total = float(array.sum())
    if abs(total - 1.0) > SUM_SLACK:
        raise CobayesError(
            f"the {name} sums to {total:.6g}, not to 1.",
            "divide it by its sum (rounding up to 1e-3 is mended silently).",
        )
    # Exactly normalised input stays as it is, bit for bit, so that saving changes nothing.
    return array if total == 1.0 else array / total


def aligned(values: Any, labels: tuple[str, ...], kind: str, name: str) -> Any:
    """Put labelled numbers into the order of the labels; leave others as they are.

    Parameters
    ----------
    values
        A mapping, a Series, a DataArray of one dimension, or anything without labels.
    labels, kind
        The labels, and what they are labels of.
    name
        What to call the values in an error message.
    """
    if hasattr(values, "dims") and hasattr(values, "coords"):
        (dim, *more) = values.dims or ("",)
        if more or dim not in values.coords:
            return values.values
        values = dict(zip(values.coords[dim].values.tolist(), values.values.tolist(), strict=True))
    if not hasattr(values, "keys"):
        return values
    # A Series without labels of its own has the index 0..m-1, which are positions.
    found = {
        labels[label_rules.find(key, labels, kind)]: value for key, value in dict(values).items()
    }
    missing = [label for label in labels if label not in found]
    if missing:
        raise CobayesError(
            f"the {name} says nothing about {label_rules.shorten(missing)}.",
            "give a number, zero if need be, to every one.",
        )
    return [found[label] for label in labels]


def require_same_world(teacher: Model, learner: Model) -> None:
    """Raise an error unless two models have the same data and hypotheses.

    A model without labels of its own goes with any of its shape.
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
        numbered = tuple(str(position) for position in range(len(own)))
        if own != other and numbered not in (own, other):
            raise CobayesError(
                f"teacher and learner label their {kind} differently: "
                f"{label_rules.shorten(own, 4)} and {label_rules.shorten(other, 4)}.",
                "give both the same labels in the same order.",
            )


def require_positive(
    array: NDArray[np.float64],
    data: tuple[str, ...],
    hypotheses: tuple[str, ...],
    *,
    zeros_allowed: bool = False,
) -> None:
    """Raise an error that names the first cell that is not a positive finite number."""
    # Two reductions need no temporary array; NaN spreads through both.
    low, high = array.min(), array.max()
    if (low > 0.0 or (zeros_allowed and low == 0.0)) and high < np.inf:
        return
    bad = ~np.isfinite(array) | (array < 0.0)
    if not bad.any():
        bad = array == 0.0
    row, column = np.argwhere(bad)[0]
    value = array[row, column]
    place = f"at datum {data[row]!r}, hypothesis {hypotheses[column]!r}"
    if np.isnan(value):
        raise CobayesError(
            f"the matrix has a NaN (a missing value) {place}.", "fill it in, or drop its row."
        )
    if np.isinf(value):
        raise CobayesError(
            f"the matrix has an infinity {place}; entries must be finite.", "rescale the matrix."
        )
    if value < 0.0:
        raise CobayesError(
            f"the matrix has a negative entry, {value:g}, {place}; entries must be positive.",
            "entries are likelihoods or weights: check the sign, or exponentiate log values.",
        )
    raise CobayesError(
        f"the matrix has a zero {place}; SCBI needs positive entries.",
        "smooth it with cobayes.smooth(matrix, 1e-6), or drop the hypothesis.",
    )


def unpack(matrix: MatrixLike) -> tuple[Any, Any, Any]:
    """Separate values from the labels that a table brings along."""
    if isinstance(matrix, Model):
        return matrix.matrix, matrix.data, matrix.hypotheses
    held = getattr(matrix, "model", None)
    if isinstance(held, Model):
        return held.matrix, held.data, held.hypotheses
    if hasattr(matrix, "columns") and hasattr(matrix, "index"):
        return matrix.to_numpy(), list(matrix.index), list(matrix.columns)
    if hasattr(matrix, "dims") and hasattr(matrix, "coords"):
        if len(matrix.dims) != 2:
            raise CobayesError(
                f"the DataArray has dimensions {tuple(matrix.dims)}; expected two, "
                "data by hypotheses."
            )
        if tuple(matrix.dims) == ("hypothesis", "datum"):
            matrix = matrix.transpose()  # our own names say which is which
        own = [
            list(matrix.coords[dim].values) if dim in matrix.coords else None for dim in matrix.dims
        ]
        return matrix.values, own[0], own[1]
    return matrix, None, None


def as_floats(values: Any, *, copy: bool) -> NDArray[np.float64]:
    """Return values as float64 in C order, or say why they are not numbers."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        raise CobayesError(
            "the matrix has masked entries, which stand for missing values.",
            "fill them in, or drop their rows.",
        )
    try:
        raw = np.asarray(values)
        if raw.dtype.kind not in "biufO":
            raise TypeError(f"the entries are of type {raw.dtype}")
        if copy:
            return np.array(raw, dtype=np.float64, order="C")
        return np.ascontiguousarray(raw, dtype=np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise CobayesError(
            f"the matrix cannot be read as numbers: {error}.",
            "every row needs the same number of entries, each of them a number.",
        ) from error


def _as_float_matrix(values: Any) -> NDArray[np.float64]:
    array = as_floats(values, copy=True)
    if array.ndim != 2:
        raise CobayesError(
            f"the matrix has {array.ndim} dimension(s); expected two, data by hypotheses."
        )
    if array.size == 0:
        raise CobayesError(
            f"the matrix is empty (shape {array.shape}).", "give at least one row and one column."
        )
    return array
