"""The numbers of the stability figures as files, and short tables of them for the page."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cobayes.paper.stability_claims import name_of_column
from cobayes.paper.stability_experiments import CaseRates
from cobayes.paper.stability_measures import (
    ConeFit,
    all_unfinished,
    conjecture_bound,
    used_share,
)
from cobayes.report.data_table import Column, DataTable, column
from cobayes.report.section import Cell, Table
from cobayes.runs import Estimate
from cobayes.stability.bounds import Distance, frechet
from cobayes.stability.sequences import MAX_ROUNDS


def data_table(
    name: str,
    title: str,
    found: Sequence[CaseRates],
    *,
    only_rays: bool = False,
) -> DataTable:
    """Return one row for every learner of some cases, all of one size and sort.

    Parameters
    ----------
    name, title
        Name and title of the table.
    found
        The cases: perturbed priors, or perturbed columns.
    only_rays
        Whether to leave out learners that lie on no ray (the centre stays).
    """
    chosen = [
        (rates.learners.rays >= 0) | (rates.learners.kinds == "centre")
        if only_rays
        else np.ones(len(rates), dtype=bool)
        for rates in found
    ]

    def joined(pick) -> NDArray:
        return np.concatenate(
            [np.asarray(pick(rates))[mask] for rates, mask in zip(found, chosen, strict=True)]
        )

    def repeated(pick) -> NDArray:
        return joined(lambda rates: np.full(len(rates), pick(rates)))

    columns = [
        column("matrix", repeated(lambda r: r.case.matrix), "the teacher's matrix", is_key=True),
        column("prior", repeated(lambda r: r.case.prior), "the teacher's prior", is_key=True),
    ]
    if found[0].case.column is not None:
        columns += _of_columns(joined, repeated, found[0].case.model.num_data)
    else:
        columns += _of_priors(joined, found[0].case.model.num_hypotheses)
    columns += [
        column("success", joined(lambda r: r.value), "success rate: mean belief in h_1 at the end"),
        column("success_stderr", joined(lambda r: r.stderr), "its standard error"),
        column("success_low", joined(lambda r: r.lower), "least after taking sequences on"),
        column("success_high", joined(lambda r: r.upper), "most after taking sequences on"),
        column(
            "num_sequences", repeated(lambda r: r.num_sequences), "teaching sequences", "sequences"
        ),
        column(
            "num_unfinished",
            repeated(lambda r: r.num_unfinished),
            f"of them cut off after {MAX_ROUNDS} rounds",
            "sequences",
        ),
    ]
    return DataTable(name, title, tuple(columns), row="learner")


def sizes_of(found: Sequence[CaseRates]) -> str:
    """Return how much was computed, in words.

    Parameters
    ----------
    found
        The cases of a section.
    """
    unfinished, total, hidden = all_unfinished(found)
    learners = sum(len(rates) for rates in found)
    left_out = sum(rates.learners.num_left_out for rates in found)
    text = (
        f"{found[0].num_sequences:,} teaching sequences for each of {len(found)} cases, "
        f"{learners:,} learners in all. {unfinished} of {total:,} sequences were cut off after "
        f"{MAX_ROUNDS} rounds; what stopping hides is at most {hidden:.1e}."
    )
    if left_out:
        text += f" {left_out} points outside the simplex were left out."
    return text


def share_table(found: Sequence[CaseRates]) -> Table:
    """Return the largest share of what Conjecture 5.3 allows, by matrix and distance.

    Parameters
    ----------
    found
        Cases with perturbed priors.
    """
    forms: tuple[Distance, ...] = ("euclidean", "tv", "l1")
    rows = []
    for matrix in dict.fromkeys(rates.case.matrix for rates in found):
        own = [rates for rates in found if rates.case.matrix == matrix]
        row: list[str | Cell] = [_symbols(own[0])]
        for form in forms:
            shares, errors = (
                np.concatenate(parts)
                for parts in zip(*(used_share(rates, form) for rates in own), strict=True)
            )
            telling = np.concatenate([conjecture_bound(rates, form) > 0.0 for rates in own])
            if not telling.any():
                row.append("")
                continue
            at = int(np.nanargmax(np.where(telling, shares - 2.0 * errors, -np.inf)))
            text = str(Estimate(float(shares[at]), float(errors[at])))
            row.append(Cell(text, "bad") if shares[at] - 4.0 * errors[at] > 1.0 else text)
        rows.append(tuple(row))
    return Table(
        "Failure as a share of what Conjecture 5.3 allows: for each matrix the learner with the "
        "largest share less two standard errors, in three readings of “distance”. Above one the "
        "conjecture fails; marked where by more than four standard errors.",
        ("matrix", "Euclidean", "total variation", "L¹"),
        tuple(rows),
    )


def axes_table(found: Sequence[tuple[CaseRates, ConeFit]]) -> Table:
    """Return the slow and the fast direction around each perturbed column.

    Parameters
    ----------
    found
        Cases of kind "column" with their fits.
    """
    return Table(
        "How fast success falls around a column, per unit of distance: along the slowest axis and "
        "along the fastest. The last column says how far the slow axis is from the path of equal "
        "normalised divergence.",
        ("column", "slow", "fast", "ratio", "angle between", "R²", "slow axis off the path"),
        tuple(
            (
                name_of_column(rates),
                f"{fit.slow:.2f}",
                f"{fit.fast:.2f}",
                f"{fit.ratio:.2f} ± {fit.ratio * fit.log_ratio_stderr:.2f}",
                f"{fit.between:.0f}°",
                f"{fit.r_squared:.3f}",
                f"{fit.off_curve:.0f}°",
            )
            for rates, fit in found
        ),
    )


def _of_priors(joined, size: int) -> list[Column]:
    def bound(upper: bool):
        return lambda r: frechet(r.teacher_belief, r.learner_belief)[int(upper)]

    return [
        column("kind", joined(lambda r: r.learners.kinds), "centre, disc, ray or uniform"),
        column("ray", joined(lambda r: r.learners.rays + 1), "on which ray it lies; 0: on none"),
        *(
            column(
                f"learner_prior_{j + 1}",
                joined(lambda r, j=j: r.learners.priors[:, j]),
                f"the learner's prior in h_{j + 1}",
                is_key=True,
            )
            for j in range(size)
        ),
        column("distance", joined(lambda r: r.learners.distances), "Euclidean, from the teacher's"),
        column("bound_low", joined(bound(False)), "proved lower bound on the success rate"),
        column("bound_high", joined(bound(True)), "proved upper bound on the success rate"),
        column(
            "conjectured",
            joined(lambda r: conjecture_bound(r, "euclidean")),
            "what Conjecture 5.3 promises, in the Euclidean distance",
        ),
    ]


def _of_columns(joined, repeated, size: int) -> list[Column]:
    return [
        column(
            "column",
            repeated(lambda r: r.case.column + 1),
            "the perturbed column of the learner's matrix",
            is_key=True,
        ),
        column(
            "role",
            repeated(
                lambda r: "relevant" if r.case.column == r.case.roles.relevant else "irrelevant"
            ),
            "whether it sets the rate of convergence",
        ),
        column(
            "kind", joined(lambda r: r.learners.kinds), "centre, disc, equal divergence or mixture"
        ),
        *(
            column(
                f"entry_{i + 1}",
                joined(lambda r, i=i: r.learners.columns[:, i]),
                f"the perturbed column's entry for d_{i + 1}",
                is_key=True,
            )
            for i in range(size)
        ),
        column("distance", joined(lambda r: r.learners.distances), "Euclidean, from the teacher's"),
    ]


def _symbols(rates: CaseRates) -> str:
    return rates.case.title.split(",")[0]
