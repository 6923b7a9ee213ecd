"""The maps of the Markov chain: the learner's T_d, its inverse, and the teacher's tau."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.tables import as_floats
from cobayes.errors import CobayesError
from cobayes.rules import BI, SCBI, Rule
from cobayes.rules.base import log_posterior
from cobayes.theory.rule_checks import checked_rule

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class UpdateMap:
    """T_d, the map from a belief to the posterior after datum d; see `update_map`.

    Attributes
    ----------
    rule : Rule
        Whose posterior it is.
    datum : int
        The position of the datum.
    """

    rule: Rule
    datum: int

    def __call__(self, belief: ArrayLike) -> Array:
        """Return the posterior, (m,)."""
        return self.rule.update(belief, self.datum)

    def inverse(self, posterior: ArrayLike) -> Array:
        """Return the belief that leads to this posterior, (m,)."""
        return inverse_update(self.rule, posterior, self.datum)

    def log_map(self, log_belief: ArrayLike) -> Array:
        """Return the map in logarithms, where beliefs too small for float64 stay exact."""
        logs = _normalized_logs(self.rule, log_belief)
        return log_posterior(logs, self.rule.respond(logs).likelihood[self.datum])

    def log_inverse(self, log_belief: ArrayLike) -> Array:
        """Return the inverse in logarithms."""
        return _log_inverse(self.rule, _normalized_logs(self.rule, log_belief), self.datum)

    def __repr__(self) -> str:
        return f"UpdateMap({self.rule!r}; datum {self.rule.model.data[self.datum]!r})"


@dataclass(frozen=True, eq=False, repr=False)
class TeachingMap:
    """Tau, the map from a belief to the teacher's distribution over data; see `teaching_map`.

    Attributes
    ----------
    rule : Rule
        Whose teacher it is.
    hypothesis : int
        The position of the hypothesis that is taught.
    """

    rule: Rule
    hypothesis: int

    def __call__(self, belief: ArrayLike) -> Array:
        """Return the teacher's distribution over data, (n,)."""
        return self.rule.teach(belief, self.hypothesis)

    def __repr__(self) -> str:
        name = self.rule.model.hypotheses[self.hypothesis]
        return f"TeachingMap({self.rule!r}; teaches {name!r})"


def update_map(rule: Rule, datum: int | str) -> UpdateMap:
    """Return T_d: called with a belief it gives the posterior; ``.inverse`` undoes it.

    Parameters
    ----------
    rule
        `SCBI` or `BI`.
    datum
        By position or label.

    Notes
    -----
    Section 3.2 of the paper; for BI it is the map B_d of Section 2.2.
    """
    return UpdateMap(rule, checked_rule(rule).model.datum_index(datum))


def teaching_map(rule: Rule, hypothesis: int | str) -> TeachingMap:
    """Return tau: called with a belief it gives the teacher's distribution over data.

    Parameters
    ----------
    rule
        `SCBI` or `BI`.
    hypothesis
        The one that is taught, by position or label.

    Notes
    -----
    Section 3.2 of the paper.
    """
    return TeachingMap(rule, checked_rule(rule).model.hypothesis_index(hypothesis))


def inverse_update(rule: Rule, posterior: ArrayLike, datum: int | str) -> Array:
    """Return the belief from which a datum leads to the given posterior, (m,).

    There is exactly one. Hypotheses that are ruled out after the datum were so before.

    Parameters
    ----------
    rule
        `SCBI` or `BI`.
    posterior
        A distribution over hypotheses.
    datum
        The datum that was observed, by position or label.

    Notes
    -----
    The paper states that T_d is a bijection; the inverse needs no iteration. The posterior is
    row d of ``S = diag(u) M diag(v)``, so ``v_j`` is ``posterior_j / M_dj`` up to a factor. Rows
    of S sum to one, which gives u, and its column sums are ``n theta``:

        ``theta_j = v_j / n * sum_i M_ij / sum_k M_ik v_k``.
    """
    row = checked_rule(rule).model.datum_index(datum)
    return np.exp(_log_inverse(rule, rule.log_belief(posterior, "posterior"), row))


def _log_inverse(rule: Rule, log_belief: Array, datum: int) -> Array:
    # A subclass may answer differently from its parent, so only these two types will do.
    if type(rule) is SCBI:
        log_matrix = np.log(rule.model.matrix)
        # Of M only its cross-ratios matter: dividing by row d leaves v equal to the posterior.
        log_matrix = log_matrix - log_matrix[datum]
        row_sums = np.logaddexp.reduce(log_matrix + log_belief, axis=1, keepdims=True)
        logs = log_belief + np.logaddexp.reduce(log_matrix - row_sums, axis=0)
    elif type(rule) is BI:
        logs = log_belief - np.log(rule.model.normalized()[datum])
    else:
        raise CobayesError(
            f"the inverse of the update of {type(rule).__name__} is not known.",
            "use cobayes.SCBI or cobayes.BI.",
        )
    return logs - np.logaddexp.reduce(logs)


def _normalized_logs(rule: Rule, log_belief: ArrayLike) -> Array:
    logs = as_floats(log_belief, copy=True, name="log-belief")
    if logs.shape != (rule.model.num_hypotheses,) or not (logs < np.inf).all():
        raise CobayesError(
            f"the log-belief is {logs}; expected one logarithm for each of the "
            f"{rule.model.num_hypotheses} hypotheses."
        )
    if logs.max() == -np.inf:
        raise CobayesError("the log-belief rules out every hypothesis.")
    return logs - np.logaddexp.reduce(logs)
