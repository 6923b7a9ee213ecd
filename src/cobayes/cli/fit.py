"""``cobayes fit``: fit models of human teachers or learners to a table, and compare them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobayes.cli import inputs, options, output
from cobayes.errors import CobayesError

if TYPE_CHECKING:
    import pandas as pd

    from cobayes.people import Comparison, Fit, Recovery
    from cobayes.tasks.repeats import WithoutRepeats

WRITTEN = ("fit.csv", "trials.csv", "comparison.csv", "recovery.csv", "index.html")
EPILOG = (
    "Examples:\n\n"
    "cobayes fit choices.csv --problems problems --out fit\n\n"
    "cobayes fit choices.csv --problems leaves.csv --depth 0,1,inf --lapse 0.02 --by none"
)


def fit(
    choices: Annotated[
        Path,
        typer.Argument(
            metavar="CHOICES",
            help="A table (.csv, .tsv or .parquet) with the columns person, problem, round, "
            "hypothesis and datum.",
        ),
    ],
    problems: Annotated[
        Path,
        typer.Option(
            "--problems",
            "-p",
            metavar="FOLDER|FILE",
            help="A folder with a matrix file for each problem, named like it, or one matrix for "
            "all choices.",
        ),
    ],
    depth: Annotated[
        str,
        typer.Option(
            "--depth",
            metavar="LIST",
            help="The depths of recursion to compare; inf is full cooperation (SCBI).",
        ),
    ] = "0,1,2,inf",
    rationality: Annotated[
        str,
        typer.Option(
            "--rationality",
            metavar="BOUNDS",
            help="How strongly people prefer better data: bounds of the estimate, or a number "
            "that is kept fixed.",
        ),
    ] = "0:20",
    lapse: Annotated[
        str,
        typer.Option(
            "--lapse",
            metavar="BOUNDS",
            help="The share of responses made at random: bounds of the estimate, or a number that "
            "is kept fixed.",
        ),
    ] = "0:0.5",
    by: Annotated[
        str,
        typer.Option(
            "--by",
            metavar="COLUMN",
            help="Fit separately for each value of this column; 'none' pools everybody.",
        ),
    ] = "person",
    response: Annotated[
        str,
        typer.Option(
            "--response",
            **options.choice("choice", "guess", "rating"),
            help="What people did: teachers choose data; learners guess or rate hypotheses.",
        ),
    ] = "choice",
    literal: Annotated[
        str,
        typer.Option(
            "--literal",
            **options.choice("likelihood", "truth"),
            help="How the literal learner reads the table: each column as a likelihood, or the "
            "numbers as they are (truth values, as in rational speech acts).",
        ),
    ] = "likelihood",
    no_repeats: Annotated[
        bool,
        typer.Option("--no-repeats", help="People knew that no datum is shown twice to a learner."),
    ] = False,
    loo: Annotated[
        bool,
        typer.Option(
            "--loo/--no-loo", help="Whether to compare by leave-one-out predictions, too."
        ),
    ] = True,
    cross_validation: Annotated[
        bool,
        typer.Option(
            "--cross-validation", help="Also predict each person from a fit to the others."
        ),
    ] = False,
    recover: Annotated[
        int,
        options.count_option(
            "--recover",
            least=0,
            help="Also simulate this many people on these problems and fit them.",
        ),
    ] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="FOLDER", help="Where to write the results.")
    ] = Path("fit"),
    seed: Annotated[
        int, options.count_option("--seed", least=0, help="The same seed gives the same numbers.")
    ] = 0,
    as_json: options.AsJson = False,
) -> None:
    """Fit people's responses by maximum likelihood and compare depths of recursion.

    Writes fit.csv (estimates), trials.csv (log-likelihood, belief, entropy and information gain of
    every response), comparison.csv and index.html; with --recover also recovery.csv.
    """
    from cobayes import people

    family = people.Family(
        depth=[_number(part, "--depth") for part in depth.split(",")],
        rationality=_bounds(rationality, "--rationality"),
        lapse=_bounds(lapse, "--lapse"),
        response=response,
        literal=literal,
    )
    _require_file(choices)
    _require_file(problems)
    inputs.check_folder("--out", out, WRITTEN, [choices, *_files_of(problems)])
    from cobayes.cli.progress import ProgressLine

    with ProgressLine() as line:
        found = people.fit(
            choices,
            _without_repeats(problems) if no_repeats else problems,
            family,
            None if by == "none" else by,
            progress=lambda text, share: line.tell("fit", f"{text}, {100 * share:.0f} %"),
        )
        line.tell("compare", "information criteria and predictions")
        comparison = people.compare(
            {f"depth {_name(d)}": found.at_depth(d) for d in family.depth},
            loo=loo,
            cross_validation=cross_validation,
            rng=seed,
        )
        recovery = None
        if recover:
            line.tell("recover", f"{recover} simulated people")
            recovery = people.recover(
                family,
                found.problems,
                num_people=recover,
                num_rounds=_rounds_per_lesson(found),
                rng=seed,
            )
    command = ["cobayes", "fit", str(choices), "--problems", str(problems), "--depth", depth]
    command += ["--rationality", rationality, "--lapse", lapse, "--by", by]
    command += ["--response", response, "--literal", literal]
    command += ["--no-repeats"] * no_repeats + ["--no-loo"] * (not loo)
    command += ["--cross-validation"] * cross_validation
    command += ["--recover", str(recover)] if recover else []
    command += ["--out", str(out), "--seed", str(seed)]
    _write(out, found, comparison, recovery, shlex.join(command))
    if as_json:
        output.print_json(_as_json(found, comparison, recovery))
    else:
        _print(found, comparison)
        if recovery is not None:
            output.console().print(str(recovery), markup=False)
    files = f"{out / 'index.html'}, fit.csv, trials.csv and comparison.csv"
    output.say(f"wrote {files}" + (", recovery.csv" if recovery is not None else ""))


def _without_repeats(problems: Path) -> dict[str, WithoutRepeats]:
    from cobayes.people.problems import read_problems
    from cobayes.tasks.repeats import without_repeats

    return {name: without_repeats(found.model) for name, found in read_problems(problems).items()}


def _number(text: str, name: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CobayesError(
            f"{name}: {text!r} is not a number.", "write 0,1,2,inf for depths, 0:20 for bounds."
        ) from None


def _bounds(text: str, name: str) -> float | tuple[float, float]:
    low, colon, high = text.partition(":")
    return (_number(low, name), _number(high, name)) if colon else _number(low, name)


def _require_file(path: Path) -> None:
    if not path.exists():
        from cobayes.reading import nearby

        raise CobayesError(f"there is no file or folder {path}.", nearby(path))


def _files_of(problems: Path) -> list[Path]:
    return list(problems.iterdir()) if problems.is_dir() else [problems]


def _name(depth: float) -> str:
    return "inf" if depth == float("inf") else f"{depth:g}"


def _rounds_per_lesson(found: Fit) -> int:
    """Return the median number of responses in a lesson."""
    import numpy as np

    frame = found.choices.frame
    lesson = [name for name in ("person", "problem", "lesson") if name in frame.columns]
    return max(1, int(np.median(frame.groupby(lesson).size().to_numpy())))


def _guarded(table: pd.DataFrame) -> pd.DataFrame:
    """Return a table for CSV in which no label is a formula to a spreadsheet."""
    from cobayes._output import not_a_formula

    return table.map(not_a_formula).rename(columns=not_a_formula)


def _write(
    out: Path, found: Fit, comparison: Comparison, recovery: Recovery | None, command: str
) -> None:
    from cobayes._output import write_text
    from cobayes.people.page import render_fit

    try:
        out.mkdir(parents=True, exist_ok=True)
        _guarded(found.estimates).to_csv(out / "fit.csv", index=False)
        _guarded(found.trials).to_csv(out / "trials.csv", index=False)
        models = comparison.table.rename_axis("model").reset_index()
        _guarded(models).to_csv(out / "comparison.csv", index=False)
        if recovery is not None:
            _guarded(recovery.table).to_csv(out / "recovery.csv", index=False)
        write_text(out / "index.html", render_fit(found, comparison, command, recovery))
    except OSError as error:
        raise CobayesError(f"{out} cannot be written: {error.strerror}.") from None


def _as_json(found: Fit, comparison: Comparison, recovery: Recovery | None) -> dict[str, Any]:
    from cobayes import __version__

    recovered = (
        {
            "num_choices": recovery.num_choices,
            "depth_accuracy": recovery.depth_accuracy,
            "coverage": recovery.coverage.reset_index().to_dict(orient="records"),
        }
        if recovery is not None
        else None
    )
    return {
        "cobayes": __version__,
        "log_likelihood": found.log_likelihood,
        "estimates": found.estimates.to_dict(orient="records"),
        "comparison": comparison.table.rename_axis("model").reset_index().to_dict(orient="records"),
        "conclusion": comparison.conclusion,
    } | ({"recovery": recovered} if recovered else {})


def _print(found: Fit, comparison: Comparison) -> None:
    from rich.text import Text

    console = output.console()
    columns = [name for name in comparison.table.columns if name != "per_response"]
    table = output.table(
        f"{len(found.choices):,} responses",
        [("model", "left"), *((name.replace("_", " "), "right") for name in columns)],
    )
    for name, row in comparison.table.iterrows():
        table.add_row(Text(str(name)), *(Text(f"{row[column]:.6g}") for column in columns))
    console.print(table)
    console.print(comparison.conclusion, markup=False)
