"""The manifest: what a run was, for people and programs that do not read SQLite."""

from __future__ import annotations

import json
import os
import platform
import shlex
import socket
import sys
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from cobayes._runtime import threads
from cobayes.runs.failures import RunError

MANIFEST_NAME = "manifest.json"


def describe_machine() -> dict[str, Any]:
    """Return what is known about this machine."""
    return {
        "host": socket.gethostname(),
        "system": platform.platform(),
        "processor": _processor(),
        "cores": threads.available_cores(),
    }


def command_line() -> str:
    """Return the command that started this process."""
    program, *arguments = sys.argv or [""]
    if program.endswith(".py"):
        return shlex.join(["python", program, *arguments])
    return shlex.join([os.path.basename(program) or "python", *arguments])


def when(seconds: float) -> str:
    """Return a moment as ISO 8601 text with the offset of the local time.

    Parameters
    ----------
    seconds
        Since 1970.
    """
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def write_manifest(folder: Path, content: Mapping[str, Any]) -> None:
    """Write the manifest, whole or not at all.

    Parameters
    ----------
    folder
        Of the run.
    content
        What JSON can hold.
    """
    unfinished = folder / f"{MANIFEST_NAME}.new"
    try:
        with open(unfinished, "w", encoding="utf-8") as file:
            json.dump(content, file, indent=2, ensure_ascii=False)
            file.write("\n")
        os.replace(unfinished, folder / MANIFEST_NAME)
    except OSError as error:
        raise RunError(
            f"cannot write {str(folder / MANIFEST_NAME)!r}: {error.strerror}; "
            "the shards recorded before that are kept.",
            "mend that, then the same command goes on where this one stopped",
        ) from error


def _processor() -> str:
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            for line in file:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()
