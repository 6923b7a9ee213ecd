"""``cobayes fit``: fit models of human teachers or learners to a table, and compare them."""

from __future__ import annotations

import dataclasses
import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cobayes import people
from cobayes._output import frame_csv, percent, write_text
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given, check_folder, load_matrix
from cobayes.errors import CobayesError
from cobayes.people.choices import read_numbers, read_problems
from cobayes.people.family import RESPONSES, STATIC
from cobayes.people.tables import read_frame
from cobayes.report import build_report
from cobayes.report.people import cell_text, fit_in_words, fit_recipes, shown_comparison
from cobayes.tasks.constraints import without_repeats

if TYPE_CHECKING:
    import pandas as pd

WRITTEN = ("fit.csv", "trials.csv", "comparison.csv", "index.html")

# Settings of `people.Family` whose value is one of several names, with these names.
_NAMES = {"response": RESPONSES, "literal": ("likelihood", "truth")}
# Help texts that replace those of `people.Family`: the class accepts more types than the command.
_TEXTS = {
    "features": "A table with the columns problem and datum, and one column of numbers per "
    "feature, such as a cost. Without the column 'problem' the table is used for every problem.",
    "weights": "Weight of every feature: a number, or bounds.",
}
_FIELDS = [setting for setting in dataclasses.fields(people.Family) if setting.init]
_SETTINGS = [setting.name for setting in _FIELDS if setting.name != "features"]


def _read_setting(name: str, text: str) -> Any:
    """Convert the text of a setting: a number, 0:20 (bounds), 0,1,inf (depths) or "static"."""
    if text == STATIC and name == "--other":
        return text
    found = []
    for part in re.split("[,:]", text):
        try:
            found.append(float(part))
        except ValueError:
            hint = "write 0,1,2,inf for depths, 0:20 for bounds."
            raise CobayesError(f"{name}: {part[:40]!r} is not a number.", hint) from None
    return tuple(found) if len(found) > 1 else found[0]


def _family_options(function: Any) -> Any:
    """Add an option for each setting of `people.Family`, with its description and its default."""
    texts = _texts(people.Family) | _TEXTS
    metavars = {"depth": "LIST", "other": "DEPTH"}
    for setting in reversed(_FIELDS):
        name, text, default = setting.name, texts[setting.name], setting.default
        flag = f"--{name.replace('_', '-')}"
        if name == "features":
            added = options.path(flag, help=text)
        elif name in _NAMES:
            added = options.choice(flag, *_NAMES[name], default=default, help=text)
        else:
            metavar = metavars.get(name, "NUMBER|LOW:HIGH")
            more = {"metavar": metavar, "default": _written(default)}
            added = options.option(flag, read=_read_setting, help=text, **more)
        function = added(function)
    return function


def _texts(kind: type) -> dict[str, str]:
    """Return the description of each parameter in the docstring of a class."""
    section = re.split(r"\n-+\n", inspect.getdoc(kind) or "")[1]
    entries = re.findall(r"^(\w+)\n((?:    .*\n?)+)", section, flags=re.MULTILINE)
    return {name: re.sub(r"\s+", " ", text).replace("`", "").strip() for name, text in entries}


def _written(value: Any) -> str | None:
    """Return a default in the syntax of the command line: 0:20 for bounds, 0,1,inf for depths."""
    if isinstance(value, tuple):
        return ("," if len(value) > 2 else ":").join(f"{number:g}" for number in value)
    return None if value is None else f"{value:g}"


@options.command(
    "cobayes fit choices.csv --problems problems --out fit",
    "cobayes fit choices.csv --problems leaves.csv --depth 0,1,inf --lapse 0.02 --by none",
    "cobayes fit choices.csv --problems leaves.csv --features cost.csv --weights -5:0",
)
@options.argument(
    "choices",
    type=click.Path(path_type=Path),
    help="A table (.csv, .tsv or .parquet) with the columns person, problem, round, hypothesis and "
    "datum. For learners, the column guess replaces hypothesis, or a column rating is added. In a "
    "table of counts the column 'count', the number of people with this first response, replaces "
    "person and round (use --by none).",
)
@options.path(
    "--problems",
    "-p",
    metavar="FOLDER|FILE",
    required=True,
    help="A folder with a matrix file for each problem, named after the problem, or one "
    "matrix file for all choices.",
)
@options.smooth
@options.pairs(
    "--columns",
    metavar="NAMES",
    help="Names of the columns in your table: person=subject,round=trial (default: as above).",
)
@_family_options
@options.path(
    "--priors",
    help="A table with the columns problem, hypothesis and prior (default: uniform). Without the "
    "column 'problem' the table is used for every problem.",
)
@options.option(
    "--by",
    metavar="COLUMN",
    default="person",
    help="Fit separately for each value of this column; 'none' pools all people.",
)
@options.no_repeats("No datum could be shown twice in a lesson, and people knew it.")
@click.option(
    "--loo/--no-loo",
    default=True,
    help="Whether to add leave-one-out predictions; with thousands of responses they take longer "
    "than the fit.",
)
@options.flag("--cross-validation", help="Also predict each person by a fit to the others.")
@options.flag(
    "--group", help="Also fit a hierarchical model of all persons; writes group.csv and people.csv."
)
@options.path(
    "--out", "-o", metavar="FOLDER", default=Path("fit"), help="The folder of the results."
)
@options.seed(0)
@options.as_json
def fit(given: Given) -> None:
    """Fit people's responses by maximum likelihood and compare depths of recursion.

    Writes fit.csv (estimates), trials.csv (log-likelihood, belief, entropy and information gain of
    every response), comparison.csv and the page index.html. An option with the value
    NUMBER|LOW:HIGH is a parameter of the model: a number fixes it; with bounds, LOW:HIGH, it is
    estimated.
    """
    out, files = given.out, [given.choices, given.problems, given.priors, given.features]
    more = given.problems.iterdir() if given.problems.is_dir() else ()
    check_folder("--out", out, (*WRITTEN, "group.csv", "people.csv"), [*files, *more])
    known = read_problems(given.problems, given.priors)
    tasks = {name: load_matrix(problem.model, given.smooth) for name, problem in known.items()}
    if given.no_repeats:
        tasks = {name: without_repeats(model) for name, model in tasks.items()}
    known = read_problems(tasks, {name: problem.prior for name, problem in known.items()})
    settings = {name: getattr(given, name) for name in _SETTINGS}
    features = given.features and read_numbers(given.features, known, "datum")
    family = people.Family(features=features, **settings)
    with terminal.ProgressLine() as line:

        def tell(what: str) -> Any:
            return lambda text, share: line.tell(what, f"{text}, {percent(share, digits=0)}")

        table = read_frame(given.choices, given.columns or {})
        if "person" not in table.columns and (given.group or given.cross_validation):
            asked = "--group fits" if given.group else "--cross-validation leaves out"
            raise CobayesError(
                f"{asked} people, but the table has no column 'person'.",
                f"leave {asked.split()[0]} out for a table of counts.",
            )
        by = None if given.by == "none" else given.by
        out.mkdir(parents=True, exist_ok=True)  # an error before the fit, which may take long
        found = people.fit(table, known, family, by, progress=tell("fit"))
        # The tables are written first: LOO and the page may take long.
        write_text(out / "fit.csv", frame_csv(found.estimates))
        write_text(out / "trials.csv", frame_csv(found.trials))
        models = {f"depth {own:g}": found.at_depth(own) for own in family.depth}
        comparison = people.compare(models, loo=False)
        write_text(out / "comparison.csv", frame_csv(_models(comparison)))
        if given.loo or given.cross_validation:
            more = {"loo": given.loo, "cross_validation": given.cross_validation}
            comparison = people.compare(models, **more, rng=given.seed, progress=tell("compare"))
            write_text(out / "comparison.csv", frame_csv(_models(comparison)))
        together = group = None
        written = WRITTEN[:-1]
        if given.group:
            settings = {"rng": given.seed, "progress": tell("group")}
            together = people.fit_group(table, known, family, **settings)
            group = together.group.rename_axis("quantity").reset_index()
            write_text(out / "group.csv", frame_csv(group))
            write_text(out / "people.csv", frame_csv(together.estimates))
            written += ("group.csv", "people.csv")
        listed = ", ".join(written)
        build_report(
            out,
            fit_recipes(found, comparison, together),
            title="People fitted",
            lead=f"{fit_in_words(found)} Files beside this page: {listed}.",
            command=given.typed_command().replace("{", "{{").replace("}", "}}"),
            scale=1.0,
            seed=given.seed,
            formats=("svg",),
            fresh=True,
            tell=line.tell,
        )
    result = {
        "log_likelihood": found.log_likelihood,
        "estimates": found.estimates.to_dict(orient="records"),
        "comparison": _models(comparison).to_dict(orient="records"),
        "conclusion": comparison.conclusion,
    }
    if group is not None:
        result["group"] = group.to_dict(orient="records")
    given.finish(result, lambda: _show(found, comparison, group))
    terminal.say(f"wrote {out / 'index.html'}, {listed}")


def _models(comparison: people.Comparison) -> pd.DataFrame:
    return comparison.table.rename_axis("model").reset_index()


def _show(found: people.Fit, comparison: people.Comparison, group: pd.DataFrame | None) -> None:
    """Print the comparison as a table, its conclusion, and the group's parameters."""
    table = shown_comparison(comparison)
    table = table.drop(columns=["share", "LOO error", "unreliable"], errors="ignore")
    _show_frame(f"{len(found.choices):,} responses", table)
    terminal.show_text(comparison.conclusion)
    if group is not None:
        print()
        _show_frame(
            "the group, with 95 % intervals and the effective number of draws (poor below 50)",
            group.filter(["quantity", "estimate", "low", "high", "effective"]),
        )


def _show_frame(title: str, frame: pd.DataFrame) -> None:
    """Print a table whose first column contains names, and the others numbers."""
    columns = [(name, ">" if k else "<") for k, name in enumerate(frame.columns)]
    texts = frame.apply(lambda column: [cell_text(cell, column.name) for cell in column])
    terminal.show_table(title, columns, texts.to_numpy().tolist())
