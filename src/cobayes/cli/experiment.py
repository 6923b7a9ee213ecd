"""``cobayes experiment``: a jsPsych experiment with an artificial teacher or learner."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cobayes.cli import inputs, options, output
from cobayes.errors import CobayesError

EPILOG = (
    "Examples:\n\n"
    "cobayes experiment example:gestures --out study --role learner\n\n"
    "cobayes experiment first.csv second.csv --out study --role teacher --no-repeats\n\n"
    "cobayes experiment words.csv --out study --rule pragmatic --literal truth --rationality 4"
)


def experiment(
    matrices: Annotated[
        list[str],
        typer.Argument(
            metavar="MATRIX",
            help="One file or example:NAME for each problem of the experiment.",
            show_default=False,
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", metavar="FOLDER", help="A new or empty folder to write to."),
    ],
    role: Annotated[
        str,
        typer.Option(
            "--role",
            **options.choice("learner", "teacher"),
            help="What the person is; the artificial partner is the other one.",
        ),
    ] = "learner",
    rule: Annotated[
        str,
        typer.Option(
            "--rule",
            **options.choice("scbi", "bi", "pragmatic"),
            help="How the artificial partner teaches or learns: by full cooperation (scbi), plain "
            "Bayes (bi), or reasoning to a --depth (pragmatic).",
        ),
    ] = "scbi",
    depth: Annotated[
        int | None,
        options.count_option(
            "--depth",
            least=0,
            help="How often a pragmatic partner reasons about the person (default: 1).",
        ),
    ] = None,
    rationality: options.Rationality = None,
    literal: options.Literal = None,
    prior: options.Prior = None,
    data_prior: options.DataPrior = None,
    response: Annotated[
        str,
        typer.Option(
            "--response",
            **options.choice("guess", "rating"),
            help="What a person who learns does after each datum: guess a hypothesis, or rate all.",
        ),
    ] = "guess",
    rounds: Annotated[
        int,
        options.count_option(
            "--rounds", "-k", least=1, help="How many data are shown in a lesson, one per round."
        ),
    ] = 5,
    repeats: Annotated[
        bool,
        typer.Option(
            "--repeats/--no-repeats", help="Whether a datum may be shown twice in a lesson."
        ),
    ] = True,
    seed: Annotated[
        int | None,
        options.count_option(
            "--seed",
            least=0,
            help="Show everybody the same random draws (default: new ones for each person).",
        ),
    ] = None,
    title: Annotated[
        str, typer.Option("--title", metavar="WORDS", help="The title of the page.")
    ] = "Teaching and learning",
    smooth: options.Smooth = None,
) -> None:
    """Write a folder with a jsPsych experiment that runs on any static host.

    The person learns from an artificial teacher, or teaches an artificial learner. The
    table that the experiment saves is the one that `cobayes fit` reads.
    """
    from cobayes.studio.experiment import write_experiment

    recursion = {"depth": depth, "rationality": rationality, "literal": literal}
    given = {name: value for name, value in recursion.items() if value is not None}
    if rule != "pragmatic" and given:
        raise CobayesError(
            f"--{next(iter(given))} belongs to --rule pragmatic.", "add --rule pragmatic."
        )
    if rule == "bi" and data_prior is not None:
        raise CobayesError("plain Bayes (bi) has no --data-prior.", "take --rule scbi.")
    problems = {}
    priors = None, None
    for text in matrices:
        model, example = inputs.load_matrix(text, smooth)
        name = Path(text).stem if example is None else example.name
        if name in problems:
            raise CobayesError(f"two problems are called {name!r}.", "rename one of the files.")
        if not problems:
            priors = (
                inputs.read_prior(prior, model, example, name="prior"),
                None if data_prior is None else inputs.read_data_prior(data_prior, model),
            )
        problems[name] = model
    folder = write_experiment(
        problems,
        out,
        role=role,
        rule=rule,
        **given,
        prior=priors[0],
        data_prior=priors[1],
        response=response,
        num_rounds=rounds,
        repeats=repeats,
        seed=seed,
        title=title,
    )
    output.say(f"wrote {folder}; open {folder / 'index.html'}?demo, then read its README.md")
