"""``cobayes reproduce``: compute the paper's results afresh and write the report."""

from __future__ import annotations

import sys
from pathlib import Path

from cobayes.cli import options, terminal
from cobayes.cli.app import command
from cobayes.errors import CobayesError


@command(
    "cobayes reproduce",
    "cobayes reproduce figure-3 --scale paper --out results",
    "cobayes reproduce 2 S1 --scale 0.01 --jobs 2 --format svg,csv",
    "cobayes reproduce figure-s2 --set radius=0.15 --out wider",
    "cobayes runs results",
)
@options.argument(
    "figures",
    metavar="[FIGURE]...",
    nargs=-1,
    help="Parts of the report to compute (default: all).",
)
@options.option(
    "--scale",
    metavar="quick|paper|FACTOR",
    default="quick",
    help="The effort: 'quick' takes minutes, 'paper' repeats the paper's numbers of samples, a "
    "number is a multiple of the paper's.",
)
@options.path("--out", metavar="DIR", default=Path("report"), help="The folder of the report.")
@options.seed(2020)
@options.jobs
@options.option(
    "--scheduler",
    metavar="ADDRESS|FILE",
    help="Address or scheduler file of a Dask cluster (default: this machine).",
)
@options.flag("--fresh", help="Delete what earlier runs computed, and start over.")
@options.option(
    "--set",
    "settings",
    metavar="NAME=VALUE",
    multiple=True,
    help="Change a parameter of the figure; a wrong name lists them. May be repeated.",
)
@options.option(
    "--format",
    "formats",
    metavar="LIST",
    default="svg,png,pdf,csv",
    help="What to save beside the page: some of svg,png,pdf,csv.",
)
@options.flag("--list", "show_list", help="List the parts of the report and exit.")
def reproduce(
    figures: tuple[str, ...],
    scale: str,
    out: Path,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    fresh: bool,
    settings: tuple[str, ...],
    formats: str,
    show_list: bool,
) -> None:
    """Compute the paper's results and write DIR/index.html, a page that needs no network.

    Parts computed earlier stay in the report, so that one can be added or repeated by itself. A run
    that was stopped, by Ctrl-C or by a power cut, goes on when the same command is given again.
    """
    from cobayes.paper import RECIPES, build_paper
    from cobayes.report.build import choose_recipes

    if show_list:
        rows = [[recipe.name, recipe.summary] for recipe in RECIPES]
        terminal.show_table(None, [("name", "<"), ("what it shows", "<")], rows)
        return
    factor = read_scale(scale)
    names = [recipe.name for recipe in choose_recipes(list(figures), RECIPES)]
    chosen_formats = read_formats(formats)
    if jobs is not None and scheduler is not None:
        raise CobayesError(
            "both --jobs and --scheduler are given; the scheduler knows its own workers.",
            "leave out one of them.",
        )

    from cobayes.runs import workers
    from cobayes.runs.progress import summary_line

    with terminal.ProgressLine() as line, workers(jobs=jobs, scheduler=scheduler) as executor:
        page = build_paper(
            out,
            names,
            scale=factor,
            seed=seed,
            formats=chosen_formats,
            fresh=fresh,
            settings=read_settings(settings),
            tell=line.tell,
            executor=executor,
            # A terminal has one live line; a log gets a plain line now and then.
            progress=(lambda state: line.tell("computing", summary_line(state)))
            if sys.stderr.isatty()
            else True,
        )
    terminal.say("the report is ready; open it in a browser:")
    print(page)


def read_scale(text: str) -> float | None:
    """Return the multiple of the paper's effort that is meant; None for ``quick``."""
    named = {"quick": None, "paper": 1.0}
    if text.lower() in named:
        return named[text.lower()]
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if not 0.0 < value < float("inf"):
        raise CobayesError(
            f"--scale is {text!r}; expected quick, paper or a positive number.",
            "0.1 is a tenth of the paper's effort.",
        )
    return value


def read_settings(texts: tuple[str, ...]) -> dict[str, str]:
    """Return the parameters of ``--set NAME=VALUE``."""
    found = {}
    for text in texts:
        name, _, value = (part.strip() for part in text.partition("="))
        if not name or not value:
            raise CobayesError(f"--set is {text!r}; expected NAME=VALUE.", "--set radius=0.15")
        found[name] = value
    return found


def read_formats(text: str) -> tuple[str, ...]:
    """Return the formats of a list with commas."""
    from cobayes.report.build import FORMATS

    found = [part.strip().lower().lstrip(".") for part in text.split(",") if part.strip()]
    for name in found:
        if name not in FORMATS:
            raise CobayesError(
                f"--format: {name!r} is not a format.", f"choose from {', '.join(FORMATS)}."
            )
    return tuple(found)
