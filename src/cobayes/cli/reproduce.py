"""``cobayes reproduce``: compute the paper's results afresh and write the report."""

from __future__ import annotations

from pathlib import Path

from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.errors import CobayesError
from cobayes.paper import RECIPES, build_paper
from cobayes.report.build import choose_recipes
from cobayes.report.page import FORMATS
from cobayes.runs import workers


@options.command(
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
    type=options.Pairs(),
    metavar="NAME=VALUE",
    multiple=True,
    help="Change a parameter of a figure; an unknown name lists the parameters. May be repeated.",
)
@options.option(
    "--format",
    "formats",
    type=options.Names(*FORMATS),
    metavar="LIST",
    default=",".join(FORMATS),
    help=f"What to save beside the page: some of {','.join(FORMATS)}.",
)
@options.flag("--list", "show_list", help="List the parts of the report and exit.")
def reproduce(given: Given) -> None:
    """Compute the paper's results and write DIR/index.html, a page that needs no network.

    Parts computed earlier stay in the report, so that one can be added or repeated by itself. A run
    that was stopped, by Ctrl-C or by a power cut, goes on when the same command is given again.
    """
    if given.show_list:
        rows = [[recipe.name, recipe.summary] for recipe in RECIPES]
        terminal.show_table(None, [("name", "<"), ("what it shows", "<")], rows)
        return
    settings = {
        "scale": read_scale(given.scale),
        "formats": given.formats,
        "settings": {k: v for pairs in given.settings for k, v in pairs.items()},
        "seed": given.seed,
        "fresh": given.fresh,
    }
    names = [recipe.name for recipe in choose_recipes(list(given.figures), RECIPES)]
    with (
        workers(jobs=given.jobs, scheduler=given.scheduler) as executor,
        terminal.ProgressLine() as line,
    ):
        page = build_paper(
            given.out,
            names,
            tell=line.tell,
            executor=executor,
            progress=True,
            **settings,
        )
    terminal.say("the report is ready; open it in a browser:")
    print(page)


def read_scale(text: str) -> float | None:
    """Return --scale as a multiple of the paper's effort; None for ``quick``."""
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
