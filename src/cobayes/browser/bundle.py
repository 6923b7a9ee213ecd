"""Join the JavaScript modules of this package into one script, imported modules first.

The modules import and export by name, from relative paths. No two modules define the same name at
the top level; `bundle` checks names that directly follow `const`, `let`, `class` or `function`.
"""

from __future__ import annotations

import json
import posixpath
import re
from importlib import resources
from typing import Any

from cobayes.errors import CobayesError

_FROM = re.compile(r'^(import|export)\s*\{([^}]*)\}\s*from\s*"([^"]+)";\n', re.MULTILINE)
_DEFINED = re.compile(
    r"^(?:export\s+)?(?:async\s+)?(?:const|let|class|function\*?)\s+([\w$]+)", re.MULTILINE
)


def read(path: str) -> str:
    """Return the text of a file of this package, by its path inside the package."""
    return (resources.files("cobayes.browser") / path).read_text(encoding="utf-8")


def bundle(entry: str) -> str:
    """Return one script, without exports, of a module and all modules that it imports.

    Parameters
    ----------
    entry
        The path of the module, such as "twin/cobayes.js".
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


def twin_module() -> str:
    """Return the JavaScript version of the rules and lessons as one ES module, `cobayes.js`."""
    entry = "twin/cobayes.js"
    head = read(entry).partition("*/")[0] + "*/\n"
    names = ", ".join(names.strip() for _, names, _ in _FROM.findall(read(entry)))
    return f"{head}{bundle(entry)}\nexport {{ {names} }};\n"


def script_value(value: Any) -> str:
    """Return a value as JavaScript; "<" is escaped, so that no text can end a script element."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False).replace("<", "\\u003c")


def _collect(path: str, parts: dict[str, str], above: tuple[str, ...]) -> None:
    if path in parts:
        return
    if path in above:
        circle = " -> ".join((*above[above.index(path) :], path))
        raise CobayesError(f"modules import each other in a circle: {circle}.")
    text = read(path)
    for _, _, target in _FROM.findall(text):
        found = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
        _collect(found, parts, (*above, path))
    body = _FROM.sub("", text)
    if above == () and not _DEFINED.search(body):
        return  # a module that only exports names of other modules
    parts[path] = re.sub(r"^export\s+(?=\w)", "", body, flags=re.MULTILINE)
