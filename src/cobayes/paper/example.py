"""The supplement's example on a 2 by 2 matrix, every printed number recomputed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cobayes.browser import live_figure
from cobayes.example_library import examples
from cobayes.model import Model
from cobayes.paper.common import new_figure, write_section
from cobayes.plots.beliefs import plot_belief_curves
from cobayes.plots.matrices import plot_matrix
from cobayes.report.claims import Claim, about, judge_interval
from cobayes.report.section import Context, Section, Table
from cobayes.rules import BI, SCBI
from cobayes.scaling import scale
from cobayes.theory.rates import rate_of_convergence

if TYPE_CHECKING:
    from matplotlib.figure import Figure

EXAMPLE = "supplement-2x2"
UNIFORM = np.array([0.5, 0.5])
# The supplement prints M and the likelihoods of two rounds.
PRINTED_ROUNDS = 2
# Our reading of "much faster": twice the rate.
MUCH_FASTER = 2.0


# --- Numbers ---------------------------------------------------------------------------------


@dataclass(frozen=True)
class PrintedNumbers:
    """Numbers as the supplement prints them, beside those recomputed.

    Attributes
    ----------
    quantity : str
        Name of the quantity.
    printed : tuple of str
        The printed digits.
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
        """The printed numbers that ours do not round to."""
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
    model = examples[EXAMPLE].model
    bayes, cooperative = BI(model), SCBI(model)
    first = scale(model, np.ones(2), 2 * UNIFORM).matrix
    after_bayes, after_scbi = bayes.update(UNIFORM, "d_1"), cooperative.update(UNIFORM, "d_1")
    # The supplement scales the last round's likelihood again; the limit is the same.
    second = scale(cooperative.likelihood(UNIFORM), np.ones(2), 2 * after_scbi).matrix
    rows = (
        (
            "M, the matrix with columns summing to one",
            "0.75 0.5 0.25 0.5",
            bayes.likelihood(UNIFORM),
        ),
        ("M*₁, scaled for the uniform prior", "0.634 0.366 0.366 0.634", first),
        (
            "M₁, the likelihood of round 1 (“already column normalized”)",
            "0.634 0.366 0.366 0.634",
            cooperative.likelihood(UNIFORM),
        ),
        ("BI's posterior after d₁", "0.6 0.4", after_bayes),
        ("SCBI's posterior after d₁", "0.643 0.366", after_scbi, ("0.643",)),
        ("c₂, first factor", "0.643 0.366", after_scbi, ("0.643",)),
        ("c₂ = twice the posterior", "1.268 0.732", 2 * after_scbi),
        ("M*₂, scaled for that posterior", "0.758 0.242 0.51 0.49", second),
        (
            "M₂, the likelihood of round 2",
            "0.60 0.33 0.4 0.67",
            cooperative.likelihood(after_scbi),
        ),
        ("BI's posterior after d₁, d₁", "0.692 0.308", bayes.update(after_bayes, "d_1")),
        ("SCBI's posterior after d₁, d₁", "0.758 0.242", cooperative.update(after_scbi, "d_1")),
    )
    return tuple(
        PrintedNumbers(name, tuple(text.split()), values.ravel(), *wrong)
        for name, text, values, *wrong in rows
    )


def divergences(num_rounds: int = 12) -> NDArray[np.float64]:
    """Return KL(column h_1, column h_2) of M and of the likelihoods along d_1, d_1, ..."""
    model = examples[EXAMPLE].model
    cooperative, belief = SCBI(model), UNIFORM
    likelihoods = [model.normalized()]
    for _ in range(num_rounds):
        likelihoods.append(cooperative.likelihood(belief))
        belief = cooperative.update(belief, "d_1")
    true, false = np.array(likelihoods)[:, :, 0], np.array(likelihoods)[:, :, 1]
    return (true * np.log(true / false)).sum(axis=1)


# --- Claims ----------------------------------------------------------------------------------


def judge_example(numbers: tuple[PrintedNumbers, ...]) -> tuple[Claim, ...]:
    """Judge the printed numbers and what the text says about divergence and convergence."""
    count = sum(len(row.printed) for row in numbers)
    wrong = [text for row in numbers for text in row.disagreements]
    misprints = [text for row in numbers for text in row.misprints]
    rates = [float(rate_of_convergence(rule(examples[EXAMPLE].model), 0)) for rule in (SCBI, BI)]
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
        judge_divergence(divergences()),
        judge_interval(
            "That will eventually lead to much faster convergence for the SCBI learner",
            "Supplement, Section 3",
            rates[0] / rates[1],
            rates[0] / rates[1],
            above=MUCH_FASTER,
            measured=f"rates of convergence {rates[0]:.4f} (SCBI) and {rates[1]:.4f} (BI) nats per "
            f"round: faster by {100 * (rates[0] / rates[1] - 1):.0f} %",
            rule=f"at least {MUCH_FASTER:g} times BI’s rate, our reading of “much faster”",
        ),
    )


def judge_divergence(kl: NDArray[np.float64]) -> Claim:
    """Judge that the divergence is increasing, on the rounds that are printed and after them."""
    rises = np.diff(kl) > 0.0
    is_printed = rises[:PRINTED_ROUNDS].all()
    values = ", ".join(f"{value:.4f}" for value in kl[: PRINTED_ROUNDS + 3])
    later = int((~rises[PRINTED_ROUNDS:]).sum())
    return Claim(
        "The KL divergence between h₁ and h₂ is increasing as the likelihood is updated",
        "Supplement, Section 3",
        "holds" if rises.all() else "holds except" if is_printed else "does not hold",
        f"along d₁, d₁, … it goes {values}, … to {kl[-1]:.4f} in round {len(rises)}: it rises in "
        f"{int(rises[:PRINTED_ROUNDS].sum())} of the {PRINTED_ROUNDS} printed steps and falls in "
        f"{later} of the {len(rises) - PRINTED_ROUNDS} after them",
        "exact",
        "every step rises; “except” where those that the supplement prints do",
    )


# --- Section and pictures --------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section."""
    import pandas as pd

    numbers = recompute()
    context.tell(f"{sum(len(row.printed) for row in numbers)} numbers recomputed")
    rows = []
    for row in numbers:
        verdict = "✓ agrees"
        if row.disagreements:
            verdict = f"✗ differs: {', '.join(row.disagreements)}"
            if row.disagreements == row.misprints:
                verdict = "△ misprint: 0.643 should read 0.634"
        ours = ", ".join(f"{value:.6f}" for value in row.recomputed)
        rows.append((row.quantity, ", ".join(row.printed), ours, verdict))
    header = ("quantity", "printed", "recomputed", "verdict")
    numbers_table = pd.concat(
        pd.DataFrame(
            {"quantity": row.quantity, "printed": row.printed, "recomputed": row.recomputed}
        )
        for row in numbers
    )
    return write_section(
        "worked-example",
        values={"kl": [f"{value:.4f}" for value in divergences(200)]},
        figures={
            "scalings": _draw_scalings(),
            "posteriors": _draw_posteriors(),
            "live": live_figure("round", examples[EXAMPLE]),
        },
        tables={
            "numbers": Table("Printed and recomputed, matrices row by row.", header, tuple(rows))
        },
        data={"worked-example": numbers_table.rename_axis("position").reset_index()},
        claims=judge_example(numbers),
    )


def _draw_scalings() -> Figure:
    model = examples[EXAMPLE].model
    cooperative = SCBI(model)
    beliefs = [UNIFORM, cooperative.update(UNIFORM, "d_1")]
    matrices = [model.normalized(), *(cooperative.posteriors(belief) for belief in beliefs)]
    figure = new_figure(4.8, 2.1)
    titles = (r"$M$", r"$M^*_1$", r"$M^*_2$")
    for ax, matrix, title in zip(figure.subplots(1, 3), matrices, titles, strict=True):
        labelled = Model(matrix, model.data, model.hypotheses)
        plot_matrix(labelled, title=title, limits=(0.0, 1.0), ax=ax)
        if ax is not figure.axes[0]:
            ax.set(ylabel="", yticks=[])
    return figure


def _draw_posteriors() -> Figure:
    model = examples[EXAMPLE].model
    paths = {}
    for rule in (BI(model), SCBI(model)):
        beliefs = [UNIFORM]
        for _ in range(2):
            beliefs.append(rule.update(beliefs[-1], "d_1"))
        paths[rule.name] = np.array(beliefs)
    figure = new_figure(4.8, 2.8)
    ax = plot_belief_curves(paths, hypothesis=0, ax=figure.subplots())
    ax.set(ylabel="belief in $h_1$", ylim=(0.4, 0.85))
    ax.legend(loc="upper left")
    for name, vertical in (("BI", -14), ("SCBI", 8)):
        for number, side in ((1, "center"), (2, "right")):
            value = paths[name][number, 0]
            place: dict[str, Any] = {
                "xytext": (0, vertical),
                "textcoords": "offset points",
                "ha": side,
            }
            ax.annotate(f"{value:.3f}", (number, value), fontsize="small", **place)
    return figure
