"""Comparison of fits: information criteria, cross-validation, LOO, exceedance."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any

import numpy as np
import pandas as pd
from scipy import special

from cobayes._input.validation import instance, whole_number
from cobayes._output import probability_text
from cobayes.errors import CobayesError, import_optional
from cobayes.people.choices import COLUMNS
from cobayes.people.exceedance import Exceedance, exceedance
from cobayes.people.likelihood import Likelihood
from cobayes.people.maximise import climb, maximise
from cobayes.people.result import Fit, Progress, group_rows, teller

# Kass and Raftery (1995) call a difference in BIC below WEAK "not worth more than a bare mention",
# and a difference above STRONG "very strong".
WEAK, STRONG = 2.0, 10.0
# A model is called the most frequent if its protected exceedance probability is at least this.
CONVINCING = 0.95
# PSIS-LOO gives every draw a weight, and fits a Pareto distribution to at most the largest fifth of
# the weights. The fit needs at least five weights.
LEAST_DRAWS = 25
# Models are tied if their log evidences for a person differ by less than this.
TIE = 1e-3


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """Several fits to the same responses.

    Attributes
    ----------
    table : DataFrame
        One row per model, the lowest BIC first, with the columns ``log_likelihood``,
        ``per_response`` (its mean over responses), ``num_parameters``, ``aic`` and ``bic``. If all
        fits are by person, also ``num_best`` (the number of people for whom every other model has a
        higher BIC), ``frequency``, ``exceedance`` and ``protected`` (see `Exceedance`). If
        requested, also ``cross_validated``, ``loo``, ``loo_stderr`` and ``loo_unreliable`` (the
        number of responses whose Pareto k exceeds 0.7).
    by_person : DataFrame or None
        Log evidence of every model for every person, -BIC / 2; None unless all fits are by person.
    exceedance : Exceedance or None
        The frequencies of the models, from `by_person`; None unless all fits are by person.
    chance : float
        Log-likelihood if all available options have equal probability; NaN for ratings.
    conclusion : str
        The result in words, with its limitations.

    Examples
    --------
    >>> import cobayes as cb
    >>> fit = cb.people.fit(*cb.people.example_study(), cb.people.Family(depth=(0, 1)))
    >>> comparison = cb.people.compare({"0": fit.at_depth(0), "1": fit.at_depth(1)}, loo=False)
    >>> list(comparison.table.index)
    ['1', '0']
    """

    table: pd.DataFrame
    by_person: pd.DataFrame | None
    exceedance: Exceedance | None
    chance: float
    conclusion: str

    def __repr__(self) -> str:
        return f"{self.table.to_string(formatters=self._formats())}\n{self.conclusion}"

    def _repr_html_(self) -> str:
        shown = self.table.to_html(formatters=self._formats())
        return f"{shown}<p>{escape(self.conclusion)}</p>"

    def _formats(self) -> Any:
        """Return the format of each column: one decimal, more for probabilities and means."""
        found: dict[str, Any] = dict.fromkeys(self.table.select_dtypes(float), "{:.1f}".format)
        found |= dict.fromkeys(("frequency", "exceedance", "protected"), probability_text)
        return found | {"per_response": "{:.3f}".format}


def compare(
    fits: Mapping[str, Fit],
    *,
    loo: bool = True,
    cross_validation: bool = False,
    num_draws: int = 400,
    rng: Any = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Compare fits of different families to the same responses.

    Parameters
    ----------
    fits
        A mapping from the name of each model to its fit.
    loo
        Whether to estimate leave-one-response-out predictions (PSIS-LOO of ArviZ).
    cross_validation
        Whether to predict every person from the pooled fit of all others; see `cross_validate`.
    num_draws, rng
        The number of posterior draws for LOO, and their seed.
    progress
        A function that is called with a text and the finished share, 0 to 1.

    Returns
    -------
    Comparison
        A table of the models, the lowest BIC first, and a text with the conclusion.

    Examples
    --------
    >>> from cobayes import people
    >>> problems = {"coins": [[0.9, 0.5], [0.1, 0.5]]}
    >>> truth = {"depth": 1, "rationality": 2.0}
    >>> choices = people.simulate(truth, problems, num_people=4, num_rounds=30, rng=1)
    >>> literal = people.fit(choices, problems, people.Family(depth=0, lapse=0.0))
    >>> social = people.fit(choices, problems, people.Family(depth=1, lapse=0.0))
    >>> people.compare({"literal": literal, "social": social}, loo=False).table.index[0]
    'social'
    """
    _require_same_responses(fits)
    whole_number(num_draws, "num_draws", LEAST_DRAWS)
    first = next(iter(fits.values()))
    sums = ["log_likelihood", "num_parameters", "aic", "bic"]
    table = pd.DataFrame({name: fit.estimates[sums].sum() for name, fit in fits.items()}).T
    table = table.astype({"num_parameters": int})
    table.insert(1, "per_response", table["log_likelihood"] / len(first.choices))
    by_person = found = None
    if all(fit.by == "person" for fit in fits.values()):
        own = {name: fit.estimates.set_index("person")["bic"] for name, fit in fits.items()}
        by_person = -0.5 * pd.DataFrame(own)
        evidence = by_person.to_numpy()
        found = exceedance(evidence)
        is_best = evidence > evidence.max(axis=1, keepdims=True) - TIE
        is_best &= is_best.sum(axis=1, keepdims=True) == 1
        table["num_best"] = is_best.sum(axis=0)
        shares = [found.frequencies, found.exceedance, found.protected]
        table[["frequency", "exceedance", "protected"]] = np.transpose(shares)
    tell = teller(progress)
    for number, (name, fit) in enumerate(fits.items()):
        if cross_validation:
            tell(f"cross-validation of {name}", number / len(fits))
            table.loc[name, "cross_validated"] = cross_validate(fit)["log_likelihood"].sum()
        if loo:
            tell(f"LOO of {name}", (number + 0.5 * cross_validation) / len(fits))
            table.loc[name, ["loo", "loo_stderr", "loo_unreliable"]] = _loo(fit, num_draws, rng)
    chance, table = _chance(first), table.sort_values("bic", kind="stable")
    return Comparison(table, by_person, found, chance, _conclude(table, chance))


def _require_same_responses(fits: Any) -> None:
    expected = 'a mapping from names to fits, such as {"literal": fit_a, "scbi": fit_b}'
    for fit in instance(fits, Mapping, "fits", expected).values():
        instance(fit, Fit, "one of the fits", expected)
    if not fits:
        raise CobayesError("there is no fit to compare.", f"give {expected}.")
    (one, first), *others = fits.items()
    columns = [name for name in COLUMNS[first.family.response] if name in first.choices.frame]
    rows = first.choices.frame[columns].reset_index(drop=True)
    for name, fit in others:
        is_same = fit.units == first.units and fit.family.response == first.family.response
        if not (is_same and rows.equals(fit.choices.frame[columns].reset_index(drop=True))):
            raise CobayesError(
                f"the fits {one!r} and {name!r} are not of the same responses and units.",
                "fit both families to the same table, with the same 'by'.",
            )


def cross_validate(fit: Fit) -> pd.DataFrame:
    """Return the log-likelihood of every person under the pooled fit of all other people.

    Depth and parameters are estimated from the other people only. People are pooled, because a
    separate fit of each person does not predict a new person.

    Parameters
    ----------
    fit
        A fit with the responses and the family; its estimates are not used.

    Returns
    -------
    DataFrame
        One row per person: ``person``, ``depth`` (the best depth of the other people) and
        ``log_likelihood``.

    Examples
    --------
    >>> import cobayes as cb
    >>> fit = cb.people.fit(*cb.people.example_study(), cb.people.Family(depth=(0, 1)))
    >>> list(cb.people.cross_validate(fit).columns)
    ['person', 'depth', 'log_likelihood']
    """
    family = instance(fit, Fit, "fit", "what people.fit returns").family
    if "person" not in fit.choices.frame:
        raise CobayesError(
            "cross-validation leaves out people, but the table has no column 'person'.",
            "leave cross-validation out.",
        )
    people, groups = group_rows(fit.choices, "person")
    if len(people) < 2:
        raise CobayesError("cross-validation needs at least two people.")
    training, held_out = np.full((2, len(people), len(family.depth)), -np.inf)
    everybody = np.arange(len(people))
    for number, depth in enumerate(family.depth):
        own = Likelihood(fit.choices, family, depth, groups)
        start = climb(own.take(everybody, is_pooled=True)).parameters
        for person in everybody:
            others = own.take(everybody[everybody != person], is_pooled=True)
            found = maximise(others.evaluate, start, own.low, own.high)
            training[person, number] = found.value[0]
            alone = own.take(everybody[person : person + 1])
            held_out[person, number] = alone.log_likelihoods(found.parameters)[0]
    best = np.argmax(training, axis=1)
    depths = np.array(family.depth, dtype=np.float64)[best]
    values = held_out[everybody, best]
    return pd.DataFrame({"person": people, "depth": depths, "log_likelihood": values})


def _loo(fit: Fit, num_draws: int, rng: Any) -> tuple[float, float, float]:
    """Return the columns ``loo``, ``loo_stderr`` and ``loo_unreliable`` of `Comparison.table`."""
    stats = import_optional("arviz_stats", "people", "LOO")
    tree = fit.to_arviz(num_draws, rng)
    draws = np.asarray(tree["log_likelihood"]["response"]).reshape(-1, len(fit.choices))
    points = np.log(len(draws)) - special.logsumexp(-draws, axis=0)
    # For each response, the weight of a draw is 1 / likelihood. If the largest weights are equal,
    # no Pareto tail can be fitted, and no smoothing is needed.
    tail = np.sort(draws, axis=0)[: max(5, len(draws) // 20)]
    varied = np.flatnonzero(np.ptp(tail, axis=0) > 1e-9)
    unreliable = 0
    if len(varied):
        with warnings.catch_warnings():
            # ArviZ warns about large Pareto k; `Comparison.table` shows their number instead.
            warnings.simplefilter("ignore")
            chosen = tree.isel(row=varied, missing_dims="ignore")
            found = stats.loo(chosen, var_name="response", pointwise=True)
        smoothed = np.asarray(found.elpd_i, dtype=np.float64).ravel()
        # With nearly equal weights the smoothed value can be NaN; the raw value is used then.
        points[varied] = np.where(np.isnan(smoothed), points[varied], smoothed)
        unreliable = (np.asarray(found.pareto_k) > 0.7).sum()
    return float(points.sum()), float(np.sqrt(len(points) * points.var())), float(unreliable)


def _chance(fit: Fit) -> float:
    """Return `Comparison.chance`."""
    if fit.family.response == "rating":
        return float("nan")
    likelihood = fit.likelihood(fit.family.depth[0])
    values = np.tile(likelihood.low, (likelihood.num_units, 1))
    return float(np.log(likelihood.scores(values).even.max(axis=1)).sum())


def _conclude(table: pd.DataFrame, chance: float) -> str:
    names = [repr(str(name)) for name in table.index]
    logs, bic = table["log_likelihood"].tolist(), table["bic"].tolist()
    parts = [f"Only one model, {names[0]}, was fitted: nothing is compared."]
    if len(names) > 1:
        lead, gain = bic[1] - bic[0], logs[0] - logs[1]
        verdict = f"cannot be distinguished from {names[1]} by BIC (difference {lead:.1f})"
        if lead >= WEAK:
            how = "strongly" if lead >= STRONG else "weakly"
            verdict = f"is {how} preferred by BIC (by {lead:.1f} over {names[1]})"
        parts = [f"Over all responses {names[0]} {verdict}."]
        if lead >= WEAK and 2.0 * gain < lead / 2.0:
            parts.append(
                "Most of this difference comes from fewer identified parameters: the log-likelihood"
                f" is {abs(gain):.1f} {'larger' if gain > 0 else 'smaller'} than for {names[1]}."
            )
        other = names[int(table["aic"].argmin())]
        if other != names[0]:
            parts.append(f"AIC prefers {other}: the result depends on the penalty for parameters.")
    if "protected" in table.columns and len(names) > 1:
        winner = int(table["protected"].argmax())
        share, protected = table[["frequency", "protected"]].to_numpy()[winner]
        parts.append(
            f"Among people {names[winner]} is the most frequent model (protected exceedance "
            f"probability {probability_text(protected)}, expected share {share:.2f})."
            if protected >= CONVINCING
            else "Which model is the most frequent among people is open: the highest protected "
            f"exceedance probability is {probability_text(protected)} ({names[winner]})."
        )
    if chance < 0.0:
        gain = (logs[0] - chance) / abs(chance)
        parts.append(
            f"The log-likelihood of the best model is {100.0 * gain:.1f} % closer to zero than "
            f"that of chance ({chance:.1f}: equal probabilities of all options)."
            if gain > 0.0
            else f"The best model is no better than chance ({chance:.1f})."
        )
        parts.append(
            "The best model can still describe the data badly: compare predicted with observed "
            "frequencies."
        )
    return " ".join(parts)
