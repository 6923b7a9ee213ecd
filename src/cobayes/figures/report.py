"""The report: builds sections and writes one page of all that are there."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from cobayes.errors import CobayesError, import_optional
from cobayes.figures.page import render_page
from cobayes.figures.registry import RECIPES, Recipe, choose_recipes
from cobayes.figures.section import Context, Made, load_section, save_section

QUICK_SCALE, PAPER_SCALE = 0.01, 1.0

Tell = Callable[[str], None]


def build_report(
    folder: str | Path,
    names: Sequence[str] = (),
    *,
    scale: float = QUICK_SCALE,
    seed: int = 2020,
    command: str | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> Path:
    """Build sections of the report and write its page.

    Every section has a folder of its own; the page shows all sections that are there, the ones
    built earlier too, so that a long one need not be built again to add another.

    Parameters
    ----------
    folder
        Where the report goes; ``index.html`` is its page.
    names
        Which sections to build; none means all.
    scale
        The effort as a share of the paper's own numbers of samples.
    seed
        The same seed gives the same numbers.
    command
        The command that a reader can repeat, shown with each section.
    tell
        Called with a section's name and a line about its progress.

    Returns
    -------
    Path
        The page.
    """
    recipes = choose_recipes(names)
    if not scale > 0.0 or scale == float("inf"):
        raise CobayesError(f"the scale is {scale}; it must be a positive number.")
    import_optional("matplotlib", "plots", "the report")
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise CobayesError(f"{place} is a file; the report needs a folder.")
    try:
        place.mkdir(parents=True, exist_ok=True)
        for number, recipe in enumerate(recipes, start=1):
            prefix = f"[{number}/{len(recipes)}] {recipe.name}"
            _build_section(recipe, place, scale, seed, command, _speaker(tell, prefix))
        return write_page(place)
    except PermissionError as error:
        raise CobayesError(
            f"{error.filename} cannot be written: {error.strerror}.", "choose another folder."
        ) from None


def write_page(folder: Path) -> Path:
    """Write ``index.html`` from the sections that lie in the folder."""
    from cobayes import __version__

    found: list[tuple[str, Path, dict[str, Any]]] = []
    for recipe in RECIPES:
        content = load_section(folder / recipe.name)
        if content is not None:
            found.append((recipe.name, folder / recipe.name, content))
    page = folder / "index.html"
    # Replaced in one step: a reader never sees half a page.
    handle, partial = tempfile.mkstemp(dir=folder, suffix=".html")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(render_page(found, __version__))
    os.chmod(partial, 0o644)
    os.replace(partial, page)
    return page


def _speaker(tell: Callable[[str, str], None] | None, prefix: str) -> Tell:
    def speak(text: str) -> None:
        if tell is not None:
            tell(prefix, text)

    return speak


def _build_section(
    recipe: Recipe, place: Path, scale: float, seed: int, command: str | None, tell: Tell
) -> None:
    from cobayes import __version__

    tell("started")
    start = time.perf_counter()
    folder = place / recipe.name
    folder.mkdir(parents=True, exist_ok=True)
    # Nothing is written before the section is complete, except run data, which can be resumed.
    section = recipe.build(Context(recipe.name, scale, seed, folder, tell))
    seconds = time.perf_counter() - start
    shown = command or f"cobayes reproduce {recipe.name} --scale {scale:g} --seed {seed}"
    save_section(section, Made(shown, seed, scale, seconds, __version__), folder)
    tell(f"done in {time.perf_counter() - start:.1f} s")
