"""Imports between packages go down only, in the order of docs/architecture.md."""

import ast
from pathlib import Path

import cobayes

ROOT = Path(cobayes.__file__).parent
# From the lowest level up. The modules outside of packages are on the lowest level, with `_input`.
ORDER = (
    ("", "_input"),
    ("tasks",),
    ("scaling",),
    ("rules",),
    ("lessons",),
    ("theory", "random_matrices"),
    ("stability",),
    ("conjecture",),
    ("worlds",),
    ("people",),
    ("plots",),
    ("runs",),
    ("report",),
    ("browser",),
    ("paper",),
    ("cli",),
)
LEVEL = {package: level for level, packages in enumerate(ORDER) for package in packages}
# A model is the task that never changes, so the two know each other.
KNOWN_PAIRS = {("", "tasks")}


def package_of(module: str) -> str:
    """Return the package of a module of cobayes, '' for one at the top."""
    first = module.split(".")[1] if "." in module else ""
    return first if (ROOT / first).is_dir() else ""


def imports_of(path: Path) -> set[str]:
    """Return what a file imports from cobayes when it is loaded itself."""
    found = set()
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("cobayes"):
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            found |= {name if package_of(name) else node.module for name in names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names if alias.name.startswith("cobayes")}
    return found


def test_every_package_has_its_place():
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert packages <= set(LEVEL)


def test_imports_go_down_only():
    upwards = []
    for path in sorted(ROOT.rglob("*.py")):
        own = path.relative_to(ROOT).parts[0] if path.parent != ROOT else ""
        if own == "" and path.name in ("__init__.py", "__main__.py"):
            continue
        for module in imports_of(path):
            other = package_of(module)
            if LEVEL[other] > LEVEL[own] and (own, other) not in KNOWN_PAIRS:
                upwards.append(f"{path.relative_to(ROOT)} imports {module}")
    assert upwards == []
