"""Figure S1: the supplement's empirical formula for P of n x 2 matrices, and a new fit of it.

P is the probability that SCBI's mean rate is at least BI's. The formula is
-ln(1 - P) = a ln(x (x + 1) / (x - c)) + b x + d, with x the number of rows. The samples are those
of Figure 2 A and B, see `rates`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.paper.common import draw_points, new_axes, words, write_section
from cobayes.paper.rates import RED, draw_exceptions, label_axes, rates_experiment, rates_table
from cobayes.plots.house import BLUE, GREEN, GREY
from cobayes.report.claims import (
    ERROR_RATE,
    Claim,
    family_quantile,
    judge_interval,
    probability_text,
)
from cobayes.report.section import Context, Section

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

GUESS = {"a": 0.5, "c": 1.5, "b": 0.1, "d": -0.3}
"""The authors' values of the four parameters."""

# Our reading of the paper's "≈": an error in -ln(1 - P) of at most this, about 10 % of 1 - P.
_CLOSE = 0.1


# --- Numbers ---------------------------------------------------------------------------------


def empirical_formula(num_data: ArrayLike, a: float, c: float, b: float, d: float) -> Array:
    """Return -ln(1 - P) by the supplement's formula, see `GUESS`.

    With the authors' values the formula is 1 - P = sqrt((x - 1.5) / (x (x + 1))) exp(-0.1 x + 0.3).
    """
    x = np.asarray(num_data, dtype=float)
    return a * np.log(x * (x + 1.0) / (x - c)) + b * x + d


@dataclass(frozen=True)
class FormulaFit:
    """The formula fitted to data by weighted least squares.

    Attributes
    ----------
    values, stderrs : ndarray
        The four parameters in the order of `GUESS`.
    misfit : float
        Standard deviation of the formula's own error in -ln(1 - P), estimated from the residuals;
        zero if the sampling errors explain the residuals.
    chi_square, guess_chi_square : float
        Sum of (residual / sampling error)² for the parameters of a fit without `misfit`, and for
        the authors' parameters.
    chance, guess_chance : float
        The p-values of these two sums: the probability of a larger sum if the formula were exact.
    num_points : int
        The number of sizes at which BI was faster on at least one matrix.
    """

    values: Array
    stderrs: Array
    misfit: float
    chi_square: float
    guess_chi_square: float
    chance: float
    guess_chance: float
    num_points: int


def fit_formula(rates: pd.DataFrame) -> FormulaFit:
    """Fit the formula's four parameters by weighted least squares.

    If the sampling errors are too small to explain the residuals, a common variance is added to the
    sampling variance at every size. Without this variance the fit would depend almost only on the
    sizes with the smallest errors.
    """
    from scipy.optimize import brentq, curve_fit
    from scipy.special import gammaincc

    seen = rates[rates.num_exceptions > 0]
    names = ("size", "minus_log", "minus_log_stderr")
    x, y, error = (np.asarray(seen[name], float) for name in names)
    # The logarithm's argument must stay positive at the smallest size.
    bounds = (-np.inf, [np.inf, x.min() - 1e-6, np.inf, np.inf])
    guess, degrees = np.array([*GUESS.values()]), len(x) - len(GUESS)

    def fit(misfit: float) -> tuple[Array, Array]:
        sigma = np.hypot(error, misfit)
        return curve_fit(
            empirical_formula, x, y, guess, sigma=sigma, absolute_sigma=True, bounds=bounds
        )

    def chi_square(parameters: Array, misfit: float = 0.0) -> float:
        rest = y - empirical_formula(x, *parameters)
        return float(((rest / np.hypot(error, misfit)) ** 2).sum())

    statistics = np.array([chi_square(fit(0.0)[0]), chi_square(guess)])
    chances = gammaincc(0.5 * np.array([degrees, len(x)]), 0.5 * statistics)
    misfit: Any = 0.0
    if chances[0] < ERROR_RATE:
        misfit = brentq(lambda s: chi_square(fit(s)[0], s) - degrees, 0.0, 1.0, xtol=1e-6)
    values, covariance = fit(misfit)
    return FormulaFit(
        values, np.sqrt(np.diag(covariance)), misfit, *statistics, *chances, num_points=len(x)
    )


def formula_errors(rates: pd.DataFrame) -> tuple[Array, Array]:
    """Return lower and upper bounds on the absolute error of the authors' formula.

    There is one pair for each size at which BI was faster on at least one matrix.
    """
    seen = rates[rates.num_exceptions > 0]
    off = np.abs(seen.minus_log - empirical_formula(seen["size"], **GUESS)).to_numpy()
    noise = family_quantile(len(seen)) * seen.minus_log_stderr.to_numpy()
    return np.maximum(off - noise, 0.0), off + noise


# --- Claim -----------------------------------------------------------------------------------


def judge_formula(fit: FormulaFit, rates: pd.DataFrame) -> Claim:
    """Judge the claim that the authors' formula approximates -ln(1 - P)."""
    least, most = formula_errors(rates)
    ends = np.array([least.max(), most.max()])
    numbers = {"ends": ends, "shares": 100.0 * np.expm1(ends), "fit": fit, "limit": _CLOSE}
    numbers |= {"errors": rates.minus_log_stderr, "p": probability_text(fit.guess_chance)}
    return judge_interval(**words("formula", **numbers), low=least, high=most, below=_CLOSE)


# --- Section ---------------------------------------------------------------------------------


def build(context: Context) -> Section:
    """Build the section of Figure S1 from the run of Figure 2 A, B."""
    context.tell("random n × 2 matrices, shared with figure 2")
    rates = rates_table("n-by-2", context.run(rates_experiment(context, "n-by-2")))
    fit = fit_formula(rates)
    seen = rates[rates.num_exceptions > 0]
    formula = empirical_formula(seen["size"], **GUESS)
    fitted = empirical_formula(seen["size"], *fit.values)
    numbers = seen.assign(
        formula=formula,
        fitted=fitted,
        residual=seen.minus_log - formula,
        residual_of_fit=seen.minus_log - fitted,
    )
    return write_section(
        "figure-s1",
        values={
            "fit": fit,
            "rates": rates,
            "guess": GUESS,
            "worst": formula_errors(rates)[0].max(),
            "residuals": numbers.residual,
        },
        figures=_formula_pictures(rates, numbers, fit),
        data={"figure-s1": numbers},
        claims=(judge_formula(fit, rates),),
    )


# --- Pictures --------------------------------------------------------------------------------


def _formula_pictures(
    rates: pd.DataFrame, numbers: pd.DataFrame, fit: FormulaFit
) -> dict[str, Figure]:
    grid = np.linspace(2.0, rates["size"].to_numpy().max(), 300)
    curve, ax = new_axes(4.8, 3.2)
    draw_exceptions(rates, ax)
    ax.plot(grid, empirical_formula(grid, **GUESS), color=RED, label="the authors’ formula")
    ax.plot(grid, empirical_formula(grid, *fit.values), "--", color=GREEN, label="fitted anew")
    ax.legend(fontsize=8.5)
    rest, ax = new_axes(4.8, 3.2)
    for column, color, marker, face, shift, label in (
        ("residual", BLUE, "o", BLUE, -0.15, "data minus the authors’ formula"),
        ("residual_of_fit", GREEN, "D", "none", 0.15, "data minus the fit"),
    ):
        style = {"color": color, "marker": marker, "markerfacecolor": face, "label": label}
        errors = 2.0 * numbers.minus_log_stderr
        draw_points(ax, numbers["size"] + shift, numbers[column], errors, **style)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.margins(y=0.2)
    label_axes(ax, rates, "residual of −ln(1 − P)")
    ax.legend(fontsize=8.5)
    return {"figure-S1": curve, "figure-S1-residuals": rest}
