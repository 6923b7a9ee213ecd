"""The plan of a run: an experiment of named points, each divided into shards.

The plan fixes the size and the random numbers of every shard, so that neither the number of workers
nor an interruption can change a result. A run can be continued only while its identity is the same.
The identity covers the plan, the versions of Python, NumPy, SciPy and cobayes, the code of
cobayes's numerical packages, and the code that the shard function uses. It does not cover comments,
docstrings, data files outside cobayes, other installed packages, or the commands, plots, reports
and browser pages of cobayes.
"""

from __future__ import annotations

import ast
import dis
import functools
import hashlib
import json
import platform
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from importlib.util import resolve_name
from pathlib import Path
from types import CodeType, FunctionType
from typing import Any

import numpy as np

import cobayes
from cobayes import _core
from cobayes._input.validation import items, whole_number
from cobayes.errors import CobayesError
from cobayes.runs.statistics import Estimate, Statistics, add

ShardFunction = Callable[[dict[str, Any], np.random.SeedSequence, int], Statistics]
EstimateFunction = Callable[[Statistics, dict[str, Any]], Mapping[str, Estimate]]

# Files that do not affect numbers. Shard functions in `paper` are covered by `function_digest`.
_NOT_NUMERICAL = ("browser/", "cli/", "paper/", "plots/", "report/", "runs/engine", "runs/progress")

# The digest of an interactively defined function includes global values of these types.
_VALUES = (int, float, complex, str, bytes, list, tuple, dict, np.ndarray, np.generic)


@dataclass(frozen=True)
class Point:
    """One point of an experiment: its parameters, its number of samples, and its shards.

    Parameters
    ----------
    name
        A name that no other point of the experiment has; the point's random numbers depend on it.
    parameters
        Values that JSON can represent; NumPy arrays become lists.
    num_samples
        Total number of samples; the shard function defines a sample.
    samples_per_shard
        Number of samples per shard (default: all samples in one shard). The last shard may have
        fewer. Choose a number for which a shard takes one or two seconds.

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
        for name in ("num_samples", "samples_per_shard"):
            value = getattr(self, name)
            size = self.num_samples if value is None else value
            checked = whole_number(size, f"{name} of point {self.name!r}", 1)
            object.__setattr__(self, name, checked)
        object.__setattr__(self, "parameters", _as_json(self.parameters, self.name))

    @property
    def num_shards(self) -> int:
        """Number of shards."""
        return -(-self.num_samples // self.samples_in(0))

    def samples_in(self, shard: int) -> int:
        """Return the number of samples of a shard.

        Parameters
        ----------
        shard
            The shard's position within its point, from 0.
        """
        size = self.samples_per_shard or self.num_samples
        return min(size, self.num_samples - shard * size)


@dataclass(frozen=True)
class Experiment:
    """A plan of points and the pure function that computes one shard of a point.

    Parameters
    ----------
    name
        The experiment's name; its random numbers depend on it.
    points
        The points to compute, with different names.
    shard
        A module-level function ``f(parameters, seed_sequence, num_samples)`` that returns a dict of
        numbers and small arrays: sufficient statistics of the shard's samples. It must depend only
        on its arguments.
    seed
        The seed of the experiment.
    estimate
        ``f(statistics, parameters)`` returns a dict of estimates from the reduced statistics of a
        point (default: no estimates).
    reduce
        ``f(left, right)`` joins the statistics of shards, in their order (default: the sum, name by
        name). None if statistics cannot be joined, such as a mean with its standard error; then
        every point must have one shard.
    version
        A text of your choice. Change it when an input outside the code changes, such as a data
        file: `run` refuses a folder with shards of another version.

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
    points: Sequence[Point] = field(repr=False)
    shard: ShardFunction
    seed: int = 0
    estimate: EstimateFunction | None = None
    reduce: Callable[[Statistics, Statistics], Statistics] | None = add
    version: str = "1"

    def __post_init__(self) -> None:
        object.__setattr__(
            self, "points", tuple(items(self.points, "points", "points", Point, least=1))
        )
        seed = whole_number(self.seed, f"the seed of {self.name!r}", 0)
        object.__setattr__(self, "seed", seed)
        names = [point.name for point in self.points]
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise CobayesError(
                f"two points of {self.name!r} are named {twice[0]!r}.",
                "rename one: points with the same name would draw the same random numbers.",
            )
        for point in self.points:
            if self.reduce is None and point.num_shards > 1:
                raise CobayesError(
                    f"point {point.name!r} has {point.num_shards} shards, but {self.name!r} has no "
                    "function that joins their statistics.",
                    "leave out samples_per_shard, or pass reduce.",
                )
        name = getattr(self.shard, "__qualname__", type(self.shard).__name__)
        if not hasattr(self.shard, "__code__") or "<" in name:
            raise CobayesError(
                f"the shard function is {name}; expected a function at the top of a module.",
                "define it in a module that workers can import; pass values as parameters.",
            )

    @property
    def num_shards(self) -> int:
        """Number of shards of all points."""
        return sum(point.num_shards for point in self.points)

    def identity(self) -> dict[str, Any]:
        """Return what the statistics of the shards depend on, as values for JSON."""
        return {
            "experiment": self.name,
            "version": self.version,
            "seed": self.seed,
            "shard function": self.shard.__qualname__,
            **versions(),
            "code of cobayes": package_digest(),
            "code of the shard function": function_digest(self.shard),
            "points": [
                [p.name, p.num_samples, p.samples_per_shard, _digest(json.dumps(p.parameters))]
                for p in self.points
            ],
        }


def shard_seed(seed: int, experiment: str, point: str, shard: int) -> np.random.SeedSequence:
    """Return the seed sequence of one shard.

    It is the child of ``SeedSequence(seed)`` whose spawn key is the SHA-256 of the names of
    experiment and point, followed by the shard's position. Python's own ``hash`` of the names would
    differ from process to process.

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
    # The length precedes each name, so that ("ab", "c") and ("a", "bc") do not collide.
    text = "".join(f"{len(name)}:{name}" for name in (experiment, point))
    digest = hashlib.sha256(text.encode()).digest()
    words = np.frombuffer(digest, dtype="<u4").tolist()
    return np.random.SeedSequence(seed, spawn_key=(*words, shard))


def _as_json(parameters: Mapping[str, Any], point: str) -> dict[str, Any]:
    """Return parameters converted to JSON and back, so that all workers see the same values."""
    try:
        text = json.dumps(dict(parameters), default=_plain, allow_nan=False)
    except (TypeError, ValueError) as error:
        raise CobayesError(
            f"the parameters of point {point!r} cannot be written as JSON: {error}.",
            "use numbers, strings, lists, dicts and NumPy arrays; for a Model, give model.matrix.",
        ) from error
    return json.loads(text)


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not supported")


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of Python and of the packages that can change the bits of a result."""
    python = ".".join(platform.python_version_tuple()[:2])
    found = {"cobayes": cobayes.__version__, "python": python}
    return found | {name: metadata.version(name) for name in ("numpy", "scipy")}


@functools.cache
def package_digest(*, everything: bool = False) -> str:
    """Return a digest of cobayes's numerical code, or of all its files.

    Parameters
    ----------
    everything
        Whether to include comments, docstrings and the files that do not affect numbers.
    """
    # The compiled core of an editable install lies outside of the package.
    root, core = Path(cobayes.__file__).parent, Path(_core.__file__)
    files = {path.relative_to(root).as_posix(): path for path in root.rglob("*") if path.is_file()}
    parts = []
    for place, path in sorted({**files, core.name: core}.items()):
        if "__pycache__" in place or path.suffix in (".pyi", ".typed"):
            continue
        if everything or not place.startswith(_NOT_NUMERICAL):
            is_code = path.suffix == ".py" and not everything
            content = path.read_bytes()
            content = "".join(map(ast.dump, _parse(content))) if is_code else content
            parts.append(f"{place} {_digest(content)}")
    return _digest("\n".join(parts))


def function_digest(function: Any) -> str:
    """Return a digest of the code that a function uses, without comments and docstrings.

    The digest covers those top-level statements of the function's module that bind or may change a
    name on which the function depends, and the imported modules that lie in the same package or, if
    the module belongs to no package, in its folder. For an interactively defined function, the
    digest covers the instructions and defaults of this function and of the functions that it names.
    It also covers the numbers, texts, lists, tuples, dicts, sets and arrays that these functions
    name, but no modules, classes or other objects.

    Parameters
    ----------
    function
        A function at the top of a module, or one that was defined interactively.
    """
    module = sys.modules[function.__module__]
    path = Path(getattr(module, "__file__", None) or "")
    source = path.read_bytes() if path.is_file() else b""
    reached = _reached(source, function.__qualname__.partition(".")[0])
    if not reached:  # defined interactively
        return _digest(_text(function, dict(function.__globals__)))
    package = (module.__spec__ and module.__spec__.parent) or ""
    depth = len(package.split(".")) if package else 0
    root = path.parents[depth]
    # Imports are followed inside `home`: the function's top-level package or, without a package,
    # its module's folder. For a function of cobayes it is the subpackage; `package_digest` covers
    # the other subpackages.
    home = path.parents[max(0, depth - (2 if package.startswith("cobayes.") else 1))]
    statements, waiting = {path: reached}, [path]
    while waiting:
        path = waiting.pop()
        package = ".".join(path.parent.relative_to(root).parts)
        for name in _imported(package, statements[path]):
            stem = root.joinpath(*name.split("."))
            for file in (stem.with_suffix(".py"), stem / "__init__.py"):
                if file not in statements and file.is_relative_to(home) and file.is_file():
                    statements[file] = _parse(file.read_bytes())
                    waiting.append(file)
    return _digest("\n".join(ast.dump(s) for file in sorted(statements) for s in statements[file]))


def _parse(source: bytes) -> list[ast.stmt]:
    """Return the statements of a module without docstrings."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            body = node.body[ast.get_docstring(node, clean=False) is not None :]
            node.body = body or [ast.Pass(lineno=1, col_offset=0)]
    return tree.body


@functools.lru_cache(16)  # the hundred experiments of a report have few shard functions
def _reached(source: bytes, start: str) -> list[ast.stmt]:
    """Return the top-level statements on which a name's value depends, without unused imports."""
    body = _parse(source)
    names, chosen, bound = {start}, set(), {statement: _bound(statement) for statement in body}
    while more := {s for s in body if s not in chosen and not names.isdisjoint(bound[s])}:
        chosen |= more
        names |= {"*"} | {n.id for s in more for n in ast.walk(s) if isinstance(n, ast.Name)}
    for statement in chosen:
        if isinstance(statement, ast.Import | ast.ImportFrom):
            statement.names = [
                a for a in statement.names if (a.asname or a.name.partition(".")[0]) in names
            ]
    return [statement for statement in body if statement in chosen]


def _bound(statement: ast.stmt) -> set[str]:
    """Return the names that a top-level statement binds or may change; "*" for ``import *``."""
    code = compile(ast.Module([statement], []), "", "exec")
    bound = {each.argval for each in dis.get_instructions(code) if each.opname == "STORE_NAME"}
    bound |= {n.name for n in ast.walk(statement) if isinstance(n, ast.alias) and n.name == "*"}
    names = {n.id for n in ast.walk(statement) if isinstance(n, ast.Name)}
    # Definitions, imports and assignments to names change only the names that they bind; other
    # statements may change any name in them. Workers do not run the code under
    # `if __name__ == "__main__":`.
    is_block = isinstance(statement, ast.If | ast.For | ast.While | ast.With | ast.Try)
    return bound if (bound and not is_block) or "__name__" in names else bound | names


def _imported(package: str, statements: list[ast.stmt]) -> set[str]:
    """Return the names of modules that statements in a package may import."""
    found = set()
    for node in (node for statement in statements for node in ast.walk(statement)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            stem = resolve_name("." * node.level + (node.module or ""), package)
            found |= {stem, *(f"{stem}.{alias.name}" for alias in node.names)}
    return found


def _text(value: Any, names: dict[str, Any]) -> str:
    """Return a value as text; a function as its instructions, defaults and global values.

    Other objects, such as modules and classes, give an empty text.
    A global value is removed from `names` when it is added to the text, so that it is added once.
    """
    if isinstance(value, FunctionType):
        defaults = (*(value.__defaults__ or ()), *(value.__kwdefaults__ or {}).values())
        parts = [value.__code__, *defaults]
    elif isinstance(value, CodeType):
        parts = [value.co_varnames, *(names.pop(name, None) for name in value.co_names)]
        for step in dis.get_instructions(value):  # not co_consts, which contains the docstring
            parts += [step.opname, step.argval]
    elif isinstance(value, set | frozenset):  # its order differs from process to process
        parts = sorted(value, key=repr)
    else:
        value = value.tolist() if isinstance(value, np.ndarray) else value
        return repr(value) if isinstance(value, _VALUES) else ""
    return " ".join(_text(part, names) for part in parts)


def _digest(content: str | bytes) -> str:
    data = content.encode() if isinstance(content, str) else content
    return hashlib.sha256(data).hexdigest()[:32]
