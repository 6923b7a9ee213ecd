"""The supplement's example on a 2 by 2 matrix, every printed number recomputed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cobayes.example_library import examples
from cobayes.report.claims import Claim, about
from cobayes.report.judges import judge_monotone
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Cell, Context, Download, LiveFigure, Picture, Section, Table
from cobayes.rules import BI, SCBI
from cobayes.scaling import scale


@dataclass(frozen=True)
class PrintedNumbers:
    """Numbers as the supplement prints them, beside those recomputed.

    Attributes
    ----------
    quantity : str
        What they are.
    printed : tuple of str
        Exactly the printed digits.
    recomputed : ndarray
        Ours, in the same order.
    misprints : tuple of str
        Printed digits that are known to be wrong.
    """

    quantity: str
    printed: tuple[str, ...]
    recomputed: NDArray[np.float64]
    misprints: tuple[str, ...] = ()

    @property
    def disagreements(self) -> tuple[str, ...]:
        """The printed numbers that are not ours, rounded to as many digits."""
        return tuple(
            text
            for text, value in zip(self.printed, self.recomputed, strict=True)
            if abs(float(text) - value) > half_unit(text)
        )


def half_unit(text: str) -> float:
    """Return half a unit in the last printed place, with room for a tie."""
    return 0.5000001 * 10.0 ** -len(text.partition(".")[2])


def recompute() -> tuple[PrintedNumbers, ...]:
    """Return every number of the example, printed and recomputed, in the supplement's order."""
    model = examples["supplement-2x2"].model
    bayes, cooperative = BI(model), SCBI(model)
    uniform = np.array([0.5, 0.5])
    first = scale(model, np.ones(2), 2 * uniform).matrix
    after_bayes = bayes.update(uniform, "d_1")
    after_scbi = cooperative.update(uniform, "d_1")
    # The supplement scales the last round's likelihood again; the limit is the same.
    second = scale(cooperative.likelihood(uniform), np.ones(2), 2 * after_scbi).matrix
    return (
        PrintedNumbers(
            "M, the matrix with columns summing to one",
            ("0.75", "0.5", "0.25", "0.5"),
            bayes.likelihood(uniform).ravel(),
        ),
        PrintedNumbers(
            "M*₁, scaled for the uniform prior", ("0.634", "0.366", "0.366", "0.634"), first.ravel()
        ),
        PrintedNumbers(
            "M₁, the likelihood of round 1 (“already column normalized”)",
            ("0.634", "0.366", "0.366", "0.634"),
            cooperative.likelihood(uniform).ravel(),
        ),
        PrintedNumbers("BI's posterior after d₁", ("0.6", "0.4"), after_bayes),
        PrintedNumbers("SCBI's posterior after d₁", ("0.643", "0.366"), after_scbi, ("0.643",)),
        PrintedNumbers("c₂, first factor", ("0.643", "0.366"), after_scbi, ("0.643",)),
        PrintedNumbers("c₂ = twice the posterior", ("1.268", "0.732"), 2 * after_scbi),
        PrintedNumbers(
            "M*₂, scaled for that posterior", ("0.758", "0.242", "0.51", "0.49"), second.ravel()
        ),
        PrintedNumbers(
            "M₂, the likelihood of round 2",
            ("0.60", "0.33", "0.4", "0.67"),
            cooperative.likelihood(after_scbi).ravel(),
        ),
        PrintedNumbers(
            "BI's posterior after d₁, d₁", ("0.692", "0.308"), bayes.update(after_bayes, "d_1")
        ),
        PrintedNumbers(
            "SCBI's posterior after d₁, d₁",
            ("0.758", "0.242"),
            cooperative.update(after_scbi, "d_1"),
        ),
    )


def divergences(num_rounds: int = 12) -> NDArray[np.float64]:
    """Return KL(column h_1, column h_2) of M and of the likelihoods along d_1, d_1, ...

    Parameters
    ----------
    num_rounds
        How many likelihoods after M.
    """
    model = examples["supplement-2x2"].model
    cooperative = SCBI(model)
    belief = np.array([0.5, 0.5])
    likelihoods = [model.normalized()]
    for _ in range(num_rounds):
        likelihoods.append(cooperative.likelihood(belief))
        belief = cooperative.update(belief, "d_1")
    true, false = np.array(likelihoods)[:, :, 0], np.array(likelihoods)[:, :, 1]
    return (true * np.log(true / false)).sum(axis=1)


def judge_example(numbers: tuple[PrintedNumbers, ...]) -> tuple[Claim, ...]:
    """Judge the printed numbers and what the text says about the divergence.

    Parameters
    ----------
    numbers
        Of `recompute`.
    """
    count = sum(len(row.printed) for row in numbers)
    wrong = [text for row in numbers for text in row.disagreements]
    misprints = [text for row in numbers for text in row.misprints]
    kl = divergences()
    return about(
        "Supplement: the worked example",
        Claim(
            "The printed numbers of the example",
            "Supplement, Section 3",
            "holds" if not wrong else "holds except" if wrong == misprints else "does not hold",
            f"{count - len(wrong)} of {count} numbers come out again in all printed digits"
            + (f"; misprint: {', '.join(wrong)} for 0.634" if wrong else ""),
            "exact",
            "ours rounds to the printed digits; “except” for the misprint",
        ),
        judge_monotone(
            "The KL divergence between h₁ and h₂ is increasing as the likelihood is updated",
            "Supplement, Section 3",
            ["M", *(f"round {k}" for k in range(1, len(kl)))],
            kl,
            np.zeros(len(kl)),
            rises=True,
            what="along d₁, d₁, … the divergence",
        ),
    )


def build(context: Context) -> Section:
    """Build the section."""
    numbers = recompute()
    context.tell(f"{sum(len(row.printed) for row in numbers)} numbers recomputed")
    return written_section(
        read_prose("cobayes.paper.prose", "worked-example"),
        values={"kl": [f"{value:.4f}" for value in divergences(200)]},
        parts={
            "live": LiveFigure(
                "round",
                "supplement-2x2",
                "The table through the normalisations of the first round; drag the slider.",
            ),
            "numbers": _table(numbers),
            "scalings": _scalings(),
            "posteriors": _posteriors(),
        },
        downloads=(Download("numbers.csv", "All numbers (CSV)", _csv(numbers)),),
        claims=judge_example(numbers),
    )


def _table(numbers: tuple[PrintedNumbers, ...]) -> Table:
    rows = []
    for row in numbers:
        if not row.disagreements:
            verdict = Cell("agrees", "good")
        elif row.disagreements == row.misprints:
            verdict = Cell("misprint: 0.643 should read 0.634", "note")
        else:
            verdict = Cell(f"differs: {', '.join(row.disagreements)}", "bad")
        rows.append(
            (
                row.quantity,
                ", ".join(row.printed),
                ", ".join(f"{value:.6f}" for value in row.recomputed),
                verdict,
            )
        )
    return Table(
        "Printed and recomputed, matrices row by row.",
        ("quantity", "printed", "recomputed", "verdict"),
        tuple(rows),
    )


def _csv(numbers: tuple[PrintedNumbers, ...]) -> str:
    lines = ["quantity,position,printed,recomputed"]
    lines += [
        f'"{row.quantity}",{position},{text},{float(value)!r}'
        for row in numbers
        for position, (text, value) in enumerate(zip(row.printed, row.recomputed, strict=True))
    ]
    return "\n".join(lines) + "\n"


def _scalings() -> Picture:
    from matplotlib.figure import Figure

    from cobayes.model import Model
    from cobayes.plots import plot_matrix

    model = examples["supplement-2x2"].model
    cooperative = SCBI(model)
    uniform = np.array([0.5, 0.5])
    beliefs = [uniform, cooperative.update(uniform, "d_1")]
    matrices = [model.normalized(), *(cooperative.posteriors(belief) for belief in beliefs)]
    titles = (r"$M$", r"$M^*_1$", r"$M^*_2$")
    figure = Figure(figsize=(4.8, 2.1), layout="constrained")
    for ax, matrix, title in zip(figure.subplots(1, 3), matrices, titles, strict=True):
        labelled = Model(matrix, model.data, model.hypotheses)
        plot_matrix(labelled, title=title, limits=(0.0, 1.0), ax=ax)
        if ax is not figure.axes[0]:
            ax.set_ylabel("")
            ax.set_yticks([])
    return Picture(
        "scalings",
        figure,
        "The matrix of plain Bayes and the two scaled matrices. A row of a scaled matrix is the "
        "posterior after that datum: row d₁ of the second is what is believed after d₁, d₁.",
        "Three heat maps of two by two numbers: 0.75, 0.5, 0.25, 0.5; then 0.634, 0.366, 0.366, "
        "0.634; then 0.758, 0.242, 0.510, 0.490.",
    )


def _posteriors() -> Picture:
    from matplotlib.figure import Figure

    from cobayes.plots import plot_belief_curves

    model = examples["supplement-2x2"].model
    paths = {}
    for rule in (BI(model), SCBI(model)):
        beliefs = [np.array([0.5, 0.5])]
        for _ in range(2):
            beliefs.append(rule.update(beliefs[-1], "d_1"))
        paths[rule.name] = np.array(beliefs)
    figure = Figure(figsize=(4.8, 2.8), layout="constrained")
    ax = plot_belief_curves(paths, hypothesis=0, ax=figure.subplots())
    ax.set_ylabel("belief in $h_1$")
    ax.set_ylim(0.4, 0.85)
    ax.legend(frameon=False, loc="upper left")
    for name, vertical in (("BI", -14), ("SCBI", 8)):
        for number in (1, 2):
            value = paths[name][number, 0]
            ax.annotate(
                f"{value:.3f}",
                (number, value),
                xytext=(0, vertical),
                textcoords="offset points",
                ha="right" if number == 2 else "center",
                fontsize="small",
            )
    return Picture(
        "posteriors",
        figure,
        "Belief in the true hypothesis after d₁ and again d₁: in both rounds SCBI is ahead.",
        "Two rising curves over rounds 0 to 2: plain Bayes reaches 0.600 and 0.692, SCBI 0.634 "
        "and 0.758.",
    )
