"""Asymptotic rates of convergence: how fast the log-odds of the truth grow, per round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import find
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, as_model
from cobayes.rules import BI, SCBI, Rule
from cobayes.theory.divergence import divergence_of_pairs, sharp_divergence_of_pairs

RuleName = Literal["scbi", "bi"]

# Divergences below this, relative to the logarithms they are differences of, are computed again
# without cancellation.
_CANCELLATION = 1e-2
_BLOCK_ENTRIES = 1 << 20


@overload
def rate_of_convergence(
    matrix: MatrixLike | Rule, hypothesis: None = None, rule: RuleName | None = None
) -> NDArray[np.float64]: ...


# One matrix gives a number, a stack an array: types cannot tell them apart.
@overload
def rate_of_convergence(
    matrix: MatrixLike | Rule, hypothesis: int | str, rule: RuleName | None = None
) -> Any: ...


def rate_of_convergence(
    matrix: MatrixLike | Rule, hypothesis: int | str | None = None, rule: RuleName | None = None
) -> float | NDArray[np.float64]:
    """Return the asymptotic rate of convergence of SCBI or BI.

    It is the slope, per round, of the learner's log-odds on the hypothesis that is taught.

    Parameters
    ----------
    matrix
        Data by hypotheses; an array may have leading axes, one matrix for each index. Or a
        rule, `SCBI` or `BI`, whose rate it then is.
    hypothesis
        The one that is taught; all of them when left out.
    rule
        "scbi" or "bi"; when left out that of the rule given, or "scbi" for a matrix.

    Returns
    -------
    float or ndarray
        A number for one hypothesis, (m,) for all; leading axes are kept. Never negative, and
        zero exactly where another column is the same.

    Notes
    -----
    Theorems 3.2 and 3.6: R(M; h) is the smallest KL divergence of column h from another column,
    of the column-normalised matrix for BI and of M-sharp for SCBI; see `m_sharp`. All pairs come
    from two matrix products; small divergences are computed again pair by pair.
    """
    values, position = _matrices_and_position(matrix, hypothesis)
    return _as_result(_over_others(values, _rule_name(matrix, rule), np.min), position)


@overload
def relevant_hypothesis(
    matrix: MatrixLike | Rule, hypothesis: None = None, rule: RuleName | None = None
) -> NDArray[np.intp]: ...


# One matrix gives a number, a stack an array: types cannot tell them apart.
@overload
def relevant_hypothesis(
    matrix: MatrixLike | Rule, hypothesis: int | str, rule: RuleName | None = None
) -> Any: ...


def relevant_hypothesis(
    matrix: MatrixLike | Rule, hypothesis: int | str | None = None, rule: RuleName | None = None
) -> int | NDArray[np.intp]:
    """Return the hypothesis that is hardest to tell from the one that is taught.

    Its column alone decides the rate: a perturbation of another column leaves it as it is.

    Parameters
    ----------
    matrix, hypothesis, rule
        As in `rate_of_convergence`.

    Returns
    -------
    int or ndarray
        A position for one hypothesis, (m,) for all; leading axes are kept. The first one
        where several are equally hard.

    Notes
    -----
    Section 5.2: the arg min of Theorem 3.6.
    """
    values, position = _matrices_and_position(matrix, hypothesis)
    return _as_result(_over_others(values, _rule_name(matrix, rule), np.argmin), position)


def m_sharp(matrix: MatrixLike | SCBI, hypothesis: int | str) -> NDArray[np.float64]:
    """Return the matrix that SCBI uses in the end, when the learner all but knows the truth.

    Parameters
    ----------
    matrix
        Data by hypotheses, or `SCBI`; an array may have leading axes.
    hypothesis
        The one that is taught.

    Returns
    -------
    ndarray
        Columns sum to one; that of the hypothesis is uniform.

    Notes
    -----
    Theorem 3.6: rows are divided by the hypothesis's column, then columns normalised.
    """
    if _own_rule_name(matrix) == "bi":
        raise CobayesError(
            "M-sharp belongs to SCBI; BI uses the column-normalised matrix throughout.",
            "use m_sharp(rule.model, hypothesis), or rule.model.normalized() for BI's matrix.",
        )
    values, position = _matrices_and_position(matrix, hypothesis, need_two=False)
    if position is None:
        raise CobayesError("M-sharp belongs to one hypothesis and none was given.")
    # In logarithms: the quotient of two representable numbers need not be one.
    sharp = np.log(values)
    sharp -= sharp[..., :, position, None].copy()
    sharp -= sharp.max(axis=-2, keepdims=True)
    np.exp(sharp, out=sharp)
    return sharp / sharp.sum(axis=-2, keepdims=True)


def _rule_name(matrix: Any, rule: Any) -> RuleName:
    """Return what the user asked for, which must not contradict a rule that was given."""
    own = _own_rule_name(matrix)
    if rule is None:
        return own or "scbi"
    if not isinstance(rule, str) or rule not in ("scbi", "bi"):
        raise CobayesError(f"there is no rate for a rule {rule!r}.", "choose 'scbi' or 'bi'.")
    if own is not None and rule != own:
        raise CobayesError(
            f"a rule of type {own.upper()} was given, and the rate of {rule.upper()} asked for.",
            "leave rule= out, or give the rule's model: rate_of_convergence(rule.model, "
            f"rule={rule!r}).",
        )
    return rule


def _own_rule_name(matrix: Any) -> RuleName | None:
    """Return the name of the rule that was given, None where it was a mere matrix."""
    if not isinstance(matrix, Rule):
        return None
    # A subclass may answer differently from its parent, so only these two types will do.
    if type(matrix) is BI:
        return "bi"
    if type(matrix) is SCBI:
        return "scbi"
    raise CobayesError(
        f"the rate of convergence of {type(matrix).__name__} is not known.",
        "use cobayes.SCBI or cobayes.BI, or measure it with cobayes.empirical_rate.",
    )


def _over_others(
    matrices: NDArray[np.float64], rule: RuleName, reduce: Callable[..., NDArray]
) -> NDArray:
    """Reduce the divergences from each hypothesis to the others, some matrices at a time."""
    num_data, num_hypotheses = matrices.shape[-2:]
    stack = matrices.reshape(-1, num_data, num_hypotheses)
    step = max(1, _BLOCK_ENTRIES // (num_hypotheses * max(num_data, num_hypotheses)))
    parts = [
        reduce(_divergences(stack[start : start + step], rule), axis=-1)
        for start in range(0, max(1, len(stack)), step)
    ]
    return np.concatenate(parts).reshape(*matrices.shape[:-2], num_hypotheses)


def _divergences(stack: NDArray[np.float64], rule: RuleName) -> NDArray[np.float64]:
    """Return all pairwise divergences (matrix, h, h'), infinite on the diagonal."""
    num_data = stack.shape[1]
    largest = stack.max(axis=1, keepdims=True)
    columns = stack / largest
    sums = columns.sum(axis=1, keepdims=True)
    columns /= sums
    # From the entries themselves: a quotient may underflow, its logarithm does not.
    logs = np.log(stack) - np.log(largest) - np.log(sums)
    size = 1.0 + np.abs(logs).max(axis=(1, 2))[:, None, None]
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        if rule == "bi":
            cross = columns.transpose(0, 2, 1) @ logs
            divergence = np.diagonal(cross, axis1=1, axis2=2)[:, :, None] - cross
        else:
            # Rows may be divided by anything; by their largest entry, ratios stay in range.
            scaled = columns / columns.max(axis=2, keepdims=True)
            log_ratio_sums = np.log((1.0 / scaled).transpose(0, 2, 1) @ scaled)
            means = logs.mean(axis=1)
            divergence = log_ratio_sums - np.log(num_data) - means[:, None, :] + means[:, :, None]
    unsure = ~(divergence > _CANCELLATION * size) | ~np.isfinite(divergence)
    diagonal = np.arange(stack.shape[2])
    unsure[:, diagonal, diagonal] = False
    pair_divergence = divergence_of_pairs if rule == "bi" else sharp_divergence_of_pairs
    pairs = np.argwhere(unsure)
    step = max(1, _BLOCK_ENTRIES // num_data)
    for start in range(0, len(pairs), step):
        which, taught, other = pairs[start : start + step].T
        divergence[which, taught, other] = pair_divergence(
            columns[which, :, taught],
            columns[which, :, other],
            logs[which, :, taught],
            logs[which, :, other],
        )
    divergence[:, diagonal, diagonal] = np.inf
    return divergence


def _matrices_and_position(
    matrix: MatrixLike | Rule, hypothesis: int | str | None, *, need_two: bool = True
) -> tuple[NDArray[np.float64], int | None]:
    """Validate; return an array of at least two dimensions and the hypothesis's position."""
    if isinstance(matrix, np.ndarray | list | tuple) and np.ndim(matrix) > 2:
        values = _checked_stack(matrix)
        labels = tuple(str(position) for position in range(values.shape[-1]))
    else:
        model = matrix.model if isinstance(matrix, Rule) else as_model(matrix)
        values, labels = model.matrix, model.hypotheses
    position = None if hypothesis is None else find(hypothesis, labels, "hypothesis")
    if need_two and values.shape[-1] < 2:
        raise CobayesError(
            "the matrix has one hypothesis; a rate says how fast it is told from another one.",
            "give at least two hypotheses.",
        )
    return values, position


def _checked_stack(matrices: Any) -> NDArray[np.float64]:
    try:
        values = np.asarray(matrices, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise CobayesError(f"the matrices cannot be read as numbers: {error}.") from error
    if values.shape[-1] == 0 or values.shape[-2] == 0:
        raise CobayesError(f"the matrices are empty (shape {values.shape}).")
    bad = ~((values > 0.0) & (values < np.inf))
    if bad.any():
        place = tuple(int(index) for index in np.argwhere(bad)[0])
        raise CobayesError(
            f"the entry at {place} is {values[place]}; entries must be positive and finite.",
            "smooth each matrix with cobayes.smooth(matrix, 1e-6).",
        )
    return values


def _as_result(values: NDArray, position: int | None) -> Any:
    if position is None:
        return values
    chosen = values[..., position]
    return chosen.item() if chosen.ndim == 0 else chosen
