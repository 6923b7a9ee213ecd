"""SCBI: sequential cooperative Bayesian inference."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, Literal, NamedTuple, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.distributions import SUM_SLACK
from cobayes._input.validation import number_between
from cobayes.errors import ConvergenceError
from cobayes.model import MatrixLike, Model
from cobayes.rules.base import Rule
from cobayes.rules.beliefs import WIDEST_SPREAD, BeliefState, keep_lanes
from cobayes.rules.kernels import fill_all_shares, scale_many
from cobayes.rules.response import Response
from cobayes.rules.responses import CompiledResponses
from cobayes.rules.zeros import BlockSolver
from cobayes.scaling import small
from cobayes.scaling.blocks import find_blocks, fresh_workspace, pattern_workspace
from cobayes.scaling.lanes import Lanes, Probes, slow_mode, solve_by_newton
from cobayes.scaling.many import solve_by_sweeps
from cobayes.scaling.plain import PlainProblem, update_plainly
from cobayes.scaling.problem import balance
from cobayes.scaling.result import accuracy_hint
from cobayes.scaling.solver import Solution, solve, solve_components
from cobayes.scaling.stopping import (
    LOOSEST,
    MAX_NEWTON_STEPS,
    WEAK_COUPLING,
    entry_spread,
    is_nearly_blocks,
)

Array = NDArray[np.float64]

MAX_ITERATIONS = 100_000
# Data with a smaller prior than this beside the largest are as small as what counts as a tie.
RAREST = 1e-9


class SCBI(Rule):
    """Sequential cooperative Bayesian inference: the likelihood is scaled to the belief.

    At belief ``theta`` the matrix is Sinkhorn-scaled to row sums one and column sums
    ``n theta``. The teacher draws a datum from the column of the true hypothesis; the learner
    takes the datum's row as its new belief. Scaling rows or columns of the matrix changes
    nothing. Where zeros make the sums impossible, the limit of alternating normalisation takes
    their place; see `scaling_blocks`.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix: an array, DataFrame, DataArray or `Model`.
    data_prior
        Probabilities of the data before anything is taught; uniform by default, zero for data
        that are not available. The row sums are ``n data_prior``.
    tolerance
        For the relative error of the scaling. Values above 1e-9 count as 1e-9, in single calls and
        in compiled lessons alike: a looser scaling saves next to nothing.

    Notes
    -----
    Section 2.1 and Algorithm 1 of the paper. ``likelihood`` is M_k, ``posteriors`` is
    M^<n theta>, ``update(theta, d)`` is T_d(theta) and ``teach`` is tau.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.SCBI(model).update([0.5, 0.5], "sun").round(3)
    array([0.753, 0.247])
    """

    name: ClassVar[str] = "SCBI"
    is_factored: ClassVar[bool] = True
    closed_form: ClassVar[Literal["bi", "scbi"] | None] = "scbi"

    def __init__(
        self,
        matrix: MatrixLike,
        *,
        data_prior: ArrayLike | None = None,
        tolerance: float = 1e-12,
    ) -> None:
        super().__init__(matrix)
        number_between(
            tolerance,
            "tolerance",
            1e-15,
            1.0,
            closed="low",
            hint="1e-12 is the default; float64 itself is good for about 1e-15.",
        )
        self.tolerance = min(tolerance, LOOSEST)
        # Scaling rows and columns changes nothing, so extreme entries may be brought near one.
        balanced = balance(self.model.matrix)[0]
        # To the compiler read-only arrays would be another type, for which it would compile again.
        self.balanced = balanced if balanced.flags.writeable else balanced.copy()
        self.data_prior = None
        self._row_sums = np.ones(self.model.num_data)
        if data_prior is not None:
            self.data_prior = self.model.distribution(data_prior, over="datum", name="data prior")
            self._row_sums = self.model.num_data * self.data_prior
        self._available = np.flatnonzero(self._row_sums)
        has_zeros = self.balanced.min() == 0.0
        self._pattern = pattern_workspace(self.balanced > 0.0) if has_zeros else None
        least = self._row_sums[self._available].min()
        # Rare data couple hypotheses as weakly as small entries do.
        self._spread = entry_spread(self.balanced) * self._row_sums.max() / least
        self._rarest = least / self._row_sums.max()
        self._is_plain = not has_zeros and len(self._available) == self.model.num_data

    @cached_property
    def _is_nearly_blocks(self) -> bool:
        """Whether, at some belief, two hypotheses share next to no data: slow to scale."""
        return self._rarest < WEAK_COUPLING or is_nearly_blocks(self.balanced[self._available])

    @cached_property
    def _slow_mode(self) -> Array:
        """About the direction in log-factors that sweeps correct most slowly, (m,)."""
        rows = self._available
        return slow_mode(self.balanced[rows], self._row_sums[rows], self.tolerance)

    def respond(self, log_belief: Array, memory: Array | None = None) -> Response:
        """Return the matrix scaled to a belief, with columns summing to one.

        Parameters
        ----------
        log_belief
            Normalised; minus infinity for a hypothesis that is ruled out.
        memory
            The column factors and the rate of convergence at the last belief.
        """
        matrix = self.balanced
        factors, rate = None, np.nan
        # A memory of another size comes from a damaged file: begin afresh.
        expected = (matrix.shape[1] + 1,)
        if memory is not None and memory.shape == expected:
            kept = memory[:-1]
            # Hypotheses without a component had the factor zero.
            factors, rate = np.where((kept > 0.0) & (kept < np.inf), kept, 1.0), float(memory[-1])
        column_sums = matrix.shape[0] * np.exp(log_belief)
        if self._has_rare_data:
            from cobayes.scaling.decimals import has_near_tie

            is_near = has_near_tie(matrix > 0.0, self._row_sums, column_sums)
            found = self._in_decimals(log_belief) if is_near else None
            if found is not None:
                return found
        if self._pattern is None:
            solution = self._solve_positive(column_sums, factors, rate)
        else:
            blocks = fresh_workspace(self._pattern)
            count = find_blocks(blocks, self._row_sums, column_sums)
            matrix, solution = solve_components(
                matrix,
                self._row_sums,
                blocks,
                count,
                tolerance=self.tolerance,
                max_iterations=MAX_ITERATIONS,
                factors=factors,
            )
        if not solution.error <= self.tolerance:
            found = self._in_decimals(log_belief)
            if found is not None:
                return found
            raise ConvergenceError(
                "the scaling of the matrix to the belief did not converge to "
                f"{self.tolerance:g}: after {solution.num_iterations} iterations the estimated "
                f"error is {solution.error:.2g}.",
                accuracy_hint(solution.error, LOOSEST, "SCBI(matrix, tolerance=...) with a"),
            )
        return Response(
            matrix,
            solution.row_scaling,
            solution.factors,
            memory=np.append(solution.factors, solution.rate),
        )

    @cached_property
    def _has_rare_data(self) -> bool:
        """Whether there are zeros, and data so rare that only fractions tell what ties."""
        if self._pattern is None or self._rarest >= RAREST:
            return False
        # Imported by those who need it only.
        from cobayes.scaling.decimals import MAX_COLUMNS, MAX_ENTRIES

        return self.balanced.size <= MAX_ENTRIES and self.balanced.shape[1] <= MAX_COLUMNS

    def _in_decimals(self, log_belief: Array) -> Response | None:
        """Return the answer on a small table that float64 cannot scale, or None."""
        from cobayes.scaling.decimals import likelihood_in_decimals

        logs = likelihood_in_decimals(
            self.model.matrix, self._row_sums, np.exp(log_belief), self.tolerance
        )
        return None if logs is None else Response(np.exp(logs), logs=logs)

    def update(self, belief: ArrayLike, datum: SupportsIndex | str) -> Array:
        """Return the posterior after one datum, T_d(belief) in the paper: (m,).

        See `Rule.update`; one belief in an array is updated in one compiled call.
        """
        m = self.balanced.shape[1]
        if self._is_plain and type(belief) is np.ndarray and belief.shape == (m,):
            total = float(belief.sum())
            posterior = np.empty(m)
            if (
                belief.dtype == np.float64
                and belief.flags.carray
                and abs(total - 1.0) <= SUM_SLACK
                and update_plainly(
                    self.balanced,
                    self._row_sums,
                    belief,
                    total,
                    self.model.datum_index(datum),
                    self.tolerance,
                    self._spread,
                    posterior,
                )
            ):
                return posterior
        return super().update(belief, datum)

    def _solve_positive(self, column_sums: Array, factors: Array | None, rate: float) -> Solution:
        """Scale a matrix without zeros, over the data that are available."""
        rows = self._available
        is_part = len(rows) < len(self.balanced)
        solution = solve(
            self.balanced[rows] if is_part else self.balanced,
            self._row_sums[rows] if is_part else self._row_sums,
            column_sums,
            tolerance=self.tolerance,
            max_iterations=MAX_ITERATIONS,
            spread=self._spread,
            factors=factors,
            rate=rate,
        )
        if not is_part:
            return solution
        row_scaling = np.zeros(len(self.balanced))
        row_scaling[rows] = solution.row_scaling
        return solution._replace(row_scaling=row_scaling)

    def at_certainty(self, hypothesis: SupportsIndex | str) -> Response:
        """Return the likelihood matrix in the limit of certainty; see `Rule.at_certainty`.

        With zeros, another hypothesis that allows a datum which this one rules out is known to
        choose such data only.
        """
        column = self.model.hypothesis_index(hypothesis)
        with np.errstate(divide="ignore"):
            logs = np.log(self.balanced)
            weights = np.log(self._row_sums)[:, None]
        own = logs[:, column, None]
        is_allowed = own > -np.inf
        inside = np.where(is_allowed, weights + logs - np.where(is_allowed, own, 0.0), -np.inf)
        outside = np.where(is_allowed, -np.inf, weights + logs)
        goes_out = (outside > -np.inf).any(axis=0)
        logs = np.where(goes_out, outside, inside)
        totals = np.logaddexp.reduce(logs, axis=0)
        logs -= np.where(totals > -np.inf, totals, 0.0)
        return Response(np.exp(logs), logs=logs)

    def settings(self) -> dict[str, Any]:
        """Return the arguments beside the matrix that make the same rule again."""
        prior = self.data_prior
        return {
            "tolerance": self.tolerance,
            "data_prior": None if prior is None else prior.tolist(),
        }

    def _restricted(self, model: Model, prior: Array) -> Rule:
        """Return the same rule with another matrix, where a task gives the data a prior."""
        if self.data_prior is not None:
            prior = prior * self.data_prior
        return type(self)(model, **{**self.settings(), "data_prior": prior / prior.sum()})

    @cached_property
    def _is_extreme(self) -> bool:
        """Whether a round can take a belief further than compiled code allows for."""
        smallest = float(self.balanced[self.balanced > 0.0].min())
        return float(self.balanced.max()) / smallest > WIDEST_SPREAD

    def plain_problem(self) -> PlainProblem | None:
        """Return what is scaled to every belief; see `Rule.plain_problem`."""
        if not self._is_plain or self._is_extreme:
            return None
        return PlainProblem(self.balanced, self._row_sums, self.tolerance, self._spread)

    def workspace(self, beliefs: BeliefState) -> CompiledResponses | None:
        """Return where compiled answers to beliefs start; see `Rule.workspace`."""
        if self._is_extreme or self._has_rare_data:
            return None
        if self._pattern is not None:
            # Row sums of one are given, too: the code is long, and is compiled once for all.
            blocks = BlockSolver(fresh_workspace(self._pattern), self.tolerance)
            return CompiledResponses.starting(
                beliefs, self.balanced, blocks, self._row_sums, has_labels=True
            )
        row_sums = None if self.data_prior is None else self._row_sums
        m = self.model.num_hypotheses
        probes = None
        if not small.SMALLEST <= m <= small.LARGEST:
            probes = Probes.starting(self.balanced, self._slow_mode, len(beliefs.mantissas))
        three = True if m < small.LARGEST else None
        four = True if m == small.LARGEST else None
        solver = ScalingSolver(probes, self.tolerance, not self._is_nearly_blocks, three, four)
        return CompiledResponses.starting(beliefs, self.balanced, solver, row_sums)


class ScalingSolver(NamedTuple):
    """Scales a matrix to many beliefs; compiled loops over rounds take it as it is.

    Attributes
    ----------
    probes : Probes or None
        What sweeps need; None for the closed form for two to four hypotheses.
    tolerance : float
        For the relative error.
    trusted : bool
        Whether sweeps can tell that they have converged.
    three, four : bool or None
        For the closed form: see `cobayes.scaling.small.solve_in_closed_form`.
    """

    probes: Probes | None
    tolerance: float
    trusted: bool
    three: bool | None = None
    four: bool | None = None

    @property
    def is_short(self) -> bool:
        """Whether the solver is short enough to be compiled into loops over rounds."""
        return self.probes is None and self.trusted

    def solve(self, beliefs: BeliefState, lanes: Lanes) -> None:
        """Fill in the factors that belong to the beliefs; raise an error where that fails."""
        beliefs = beliefs._replace(row_sums=None)  # they are in the lanes
        scale = scale_many if self.probes is None else fill_all_shares
        if scale(beliefs, lanes, self) or not self.trusted:
            self.finish(beliefs, lanes)

    def finish(self, beliefs: BeliefState, lanes: Lanes) -> None:
        """Solve what is marked: by sweeps where there is no closed form, then by Newton's method.

        Sweeps are a call of their own: they take long to compile, and are compiled once.
        """
        if self.probes is not None:
            left = solve_by_sweeps(lanes, self.probes, self.tolerance, self.trusted)
            if self.trusted and not left:
                return
        if not self.trusted:
            lanes.not_converged[:] = 1
        solve_by_newton(lanes, self.tolerance, MAX_NEWTON_STEPS)
        left = int(lanes.not_converged.reshape(-1)[: beliefs.size].sum())
        if left:
            raise not_converged(left, self.tolerance)

    def keep(self, size: int, chosen: NDArray[np.intp]) -> ScalingSolver:
        """Return the solver for some of `size` beliefs, given by position."""
        if self.probes is None:
            return self
        vectors = keep_lanes(self.probes.vectors, size, chosen)
        kept = [
            np.ascontiguousarray(keep_lanes(values[:, None], size, chosen)[:, 0])
            for values in self.probes[2:]
        ]
        return self._replace(probes=Probes(self.probes.transposed, vectors, *kept))


def not_converged(count: int, tolerance: float) -> ConvergenceError:
    """Return the error about scalings that missed the tolerance."""
    return ConvergenceError(
        f"{count} scalings did not converge to {tolerance:g}.",
        "use SCBI(matrix, tolerance=...) with a larger tolerance, or make the smallest entries of "
        "the matrix larger.",
    )
