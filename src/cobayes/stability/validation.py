"""Checks that the functions of this folder share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes import model
from cobayes._input.validation import number_between, whole_number
from cobayes._runtime.limits import require_affordable, short_number
from cobayes.errors import CobayesError
from cobayes.model import MatrixLike
from cobayes.rules import SCBI, Rule
from cobayes.rules.base import in_every_round, require_teachable
from cobayes.theory.rates import rate_of_convergence


def as_rule(matrix: MatrixLike | Rule) -> Rule:
    """Return a rule that holds in all rounds, `SCBI` where a bare matrix was given."""
    return in_every_round(matrix if isinstance(matrix, Rule) else SCBI(matrix))


def require_same_world(teacher: Rule, learner: Rule) -> None:
    """Raise an error unless two rules are about the same data and hypotheses."""
    model.require_same_world(teacher.model, learner.model)


def has_zeros(rule: Rule) -> bool:
    """Tell whether a rule's table has zeros, so that data can exclude hypotheses."""
    return bool((rule.model.matrix == 0.0).any())


def is_scbi(rule: Rule) -> bool:
    """Tell whether a rule answers as SCBI does: a class that overrides `respond` need not."""
    return rule.closed_form == "scbi"


def martingale_law(rule: Rule) -> NDArray[np.float64] | None:
    """Return the law of data under which every belief is a martingale, (n,); None without one.

    SCBI on a table without zeros expects the data prior, whatever it believes.
    """
    if not is_scbi(rule) or has_zeros(rule):
        return None
    share = getattr(rule, "data_prior", None)
    count = rule.model.num_data
    return np.full(count, 1.0 / count) if share is None else np.asarray(share)


def common_law(teacher: Rule, learner: Rule) -> NDArray[np.float64] | None:
    """Return the law under which both agents' beliefs are martingales; None without one."""
    own, theirs = martingale_law(teacher), martingale_law(learner)
    if own is None or theirs is None or not np.array_equal(own, theirs):
        return None
    return own


def log_prior(
    rule: Rule, prior: ArrayLike | None, hypothesis: int | None, name: str
) -> NDArray[np.float64]:
    """Return the logarithms of a prior, which must not rule out what is taught."""
    found = rule.log_belief(prior, name)
    if hypothesis is not None:
        require_teachable(rule.model, found, hypothesis, name)
    return found


def at_least_one(value: Any, name: str, most: int | None = None) -> int:
    """Return an integer of at least one, and at most `most` where a limit is given."""
    count = whole_number(value, name, 1)
    if most is not None and count > most:
        raise CobayesError(f"{name} is {short_number(count)}; expected at most {most}.")
    return count


def require_affordable_lessons(
    rule: Rule,
    num_sequences: int,
    max_rounds: int,
    doubt: float,
    *,
    num_agents: int = 1,
    is_stored: bool = False,
) -> None:
    """Raise an error with an estimate where sequences of data would take too long.

    Parameters
    ----------
    rule
        Whose matrix sets the cost of a round and, by its rate, how many rounds there are.
    num_sequences, max_rounds, doubt
        How many sequences, and where each ends.
    num_agents
        How many beliefs follow every sequence.
    is_stored
        Whether the data are kept.
    """
    num_data, num_hypotheses = rule.model.shape
    count = float(min(num_sequences, 10**300))
    rounds = float(min(max_rounds, 10**300))
    nanoseconds = (100.0 + 3.0 * num_data * num_hypotheses) * num_agents
    if num_hypotheses > 1 and count * rounds * nanoseconds > 1e12:
        # At a rate R the log-odds reach log(1 / doubt) after about log(1 / doubt) / R rounds.
        rate = float(np.min(rate_of_convergence(rule.model)))
        rounds = min(rounds, 1.0 - 2.0 * np.log(doubt) / max(rate, 1e-300))
    require_affordable(
        f"{short_number(num_sequences)} sequences of about {rounds:.3g} rounds",
        "take fewer sequences (10,000 give two digits), or a smaller max_rounds.",
        seconds=1e-9 * nanoseconds * count * rounds,
        num_bytes=count * (2.0 * rounds + 8.0 * num_hypotheses) if is_stored else 0.0,
    )


def small_probability(value: float, name: str) -> float:
    """Return a number strictly between zero and one half."""
    return number_between(value, name, 0.0, 0.5, hint="1e-5 is the default.")
