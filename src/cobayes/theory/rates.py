"""Asymptotic rates of convergence: how fast the log-odds of the truth grow, per round."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, SupportsIndex, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.distributions import as_distribution
from cobayes._input.labels import find
from cobayes._input.tables import as_floats
from cobayes.errors import CobayesError, unteachable
from cobayes.model import MatrixLike, Model, as_model
from cobayes.rules import BI, SCBI, Rule, as_rule
from cobayes.rules.base import in_every_round
from cobayes.rules.naming import rule_class
from cobayes.tasks.task import Task
from cobayes.theory.divergence import BLOCK_ENTRIES, Kind, pairwise_divergences

Array = NDArray[np.float64]
KINDS: dict[Kind, type[Rule]] = {"bi": BI, "scbi": SCBI}


@overload
def rate_of_convergence(
    matrix: MatrixLike | Rule,
    hypothesis: None = None,
    rule: str | None = None,
    data_prior: ArrayLike | None = None,
    *,
    prior: ArrayLike | None = None,
) -> Array: ...


# One matrix gives a number, a stack an array: types cannot tell them apart.
@overload
def rate_of_convergence(
    matrix: MatrixLike | Rule,
    hypothesis: SupportsIndex | str,
    rule: str | None = None,
    data_prior: ArrayLike | None = None,
    *,
    prior: ArrayLike | None = None,
) -> Any: ...


def rate_of_convergence(
    matrix: MatrixLike | Rule,
    hypothesis: SupportsIndex | str | None = None,
    rule: str | None = None,
    data_prior: ArrayLike | None = None,
    *,
    prior: ArrayLike | None = None,
) -> float | Array:
    """Return the asymptotic rate of convergence of SCBI or BI.

    It is the slope, per round, of the learner's log-odds on the hypothesis that is taught.

    Parameters
    ----------
    matrix
        Data by hypotheses; an array may have leading axes, one matrix for each index. Or any
        rule, whose rate it then is: that of its likelihood in the limit of certainty.
    hypothesis
        The one that is taught; all of them when left out.
    rule
        "scbi", "bi", a class of rules or a rule; when left out that of the rule given, or "scbi"
        for a matrix.
    data_prior
        For SCBI: how often each datum is to be shown, (n,); uniform by default. Data of
        probability zero are not available.
    prior
        Only hypotheses with a positive prior are rivals; all of them by default. Where the
        taught hypothesis has none, its rate is NaN.

    Returns
    -------
    float or ndarray
        A number for one hypothesis, (m,) for all; leading axes are kept. Never negative, and
        zero exactly where another column is the same. Infinite where one datum excludes every
        rival, which only zeros in the matrix can do.

    Notes
    -----
    Theorems 3.2 and 3.6: R(M; h) is the smallest KL divergence of column h from another column,
    of the column-normalised matrix for BI and of M-sharp for SCBI; see `m_sharp`. With a data
    prior p it is ``min_j log(sum_i p_i z_ij) - sum_i p_i log(z_ij)``, ``z_ij = M_ij / M_ih``.

    Examples
    --------
    >>> import cobayes as cb
    >>> rate = cb.rate_of_convergence([[0.6, 0.3], [0.4, 0.7]], 0)
    >>> round(rate, 4)
    0.1845
    >>> cb.rate_of_convergence([[0.6, 0.3], [0.4, 0.7]], 0, data_prior=[0.5, 0.5]) == rate
    True
    """
    question = _question(matrix, hypothesis, rule, data_prior, prior)
    return _as_result(_over_others(question, np.min), question.position)


@overload
def relevant_hypothesis(
    matrix: MatrixLike | Rule,
    hypothesis: None = None,
    rule: str | None = None,
    data_prior: ArrayLike | None = None,
    *,
    prior: ArrayLike | None = None,
) -> NDArray[np.intp]: ...


# One matrix gives a number, a stack an array: types cannot tell them apart.
@overload
def relevant_hypothesis(
    matrix: MatrixLike | Rule,
    hypothesis: SupportsIndex | str,
    rule: str | None = None,
    data_prior: ArrayLike | None = None,
    *,
    prior: ArrayLike | None = None,
) -> Any: ...


def relevant_hypothesis(
    matrix: MatrixLike | Rule,
    hypothesis: SupportsIndex | str | None = None,
    rule: str | None = None,
    data_prior: ArrayLike | None = None,
    *,
    prior: ArrayLike | None = None,
) -> int | NDArray[np.intp]:
    """Return the hypothesis that is hardest to tell from the one that is taught.

    Its column alone decides the rate: a perturbation of another column leaves it as it is.

    Parameters
    ----------
    matrix, hypothesis, rule, data_prior, prior
        As in `rate_of_convergence`.

    Returns
    -------
    int or ndarray
        A position for one hypothesis, (m,) for all; leading axes are kept. The first one
        where several are equally hard.

    Notes
    -----
    Section 5.2: the arg min of Theorem 3.6.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.theory.relevant_hypothesis("example:M_1", "h_1")
    1
    """
    question = _question(matrix, hypothesis, rule, data_prior, prior)
    return _as_result(_over_others(question, np.argmin), question.position)


def m_sharp(
    matrix: MatrixLike | SCBI, hypothesis: SupportsIndex | str, data_prior: ArrayLike | None = None
) -> Array:
    """Return SCBI's likelihood in the limit of certainty about a hypothesis.

    Parameters
    ----------
    matrix
        Data by hypotheses, or `SCBI`; an array may have leading axes.
    hypothesis
        The one that is taught.
    data_prior
        How often each datum is to be shown, (n,); uniform by default.

    Returns
    -------
    ndarray
        Columns sum to one; that of the hypothesis is the data prior, restricted to the data
        that it allows.

    Notes
    -----
    Theorem 3.6: rows are divided by the hypothesis's column, then columns normalised. With
    zeros the limit is determined by the hypothesis alone only where all others allow no
    further data.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.theory.m_sharp([[0.7, 0.2], [0.3, 0.8]], 0).round(3)
    array([[0.5  , 0.097],
           [0.5  , 0.903]])
    """
    question = _question(matrix, hypothesis, None, data_prior, None, need_two=False)
    values, position = question.matrices, question.position
    if question.kind != "scbi":
        raise CobayesError(
            "M-sharp belongs to SCBI; other rules have another limit.",
            "use m_sharp(rule.model, hypothesis), or rule.at_certainty(hypothesis).likelihood.",
        )
    if position is None:
        raise CobayesError("M-sharp belongs to one hypothesis and none was given.")
    weights = np.ones(values.shape[-2]) if question.data_prior is None else question.data_prior
    is_shown = (values[..., position] > 0.0) & (weights > 0.0)
    if ((values > 0.0).any(axis=-1) & (weights > 0.0) & ~is_shown).any():
        raise CobayesError(
            "another hypothesis allows data that the taught one excludes; its column in the "
            "limit depends on the beliefs in the others.",
            "use SCBI(matrix).likelihood(belief) at a belief close to certainty.",
        )
    # In logarithms: the quotient of two representable numbers need not be one.
    with np.errstate(divide="ignore", invalid="ignore"):
        sharp = np.log(values)
        sharp = sharp - sharp[..., :, position, None] + np.log(weights)[:, None]
        sharp = np.where(is_shown[..., None], sharp, -np.inf)
        sharp -= sharp.max(axis=-2, keepdims=True)
    np.exp(sharp, out=sharp)
    return sharp / sharp.sum(axis=-2, keepdims=True)


class _Question(NamedTuple):
    """Validated arguments: matrices (..., n, m), a position, and what the rate depends on."""

    matrices: Array
    position: int | None
    kind: Kind | None
    rule: Rule | None
    data_prior: Array | None
    is_rival: NDArray[np.bool_]


def _kind(matrix: Any, rule: Any) -> Kind | None:
    """Return whose closed form to use; None for a rule that has none."""
    own = matrix.closed_form if isinstance(matrix, Rule) else None
    if rule is None:
        return own if isinstance(matrix, Rule) else "scbi"
    name = _name(rule)
    if isinstance(matrix, Rule) and (name is None or name != own):
        raise CobayesError(
            f"a rule of type {matrix.name} was given, and the rate of {rule!r} asked for.",
            "leave rule= out, or give the rule's model: "
            f"rate_of_convergence(rule.model, rule={rule!r}).",
        )
    return name


def _name(rule: Any) -> Kind | None:
    """Return which closed form a class or a name stands for; None where there is none."""
    asked = rule_class(rule)
    return next((name for name, kind in KINDS.items() if asked is kind), None)


def _over_others(question: _Question, reduce: Callable[..., NDArray]) -> NDArray:
    """Reduce the divergences from each hypothesis to its rivals, some matrices at a time."""
    matrices, data_prior = question.matrices, question.data_prior
    if question.kind is None and question.rule is not None:
        num_hypotheses = matrices.shape[-1]
        found = np.full((num_hypotheses, num_hypotheses), np.inf)
        for h in np.flatnonzero(question.is_rival):
            found[h] = question.rule.divergences(int(h))
        found[:, ~question.is_rival] = np.inf
        reduced = reduce(found, axis=-1)
        return np.where(question.is_rival, reduced, np.nan) if reduce is np.min else reduced
    if data_prior is not None:
        available = data_prior > 0.0
        matrices, data_prior = matrices[..., available, :], data_prior[available]
        empty = ~(matrices > 0.0).any(axis=-2)
        if empty.any():
            raise CobayesError(
                f"hypothesis {int(np.argwhere(empty)[0][-1])} allows none of the data that the "
                "data prior makes available.",
                "give a positive probability to one of its data.",
            )
    num_data, num_hypotheses = matrices.shape[-2:]
    stack = matrices.reshape(-1, num_data, num_hypotheses)
    step = max(1, BLOCK_ENTRIES // (num_hypotheses * max(num_data, num_hypotheses)))
    parts = []
    for start in range(0, max(1, len(stack)), step):
        block = stack[start : start + step]
        divergences = pairwise_divergences(block, question.kind or "scbi", data_prior)
        divergences[:, :, ~question.is_rival] = np.inf
        parts.append(reduce(divergences, axis=-1))
    found = np.concatenate(parts)
    if found.dtype == np.float64:
        found[:, ~question.is_rival] = np.nan
    return found.reshape(*matrices.shape[:-2], num_hypotheses)


def _question(
    matrix: MatrixLike | Rule,
    hypothesis: SupportsIndex | str | None,
    rule: Any,
    data_prior: ArrayLike | None,
    prior: ArrayLike | None,
    *,
    need_two: bool = True,
) -> _Question:
    """Validate the arguments of the public functions."""
    if rule is not None and not isinstance(matrix, Rule) and _name(rule) is None:
        matrix, rule = as_rule(rule, matrix), None
    if isinstance(matrix, Task) and not isinstance(matrix, Model):
        matrix, rule = as_rule("scbi" if rule is None else rule, matrix), None
    if isinstance(matrix, Rule):
        matrix = in_every_round(matrix)
    kind = _kind(matrix, rule)
    own = matrix if isinstance(matrix, Rule) else None
    if own is not None and data_prior is None:
        data_prior = getattr(own, "data_prior", None)
    if _is_stack(matrix):
        values = _checked_stack(matrix)
        data, labels = (tuple(map(str, range(size))) for size in values.shape[-2:])
    else:
        model = matrix.model if isinstance(matrix, Rule) else as_model(matrix)
        values, data, labels = model.matrix, model.data, model.hypotheses
    position = None if hypothesis is None else find(hypothesis, labels, "hypothesis")
    if need_two and values.shape[-1] < 2:
        raise CobayesError(
            "the matrix has one hypothesis; a rate needs at least two.",
            "add the hypotheses that it may be confused with.",
        )
    if data_prior is not None and kind == "bi":
        raise CobayesError(
            "BI has no data prior: its teacher draws from the matrix as it is.",
            "leave data_prior out, or take rule='scbi'.",
        )
    if kind is None:
        data_prior = None  # it is in the rule's answers already
    if data_prior is not None:
        data_prior = as_distribution(data_prior, data, "datum", "data prior")
    is_rival = np.ones(len(labels), dtype=np.bool_)
    if prior is not None:
        is_rival = as_distribution(prior, labels, "hypothesis", "prior") > 0.0
        if position is not None and not is_rival[position]:
            raise unteachable(labels[position], "prior")
    return _Question(values, position, kind, own, data_prior, is_rival)


def _is_stack(matrix: Any) -> bool:
    """Tell whether an array, or nested lists, hold several matrices."""
    if isinstance(matrix, np.ndarray):
        return matrix.ndim > 2
    depth = 0
    while isinstance(matrix, list | tuple | np.ndarray) and len(matrix):
        matrix, depth = matrix[0], depth + 1
    return depth > 2


def _checked_stack(matrices: Any) -> NDArray[np.float64]:
    values = as_floats(matrices, copy=True, name="stack of matrices")
    if values.shape[-1] == 0 or values.shape[-2] == 0:
        raise CobayesError(f"the matrices are empty (shape {values.shape}).")
    bad = ~((values >= 0.0) & (values < np.inf))
    if bad.any():
        place = tuple(int(index) for index in np.argwhere(bad)[0])
        raise CobayesError(
            f"the entry at {place} is {values[place]}; entries must be finite and not negative."
        )
    for axis, what in ((-1, "datum"), (-2, "hypothesis")):
        empty = ~(values > 0.0).any(axis=axis)
        if empty.any():
            place = tuple(int(index) for index in np.argwhere(empty)[0])
            raise CobayesError(f"the {what} at {place} has no positive entry.", "leave it out.")
    return values


def _as_result(values: NDArray, position: int | None) -> Any:
    if position is None:
        return values
    chosen = values[..., position]
    return chosen.item() if chosen.ndim == 0 else chosen
