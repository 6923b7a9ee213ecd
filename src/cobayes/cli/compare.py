"""``cobayes compare``: rounds until the learner is sure, for several rules or teachers."""

from __future__ import annotations

from typing import Any

import numpy as np

from cobayes._output import counted, percent
from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.errors import CobayesError
from cobayes.lessons import Ensemble, TeacherComparison, compare_teachers, simulate
from cobayes.lessons.teachers import TEACHERS
from cobayes.plots.comparison import draw_comparison
from cobayes.rules import BI, SCBI, Pragmatic, Rule

# The table of shares: its largest number of rows, and the width of its bars in characters.
_ROWS, _BAR = 12, 16


@options.command(
    "cobayes compare example:diagnosis --seed 1",
    "cobayes compare world.csv --hypothesis A --rounds 40 --level 0.99 --plot compare.svg",
    "cobayes compare example:diagnosis --teachers all --no-repeats --lessons 1000",
)
@options.matrix
@options.hypothesis()
@options.rounds(100, "Maximum number of rounds of a lesson, with one datum each.")
@options.lessons(10_000, "Number of simulated lessons for each rule.")
@options.level
@options.names(
    "--teachers",
    metavar="all|NAMES",
    help="Compare teachers of BI, pragmatic and SCBI learners: all, or some of "
    f"{', '.join(TEACHERS)}.",
)
@options.names(
    "--questions",
    metavar="LABELS",
    help="For the teacher 'active': the question that each datum answers, as one label per datum, "
    "separated by commas (default: each datum answers its own yes-or-no question).",
)
@options.no_repeats()
@options.prior
@options.rule("both")
@options.data_prior
@options.seed()
@options.smooth
@options.as_json
@options.plot()
def compare(given: Given) -> None:
    """Compare two rules by the rounds that a learner needs to be sure of the truth.

    The rules are BI and SCBI, or BI and the rule given by --rule. In each simulated lesson teacher
    and learner follow the same rule. With --teachers, the command compares teachers that choose the
    data in different ways.
    """
    if given.questions is not None and given.teachers is None:
        raise CobayesError("--questions belongs to --teachers.", "add --teachers all.")
    rules = given.rules
    task = rules[0].task
    if len(rules) == 1:
        rules = [*rules, SCBI(task)] if isinstance(rules[0], BI) else [BI(task), *rules]
    # Without repeats a lesson has at most one round per datum.
    left = task.rounds_left(task.start, given.target)
    settings = {
        "num_rounds": given.rounds if left is None else min(given.rounds, left),
        "num_lessons": given.lessons,
        "level": given.level,
        "prior": given.assumed,
    }
    if given.teachers is None:
        found = _simulate(rules, given, settings)
        content = {"rules": [ensemble.to_dict() for ensemble in found]}
    else:
        found = _compare_teachers(rules, given, settings)
        content = found.to_dict()
    given.finish(
        content,
        lambda: _show_rules(found) if isinstance(found, list) else _show_teachers(found),
        lambda: draw_comparison(found),
    )


def _simulate(rules: list[Rule], given: Given, settings: dict[str, Any]) -> list[Ensemble]:
    lessons, rounds = counted(given.lessons, "lesson"), counted(settings["num_rounds"], "round")
    streams = np.random.SeedSequence(given.used_seed).spawn(len(rules))
    with terminal.patience(f"running {lessons} of {rounds} by each rule"):
        return [
            simulate(rule, given.target, rng=stream, keep_paths=False, **settings)
            for rule, stream in zip(rules, streams, strict=True)
        ]


def _compare_teachers(
    rules: list[Rule], given: Given, settings: dict[str, Any]
) -> TeacherComparison:
    """Compare teachers of a BI, a pragmatic and an SCBI learner, and of learners with `rules`."""
    task, names = rules[0].task, given.teachers
    learners = {rule.name: rule for rule in (BI(task), Pragmatic(task, 1), SCBI(task), *rules)}
    with terminal.patience("comparing teachers"):
        return compare_teachers(
            task,
            given.target,
            teachers="all" if [name.lower() for name in names] == ["all"] else names,
            learners=list(learners.values()),
            questions=given.questions,
            rng=given.used_seed,
            **settings,
        )


def _show_rules(found: list[Ensemble]) -> None:
    first = found[0]
    needed = [ensemble.rounds_needed for ensemble in found]
    last = first.num_rounds

    def by(share: float) -> list[str]:
        rounds = [one.quantile(share) for one in needed]
        return [f"more than {last}" if k is None else str(k) for k in rounds]

    beliefs = [f"{e.mean()[-1]:.4f} ± {e.stderr()[-1]:.4f}" for e in found]
    rows = [
        ("half of the learners", *by(0.5)),
        ("a quarter", *by(0.25)),
        ("three quarters", *by(0.75)),
        ("nine in ten", *by(0.9)),
        ("mean", *map(_mean_rounds, found)),
        (f"not sure after {last}", *(f"{100 * (1 - e.cumulative()[-1]):.3g} %" for e in needed)),
        (f"mean belief after {last}", *beliefs),
    ]
    terminal.show_table(
        f"Rounds until the learner is {100 * needed[0].level:g} % sure of "
        f"{first.model.hypotheses[first.hypothesis]}, "
        f"{counted(first.num_lessons, 'lesson')} by each rule",
        [("", "<"), *((ensemble.rule_name, ">") for ensemble in found)],
        rows,
    )
    ends = [one.quantile(0.99) for one in needed]
    end = last if None in ends else max(1, *(k for k in ends if k is not None))
    count = min(_ROWS, end)
    shares = [one.cumulative() for one in needed]
    terminal.show_table(
        "Share of learners that were sure by this round",
        [("round", ">"), *((ensemble.rule_name, "<") for ensemble in found)],
        [
            [str(k), *(f"{percent(s[k]):>7} {terminal.bar(s[k], _BAR)}" for s in shares)]
            for k in sorted({round(end * k / count) for k in range(1, count + 1)})
        ],
        least=[len("round"), *(len("100.0 %") for _ in found)],
    )
    terminal.show(_verdict({e.rule_name: e.rounds_needed.median for e in found}, last))


def _mean_rounds(ensemble: Ensemble) -> str:
    """Return mean and standard error of the rounds needed, or a lower bound on the mean."""
    needed = ensemble.rounds_needed
    rounds = np.repeat(np.arange(len(needed.counts)), needed.counts)
    if needed.num_unsure:
        # A learner who was never sure needs more rounds than were simulated.
        least = rounds.sum() + needed.num_unsure * (ensemble.num_rounds + 1)
        return f"at least {least / ensemble.num_lessons:.1f}"
    stderr = rounds.std(ddof=1) / np.sqrt(len(rounds))
    return f"{rounds.mean():.2f} ± {stderr:.2f}"


def _verdict(medians: dict[str, int | None], last: int) -> str:
    known = sorted((median, name) for name, median in medians.items() if median is not None)
    if len(known) < 2:
        who = f"Only {known[0][1]}" if known else "Neither rule"
        return f"{who} made half of the learners sure by round {last}."
    (fast, winner), (slow, other) = known
    if slow == fast:
        return f"Both rules make half of the learners sure by round {slow}."
    return f"{winner} makes half of the learners sure by round {fast}, {other} by round {slow}."


def _show_teachers(found: TeacherComparison) -> None:
    head, *rows = found.cells()
    label = found.model.hypotheses[found.hypothesis]
    terminal.show_table(
        f"Rounds until belief in {label} is {found.level:g} (median); in brackets the mean belief "
        f"after {counted(found.num_rounds, 'round')}",
        [(head[0], "<"), *((name, ">") for name in head[1:])],
        rows,
    )
    for name in found.teachers:
        terminal.show_text(f"{name}: {TEACHERS[name]}")
    for note in found.notes():
        terminal.show_text(note)
