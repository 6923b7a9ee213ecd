"""Join ES modules of this folder into one script, in the order in which they need each other.

The modules are written to be joined: they import by name from relative paths, export by name, and
no two of them use one name at the top level (`bundle` checks it).
"""

from __future__ import annotations

import re
from importlib import resources
from pathlib import PurePosixPath

from cobayes.errors import CobayesError

_IMPORT = re.compile(r'^import\s*\{[^}]*\}\s*from\s*"([^"]+)";\n', re.MULTILINE)
_PASSED_ON = re.compile(r'^export\s*\{([^}]*)\}\s*from\s*"([^"]+)";\n', re.MULTILINE)
_DEFINED = re.compile(
    r"^(?:export\s+)?(?:async\s+)?(?:const|let|class|function\*?)\s+([\w$]+)", re.MULTILINE
)


def read(path: str) -> str:
    """Return the text of a file of this folder, given by its path inside it."""
    return (resources.files("cobayes.studio") / path).read_text(encoding="utf-8")


def bundle(entry: str) -> str:
    """Return a module and all that it imports as the text of one scope, without exports.

    Parameters
    ----------
    entry
        The path of a module inside this folder, such as "twin/cobayes.js".
    """
    parts: dict[str, str] = {}
    _collect(entry, parts, ())
    owners: dict[str, str] = {}
    for path, text in parts.items():
        for name in _DEFINED.findall(text):
            if name in owners:
                raise CobayesError(f"{path} and {owners[name]} both define {name!r}.")
            owners[name] = path
    return "\n".join(f"// {path}\n{text.strip()}\n" for path, text in parts.items())


def exported_names(entry: str) -> list[str]:
    """Return the names that a module passes on from others, in order."""
    return [
        name.strip()
        for names, _ in _PASSED_ON.findall(read(entry))
        for name in names.split(",")
        if name.strip()
    ]


def twin_module() -> str:
    """Return the browser twin of the rules as one ES module, `cobayes.js`."""
    entry = "twin/cobayes.js"
    head = read(entry).partition("*/")[0] + "*/\n"
    return f"{head}{bundle(entry)}\nexport {{ {', '.join(exported_names(entry))} }};\n"


def _collect(path: str, parts: dict[str, str], above: tuple[str, ...]) -> None:
    if path in parts:
        return
    if path in above:
        raise CobayesError(f"{path} imports itself by way of {', '.join(above)}.")
    text = read(path)
    for match in sorted(
        [*_IMPORT.finditer(text), *_PASSED_ON.finditer(text)], key=lambda found: found.start()
    ):
        target = match.group(match.lastindex or 1)
        _collect(_resolve(path, target), parts, (*above, path))
    body = _PASSED_ON.sub("", _IMPORT.sub("", text))
    if above == () and not _DEFINED.search(body):
        return  # an entry that only passes names on
    parts[path] = re.sub(r"^export\s+(?=\w)", "", body, flags=re.MULTILINE)


def _resolve(path: str, target: str) -> str:
    """Return the path inside the folder of a module that another one names."""
    parts: list[str] = []
    for part in (PurePosixPath(path).parent / target).parts:
        if part == "..":
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)
