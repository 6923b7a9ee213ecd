"""``cobayes experiment``: a jsPsych experiment with an artificial teacher or learner."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from cobayes.cli import inputs, options, output
from cobayes.errors import CobayesError

EPILOG = (
    "Examples:\n\n"
    "cobayes experiment example:gestures --out study --role learner\n\n"
    "cobayes experiment first.csv second.csv --out study --role teacher --no-repeats"
)


class Role(StrEnum):
    """What the person does."""

    learner = "learner"
    teacher = "teacher"


class Partner(StrEnum):
    """What the artificial partner follows."""

    scbi = "scbi"
    bi = "bi"
    pragmatic = "pragmatic"


class Answer(StrEnum):
    """What a person who learns is asked for."""

    guess = "guess"
    rating = "rating"


def experiment(
    matrices: Annotated[
        list[str],
        typer.Argument(metavar="MATRIX...", help="Files or example:NAME, one for each problem."),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="FOLDER", help="The new folder.")],
    role: Annotated[Role, typer.Option("--role", help="What the person does.")] = Role.learner,
    rule: Annotated[
        Partner, typer.Option("--rule", help="What the artificial partner follows.")
    ] = Partner.scbi,
    depth: Annotated[
        int, options.count_option("--depth", least=0, help="The depth of the pragmatic rule.")
    ] = 1,
    rationality: Annotated[
        float, typer.Option("--rationality", help="The rationality of the pragmatic rule.")
    ] = 1.0,
    response: Annotated[
        Answer, typer.Option("--response", help="What a person who learns is asked for.")
    ] = Answer.guess,
    rounds: Annotated[
        int, options.count_option("--rounds", "-k", least=1, help="Data per lesson.")
    ] = 5,
    repeats: Annotated[
        bool, typer.Option("--repeats/--no-repeats", help="Whether a datum may be shown again.")
    ] = True,
    seed: Annotated[
        int | None, options.count_option("--seed", least=0, help="The same draws for everybody.")
    ] = None,
    smooth: options.Smooth = None,
) -> None:
    """Write a folder with a jsPsych experiment that runs on any static host.

    The person learns from an artificial teacher, or teaches an artificial learner. The
    table that the experiment saves is the one that `cobayes fit` reads.
    """
    from cobayes.studio.experiment import write_experiment

    problems = {}
    for text in matrices:
        model, example = inputs.load_matrix(text, smooth)
        name = Path(text).stem if example is None else example.name
        if name in problems:
            raise CobayesError(f"two problems are called {name!r}.", "rename one of the files.")
        problems[name] = model
    folder = write_experiment(
        problems,
        out,
        role=role.value,
        rule=rule.value,
        depth=depth,
        rationality=rationality,
        response=response.value,
        num_rounds=rounds,
        repeats=repeats,
        seed=seed,
    )
    output.say(f"wrote {folder}; open {folder / 'index.html'}?demo, then read its README.md")
