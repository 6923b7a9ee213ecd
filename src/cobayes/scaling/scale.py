"""`scale`: Sinkhorn scaling with a measured residual."""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.distributions import aligned
from cobayes._input.labels import make_labels
from cobayes._input.tables import as_floats, require_entries, unpack
from cobayes._input.validation import number_between, whole_number
from cobayes._runtime.threads import map_chunks
from cobayes.errors import CobayesError, ConvergenceError, InfeasibleError
from cobayes.model import MatrixLike
from cobayes.scaling import small
from cobayes.scaling.blocks import (
    Status,
    describe_blocks,
    explain,
    find_blocks,
    pattern_workspace,
)
from cobayes.scaling.lanes import slow_mode
from cobayes.scaling.plain import (
    Scalings,
    scale_many_plainly,
    scale_plain_array,
    scale_together,
    sum_unit,
)
from cobayes.scaling.problem import balance, validated_sums
from cobayes.scaling.result import ScalingResult, accuracy_hint
from cobayes.scaling.solver import Solution, solve, solve_components
from cobayes.scaling.stopping import (
    LARGEST,
    LOOSEST,
    MAX_SWEEPS,
    NEGLIGIBLE,
    PARALLEL_SIZE,
    SMALLEST,
    entry_spread,
    is_nearly_blocks,
)
from cobayes.scaling.sweeps import assemble

Array = NDArray[np.float64]

# Matrices of a batch that one thread scales in one go.
BATCH_CHUNK = 1024
# From so many column sums for one matrix on, they are scaled side by side.
MANY = 16
# Where all entries are above this, none comes from a product with a denormal part.
FAINT = 1e-10


def scale(
    matrix: MatrixLike,
    row_sums: ArrayLike | None = None,
    column_sums: ArrayLike | None = None,
    *,
    tolerance: float = 1e-12,
    max_iterations: int = 100_000,
    warm_start: ScalingResult | None = None,
    on_failure: Literal["raise", "return"] = "raise",
) -> ScalingResult:
    """Scale a non-negative matrix to given row and column sums (Sinkhorn scaling).

    Finds the one matrix of the form ``diag(row_scaling) @ matrix @ diag(column_scaling)`` that
    has these sums. Plain sweeps are tried first; where they are slow (entries many powers of
    ten apart, nearly diagonal matrices) Newton's method takes over. Zeros may make some positive
    entries vanish, or make the sums impossible: see the result's ``status`` and `scaling_blocks`.

    Parameters
    ----------
    matrix
        Not negative, no empty row or column, shape (..., n, m); leading axes are a batch.
    row_sums
        Not negative, shape (..., n); ones by default. A row with sum zero comes out as zeros.
    column_sums
        Not negative, shape (..., m); equal ones with the total of the row sums by default. A
        column with sum zero comes out as zeros. Totals that differ by at most 1e-3 count as
        rounded: the column sums are rescaled.
    tolerance
        For the relative error of every sum, and for the estimated relative error of every
        entry.
    max_iterations
        Most sweeps and Newton steps together.
    warm_start
        The result for a problem nearby; saves sweeps.
    on_failure
        "raise" a `ConvergenceError` (an `InfeasibleError` where zeros make the sums impossible), or
        "return" the result as far as it got: for infeasible sums the limit of alternating
        normalisation that meets the column sums.

    Returns
    -------
    ScalingResult
        The scaled matrix, the scalings, the measured residual.

    Examples
    --------
    >>> import cobayes as cb
    >>> s = cb.scale([[1, 2], [3, 1]], column_sums=[0.5, 1.5])
    >>> s.matrix.sum(axis=1).round(6), s.matrix.sum(axis=0).round(6), s.status
    (array([1., 1.]), array([0.5, 1.5]), 'exact')

    Notes
    -----
    The ``(r, c)``-Sinkhorn scaling of Section 2.1; ``scale(M, column_sums=n * theta)`` is the
    paper's ``M^<n theta>``. Cross-ratios of the matrix are preserved.
    """
    _validate_options(tolerance, max_iterations, on_failure)
    if warm_start is None:
        result = scale_plain_array(matrix, row_sums, column_sums, tolerance, max_iterations)
        if result is not None:
            return result
    values, data, hypotheses = unpack(matrix)
    array = _as_float_array(values)
    if array.ndim == 2:
        data = None if data is None else make_labels(data, array.shape[0], "datum")
        hypotheses = (
            None if hypotheses is None else make_labels(hypotheses, array.shape[1], "hypothesis")
        )
    smallest, largest = _require_entries(array, data, hypotheses)
    rows, columns = validated_sums(
        array.shape,
        row_sums if data is None else aligned(row_sums, data, "datum", "row_sums"),
        column_sums
        if hypotheses is None
        else aligned(column_sums, hypotheses, "hypothesis", "column_sums"),
    )
    batch = rows.shape[:-1]
    is_positive = array.size > 0 and bool(smallest > 0.0 and rows.min(initial=1.0) > 0.0)
    is_moderate = smallest >= SMALLEST and largest <= LARGEST
    # With zeros rows may get less than was asked for.
    asked, rows = rows, rows if is_positive else rows.copy()
    matrices, array = array, np.broadcast_to(array, (*batch, *array.shape[-2:]))
    start = _validated_start(warm_start, batch, array.shape[-1])

    out = np.empty(array.shape)
    num_items = math.prod(batch)
    row_scaling, factors = np.empty(rows.shape), np.empty(columns.shape)
    measures = np.empty((*batch, 3))  # iterations, error, residual
    statuses = ["exact"] * num_items
    is_small = array.shape[-2] * array.shape[-1] < PARALLEL_SIZE
    is_quick = batch and num_items and start is None and is_small and is_positive
    plain = _stacked(matrices, array) if is_quick else None
    slowest = None
    if plain is not None and matrices.ndim == 2 and num_items >= MANY:
        slowest = _slow_mode(plain[0], rows, tolerance, max_iterations)
        matrices = plain[0]

    def scale_items(first: int) -> None:
        found = np.zeros((min(BATCH_CHUNK, num_items - first), 4))
        chunk = slice(first, first + len(found))
        targets = columns.reshape(-1, columns.shape[-1])[chunk]
        scalings = Scalings(
            out.reshape(-1, *out.shape[-2:])[chunk],
            row_scaling.reshape(-1, rows.shape[-1])[chunk],
            factors.reshape(-1, columns.shape[-1])[chunk],
            found,
        )
        if slowest is not None:
            scale_together(matrices, targets, slowest, tolerance, scalings)
        elif plain is not None:
            scale_many_plainly(
                plain[chunk] if len(plain) > 1 else plain,
                rows.reshape(-1, rows.shape[-1])[chunk],
                targets,
                tolerance,
                min(max_iterations, MAX_SWEEPS),
                scalings,
            )
        measures.reshape(-1, 3)[chunk] = found[:, 1:]
        for k in np.flatnonzero(found[:, 0] == 0.0).tolist():
            item = _item(first + k, batch)
            balanced, row_units, column_units = (
                (array[item], 1.0, 1.0) if is_moderate else balance(array[item])
            )
            total = sum_unit(rows[item].sum())
            supported, solution, ratios, statuses[first + k] = _solve_item(
                balanced,
                is_positive,
                rows[item] / total,
                columns[item] / total,
                tolerance,
                max_iterations,
                None if start is None else start[item] * column_units,
            )
            rows[item] *= ratios
            residual = assemble(
                supported,
                solution.row_scaling,
                solution.factors,
                rows[item],
                columns[item],
                out[item],
            )
            _restore_faint(
                supported, solution, columns[item], out[item], smallest if is_moderate else 0.0
            )
            measures[item] = solution.num_iterations, solution.error, residual
            with np.errstate(over="ignore"):  # scalings of extreme matrices may be beyond float64
                row_scaling[item] = solution.row_scaling / row_units
                factors[item] = solution.factors / column_units

    # A single matrix is dealt out to threads row by row, inside `solve`; a batch here.
    map_chunks(scale_items, range(0, num_items, BATCH_CHUNK))
    counts, errors, residuals = np.moveaxis(measures, -1, 0).copy()
    converged = (residuals <= tolerance) & (errors <= tolerance)
    result = ScalingResult(
        matrix=out,
        row_scaling=row_scaling,
        column_scaling=factors * columns,
        row_sums=rows,
        column_sums=columns,
        residual=residuals if batch else float(residuals),
        num_iterations=counts.astype(np.int64) if batch else int(counts),
        is_converged=converged if batch else bool(converged),
        error=errors if batch else float(errors),
        factors=factors,
        status=np.array(statuses, dtype=object).reshape(batch) if batch else statuses[0],
        data=data,
        hypotheses=hypotheses,
    )
    if on_failure == "raise":
        if "infeasible" in statuses:
            item = _item(statuses.index("infeasible"), batch)
            raise _infeasible_error(array, asked, result, item)
        if not np.all(result.is_converged):
            raise _convergence_error(result, tolerance, max_iterations)
    return result


def _item(position: int, batch: tuple[int, ...]) -> tuple[int, ...]:
    """Return the indices of an item of a batch."""
    return tuple(int(index) for index in np.unravel_index(position, batch)) if batch else ()


def _restore_faint(
    supported: Array, solution: Solution, column_sums: Array, out: Array, smallest: float
) -> None:
    """Compute by logarithms the entries that lost digits in a product with a denormal part."""
    with np.errstate(all="ignore"):  # a bound, which saves a look at all entries
        bound = smallest * solution.row_scaling.min() * (solution.factors * column_sums).min()
    if bound > FAINT or out.min() > FAINT:
        return
    with np.errstate(over="ignore"):  # factors that are not usable become an error later
        is_lost = solution.row_scaling[:, None] * supported < NEGLIGIBLE
    i, j = np.nonzero(is_lost & (supported > 0.0) & (column_sums > 0.0))
    factors = solution.row_scaling[i], supported[i, j], solution.factors[j], column_sums[j]
    with np.errstate(divide="ignore", invalid="ignore"):  # rows and columns without a factor
        entries = np.exp(sum(np.log(factor) for factor in factors))
    out[i, j] = np.where(np.isfinite(entries), entries, 0.0)


def _solve_item(
    matrix: Array,
    is_positive: bool,
    row_sums: Array,
    column_sums: Array,
    tolerance: float,
    max_iterations: int,
    factors: Array | None,
) -> tuple[Array, Solution, Array | float, Status]:
    """Scale one matrix; also return what survives of it, and by how much row sums change."""
    if (is_positive or matrix.min() > 0.0) and row_sums.min() > 0.0:
        solution = solve(
            matrix,
            row_sums,
            column_sums,
            tolerance=tolerance,
            max_iterations=max_iterations,
            spread=entry_spread(matrix),
            factors=factors,
        )
        return matrix, solution, 1.0, "exact"
    work = pattern_workspace(matrix > 0.0)
    count = find_blocks(work, row_sums, column_sums)
    blocks = describe_blocks(work, count, row_sums, column_sums)
    supported, solution = solve_components(
        matrix,
        row_sums,
        work,
        count,
        tolerance=tolerance,
        max_iterations=max_iterations,
        factors=factors,
    )
    if count == 1 and blocks.status != "infeasible":
        return supported, solution, 1.0, blocks.status
    # What rows get is what their component's columns have, nothing where these have nothing.
    is_placed = work.column_labels >= 0
    given = np.bincount(work.column_labels[is_placed], column_sums[is_placed], count)
    ratios = np.append(given / work.totals[:count], 0.0)  # the last one for rows without any
    return supported, solution, ratios[work.row_labels], blocks.status


def _slow_mode(
    matrix: Array, row_sums: Array, tolerance: float, max_iterations: int
) -> Array | None:
    """Return the slow mode of a matrix that can be scaled in lanes, else None."""
    if matrix.shape[1] <= small.LARGEST or max_iterations < MAX_SWEEPS or tolerance > LOOSEST:
        return None
    is_plain = (matrix >= SMALLEST).all() and (matrix <= LARGEST).all() and (row_sums == 1.0).all()
    if not is_plain or is_nearly_blocks(matrix):
        return None
    return slow_mode(matrix, row_sums.reshape(-1, len(matrix))[0], tolerance)


def _stacked(matrices: Array, array: Array) -> Array:
    """Return matrices one after another: a single one where all items of a batch share it."""
    stack = matrices if matrices.ndim == 2 else array
    stack = np.ascontiguousarray(stack).reshape(-1, *array.shape[-2:])
    # To the compiler read-only arrays would be another type, for which it would compile again.
    return stack if stack.flags.writeable else stack.copy()


def _infeasible_error(array: Array, asked: Array, result: ScalingResult, item: tuple[int, ...]):
    """Return the error about sums that zeros make impossible, for the first item concerned."""
    n, m = array.shape[-2:]
    work = pattern_workspace(array[item] > 0.0)
    columns = result.column_sums[item]
    count = find_blocks(work, asked[item], columns)
    text = explain(
        describe_blocks(work, count, asked[item], columns),
        asked[item],
        columns,
        result.data or make_labels(None, n, "datum"),
        result.hypotheses or make_labels(None, m, "hypothesis"),
    )
    place = f"item ({', '.join(map(str, item))}) of the batch: " if item else ""
    return InfeasibleError(
        f"{place}no matrix with these zeros has these sums: {text}",
        "change the sums, fill in zeros that are not meant, or pass on_failure='return' for the "
        "limit that meets the column sums.",
        result,
    )


def _convergence_error(result: ScalingResult, tolerance: float, max_iterations: int):
    missed = int(np.sum(~np.asarray(result.is_converged)))
    where = "the scaling" if np.ndim(result.residual) == 0 else f"{missed} scalings of the batch"
    count = int(np.max(result.num_iterations))
    if count >= max_iterations:
        hint = f"raise max_iterations above {max_iterations}, or pass on_failure='return'."
    else:
        worst = float(max(np.max(result.error), np.max(result.residual)))
        hint = f"{accuracy_hint(worst, 1.0, 'a')} on_failure='return' returns what was reached."
    return ConvergenceError(
        f"{where} did not converge to {tolerance:g}: after {count} iterations the residual is "
        f"{np.max(result.residual):.2g} and the estimated error {np.max(result.error):.2g}.",
        hint,
        result,
    )


def _as_float_array(values) -> Array:
    array = as_floats(values, copy=False)
    if np.ndim(values) < 2 or array.shape[-1] == 0 or array.shape[-2] == 0:
        raise CobayesError(
            f"the matrix has shape {np.shape(values)}; expected (..., n, m), data by hypotheses."
        )
    return array


def _require_entries(array: Array, data, hypotheses) -> tuple[float, float]:
    """Explain what is wrong with the entries, or return the smallest and the largest."""
    smallest, largest = array.min(initial=np.inf), array.max(initial=0.0)
    if smallest > 0.0 and largest < np.inf:
        return smallest, largest
    for item in np.ndindex(array.shape[:-2]):
        try:
            require_entries(
                array[item],
                data or make_labels(None, array.shape[-2], "datum"),
                hypotheses or make_labels(None, array.shape[-1], "hypothesis"),
            )
        except CobayesError as error:
            if not item:
                raise
            place = ", ".join(map(str, item))
            raise CobayesError(
                f"item ({place}) of the batch: {error.message}", error.hint
            ) from None
    return smallest, largest


def _validate_options(tolerance: float, max_iterations: int, on_failure: str) -> None:
    number_between(tolerance, "tolerance", 0.0, 1.0, hint="1e-12 is the default.")
    whole_number(max_iterations, "max_iterations", 1)
    if on_failure not in ("raise", "return"):
        raise CobayesError(f"on_failure is {on_failure!r}; expected 'raise' or 'return'.")


def _validated_start(
    warm_start: ScalingResult | None, batch: tuple[int, ...], num_columns: int
) -> Array | None:
    if warm_start is None:
        return None
    if not isinstance(warm_start, ScalingResult):
        raise CobayesError(
            f"warm_start is a {type(warm_start).__name__}; expected the result of another scale()."
        )
    factors = np.asarray(warm_start.factors)
    expected = (*batch, num_columns)
    usable = np.isfinite(factors) & (factors > 0.0)
    try:
        return np.broadcast_to(np.where(usable, factors, 1.0), expected)
    except ValueError as error:
        raise CobayesError(
            f"warm_start is a result with column scalings of shape {factors.shape}; "
            f"expected {expected}."
        ) from error
