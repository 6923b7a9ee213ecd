"""The sections of the report, by name and in order."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

from cobayes.errors import CobayesError
from cobayes.figures.section import Context, Section


@dataclass(frozen=True)
class Recipe:
    """A section that can be built.

    Attributes
    ----------
    name : str
        What `cobayes reproduce` calls it.
    summary : str
        One line.
    module : str
        The module whose function ``build(context)`` returns the `Section`; it is imported when
        the section is built.
    """

    name: str
    summary: str
    module: str

    def build(self, context: Context) -> Section:
        """Make the section."""
        return importlib.import_module(self.module).build(context)


RECIPES = (
    Recipe(
        "worked-example",
        "the supplement's 2x2 example, every printed number recomputed",
        "cobayes.figures.worked_example",
    ),
    Recipe(
        "lesson",
        "one lesson taught by plain Bayes and by SCBI, in pictures",
        "cobayes.figures.lesson",
    ),
)
"""Every section, in the order of the report; add a `Recipe` to add one."""


def choose_recipes(names: Sequence[str]) -> tuple[Recipe, ...]:
    """Return the recipes of these names in the report's order; no name means all."""
    known = {recipe.name: recipe for recipe in RECIPES}
    for name in names:
        if name not in known:
            raise CobayesError(
                f"there is no part of the report called {name!r}.",
                f"choose among: {', '.join(known)}.",
            )
    return tuple(recipe for recipe in RECIPES if not names or recipe.name in names)
