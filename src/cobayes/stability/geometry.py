"""Points around a prior: circles, rays, directions and uniform points in the simplex.

Distances are Euclidean in R^m, as in the paper's figures. Points outside the open simplex are
left out and counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.distributions import as_distribution
from cobayes._input.tables import as_floats
from cobayes._input.validation import positive_number
from cobayes.errors import CobayesError, import_optional
from cobayes.stability.validation import at_least_one

if TYPE_CHECKING:
    import pandas as pd

Array = NDArray[np.float64]

STEP = 0.005
"""The distance between neighbouring circles, and between points of a ray, in the paper."""
MOST_POINTS = 1_000_000


@dataclass(frozen=True, eq=False, repr=False)
class SimplexPoints:
    """Distributions around a centre, and where they lie.

    Attributes
    ----------
    points : ndarray
        The distributions, (k, m).
    centre : ndarray
        What they lie around, (m,).
    distances : ndarray
        Euclidean distances from the centre, (k,).
    rays : ndarray
        The ray or direction on which a point lies, (k,); -1 where it lies on none.
    num_left_out : int
        How many points fell outside the open simplex.

    Examples
    --------
    >>> from cobayes.stability import disc
    >>> found = disc([0.4, 0.3, 0.3], num_circles=2)
    >>> found.points.shape, found.num_left_out
    ((18, 3), 0)
    """

    points: Array
    centre: Array
    distances: Array
    rays: NDArray[np.int64]
    num_left_out: int

    def __len__(self) -> int:
        return len(self.points)

    def on_rays(self) -> SimplexPoints:
        """Return only the points that lie on a ray."""
        return self._chosen(self.rays >= 0, self.num_left_out)

    def ray(self, number: int) -> SimplexPoints:
        """Return the points of one ray, from the centre outwards."""
        return self._chosen(self.rays == number, 0)

    def to_dataframe(self) -> pd.DataFrame:
        """Return one row per point: its coordinates, its distance and its ray."""
        pandas = import_optional("pandas", "labels", "a DataFrame")
        table = pandas.DataFrame(self.points, columns=[f"x{j}" for j in range(len(self.centre))])
        table["distance"] = self.distances
        table["ray"] = self.rays
        table.index.name = "point"
        return table

    def __repr__(self) -> str:
        return (
            f"SimplexPoints({len(self)} points of {len(self.centre)} coordinates, up to "
            f"{self.distances.max():.3g} from the centre; {self.num_left_out} left out)"
        )

    def _chosen(self, mask: NDArray[np.bool_], num_left_out: int) -> SimplexPoints:
        return SimplexPoints(
            self.points[mask], self.centre, self.distances[mask], self.rays[mask], num_left_out
        )


def disc(centre: ArrayLike, *, num_circles: int = 14, step: float = STEP) -> SimplexPoints:
    """Return concentric circles around a distribution over three things.

    The i-th circle has radius ``i * step`` and 6 i points, so that six rays, 60 degrees apart,
    pass through all circles; the first ray points towards the first corner.

    Parameters
    ----------
    centre
        Three positive numbers that sum to one.
    num_circles
        14 gives the paper's 630 points around a prior, 10 its 330 around a column.
    step
        The distance between circles.

    Returns
    -------
    SimplexPoints
        ``3 num_circles (num_circles + 1)`` points, circle by circle.

    Notes
    -----
    Figures S2 and S3: radii 0.005 to 0.07.

    Examples
    --------
    >>> import cobayes as cb
    >>> len(cb.stability.disc([0.2, 0.3, 0.5], num_circles=2).points)
    18
    """
    middle = _centre(centre, 3, "circles lie in the triangle of three things")
    count = at_least_one(num_circles, "num_circles", 1000)
    positive_number(step, "step")
    first, second = plane_basis(3)
    points, rays = [], []
    for circle in range(1, count + 1):
        turn = np.arange(6 * circle)
        angle = 2.0 * np.pi * turn / (6 * circle)
        points.append(
            middle
            + circle * step * (np.cos(angle)[:, None] * first + np.sin(angle)[:, None] * second)
        )
        rays.append(np.where(turn % circle == 0, turn // circle, -1))
    return _inside(middle, np.concatenate(points), np.concatenate(rays))


def along_directions(
    centre: ArrayLike,
    directions: ArrayLike,
    *,
    num_distances: int = 20,
    step: float = STEP,
    with_centre: bool = True,
) -> SimplexPoints:
    """Return points at equal distances along directions, and the centre itself.

    Parameters
    ----------
    centre
        Positive numbers that sum to one.
    directions
        Vectors whose coordinates sum to zero, (k, m); they are brought to length one.
    num_distances
        How many points a direction has.
    step
        The distance between them.
    with_centre
        Whether the centre comes first, on ray -1.

    Returns
    -------
    SimplexPoints
        The points with their distances and rays; the centre, where wanted, comes first.

    Notes
    -----
    Figure S4: 15 directions, distances 0.005 to 0.1.

    Examples
    --------
    >>> import cobayes as cb
    >>> centre, direction = [0.2, 0.3, 0.5], [1.0, -1.0, 0.0]
    >>> points = cb.stability.along_directions(centre, [direction], num_distances=3)
    >>> points.points.round(4)
    array([[0.2   , 0.3   , 0.5   ],
           [0.2035, 0.2965, 0.5   ],
           [0.2071, 0.2929, 0.5   ],
           [0.2106, 0.2894, 0.5   ]])
    """
    middle = _centre(centre, None, "")
    vectors = np.atleast_2d(as_floats(directions, copy=True, name="directions"))
    count = at_least_one(num_distances, "num_distances", MOST_POINTS)
    positive_number(step, "step")
    if vectors.ndim != 2 or vectors.shape[1] != len(middle):
        raise CobayesError(
            f"directions have shape {vectors.shape}; expected one of {len(middle)} coordinates "
            "in every row."
        )
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if not (lengths > 0.0).all() or (np.abs(vectors.sum(axis=1)) > 1e-9 * lengths[:, 0]).any():
        raise CobayesError(
            "a direction does not lie in the simplex: its coordinates must sum to zero and not "
            "all be zero.",
            "use random_directions(...), or subtract the mean.",
        )
    distances = step * np.arange(1, count + 1)
    points = middle + distances[None, :, None] * (vectors / lengths)[:, None, :]
    rays = np.repeat(np.arange(len(vectors)), count)
    flat = points.reshape(-1, len(middle))
    if with_centre:
        flat, rays = np.concatenate([middle[None], flat]), np.concatenate([[-1], rays])
    return _inside(middle, flat, rays)


def random_directions(num_directions: int, num_hypotheses: int, rng: Any = None) -> Array:
    """Return directions in the simplex, uniform on the sphere: (num_directions, m).

    Parameters
    ----------
    num_directions
        How many; the paper has 15 in the simplex of four hypotheses.
    num_hypotheses
        m, at least two.
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    ndarray
        Vectors of length one whose coordinates sum to zero, (num_directions, m).

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.stability.random_directions(2, 3, rng=1).shape
    (2, 3)
    """
    count = at_least_one(num_directions, "num_directions", MOST_POINTS)
    if at_least_one(num_hypotheses, "num_hypotheses", 10_000) < 2:
        raise CobayesError("one hypothesis leaves no direction to go.", "two are the least.")
    basis = plane_basis(num_hypotheses)
    vectors = np.random.default_rng(rng).standard_normal((count, num_hypotheses - 1)) @ basis
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def uniform_points(
    num_points: int, num_hypotheses: int, *, centre: ArrayLike | None = None, rng: Any = None
) -> SimplexPoints:
    """Return points that are uniform on the simplex.

    Parameters
    ----------
    num_points
        How many; the paper has 300.
    num_hypotheses
        m, at least two.
    centre
        Where distances are measured from; by default the middle of the simplex.
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    SimplexPoints
        The points, with their distances from the centre; they lie on no ray.

    Notes
    -----
    Figures 4 B, 4 D, S5 and S6.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.stability.uniform_points(4, 3, rng=1).points.shape
    (4, 3)
    """
    count = at_least_one(num_points, "num_points", MOST_POINTS)
    if at_least_one(num_hypotheses, "num_hypotheses", 10_000) < 2:
        raise CobayesError("one hypothesis leaves no choice of a prior.", "two are the least.")
    middle = np.full(num_hypotheses, 1.0 / num_hypotheses) if centre is None else centre
    middle = _centre(middle, num_hypotheses, f"the points have {num_hypotheses} coordinates")
    points = np.random.default_rng(rng).dirichlet(np.ones(num_hypotheses), count)
    return _inside(middle, points, np.full(count, -1))


def spherical_coordinates(directions: ArrayLike) -> Array:
    """Return the angles (phi, theta) of directions in the simplex of four things, (k, 2).

    The axis ``phi = 0`` points from the middle to the first corner; the half-plane
    ``theta = 0`` contains the second.

    Parameters
    ----------
    directions
        Vectors whose coordinates sum to zero, (k, 4).

    Returns
    -------
    ndarray
        Angles in radians, (k, 2).

    Notes
    -----
    Figure S4, upper part.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.stability.spherical_coordinates([[1.0, -1.0, 0.0, 0.0]]).round(3)
    array([[0.615, 3.142]])
    """
    vectors = np.atleast_2d(as_floats(directions, copy=True, name="directions"))
    if vectors.shape[-1] != 4:
        raise CobayesError(
            f"directions have {vectors.shape[-1]} coordinates; the two angles belong to four."
        )
    axis, side, third = plane_basis(4)
    x, y, z = vectors @ axis, vectors @ side, vectors @ third
    return np.stack([np.arctan2(np.hypot(y, z), x), np.arctan2(z, y)], axis=-1)


def plane_basis(num_coordinates: int) -> Array:
    """Return an orthonormal basis of the vectors that sum to zero, (m - 1, m).

    The first vector points towards the first corner of the simplex, the second lies in the
    plane of the first two corners, and so on.

    Parameters
    ----------
    num_coordinates
        m.
    """
    basis = np.zeros((num_coordinates - 1, num_coordinates))
    for k in range(num_coordinates - 1):
        rest = num_coordinates - k - 1
        basis[k, k] = rest
        basis[k, k + 1 :] = -1.0
        basis[k] /= np.sqrt(rest * (rest + 1.0))
    return basis


def _centre(centre: ArrayLike, size: int | None, why: str) -> Array:
    values = as_floats(centre, copy=True, name="centre")
    if values.ndim != 1 or (size is not None and len(values) != size):
        raise CobayesError(
            f"the centre has shape {values.shape}; {why or 'expected one row of numbers'}.",
            None if size is None else f"give {size} numbers, or use along_directions(...).",
        )
    labels = tuple(str(position) for position in range(len(values)))
    middle = as_distribution(values, labels, "position", "centre")
    if not (middle > 0.0).all():
        raise CobayesError(
            "the centre lies on the border of the simplex; there is no room around it.",
            "give every coordinate a positive number.",
        )
    return middle


def _inside(middle: Array, points: Array, rays: NDArray) -> SimplexPoints:
    """Keep the points of the open simplex."""
    inside = (points > 0.0).all(axis=1)
    if not inside.any():
        raise CobayesError(
            "every point falls outside the simplex: the centre is too close to the border.",
            "take smaller steps, or another centre.",
        )
    kept = points[inside]
    return SimplexPoints(
        kept,
        middle,
        np.linalg.norm(kept - middle, axis=1),
        np.asarray(rays, dtype=np.int64)[inside],
        int((~inside).sum()),
    )
