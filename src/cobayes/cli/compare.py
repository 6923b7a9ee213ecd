"""``cobayes compare``: how many rounds a learner needs, by plain Bayes and by SCBI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cobayes.cli import inputs, options, output, progress
from cobayes.cli.teachers import compare_ways, print_teachers, save_teachers
from cobayes.errors import CobayesError

if TYPE_CHECKING:
    from cobayes.lessons import Ensemble
    from cobayes.rules import Rule
    from cobayes.tasks.task import Task

EPILOG = (
    "Examples:\n\n"
    "cobayes compare example:diagnosis --seed 1\n\n"
    "cobayes compare world.csv --hypothesis A --rounds 40 --level 0.99 --plot compare.svg\n\n"
    "cobayes compare example:diagnosis --teachers all --no-repeats --lessons 1000"
)

# So many rounds of the distribution are shown on a terminal.
_MOST_ROWS = 12
_BAR_WIDTH = 16


def compare(
    matrix: options.Matrix,
    hypothesis: options.TaughtHypothesis = None,
    rounds: Annotated[
        int,
        options.count_option(
            "--rounds", "-k", least=1, help="How many data the teacher may show in a lesson."
        ),
    ] = 100,
    lessons: Annotated[
        int,
        options.count_option(
            "--lessons", "-n", least=2, help="How many lessons to simulate by each rule."
        ),
    ] = 10_000,
    level: Annotated[
        float,
        typer.Option(
            "--level",
            parser=options.probability,
            metavar="BELIEF",
            help="The belief in the truth from which on a learner counts as sure.",
        ),
    ] = 0.95,
    teachers: Annotated[
        str | None,
        typer.Option(
            "--teachers",
            metavar="all|NAMES",
            help="Compare ways of choosing the data instead, for BI, pragmatic and SCBI learners: "
            "all, or some of random, truthful, literal, SCBI, likeliest, greedy, optimal, active, "
            "with commas between.",
        ),
    ] = None,
    questions: Annotated[
        str | None,
        typer.Option(
            "--questions",
            metavar="LABELS",
            help="For the teacher 'active': the question that each datum answers, with commas "
            "(default: every datum is a yes-or-no question).",
        ),
    ] = None,
    no_repeats: options.NoRepeats = False,
    prior: options.Prior = None,
    rule: options.Rule = "both",
    depth: options.Depth = None,
    rationality: options.Rationality = None,
    literal: options.Literal = None,
    data_prior: options.DataPrior = None,
    seed: options.Seed = None,
    smooth: options.Smooth = None,
    as_json: options.AsJson = False,
    plot: options.Plot = None,
) -> None:
    """Compare the rounds that a learner needs to be sure of the truth, BI against another rule.

    Teacher and learner follow the same rule; many lessons are simulated by each. The other rule is
    SCBI unless --rule says otherwise. With --teachers several ways of choosing the data are
    compared.
    """
    inputs.check_outputs({"--plot": plot}, [matrix, data_prior])
    if questions is not None and teachers is None:
        raise CobayesError("--questions belongs to --teachers.", "add --teachers all.")
    model, example = inputs.load_matrix(matrix, smooth)
    target = inputs.find_hypothesis(hypothesis, model, example)
    first_belief = inputs.read_prior(prior, model, example, name="prior")

    import numpy as np

    from cobayes._output import counted
    from cobayes.lessons import simulate

    task = inputs.make_task(model, no_repeats=no_repeats)
    rules = _against_bayes(
        inputs.make_rules(
            rule, task, depth=depth, rationality=rationality, literal=literal, data_prior=data_prior
        ),
        task,
    )
    used_seed = inputs.choose_seed(seed)
    # Without repeats a lesson ends when the data do.
    left = task.rounds_left(task.start, target)
    rounds = rounds if left is None else min(rounds, left)
    if teachers is not None:
        with progress.patience("comparing teachers"):
            compared = compare_ways(
                teachers,
                task,
                target,
                learners=rules,
                questions=questions,
                num_rounds=rounds,
                num_lessons=lessons,
                level=level,
                prior=first_belief,
                rng=used_seed,
            )
        if plot is not None:
            save_teachers(compared, plot)
            output.say(f"wrote {plot}")
        if as_json:
            output.print_json({"matrix": matrix, "seed": used_seed, **compared.to_dict()})
            return
        print_teachers(compared)
        if seed is None:
            output.say_seed(used_seed, "see the same numbers")
        return
    seeds = np.random.SeedSequence(used_seed).spawn(2)
    doing = f"running {counted(lessons, 'lesson')} of {counted(rounds, 'round')}"
    with progress.patience(f"{doing} by each rule"):
        found = [
            simulate(
                each,
                target,
                num_rounds=rounds,
                num_lessons=lessons,
                prior=first_belief,
                rng=np.random.default_rng(own),
                level=level,
                keep_paths=False,
            )
            for each, own in zip(rules, seeds, strict=True)
        ]
    if plot is not None:
        _save(found, plot)
        output.say(f"wrote {plot}")
    if as_json:
        output.print_json(_as_json(matrix, found, used_seed))
        return
    _print(found)
    if seed is None:
        output.say_seed(used_seed, "see the same numbers")


def _against_bayes(rules: list[Rule], task: Task) -> list[Rule]:
    """Return two rules, plain Bayes first."""
    from cobayes.rules import BI, SCBI

    if len(rules) == 2:
        return rules
    return [*rules, SCBI(task)] if isinstance(rules[0], BI) else [BI(task), *rules]


def _summary(ensemble: Ensemble) -> dict[str, Any]:
    needed = ensemble.rounds_needed
    mean, stderr = _mean_rounds(ensemble)
    return {
        "rule": ensemble.rule_name,
        "rounds_needed": {
            "median": needed.median,
            "quartiles": [needed.quantile(0.25), needed.quantile(0.75)],
            "percentile_90": needed.quantile(0.9),
            "mean_if_all_were_sure": mean,
            "mean_stderr": stderr,
            "num_unsure": needed.num_unsure,
            "counts": needed.counts.tolist(),
        },
        "final_belief": {
            "mean": float(ensemble.mean()[-1]),
            "stderr": float(ensemble.stderr()[-1]),
            "std": float(ensemble.std()[-1]),
        },
        "mean_belief": ensemble.mean().tolist(),
    }


def _mean_rounds(ensemble: Ensemble) -> tuple[float, float]:
    """Return mean and standard error of the rounds needed; NaN unless every lesson got there."""
    import numpy as np

    needed = ensemble.rounds_needed
    if needed.num_unsure:
        return float("nan"), float("nan")
    count, rounds = int(needed.counts.sum()), np.arange(len(needed.counts))
    mean = float(needed.counts @ rounds) / count
    variance = float(needed.counts @ (rounds - mean) ** 2) / (count - 1)
    return mean, (variance / count) ** 0.5


def _as_json(source: str, found: list[Ensemble], seed: int) -> dict[str, Any]:
    from cobayes import __version__

    first = found[0]
    return {
        "cobayes": __version__,
        "matrix": source,
        "hypothesis": first.model.hypotheses[first.hypothesis],
        "rounds": first.num_rounds,
        "lessons": first.num_lessons,
        "level": first.rounds_needed.level,
        "seed": seed,
        "rules": [_summary(ensemble) for ensemble in found],
    }


def _print(found: list[Ensemble]) -> None:
    from rich.text import Text

    from cobayes._output import counted

    console = output.console()
    first = found[0]
    taught = first.model.hypotheses[first.hypothesis]
    level = first.rounds_needed.level
    table = output.table(
        f"Rounds until the learner is {100 * level:g} % sure of {taught}, "
        f"{counted(first.num_lessons, 'lesson')} by each rule",
        [("", "left"), *((ensemble.rule_name, "right") for ensemble in found)],
    )
    rows = [
        ("half of the learners", [_round(e.rounds_needed.median, e) for e in found]),
        ("a quarter", [_round(e.rounds_needed.quantile(0.25), e) for e in found]),
        ("three quarters", [_round(e.rounds_needed.quantile(0.75), e) for e in found]),
        ("nine in ten", [_round(e.rounds_needed.quantile(0.9), e) for e in found]),
        ("mean", [_mean_text(e) for e in found]),
        (f"not sure after {first.num_rounds}", [_unsure_text(e) for e in found]),
        (
            f"mean belief after {first.num_rounds}",
            [f"{e.mean()[-1]:.4f} {output.plus_minus()} {e.stderr()[-1]:.4f}" for e in found],
        ),
    ]
    for name, cells in rows:
        table.add_row(Text(name), *map(Text, cells))
    console.print(table)
    console.print(_distribution(found))
    console.print(_verdict(found), markup=False)


def _distribution(found: list[Ensemble]) -> Any:
    """Return a table of the share of learners that were sure by some rounds."""
    from rich.text import Text

    shares = [ensemble.rounds_needed.cumulative() for ensemble in found]
    table = output.table(
        "Share of learners that were sure by then",
        [("round", "right"), *((ensemble.rule_name, "left") for ensemble in found)],
    )
    for k in _rounds_to_show(found):
        cells = [
            Text(f"{100 * share[k]:5.1f} % ") + Text(output.bar(share[k], _BAR_WIDTH), style="blue")
            for share in shares
        ]
        table.add_row(str(k), *cells)
    for column in table.columns[1:]:
        column.no_wrap, column.min_width = True, len("100.0 %")
    return table


def _rounds_to_show(found: list[Ensemble]) -> list[int]:
    """Return rounds from the first to where nearly all learners are sure, evenly spread."""
    last = found[0].num_rounds
    ends = [ensemble.rounds_needed.quantile(0.99) for ensemble in found]
    reached = [end for end in ends if end is not None]
    if len(reached) == len(ends):
        last = max(1, *reached)
    count = min(_MOST_ROWS, last)
    return sorted({round(last * k / count) for k in range(1, count + 1)})


def _verdict(found: list[Ensemble]) -> str:
    (first, slow), (second, fast) = ((e.rule_name, e.rounds_needed.median) for e in found)
    if slow is None and fast is None:
        return "By neither rule were half of the learners sure; give more --rounds."
    if slow is None or fast is None:
        name = second if slow is None else first
        return f"Only by {name} was half of the learners sure; give more --rounds."
    if slow == fast:
        return f"Both rules bring half of the learners there by round {slow}."
    faster, slower = sorted(((first, slow), (second, fast)), key=_by_rounds)
    return (
        f"{faster[0]} brings half of the learners there by round {faster[1]}, {slower[0]} by "
        f"round {slower[1]}."
    )


def _by_rounds(entry: tuple[str, int]) -> int:
    return entry[1]


def _round(number: int | None, ensemble: Ensemble) -> str:
    return f"more than {ensemble.num_rounds}" if number is None else str(number)


def _mean_text(ensemble: Ensemble) -> str:
    needed = ensemble.rounds_needed
    if needed.num_unsure:
        # Whoever was not sure needs one round more than were played, or many.
        known = sum(k * int(count) for k, count in enumerate(needed.counts))
        least = known + needed.num_unsure * (ensemble.num_rounds + 1)
        return f"at least {least / ensemble.num_lessons:.1f}"
    mean, stderr = _mean_rounds(ensemble)
    return f"{mean:.2f} {output.plus_minus()} {stderr:.2f}"


def _unsure_text(ensemble: Ensemble) -> str:
    unsure = ensemble.rounds_needed.num_unsure
    return f"{100 * unsure / ensemble.num_lessons:.3g} %"


def _save(found: list[Ensemble], path: Path) -> None:
    from matplotlib.figure import Figure

    from cobayes._output import counted
    from cobayes.plots.comparison import plot_mean_beliefs, plot_rounds_needed
    from cobayes.plots.house import style
    from cobayes.plots.overview import save_picture

    with style():
        figure = Figure(figsize=(7.2, 6.4), layout="constrained")
        upper, lower = figure.subplots(2, 1)
        plot_rounds_needed(found, ax=upper)
        plot_mean_beliefs(found, ax=lower)
    first = found[0]
    upper.set_title(
        f"{first.model.hypotheses[first.hypothesis]}, "
        f"{counted(first.num_lessons, 'lesson')} by each rule",
        loc="left",
    )
    save_picture(figure, path)
