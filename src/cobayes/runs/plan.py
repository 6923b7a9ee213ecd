"""What is to be computed: an experiment of named points, each cut into shards.

The plan fixes the size of every shard, so neither the number of workers nor an interruption
can change which random numbers are drawn for what.
"""

from __future__ import annotations

import hashlib
import json
import math
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from cobayes.errors import CobayesError
from cobayes.runs.code import code_of, function_digest
from cobayes.runs.statistics import Estimate, Statistics, add

ShardFunction = Callable[[dict[str, Any], np.random.SeedSequence, int], Statistics]
EstimateFunction = Callable[[Statistics, dict[str, Any]], Mapping[str, Estimate]]


@dataclass(frozen=True)
class Point:
    """One point of an experiment: parameters, and how many samples in what shards.

    Parameters
    ----------
    name
        Unique within the experiment; part of the name of its random streams.
    parameters
        Anything that JSON can hold; NumPy arrays and numbers become lists and numbers.
    num_samples
        How many samples in all; what a sample is, the shard function decides.
    samples_per_shard
        How many samples each shard draws (the last may draw fewer); about a second or two
        of work, see `suggest_samples_per_shard`. All in one shard when left out.

    Examples
    --------
    >>> from cobayes.runs import Point
    >>> point = Point("scale 2", {"scale": 2.0}, num_samples=1100, samples_per_shard=500)
    >>> point.num_shards, point.samples_in(2)
    (3, 100)
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    num_samples: int = 1
    samples_per_shard: int | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise CobayesError(f"a point is named {self.name!r}; expected a string, not empty.")
        if self.samples_per_shard is None:
            object.__setattr__(self, "samples_per_shard", self.num_samples)
        for attribute in ("num_samples", "samples_per_shard"):
            value = getattr(self, attribute)
            if not isinstance(value, int | np.integer) or value < 1:
                raise CobayesError(
                    f"{attribute} of point {self.name!r} is {value!r}; expected an integer >= 1."
                )
            object.__setattr__(self, attribute, int(value))
        object.__setattr__(self, "parameters", _as_json(self.parameters, self.name))

    @property
    def num_shards(self) -> int:
        """How many shards the samples are cut into."""
        return -(-self.num_samples // self._shard_size)

    def samples_in(self, shard: int) -> int:
        """Return how many samples a shard draws.

        Parameters
        ----------
        shard
            The shard's position within its point, from 0.
        """
        return min(self._shard_size, self.num_samples - shard * self._shard_size)

    @property
    def _shard_size(self) -> int:
        return self.samples_per_shard or self.num_samples


@dataclass(frozen=True)
class Experiment:
    """A plan of points and the pure function that computes one shard of any of them.

    Parameters
    ----------
    name
        Part of the name of every random stream.
    points
        What to compute.
    shard
        A module-level function ``f(parameters, seed_sequence, num_samples)`` that returns a
        dict of numbers and small arrays: sufficient statistics of that many samples. It must
        depend on its arguments alone.
    seed
        The seed of the experiment.
    estimate
        ``f(statistics, parameters)``: named estimates from the reduced statistics of a point.
    reduce
        ``f(left, right)``: joins the statistics of two runs of shards, always in the order of
        the shards. Sums them unless told otherwise.
    version
        Change it to start over where nothing in the code shows why. A change of the shard
        function, of a module around it that it imports, or of cobayes is noticed without.

    Examples
    --------
    >>> import numpy as np
    >>> from cobayes.runs import Experiment, Point
    >>> def shard(parameters, seed_sequence, num_samples):
    ...     rng = np.random.default_rng(seed_sequence)
    ...     return {"total": rng.normal(parameters["mean"], 1.0, num_samples).sum()}
    >>> points = [Point(f"mean {k}", {"mean": k}, 1000, samples_per_shard=500) for k in (1, 2)]
    >>> Experiment("normal", points, shard, seed=1).num_shards
    4
    """

    name: str
    points: Sequence[Point]
    shard: ShardFunction
    seed: int = 0
    estimate: EstimateFunction | None = None
    reduce: Callable[[Statistics, Statistics], Statistics] = add
    version: str = "1"

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", tuple(self.points))
        if not isinstance(self.name, str) or not self.name:
            raise CobayesError(f"the experiment is named {self.name!r}; expected a string.")
        if not isinstance(self.seed, int | np.integer) or self.seed < 0:
            raise CobayesError(f"the experiment's seed is {self.seed!r}; expected an integer >= 0.")
        object.__setattr__(self, "seed", int(self.seed))
        if not self.points:
            raise CobayesError(f"the experiment {self.name!r} has no points.")
        names = [point.name for point in self.points]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise CobayesError(
                f"two points of {self.name!r} are named {twice[0]!r}.",
                "points with one name would draw the same random numbers",
            )
        code_of(self.shard)

    @property
    def num_shards(self) -> int:
        """How many shards the whole experiment has."""
        return sum(point.num_shards for point in self.points)

    def seed_sequence(self, point: int, shard: int) -> np.random.SeedSequence:
        """Return the seed sequence of a shard.

        Parameters
        ----------
        point, shard
            Positions.
        """
        return shard_seed(self.seed, self.name, self.points[point].name, shard)

    def shards(self) -> Iterator[tuple[int, int]]:
        """Yield (point, shard) in the order in which they are computed.

        First the first shard of every point, then the second of every point: every point has
        an estimate early, and the time left is known for points of unequal cost.
        """
        for shard in range(max(point.num_shards for point in self.points)):
            for position, point in enumerate(self.points):
                if shard < point.num_shards:
                    yield position, shard

    def identity(self) -> dict[str, Any]:
        """Return everything that decides the result, as JSON would hold it."""
        return {
            "experiment": self.name,
            "version": self.version,
            "seed": self.seed,
            "shard_function": self.shard.__qualname__,
            "shard_code": function_digest(self.shard),
            "points": [
                {
                    "name": point.name,
                    "parameters": point.parameters,
                    "num_samples": point.num_samples,
                    "samples_per_shard": point.samples_per_shard,
                }
                for point in self.points
            ],
        }

    def __repr__(self) -> str:
        return (
            f"Experiment({self.name!r}: {len(self.points)} points, "
            f"{self.num_shards} shards, seed {self.seed})"
        )


def shard_seed(seed: int, experiment: str, point: str, shard: int) -> np.random.SeedSequence:
    """Return the seed sequence of one shard.

    It is the child of ``SeedSequence(seed)`` whose spawn key is the SHA-256 of the two names,
    followed by the shard's position. Python's own ``hash`` differs from process to process.

    Parameters
    ----------
    seed
        The seed of the whole experiment, an integer >= 0.
    experiment, point
        Names.
    shard
        Position of the shard within the point.

    Returns
    -------
    SeedSequence
        The same on every machine and for any number of workers.

    Examples
    --------
    >>> rng = np.random.default_rng(shard_seed(7, "rates", "n = 3", 0))
    """
    # A length before each name: ("ab", "c") and ("a", "bc") must not collide.
    text = "".join(f"{len(name)}:{name}" for name in (experiment, point))
    digest = hashlib.sha256(text.encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.SeedSequence(seed, spawn_key=(*words, shard))


def suggest_samples_per_shard(
    shard: ShardFunction, parameters: Mapping[str, Any], *, seconds: float = 1.5
) -> int:
    """Measure how many samples take about so many seconds, rounded to 1, 2 or 5 times 10^k.

    Write the number into the plan: measured anew, it could differ from machine to machine,
    and with it the random numbers.

    Parameters
    ----------
    shard
        The shard function.
    parameters
        The parameters of a typical point.
    seconds
        How long a shard should take.

    Returns
    -------
    int
        The number of samples.

    Examples
    --------
    >>> import numpy as np
    >>> from cobayes.runs import suggest_samples_per_shard
    >>> def shard(parameters, seed_sequence, num_samples):
    ...     return {"total": np.random.default_rng(seed_sequence).random(num_samples).sum()}
    >>> suggest_samples_per_shard(shard, {}, seconds=0.001) >= 1
    True
    """
    normal = _as_json(parameters, "to measure")
    shard(normal, np.random.SeedSequence(0), 1)  # compile first
    num_samples, spent = 1, 0.0
    while True:
        start = time.perf_counter()
        shard(normal, np.random.SeedSequence(0), num_samples)
        spent = time.perf_counter() - start
        if spent >= seconds / 10 or num_samples >= 10**12:
            break
        num_samples *= 4
    wanted = max(1.0, num_samples * seconds / max(spent, 1e-9))
    power = 10 ** math.floor(math.log10(wanted))
    return max(step * power for step in (1, 2, 5) if step * power <= wanted)


def _as_json(parameters: Mapping[str, Any], point: str) -> dict[str, Any]:
    """Return parameters as they come back from JSON, so that every worker sees the same."""
    if not isinstance(parameters, Mapping):
        raise CobayesError(
            f"the parameters of point {point!r} are a {type(parameters).__name__}; "
            "expected a dict of names to values."
        )
    try:
        text = json.dumps(dict(parameters), default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise CobayesError(
            f"the parameters of point {point!r} cannot be written as JSON: {error}.",
            "use numbers, strings, lists, dicts and NumPy arrays; of a Model, its .matrix",
        ) from error
    return json.loads(text)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not supported")
