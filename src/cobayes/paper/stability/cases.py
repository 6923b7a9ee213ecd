"""The cases of Section 5: a matrix, the teacher's prior, and the learners.

A learner differs from the teacher's assumption in its prior, or in one column of its matrix.
Distances are Euclidean. Priors and columns outside the open simplex are omitted and counted.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from cobayes.example_library import examples
from cobayes.model import Model
from cobayes.plots.house import with_subscripts
from cobayes.report.section import Context
from cobayes.theory.rates import relevant_hypothesis

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]
Kind = Literal["disc", "uniform", "directions", "column"]

NUM_DIRECTIONS = 15
CENTRE, DISC, CURVE, MIXTURE = "centre", "disc", "equal divergence", "mixture"


_SETTINGS: dict[Kind, tuple[str, str]] = {
    "disc": ("num_circles radius", "discs and rays: Figures 4 A, S2, S3"),
    "directions": ("num_distances reach", "directions: Figures 4 C, S4"),
    "uniform": ("num_uniform", "any prior: Figures 4 B, 4 D, S5, S6"),
    "column": ("num_column_circles column_radius num_curve num_mixtures", "columns: Figures 5, S7"),
}
"""The settings of `Effort` for each kind of learners, and the figures that they change."""


@dataclass(frozen=True)
class Effort:
    """The number of lessons and, for each kind of learners, their number and largest distance.

    Attributes
    ----------
    num_lessons : int
        The number of teaching sequences per case; it is rounded up to whole batches.
    num_circles, radius : int, float
        The number of circles around a prior, and the radius of the outermost.
    num_distances, reach : int, float
        The number of learners along each direction, and the distance of the farthest.
    num_uniform : int
        The number of learners whose priors are drawn from the whole simplex.
    num_column_circles, column_radius : int, float
        The number of circles around a column, and the radius of the outermost.
    num_curve, num_mixtures : int
        The number of perturbed columns on the curve of equal divergence, and on the line of
        mixtures; see `equal_divergence_curve` and `mixtures_with_target`.
    """

    num_lessons: int
    num_circles: int = 14
    radius: float = 0.07
    num_distances: int = 20
    reach: float = 0.1
    num_uniform: int = 300
    num_column_circles: int = 10
    column_radius: float = 0.05
    num_curve: int = 90
    num_mixtures: int = 50

    @classmethod
    def of(cls, context: Context, cases: Iterable[Case]) -> Effort:
        """Return the effort at the scale of a context.

        `num_lessons` is proportional to the scale (1,000 at quick scale). At quick scale the other
        integers are halved; radii and reach never change. The user's settings replace all of these.
        """
        places = {"num_lessons": ""}
        for case in cases:
            names, place = _SETTINGS[case.kind]
            places |= dict.fromkeys(names.split(), place)
        values: dict[str, Any] = {"num_lessons": context.count(10_000, at_least=80, quick=1000)}
        for field in fields(cls)[1:]:
            full: Any = field.default
            is_halved = context.is_quick and isinstance(full, int)
            values[field.name] = full // 2 if is_halved else full
        values |= {k: context.setting(k, values[k], place) for k, place in places.items()}
        return cls(**values)


@dataclass(frozen=True)
class Case:
    """A matrix, the teacher's prior, and the kind of learners.

    Attributes
    ----------
    kind : str
        The learner differs in its prior ("disc", "uniform", "directions") or matrix ("column").
    matrix, prior : str
        The name of a built-in example, and of one of its priors.
    column : int or None
        The position of the perturbed column; None unless the kind is "column".
    """

    kind: Kind
    matrix: str
    prior: str
    column: int | None = None

    @property
    def name(self) -> str:
        """The name of the case in its experiment; the random numbers depend on it."""
        changed = "" if self.column is None else f" {self.column + 1}"
        return f"{self.kind}{changed}, {self.matrix}, {self.prior}"

    @property
    def folder(self) -> str:
        """The folder of the case's run, relative to the report's folder of runs."""
        return "stability/" + self.name.replace("'", "p").replace(",", "").replace(" ", "-")

    @property
    def title(self) -> str:
        """Matrix and prior as the paper writes them."""
        return f"{with_subscripts(self.matrix)}, {with_subscripts(self.prior)}"

    @property
    def is_relevant(self) -> bool:
        """Whether the perturbed column determines the rate of convergence."""
        return self.column == relevant_hypothesis(self.model, 0)

    @property
    def role(self) -> str:
        """The role of the perturbed column: "relevant" or "irrelevant"."""
        return "relevant" if self.is_relevant else "irrelevant"

    @cached_property
    def model(self) -> Model:
        """The teacher's matrix, column-normalised."""
        given = examples[self.matrix].model
        return Model(given.normalized(), given.data, given.hypotheses)

    @cached_property
    def teacher_prior(self) -> Array:
        """The teacher's prior, normalised: printed digits may not sum to one."""
        printed = examples[self.matrix].priors[self.prior]
        return printed / printed.sum()


FIGURE_FOUR = (
    Case("disc", "M_3", "theta_1"),
    Case("uniform", "M_3", "theta_1"),
    Case("directions", "M'_1", "theta'_1"),
    Case("uniform", "M'_1", "theta'_1"),
)
"""The panels of Figure 4."""


def all_priors(kind: Kind, size: int) -> tuple[Case, ...]:
    """Return a case for every matrix and every prior that the paper has for `size` hypotheses."""
    mark, count = ("", 5) if size == 3 else ("'", 3)
    numbers = range(1, count + 1)
    return tuple(Case(kind, f"M{mark}_{i}", f"theta{mark}_{j}") for i in numbers for j in numbers)


def column_cases(matrix: str) -> tuple[Case, Case]:
    """Return the cases that perturb the irrelevant and the relevant column of a matrix."""
    first, second = (Case("column", matrix, "theta_1", column) for column in (1, 2))
    return (second, first) if first.is_relevant else (first, second)


def all_columns() -> tuple[Case, ...]:
    """Return the cases with perturbed columns, of all five matrices with three hypotheses."""
    return tuple(case for k in range(1, 6) for case in column_cases(f"M_{k}"))


def learners_of(case: Case, effort: Effort, seed: int) -> pd.DataFrame:
    """Return the learners of a case; random priors and directions depend on the seed.

    Columns: "kind" ("centre", "disc", "directions", "uniform", "equal divergence" or "mixture");
    "ray", the ray's number from 0 (-1: on no ray); "distance", from the teacher's prior or column
    to the learner's; and the entries of the learner's prior or column, see `points_of`.
    ``attrs["num_left_out"]`` is the number of points outside the open simplex.
    """
    if case.column is not None:
        return _with_columns(case, case.column, effort)
    centre = case.teacher_prior
    if case.kind == "uniform":
        rng = np.random.default_rng([seed, *case.name.encode()])
        points = rng.dirichlet(np.ones(len(centre)), effort.num_uniform)
        return _table(centre, points, np.full(len(points), case.kind), -1, "learner_prior")
    if case.kind == "disc":
        points, rays = circles(centre, effort.num_circles, effort.radius)
    else:
        distances = effort.reach * np.arange(1, effort.num_distances + 1) / effort.num_distances
        directions = random_directions(seed)
        points = centre + (distances[None, :, None] * directions[:, None, :]).reshape(-1, 4)
        rays = np.repeat(np.arange(len(directions)), len(distances))
    kinds = np.repeat([CENTRE, case.kind], [1, len(points)])
    return _table(centre, np.vstack([centre, points]), kinds, np.append(-1, rays), "learner_prior")


def points_of(learners: pd.DataFrame) -> Array:
    """Return the learners' priors, or their perturbed columns, (learners, m) or (learners, n)."""
    return learners.filter(regex=r"^(learner_prior|entry)_\d$").to_numpy()


def circles(centre: Array, num_circles: int, radius: float) -> tuple[Array, NDArray[np.int64]]:
    """Return points on circles around a distribution over three items, and each point's ray.

    The i-th circle has 6 i points, so that six rays pass through all circles. Along ray 0 the first
    probability grows and the other two fall equally. A point between the rays has the ray -1.
    """
    first, second = plane_basis(3)
    points, rays = [], []
    for circle in range(1, num_circles + 1):
        turn = np.arange(6 * circle)
        angle = 2.0 * np.pi * turn / (6 * circle)
        unit = np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second
        points.append(centre + radius * circle / num_circles * unit)
        rays.append(np.where(turn % circle == 0, turn // circle, -1))
    return np.concatenate(points), np.concatenate(rays)


def random_directions(seed: int) -> Array:
    """Return random unit vectors parallel to the simplex of four hypotheses, one set per seed."""
    rng = np.random.default_rng([seed, *b"directions"])
    vectors = rng.standard_normal((NUM_DIRECTIONS, 3)) @ plane_basis(4)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def spherical_coordinates(directions: Array) -> Array:
    """Return the angles (phi, theta) of directions in the simplex of four hypotheses, (k, 2).

    The origin is the centre of the simplex. The axis ``phi = 0`` contains the first corner, the
    half-plane ``theta = 0`` the second corner.
    """
    x, y, z = (directions @ axis for axis in plane_basis(4))
    return np.stack([np.arctan2(np.hypot(y, z), x), np.arctan2(z, y)], axis=-1)


def plane_basis(num_coordinates: int) -> Array:
    """Return an orthonormal basis of the vectors that sum to zero, (m - 1, m).

    The first vector points from the centre of the simplex to the first corner. The second vector
    lies in the plane of the centre and the first two corners, and so on.
    """
    basis = np.zeros((num_coordinates - 1, num_coordinates))
    for k in range(num_coordinates - 1):
        rest = num_coordinates - k - 1
        basis[k, k] = rest
        basis[k, k + 1 :] = -1.0
        basis[k] /= np.sqrt(rest * (rest + 1.0))
    return basis


def normalized_divergence(columns: Array, target: Array) -> Array:
    """Return the divergence that SCBI's rate uses, KL(e/n, N(column / target)), in nats.

    The vector e consists of n ones; N divides a vector by its sum.
    """
    ratios = columns / target
    return np.log(ratios.mean(axis=-1)) - np.log(ratios).mean(axis=-1)


def equal_divergence_curve(own: Array, target: Array, num_points: int) -> Array:
    """Return columns with the same normalised divergence from the target column as `own`.

    The columns form a closed curve around the target. The first column is `own`; the steps between
    neighbours have about equal length. Let r be N(column / target), as in `normalized_divergence`.
    The divergence is zero at the uniform r, and grows along every ray from this point to the border
    of the simplex. Each ray therefore crosses the curve once.
    """
    level = float(normalized_divergence(own, target))
    first, second = plane_basis(3)
    offset = own / target / (own / target).sum() - 1.0 / 3.0
    start = np.arctan2(offset @ second, offset @ first)

    def curve(angles: Array) -> Array:
        rays = np.cos(angles)[:, None] * first + np.sin(angles)[:, None] * second
        columns = _ratios_at(level, rays) * target
        return columns / columns.sum(axis=1, keepdims=True)

    # With equal steps of the angle, the points would be dense where the curve is close to the
    # target; the steps have equal length instead.
    fine = start + np.linspace(0.0, 2.0 * np.pi, 40 * num_points + 1)
    lengths = np.linalg.norm(np.diff(curve(fine), axis=0), axis=1)
    travelled = np.concatenate([[0.0], np.cumsum(lengths)])
    wanted = travelled[-1] * np.arange(num_points) / num_points
    return curve(np.interp(wanted, travelled, fine))


def mixtures_with_target(own: Array, target: Array, num_points: int) -> Array:
    """Return points on the line through a column and the target, from the border to the target."""
    is_larger = target > own
    # Continue beyond the column until an entry vanishes.
    farthest = -float((own[is_larger] / (target - own)[is_larger]).min())
    shares = farthest + (1.0 - farthest) * (np.arange(num_points) + 0.5) / num_points
    return own + shares[:, None] * (target - own)


def _ratios_at(level: float, rays: Array) -> Array:
    """Return, on each ray from the uniform vector, the ratios r whose divergence is `level`.

    A ray is ``r = (1 - (1 - exp(-y)) q) / n``. Its direction is -q, with ``max(q) = 1``. For y = 0
    the vector r is uniform; as y grows, r tends to the border of the simplex. Bisection in y loses
    no digits near the border.
    """
    size = rays.shape[1]
    slopes = -rays / (-rays).max(axis=1, keepdims=True)

    def ratios(y: Array) -> Array:
        return ((1.0 - slopes) + slopes * np.exp(-y)[:, None]) / size

    low = np.zeros(len(rays))
    # At `high` the divergence is above `level`: the vanishing entry adds y / n to it, the others
    # reduce it by at most log n.
    high = np.full(len(rays), size * (level + np.log(size)) + 1.0)
    for _ in range(200):
        middle = 0.5 * (low + high)
        below = -np.log(size * ratios(middle)).mean(axis=1) < level
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return ratios(0.5 * (low + high))


def _with_columns(case: Case, column: int, effort: Effort) -> pd.DataFrame:
    own, target = case.model.matrix[:, column], case.model.matrix[:, 0]
    parts = {
        CENTRE: own[None],
        DISC: circles(own, effort.num_column_circles, effort.column_radius)[0],
        CURVE: equal_divergence_curve(own, target, effort.num_curve),
        MIXTURE: mixtures_with_target(own, target, effort.num_mixtures),
    }
    kinds = np.repeat(list(parts), [len(points) for points in parts.values()])
    return _table(own, np.concatenate(list(parts.values())), kinds, -1, "entry")


def _table(centre: Array, points: Array, kinds: Any, rays: Any, name: str) -> pd.DataFrame:
    """Return the points inside the open simplex; see `learners_of`."""
    import pandas as pd

    distances = np.linalg.norm(points - centre, axis=1)
    found = pd.DataFrame({"kind": kinds, "ray": rays, "distance": distances})
    found[[f"{name}_{j + 1}" for j in range(len(centre))]] = points
    inside = (points > 0.0).all(axis=1)
    found = found.loc[inside].reset_index(drop=True)
    found.attrs["num_left_out"] = int((~inside).sum())
    return found
