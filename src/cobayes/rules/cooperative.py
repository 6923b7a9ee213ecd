"""One round of cooperative inference, Eq. (1) of the paper."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from cobayes import _core
from cobayes._input.labels import Distribution
from cobayes._output import dataset, freeze, shape_in_words
from cobayes.model import MatrixLike, Model, as_model
from cobayes.rules.native import SCBI
from cobayes.rules.response import add_evidence
from cobayes.scaling import ScalingResult, scale, scaling_blocks

if TYPE_CHECKING:
    import pandas as pd
    import xarray as xr

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class CooperativeInference:
    """The teacher's and the learner's distributions after one round of cooperative inference.

    Attributes
    ----------
    teacher : ndarray
        P_T(d | h), (n, m). A column sums to one, or is zero if h allows no datum with a positive
        prior.
    learner : ndarray
        P_L(h | d), (n, m). A row sums to one, or is NaN if no hypothesis with a positive prior
        allows d. The row of a datum with prior zero can be NaN in other cases, too.
    model : Model
        The matrix and its labels.
    learner_prior, teacher_prior : ndarray
        P_L0 over hypotheses and P_T0 over data.
    scaling : ScalingResult
        The matrix scaled to row sums P_T0 and column sums P_L0.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.cooperative_inference("example:M_1").teacher.sum(axis=0).round(9)
    array([1., 1., 1.])
    """

    teacher: Array
    learner: Array
    model: Model
    learner_prior: Array
    teacher_prior: Array
    scaling: ScalingResult

    __post_init__ = freeze

    def to_dataframe(self) -> pd.DataFrame:
        """Return a tidy table: one row for each datum and hypothesis."""
        return self.to_xarray().to_dataframe().reset_index()

    def to_xarray(self) -> xr.Dataset:
        """Return both matrices as a Dataset with the labels."""
        return dataset(
            {"teacher": self.teacher, "learner": self.learner},
            {"datum": list(self.model.data), "hypothesis": list(self.model.hypotheses)},
        )

    def __repr__(self) -> str:
        return f"CooperativeInference({shape_in_words(*self.model.shape)}; {self.scaling!r})"


def cooperative_inference(
    matrix: MatrixLike,
    *,
    learner_prior: Distribution | None = None,
    teacher_prior: Distribution | None = None,
) -> CooperativeInference:
    """Solve the two equations of cooperative inference.

    The learner applies Bayes' formula to the teacher's distribution, and the teacher applies it to
    the learner's: ``P_L(h|d) ∝ P_T(d|h) P_L0(h)`` and ``P_T(d|h) ∝ P_L(h|d) P_T0(d)``.

    Parameters
    ----------
    matrix
        The data-by-hypotheses matrix of both agents.
    learner_prior
        P_L0, over hypotheses; uniform by default.
    teacher_prior
        P_T0, over data; uniform by default. A datum with probability zero is never chosen.

    Returns
    -------
    CooperativeInference
        The teacher's and the learner's distributions. If no matrix with the same zeros has the
        priors as its row and column sums, the distributions are the limits of applying the
        equations in turn.

    Notes
    -----
    Eq. (1) of the paper: the matrix is scaled to row sums P_T0 and column sums P_L0. The columns of
    the scaled matrix, normalised, are P_T; its rows, normalised, are P_L.

    Examples
    --------
    >>> import cobayes as cb
    >>> model = cb.Model([[0.7, 0.2], [0.3, 0.8]], ["sun", "rain"], ["summer", "autumn"])
    >>> cb.cooperative_inference(model).learner.round(3)
    array([[0.753, 0.247],
           [0.247, 0.753]])
    """
    model = as_model(matrix)
    over_hypotheses = model.distribution(learner_prior, name="learner's prior")
    over_data = model.distribution(teacher_prior, over="datum", name="teacher's prior")
    scaling = scale(model.matrix, over_data, over_hypotheses, on_failure="return")
    if not scaling.is_converged and scaling.status != "infeasible":
        scale(model.matrix, over_data, over_hypotheses)  # raises an error that says why
    rule = SCBI(model, data_prior=over_data)
    teacher, learner = rule.likelihood(over_hypotheses), rule.posteriors(over_hypotheses)
    # Data with a prior of zero also have a posterior, computed from the scaling's column factors.
    unused = over_data == 0.0
    support = scaling_blocks(model.matrix, over_data, over_hypotheses).support
    logs = np.where(support, _core.log(model.matrix), -np.inf) + _core.log(scaling.factors)
    readings = _core.exp(add_evidence(_core.log(over_hypotheses), logs))
    learner[unused] = readings[unused]
    return CooperativeInference(teacher, learner, model, over_hypotheses, over_data, scaling)
