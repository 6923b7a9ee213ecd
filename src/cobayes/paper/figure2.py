"""Figure 2: how often, and by how much, SCBI converges faster than BI on random matrices."""

from __future__ import annotations

import math

import numpy as np

from cobayes.paper.figure2_claims import GUESS, empirical_formula, judge_figure2
from cobayes.paper.figure_s1 import TOPIC
from cobayes.paper.rate_experiments import (
    SHAPES,
    Family,
    Splitting,
    family_of,
    rates_experiment,
    splitting_experiment,
    splitting_of,
)
from cobayes.random_matrices.exact_two import expected_advantage
from cobayes.report.claims import about
from cobayes.report.data_table import DataTable, column
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Context, Picture, Section, Table

_PANELS = {
    "n-by-2": ("A", "B", "n × 2", "number of rows n"),
    "10-by-m": ("C", "D", "10 × m", "number of columns m"),
    "n-by-n": ("E", "F", "n × n", "number of rows n"),
}


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("random matrices of three families of shapes, and multilevel splitting")
    plans = [*(rates_experiment(context, name) for name in SHAPES), splitting_experiment(context)]
    *sampled, split = context.run_all([(plan, plan.name) for plan in plans])
    families = {name: family_of(name, run) for name, run in zip(SHAPES, sampled, strict=True)}
    splitting = splitting_of(split)
    two = families["n-by-2"]
    return written_section(
        read_prose("cobayes.paper.prose", "figure-2"),
        values={
            "dip": [f"{value:.4f}" for value in two.probability[:2]],
            "formula_dip": [
                f"{1.0 - math.exp(-float(empirical_formula(n, *GUESS))):.4f}" for n in (2, 3)
            ],
            "overlap": _overlap(families["n-by-n"], splitting),
        },
        parts={
            "panels": [picture for name in SHAPES for picture in _panels(families[name])],
            "extended": _beyond(families["n-by-n"], splitting),
            "values": _table(families, splitting),
        },
        data=(_data(families, splitting),),
        claims=about(TOPIC, *judge_figure2(families, splitting)),
        sizes=(
            "; ".join(
                f"{family.num_samples:,} matrices for each {_PANELS[name][2]}"
                for name, family in families.items()
            )
            + f"; splitting: {splitting.num_estimates} estimates for each of "
            f"{len(splitting.size)} sizes, {splitting.num_particles} matrices in a population."
        ),
    )


def _panels(family: Family) -> tuple[Picture, Picture]:
    from matplotlib.figure import Figure

    from cobayes.plots.rates import plot_exceptions, plot_probability_and_advantage

    left, right, shape, label = _PANELS[family.name]
    rates, exceptions = (Figure(figsize=(4.8, 3.2), layout="constrained") for _ in range(2))
    plot_probability_and_advantage(
        family.size,
        family.probability,
        family.probability_stderr,
        family.advantage,
        family.advantage_stderr,
        exact_advantage=_exact(family) if family.name == "n-by-2" else None,
        size_label=label,
        ax=rates.subplots(),
    )
    plot_exceptions(
        family.size,
        family.minus_log,
        *family.minus_log_interval(),
        num_samples=family.num_samples,
        size_label=label,
        ax=exceptions.subplots(),
    )
    first, last = family.shape_names[0], family.shape_names[-1]
    exact = " The line is the exact E, a single integral." if family.name == "n-by-2" else ""
    unseen = int((family.exceptions == 0).sum())
    none_seen = (
        f" In {unseen} shapes no exception was seen; triangles show what can be said then."
        if unseen
        else ""
    )
    return (
        Picture(
            f"figure-2{left}",
            rates,
            f"({left}) P, blue, and E, red, for {shape} matrices.{exact}",
            f"P goes from {family.probability[0]:.3f} for {first} to {family.probability[-1]:.5f} "
            f"for {last}; E goes from {family.advantage[0]:.3f} to {family.advantage[-1]:.3f}.",
        ),
        Picture(
            f"figure-2{right}",
            exceptions,
            f"({right}) The same P as −ln(1 − P), for {shape} matrices.{none_seen}",
            f"Minus the logarithm of the share of exceptions, from {family.minus_log[0]:.2f} for "
            f"{first} to {family.minus_log[family.exceptions > 0][-1]:.2f} at the last shape with "
            f"an exception, {family.shape_names[int(np.flatnonzero(family.exceptions)[-1])]}.",
        ),
    )


def _beyond(square: Family, splitting: Splitting) -> tuple[Picture, ...]:
    from matplotlib.figure import Figure

    from cobayes.plots.rates import plot_exceptions, plot_splitting

    figure = Figure(figsize=(8.4, 3.6), layout="constrained")
    ax = plot_exceptions(
        square.size,
        square.minus_log,
        *square.minus_log_interval(),
        ax=figure.subplots(),
    )
    plot_splitting(splitting.size, splitting.minus_log, splitting.low, splitting.high, ax=ax)
    ax.set_ylim(0.0, 1.08 * splitting.high.max())
    return (
        Picture(
            "figure-2F-extended",
            figure,
            "(F, extended) Square matrices beyond what sampling can see. Diamonds come from "
            f"multilevel splitting, {splitting.num_estimates} independent estimates per size with "
            "95 % intervals; dots and triangles are the sampled ones of panel F.",
            f"Diamonds rise from {splitting.minus_log[0]:.2f} at n = {splitting.size[0]} to "
            f"{splitting.minus_log[-1]:.1f} at n = {splitting.size[-1]}, bending upwards.",
            is_wide=True,
        ),
    )


def _exact(family: Family) -> np.ndarray:
    return np.array([expected_advantage(int(n)) for n in family.num_data])


def _overlap(square: Family, splitting: Splitting) -> str:
    texts = []
    for position, size in enumerate(splitting.size):
        at = int(np.flatnonzero(square.size == size)[0])
        if square.exceptions[at] >= 5:
            texts.append(
                f"n = {size}: {splitting.minus_log[position]:.2f} ± "
                f"{splitting.minus_log_stderr[position]:.2f} against {square.minus_log[at]:.2f} ± "
                f"{square.minus_log_stderr[at]:.2f}"
            )
    return "; ".join(texts[-2:]) or "there is no such size here"


def _table(families: dict[str, Family], splitting: Splitting) -> Table:
    rows = []
    for name, chosen in (
        ("n-by-2", (2, 3, 5, 10, 20, 50)),
        ("10-by-m", (3, 5, 10)),
        ("n-by-n", (3, 5, 10, 17, 20, 50)),
    ):
        family = families[name]
        low, high = family.exception_interval()
        for size in chosen:
            at = int(np.flatnonzero(family.size == size)[0])
            exact = f"{expected_advantage(size):.6f}" if name == "n-by-2" else ""
            split = ""
            if name == "n-by-n" and size in splitting.size:
                k = int(np.flatnonzero(splitting.size == size)[0])
                split = f"{splitting.minus_log[k]:.2f} ± {splitting.minus_log_stderr[k]:.2f}"
            rows.append(
                (
                    family.shape_names[at],
                    f"{family.probability[at]:.6f}",
                    f"{low[at]:.3g} to {high[at]:.3g}",
                    f"{family.advantage[at]:.5f} ± {family.advantage_stderr[at]:.5f}",
                    exact,
                    split,
                )
            )
    return Table(
        "Some of the values (± standard error).",
        (
            "shape",
            "P",
            "1 − P, 95 % interval",
            "E, sampled",
            "E, exact",
            "−ln(1 − P) by splitting",
        ),
        tuple(rows),
    )


def _data(families: dict[str, Family], splitting: Splitting) -> DataTable:
    together = list(families.values())
    low, high = np.concatenate([family.exception_interval() for family in together], axis=1)
    exact = np.concatenate(
        [
            _exact(family) if family.name == "n-by-2" else np.full(len(family.size), np.nan)
            for family in together
        ]
    )
    split = {name: [] for name in ("minus_log", "minus_log_stderr")}
    for family in together:
        for name, values in split.items():
            column_of = np.full(len(family.size), np.nan)
            if family.name == "n-by-n":
                column_of[splitting.size - family.size[0]] = getattr(splitting, name)
            values.append(column_of)

    def joined(name: str) -> np.ndarray:
        return np.concatenate([getattr(family, name) for family in together])

    samples = np.repeat([f.num_samples for f in together], [len(f.size) for f in together])
    rate = "nats per round"
    return DataTable(
        "figure-2",
        "Figure 2: P and E for random matrices",
        (
            column(
                "family",
                [family.name for family in together for _ in family.size],
                "family of shapes: n-by-2, 10-by-m or n-by-n",
                is_key=True,
            ),
            column("num_data", joined("num_data"), "number of rows n", is_key=True),
            column("num_hypotheses", joined("num_hypotheses"), "number of columns m", is_key=True),
            column("num_samples", samples, "matrices drawn", "matrices"),
            column("num_exceptions", joined("exceptions"), "of them slower by SCBI", "matrices"),
            column("probability", joined("probability"), "P, share on which SCBI is not slower"),
            column("probability_stderr", joined("probability_stderr"), "standard error of P"),
            column("exception_low", low, "lower end of the exact 95 % interval for 1 - P"),
            column("exception_high", high, "upper end of the exact 95 % interval for 1 - P"),
            column("advantage", joined("advantage"), "E, mean of SCBI's rate less BI's", rate),
            column("advantage_stderr", joined("advantage_stderr"), "standard error of E", rate),
            column("advantage_exact", exact, "exact E, for n x 2 alone", rate),
            column("mean_bi", joined("mean_bi"), "mean rate of BI", rate),
            column("mean_bi_stderr", joined("mean_bi_stderr"), "its standard error", rate),
            column("mean_scbi", joined("mean_scbi"), "mean rate of SCBI", rate),
            column("mean_scbi_stderr", joined("mean_scbi_stderr"), "its standard error", rate),
            column(
                "splitting_minus_log",
                np.concatenate(split["minus_log"]),
                "-ln(1 - P) by multilevel splitting, for some squares",
            ),
            column(
                "splitting_minus_log_stderr",
                np.concatenate(split["minus_log_stderr"]),
                "its standard error",
            ),
        ),
    )
