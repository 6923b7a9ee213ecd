"""Figure 3: what the learner believes after few rounds, BI against SCBI, on 20 x 20 matrices."""

from __future__ import annotations

import numpy as np

from cobayes.paper.belief_experiments import (
    SIZE,
    Beliefs,
    beliefs_of,
    exact_experiment,
    simulated_experiment,
)
from cobayes.report.claims import Claim, about
from cobayes.report.data_table import DataTable, column
from cobayes.report.judges import judge_differences
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Context, Picture, Section, Table

TOPIC = "Section 4.2: the first rounds"

_QUANTITIES = (
    ("mean", "mean belief in the truth", "Mean belief in the truth"),
    ("std", "sd of the belief in the truth", "Standard deviation of the belief in the truth"),
)


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("exact distributions after 5 rounds, and simulated lessons of 30")
    plans = (exact_experiment(context), simulated_experiment(context))
    exact, simulated = map(beliefs_of, context.run_all([(plan, plan.name) for plan in plans]))
    both = (exact, simulated)
    return written_section(
        read_prose("cobayes.paper.prose", "figure-3"),
        values={"size": SIZE, "num_sequences": f"{SIZE**5:,}"},
        parts={
            "panels": [_panel(beliefs, *names) for beliefs in both for names in _QUANTITIES],
            "averages": _table(both),
        },
        data=(_data(both),),
        claims=about(TOPIC, *judge_figure3(exact, simulated)),
        sizes=f"{len(exact.mean_bi)} matrices exactly after {exact.num_rounds} rounds; "
        f"{len(simulated.mean_bi)} matrices with {simulated.num_lessons} lessons of "
        f"{simulated.num_rounds} rounds each for both rules.",
    )


def judge_figure3(exact: Beliefs, simulated: Beliefs) -> tuple[Claim, ...]:
    """Judge what the paper reads off its four panels.

    Parameters
    ----------
    exact
        After 5 rounds.
    simulated
        After 30 rounds.
    """
    lessons = simulated.num_lessons or 1
    mean_noise = np.hypot(simulated.std_bi, simulated.std_scbi) / np.sqrt(lessons)
    return (
        judge_differences(
            "After 5 rounds SCBI’s mean belief in the truth is higher",
            "Section 4.2, “better expectation”; Figure 3, top left",
            exact.mean_scbi - exact.mean_bi,
            what="SCBI less BI is",
        ),
        judge_differences(
            "After 30 rounds SCBI’s mean belief in the truth is higher",
            "Section 4.2, “better expectation”; Figure 3, bottom left",
            simulated.mean_scbi - simulated.mean_bi,
            what="SCBI less BI is",
            noise=mean_noise,
        ),
        judge_differences(
            "After 5 rounds SCBI has less variance",
            "Section 4.2, “less variance in the short run”; Figure 3, top right",
            exact.std_bi - exact.std_scbi,
            what="standard deviation, BI less SCBI, is",
        ),
        judge_differences(
            "After 30 rounds SCBI has less variance",
            "Section 4.2, “less variance in the short run”; Figure 3, bottom right",
            simulated.std_bi - simulated.std_scbi,
            what="standard deviation, BI less SCBI, is",
            noise=_deviation_noise(simulated),
        ),
    )


def _deviation_noise(beliefs: Beliefs) -> np.ndarray:
    """Return upper bounds of the standard errors of the differences of two standard deviations.

    Beliefs near certainty jump between almost 0 and almost 1, far from a normal variable, so that
    the usual error of a standard deviation would be much too small.
    """
    total = np.zeros_like(beliefs.std_bi)
    for mean, std in ((beliefs.mean_bi, beliefs.std_bi), (beliefs.mean_scbi, beliefs.std_scbi)):
        largest = np.maximum(mean, 1.0 - mean) ** 2
        # Var(s) is (m4 - s^4) / (4 N s^2), and m4 <= s^2 * (largest distance from the mean)^2.
        total += np.maximum(largest - std**2, 0.0) / (4.0 * (beliefs.num_lessons or 1))
    return np.sqrt(total)


def _panel(beliefs: Beliefs, name: str, what: str, title: str) -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots.comparison import plot_against_diagonal

    bi, scbi = getattr(beliefs, f"{name}_bi"), getattr(beliefs, f"{name}_scbi")
    figure = Figure(figsize=(4.4, 4.2), layout="constrained")
    plot_against_diagonal(bi, scbi, what=what, ax=figure.subplots())
    above = int((scbi > bi).sum())
    how = "exactly" if beliefs.num_lessons is None else f"{beliefs.num_lessons} lessons each"
    return Picture(
        f"figure-3-round-{beliefs.num_rounds}-{name}",
        figure,
        f"{title} after {beliefs.num_rounds} rounds, {len(bi)} matrices, {how}.",
        f"{len(bi)} points, {above} of them above the diagonal; the average is {bi.mean():.4f} "
        f"for BI and {scbi.mean():.4f} for SCBI.",
    )


def _table(both: tuple[Beliefs, Beliefs]) -> Table:
    rows = []
    for beliefs in both:
        for name, what, _ in _QUANTITIES:
            bi, scbi = getattr(beliefs, f"{name}_bi"), getattr(beliefs, f"{name}_scbi")
            ahead = scbi - bi
            rows.append(
                (
                    f"{beliefs.num_rounds}",
                    what,
                    f"{bi.mean():.4f}",
                    f"{scbi.mean():.4f}",
                    f"{ahead.mean():.4f} ± {ahead.std(ddof=1) / np.sqrt(len(ahead)):.4f}",
                    f"{100 * (ahead > 0).mean():.1f} % of {len(ahead)}",
                )
            )
    return Table(
        "Averages over the matrices (± standard error).",
        ("rounds", "quantity", "BI", "SCBI", "SCBI less BI", "above the diagonal"),
        tuple(rows),
    )


def _data(both: tuple[Beliefs, Beliefs]) -> DataTable:
    lengths = [len(beliefs.mean_bi) for beliefs in both]

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(beliefs, name) for beliefs in both])

    return DataTable(
        "figure-3",
        "Figure 3: belief in the truth on random 20 x 20 matrices",
        (
            column(
                "num_rounds",
                np.repeat([beliefs.num_rounds for beliefs in both], lengths),
                "after how many rounds",
                "rounds",
                is_key=True,
            ),
            column(
                "matrix",
                np.concatenate([np.arange(length) for length in lengths]),
                "number of the matrix within its round",
                is_key=True,
            ),
            column(
                "num_lessons",
                np.repeat([beliefs.num_lessons or 0 for beliefs in both], lengths),
                "lessons simulated per matrix and rule; 0 where the numbers are exact",
                "lessons",
            ),
            *(
                column(f"{name}_{rule}", joined(f"{name}_{rule}"), f"{what}, {rule.upper()}")
                for name, what, _ in _QUANTITIES
                for rule in ("bi", "scbi")
            ),
        ),
        row="matrix_and_round",
    )
