"""Saving agents and lessons: one file, exact, every matrix written once.

A file is an archive of NumPy arrays, as `numpy.savez` writes it (so `numpy.load` opens it), and one
entry ``content.json`` with everything else. Arrays, tasks and rules that are the same object are
written once and referred to by number. Files may come from anywhere: everything that is read is
checked, and nothing in a file names another file.
"""

from __future__ import annotations

import json
import tokenize
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import require_settings
from cobayes._output import replaced
from cobayes.errors import CobayesError
from cobayes.reading import existing_file
from cobayes.rules import Rule, rule_from_settings
from cobayes.tasks.task import Task, class_name, task_from_settings

FORMAT = 3
CONTENT = "content.json"
SUM_SLACK = 1e-6
"""How far the sum of a saved belief may be from one: rounding over many rounds stays below."""
LONGEST_CONTENT = 2**28
"""Largest description in a file without its arrays, in bytes."""
OBJECTS = ("matrix", "task")
"""Settings of tasks that hold arrays or tasks; text in their place would name a file."""


def write(path: str | Path, kind: str, content: dict[str, Any]) -> None:
    """Write an agent or a lesson; an interruption leaves the old file or the new one.

    Parameters
    ----------
    path
        The file.
    kind
        "learner", "teacher" or "lesson".
    content
        Made of dicts, lists, texts, numbers, arrays, tasks and rules.
    """
    pool = _Pool()
    head = {"cobayes_format": FORMAT, "kind": kind, "content": pool.encode(content)}
    text = json.dumps({**head, "objects": pool.objects}, allow_nan=False)
    try:
        with replaced(path) as unfinished, zipfile.ZipFile(unfinished, "x") as archive:
            archive.writestr(CONTENT, text)
            for number, array in enumerate(pool.arrays):
                with archive.open(f"{number}.npy", "w", force_zip64=True) as member:
                    np.lib.format.write_array(member, array, allow_pickle=False)
    except OSError as error:
        raise CobayesError(f"{path} cannot be written: {error.strerror}.") from error


def read(path: str | Path, kind: str) -> dict[str, Any]:
    """Read what `write` wrote and return its content."""
    file = existing_file(path)
    try:
        with zipfile.ZipFile(file) as archive:
            text, arrays = _read_entries(archive, file.stat().st_size)
    except OSError as error:
        raise CobayesError(f"{path} cannot be read: {error.strerror}.") from error
    except (
        *(zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, RuntimeError, ValueError),
    ) as error:
        raise CobayesError(
            f"{path} is not a complete file saved by cobayes: {error}.",
            "was it cut short, or is it another kind of file?",
        ) from error
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CobayesError(f"{path} is damaged: its entry {CONTENT} is not JSON.") from error
    if not isinstance(head, dict) or head.get("cobayes_format") != FORMAT:
        raise CobayesError(
            f"{path} was not saved by cobayes, or by a version with another format.",
            f"expected cobayes_format {FORMAT}.",
        )
    if head.get("kind") != kind:
        raise CobayesError(
            f"this is not a saved {kind}: it says {head.get('kind')!r}.",
            f"load a file that a {kind}'s save() wrote.",
        )
    with explained(kind):
        shelf = _Shelf(arrays, require(head["objects"], list, "objects"))
        return require(shelf.decode(head["content"]), dict, "content")


@contextmanager
def explained(kind: str) -> Iterator[None]:
    """Turn errors caused by damaged content into one that names the damaged part."""
    try:
        yield
    except CobayesError:
        raise
    except KeyError as error:
        raise _damaged(kind, f"there is no entry {error}") from error
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise _damaged(kind, str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise _damaged(kind, "it is nested too deeply or too large") from error


def _damaged(kind: str, reason: str) -> CobayesError:
    return CobayesError(
        f"the saved {kind} is damaged: {reason}.", "save it again; was the file edited?"
    )


class _Pool:
    """Collects arrays, tasks and rules, each once; content refers to them by number."""

    def __init__(self) -> None:
        self.arrays: list[NDArray[Any]] = []
        self.objects: list[dict[str, Any]] = []
        self._known: dict[int, dict[str, int]] = {}
        self._kept: list[Any] = []

    def encode(self, item: Any) -> Any:
        """Return content for JSON with references in the place of arrays and objects."""
        if isinstance(item, dict):
            return {str(key): self.encode(value) for key, value in item.items()}
        if isinstance(item, list | tuple):
            return [self.encode(value) for value in item]
        if isinstance(item, np.generic):
            return item.item()
        if not isinstance(item, np.ndarray | Task | Rule):
            return item
        if id(item) not in self._known:
            self._kept.append(item)  # keeps the object alive, so that its id stays unique
            self._known[id(item)] = self._refer(item)
        return self._known[id(item)]

    def _refer(self, item: Any) -> dict[str, int]:
        if isinstance(item, np.ndarray):
            self.arrays.append(item)
            return {"#array": len(self.arrays) - 1}
        settings = item.settings()
        if isinstance(item, Task):
            require_settings(type(item), settings)
            described = {"task": class_name(item)}
        else:
            require_settings(type(item), settings, num_given=1)
            described = {"rule": item.name, "of": self.encode(item.task)}
        described["settings"] = self.encode(settings)
        self.objects.append(described)
        return {"#object": len(self.objects) - 1}


class _Shelf:
    """Replaces the references of a `_Pool` by arrays, tasks and rules."""

    def __init__(self, arrays: list[NDArray[Any]], objects: list[Any]) -> None:
        self._arrays = arrays
        self._made: list[Any] = []
        for described in objects:  # an object refers to earlier objects only
            self._made.append(self._make(described))

    def decode(self, item: Any) -> Any:
        """Put arrays and objects in the place of references."""
        if isinstance(item, list):
            return [self.decode(value) for value in item]
        if not isinstance(item, dict):
            return item
        if set(item) == {"#array"}:
            return self._arrays[position(item["#array"], "reference", len(self._arrays) - 1)]
        if set(item) == {"#object"}:
            return self._made[position(item["#object"], "reference", len(self._made) - 1)]
        return {key: self.decode(value) for key, value in item.items()}

    def _make(self, described: dict[str, Any]) -> Any:
        settings = require(self.decode(described["settings"]), dict, "settings")
        if "task" in described:
            for name in OBJECTS:
                if isinstance(settings.get(name), str):
                    raise ValueError(f"the {name} of a task is text")
            return task_from_settings(described["task"], settings)
        task = require(self.decode(described["of"]), Task, "task")
        return rule_from_settings(described["rule"], task, settings)


def _read_entries(archive: zipfile.ZipFile, size: int) -> tuple[str, list[NDArray[Any]]]:
    """Return the description and the arrays of an archive of some size in bytes."""
    entries = {entry.filename: entry for entry in archive.infolist()}
    # Uncompressed entries that do not overlap cannot be larger than the file.
    if any(entry.compress_type != zipfile.ZIP_STORED for entry in entries.values()):
        raise zipfile.BadZipFile("it has compressed entries")
    if sum(entry.file_size for entry in archive.infolist()) > size:
        raise zipfile.BadZipFile("its entries overlap")
    if CONTENT not in entries:
        raise zipfile.BadZipFile(f"it has no entry {CONTENT}")
    if entries[CONTENT].file_size > LONGEST_CONTENT:
        raise zipfile.BadZipFile(f"its entry {CONTENT} is too long")
    count = sum(name.endswith(".npy") for name in entries)
    arrays = [_read_array(archive, f"{number}.npy") for number in range(count)]
    return archive.read(CONTENT).decode(), arrays


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read one array; its size is compared with the archive's before memory is allocated."""
    with archive.open(name) as member:
        try:
            version = np.lib.format.read_magic(member)
            if version != (1, 0):
                raise ValueError(f"format {version} of arrays is not known")
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(member)
            if any(type(length) is not int or length < 0 for length in shape):
                raise ValueError(f"{shape} is not a shape")
        except (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError) as error:
            raise zipfile.BadZipFile(f"{name} is no array: {error}") from error
        length = archive.getinfo(name).file_size - member.tell()
        if dtype.kind not in "fiu" or is_fortran or length != dtype.itemsize * prod(shape):
            raise zipfile.BadZipFile(f"{name} does not hold what it says")
        values = np.frombuffer(member.read(), dtype=dtype)
    return values.reshape(shape)


def pack_generator(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random generator."""
    state: dict[str, Any] = dict(rng.bit_generator.state)
    if state.get("bit_generator") != "PCG64":
        raise CobayesError(
            f"the random generator {type(rng.bit_generator).__name__} cannot be saved.",
            "use NumPy's default, numpy.random.default_rng(seed).",
        )
    return state


def unpack_generator(content: Any) -> np.random.Generator:
    """Undo `pack_generator`; every field is checked here, since NumPy does not check a state."""
    inner = content["state"]
    state: Any = {
        "bit_generator": "PCG64",
        "state": {name: position(inner[name], f"generator's {name}", 2**128 - 1) for name in inner},
        "has_uint32": position(content["has_uint32"], "generator's has_uint32", 1),
        "uinteger": position(content["uinteger"], "generator's uinteger", 2**32 - 1),
    }
    if content != state or set(inner) != {"state", "inc"} or inner["inc"] % 2 == 0:
        raise ValueError("the generator's state is not one of NumPy's PCG64")
    bit_generator = np.random.PCG64(0)
    bit_generator.state = state
    return np.random.Generator(bit_generator)


def require(value: Any, kind: type, name: str) -> Any:
    """Return a value of some type, or raise an error that names it."""
    if not isinstance(value, kind) or isinstance(value, bool):
        raise ValueError(f"{name} is a {type(value).__name__}, not a {kind.__name__}")
    return value


def position(value: Any, name: str, last: int) -> int:
    """Return an integer from 0 to `last`, or raise an error that names it."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        raise ValueError(f"{name} is {value!r}, not an integer")
    if not 0 <= value <= last:
        raise ValueError(f"{name} is {value}, outside of 0 to {last}")
    return int(value)


def positions(values: Any, name: str, last: int) -> NDArray[np.intp]:
    """Return an array of integers from 0 to `last`, or raise an error that names it."""
    array = require(values, np.ndarray, name)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise ValueError(f"{name} are not a list of integers")
    if array.size and not (array.min() >= 0 and array.max() <= last):
        raise ValueError(f"{name} has an entry outside of 0 to {last}")
    return array.astype(np.intp)


def log_beliefs(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return logarithms of probabilities that sum to one, or raise an error that names them."""
    array = require(values, np.ndarray, name)
    if array.shape != shape or array.dtype != np.float64:
        raise ValueError(
            f"{name} has the shape {array.shape} and the type {array.dtype}; expected {shape} "
            "and float64"
        )
    with np.errstate(over="ignore"):
        sums = np.exp(array).sum(axis=-1)
    if not (np.abs(sums - 1.0) <= SUM_SLACK).all():  # false for NaN as well
        raise ValueError(f"{name} has probabilities that do not sum to 1")
    return array
