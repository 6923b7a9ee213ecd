"""The paper's figures, theorems and claims, as sections of a report."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cobayes.paper import stability
from cobayes.report.section import Recipe, read_prose

TITLE = "Sequential Cooperative Bayesian Inference, recomputed"

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
        "cobayes.paper.rates",
        is_opening=True,
    ),
    Recipe(
        "worked-example",
        "the supplement's 2x2 example, every printed number recomputed",
        "cobayes.paper.example",
    ),
    Recipe(
        "theorems",
        "consistency, rates of convergence and invariants, measured against the theorems",
        "cobayes.paper.theorems",
    ),
    Recipe(
        "figure-s1",
        "the supplement's empirical formula, tested and fitted anew",
        "cobayes.paper.formula",
    ),
    Recipe(
        "figure-3",
        "20x20 matrices after 5 rounds, exactly, and after 30, by simulation",
        "cobayes.paper.beliefs",
    ),
    *stability.RECIPES,
    Recipe(
        "figure-6",
        "the grid world, and the trends claimed for larger boards",
        "cobayes.paper.grid",
    ),
    Recipe(
        "beyond",
        "success enclosed, tiny perturbations, predicted rounds, the best teacher",
        "cobayes.paper.beyond",
    ),
)
"""Every section, in the order of the report; add a `Recipe` to add one."""


def build_paper(folder: str | Path, names: Sequence[str] = (), **options: Any) -> Path:
    """Build sections of the paper's report and write its page.

    Parameters
    ----------
    folder
        The report's folder.
    names
        Names of the sections to build (default: all).
    **options
        Further keywords of `cobayes.report.build_report`: scale, seed, formats and so on.

    Returns
    -------
    Path
        The page.

    Examples
    --------
    >>> import tempfile
    >>> from cobayes.paper import build_paper
    >>> build_paper(tempfile.mkdtemp(), ["worked-example"]).name
    'index.html'
    """
    from cobayes.report.build import build_report

    return build_report(
        folder,
        RECIPES,
        names,
        title=TITLE,
        lead=read_prose("cobayes.paper.prose", "lead"),
        command="cobayes reproduce {name} --scale {scale} --seed {seed}",
        **options,
    )
