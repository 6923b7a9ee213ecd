"""Saving agents and lessons: one file, exact, every matrix written once.

A file is an archive of NumPy arrays, as `numpy.savez` writes it (so `numpy.load` opens it), and one
entry ``content.json`` with everything else. Arrays, tasks and rules that are the same object are
written once and referred to by number. Files of the first format, JSON alone, can still be read.
"""

from __future__ import annotations

import json
import tokenize
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._output import replaced
from cobayes.errors import CobayesError
from cobayes.rules import Rule, rule_from_settings
from cobayes.tasks.task import Task, task_from_settings

FORMAT = 2
FIRST_FORMAT = 1
CONTENT = "content.json"
# A belief whose probabilities sum to one up to rounding over many rounds.
SUM_SLACK = 1e-6
# The description in a file, without its arrays, may be this long.
LONGEST_CONTENT = 2**28


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
    except (OSError, ValueError) as error:  # a name with a null byte is a ValueError
        reason = getattr(error, "strerror", None) or error
        raise CobayesError(f"{path} cannot be written: {reason}.") from error


def read(path: str | Path, kind: str) -> dict[str, Any]:
    """Read what `write` wrote, or a file of the first format, and return its content."""
    if "\0" in str(path):
        raise CobayesError(f"{str(path)!r} is no file name: it has a null byte in it.")
    try:
        with Path(path).open("rb") as file:
            is_archive = file.read(2) == b"PK"
            file.seek(0)
            if is_archive:
                return _read_archive(path, file, kind)
            return _read_first_format(path, file.read(), kind)
    except OSError as error:
        raise CobayesError(f"{path} cannot be read: {error.strerror}.") from error


@contextmanager
def explained(kind: str) -> Iterator[None]:
    """Turn the errors that damaged content causes into one that says what is damaged."""
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


def _require_kind(content: Any, kind: str) -> None:
    found = content.get("kind") if isinstance(content, dict) else type(content).__name__
    if found != kind:
        raise CobayesError(
            f"this is not a saved {kind}: it says {found!r}.",
            f"load a file that a {kind}'s save() wrote.",
        )


class _Pool:
    """What a file holds once: arrays, and tasks and rules described with references."""

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
            self._kept.append(item)  # an id is unique only while its object lives
            self._known[id(item)] = self._refer(item)
        return self._known[id(item)]

    def _refer(self, item: Any) -> dict[str, int]:
        if isinstance(item, np.ndarray):
            self.arrays.append(item)
            return {"#array": len(self.arrays) - 1}
        if isinstance(item, Task):
            described = {
                "task": type(item).__name__,
                "settings": self.encode(item.settings()),
            }
        else:
            described = {
                "rule": item.name,
                "settings": self.encode(item.settings()),
                "of": self.encode(item.task),
            }
        self.objects.append(described)
        return {"#object": len(self.objects) - 1}


class _Shelf:
    """Undoes what a `_Pool` did."""

    def __init__(self, arrays: list[NDArray[Any]], objects: list[Any]) -> None:
        self._arrays = arrays
        self._made: list[Any] = []
        for described in objects:  # each refers to earlier ones only
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
            return task_from_settings(described["task"], settings)
        task = require(self.decode(described["of"]), Task, "task")
        return rule_from_settings(described["rule"], task, settings)


def _read_archive(path: str | Path, file: Any, kind: str) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(file) as archive:
            # Stored without compression, so that no entry is larger than the file itself.
            if any(entry.compress_type != zipfile.ZIP_STORED for entry in archive.infolist()):
                raise zipfile.BadZipFile("it has compressed entries")
            names = set(archive.namelist())
            if CONTENT not in names:
                raise zipfile.BadZipFile(f"it has no entry {CONTENT}")
            if archive.getinfo(CONTENT).file_size > LONGEST_CONTENT:
                raise zipfile.BadZipFile(f"its entry {CONTENT} is too long")
            text = archive.read(CONTENT).decode()
            count = sum(name.endswith(".npy") for name in names)
            arrays = [_read_array(archive, f"{number}.npy") for number in range(count)]
    except (zipfile.BadZipFile, KeyError, EOFError, NotImplementedError, RuntimeError) as error:
        raise CobayesError(
            f"{path} is not a whole file that cobayes saved: {error}.",
            "was it cut short, or is it another kind of file?",
        ) from error
    except UnicodeDecodeError as error:
        raise CobayesError(f"{path} is damaged: its entry {CONTENT} is not text.") from error
    head = _parse(path, text, FORMAT)
    _require_kind(head, kind)
    with explained(kind):
        shelf = _Shelf(arrays, require(head["objects"], list, "objects"))
        return require(shelf.decode(head["content"]), dict, "content")


def _read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Read one array whose size is what the archive says, before any memory is asked for."""
    with archive.open(name) as member:
        try:
            version = np.lib.format.read_magic(member)
            if version != (1, 0):
                raise ValueError(f"format {version} of arrays is not known")
            shape, is_fortran, dtype = np.lib.format.read_array_header_1_0(member)
            if any(type(size) is not int for size in shape):
                raise ValueError(f"{shape} is not a shape")
        except (ValueError, TypeError, SyntaxError, tokenize.TokenError, RecursionError) as error:
            raise zipfile.BadZipFile(f"{name} is no array: {error}") from error
        length = archive.getinfo(name).file_size - member.tell()
        if dtype.kind not in "fiu" or is_fortran or length != dtype.itemsize * _product(shape):
            raise zipfile.BadZipFile(f"{name} does not hold what it says")
        values = np.frombuffer(member.read(), dtype=dtype)
    return values.reshape(shape)


def _product(shape: tuple[int, ...]) -> int:
    total = 1
    for size in shape:
        total *= size
    return total


def _parse(path: str | Path, text: str, version: int) -> dict[str, Any]:
    try:
        head = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise CobayesError(
            f"{path} is not JSON: {error}.", "was it cut short, or is it another kind of file?"
        ) from error
    if not isinstance(head, dict) or head.get("cobayes_format") != version:
        raise CobayesError(
            f"{path} was not saved by cobayes, or by a version with another format.",
            f"expected cobayes_format {version}.",
        )
    return head


def _read_first_format(path: str | Path, raw: bytes, kind: str) -> dict[str, Any]:
    """Read the JSON of version 1, in which every agent held its matrix as lists."""
    head = _parse(path, raw.decode(errors="replace"), FIRST_FORMAT)
    _require_kind(head, kind)

    def restore(item: Any, name: str = "") -> Any:
        if isinstance(item, dict) and set(item) == {"dtype", "values"}:
            if item["dtype"] not in ("uint32", "uint64"):
                raise ValueError(f"{item['dtype']!r} is not the type of a generator's numbers")
            return np.array(item["values"], dtype=item["dtype"])
        if isinstance(item, dict) and name == "rule":
            return Rule.from_dict(item)
        if isinstance(item, dict):
            return {key: restore(value, key) for key, value in item.items()}
        if isinstance(item, list):
            # Infinities were written as text, which NumPy reads as numbers.
            return np.array(item, dtype=np.int64 if name == "data" else np.float64)
        return item

    with explained(kind):
        if "data" in head:
            for datum in require(head["data"], list, "data"):
                require(datum, int, "datum")
        return restore({key: value for key, value in head.items() if key != "cobayes_format"})


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
