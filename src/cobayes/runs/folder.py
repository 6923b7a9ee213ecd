"""The folder of a run: opening what belongs there, refusing what does not, its manifest."""

from __future__ import annotations

import json
import os
import platform
import shlex
import socket
import sys
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from cobayes._runtime import threads
from cobayes.runs.failures import RunError, failures_explained, what_is_kept
from cobayes.runs.ledger import Ledger
from cobayes.runs.ledger_file import LEDGER_NAME, check_file, files_of
from cobayes.runs.plan import Experiment
from cobayes.runs.workers.tasks import CODE, versions_here

MANIFEST_NAME = "manifest.json"
_MOST_DIFFERENCES = 4


def open_ledger(folder: Path, experiment: Experiment) -> Ledger:
    """Open the ledger of an experiment, new or to go on with, or refuse that of another.

    Parameters
    ----------
    folder
        Existing and locked.
    experiment
        The plan.
    """
    here = {**experiment.identity(), "versions": dict(versions_here())}
    if not (folder / LEDGER_NAME).exists():
        return Ledger.create(folder, here)
    ledger = Ledger.open(folder)
    try:
        there = ledger.identity()
        found = differences(there, here)
        if found:
            if len(found) > _MOST_DIFFERENCES:
                found[_MOST_DIFFERENCES:] = [f"and {len(found) - _MOST_DIFFERENCES} more"]
            raise RunError(
                f"{str(folder)!r} holds another run: {'; '.join(found)}.",
                "choose another folder, or go back to what it was started with, "
                "or start over with --fresh (fresh=True), which deletes it",
            )
    except BaseException:
        ledger.close()
        raise
    return ledger


def delete_run(folder: Path, say: Callable[[str], None]) -> None:
    """Delete the run of a folder, and nothing else, after saying so.

    Parameters
    ----------
    folder
        Existing and locked.
    say
        Is told what will be deleted.
    """
    if (folder / LEDGER_NAME).exists():
        # Starting over is no leave to delete what another program wrote.
        check_file(folder / LEDGER_NAME, any_format=True)
    manifest = folder / MANIFEST_NAME
    doomed = [*files_of(folder), *([manifest] if manifest.exists() else [])]
    if not doomed:
        return
    what = ", ".join(path.name for path in doomed)
    say(f"starting over in {folder}: deleting {what}{_what_is_lost(folder)}")
    # To look into the ledger, ourselves or others, makes files beside it.
    with failures_explained(folder / LEDGER_NAME):
        for path in {*doomed, *files_of(folder)}:
            path.unlink(missing_ok=True)


def differences(there: Mapping[str, Any], here: Mapping[str, Any]) -> list[str]:
    """Return in words how two identities differ.

    Parameters
    ----------
    there
        The identity of the run in the folder.
    here
        The identity of the experiment to run.
    """
    found = []
    for name, what in (
        ("experiment", "the experiment"),
        ("version", "the experiment's version"),
        ("seed", "the seed"),
        ("shard_function", "the shard function"),
    ):
        if there[name] != here[name]:
            found.append(f"{what} is {there[name]!r} there and {here[name]!r} here")
    for package, version in here["versions"].items():
        other = there["versions"].get(package)
        if other != version and package != CODE:
            found.append(f"it was made with {package} {other}, this is {version}")
    if not found and there["versions"].get(CODE) != here["versions"][CODE]:
        found.append("the code of cobayes has changed since")
    if not found and there["shard_code"] != here["shard_code"]:
        found.append(f"the code of {here['shard_function']}, or of what it imports, has changed")
    old = {point["name"]: point for point in there["points"]}
    new = {point["name"]: point for point in here["points"]}
    found += [f"point {name!r} is there, not here" for name in old if name not in new]
    found += [f"point {name!r} is here, not there" for name in new if name not in old]
    for name, point in new.items():
        if name in old:
            found.extend(_point_differences(name, old[name], point))
    if not found and [*old] != [*new]:
        found.append("the points are in another order")
    return found


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
    """Write the manifest, a file for people and programs that do not read SQLite, in one step.

    Parameters
    ----------
    folder
        The run's folder.
    content
        What JSON can hold.
    """
    unfinished = folder / f"{MANIFEST_NAME}.new"
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    try:
        # Bytes of a path that are not UTF-8 become JSON's own escapes.
        unfinished.write_bytes(text.encode("utf-8", "backslashreplace"))
        os.replace(unfinished, folder / MANIFEST_NAME)
    except OSError as error:
        raise RunError(
            f"cannot write {str(folder / MANIFEST_NAME)!r}: {error.strerror}; "
            f"{what_is_kept(folder / LEDGER_NAME)}.",
            "remove the cause, then the same command goes on where this one stopped",
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


def _point_differences(name: str, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    found = [
        f"{attribute} of point {name!r} is {old[attribute]} there and {new[attribute]} here"
        for attribute in ("num_samples", "samples_per_shard")
        if old[attribute] != new[attribute]
    ]
    before, now = old["parameters"], new["parameters"]
    found += [
        f"{key} of point {name!r} is {_short(before, key)} there and {_short(now, key)} here"
        for key in sorted(before.keys() | now.keys())
        if key not in before or key not in now or before[key] != now[key]
    ]
    return found


def _short(parameters: Mapping[str, Any], key: str) -> str:
    text = repr(parameters[key]) if key in parameters else "absent"
    return text if len(text) <= 40 else f"{text[:37]}..."


def _what_is_lost(folder: Path) -> str:
    """Return in words how much work a ledger holds, where it can be read."""
    if not (folder / LEDGER_NAME).exists():
        return ""
    try:
        ledger = Ledger.open(folder, only_read=True)
    except RunError:
        return " (damaged)"
    try:
        progress = ledger.progress().values()
    except RunError:
        return " (damaged)"
    finally:
        ledger.close()
    shards = sum(count for count, _ in progress)
    seconds = sum(spent for _, spent in progress)
    return f" ({shards} finished shards, {seconds:.0f} s of work)"
