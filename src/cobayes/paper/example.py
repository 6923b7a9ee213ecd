"""The supplement's example on a 2 by 2 matrix, every printed number recomputed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobayes.browser import live_figure
from cobayes.example_library import examples
from cobayes.model import Model
from cobayes.paper.common import new_axes, words, write_section
from cobayes.plots.beliefs import plot_belief_curves
from cobayes.plots.house import new_figure
from cobayes.plots.matrices import plot_matrix
from cobayes.report.claims import Claim, judge_interval
from cobayes.report.section import Context, Section
from cobayes.rules import BI, SCBI
from cobayes.scaling import scale
from cobayes.theory.rates import rate_of_convergence

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

EXAMPLE = "supplement-2x2"
UNIFORM = np.array([0.5, 0.5])
MISPRINT = "0.643"
"""Printed twice for 0.634: two digits are swapped."""

# The supplement prints M and the likelihoods of two rounds.
PRINTED_ROUNDS = 2
# Our reading of "much faster": twice the rate.
MUCH_FASTER = 2.0


# --- Numbers ---------------------------------------------------------------------------------


def recompute() -> pd.DataFrame:
    """Return every number of the example, printed and recomputed, in the supplement's order."""
    import pandas as pd

    model = examples[EXAMPLE].model
    bayes, cooperative = BI(model), SCBI(model)
    first = scale(model, np.ones(2), 2 * UNIFORM).matrix
    after_bayes, after_scbi = bayes.update(UNIFORM, "d_1"), cooperative.update(UNIFORM, "d_1")
    # The supplement scales the likelihood of round 1 instead of M; the limit is the same.
    second = scale(cooperative.likelihood(UNIFORM), np.ones(2), 2 * after_scbi).matrix
    likelihoods = [cooperative.likelihood(belief) for belief in (UNIFORM, after_scbi)]
    rows = (
        ("M, with columns that sum to one", "0.75 0.5 0.25 0.5", bayes.likelihood(UNIFORM)),
        ("M*₁, scaled for the uniform prior", "0.634 0.366 0.366 0.634", first),
        ("M₁, the likelihood of round 1", "0.634 0.366 0.366 0.634", likelihoods[0]),
        ("BI's posterior after d₁", "0.6 0.4", after_bayes),
        ("SCBI's posterior after d₁", "0.643 0.366", after_scbi),
        ("c₂, first factor", "0.643 0.366", after_scbi),
        ("c₂ = twice the posterior", "1.268 0.732", 2 * after_scbi),
        ("M*₂, scaled for that posterior", "0.758 0.242 0.51 0.49", second),
        ("M₂, the likelihood of round 2", "0.60 0.33 0.4 0.67", likelihoods[1]),
        ("BI's posterior after d₁, d₁", "0.692 0.308", bayes.update(after_bayes, "d_1")),
        ("SCBI's posterior after d₁, d₁", "0.758 0.242", cooperative.update(after_scbi, "d_1")),
    )
    numbers = [
        (name, position, printed, value)
        for name, text, values in rows
        for position, (printed, value) in enumerate(zip(text.split(), values.flat, strict=True))
    ]
    table = pd.DataFrame(numbers, columns=["quantity", "position", "printed", "recomputed"])
    return table.assign(agrees=list(map(rounds_to, table.recomputed, table.printed)))


def rounds_to(value: float, text: str) -> bool:
    """Return whether a number rounds to the printed digits (halves may be rounded up or down)."""
    half_unit = 0.5000001 * 10.0 ** -len(text.partition(".")[2])
    return bool(abs(float(text) - value) <= half_unit)


def divergences(num_rounds: int = 12) -> NDArray[np.float64]:
    """Return KL(column h_1, column h_2), in nats, of M and of the likelihood of each round.

    The datum d_1 is shown in every round.
    """
    model = examples[EXAMPLE].model
    cooperative, belief = SCBI(model), UNIFORM
    likelihoods = [model.normalized()]
    for _ in range(num_rounds):
        likelihoods.append(cooperative.likelihood(belief))
        belief = cooperative.update(belief, "d_1")
    true, false = np.array(likelihoods)[:, :, 0], np.array(likelihoods)[:, :, 1]
    return (true * np.log(true / false)).sum(axis=1)


# --- Claims ----------------------------------------------------------------------------------


def judge_example(numbers: pd.DataFrame) -> tuple[Claim, ...]:
    """Judge the printed numbers, and the statements about divergence and convergence."""
    wrong = list(numbers.printed[~numbers.agrees])
    are_misprints = set(wrong) == {MISPRINT}
    verdict = "holds" if not wrong else "holds except" if are_misprints else "does not hold"
    rates = [float(rate_of_convergence(rule(examples[EXAMPLE].model), 0)) for rule in (SCBI, BI)]
    ratio = rates[0] / rates[1]
    faster = words("much faster", rates=rates, limit=MUCH_FASTER)
    return (
        Claim(verdict=verdict, **words("printed numbers", count=len(numbers), wrong=wrong)),
        judge_divergence(divergences()),
        judge_interval(**faster, low=ratio, high=ratio, above=MUCH_FASTER),
    )


def judge_divergence(kl: NDArray[np.float64]) -> Claim:
    """Judge the claim that the divergence increases, in the printed rounds and in later ones."""
    rises = np.diff(kl) > 0.0
    printed, later = rises[:PRINTED_ROUNDS], rises[PRINTED_ROUNDS:]
    verdict = "holds" if rises.all() else "holds except" if printed.all() else "does not hold"
    return Claim(verdict=verdict, **words("KL is increasing", kl=kl, printed=printed, later=later))


# --- Section and pictures --------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section."""
    numbers = recompute()
    context.tell(f"{len(numbers)} numbers recomputed")
    return write_section(
        "worked-example",
        values={
            "kl": [f"{value:.4f}" for value in divergences(200)],
            "rows": numbers.groupby("quantity", sort=False),
            "misprint": MISPRINT,
        },
        figures={
            "scalings": _draw_scalings(),
            "posteriors": _draw_posteriors(),
            "live": live_figure("round", examples[EXAMPLE]),
        },
        data={"worked-example": numbers},
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
    figure, ax = new_axes(4.8, 2.8)
    plot_belief_curves(paths, hypothesis=0, ax=ax)
    ax.set(ylabel="belief in $h_1$", ylim=(0.4, 0.85))
    ax.legend(loc="upper left")
    for name, vertical in (("BI", -14), ("SCBI", 8)):
        for number, side in ((1, "center"), (2, "right")):
            value = paths[name][number, 0]
            place = {"xytext": (0, vertical), "textcoords": "offset points", "ha": side}
            ax.annotate(f"{value:.3f}", (number, value), fontsize="small", **place)
    return figure
