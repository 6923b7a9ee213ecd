"""Heat maps of matrices, and of a matrix beside its scaling."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import instance, items
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model, as_model
from cobayes.plots.house import COLORMAP, axes_or_new, color_limits, shorten_label

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Numbers are written into the cells if there are at most 12 rows and 8 columns. Rows are labelled
# if there are at most 40 rows, columns if there are at most 40 columns.
_MAX_WRITTEN_ROWS, _MAX_WRITTEN_COLUMNS, _MAX_NAMED = 12, 8, 40


def plot_matrix(
    matrix: MatrixLike,
    *,
    title: str | None = None,
    write_values: bool | None = None,
    limits: tuple[float, float] | None = None,
    colorbar: bool = False,
    ax: Axes | None = None,
) -> Axes:
    """Draw a data-by-hypotheses matrix as a heat map with its labels.

    Parameters
    ----------
    matrix
        A matrix of any kind, or a `Model`.
    title
        The title above the picture.
    write_values
        Whether to write the number into every cell; None: up to 12 rows and 8 columns.
    limits
        The values of the darkest and the lightest colour; None: 0 and the largest entry.
    colorbar
        Whether to draw a colour bar.
    ax
        The axes to draw on; None makes a new figure.

    Returns
    -------
    Axes
        The axes with the picture.

    Examples
    --------
    >>> import cobayes as cb
    >>> ax = cb.plots.plot_matrix("example:gestures")
    """
    model = as_model(matrix)
    return _draw(model, model.matrix, ax, title, limits, colorbar, write_values)


def plot_scaling(
    matrix: MatrixLike,
    belief: ArrayLike | None = None,
    *,
    titles: tuple[str, str] | None = None,
    axes: tuple[Axes, Axes] | None = None,
) -> tuple[Axes, Axes]:
    """Draw a matrix beside its scaling for a belief, M beside M^<n theta>.

    A row of the scaling is the SCBI learner's posterior after the row's datum; a column, divided by
    its sum, is the distribution from which the teacher of the column's hypothesis draws. The row of
    a datum that is impossible at the belief is empty.

    Parameters
    ----------
    matrix
        A matrix of any kind, or a `Model`.
    belief
        The belief theta; None is the uniform belief.
    titles
        The titles of the two pictures; None: the symbols of the two matrices.
    axes
        The two axes to draw on; None makes a new figure.

    Returns
    -------
    tuple of Axes
        The axes of the matrix and of its scaling.

    Notes
    -----
    Section 2.1: for a positive matrix with n data, M^<n theta> has row sums one and column sums
    n theta.

    Examples
    --------
    >>> import cobayes as cb
    >>> left, right = cb.plots.plot_scaling("example:M_3", [0.6, 0.3, 0.1])
    """
    from cobayes.rules import SCBI

    model = as_model(matrix)
    if axes is None:
        rows, columns = model.shape
        size = 4.0 + 1.3 * min(columns, 8), 1.2 + 0.42 * min(rows, 24)
        figure = axes_or_new(None, size).figure
        figure.clear()
        axes = tuple(figure.subplots(1, 2))
    above = (r"$M$", r"$M^{\langle n\theta\rangle}$") if titles is None else titles
    try:
        (left, right), (first, second) = axes, items(above, "titles", "texts", str)
    except (TypeError, ValueError):
        found = f"axes is {axes!r} and titles is {titles!r}"
        raise CobayesError(f"{found}; expected two Axes and two titles.") from None
    scaled = SCBI(model).posteriors(model.distribution(belief, name="belief"))
    _draw(model, model.matrix, left, first)
    _draw(model, scaled, right, second, limits=(0.0, 1.0))
    return left, right


def _draw(
    model: Model,
    values: NDArray[np.float64],
    ax: Axes | None,
    title: str | None,
    limits: tuple[float, float] | None = None,
    colorbar: bool = True,
    write_values: bool | None = None,
) -> Axes:
    """Draw values that have the labels of a model; see `plot_matrix`."""
    rows, columns = model.shape
    ax = axes_or_new(ax, size=(1.6 + 0.75 * min(columns, 12), 1.2 + 0.42 * min(rows, 24)))
    low, high = (0.0, float(values.max())) if limits is None else color_limits(limits)
    shades = {"cmap": COLORMAP, "vmin": low, "vmax": high, "interpolation": "nearest"}
    image = ax.imshow(values, aspect="auto", **shades)
    if write_values is None:
        write_values = rows <= _MAX_WRITTEN_ROWS and columns <= _MAX_WRITTEN_COLUMNS
    if instance(write_values, (bool, np.bool_), "write_values", "True, False or None"):
        for (i, j), value in np.ndenumerate(values):
            if np.isnan(value):  # an impossible datum
                continue
            # In cividis, large values have light colours, on which black text is readable.
            color = "black" if value - low > 0.55 * (high - low) else "white"
            ax.text(j, i, f"{value:.3g}", ha="center", va="center", fontsize="small", color=color)
    if title is not None:
        ax.set_title(title)
    if instance(colorbar, (bool, np.bool_), "colorbar", "True or False"):
        ax.figure.colorbar(image, ax=ax).outline.set_visible(False)
    ax.set(xlabel="hypothesis", ylabel="datum")
    if columns <= _MAX_NAMED:
        names = [shorten_label(name) for name in model.hypotheses]
        is_slanted = sum(map(len, names)) > 30 or columns > 12
        slant = {"rotation": 40, "ha": "right", "rotation_mode": "anchor"} if is_slanted else {}
        ax.set_xticks(range(columns), names, **slant)
    if rows <= _MAX_NAMED:
        ax.set_yticks(range(rows), [shorten_label(name) for name in model.data])
        if rows > 16:
            ax.tick_params(axis="y", labelsize="x-small")
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    return ax
