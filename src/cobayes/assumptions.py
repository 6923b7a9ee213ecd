"""The paper's assumptions (i) to (iv), checked and reported."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from cobayes._input.labels import shorten

if TYPE_CHECKING:
    from cobayes.model import Model

# Two columns, or two matrices, count as proportional when no log ratio strays further than this.
PROPORTIONAL_TOLERANCE = 1e-9

Status = Literal["holds", "warning"]


@dataclass(frozen=True)
class Finding:
    """What was found about one assumption.

    Attributes
    ----------
    assumption : str
        "i", "ii", "iii" or "iv".
    status : str
        "holds" or "warning".
    text : str
        One sentence that names the hypotheses concerned.
    """

    assumption: str
    status: Status
    text: str


@dataclass(frozen=True)
class Report:
    """The findings about all four assumptions, in order."""

    findings: tuple[Finding, ...]

    @property
    def warnings(self) -> tuple[Finding, ...]:
        """The findings that are not fulfilled."""
        return tuple(finding for finding in self.findings if finding.status != "holds")

    @property
    def holds(self) -> bool:
        """Whether every assumption holds."""
        return not self.warnings

    def __str__(self) -> str:
        return "\n".join(
            f"({finding.assumption}) {finding.status}: {finding.text}" for finding in self.findings
        )

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>({f.assumption})</td><td>{f.status}</td><td>{escape(f.text)}</td></tr>"
            for f in self.findings
        )
        return f"<table>{rows}</table>"


def check_assumptions(
    teacher: Model,
    learner: Model | None,
    teacher_prior: NDArray[np.float64],
    learner_prior: NDArray[np.float64] | None,
) -> Report:
    """Check assumptions (i) to (iv) of Section 2; see `Model.check`."""
    return Report(
        (
            _enough_data(teacher),
            _distinguishable(teacher, learner),
            _scaled_matrix(teacher, learner),
            _known_prior(teacher, teacher_prior, learner_prior),
        )
    )


def proportional_pairs(matrix: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Return every pair of columns of which one is a multiple of the other."""
    logs = np.log(matrix)
    logs -= logs.mean(axis=0)
    # Equal columns have equal projections: sorting these avoids comparing all pairs.
    direction = np.cos(np.arange(1.0, logs.shape[0] + 1.0))
    keys = direction @ logs
    order = np.argsort(keys)
    window = PROPORTIONAL_TOLERANCE * np.abs(direction).sum()
    pairs = []
    for start, first in enumerate(order):
        for second in order[start + 1 :]:
            if keys[second] - keys[first] > window:
                break
            if np.abs(logs[:, first] - logs[:, second]).max() <= PROPORTIONAL_TOLERANCE:
                pairs.append((int(min(first, second)), int(max(first, second))))
    return sorted(pairs)


def _enough_data(model: Model) -> Finding:
    n, m = model.shape
    if n >= m:
        return Finding("i", "holds", f"there are no fewer data ({n}) than hypotheses ({m}).")
    return Finding(
        "i",
        "warning",
        f"there are fewer data ({n}) than hypotheses ({m}): {shorten(model.hypotheses)}; "
        "SCBI still runs, the paper's theorems are not stated for it.",
    )


def _distinguishable(teacher: Model, learner: Model | None) -> Finding:
    for owner, model in (("", teacher), ("the learner's ", learner)):
        if model is None:
            continue
        pairs = proportional_pairs(model.matrix)
        if pairs:
            named = "; ".join(
                f"{model.hypotheses[a]!r} and {model.hypotheses[b]!r}" for a, b in pairs[:6]
            )
            more = f" (and {len(pairs) - 6} more pairs)" if len(pairs) > 6 else ""
            return Finding(
                "ii",
                "warning",
                f"{owner}columns are proportional: {named}{more}; no data can tell them apart.",
            )
    return Finding(
        "ii", "holds", "the hypotheses are distinguishable: no columns are proportional."
    )


def _scaled_matrix(teacher: Model, learner: Model | None) -> Finding:
    if learner is None:
        return Finding("iii", "holds", "teacher and learner hold the same matrix.")
    if learner.shape != teacher.shape:
        return Finding(
            "iii",
            "warning",
            f"the teacher's matrix has shape {teacher.shape}, the learner's {learner.shape}.",
        )
    # T = E1 L E2 exactly when log(T / L) is a row term plus a column term.
    ratio = np.log(teacher.matrix) - np.log(learner.matrix)
    rest = ratio - ratio.mean(axis=1, keepdims=True)
    rest -= rest.mean(axis=0)
    worst = np.abs(rest).max(axis=0)
    if worst.max() <= PROPORTIONAL_TOLERANCE:
        return Finding("iii", "holds", "the teacher's matrix is a scaling of the learner's.")
    return Finding(
        "iii",
        "warning",
        "the teacher's matrix is not a scaling of the learner's; they differ most at hypothesis "
        f"{teacher.hypotheses[int(worst.argmax())]!r}.",
    )


def _known_prior(
    model: Model, teacher_prior: NDArray[np.float64], learner_prior: NDArray[np.float64] | None
) -> Finding:
    if learner_prior is None:
        return Finding("iv", "holds", "the teacher knows the learner's prior.")
    gap = np.abs(teacher_prior - learner_prior)
    if gap.max() <= PROPORTIONAL_TOLERANCE:
        return Finding("iv", "holds", "the teacher knows the learner's prior.")
    return Finding(
        "iv",
        "warning",
        "the teacher's idea of the learner's prior is wrong; most at hypothesis "
        f"{model.hypotheses[int(gap.argmax())]!r}.",
    )
