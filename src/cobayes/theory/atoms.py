"""What atomic measures are made of: checks, one round of data, merging, thinning, expectations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.distributions import SUM_SLACK, as_distribution
from cobayes._input.labels import make_labels, shorten
from cobayes._input.tables import as_floats
from cobayes._runtime.threads import map_chunks
from cobayes.errors import CobayesError
from cobayes.rules import BeliefState, Rule
from cobayes.rules.response import add_evidence
from cobayes.rules.responses import CompiledResponses
from cobayes.scaling.blocks import find_blocks, pattern_workspace

Array = NDArray[np.float64]
Indices = NDArray[np.intp]

# Beliefs are answered in blocks that keep compiled code busy and yet fit into the cache;
# these count numbers in the answer, except the first two, which count beliefs.
SMALLEST_BLOCK, LARGEST_BLOCK = 64, 4096
COMFORTABLE_ANSWER, LARGEST_ANSWER = 400_000, 4_000_000
# The most numbers that one measure may hold (80 MB, and seconds to compute); exact_rounds needs no
# such table.
MOST_NUMBERS = 10_000_000
# A function is called with all atoms at once if that agrees at so many of them.
PROBES = 256


def block_size(rule: Rule) -> int:
    """Return how many beliefs to answer at once; the answer takes 32 MB at most."""
    size = rule.model.matrix.size
    comfortable = min(LARGEST_BLOCK, max(SMALLEST_BLOCK, COMFORTABLE_ANSWER // size))
    return max(1, min(comfortable, LARGEST_ANSWER // size))


class Answers(NamedTuple):
    """A rule's likelihood matrices at some beliefs, as a learner uses them, in factored form.

    Attributes
    ----------
    beliefs : ndarray
        The beliefs, (a, m).
    rows, columns : ndarray
        The factors, (a, n) and (a, m).
    tables : ndarray
        What they multiply: (a, n, m), or (1, n, m) where it is one matrix for all.
    """

    beliefs: Array
    rows: Array
    tables: Array
    columns: Array

    def likelihoods(self, data: Indices) -> Array:
        """Return the likelihoods of some data, (a, data, m)."""
        found = self.rows[:, data, None] * self.tables[:, data]
        found *= self.columns[:, None, :]
        return found


def answers_at(rule: Rule, log_beliefs: Array) -> Answers:
    """Return the rule's answers to some beliefs, given by their logarithms, (a, m)."""
    responses = rule.respond_many(BeliefState.from_logs(log_beliefs))
    beliefs = responses.beliefs.beliefs
    if isinstance(responses, CompiledResponses):
        rows, columns = responses.factors
        return Answers(beliefs, rows, responses.matrices, columns)
    # Not normalised over data: a literal learner takes the table as it is.
    tables = np.exp(responses.log_likelihoods)
    return Answers(beliefs, np.ones(tables.shape[:2]), tables, np.ones_like(beliefs))


def log_posteriors(log_beliefs: Array, likelihoods: Array) -> Array:
    """Return the logarithms of every belief's posterior after every datum, (a, n, m).

    After a datum that all believed hypotheses exclude they are NaN.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        return add_evidence(log_beliefs[:, None, :], np.log(likelihoods))


def most_rounds(num_data: int, num_hypotheses: int) -> int:
    """Return after how many rounds all sequences of data still fit into one measure."""
    rounds, numbers = 0, num_hypotheses
    while num_data > 1 and numbers * num_data <= MOST_NUMBERS:
        numbers *= num_data
        rounds += 1
    return rounds


def split_atoms(
    weights: Array,
    log_beliefs: Array,
    rule: Rule,
    data: Indices,
    chances: Callable[[Array, Array], Array],
) -> tuple[Array, Array]:
    """Return weights (a',) and log-beliefs (a', m) after one more datum.

    Parameters
    ----------
    weights, log_beliefs
        Shapes (a,) and (a, m).
    rule
        The learner's.
    data
        Positions of the data that may come.
    chances
        From log-beliefs (a, m) and likelihoods (a, n, m) to the probabilities of these data,
        (a, len(data)).
    """
    num_atoms, width = log_beliefs.shape
    count = num_atoms * len(data)
    if count * width > MOST_NUMBERS:
        raise CobayesError(
            f"one more round takes the measure from {num_atoms} to {count} atoms on {width} "
            f"hypotheses; more than {MOST_NUMBERS:.0e} numbers are not kept in memory.",
            "use pruned(mass) or, where the order of data does not matter, merged() after "
            "every round; exact_rounds gives means and deviations without storing atoms.",
        )
    shares = np.empty((num_atoms, len(data)))
    logs = np.empty((num_atoms, len(data), width))
    excluded = np.empty((num_atoms, len(data)), dtype=np.bool_)
    size = block_size(rule)
    everything = np.arange(rule.model.num_data)

    def split(start: int) -> None:
        block = slice(start, start + size)
        likelihoods = answers_at(rule, log_beliefs[block]).likelihoods(everything)
        shares[block] = weights[block, None] * chances(log_beliefs[block], likelihoods)
        shown = likelihoods[:, data]
        logs[block] = log_posteriors(log_beliefs[block], shown)
        excluded[block] = (shown == 0.0).any() and (
            (shown == 0.0) | (log_beliefs[block] == -np.inf)[:, None, :]
        ).all(axis=2)

    map_chunks(split, range(0, num_atoms, size))
    shares, logs = shares.reshape(-1), logs.reshape(-1, width)
    never = shares == 0.0
    surprising = excluded.reshape(-1) & (shares > 0.0)
    if not (never.any() or surprising.any()):
        return shares, logs
    if surprising.any():
        datum = rule.model.data[data[np.flatnonzero(surprising)[0] % len(data)]]
        raise CobayesError(
            f"datum {datum!r} is excluded by everything that an atom of the measure believes.",
            "give such data no probability, or start from a belief that allows them.",
        )
    return shares[~never], logs[~never]


def even_shares(rule: Rule, beliefs: Array) -> Array:
    """Return how often data are shown at every belief, as evenly as zeros allow, (a, n).

    They are the row sums that the blocks of the table get, over their total.
    """
    model = rule.model
    prior = model.distribution(getattr(rule, "data_prior", None), over="datum")
    row_sums = model.num_data * prior
    work = pattern_workspace(model.matrix > 0.0)
    shares = np.empty((len(beliefs), model.num_data))
    for share, belief in zip(shares, beliefs, strict=True):
        count = find_blocks(work, row_sums, model.num_data * belief)
        labels = work.column_labels
        given = np.bincount(labels[labels >= 0], belief[labels >= 0], count)
        totals = np.bincount(work.row_labels[work.row_labels >= 0], prior[work.row_labels >= 0])
        # The last ratio is for rows without a component.
        ratios = np.append(given / totals, 0.0)
        share[:] = prior * ratios[work.row_labels]
    return shares / shares.sum(axis=1, keepdims=True)


def merge_equal(weights: Array, log_beliefs: Array, tolerance: float) -> tuple[Array, Indices]:
    """Return the weights of the different atoms and where each is first found.

    Parameters
    ----------
    weights, log_beliefs
        Shapes (a,) and (a, m).
    tolerance
        Atoms are equal when no log-belief differs by more than this.
    """
    # Compiled code is loaded when it is needed.
    from cobayes.theory.tree_kernels import lead_equal_atoms

    finite = np.where(np.isfinite(log_beliefs), log_beliefs, 0.0)
    # Equal atoms have equal projections: sorting these avoids comparing all pairs.
    direction = np.cos(np.arange(1.0, finite.shape[1] + 1.0))
    keys = finite @ direction
    rounding = 1e-14 * float(np.abs(finite).max()) * len(direction)
    window = tolerance * float(np.abs(direction).sum()) + rounding
    leaders = np.empty(len(weights), dtype=np.int64)
    order = np.argsort(keys, kind="stable")
    lead_equal_atoms(keys, order, log_beliefs, tolerance, window, leaders)
    kept, places = np.unique(leaders, return_inverse=True)
    merged = np.zeros(len(kept))
    np.add.at(merged, places, weights)
    return merged, kept


def without_lightest(weights: Array, mass: float) -> tuple[Indices, float]:
    """Return, in order, the atoms that stay and the weight of those that go.

    Parameters
    ----------
    weights
        Shape (a,).
    mass
        The most that the others may weigh; one atom always stays.
    """
    order = np.argsort(weights, kind="stable")
    dropped = np.cumsum(weights[order])
    count = min(int(np.searchsorted(dropped, mass, side="right")), len(weights) - 1)
    return np.sort(order[count:]), float(dropped[count - 1]) if count else 0.0


def expectation(
    weights: Array, table: Array, function: Callable[[Array], ArrayLike]
) -> float | Array:
    """Return the weighted sum of a function of the rows of a table.

    Parameters
    ----------
    weights
        Shape (a,).
    table
        One row for each atom, (a, m).
    function
        Of one row, (m,); or of the table, with one result for each row. It is called with the
        table if that gives, at a few hundred rows, what it gives for each of them alone.
    """
    values = _values_of_table(table, function)
    spread = np.linspace(0, len(table) - 1, min(PROBES, len(table))).astype(np.intp)
    probes = np.unique(np.concatenate([spread, table.argmin(axis=0), table.argmax(axis=0)]))
    try:
        alone = _as_numbers([function(row) for row in table[probes]])
    except (IndexError, TypeError, ValueError) as error:
        if values is None:
            raise CobayesError(
                f"the function fails for one belief, an array of shape {table[0].shape}: {error}.",
                "write it for one belief: lambda belief: belief[0] ** 2, say.",
            ) from error
    else:
        if values is None or not _agree(values[probes], alone):
            values = _as_numbers([function(row) for row in table])
    expected = np.tensordot(weights, values, axes=1)
    return float(expected) if expected.ndim == 0 else expected


def _values_of_table(table: Array, function: Callable[[Array], ArrayLike]) -> NDArray[Any] | None:
    """Call the function with the whole table; None unless it gives one result for each row."""
    # In a square table rows could be mistaken for columns: one more row tells them apart.
    is_square = table.shape[0] == table.shape[1]
    shown = np.concatenate([table, table[:1]]) if is_square else table
    try:
        values = _as_numbers(function(shown))
    except (CobayesError, IndexError, TypeError, ValueError):
        return None
    return values[: len(table)] if values.ndim and len(values) == len(shown) else None


def _agree(at_once: NDArray[Any], alone: NDArray[Any]) -> bool:
    # A vectorised sum may round differently.
    return at_once.shape == alone.shape and np.allclose(at_once, alone, 1e-9, 0.0, equal_nan=True)


def _as_numbers(values: Any) -> NDArray[Any]:
    try:
        array = np.asarray(values)
    except ValueError as error:
        raise CobayesError(
            "the function returns arrays of different shapes for different beliefs.",
            "return numbers, or arrays of one shape.",
        ) from error
    if array.dtype.kind not in "biufc":
        raise CobayesError(
            f"the function returns {array.dtype} values; expected numbers.",
            "return a number, or an array of numbers, for each belief.",
        )
    return array


def checked_weights(values: ArrayLike, count: int, name: str) -> Array:
    """Validate weights that sum to one.

    Parameters
    ----------
    values
        Not negative; a sum within 1e-3 of one counts as rounded and is renormalised.
    count
        How many there must be.
    name
        What to call them in an error message.
    """
    array = as_floats(values, copy=True, name=f"set of {name}")
    if array.shape != (count,):
        raise CobayesError(f"the {name} have shape {array.shape}; expected ({count},).")
    if not (np.isfinite(array).all() and (array >= 0.0).all()):
        raise CobayesError(f"the {name} hold a number that is negative or not finite.")
    total = float(array.sum())
    if abs(total - 1.0) > SUM_SLACK:
        raise CobayesError(
            f"the {name} sum to {total:.6g}, not to 1.",
            "divide them by their sum (sums within 1e-3 of one are renormalised).",
        )
    return array / total


def checked_beliefs(
    beliefs: Sequence[Any] | ArrayLike, hypotheses: Iterable[object] | None
) -> tuple[tuple[str, ...] | None, Array]:
    """Validate beliefs; return their labels, if there are any, and a table (a, m).

    Parameters
    ----------
    beliefs
        One distribution over hypotheses for each atom.
    hypotheses
        The labels; None takes those that the first belief brings, if it does.
    """
    rows: list[Any] = list(beliefs) if isinstance(beliefs, Iterable) else [beliefs]
    first: Any = rows[0] if rows else None
    has_labels = hasattr(first, "keys")
    if first is None or not (has_labels or _is_array(first)):
        raise CobayesError(
            f"the belief of an atom is {first!r}; expected a distribution over hypotheses."
            if rows
            else "there are no beliefs; a measure needs at least one atom.",
            "one atom: AtomicMeasure.at([0.2, 0.8]); several: "
            "AtomicMeasure.from_atoms([0.5, 0.5], [[0.2, 0.8], [0.4, 0.6]]).",
        )
    if hypotheses is None and has_labels:
        hypotheses = list(first.keys())
    given = None if hypotheses is None else list(hypotheses)
    labels = make_labels(given, len(first), "hypothesis")
    table = np.array([as_distribution(row, labels, "hypothesis", "belief") for row in rows])
    return None if given is None else labels, table


def _is_array(value: Any) -> bool:
    """Tell whether something holds several values, as text does not."""
    if isinstance(value, str | bytes):
        return False
    try:
        return np.ndim(value) > 0
    except ValueError:  # lists of different lengths
        return True


def joined_labels(
    own: tuple[str, ...] | None, other: tuple[str, ...] | None
) -> tuple[str, ...] | None:
    """Return the labels on which two sides agree; None, or mere numbers, agree with any."""
    if own is None or (other is not None and _are_mere_numbers(own)):
        return other
    if other is None or own == other or _are_mere_numbers(other):
        return own
    raise CobayesError(
        f"the hypotheses are labelled {shorten(own, 4)} on one side and "
        f"{shorten(other, 4)} on the other.",
        "give both the same labels in the same order.",
    )


def _are_mere_numbers(labels: tuple[str, ...]) -> bool:
    """Tell whether labels only count positions, as they do where nobody gave any."""
    return labels == tuple(str(position) for position in range(len(labels)))
