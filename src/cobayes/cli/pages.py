"""``cobayes studio`` and ``cobayes experiment``: pages for a browser."""

from __future__ import annotations

import re
import webbrowser
from pathlib import Path

import click

from cobayes.browser.experiment import write_experiment
from cobayes.browser.page import Studio
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given, example_of, load_matrix, read_distribution
from cobayes.errors import CobayesError


@options.command(
    "cobayes studio --out page.html", "cobayes studio world.csv --out world.html --no-open"
)
@options.argument(
    "matrix",
    required=False,
    help="A file (.csv, .tsv, .json or .parquet) or example:NAME to start with (default: "
    "example:gestures).",
)
@options.output("--out", "-o", default=Path("studio.html"), help="The file to write.")
@click.option(
    "--open/--no-open", "open_page", default=True, help="Whether to show the page in the browser."
)
@options.smooth
def studio(given: Given) -> None:
    """Write a page on which one can watch lessons, edit the table and compare rules.

    The page is one file. It needs no server and no network, and sends no data.
    """
    table = None
    if given.matrix is not None:
        is_example = given.example is not None and given.smooth is None
        table = given.example if is_example else given.model
    path = Studio(table).save(given.out)
    terminal.say(f"wrote {path}")
    if given.open_page and not webbrowser.open(path.resolve().as_uri()):
        terminal.say("no browser was found; open the file yourself.")


def _read_grid(name: str, text: str) -> tuple[int, int]:
    found = re.fullmatch(r"([0-9]{1,4})x([0-9]{1,4})", text.lower())
    if found is None:
        raise CobayesError(f"{name} is {text[:40]!r}; expected ROWSxCOLUMNS, such as 6x6.")
    return int(found[1]), int(found[2])


@options.command(
    "cobayes experiment example:gestures --out study --role learner",
    "cobayes experiment first.csv second.csv --out study --role teacher --no-repeats",
    "cobayes experiment board.csv --out study --role teacher --stimuli pictures.csv --grid 6x6",
    "cobayes experiment words.csv --out study --rule pragmatic --literal truth --rationality 4",
)
@options.argument(
    "matrices",
    metavar="MATRIX...",
    nargs=-1,
    required=True,
    help="One file or example:NAME for each problem of the experiment.",
)
@options.path(
    "--out", "-o", metavar="FOLDER", required=True, help="A new or empty folder to write to."
)
@options.choice(
    "--role",
    *("learner", "teacher"),
    default="learner",
    help="The participant's role; the computer has the other role.",
)
@options.rule("scbi", "scbi", "bi", "pragmatic")
@options.prior
@options.data_prior
@options.choice(
    "--response",
    *("guess", "rating"),
    default="guess",
    help="A learner's response to each datum: one hypothesis (guess), or ratings of all (rating).",
)
@options.rounds(5, "Number of rounds of a lesson, with one datum each.")
@options.no_repeats()
@options.path(
    "--stimuli",
    help="A CSV file with texts and images for data and hypotheses; columns: label, text, image, "
    "alt, problem.",
)
@options.option(
    "--grid",
    read=_read_grid,
    metavar="ROWSxCOLUMNS",
    help="Show the data on a board, such as 6x6 (default: as buttons in random order).",
)
@options.seed(help="Give every participant the same random numbers (default: different numbers).")
@options.option(
    "--title", metavar="WORDS", default="Teaching and learning", help="The title of the page."
)
@options.smooth
def experiment(given: Given) -> None:
    """Write a jsPsych experiment for people: a folder that any web server can host.

    The participant learns from an artificial teacher, or teaches an artificial learner. The command
    'cobayes fit' reads the table of responses that the experiment saves.
    """
    given.require_rule_options()
    same = ("rule", "role", "response", "stimuli", "grid", "seed", "title")
    problems, priors, data_priors = {}, {}, {}
    for text in given.matrices:
        model, example = load_matrix(text, given.smooth), example_of(text)
        name = Path(text).stem if example is None else example.name
        if name in problems:
            raise CobayesError(f"two problems are called {name!r}.", "rename or drop one of them.")
        problems[name] = model
        # Priors are read for each table, because the order of hypotheses and data may differ.
        own = f"prior of {name!r}"
        priors[name] = read_distribution(given.prior, model, name=own, example=example)
        data_priors[name] = read_distribution(given.data_prior, model, "datum", name=f"data {own}")
    folder = write_experiment(
        problems,
        given.out,
        prior=priors,
        data_prior=data_priors,
        num_rounds=given.rounds,
        repeats=not given.no_repeats,
        **{name: getattr(given, name) for name in same},
        **given.recursion,
    )
    terminal.say(f"wrote {folder}; open {folder / 'index.html'}?demo, then read {folder}/README.md")
