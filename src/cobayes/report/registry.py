"""The sections of the report, by name and in order."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from dataclasses import dataclass

from cobayes.errors import CobayesError
from cobayes.report.section import Context, Section


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
        "cobayes.paper.worked_example",
    ),
    Recipe(
        "lesson",
        "one lesson taught by plain Bayes and by SCBI, in pictures",
        "cobayes.paper.lesson",
    ),
    Recipe(
        "theorems",
        "rates of convergence and invariants, measured against the theorems",
        "cobayes.paper.theorems",
    ),
    Recipe(
        "figure-2",
        "how often and by how much SCBI is faster than BI on random matrices",
        "cobayes.paper.figure2",
    ),
    Recipe(
        "figure-s1",
        "the supplement's empirical formula, tested and fitted anew",
        "cobayes.paper.figure_s1",
    ),
    Recipe(
        "figure-3",
        "20x20 matrices after 5 rounds, exactly, and after 30, by simulation",
        "cobayes.paper.figure3",
    ),
    Recipe(
        "figure-4",
        "success when the learner's prior is another, four samples",
        "cobayes.paper.figure4",
    ),
    Recipe(
        "figure-s2",
        "success over discs around the teacher's prior, 25 cases",
        "cobayes.paper.figure_s2",
    ),
    Recipe(
        "figure-s3",
        "success along six rays, 25 cases",
        "cobayes.paper.figure_s3",
    ),
    Recipe(
        "figure-s4",
        "four hypotheses: success along fifteen directions, 9 cases",
        "cobayes.paper.figure_s4",
    ),
    Recipe(
        "figure-s5",
        "success for any prior of the learner and the proved bounds, 25 cases",
        "cobayes.paper.figure_s5",
    ),
    Recipe(
        "figure-s6",
        "the same for four hypotheses, and Conjecture 5.3",
        "cobayes.paper.figure_s6",
    ),
    Recipe(
        "figure-5",
        "success when a column of the learner's matrix is another",
        "cobayes.paper.figure5",
    ),
    Recipe(
        "figure-s7",
        "the same for all five matrices",
        "cobayes.paper.figure_s7",
    ),
    Recipe(
        "figure-6",
        "the grid world, and the trends claimed for larger boards",
        "cobayes.paper.figure6",
    ),
)
"""Every section, in the order of the report; add a `Recipe` to add one."""


def choose_recipes(names: Sequence[str]) -> tuple[Recipe, ...]:
    """Return the recipes of these names in the report's order; no name means all.

    ``2``, ``S1`` and ``Figure2`` mean ``figure-2``, ``figure-s1`` and ``figure-2``.
    """
    known = {recipe.name: recipe for recipe in RECIPES}
    chosen = set()
    for name in names:
        found = name if name in known else f"figure-{_figure_number(name)}"
        if found not in known:
            raise CobayesError(
                f"there is no part of the report called {name!r}.",
                f"choose among: {', '.join(known)}.",
            )
        chosen.add(found)
    return tuple(recipe for recipe in RECIPES if not chosen or recipe.name in chosen)


def _figure_number(name: str) -> str:
    text = name.lower()
    for prefix in ("figure", "fig"):
        text = text.removeprefix(prefix)
    return text.strip(" .-_")
