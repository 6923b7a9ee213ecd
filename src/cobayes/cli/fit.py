"""``cobayes fit``: fit models of human teachers or learners to a table, and compare them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cobayes.cli import inputs, options, output
from cobayes.cli.fit_results import WRITTEN, print_results, results_as_json, write_results
from cobayes.errors import CobayesError

if TYPE_CHECKING:
    from cobayes.people import Fit
    from cobayes.people.problems import Problem

EPILOG = (
    "Examples:\n\n"
    "cobayes fit choices.csv --problems problems --out fit\n\n"
    "cobayes fit choices.csv --problems leaves.csv --depth 0,1,inf --lapse 0.02 --by none\n\n"
    "cobayes fit choices.csv --problems leaves.csv --features cost.csv --weights -5:0"
)


def fit(
    context: typer.Context,
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
    columns: Annotated[
        str,
        typer.Option(
            "--columns",
            metavar="NAMES",
            help="The names of your columns where they are others, as person=subject,round=trial.",
        ),
    ] = "",
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
    inner_rationality: Annotated[
        str,
        typer.Option(
            "--inner-rationality",
            metavar="BOUNDS",
            help="The rationality of the teachers inside a recursion of finite depth (from depth 2 "
            "on; learners: from 1 on): bounds of the estimate, or a fixed number.",
        ),
    ] = "1",
    prior_temperature: Annotated[
        str,
        typer.Option(
            "--prior-temperature",
            metavar="BOUNDS",
            help="The learner in mind starts from the prior to this power: bounds of the estimate, "
            "or a fixed number. It needs --priors.",
        ),
    ] = "1",
    priors: Annotated[
        Path | None,
        typer.Option(
            "--priors",
            metavar="FILE",
            help="A table with the columns problem, hypothesis and prior (default: uniform). "
            "Without the column problem it holds for every problem.",
        ),
    ] = None,
    features: Annotated[
        Path | None,
        typer.Option(
            "--features",
            metavar="FILE",
            help="A table with the columns problem and datum and a column of numbers for each "
            "feature, such as a cost. Without the column problem it holds for every problem.",
        ),
    ] = None,
    weights: Annotated[
        str,
        typer.Option(
            "--weights",
            metavar="BOUNDS",
            help="How strongly people prefer data with a high feature: bounds of the estimates.",
        ),
    ] = "-10:10",
    other: Annotated[
        str,
        typer.Option(
            "--other",
            metavar="DEPTH",
            help="Depth of the learner whose belief a teacher follows from round to round: a "
            "number, 'inf', 'static' (its belief stays at the prior) or 'mind' (the learner that "
            "the teacher has in mind).",
        ),
    ] = "mind",
    noise: Annotated[
        str,
        typer.Option(
            "--noise",
            metavar="BOUNDS",
            help="The standard deviation of ratings: bounds of the estimate, or a fixed number.",
        ),
    ] = "0.01:1",
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
            "--loo/--no-loo",
            help="Whether to compare by leave-one-out predictions, too; with thousands of "
            "responses that takes longer than the fit.",
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
    plan: Annotated[
        str,
        typer.Option(
            "--plan",
            metavar="PRECISION",
            help="Also find out how many responses per person a wanted precision needs, as "
            "rationality=2,depth=0.9: the width of a 95 % interval, the share of people whose "
            "depth is recovered.",
        ),
    ] = "",
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
    every response), comparison.csv and index.html; with --recover also recovery.csv, with --plan
    plan.csv.
    """
    from cobayes import people
    from cobayes.cli.progress import ProgressLine
    from cobayes.people.choices import read_numbers, read_renamed
    from cobayes.people.plan import check_precision

    for path in filter(None, (choices, problems, priors, features)):
        _require_file(path)
    sources = [choices, *_files_of(problems), priors, features]
    inputs.check_folder("--out", out, WRITTEN, sources)
    known = _read_problems(problems, priors, no_repeats)
    family = people.Family(
        depth=[_number(part, "--depth") for part in depth.split(",")],
        rationality=_bounds(rationality, "--rationality"),
        lapse=_bounds(lapse, "--lapse"),
        features=None if features is None else read_numbers(features, known, "datum"),
        weights=_bounds(weights, "--weights"),
        inner_rationality=_bounds(inner_rationality, "--inner-rationality"),
        prior_temperature=_bounds(prior_temperature, "--prior-temperature"),
        noise=_bounds(noise, "--noise"),
        other=None
        if other == "mind"
        else other
        if other == "static"
        else _number(other, "--other"),
        response=response,
        literal=literal,
    )
    precision = check_precision(_precision(plan), family)
    with ProgressLine() as line:
        found = people.fit(
            read_renamed(choices, _names(columns)),
            known,
            family,
            None if by == "none" else by,
            progress=lambda text, share: line.tell("fit", f"{text}, {100 * share:.0f} %"),
        )
        line.tell("compare", "information criteria")
        comparison = people.compare(
            {f"depth {_name(d)}": found.at_depth(d) for d in family.depth},
            loo=loo,
            cross_validation=cross_validation,
            rng=seed,
            progress=lambda text, share: line.tell("compare", f"{text}, {100 * share:.0f} %"),
        )
        recovery = study = None
        rounds = _rounds_per_lesson(found)
        if recover:
            line.tell("recover", f"{recover} simulated people")
            recovery = people.recover(
                family, known, num_people=recover, num_rounds=rounds, rng=seed
            )
        if precision:
            line.tell("plan", "simulated studies of different lengths")
            study = people.plan_study(
                family, known, precision=precision, num_rounds=rounds, rng=seed
            )
        line.tell("page", "predicted against observed")
        extra = {"recovery": recovery, "plan": study}
        write_results(out, found, comparison, extra, inputs.typed_command(context))
    if as_json:
        output.print_json(results_as_json(found, comparison, recovery, study))
    else:
        print_results(found, comparison)
        for result in (recovery, study):
            if result is not None:
                output.console().print(str(result), markup=False)
    files = [f"{name}.csv" for name, result in extra.items() if result is not None]
    names = ["fit.csv", "trials.csv", "comparison.csv", *files]
    output.say(f"wrote {out / 'index.html'}, {', '.join(names[:-1])} and {names[-1]}")


def _read_problems(path: Path, priors: Path | None, no_repeats: bool) -> dict[str, Problem]:
    from cobayes.people.choices import read_numbers
    from cobayes.people.problems import read_problems
    from cobayes.tasks.repeats import without_repeats

    found = read_problems(path)
    beliefs = {}
    if priors is not None:
        columns = read_numbers(priors, found, "hypothesis")
        if list(columns) != ["prior"]:
            raise CobayesError(
                f"{priors} has the columns of numbers {', '.join(columns)}; expected 'prior'."
            )
        beliefs = columns["prior"]
    models = {name: problem.model for name, problem in found.items()}
    if no_repeats:
        return read_problems(
            {name: without_repeats(model) for name, model in models.items()}, beliefs
        )
    return read_problems(models, beliefs)


def _precision(text: str) -> dict[str, float]:
    """Read ``rationality=2,depth=0.9``."""
    found = {}
    for part in filter(None, text.split(",")):
        name, equals, value = part.partition("=")
        if not equals:
            raise CobayesError(
                f"--plan: {part!r} is not a name and a number.", "write rationality=2,depth=0.9."
            )
        found[name.strip()] = _number(value, "--plan")
    return found


def _names(text: str) -> dict[str, str]:
    """Read ``person=subject,round=trial``."""
    found = {}
    for part in filter(None, text.split(",")):
        ours, equals, theirs = (word.strip() for word in part.partition("="))
        if not (ours and equals and theirs):
            raise CobayesError(
                f"--columns: {part!r} is not two names.", "write person=subject,round=trial."
            )
        found[ours] = theirs
    return found


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
