"""``public-names``: describe the public names that the listed modules define."""

from __future__ import annotations

import ast
import inspect
import re
from collections import Counter
from functools import cache, cached_property
from pathlib import Path
from types import FunctionType

from sphinx.domains.python import PyObject
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

import cobayes

ROOT = Path(__file__).parents[2]
SCRIPTS = ROOT / "examples" / "gallery"

described: set[str] = set()


def homes() -> dict[str, str]:
    """Return the module of every public name, as the stub `__init__.pyi` lists them."""
    stub = ast.parse(Path(cobayes.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.name: f"cobayes.{line.module}"
        for line in stub.body
        if isinstance(line, ast.ImportFrom) and line.module
        for alias in line.names
    }


def names_from(modules: list[str]) -> list[str]:
    """Return the public names of these modules and of their submodules, functions first."""
    inside = [(module, module + ".") for module in modules]
    return sorted(
        (
            name
            for name, home in homes().items()
            if any(home == module or home.startswith(prefix) for module, prefix in inside)
        ),
        key=lambda name: (inspect.isclass(getattr(cobayes, name)), name.lower()),
    )


class PublicNames(SphinxDirective):
    """Functions first, then classes, each with its docstring.

    The content lists modules, one per line. Instead, the option ``of`` may name one module: then
    its exported names are described.
    """

    has_content = True
    option_spec = {"of": str}  # noqa: RUF012

    def run(self):
        if "of" in self.options:
            module = self.options["of"]
            home = __import__(module, fromlist=["_"])
            # Names that `cobayes` exports, too, are described as `cobayes.NAME`.
            listed = getattr(home, "__all__", [name for name in vars(home) if name[0] != "_"])
            things = {name: getattr(home, name) for name in listed}
            found = {
                name: thing
                for name, thing in things.items()
                if not inspect.ismodule(thing) and thing is not getattr(cobayes, name, None)
            }
        else:
            module = "cobayes"
            names = names_from([line.strip() for line in self.content if line.strip()])
            if not names:
                raise self.error(f"no public name lives in {list(self.content)}")
            described.update(names)
            found = {name: getattr(cobayes, name) for name in names}
        lines = []
        for name, thing in found.items():
            if inspect.isclass(thing):
                lines += _class_lines(f"{module}.{name}", thing)
            else:
                kind = "function" if callable(thing) else "data"
                lines += [f".. auto{kind}:: {module}.{name}", ""]
        return self.parse_text_to_nodes(_as_myst(lines))


def _class_lines(path: str, thing: type) -> list[str]:
    """Return the directives for a class, then for its members; most mentioned members first.

    Inherited and overridden members that no page uses are described with the base class.
    """
    lines = [f".. autoclass:: {path}", "   :no-members:", ""]
    if issubclass(thing, BaseException):
        return lines
    bases = [base for base in thing.__mro__[1:] if base.__module__.startswith("cobayes")]
    inherited = {name: m for base in reversed(bases) for name, m in _members(base).items()}
    own = {
        name: member
        for name, member in _members(thing).items()
        if name in mentioned() or name not in inherited
    }
    shown = {name: m for name, m in inherited.items() if name in mentioned()} | own
    for name in sorted(shown, key=lambda name: -mentioned()[name]):
        member = shown[name]
        kind = "property" if isinstance(member, (property, cached_property)) else "method"
        lines += [f"   .. auto{kind}:: {name}", ""]
    return lines


def _members(thing: type) -> dict[str, object]:
    """Return the public methods and properties that a class defines itself, with docstrings."""
    return {
        name: member
        for name, member in vars(thing).items()
        if not name.startswith("_")
        and isinstance(member, (property, cached_property, classmethod, staticmethod, FunctionType))
        and member.__doc__
    }


@cache
def mentioned() -> Counter[str]:
    """Count the names after a dot, or in back-quotes, on the pages and in the gallery."""
    pages = [ROOT / "README.md", *(ROOT / "docs").glob("*.md"), *SCRIPTS.glob("*.py")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    return Counter(re.findall(r"(?:\.|`)([a-z_]+)\b", text))


def _as_myst(lines: list[str]) -> str:
    return "\n".join(["```{eval-rst}", *lines, "```"])


def require_all(_app, _env):
    """Fail if the library has a public name that no page describes."""
    missing = set(homes()) - described
    if described and missing:
        raise ExtensionError(f"no page of docs/api describes {sorted(missing)}")
    return []


def split_attributes(_app, _what, _name, _thing, _options, lines):
    """Give every attribute an entry of its own where a docstring describes several at once.

    Napoleon does this for parameters.
    """
    if "Attributes" not in lines:
        return
    start = lines.index("Attributes") + 2
    underlines = [i for i in range(start, len(lines)) if lines[i] and set(lines[i]) == {"-"}]
    end = underlines[0] - 1 if underlines else len(lines)
    heads = [i for i in range(start, end) if lines[i] and not lines[i].startswith(" ")]
    result = lines[:start]
    for head, following in zip(heads, [*heads[1:], end], strict=True):
        names, colon, kind = lines[head].partition(" : ")
        for name in names.split(", "):
            result += [name + colon + kind, *lines[head + 1 : following]]
    lines[:] = result + lines[end:]


@cache
def uses() -> dict[str, list[tuple[str, str]]]:
    """Return for every name the pages of the gallery whose scripts use it, with their titles."""
    found: dict[str, list[tuple[str, str]]] = {}
    for script in sorted(SCRIPTS.glob("plot_*.py")):
        tree = ast.parse(script.read_text(encoding="utf-8"))
        title = (ast.get_docstring(tree) or "").splitlines()[0]
        names = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
        names |= {
            alias.name
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cobayes")
            for alias in node.names
        }
        for name in names:
            found.setdefault(name, []).append((script.stem, title))
    return found


def say_more(_app, what, name, thing, _options, lines):
    """Add what the code says and a docstring does not: types, the result, links to the gallery."""
    own = name.rpartition(".")[2]
    if what in ("function", "method", "class"):
        _add_types(lines, _annotations(thing))
    # Functions have a section "Returns"; most methods only say in one sentence what they return.
    if what == "method" and "Returns" not in lines:
        result = _annotations(thing).get("return")
        if result not in (None, "None"):
            later = [i for i, line in enumerate(lines) if line in ("Notes", "Examples", "Raises")]
            place = later[0] if later else len(lines)
            lines[place:place] = ["", "Returns", "-------", result, ""]
    if what in ("function", "class") and own in uses():
        links = ", ".join(f":doc:`{title} </gallery/{page}>`" for page, title in uses()[own])
        lines += ["", f"In the gallery: {links}.", ""]


def _annotations(thing) -> dict[str, str]:
    """Return the types of parameters and of the result as the code writes them."""
    found: dict[str, str] = {}
    if inspect.isclass(thing):
        for part in reversed(thing.__mro__[:-1]):
            found |= getattr(part, "__annotations__", {})
        thing = thing.__init__
    found |= getattr(inspect.unwrap(thing), "__annotations__", {})
    # A name that ends in an underscore, such as np.bool_, would be read as a reference.
    return {name: re.sub(r"_\b", r"\\_", k) for name, k in found.items() if isinstance(k, str)}


def _add_types(lines: list[str], types: dict[str, str]) -> None:
    """Add types to the section of parameters: ``name`` becomes ``name : type``."""
    if "Parameters" not in lines:
        return
    start = lines.index("Parameters") + 2
    underlines = [i for i in range(start, len(lines)) if lines[i] and set(lines[i]) == {"-"}]
    for i in range(start, underlines[0] - 1 if underlines else len(lines)):
        names = lines[i].split(", ")
        kinds = {types.get(name.lstrip("*")) for name in names}
        if (
            lines[i]
            and not lines[i].startswith(" ")
            and " : " not in lines[i]
            and None not in kinds
        ):
            # If parameters with one description differ in type, the longest type is shown.
            lines[i] += " : " + max(kinds, key=len)


def skip_fields(_app, _what, _name, thing, skip, _options):
    """Leave out the fields of named tuples, which the class describes."""
    return True if (getattr(thing, "__doc__", None) or "").startswith("Alias for field") else skip


def setup(app):
    app.connect("autodoc-process-docstring", say_more, priority=390)
    app.connect("autodoc-skip-member", skip_fields)
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("autodoc-process-docstring", split_attributes, priority=400)
    app.add_directive("public-names", PublicNames)
    app.connect("env-updated", require_all)
    # Names are added to `described` only when a page is read, so all API pages are read every time.
    app.connect(
        "env-get-outdated", lambda _app, env, *_: [d for d in env.found_docs if "api/" in d]
    )
    return {"parallel_read_safe": False}
