"""Agents, lessons and fits as JSON and in files.

Python writes a number so that the same bits are read back. A task or rule that occurs several times
is written once, in the list "objects", and referred to by its position. Files may come from an
unknown source: everything that is read is checked, and no entry can make cobayes read another file.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import instance, require_settings
from cobayes._output import write_text
from cobayes.errors import CobayesError
from cobayes.reading import existing_file, parse_json
from cobayes.rules import Rule, as_rule
from cobayes.tasks.task import Task, class_name, task_from_settings

FILE_FORMAT = 4
BELIEF_SLACK = 1e-6
"""Largest accepted difference of a saved belief's sum from one; rounding errors are smaller."""
OBJECTS = ("matrix", "task")
"""Settings whose values are matrices or tasks; a text there would be taken for a file name."""


def write(path: str | Path, kind: str, content: dict[str, Any]) -> None:
    """Write plain content to a file; after an interruption the file is the old one or the new one.

    Parameters
    ----------
    path
        The file.
    kind
        What was saved, such as "teacher", "lesson" or "fit".
    content
        The content, as `to_plain` returns it.
    """
    head = {"cobayes_format": FILE_FORMAT, "kind": kind, "checksum": _checksum(content)}
    try:
        write_text(path, json.dumps({**head, "content": content}))
    except OSError as error:
        raise CobayesError(f"{path} cannot be written: {error.strerror}.") from error


def read(path: str | Path, kind: str) -> dict[str, Any]:
    """Return the content of a file that `write` wrote."""
    file = existing_file(path)
    try:
        head = parse_json(file, file.read_bytes())
    except OSError as error:
        raise CobayesError(f"{path} cannot be read: {error.strerror}.") from error
    if not isinstance(head, dict) or head.get("cobayes_format") != FILE_FORMAT:
        raise CobayesError(
            f"{path} was not saved by cobayes in the format of this version: expected "
            f"cobayes_format {FILE_FORMAT}.",
            "load it with the version that saved it.",
        )
    if head.get("kind") != kind:
        raise CobayesError(
            f"{path} is not a saved {kind}: its kind is {head.get('kind')!r}.",
            f"load a file that a {kind}'s save() wrote.",
        )
    content = head.get("content")
    if not isinstance(content, dict) or head.get("checksum") != _checksum(content):
        raise _damaged(kind, "its content does not match its checksum")
    return content


def _checksum(content: Any) -> int:
    return zlib.crc32(json.dumps(content).encode())


@contextmanager
def explained(kind: str) -> Iterator[None]:
    """Turn errors caused by damaged content into a `CobayesError` that says what is damaged."""
    try:
        yield
    except CobayesError:
        raise
    except KeyError as error:
        raise CobayesError(
            f"the saved {kind} has no entry {error}.", "give all entries that were saved."
        ) from error
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError) as error:
        raise _damaged(kind, str(error)) from error
    except (RecursionError, MemoryError) as error:
        raise _damaged(kind, "it is nested too deeply or too large") from error


def _damaged(kind: str, reason: str) -> CobayesError:
    return CobayesError(f"the saved {kind} is damaged: {reason}.", "make and save it again.")


def to_plain(content: dict[str, Any]) -> dict[str, Any]:
    """Return content as values that JSON can represent.

    Parameters
    ----------
    content
        The content, made of dicts, lists, texts, numbers, arrays, tasks and rules.
    """
    objects: list[dict[str, Any]] = []
    known: dict[int, tuple[Any, dict[str, int]]] = {}

    def encode(item: Any) -> Any:
        if isinstance(item, dict):
            return {str(key): encode(value) for key, value in item.items()}
        if isinstance(item, list | tuple):
            return [encode(value) for value in item]
        if hasattr(item, "tolist"):  # numbers and arrays of NumPy, a Series
            return item.tolist()
        if not isinstance(item, Task | Rule):
            return item
        if id(item) not in known:
            settings = encode(item.settings())
            if isinstance(item, Task):
                own, num_given = {"task": class_name(item)}, 0
            else:
                own, num_given = {"rule": item.name, "of": encode(item.task)}, 1
            require_settings(type(item), settings, num_given)
            objects.append({"settings": settings, **own})
            # The item is kept, so that its id is not used again for another object.
            known[id(item)] = item, {"#object": len(objects) - 1}
        return known[id(item)][1]

    return {**encode(content), "objects": objects}


def from_plain(content: dict[str, Any]) -> dict[str, Any]:
    """Undo `to_plain`: make the tasks and rules again; arrays remain lists."""
    made: list[Any] = []

    def decode(item: Any) -> Any:
        if isinstance(item, list):
            return [decode(value) for value in item]
        if not isinstance(item, dict):
            return item
        if set(item) != {"#object"}:
            return {key: decode(value) for key, value in item.items()}
        number = item["#object"]
        if type(number) is not int or not 0 <= number < len(made):
            raise ValueError(f"a reference is {number!r}; expected a position below {len(made)}")
        return made[number]

    for described in content["objects"]:  # an object refers to earlier objects only
        settings = decode(described["settings"])
        if "task" in described:
            for name in OBJECTS:
                if isinstance(settings.get(name), str):
                    raise ValueError(f"the {name} of a task is text, which may name a file")
            made.append(task_from_settings(described["task"], settings))
        else:
            task = instance(decode(described["of"]), Task, "the rule's task", "a task")
            name = instance(described["rule"], str, "the name of a rule", "text")
            made.append(as_rule(name, task, **settings))
    return {key: decode(value) for key, value in content.items() if key != "objects"}


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
    """Make the generator that `pack_generator` described; an impossible state raises an error."""
    rng = np.random.default_rng(0)
    rng.bit_generator.state = content
    is_read = rng.bit_generator.state == content
    if not is_read or content["has_uint32"] not in (0, 1) or content["state"]["inc"] % 2 == 0:
        raise ValueError("the generator's state is not a state of NumPy's PCG64")
    return rng


def plain_logs(logs: NDArray[np.float64]) -> list[Any]:
    """Return logarithms as lists; None replaces minus infinity, which JSON does not have."""
    plain = logs.astype(object)
    plain[~np.isfinite(logs)] = None
    return plain.tolist()


def read_logs(values: Any, name: str, shape: tuple[int, ...]) -> NDArray[np.float64]:
    """Return the array that `plain_logs` wrote; probabilities must sum to one."""
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(f"{name} has the shape {array.shape}; expected {shape}")
    array[np.isnan(array)] = -np.inf
    with np.errstate(over="ignore"):
        sums = np.exp(array).sum(axis=-1)
    if not (np.abs(sums - 1.0) <= BELIEF_SLACK).all():
        raise ValueError(f"{name} has probabilities that do not sum to 1")
    return array
