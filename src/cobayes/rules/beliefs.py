"""Many beliefs at once: the one format in which compiled code holds them.

A belief is kept as ``mantissa * 2**(-512 * shift)``. Products of likelihoods stay exact far below
what float64 can hold, without a logarithm in the loop; a belief with a positive shift is below
1e-154 and weighs nothing in sums. Only this file knows that number.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._runtime.compiled import compiled
from cobayes.scaling.lanes import LANES, from_lanes, to_lanes

Array = NDArray[np.float64]

TINY = 2.0**-512
HUGE = 2.0**512
# The logarithm of a belief is that of its mantissa less this times its shift.
SHIFT_LOG = 512.0 * math.log(2.0)
# Within one round no ratio of likelihoods, at most the square of this, may leap over a whole
# shift of 2**512.
WIDEST_SPREAD = 1e70


class BeliefState(NamedTuple):
    """Many beliefs in lanes, as compiled code takes them.

    Belief k lies in lane ``k % LANES`` of group ``k // LANES``; spare lanes of the last group
    repeat the last belief. Make one with `from_logs`.

    Attributes
    ----------
    mantissas, shifts : ndarray
        The beliefs are ``mantissas * 2**(-512 * shifts)``, (groups, m, LANES).
    size : int
        The number of beliefs.
    row_sums : ndarray or None
        A data prior for each belief, times the number of data: (groups, n, LANES), zero for
        data that are not available. None leaves it to the rule.

    Examples
    --------
    >>> import numpy as np
    >>> from cobayes.rules import BeliefState
    >>> state = BeliefState.from_logs(np.log([[0.5, 0.5], [0.9, 0.1]]))
    >>> state.beliefs.round(6)
    array([[0.5, 0.5],
           [0.9, 0.1]])
    """

    mantissas: Array
    shifts: NDArray[np.int64]
    size: int
    row_sums: Array | None = None

    @classmethod
    def from_logs(
        cls, log_beliefs: ArrayLike, size: int | None = None, data_priors: ArrayLike | None = None
    ) -> BeliefState:
        """Return beliefs given by their logarithms.

        Parameters
        ----------
        log_beliefs
            Normalised, (m,) for `size` equal beliefs or (size, m); minus infinity where a
            hypothesis is ruled out.
        size
            The number of beliefs; not needed where `log_beliefs` has two dimensions.
        data_priors
            Probabilities of the data before anything is taught, (n,) or (size, n); by default
            those of the rule.
        """
        logs = np.asarray(log_beliefs, dtype=np.float64)
        mantissas, shifts = split_logs(logs)
        if logs.ndim == 1:
            shape = (1 if size is None else size, len(logs))
            mantissas, shifts = np.broadcast_to(mantissas, shape), np.broadcast_to(shifts, shape)
        row_sums = None
        if data_priors is not None:
            priors = np.asarray(data_priors, dtype=np.float64)
            row_sums = to_lanes(
                np.broadcast_to(priors * priors.shape[-1], (len(mantissas), priors.shape[-1]))
            )
        return cls(to_lanes(mantissas), to_lanes(shifts), len(mantissas), row_sums)

    @property
    def log_beliefs(self) -> Array:
        """The logarithms of the beliefs, (size, m)."""
        return join_logs(from_lanes(self.mantissas, self.size), from_lanes(self.shifts, self.size))

    @property
    def beliefs(self) -> Array:
        """The beliefs, (size, m); below 1e-154 they read zero here and exactly in the logs."""
        return from_lanes(np.where(self.shifts == 0, self.mantissas, 0.0), self.size)

    @property
    def data_priors(self) -> Array | None:
        """The data priors, (size, n), or None where they are left to the rule."""
        if self.row_sums is None:
            return None
        return from_lanes(self.row_sums, self.size) / self.row_sums.shape[1]

    def keep(self, chosen: NDArray[np.intp]) -> BeliefState:
        """Return some of the beliefs, given by position."""
        rows = self.row_sums
        return BeliefState(
            keep_lanes(self.mantissas, self.size, chosen),
            keep_lanes(self.shifts, self.size, chosen),
            len(chosen),
            None if rows is None else keep_lanes(rows, self.size, chosen),
        )


def join_logs(mantissas: NDArray, shifts: NDArray) -> Array:
    """Undo `split_logs`."""
    with np.errstate(divide="ignore"):
        return np.log(mantissas) - shifts * SHIFT_LOG


def split_logs(logs: Array) -> tuple[Array, NDArray[np.int64]]:
    """Return mantissas and shifts of beliefs that are given by their logarithms."""
    if logs.size and logs.min() > -0.5 * SHIFT_LOG:
        return np.exp(logs), np.zeros(logs.shape, dtype=np.int64)
    with np.errstate(invalid="ignore"):
        shifts = np.floor(-logs / SHIFT_LOG)
    # A belief of zero stays zero whatever its shift.
    shifts = np.where(np.isfinite(shifts), np.maximum(shifts, 0.0), 0.0)
    return np.exp(logs + shifts * SHIFT_LOG), shifts.astype(np.int64)


def keep_lanes(values: NDArray, size: int, chosen: NDArray[np.intp]) -> NDArray:
    """Return some of the problems that lie in lanes, in lanes again."""
    return to_lanes(from_lanes(values, size)[chosen])


@compiled(inner=True)
def fill_shares(mantissas, shifts, shares):
    """Fill in the beliefs as plain numbers, zero where they are negligible, (m, LANES)."""
    for j in range(mantissas.shape[0]):
        for lane in range(LANES):
            shares[j, lane] = mantissas[j, lane] if shifts[j, lane] == 0 else 0.0


@compiled(inner=True)
def fill_share(mantissas, shifts, lane, shares):
    """Fill in one belief as plain numbers, zero only where float64 is at its end.

    With zeros in the matrix a tiny belief counts: it may be all that allows a datum.
    """
    for j in range(mantissas.shape[0]):
        value = mantissas[j, lane]
        shift = shifts[j, lane]
        shares[j, lane] = value if shift == 0 else (value * TINY if shift == 1 else 0.0)


@compiled(inner=True)
def renormalise(mantissas, shifts, totals):
    """Divide every lane's belief by its total and move shifts on where a number left its range.

    Parameters
    ----------
    mantissas, shifts
        In and out, (m, LANES).
    totals
        Sums over the mantissas without a shift; destroyed.
    """
    for lane in range(LANES):
        totals[lane] = 1.0 / totals[lane]
    for j in range(mantissas.shape[0]):
        num_out = 0
        for lane in range(LANES):
            value = mantissas[j, lane] * totals[lane]
            sinks = (value < TINY) & (value > 0.0)
            rises = (value >= 1.0) & (shifts[j, lane] > 0)
            mantissas[j, lane] = value
            num_out += 1 if sinks | rises else 0
        # Rare, and slow: shifts that mostly stay are written by masked instructions.
        if num_out > 0:
            for lane in range(LANES):
                value = mantissas[j, lane]
                shift = shifts[j, lane]
                sinks = (value < TINY) & (value > 0.0)
                rises = (value >= 1.0) & (shift > 0)
                shifts[j, lane] = shift + 1 if sinks else (shift - 1 if rises else shift)
                mantissas[j, lane] = value * HUGE if sinks else (value * TINY if rises else value)


@compiled(inner=True)
def replace_belief(mantissas, shifts, lane, values):
    """Put a belief with new mantissas, on the old shifts, into a lane, normalised.

    The largest of what is left may have a shift: zeros can rule out all that was believed.

    Parameters
    ----------
    mantissas, shifts
        In and out, (m, LANES).
    lane
        The lane.
    values
        The mantissas before normalisation, (m,).

    Returns
    -------
    is_possible
        Whether anything is left; if not, the belief stays as it was.
    """
    num_columns = mantissas.shape[0]
    least = -1
    for j in range(num_columns):
        if values[j] > 0.0 and (least < 0 or shifts[j, lane] < least):
            least = shifts[j, lane]
    if least < 0:
        return False
    total = 0.0
    for j in range(num_columns):
        total += values[j] if shifts[j, lane] == least else 0.0
    for j in range(num_columns):
        value = values[j] / total
        shift = shifts[j, lane] - least if value > 0.0 else 0
        if 0.0 < value < TINY:
            value, shift = value * HUGE, shift + 1
        elif value >= 1.0 and shift > 0:
            value, shift = value * TINY, shift - 1
        mantissas[j, lane], shifts[j, lane] = value, shift
    return True
