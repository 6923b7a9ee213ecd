"""Experiments for the browser: a folder with a jsPsych page that runs on any static host."""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
from collections.abc import Iterable, Mapping
from html import escape
from numbers import Real
from pathlib import Path
from string import Template
from typing import Any

from numpy.typing import ArrayLike

from cobayes import __version__
from cobayes._input.labels import shorten
from cobayes._input.text import find_delimiter
from cobayes._input.validation import one_of, whole_number
from cobayes._output import counted, without_guard, write_text
from cobayes.browser.bundle import bundle, read, script_value
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike, Model, as_model
from cobayes.reading import existing_file, read_text
from cobayes.rules import Pragmatic
from cobayes.tasks.constraints import MovingCosts, WithoutRepeats
from cobayes.tasks.task import Task

Stimuli = str | Path | Iterable[Mapping[str, str]]
"""Rows with the columns of `STIMULUS_COLUMNS`, or the name of a CSV file with these rows."""

Prior = ArrayLike | Mapping[str, float] | Mapping[str, ArrayLike] | None

STIMULUS_COLUMNS = ("label", "text", "image", "alt", "problem")
IMAGE_TYPES = (".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp")

_TASKS_NOTE = """

`cobayes fit` does not know the constraints of some problems. Fit all problems in Python instead:

    import cobayes as cb
    problems = {{"NAME": cb.without_repeats(cb.read_model("problems/NAME.csv"))}}  # or moving_costs
    cb.people.fit("responses.csv", problems, cb.people.Family(response="{}"))"""


def write_experiment(
    problems: Mapping[str, MatrixLike],
    folder: str | Path,
    *,
    role: str = "learner",
    rule: str = "scbi",
    depth: float = 1,
    rationality: float = 1.0,
    literal: str = "likelihood",
    prior: Prior = None,
    data_prior: Prior = None,
    response: str = "guess",
    num_rounds: int = 5,
    repeats: bool = True,
    stimuli: Stimuli | None = None,
    grid: tuple[int, int] | None = None,
    seed: int | None = None,
    title: str = "Teaching and learning",
) -> Path:
    """Write a jsPsych experiment in which a person learns from, or teaches, an artificial partner.

    Parameters
    ----------
    problems
        Tables by name: anything that `cobayes.Model` takes, or tasks made by
        `cobayes.without_repeats`, `cobayes.moving_costs` and `cobayes.sets_of`. Every hypothesis
        is taught once.
    folder
        The folder to write; it must be new or empty.
    role
        The person's role: "learner" or "teacher".
    rule
        The partner's rule: "scbi", "bi" or "pragmatic".
    depth, rationality
        Depth and rationality of the pragmatic rule; infinite depth is SCBI.
    literal
        The table of the pragmatic rule's literal learner: normalised columns ("likelihood"), or not
        normalised ("truth", as in rational speech acts).
    prior, data_prior
        The partner's prior over hypotheses, and its data prior; uniform by default. One prior for
        all problems is a mapping from label to number, or numbers in the order of the table;
        different priors are a mapping from problem name to such a prior.
    response
        How a person who learns responds to each datum: "guess" or "rating".
    num_rounds
        Largest number of data in a lesson.
    repeats
        Whether a datum may be shown again in a lesson; False forbids it in all problems.
    stimuli
        Texts and pictures that replace labels: rows (mappings), or a CSV file with the columns
        label, text, image, alt (the image's alternative text) and problem; only label is required.
        An image is a local file, which is copied, or a data URI. A row without problem is for all
        problems; if several rows apply to a label of a problem, the last one is used.
    grid
        The numbers of rows and columns of a board on which the data are laid out in the order of
        the table, row by row (default: buttons in random order).
    seed
        Seed of the partner's draws and of the orders of lessons and buttons, an integer from 0 to
        2**52 (default: random for each person).
    title
        The title of the page.

    Returns
    -------
    Path
        The folder. Its README says how to host it. ``cobayes fit`` reads the table of responses
        that the experiment saves.

    Examples
    --------
    >>> import tempfile, cobayes as cb
    >>> from cobayes.browser import write_experiment
    >>> folder = tempfile.mkdtemp()
    >>> sorted(path.name for path in write_experiment(cb.examples, folder).iterdir())[:3]
    ['README.md', 'config.js', 'experiment.js']
    """
    one_of(role, "role", ("learner", "teacher"))
    one_of(rule, "rule", ("scbi", "bi", "pragmatic"))
    one_of(response, "response", ("guess", "rating"))
    num_rounds = whole_number(num_rounds, "num_rounds", 1)
    seed = None if seed is None else whole_number(seed, "seed", 0)
    if seed is not None and seed > 2**52:  # `Random` in JavaScript: seeds up to 2**53
        raise CobayesError(f"seed is {seed}; expected an integer from 0 to 2**52.")
    if not problems:
        raise CobayesError("no problem was given.", "give {name: matrix}, one for each problem.")
    stems = {name: re.sub(r"[^\w.-]+", "-", name).strip(".-") or "problem" for name in problems}
    if len(set(stems.values())) < len(problems):
        raise CobayesError("two problems would have the same file name.", "rename one problem.")
    models = {name: as_model(matrix) for name, matrix in problems.items()}
    tasks = {name: _constraints(name, matrix) for name, matrix in problems.items()}
    shown, images = read_stimuli(stimuli, models)
    contents = [
        {
            "name": stems[name],
            **model.to_dict(),
            **tasks[name],
            "prior": _distribution(models, name, prior, "hypothesis"),
            "data_prior": _distribution(models, name, data_prior, "datum"),
            "grid": _grid(model, name, grid),
            "stimuli": shown[name],
        }
        for name, model in models.items()
    ]
    answer = "choice" if role == "teacher" else response
    kind = json.loads(read("experiment/words.json"))[answer]
    lessons = counted(sum(model.num_hypotheses for model in models.values()), "lesson")
    length = f"The experiment has {lessons} of up to {counted(num_rounds, 'example')}."
    settings = {
        "role": role,
        "rule": _rule_settings(next(iter(models.values())), rule, depth, rationality, literal),
        "response": response,
        "rounds": num_rounds,
        "no_repeats": not repeats,
        "seed": seed,
        "instructions": [[*kind["instructions"], length]],
        "new_lesson": kind["new_lesson"],
        "problems": contents,
    }
    may_repeat = {repeats and "no_repeats" not in task for task in tasks.values()}
    needs_tasks = len(may_repeat) > 1 or any("costs" in task for task in tasks.values())
    words = {
        "title": title,
        "version": __version__,
        "role": role,
        "rule_text": _rule_text(rule, depth, rationality),
        "columns": kind["columns"],
        "answer": answer,
        "no_repeats": "" if any(may_repeat) else " --no-repeats",
        "tasks_note": _TASKS_NOTE.format(answer) if needs_tasks else "",
    }
    values = {key: script_value(value) for key, value in settings.items()}
    texts = {
        "index.html": _filled("index.html", {"title": escape(title)}),
        "README.md": _filled("README.md", words),
        "config.js": _filled("config.js", values),
        "experiment.js": read("experiment/experiment.js"),
        "style.css": read("experiment/style.css"),
        "plugin-cobayes.js": plugin_script(),
    }
    target = _empty_folder(folder)
    for path, text in texts.items():
        write_text(target / path, text)
    (target / "problems").mkdir()
    for name, model in models.items():
        model.to_csv(target / "problems" / f"{stems[name]}.csv")
    if images:
        (target / "images").mkdir()
    for path, source in images.items():
        shutil.copyfile(source, target / path)
    return target


def plugin_script() -> str:
    """Return the jsPsych plugin with the rules inside: a script that defines `jsPsychCobayes`."""
    head = read("experiment/plugin.js").partition("*/")[0] + "*/\n"
    body = f'"use strict";\n{bundle("experiment/plugin.js")}\nreturn CobayesPlugin;'
    return f"{head}var jsPsychCobayes = (() => {{\n{body}\n}})();\n"


def _filled(file: str, values: Mapping[str, str]) -> str:
    return Template(read(f"experiment/{file}")).substitute(values)


def _constraints(name: str, matrix: MatrixLike) -> dict[str, Any]:
    """Return a task's constraints for the JavaScript rules; empty for a `Model`."""
    found: dict[str, Any] = {}
    task: Any = matrix
    while isinstance(task, WithoutRepeats | MovingCosts):
        if isinstance(task, WithoutRepeats):
            found["no_repeats"] = True
        elif "costs" in found:
            raise CobayesError(f"problem {name!r} has moving costs twice.", "give their sum.")
        elif task.weight > 0.0:
            # JSON has no infinity; null forbids a step.
            costs = (task.weight * task.costs).tolist()
            found["costs"] = [[cost if cost < math.inf else None for cost in row] for row in costs]
        task = task.task
    if isinstance(task, Task) and not isinstance(task, Model):
        raise CobayesError(
            f"problem {name!r} is a {type(task).__name__}, whose table changes or whose data are "
            "limited; an experiment shows one table.",
            "give the table of one state, task.matrix_at(state); for limits, give a data_prior.",
        )
    return found


def read_stimuli(
    stimuli: Stimuli | None, models: Mapping[str, Model]
) -> tuple[dict[str, dict[str, dict[str, str]]], dict[str, Path]]:
    """Return the stimuli of each problem by label, and the image files to copy, by their new names.

    Parameters
    ----------
    stimuli
        The rows, or the CSV file; image paths in the file are relative to the file's folder.
    models
        The problems by name.
    """
    found: dict[str, dict[str, dict[str, str]]] = {name: {} for name in models}
    images: dict[str, Path] = {}
    folder, rows = _rows(stimuli)
    for row in rows:
        label, problem = row.get("label", ""), row.get("problem", "")
        targets = [
            name
            for name, model in models.items()
            if problem in ("", name) and label in (*model.data, *model.hypotheses)
        ]
        if problem:
            _require_problem(problem, models, "stimuli")
        if not targets:
            where = f"problem {problem!r} has no" if problem else "no problem has a"
            raise CobayesError(
                f"the stimuli contain {label!r}, but {where} datum or hypothesis of that name.",
                "write the label exactly as in the table.",
            )
        # A row that has no text, no image and no alternative text shows its label.
        is_empty = not (row.get("text") or row.get("image") or row.get("alt"))
        shown = {"text": label if is_empty else row.get("text", ""), "alt": row.get("alt") or label}
        if row.get("image"):
            shown["image"] = _image(row["image"], folder, images)
        for name in targets:
            found[name][label] = shown
    return found, images


def _require_problem(name: str, models: Mapping[str, Model], what: str) -> None:
    if name not in models:
        raise CobayesError(
            f"the {what} name problem {name!r}, but no table has that name.",
            f"choose from {shorten(list(models))}; a table from a file has the file's name.",
        )


def _rows(stimuli: Stimuli | None) -> tuple[Path, list[dict[str, str]]]:
    """Return the folder to which paths of images are relative, and the rows as texts."""
    folder, rows = Path(), [] if stimuli is None else stimuli
    if isinstance(rows, str | Path):
        file = existing_file(rows)
        folder = file.parent
        try:
            text, sign, _ = find_delimiter(read_text(file), ",")
            rows = list(csv.DictReader(io.StringIO(text, newline=""), delimiter=sign))
        except csv.Error as error:
            raise CobayesError(
                f"the stimuli cannot be read from {file}: {error}.",
                "if a data URI is too long, give the image as a file.",
            ) from error
    made: list[dict[str, str]] = []
    for row in rows:
        unknown = [str(name) for name in row if name not in STIMULUS_COLUMNS]
        if unknown or "label" not in row:
            raise CobayesError(
                f"a row of the stimuli has the unknown column {unknown[0]!r}."
                if unknown
                else "a row of the stimuli has no label.",
                f"use the columns {', '.join(STIMULUS_COLUMNS)}; only label is required.",
            )
        made.append({name: without_guard(str(cell or "").strip()) for name, cell in row.items()})
    return folder, made


def _image(text: str, folder: Path, images: dict[str, Path]) -> str:
    """Return the image's address on the page, and add a local file to `images`, to be copied."""
    if text.startswith("data:image/"):
        return text
    path = folder / text
    if ":/" in text or path.suffix.lower() not in IMAGE_TYPES or not path.is_file():
        raise CobayesError(
            f"the image {text[:80]!r} is not an image file in {folder.absolute()}.",
            f"give a local file ({', '.join(IMAGE_TYPES)}) or a data URI (data:image/...).",
        )
    known = [name for name, source in images.items() if source == path]
    name = known[0] if known else f"images/{len(images) + 1}{path.suffix.lower()}"
    images[name] = path
    return name


def _distribution(
    models: Mapping[str, Model], problem: str, values: Any, over: str
) -> list[float] | None:
    """Return a problem's distribution in the order of its labels; None is uniform."""
    prior = "prior" if over == "hypothesis" else "data prior"
    if isinstance(values, Mapping) and not any(isinstance(one, Real) for one in values.values()):
        for name in values:
            _require_problem(name, models, f"{prior}s")
        values = values.get(problem)
    if values is None:
        return None
    name = f"{prior} of problem {problem!r}"
    return models[problem].distribution(values, over=over, name=name).tolist()


def _grid(model: Model, problem: str, grid: tuple[int, int] | None) -> list[int] | None:
    if grid is None:
        return None
    rows, columns = grid
    if rows < 1 or columns < 1 or rows * columns != model.num_data:
        raise CobayesError(
            f"a grid of {rows} x {columns} does not fit problem {problem!r}, which has "
            f"{model.num_data} data.",
            "choose numbers of rows and columns whose product is the number of data.",
        )
    return [rows, columns]


def _rule_settings(
    model: Model, rule: str, depth: float, rationality: float, literal: Any
) -> dict[str, Any]:
    # Depth, rationality and literal are checked even if the rule does not use them.
    found = Pragmatic(model, depth, rationality=rationality, literal=literal).settings()
    if rule != "pragmatic" or depth == math.inf:
        return {"kind": "BI" if rule == "bi" else "SCBI"}
    return {"kind": "Pragmatic", **{key: found[key] for key in ("depth", "rationality", "literal")}}


def _rule_text(rule: str, depth: float, rationality: float) -> str:
    if rule == "pragmatic":
        return f"a pragmatic rule of depth {depth:g} and rationality {rationality:g}"
    return {"scbi": "SCBI, full cooperation", "bi": "plain Bayesian inference (BI)"}[rule]


def _empty_folder(folder: str | Path) -> Path:
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
        is_empty = not any(target.iterdir())
    except OSError as error:
        raise CobayesError(f"the folder {target} cannot be made: {error.strerror}.") from error
    if not is_empty:
        raise CobayesError(
            f"the folder {target} is not empty.", "choose a new folder; nothing is overwritten."
        )
    return target
