"""The paper's assumptions (i) to (iv), and the effect of zeros in a matrix."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import shorten
from cobayes._input.validation import quoted
from cobayes._output import html_table

if TYPE_CHECKING:
    from cobayes.model import Model

# Tolerance of log ratios, to compare columns or matrices, and of probabilities, to compare priors.
PROPORTIONAL_TOLERANCE = 1e-9

Status = Literal["holds", "warning"]
Verdict = tuple[Status, str]
"""The status of an assumption, and a sentence with the reason."""


@dataclass(frozen=True)
class Finding:
    """The result of checking one assumption.

    Attributes
    ----------
    assumption : str
        "i", "ii", "iii" or "iv".
    status : str
        "holds" or "warning".
    text : str
        One sentence with the reason.
    """

    assumption: str
    status: Status
    text: str


@dataclass(frozen=True)
class Report:
    """The findings about all four assumptions, and about zeros.

    Attributes
    ----------
    findings : tuple of Finding
        One for each assumption, in order.
    zeros : str or None
        A paragraph on what the matrix's zeros do at the teacher's prior; None without zeros.
    """

    findings: tuple[Finding, ...]
    zeros: str | None = None

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings with the status "warning"."""
        return tuple(finding for finding in self.findings if finding.status != "holds")

    @property
    def holds(self) -> bool:
        """Whether every assumption holds."""
        return not self.warnings

    def __str__(self) -> str:
        lines = [f"({one.assumption}) {one.status}: {one.text}" for one in self.findings]
        return "\n".join(lines if self.zeros is None else [*lines, self.zeros])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = [(f"({found.assumption})", found.status, found.text) for found in self.findings]
        paragraph = "" if self.zeros is None else f"<p>{escape(self.zeros)}</p>"
        return html_table("", ("assumption", "status", "finding"), rows) + paragraph


def check_assumptions(
    teacher: Model,
    learner: Model,
    teacher_prior: NDArray[np.float64],
    learner_prior: NDArray[np.float64],
) -> Report:
    """Check assumptions (i) to (iv) of Section 2; see `Model.check`."""
    found: dict[str, Verdict] = {
        "i": _enough_data(teacher),
        "ii": _distinguishable(teacher, learner),
        "iii": _scaled_matrix(teacher, learner),
        "iv": _known_prior(teacher, teacher_prior, learner_prior),
    }
    findings = tuple(Finding(assumption, *verdict) for assumption, verdict in found.items())
    return Report(findings, explain_zeros(teacher, teacher_prior))


def explain_zeros(model: Model, prior: NDArray[np.float64]) -> str | None:
    """Return a paragraph on what a matrix's zeros do at a prior; None without zeros."""
    count = int((model.matrix == 0.0).sum())
    if not count:
        return None
    # Imported here: the module `scaling` imports `model`, which imports this module.
    from cobayes.scaling.blocks import explain, scaling_blocks

    row_sums, column_sums = np.ones(model.num_data), model.num_data * prior
    blocks = scaling_blocks(model, row_sums, column_sums)
    entries = "entries is" if count == 1 else "entries are"
    first = (
        f"{count} of {model.matrix.size} {entries} zero: the datum is impossible under the "
        "hypothesis, and excludes the hypothesis for ever once it is shown."
    )
    if blocks.status == "exact":
        return (
            f"{first} At this prior SCBI can still show every datum equally often on average, and "
            "every possible pair of datum and hypothesis is used."
        )
    unused = np.argwhere((model.matrix > 0.0) & ~blocks.support & (prior > 0.0))
    named = "; ".join(
        f"{quoted(model.data[i])} for {quoted(model.hypotheses[j])}" for i, j in unused[:3]
    )
    more = f" (and {len(unused) - 3} more)" if len(unused) > 3 else ""
    dropped = f" A cooperative teacher then never shows {named}{more}." if len(unused) else ""
    if blocks.status == "limit":
        return (
            f"{first} At this prior SCBI can show every datum equally often on average only if it "
            f"leaves out some possible pairs of datum and hypothesis.{dropped}"
        )
    words = ("the belief in it", "the belief in them")
    reason = explain(blocks, row_sums, column_sums, model.data, model.hypotheses, words=words)
    ratios = [block.ratio for block in blocks.blocks]
    return (
        f"{first} At this prior SCBI cannot show every datum equally often on average: {reason} "
        f"It then shows each datum between {min(ratios):.3g} and {max(ratios):.3g} times as often "
        f"as the average datum.{dropped}"
    )


def proportional_columns(matrix: NDArray[np.float64]) -> list[list[int]]:
    """Return the groups of columns that are multiples of one another, each group in order."""
    with np.errstate(divide="ignore"):
        logs = np.log(matrix)
    logs -= logs.mean(axis=0, where=matrix > 0.0)
    leaders = first_equal(logs.T, PROPORTIONAL_TOLERANCE)
    found, counts = np.unique(leaders, return_counts=True)
    return sorted(np.flatnonzero(leaders == one).tolist() for one in found[counts > 1])


def first_equal(rows: NDArray[np.float64], tolerance: float) -> NDArray[np.intp]:
    """Return for each row the position of one row that represents all rows equal to it.

    Rows are equal when no entry differs by more than the tolerance; minus infinity equals only
    itself. Rows are sorted by their projections onto one direction, and only rows with nearly equal
    projections are compared.
    """
    numbers = np.where(np.isfinite(rows), rows, 1.0)
    direction = np.cos(np.arange(1.0, rows.shape[1] + 1.0))
    keys = numbers @ direction
    rounding = 1e-14 * float(np.abs(numbers).max()) * len(direction)
    window = tolerance * float(np.abs(direction).sum()) + rounding
    leaders = np.arange(len(rows))
    near: list[int] = []
    for row in np.argsort(keys, kind="stable"):
        near = [leader for leader in near if keys[row] - keys[leader] <= window]
        for leader in near:
            differs = rows[row] != rows[leader]
            gaps = rows[row, differs] - rows[leader, differs]
            if np.abs(gaps).max(initial=0.0) <= tolerance:
                leaders[row] = leader
                break
        else:
            near.append(row)
    return leaders


def _enough_data(model: Model) -> Verdict:
    n, m = model.shape
    if n >= m:
        return "holds", f"there are no fewer data ({n}) than hypotheses ({m})."
    return "warning", (
        f"there are fewer data ({n}) than hypotheses ({m}): {shorten(model.hypotheses)}; "
        "SCBI works, but the paper's theorems do not cover this case."
    )


def _distinguishable(teacher: Model, learner: Model) -> Verdict:
    for owner, model in (("", teacher), ("the learner's ", learner)):
        groups = proportional_columns(model.matrix)
        if groups:
            labels = [[model.hypotheses[j] for j in group] for group in groups]
            named = "; ".join(shorten(group, 6) for group in labels[:6])
            more = f" (and {len(groups) - 6} more groups)" if len(groups) > 6 else ""
            return "warning", (
                f"{owner}columns are proportional: {named}{more}; no data can tell them apart."
            )
    return "holds", "the hypotheses are distinguishable: no columns are proportional."


def _scaled_matrix(teacher: Model, learner: Model) -> Verdict:
    if learner is teacher:
        return "holds", "teacher and learner have the same matrix."
    if learner.shape != teacher.shape:
        return "warning", (
            f"the teacher's matrix has shape {teacher.shape}, the learner's {learner.shape}."
        )
    positive = teacher.matrix > 0.0
    if not np.array_equal(positive, learner.matrix > 0.0):
        i, j = np.argwhere(positive != (learner.matrix > 0.0))[0]
        return "warning", (
            "teacher and learner differ in what is possible: datum "
            f"{teacher.data[i]!r} under hypothesis {teacher.hypotheses[j]!r}, for example."
        )
    # The teacher's T is a scaling of the learner's L if and only if log(T_ij / L_ij) = a_i + b_j.
    ratio = np.log(teacher.matrix, where=positive, out=np.zeros(teacher.shape))
    ratio -= np.log(learner.matrix, where=positive, out=np.zeros(teacher.shape))
    worst = np.abs(_not_additive(ratio, positive)).max(axis=0)
    if worst.max() <= PROPORTIONAL_TOLERANCE:
        return "holds", "the teacher's matrix is a scaling of the learner's."
    return "warning", (
        "the teacher's matrix is not a scaling of the learner's; they differ most at hypothesis "
        f"{teacher.hypotheses[int(worst.argmax())]!r}."
    )


def _not_additive(table: NDArray[np.float64], known: NDArray[np.bool_]) -> NDArray[np.float64]:
    """Return the residual of a table after subtracting a term for each row and each column.

    The terms a and b minimise the sum of (table_ij - a_i - b_j)^2 over the known entries; every row
    and column has a known entry. After a is eliminated, the normal equations are
    (D - K' R^-1 K) b = c. K is `known` as zeros and ones. The diagonal matrix D has the column sums
    of K, and the diagonal matrix R the row sums of K. c has the column sums of the centred table:
    each row's known entries minus their mean.
    """
    table, share = np.where(known, table, 0.0), known / known.sum(axis=1, keepdims=True)
    centred = np.where(known, table - (share * table).sum(axis=1, keepdims=True), 0.0)
    system = np.diag(known.sum(axis=0)) - known.T @ share
    columns = np.linalg.lstsq(system, centred.sum(axis=0), rcond=None)[0]
    return np.where(known, centred - columns + (share @ columns)[:, None], 0.0)


def _known_prior(
    model: Model, teacher_prior: NDArray[np.float64], learner_prior: NDArray[np.float64]
) -> Verdict:
    gap = np.abs(teacher_prior - learner_prior)
    if gap.max() <= PROPORTIONAL_TOLERANCE:
        return "holds", "the teacher knows the learner's prior."
    return "warning", (
        "the teacher assumes a wrong prior of the learner; the error is largest at hypothesis "
        f"{model.hypotheses[int(gap.argmax())]!r}."
    )
