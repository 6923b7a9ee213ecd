"""Writing files whole: an interruption leaves the old file or the new one, never a half."""

from __future__ import annotations

import os
import secrets
from pathlib import Path


def write_text(path: str | Path, text: str) -> None:
    """Write a file beside its place and move it there in one step.

    The file gets the permissions that any new file gets, not the private ones of a temporary
    file: others are meant to read it.

    Parameters
    ----------
    path
        Where to.
    text
        What to write, as UTF-8.
    """
    target = Path(path)
    unfinished = target.with_name(f".{target.name}.{secrets.token_hex(6)}")
    try:
        with unfinished.open("x", encoding="utf-8") as file:
            file.write(text)
        os.replace(unfinished, target)
    except BaseException:
        unfinished.unlink(missing_ok=True)
        raise
