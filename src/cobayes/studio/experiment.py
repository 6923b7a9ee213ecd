"""Experiments for the browser: a folder with a jsPsych page that runs on any static host."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from html import escape
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Any

from cobayes._output import csv_text, write_text
from cobayes.errors import CobayesError
from cobayes.studio.bundle import bundle, read

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from cobayes.model import MatrixLike, Model

ROLES = ("learner", "teacher")
RULES = ("scbi", "bi", "pragmatic")
RESPONSES = ("guess", "rating")
LITERALS = ("likelihood", "truth")

_COLUMNS = {
    "choice": "person, problem, lesson, round, hypothesis (the truth), datum, rt",
    "guess": "person, problem, lesson, round, datum, guess, truth, rt",
    "rating": "person, problem, lesson, round, datum, hypothesis (rated), rating, truth, rt",
}

_COSTS_NOTE = """

Some problems are tasks with moving costs. To fit with them in mind, give the tasks in Python:

    import cobayes as cb
    problems = {"NAME": cb.moving_costs(cb.read_model("problems/NAME.csv"), costs)}
    cb.people.fit("responses.csv", problems)"""

_INSTRUCTIONS = {
    "learner": [
        "In this study a teacher has one of several possibilities in mind and shows you examples, "
        "one at a time.",
        "The teacher wants you to find out which one it is, and adapts to your answers. Please "
        "answer after every example, even when you are not sure.",
    ],
    "teacher": [
        "In this study you are the teacher. You are told which of several possibilities is the "
        "right one; your partner is not.",
        "Show your partner examples, one at a time, so that it finds out as quickly as possible.",
    ],
}


def write_experiment(
    problems: Mapping[str, MatrixLike],
    folder: str | Path,
    *,
    role: str = "learner",
    rule: str = "scbi",
    depth: int = 1,
    rationality: float = 1.0,
    literal: str = "likelihood",
    prior: ArrayLike | Mapping[str, float] | None = None,
    data_prior: ArrayLike | Mapping[str, float] | None = None,
    response: str = "guess",
    num_rounds: int = 5,
    repeats: bool = True,
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
        The folder to write; it must not exist or be empty.
    role
        The person's: "learner" or "teacher".
    rule
        What the partner follows: "scbi", "bi" or "pragmatic".
    depth, rationality
        Depth and rationality of the pragmatic rule.
    literal
        How the literal learner of the pragmatic rule reads the table: each column as a
        "likelihood", or the numbers as they are ("truth", as in rational speech acts).
    prior, data_prior
        What the partner takes everybody to believe at first, and how readily each datum is shown,
        in every problem; uniform by default.
    response
        What a person who learns is asked for after each datum: "guess" or "rating".
    num_rounds
        Data per lesson.
    repeats
        Whether a datum may be shown again in a lesson; False holds for all problems.
    seed
        Seed of the partner's draws; by default every person gets other draws.
    title
        The title of the page.

    Returns
    -------
    Path
        The folder. Its README says how to host it; the table that it saves is what
        ``cobayes fit`` reads.

    Examples
    --------
    >>> import tempfile, cobayes as cb
    >>> from cobayes.studio import write_experiment
    >>> folder = tempfile.mkdtemp()
    >>> sorted(path.name for path in write_experiment(cb.examples, folder).iterdir())[:3]
    ['README.md', 'config.js', 'experiment.js']
    """
    from cobayes import __version__
    from cobayes.model import as_model

    _require_one_of(role, ROLES, "role")
    _require_one_of(rule, RULES, "rule")
    _require_one_of(response, RESPONSES, "response")
    if num_rounds < 1:
        raise CobayesError(f"there are {num_rounds} rounds; expected at least one.")
    tasks = {_file_stem(name): _constraints(name, matrix) for name, matrix in problems.items()}
    models = {
        stem: as_model(matrix) for stem, matrix in zip(tasks, problems.values(), strict=False)
    }
    if not models:
        raise CobayesError("no problem was given.", "give {name: matrix}, one for each problem.")
    if len(models) < len(problems):
        raise CobayesError("two problems have the same name in a file.", "rename one of them.")
    target = _empty_folder(folder)
    settings = {
        "role": role,
        "rule": _rule_settings(rule, depth, rationality, literal),
        "prior": _shared(models, prior, "hypothesis", "prior"),
        "data_prior": _shared(models, data_prior, "datum", "data prior"),
        "response": response,
        "rounds": num_rounds,
        "no_repeats": not repeats,
        "seed": seed,
        "problems": [
            {"name": name, **model.to_dict(), **tasks[name]} for name, model in models.items()
        ],
    }
    kind = "choice" if role == "teacher" else response
    words = {
        "title": title,
        "version": __version__,
        "role": role,
        "rule_text": _rule_text(rule, depth, rationality),
        "columns": _COLUMNS[kind],
        "fit_options": _fit_options(kind, no_repeats=not repeats or _all_have(tasks, "no_repeats")),
        "costs_note": _COSTS_NOTE if any("costs" in task for task in tasks.values()) else "",
        "truth_note": "" if kind == "choice" else " `truth` is what the teacher had in mind.",
    }
    texts = {
        "index.html": Template(read("experiment/index.html")).substitute(title=escape(title)),
        "README.md": Template(read("experiment/README.md")).substitute(words),
        "config.js": _config(settings),
        "experiment.js": read("experiment/experiment.js"),
        "style.css": read("experiment/style.css"),
        "plugin-cobayes.js": plugin_script(),
    }
    for name, text in texts.items():
        (target / name).write_text(text, encoding="utf-8")
    (target / "problems").mkdir()
    for name, model in models.items():
        _write_table(target / "problems" / f"{name}.csv", model)
    return target


def _constraints(name: str, matrix: MatrixLike) -> dict[str, Any]:
    """Return what may be shown next, as the page's agents read it; empty for a plain table."""
    from cobayes.model import Model
    from cobayes.tasks.costs import MovingCosts
    from cobayes.tasks.repeats import WithoutRepeats
    from cobayes.tasks.task import Task

    found: dict[str, Any] = {}
    task: Any = matrix
    while isinstance(task, WithoutRepeats | MovingCosts):
        if isinstance(task, WithoutRepeats):
            found["no_repeats"] = True
        elif "costs" in found:
            raise CobayesError(f"problem {name!r} has moving costs twice.", "add the costs up.")
        else:
            # JSON has no infinity; null forbids a step.
            found["costs"] = [
                [task.weight * cost if cost < float("inf") else None for cost in row]
                for row in task.costs.tolist()
            ]
        task = task.task
    if isinstance(task, Task) and not isinstance(task, Model):
        raise CobayesError(
            f"problem {name!r} is a {type(task).__name__}, whose table changes; an experiment "
            "shows one table.",
            "give the table of one state: task.matrix_at(state).",
        )
    return found


def _all_have(tasks: dict[str, dict[str, Any]], key: str) -> bool:
    return bool(tasks) and all(key in task for task in tasks.values())


def _fit_options(kind: str, *, no_repeats: bool) -> str:
    """Return what `cobayes fit` must be told about the table of responses."""
    response = "" if kind == "choice" else f" --response {kind}"
    return response + (" --no-repeats" if no_repeats else "")


def plugin_script() -> str:
    """Return the jsPsych plugin with the rules inside: a script that defines `jsPsychCobayes`."""
    head = read("experiment/plugin.js").partition("*/")[0] + "*/\n"
    body = f'"use strict";\n{bundle("experiment/plugin.js")}\nreturn CobayesPlugin;'
    return f"{head}var jsPsychCobayes = (() => {{\n{body}\n}})();\n"


def _config(settings: dict[str, Any]) -> str:
    """Return the file that an experimenter edits."""

    def line(name: str, value: Any, comment: str) -> str:
        # "<" is written as an escape, so that no text can end a script element.
        text = json.dumps(value, ensure_ascii=False).replace("<", "\\u003c")
        return f"  // {comment}\n  {name}: {text},\n"

    thanks = ["Thank you! That was all.", "Please save your answers with the button below."]
    parts = [
        line("role", settings["role"], 'The person is the "learner" or the "teacher".'),
        line("rule", settings["rule"], 'The partner: kind "BI", "Pragmatic" or "SCBI".'),
        line("response", settings["response"], 'What a learner is asked for: "guess" or "rating".'),
        line("feedback", "guess", 'What a teacher sees: "guess", "belief" or "nothing".'),
        line("rounds", settings["rounds"], "Data per lesson."),
        line("no_repeats", settings["no_repeats"], "Whether a datum is shown at most once."),
        line("truths", None, "Hypotheses that are taught, by label; null: each of them once."),
        line("shuffle", True, "Whether lessons and buttons come in random order."),
        line("prior", settings["prior"], "What the partner believes at first."),
        line("data_prior", settings["data_prior"], "How readily each datum is shown."),
        line("seed", settings["seed"], "Of the partner's draws; null: other draws each time."),
        line("progress_bar", True, "Whether progress is shown."),
        line(
            "instructions", [_INSTRUCTIONS[settings["role"]]], "Pages, each a list of paragraphs."
        ),
        line("texts", {}, "Words on the buttons and above them; see TEXTS in plugin-cobayes.js."),
        line("thanks", thanks, "The last page."),
        "  // Where the data go: null offers a download. Or a function, such as\n"
        '  // (csv, person) => fetch("save.php", { method: "POST", body: csv })\n'
        "  save: null,\n",
        line("problems", settings["problems"], "The tables, data by hypotheses."),
    ]
    head = "/* What this experiment does. Edit this file and load the page again. */"
    return f"{head}\nconst CONFIG = {{\n{''.join(parts)}}};\n"


def _shared(models: dict[str, Model], values: Any, over: str, name: str) -> list[float] | None:
    """Return a distribution that holds for every problem; None where it is uniform."""
    if values is None:
        return None
    found = [model.distribution(values, over=over, name=name).tolist() for model in models.values()]
    if any(other != found[0] for other in found):
        raise CobayesError(
            f"the {name} is not the same list of numbers for every problem.",
            "give problems whose labels are the same and in the same order.",
        )
    return found[0]


def _rule_settings(rule: str, depth: int, rationality: float, literal: str) -> dict[str, Any]:
    _require_one_of(literal, LITERALS, "literal learner")
    if rule != "pragmatic":
        return {"kind": rule.upper()}
    if depth < 0 or rationality <= 0:
        raise CobayesError(
            f"the pragmatic rule has depth {depth} and rationality {rationality:g}; expected a "
            "depth of at least 0 and a positive rationality."
        )
    return {
        "kind": "Pragmatic",
        "depth": depth,
        "rationality": rationality,
        "literal": literal,
    }


def _rule_text(rule: str, depth: int, rationality: float) -> str:
    if rule == "pragmatic":
        return f"a pragmatic rule of depth {depth} and rationality {rationality:g}"
    return {"scbi": "SCBI, full cooperation", "bi": "plain Bayesian inference (BI)"}[rule]


def _require_one_of(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise CobayesError(f"there is no {what} {value!r}.", f"choose one of: {', '.join(known)}.")


def _file_stem(name: str) -> str:
    """Return a name that every file system takes."""
    return re.sub(r"[^\w.-]+", "-", str(name)).strip(".-") or "problem"


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


def _write_table(path: Path, model: Model) -> None:
    rows = zip(model.data, model.matrix.tolist(), strict=True)
    header = ("datum", *model.hypotheses)
    write_text(path, csv_text([header, *((label, *row) for label, row in rows)]))
