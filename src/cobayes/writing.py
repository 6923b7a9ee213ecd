"""Writing files whole: an interruption leaves the old file or the new one, never a half."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replaced(path: str | Path) -> Iterator[Path]:
    """Give the name of a new file beside a file, and move it into its place at the end.

    The file gets the permissions that any new file gets, not the private ones of a temporary
    file: others are meant to read it.

    Parameters
    ----------
    path
        The file to replace or to make.
    """
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        yield unfinished
        os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise


def write_text(path: str | Path, text: str) -> None:
    """Write a text as UTF-8; see `replaced`.

    Parameters
    ----------
    path
        The file.
    text
        Its new content.
    """
    with replaced(path) as unfinished, unfinished.open("x", encoding="utf-8") as file:
        file.write(text)
