"""The paper's figures, theorems and claims, as sections of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from cobayes.report.section import Recipe, prose

RECIPES = tuple(
    Recipe(name, summary, f"cobayes.paper.{module}", is_opening=name in ("lesson", "figure-2"))
    for name, module, summary in (
        ("lesson", "lesson", "one lesson taught by plain Bayes and by SCBI, in figures"),
        ("figure-2", "rates", "the rates of SCBI and BI on random matrices"),
        ("worked-example", "example", "the supplement's 2x2 example, every number recomputed"),
        ("theorems", "theorems", "consistency, rates and invariants, measured"),
        ("figure-s1", "formula", "the supplement's empirical formula, and a new fit"),
        ("figure-3", "beliefs", "beliefs on 20x20 matrices after 5 and after 30 rounds"),
        ("figure-4", "stability", "success if the learner has another prior, four cases"),
        ("figure-s2", "stability", "success over discs around the teacher's prior, 25 cases"),
        ("figure-s3", "stability", "success along six rays, 25 cases"),
        ("figure-s4", "stability", "four hypotheses: success along fifteen directions, 9 cases"),
        ("figure-s5", "stability", "success and its proved bounds for any prior, 25 cases"),
        ("figure-s6", "stability", "four hypotheses: success for any prior, and Conjecture 5.3"),
        ("figure-5", "stability", "success if a column of the learner's matrix differs"),
        ("figure-s7", "stability", "success if a column differs, all five matrices"),
        ("figure-6", "grid", "the grid world, and the trends claimed for larger boards"),
        (
            "beyond",
            "beyond",
            "bounds on success, tiny perturbations, predicted rounds, best teacher",
        ),
    )
)
"""The sections in the order of the report; to add a section, add a `Recipe`."""


def section_name(text: str) -> str:
    """Return a section's name; a figure may be given by its number, ``2``, ``S1`` or ``Fig. 2``."""
    figure = "figure-" + re.sub(r"^fig(ure)?|[ ._-]", "", text.lower())
    return figure if any(recipe.name == figure for recipe in RECIPES) else text


def build_paper(folder: str | Path, names: Sequence[str] = (), **options: Any) -> Path:
    """Build sections of the paper's report and write its page.

    Parameters
    ----------
    folder
        The report's folder.
    names
        Names of the sections to build, or numbers of figures such as ``2`` or ``S1`` (default:
        all).
    **options
        Further keywords of `cobayes.report.build_report`: scale, seed, formats and others.

    Returns
    -------
    Path
        The path of the page.

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
        [section_name(name) for name in names],
        title="Sequential Cooperative Bayesian Inference, recomputed",
        lead=prose("cobayes.paper").get_template("lead.md").render(),
        command="cobayes reproduce {name} --scale {scale} --seed {seed}",
        **options,
    )
