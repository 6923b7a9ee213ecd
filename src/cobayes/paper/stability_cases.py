"""The cases of the stability experiments: which matrix, which prior, which learners."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from cobayes.errors import CobayesError
from cobayes.example_library import examples
from cobayes.model import Model
from cobayes.report.section import Context
from cobayes.stability.columns import ColumnRoles, column_roles, perturb_column
from cobayes.stability.geometry import (
    SimplexPoints,
    along_directions,
    disc,
    random_directions,
    uniform_points,
)

Array = NDArray[np.float64]
Kind = Literal["disc", "uniform", "directions", "column"]

NUM_DIRECTIONS = 15
PAPER_SEQUENCES, QUICK_SEQUENCES = 10_000, 1000


@dataclass(frozen=True)
class Effort:
    """How many sequences, and how many learners of each kind.

    Attributes
    ----------
    num_sequences : int
        Teaching sequences for each case.
    circles, circle_step : int, float
        Around a prior.
    distances, distance_step : int, float
        Along each direction.
    uniform : int
        Points in the whole simplex.
    column_circles, column_step, curve, mixtures : int, float, int, int
        Perturbations of a column: circles around it, their distance, points of equal
        divergence, mixtures with the target column.
    """

    num_sequences: int
    circles: int = 14
    circle_step: float = 0.005
    distances: int = 20
    distance_step: float = 0.005
    uniform: int = 300
    column_circles: int = 10
    column_step: float = 0.005
    curve: int = 90
    mixtures: int = 50

    @classmethod
    def of(cls, context: Context) -> Effort:
        """Return the effort that a context asks for.

        Quick scale has every second circle and distance, half of the other points, and fewer
        sequences; any other scale has all of the paper's points.
        """
        count = context.count(PAPER_SEQUENCES, at_least=80, quick=QUICK_SEQUENCES)
        if not context.is_quick:
            return cls(count)
        return cls(
            count,
            circles=7,
            circle_step=0.01,
            distances=10,
            distance_step=0.01,
            uniform=150,
            column_circles=5,
            column_step=0.01,
            curve=45,
            mixtures=25,
        )


@dataclass(frozen=True)
class Case:
    """One matrix, one prior of the teacher, one way to perturb the learner.

    Attributes
    ----------
    kind : str
        "disc", "uniform" or "directions" (the learner's prior), or "column" (its matrix).
    matrix : str
        The name of the example.
    prior : str
        Of one of its priors.
    column : int or None
        The perturbed column, for kind "column".
    """

    kind: Kind
    matrix: str
    prior: str
    column: int | None = None

    @property
    def name(self) -> str:
        """What its random numbers are named after."""
        changed = "" if self.column is None else f" {self.column + 1}"
        return f"{self.kind}{changed}, {self.matrix}, {self.prior}"

    @property
    def stream(self) -> str:
        """The name of the experiment, on which its random numbers depend.

        It says in which figure a case was first shown, so that results of earlier versions
        come out again bit for bit.
        """
        if self in FIGURE_FOUR:
            return "stability-figure-4"
        if self.column is not None:
            return f"stability-figure-{'5' if self.matrix == 'M_3' else 's7'}"
        home = {"disc": "s2", "directions": "s4", "uniform": "s6" if "'" in self.matrix else "s5"}
        return f"stability-figure-{home[self.kind]}"

    @property
    def folder(self) -> str:
        """Where its run is kept, among the runs of a report."""
        words = self.name.replace("'", "p").replace(",", "")
        return f"stability/{words.replace(' ', '-')}"

    @property
    def title(self) -> str:
        """Matrix and prior as the paper writes them."""
        return f"{in_symbols(self.matrix)}, {in_symbols(self.prior)}"

    @cached_property
    def model(self) -> Model:
        """The teacher's matrix, column-normalised."""
        given = examples[self.matrix].model
        return Model(given.normalized(), given.data, given.hypotheses)

    @cached_property
    def teacher_prior(self) -> Array:
        """The teacher's prior, normalised: the printed digits do not sum to one."""
        printed = examples[self.matrix].priors[self.prior]
        return printed / printed.sum()

    @cached_property
    def roles(self) -> ColumnRoles:
        """Which column is the target, the relevant and the irrelevant one."""
        return column_roles(self.model, 0)


@dataclass(frozen=True, eq=False)
class Learners:
    """The learners of a case.

    Attributes
    ----------
    priors : ndarray
        (learners, m).
    matrices : ndarray or None
        (learners, n, m); None where all have the teacher's.
    columns : ndarray
        The perturbed column, (learners, n); empty where all have the teacher's matrix.
    kinds : ndarray
        "centre", "disc", "ray", "uniform", "disc", "equal divergence" or "mixture".
    rays : ndarray
        The ray on which a prior lies, or -1.
    distances : ndarray
        From the teacher's prior, or of the column from the teacher's; Euclidean.
    num_left_out : int
        Points of the plan that lie outside the open simplex.
    """

    priors: Array
    matrices: Array | None
    columns: Array
    kinds: NDArray[np.str_]
    rays: NDArray[np.int64]
    distances: Array
    num_left_out: int

    def __len__(self) -> int:
        return len(self.priors)


def in_symbols(name: str) -> str:
    """Write ``M'_1`` as M′₁ and ``theta_2`` as θ₂.

    Parameters
    ----------
    name
        The name of a matrix or a prior.
    """
    text, number = name.replace("theta", "θ").replace("'", "′").split("_")
    return text + "₀₁₂₃₄₅₆₇₈₉"[int(number)]


FIGURE_FOUR = (
    Case("disc", "M_3", "theta_1"),
    Case("uniform", "M_3", "theta_1"),
    Case("directions", "M'_1", "theta'_1"),
    Case("uniform", "M'_1", "theta'_1"),
)
"""The panels of Figure 4."""


def all_priors(kind: Kind, size: int) -> tuple[Case, ...]:
    """Return all combinations of the paper's matrices and priors, matrix by matrix.

    Parameters
    ----------
    kind
        Kind of the learners.
    size
        Number of hypotheses, 3 or 4.
    """
    pairs = rank_three() if size == 3 else rank_four()
    return tuple(Case(kind, matrix, prior) for matrix, prior in pairs)


def all_columns() -> tuple[Case, ...]:
    """Return the perturbed columns of all five matrices with three hypotheses."""
    return tuple(case for k in range(1, 6) for case in column_cases(f"M_{k}"))


def rank_three() -> tuple[tuple[str, str], ...]:
    """Return the names of the 25 combinations of matrix and prior, matrix by matrix."""
    return tuple((f"M_{i}", f"theta_{j}") for i in range(1, 6) for j in range(1, 6))


def rank_four() -> tuple[tuple[str, str], ...]:
    """Return the names of the 9 combinations."""
    return tuple((f"M'_{i}", f"theta'_{j}") for i in range(1, 4) for j in range(1, 4))


def column_cases(matrix: str) -> tuple[Case, Case]:
    """Return the perturbations of the irrelevant and of the relevant column of a matrix.

    Parameters
    ----------
    matrix
        The name of an example with three hypotheses.
    """
    roles = column_roles(examples[matrix].model, 0)
    columns = (*roles.irrelevant, roles.relevant)
    first, second = (Case("column", matrix, "theta_1", column) for column in columns)
    return first, second


def shown_directions(seed: int) -> Array:
    """Return the directions in the simplex of four hypotheses, the same for all cases.

    Parameters
    ----------
    seed
        The user's seed.
    """
    return random_directions(NUM_DIRECTIONS, 4, np.random.SeedSequence([seed, *b"directions"]))


def learners_of(case: Case, effort: Effort, seed: int) -> Learners:
    """Return the learners of a case.

    Parameters
    ----------
    case
        Matrix, prior and kind.
    effort
        Sets the number of learners.
    seed
        The user's; it decides random points and directions.
    """
    centre = case.teacher_prior
    if case.kind == "disc":
        around = disc(centre, num_circles=effort.circles, step=effort.circle_step)
        return _of_priors(around, "disc", with_centre=True)
    if case.kind == "directions":
        along = along_directions(
            centre,
            shown_directions(seed),
            num_distances=effort.distances,
            step=effort.distance_step,
            with_centre=False,
        )
        return _of_priors(along, "ray", with_centre=True)
    if case.kind == "uniform":
        rng = np.random.SeedSequence([seed, *case.name.encode()])
        found = uniform_points(effort.uniform, len(centre), centre=centre, rng=rng)
        return _of_priors(found, "uniform", with_centre=False)
    return _of_columns(case, effort)


def _of_priors(found: SimplexPoints, kind: str, *, with_centre: bool) -> Learners:
    first = int(with_centre)
    return Learners(
        priors=np.concatenate([found.centre[None][:first], found.points]),
        matrices=None,
        columns=np.empty((first + len(found), 0)),
        kinds=np.array(["centre"] * first + [kind] * len(found)),
        rays=np.concatenate([np.full(first, -1), found.rays]),
        distances=np.concatenate([np.zeros(first), found.distances]),
        num_left_out=found.num_left_out,
    )


def _of_columns(case: Case, effort: Effort) -> Learners:
    if case.column is None:
        raise CobayesError(f"the case {case.name!r} does not say which column is perturbed.")
    found = perturb_column(
        case.model,
        case.column,
        hypothesis=0,
        num_circles=effort.column_circles,
        step=effort.column_step,
        num_curve=effort.curve,
        num_mixtures=effort.mixtures,
    )
    own = case.model.matrix[:, case.column]
    columns = np.concatenate([own[None], found.columns])
    matrices = np.repeat(case.model.matrix[None], len(columns), axis=0)
    matrices[:, :, case.column] = columns
    return Learners(
        priors=np.repeat(case.teacher_prior[None], len(columns), axis=0),
        matrices=matrices,
        columns=columns,
        kinds=np.concatenate([["centre"], found.kinds]),
        rays=np.full(len(columns), -1),
        distances=np.linalg.norm(columns - own, axis=1),
        num_left_out=found.num_left_out,
    )
