"""Arguments and options that several commands share, with one help text each."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated

import typer


class RuleChoice(StrEnum):
    """Which rule both agents follow."""

    scbi = "scbi"
    bi = "bi"
    both = "both"


Matrix = Annotated[
    str,
    typer.Argument(
        metavar="MATRIX",
        help="A file (.csv, .tsv, .json or .parquet: first row hypotheses, first column data) or "
        "example:NAME; see 'cobayes examples'.",
    ),
]

TaughtHypothesis = Annotated[
    str | None,
    typer.Option(
        "--hypothesis",
        "-H",
        help="What is taught: a label, or a position counted from 0. An example knows its own.",
    ),
]

Prior = Annotated[
    str | None,
    typer.Option(
        "--prior",
        help="The first belief: 0.2,0.8 or A=0.2,B=0.8 or a prior of the example by name; "
        "uniform if not given.",
    ),
]

Rule = Annotated[
    RuleChoice, typer.Option("--rule", help="How both think; 'both' compares the two.")
]

SeedOfNumbers = Annotated[
    int | None, typer.Option("--seed", min=0, help="The same seed gives the same numbers.")
]

AsJson = Annotated[bool, typer.Option("--json", help="Write JSON to stdout instead.")]
