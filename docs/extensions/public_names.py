"""``public-names``: describe every public name of the library whose home is in some modules."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

from sphinx.domains.python import PyObject
from sphinx.errors import ExtensionError
from sphinx.util.docutils import SphinxDirective

import cobayes

described: set[str] = set()


def homes() -> dict[str, str]:
    """Return the module that every public name comes from, as the stub lists them."""
    stub = ast.parse(Path(cobayes.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    return {
        alias.name: f"cobayes.{line.module}"
        for line in stub.body
        if isinstance(line, ast.ImportFrom) and line.module not in (None, "_version")
        for alias in line.names
    }


def names_from(modules: list[str]) -> list[str]:
    """Return the public names that these modules, or modules inside them, define, sorted."""
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

    The content lists modules, one a line. With the option ``of`` the names are those of that
    module's ``__all__`` instead.
    """

    has_content = True
    option_spec = {"of": str}  # noqa: RUF012

    def run(self):
        if "of" in self.options:
            module = self.options["of"]
            home = __import__(module, fromlist=["_"])
            # What `cobayes` itself exports is described under that name.
            found = {name: getattr(home, name) for name in home.__all__ if name not in homes()}
            found = {name: thing for name, thing in found.items() if not inspect.ismodule(thing)}
        else:
            module = "cobayes"
            names = names_from([line.strip() for line in self.content if line.strip()])
            if not names:
                raise self.error(f"no public name lives in {list(self.content)}")
            described.update(names)
            found = {name: getattr(cobayes, name) for name in names}
        lines = []
        for name, thing in found.items():
            kind = "class" if inspect.isclass(thing) else "function"
            if not inspect.isclass(thing) and not callable(thing):
                kind = "data"
            lines += [f".. auto{kind}:: {module}.{name}", ""]
            if kind == "class" and issubclass(thing, BaseException):
                lines.insert(-1, "   :no-inherited-members:")
        return self.parse_text_to_nodes(_as_myst(lines))


def _as_myst(lines: list[str]) -> str:
    return "\n".join(["```{eval-rst}", *lines, "```"])


def require_all(_app, _env):
    """Fail where the library has a public name that no page describes."""
    missing = set(homes()) - described
    if described and missing:
        raise ExtensionError(f"no page of docs/api describes {sorted(missing)}")
    return []


def split_attributes(_app, _what, _name, _thing, _options, lines):
    """Give every attribute an entry of its own where a docstring describes several at once.

    For parameters napoleon does it by itself.
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


def setup(app):
    """Register the directive."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    app.connect("autodoc-process-docstring", split_attributes, priority=400)
    app.add_directive("public-names", PublicNames)
    app.connect("env-updated", require_all)
    # A page that is not read again describes its names no less: always read them all.
    app.connect(
        "env-get-outdated", lambda _app, env, *_: [d for d in env.found_docs if "api/" in d]
    )
    return {"parallel_read_safe": False}
