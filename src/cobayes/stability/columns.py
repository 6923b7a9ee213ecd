"""Perturbing one column of the learner's matrix: discs, equal divergence, mixtures."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.tables import as_floats
from cobayes.errors import CobayesError, import_optional
from cobayes.model import MatrixLike, Model, as_model
from cobayes.stability.geometry import MOST_POINTS, STEP, disc, plane_basis
from cobayes.stability.validation import at_least_one
from cobayes.theory.rates import relevant_hypothesis

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

DISC, CURVE, MIXTURE = "disc", "equal divergence", "mixture"


class ColumnRoles(NamedTuple):
    """Which column plays which part when a hypothesis is taught.

    Attributes
    ----------
    target : int
        The column of what is taught.
    relevant : int
        The one that is hardest to tell from it, which sets the rate of convergence.
    irrelevant : tuple of int
        All others.

    Examples
    --------
    >>> import cobayes as cb
    >>> from cobayes.stability import column_roles
    >>> column_roles(cb.examples["M_2"], "h_1")
    ColumnRoles(target=0, relevant=2, irrelevant=(1,))
    """

    target: int
    relevant: int
    irrelevant: tuple[int, ...]


@dataclass(frozen=True, eq=False, repr=False)
class ColumnPerturbations:
    """Versions of a matrix that differ from it in one column.

    Attributes
    ----------
    model : Model
        The unperturbed matrix, column-normalised.
    column, target : int
        The perturbed column and the one of what is taught.
    columns : ndarray
        What stands in its place, (k, n).
    kinds : ndarray
        "disc", "equal divergence" or "mixture", (k,).
    num_left_out : int
        How many points fell outside the open simplex.

    Examples
    --------
    >>> import cobayes as cb
    >>> from cobayes.stability import perturb_column
    >>> found = perturb_column(cb.examples["M_2"], "h_2")
    >>> found.columns.shape[1], len(found.of_kind("mixture").columns)
    (3, 50)
    """

    model: Model
    column: int
    target: int
    columns: Array
    kinds: NDArray[np.str_]
    num_left_out: int

    def __len__(self) -> int:
        return len(self.columns)

    def models(self) -> list[Model]:
        """Return the perturbed matrices with the labels of the original."""
        return [with_column(self.model, self.column, values) for values in self.columns]

    def of_kind(self, kind: str) -> ColumnPerturbations:
        """Return those of one kind."""
        mask = self.kinds == kind
        return ColumnPerturbations(
            self.model, self.column, self.target, self.columns[mask], self.kinds[mask], 0
        )

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per perturbation: its kind and the perturbed column."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        table = pandas.DataFrame(self.columns, columns=list(self.model.data))
        table.insert(0, "kind", self.kinds, allow_duplicates=True)
        table.index.name = "perturbation"
        return table

    def __repr__(self) -> str:
        return (
            f"ColumnPerturbations({len(self)} versions of column "
            f"{self.model.hypotheses[self.column]!r}; {self.num_left_out} left out)"
        )


def column_roles(matrix: MatrixLike, hypothesis: SupportsIndex | str = 0) -> ColumnRoles:
    """Return the target, the relevant and the irrelevant columns.

    Parameters
    ----------
    matrix
        The teacher's matrix.
    hypothesis
        What is taught.

    Returns
    -------
    ColumnRoles
        Positions of columns; `irrelevant` is a tuple.

    Notes
    -----
    Section 5: the relevant column is the arg min in the rate of SCBI (Theorem 3.6).

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.stability.column_roles("example:M_1")
    ColumnRoles(target=0, relevant=1, irrelevant=(2,))
    """
    model = as_model(matrix)
    target = model.hypothesis_index(hypothesis)
    relevant = int(relevant_hypothesis(model, target))
    others = (j for j in range(model.num_hypotheses) if j not in (target, relevant))
    return ColumnRoles(target, relevant, tuple(others))


def with_column(matrix: MatrixLike, column: SupportsIndex | str, values: ArrayLike) -> Model:
    """Return a matrix with one column replaced.

    Parameters
    ----------
    matrix
        The original.
    column
        Which one, by position or label.
    values
        What stands in its place, (n,).

    Returns
    -------
    Model
        With the labels of the original.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.stability.with_column([[0.7, 0.2], [0.3, 0.8]], 1, [0.4, 0.6]).matrix
    array([[0.7, 0.4],
           [0.3, 0.6]])
    """
    model = as_model(matrix)
    changed = model.matrix.copy()
    replacement = as_floats(values, copy=True, name="new column")
    if replacement.shape != (model.num_data,):
        raise CobayesError(
            f"the new column has shape {replacement.shape}; expected one number for each of the "
            f"{model.num_data} data."
        )
    changed[:, model.hypothesis_index(column)] = replacement
    return Model(changed, model.data, model.hypotheses)


def normalized_divergence(columns: ArrayLike, target: ArrayLike) -> Array:
    """Return the divergence of columns from a target column that SCBI's rate uses, (...,).

    Parameters
    ----------
    columns
        Positive, (..., n).
    target
        The column of what is taught, (n,).

    Returns
    -------
    ndarray
        In nats, one for every column, (...,).

    Notes
    -----
    ``KL(e / n, N_vec(L_h' / L_h))`` of Section 5: rows are divided by the target column.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.stability.normalized_divergence([[0.5, 0.2], [0.5, 0.8]], [0.5, 0.5]).round(4)
    array([0.1015, 0.0274])
    """
    values, aim = (
        as_floats(columns, copy=True, name="columns"),
        as_floats(target, copy=True, name="target column"),
    )
    if aim.ndim != 1 or not aim.size or values.shape[-1:] != aim.shape:
        raise CobayesError(
            f"the columns have shape {values.shape} and the target {aim.shape}; expected (..., n) "
            "and (n,)."
        )
    if not all(
        (part.min(initial=1.0) > 0.0) & (part.max(initial=1.0) < np.inf) for part in (values, aim)
    ):
        raise CobayesError("a column has an entry that is not positive and finite.")
    ratios = values / aim
    # log of the arithmetic over the geometric mean.
    return np.log(ratios.mean(axis=-1)) - np.log(ratios).mean(axis=-1)


def perturb_column(
    matrix: MatrixLike,
    column: SupportsIndex | str,
    *,
    hypothesis: SupportsIndex | str = 0,
    num_circles: int = 10,
    step: float = STEP,
    num_curve: int = 90,
    num_mixtures: int = 50,
) -> ColumnPerturbations:
    """Return all the paper's perturbations of one column of a matrix with three data.

    Parameters
    ----------
    matrix
        The teacher's matrix.
    column
        The column to perturb, not the one of what is taught.
    hypothesis
        What is taught.
    num_circles, step
        The number of circles around the column and their distance: 10 circles have 330 points.
    num_curve
        Points of equal normalised divergence.
    num_mixtures
        Mixtures with the target column.

    Returns
    -------
    ColumnPerturbations
        The perturbed columns, with the kind of each.

    Notes
    -----
    Figures 5 and S7: 330 + 90 + 50 perturbations.

    Examples
    --------
    >>> import cobayes as cb
    >>> perturbed = cb.stability.perturb_column("example:M_1", 1, num_circles=2)
    >>> perturbed.columns.shape[0] > 0
    True
    """
    model, changed, target = _columns(matrix, column, hypothesis)
    around = disc(model.matrix[:, changed], num_circles=num_circles, step=step)
    parts = {
        DISC: around.points,
        CURVE: equal_divergence_curve(model, changed, hypothesis=target, num_points=num_curve),
        MIXTURE: mixtures_with_target(model, changed, hypothesis=target, num_points=num_mixtures),
    }
    kinds = np.concatenate([np.full(len(points), kind) for kind, points in parts.items()])
    return ColumnPerturbations(
        model, changed, target, np.concatenate(list(parts.values())), kinds, around.num_left_out
    )


def equal_divergence_curve(
    matrix: MatrixLike,
    column: SupportsIndex | str,
    *,
    hypothesis: SupportsIndex | str = 0,
    num_points: int = 90,
) -> Array:
    """Return columns that are as far from the target column as this one, (num_points, 3).

    They form a closed curve around the target; the first point is the column itself, and the
    steps between neighbours are of about equal length.

    Parameters
    ----------
    matrix
        Three data by any number of hypotheses.
    column
        The column whose divergence is kept.
    hypothesis
        What is taught.
    num_points
        How many points.

    Returns
    -------
    ndarray
        Columns that sum to one, (num_points, 3).

    Notes
    -----
    In terms of ``r``, the normalised ratio of column and target, the divergence is
    ``KL(e / n, r)``: zero in the middle of the simplex and growing without bound along every ray
    from there to the border. Every ray has exactly one solution.

    Examples
    --------
    >>> import numpy as np
    >>> import cobayes as cb
    >>> from cobayes.stability import equal_divergence_curve, normalized_divergence
    >>> curve = equal_divergence_curve(cb.examples["M_2"], "h_2", num_points=8)
    >>> target = cb.examples["M_2"].model.matrix[:, 0]
    >>> bool(np.ptp(normalized_divergence(curve, target)) < 1e-9)
    True
    """
    model, changed, target = _columns(matrix, column, hypothesis)
    count = at_least_one(num_points, "num_points", MOST_POINTS)
    if model.num_data != 3:
        raise CobayesError(
            f"there are {model.num_data} data; columns of equal divergence form a curve for "
            "three data only.",
            "use mixtures_with_target(...), which takes any number.",
        )
    aim = model.matrix[:, target]
    own = model.matrix[:, changed]
    level = float(normalized_divergence(own, aim))
    if not level > 1e-14:
        raise CobayesError(
            f"column {model.hypotheses[changed]!r} equals that of "
            f"{model.hypotheses[target]!r}; there is no curve of equal divergence.",
            "perturb another column.",
        )
    first, second = plane_basis(3)
    ratio = own / aim / (own / aim).sum()
    start = np.arctan2((ratio - 1.0 / 3.0) @ second, (ratio - 1.0 / 3.0) @ first)

    def curve(angles: Array) -> Array:
        rays = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
        columns = _ratios_at(level, rays) * aim
        return columns / columns.sum(axis=1, keepdims=True)

    # Equal steps of the angle crowd where the curve is close to the target: space by length.
    fine = start + np.linspace(0.0, 2.0 * np.pi, 40 * count + 1)
    lengths = np.linalg.norm(np.diff(curve(fine), axis=0), axis=1)
    travelled = np.concatenate([[0.0], np.cumsum(lengths)])
    wanted = travelled[-1] * np.arange(count) / count
    return curve(np.interp(wanted, travelled, fine))


def mixtures_with_target(
    matrix: MatrixLike,
    column: SupportsIndex | str,
    *,
    hypothesis: SupportsIndex | str = 0,
    num_points: int = 50,
) -> Array:
    """Return mixtures ``(1 - t) column + t target``, from beyond the column to the target.

    Parameters
    ----------
    matrix
        Any matrix.
    column
        The column to perturb.
    hypothesis
        What is taught.
    num_points
        How many; t is spaced evenly strictly between the value below zero at which an entry
        would vanish and one, where the two columns would be equal.

    Returns
    -------
    ndarray
        (num_points, n), t growing.

    Examples
    --------
    >>> import cobayes as cb
    >>> from cobayes.stability import mixtures_with_target
    >>> mixtures = mixtures_with_target(cb.examples["M_2"], "h_2", num_points=4)
    >>> mixtures.shape, bool((mixtures > 0).all())
    ((4, 3), True)
    """
    model, changed, target = _columns(matrix, column, hypothesis)
    count = at_least_one(num_points, "num_points", MOST_POINTS)
    own, aim = model.matrix[:, changed], model.matrix[:, target]
    if np.allclose(own, aim, rtol=0.0, atol=1e-14):
        raise CobayesError(
            f"column {model.hypotheses[changed]!r} equals that of "
            f"{model.hypotheses[target]!r}; there is nothing to mix.",
            "perturb another column.",
        )
    # Some entry of the target is larger than the column's, as both sum to one.
    shrinking = aim > own
    farthest = -float((own[shrinking] / (aim - own)[shrinking]).min())
    share = farthest + (1.0 - farthest) * (np.arange(count) + 0.5) / count
    return (1.0 - share)[:, None] * own + share[:, None] * aim


def _ratios_at(level: float, rays: Array) -> Array:
    """Return the ratio distributions at which the divergence has a level, one on every ray.

    On a ray ``r = (1 - (1 - exp(-y)) q) / n`` with ``max(q) = 1``, so that y = 0 is the middle and
    the border is at infinity: bisection in y loses no digits near the border.
    """
    size = rays.shape[1]
    slopes = -rays / (-rays).max(axis=1, keepdims=True)

    def ratios(y: Array) -> Array:
        return ((1.0 - slopes) + slopes * np.exp(-y)[:, None]) / size

    low = np.zeros(len(rays))
    # The entry that vanishes alone contributes (log n r = -y) / n; the others at most log n.
    high = np.full(len(rays), size * (level + np.log(size)) + 1.0)
    for _ in range(200):
        middle = 0.5 * (low + high)
        below = -np.log(size * ratios(middle)).mean(axis=1) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return ratios(0.5 * (low + high))


def _columns(
    matrix: MatrixLike, column: SupportsIndex | str, hypothesis: SupportsIndex | str
) -> tuple[Model, int, int]:
    given = as_model(matrix)
    model = Model(given.normalized(), given.data, given.hypotheses)
    changed = model.hypothesis_index(column)
    target = model.hypothesis_index(hypothesis)
    if changed == target:
        raise CobayesError(
            f"column {model.hypotheses[changed]!r} is the one of what is taught.",
            "perturb another one: perturbing the target is the same as perturbing all others.",
        )
    return model, changed, target
