"""The inverse of a learner's update: from which belief a datum leads to a posterior."""

from __future__ import annotations

from typing import SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.errors import CobayesError
from cobayes.rules import Rule, as_rule

Array = NDArray[np.float64]


def inverse_update(rule: Rule, posterior: ArrayLike, datum: SupportsIndex | str) -> Array:
    """Return the belief from which a datum leads to the given posterior, (m,).

    On a table without zeros there is exactly one, and hypotheses that are excluded after the
    datum were so before. On a table with zeros the posterior must be positive everywhere: a
    hypothesis that the datum excludes may have had any belief before.

    Parameters
    ----------
    rule
        `SCBI`, or a rule whose likelihood does not depend on the belief, like `BI`.
    posterior
        A distribution over hypotheses.
    datum
        The datum that was observed, by position or label.

    Returns
    -------
    ndarray
        A distribution over hypotheses, (m,).

    Notes
    -----
    The paper states that T_d is a bijection; the inverse needs no iteration. The posterior is
    row d of ``S = diag(u) M diag(v)``, so ``v_j`` is ``posterior_j / M_dj`` up to a factor. Rows
    of S sum to n p_i, with p the data prior, which gives u, and its column sums are ``n theta``:

        ``theta_j = v_j sum_i p_i M_ij / sum_k M_ik v_k``.

    Examples
    --------
    >>> import cobayes as cb
    >>> rule = cb.SCBI([[0.6, 0.3], [0.4, 0.7]])
    >>> cb.theory.inverse_update(rule, rule.update([0.2, 0.8], 1), 1).round(9)
    array([0.2, 0.8])
    """
    rule = as_rule(rule)
    row = rule.model.datum_index(datum)
    return np.exp(log_inverse(rule, rule.log_belief(posterior, "posterior"), row))


def log_inverse(rule: Rule, log_posterior: Array, datum: int) -> Array:
    """Return the logarithms of the belief before a datum, exact where beliefs underflow."""
    if not rule.depends_on_belief:
        log_matrix = rule.respond(log_posterior).log_likelihood
    elif rule.is_scbi:
        with np.errstate(divide="ignore"):
            log_matrix = np.log(rule.model.matrix)
    else:
        raise CobayesError(
            f"the inverse of the update of {type(rule).__name__} is not known.",
            "use cobayes.SCBI or cobayes.BI.",
        )
    is_possible = log_matrix > -np.inf
    if not is_possible.all() and not (is_possible[datum] & (log_posterior > -np.inf)).all():
        raise CobayesError(
            f"datum {rule.model.data[datum]!r} excludes a hypothesis, or the posterior does; "
            "on a table with zeros several beliefs lead to such a posterior.",
            "the inverse exists where the datum and the posterior allow every hypothesis.",
        )
    if not rule.depends_on_belief:
        logs = log_posterior - log_matrix[datum]
    else:
        share = rule.data_prior
        with np.errstate(divide="ignore"):
            log_share = 0.0 if share is None else np.log(share)[:, None]
        # Of M only its cross-ratios matter: dividing by row d leaves v equal to the posterior.
        log_matrix = log_matrix - log_matrix[datum]
        row_sums = np.logaddexp.reduce(log_matrix + log_posterior, axis=1, keepdims=True)
        logs = log_posterior + np.logaddexp.reduce(log_matrix - row_sums + log_share, axis=0)
    return logs - np.logaddexp.reduce(logs)
