"""How fast a teacher that chooses its data can teach, against one that draws them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._output import freeze
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules import Rule, as_rule
from cobayes.rules.base import in_every_round

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ChoosingRate:
    """The highest rate at which any sequence of data can teach a hypothesis.

    Attributes
    ----------
    rate : float
        In nats per round.
    drawing_rate : float
        The rate of a teacher that draws its data by the learner's own rule.
    data_shares : ndarray
        How often the best teacher shows each datum in the long run, (n,).
    hypothesis : str
        The label of what is taught.

    Examples
    --------
    >>> import cobayes as cb
    >>> found = cb.theory.choosing_rate(cb.SCBI(cb.examples["M_1"]), "h_1")
    >>> found.rate >= found.drawing_rate
    True
    """

    rate: float
    drawing_rate: float
    data_shares: Array
    hypothesis: str

    def __post_init__(self) -> None:
        freeze(self)

    def __repr__(self) -> str:
        return (
            f"ChoosingRate({self.rate:.4g} nats per round for {self.hypothesis!r}; drawing has "
            f"{self.drawing_rate:.4g})"
        )


def choosing_rate(
    matrix: MatrixLike | Rule, hypothesis: SupportsIndex | str, *, rule: Any = "scbi"
) -> ChoosingRate:
    """Return the highest rate at which any sequence of data can teach a learner.

    Parameters
    ----------
    matrix
        Data by hypotheses without zeros, or the learner's rule.
    hypothesis
        What is taught, by position or label.
    rule
        For a matrix: the learner's rule, "scbi", "bi", or a class of rules.

    Returns
    -------
    ChoosingRate
        ``.rate`` beside ``.drawing_rate``, and how often each datum is shown.

    Notes
    -----
    The value of the linear programme ``max_p min_j sum_d p_d log(A_dh / A_dj)`` with A the
    likelihood in the limit of certainty; see docs/beyond.md. Drawing takes column h of A for p.

    Examples
    --------
    >>> from cobayes.theory import choosing_rate
    >>> choosing_rate([[0.6, 0.3], [0.4, 0.7]], 0, rule="bi")
    ChoosingRate(0.6931 nats per round for '0'; drawing has 0.192)
    """
    from scipy.optimize import linprog

    found = in_every_round(matrix if isinstance(matrix, Rule) else as_rule(rule, matrix))
    model = found.model
    h = model.hypothesis_index(hypothesis)
    if (model.matrix == 0.0).any():
        raise CobayesError(
            "the table has zeros, so that one datum may end a lesson.",
            "use cobayes.plan_lesson or cobayes.lessons.compare_teachers.",
        )
    logs = found.at_certainty(h).log_likelihood
    gains = np.delete(logs[:, h, None] - logs, h, axis=1)
    num_data, num_rivals = gains.shape
    if num_rivals == 0:
        raise CobayesError("a rate needs at least two hypotheses.")
    # Maximise t under t <= sum_d p_d gains_dj for every rival j.
    solution = linprog(
        np.append(np.zeros(num_data), -1.0),
        A_ub=np.column_stack([-gains.T, np.ones(num_rivals)]),
        b_ub=np.zeros(num_rivals),
        A_eq=np.append(np.ones(num_data), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * num_data + [(None, None)],
    )
    if not solution.success:
        raise CobayesError(f"the linear programme was not solved: {solution.message}")
    shares = np.maximum(solution.x[:-1], 0.0)
    shares /= shares.sum()
    rate = float((shares @ gains).min())
    drawn = float(found.rate(h))
    return ChoosingRate(max(rate, 0.0), drawn, shares, model.hypotheses[h])
