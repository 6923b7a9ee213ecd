"""The paper's figures, theorems and claims, as sections of a report."""

from __future__ import annotations

from cobayes.paper import stability
from cobayes.report.section import Recipe

RECIPES = (
    Recipe(
        "lesson",
        "one lesson taught by plain Bayes and by SCBI, in pictures",
        "cobayes.paper.lesson",
        is_opening=True,
    ),
    Recipe(
        "figure-2",
        "how often and by how much SCBI is faster than BI on random matrices",
        "cobayes.paper.figure2",
        is_opening=True,
    ),
    Recipe(
        "worked-example",
        "the supplement's 2x2 example, every printed number recomputed",
        "cobayes.paper.worked_example",
    ),
    Recipe(
        "theorems",
        "consistency, rates of convergence and invariants, measured against the theorems",
        "cobayes.paper.theorems",
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
    *stability.RECIPES,
    Recipe(
        "figure-6",
        "the grid world, and the trends claimed for larger boards",
        "cobayes.paper.figure6",
    ),
    Recipe(
        "beyond",
        "success enclosed, tiny perturbations, predicted rounds, the best teacher",
        "cobayes.paper.beyond",
    ),
)
"""Every section, in the order of the report; add a `Recipe` to add one."""
