"""Saving agents and lessons as JSON, exactly."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes._output import write_text
from cobayes.errors import CobayesError

FORMAT = 1


def pack(values: NDArray[np.float64]) -> list[Any]:
    """Turn an array into lists; what is not finite becomes text, which JSON can hold."""

    def plain(item: Any) -> Any:
        if isinstance(item, list):
            return [plain(part) for part in item]
        return item if np.isfinite(item) else str(item)

    return plain(np.asarray(values).tolist())


def unpack(content: list[Any]) -> NDArray[np.float64]:
    """Undo `pack`: Python prints and reads float64 exactly."""
    return np.array(content, dtype=np.float64)


def pack_generator(rng: np.random.Generator) -> dict[str, Any]:
    """Return the state of a random generator."""

    def plain(item: Any) -> Any:
        if isinstance(item, dict):
            return {key: plain(value) for key, value in item.items()}
        if isinstance(item, np.ndarray):
            return {"dtype": str(item.dtype), "values": item.tolist()}
        return int(item) if isinstance(item, np.integer) else item

    return plain(dict(rng.bit_generator.state))


def unpack_generator(content: dict[str, Any]) -> np.random.Generator:
    """Undo `pack_generator`."""

    def restore(item: Any) -> Any:
        if isinstance(item, dict) and set(item) == {"dtype", "values"}:
            return np.array(item["values"], dtype=item["dtype"])
        if isinstance(item, dict):
            return {key: restore(value) for key, value in item.items()}
        return item

    kind = getattr(np.random, str(content.get("bit_generator")), None)
    if not (isinstance(kind, type) and issubclass(kind, np.random.BitGenerator)):
        raise CobayesError(
            f"the saved random generator {content.get('bit_generator')!r} is unknown."
        )
    bit_generator = kind()
    bit_generator.state = restore(content)
    return np.random.Generator(bit_generator)


def require_kind(content: Any, kind: str) -> None:
    """Raise an error where content is not what it should be."""
    if not isinstance(content, dict) or content.get("kind") != kind:
        found = content.get("kind") if isinstance(content, dict) else type(content).__name__
        raise CobayesError(
            f"this is not a saved {kind}: it says {found!r}.",
            f"load a file that a {kind}'s save() wrote.",
        )


@contextmanager
def explained(kind: str) -> Iterator[None]:
    """Turn the errors that broken content causes into one that says what is broken."""
    try:
        yield
    except CobayesError:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        found = f"no entry {error}" if isinstance(error, KeyError) else str(error)
        raise CobayesError(
            f"the saved {kind} is not whole: {found}.", "save it again; was the file edited?"
        ) from error


def write(path: str | Path, content: dict[str, Any]) -> None:
    """Write JSON so that an interruption leaves the old file or the new one, never a half."""
    target = Path(path)
    text = json.dumps({"cobayes_format": FORMAT, **content}, allow_nan=False, indent=1)
    try:
        write_text(target, text)
    except OSError as error:
        raise CobayesError(f"{target} cannot be written: {error.strerror}.") from error


def read(path: str | Path) -> dict[str, Any]:
    """Read JSON that `write` wrote."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise CobayesError(f"{path} cannot be read: {error.strerror}.") from error
    except ValueError as error:
        raise CobayesError(
            f"{path} is not JSON: {error}.", "was it cut short, or is it another kind of file?"
        ) from error
    if not isinstance(content, dict) or content.get("cobayes_format") != FORMAT:
        raise CobayesError(
            f"{path} was not saved by cobayes, or by a version with another format.",
            f"expected cobayes_format {FORMAT}.",
        )
    return content
