"""Which code computes a shard: results of other code are never taken for those of this one."""

from __future__ import annotations

import ast
import functools
import hashlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import CodeType
from typing import Any

import cobayes
from cobayes.errors import CobayesError

# They show results and do not compute them. A shard function of the paper adds its own modules.
_SHOWN_ONLY = ("cli", "paper", "plots", "report", "studio")


@functools.cache
def package_digest(*, everything: bool = False) -> str:
    """Return a digest of the source files of cobayes that can change a number.

    Parameters
    ----------
    everything
        Include the files that only show results: commands, plots, pages, texts.
    """
    root = Path(cobayes.__file__).parent
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*")):
        place = path.relative_to(root)
        if "__pycache__" in place.parts or not path.is_file():
            continue
        if everything or (place.parts[0] not in _SHOWN_ONLY and path.suffix in (".py", ".json")):
            whole.update(f"{place.as_posix()}\0{path.stat().st_size}\0".encode())
            whole.update(path.read_bytes())
    return whole.hexdigest()[:16]


def function_digest(function: Any) -> str:
    """Return a digest of a shard function and of the modules around it that it can import.

    Around it are the modules of its own package, or those beside its script. Comments,
    docstrings and line numbers do not count. What it uses of cobayes is in `package_digest`;
    the versions of other packages are part of a run's identity.

    Parameters
    ----------
    function
        Defined at the top of a module.
    """
    parts = [_digest_of(code_of(function))]
    parts += [f"{name} {digest}" for name, digest in sorted(_modules_around(function).items())]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def code_of(function: Any) -> CodeType:
    """Return the code of a plain or a compiled function, or explain what is wrong with it.

    Parameters
    ----------
    function
        Given as a shard function.
    """
    code = getattr(getattr(function, "py_func", function), "__code__", None)
    name = getattr(function, "__qualname__", type(function).__name__)
    if not isinstance(code, CodeType) or "<lambda>" in name or "<locals>" in name:
        raise CobayesError(
            f"the shard function is {name}; expected a function defined at the top of a module.",
            "workers import it by name; put what it depends on into the point's parameters",
        )
    return code


def _digest_of(code: CodeType) -> str:
    """Return a digest of what a function does; comments and line numbers do not count."""
    parts: list[str] = []

    def visit(code: CodeType) -> None:
        parts.extend([code.co_code.hex(), repr(code.co_names), repr(code.co_varnames)])
        for constant in code.co_consts:
            if isinstance(constant, CodeType):
                visit(constant)
            elif isinstance(constant, frozenset):
                # Its order differs from process to process.
                parts.append(repr(sorted(map(repr, constant))))
            else:
                parts.append(repr(constant))

    visit(code)
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def _modules_around(function: Any) -> dict[str, str]:
    """Return digests of the function's module and of those around it that it leads to."""
    first = getattr(sys.modules.get(function.__module__), "__file__", None)
    if first is None or not Path(first).is_file():
        return {}  # defined interactively
    home, prefix = _home_of(function.__module__, Path(first))
    found: dict[str, str] = {}
    waiting = [(function.__module__, Path(first))]
    while waiting:
        name, path = waiting.pop()
        # By place, not by name: a script is `__main__` in one process and not in another.
        key = Path(os.path.relpath(path, Path(first).parent)).as_posix()
        if key in found:
            continue
        try:
            found[key], imports = _read(path.read_bytes(), name, path.stem == "__init__")
        except (OSError, SyntaxError, ValueError):
            continue
        for imported in imports:
            other = _file_of(imported, home, prefix)
            if other is not None:
                waiting.append((imported, other))
    return found


@functools.lru_cache(maxsize=256)
def _read(source: bytes, module: str, is_package: bool) -> tuple[str, tuple[str, ...]]:
    """Return the digest of a module's source and what it imports; a report asks often."""
    tree = ast.parse(source)
    digest = hashlib.sha256(ast.dump(_without_docstrings(tree)).encode()).hexdigest()
    return digest, tuple(dict.fromkeys(_imports(tree, module, is_package=is_package)))


def _home_of(module: str, path: Path) -> tuple[Path, str]:
    """Return the folder whose modules count as those around a function, and its package."""
    if module.startswith("cobayes."):
        # The rest of cobayes is counted as a whole.
        return path.parent, module.rpartition(".")[0]
    root, dot, _ = module.partition(".")
    if not dot:
        return path.parent, ""
    depth = module.count(".") - (path.stem != "__init__")
    return path.parents[depth], root


def _imports(tree: ast.Module, module: str, *, is_package: bool) -> Iterator[str]:
    """Yield the names of modules, and of what may be modules, that a module imports anywhere."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = node.module or ""
            if node.level:
                parts = module.split(".")
                above = parts[: len(parts) - node.level + is_package]
                base = ".".join([*above, *([node.module] if node.module else [])])
            if base:
                yield base
                yield from (f"{base}.{alias.name}" for alias in node.names)


def _file_of(module: str, home: Path, prefix: str) -> Path | None:
    """Return the source file of a module if it lies in the home folder; nothing is imported."""
    if not prefix:
        # Beside a script in a folder of installed packages everything is somebody else's.
        if home.name in ("site-packages", "dist-packages"):
            return None
        inner = module
    elif module == prefix or module.startswith(f"{prefix}."):
        inner = module[len(prefix) + 1 :]
    else:
        return None
    place = home.joinpath(*inner.split(".")) if inner else home
    for path in (place.with_name(f"{place.name}.py"), place / "__init__.py"):
        if path.is_file() and path.is_relative_to(home):
            return path
    return None


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = node.body[0] if node.body else None
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant):
                node.body = node.body[1:]
    return tree
