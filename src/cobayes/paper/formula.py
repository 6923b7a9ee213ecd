"""Figure S1: the supplement's empirical formula for P of n x 2 matrices, tested and fitted anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.paper.common import new_figure, write_section
from cobayes.paper.rates import (
    RED,
    TOPIC,
    draw_exceptions,
    finish,
    rates_experiment,
    rates_table,
)
from cobayes.plots.house import BLUE, GREEN, GREY
from cobayes.report.claims import (
    ERROR_RATE,
    SURE,
    Claim,
    about,
    family_quantile,
    judge_interval,
    probability_text,
)
from cobayes.report.section import Context, Section, Table

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

PARAMETERS = ("a", "c", "b", "d")
GUESS = (0.5, 1.5, 0.1, -0.3)
"""The authors' values: -ln(1 - P) = a ln(x (x + 1) / (x - c)) + b x + d."""

# Our reading of "≈", in -ln(1 - P): a tenth of 1 - P.
_CLOSE = 0.1


def empirical_formula(num_data: ArrayLike, a: float, c: float, b: float, d: float) -> Array:
    """Return -ln(1 - P) by the supplement's formula, see `GUESS`.

    With the authors' values this is 1 - P = sqrt((x - 1.5) / (x (x + 1))) exp(-0.1 x + 0.3).
    """
    x = np.asarray(num_data, dtype=float)
    return a * np.log(x * (x + 1.0) / (x - c)) + b * x + d


@dataclass(frozen=True)
class Fit:
    """The formula fitted to data by weighted least squares.

    Attributes
    ----------
    values, stderrs : ndarray
        The four parameters in the order of `PARAMETERS`.
    misfit : float
        Standard deviation in -ln(1 - P) that must be added to the sampling errors to explain the
        residuals; zero where they do by themselves.
    chi_square, guess_chi_square : float
        Sum of squared residuals in sampling errors: of the best fit, and of the authors' guess.
    chance, guess_chance : float
        The probability of larger residuals if the form, or the authors' formula, were exact.
    num_points : int
        Sizes with exceptions.
    """

    values: Array
    stderrs: Array
    misfit: float
    chi_square: float
    guess_chi_square: float
    chance: float
    guess_chance: float
    num_points: int


def fit_formula(rates: pd.DataFrame) -> Fit:
    """Fit the formula's four parameters by weighted least squares.

    Where the sampling errors are too small to explain the residuals, a common variance is added
    to all of them until they do: else the fit would heed only the sizes that are known best.
    """
    from scipy.optimize import brentq, curve_fit
    from scipy.special import gammaincc

    seen = rates[rates.num_exceptions > 0]
    x, y, error = (seen[name].to_numpy(float) for name in ("size", "minus_log", "minus_log_stderr"))
    # The logarithm's argument must stay positive at the smallest size.
    bounds = ((-np.inf, -np.inf, -np.inf, -np.inf), (np.inf, x.min() - 1e-6, np.inf, np.inf))
    degrees = len(x) - len(GUESS)

    def fit(misfit: float) -> tuple[Array, Array]:
        options: dict[str, Any] = {
            "sigma": np.hypot(error, misfit),
            "absolute_sigma": True,
            "bounds": bounds,
        }
        return curve_fit(empirical_formula, x, y, p0=GUESS, **options)

    def chi_square(parameters: ArrayLike, misfit: float = 0.0) -> float:
        rest = y - empirical_formula(x, *np.asarray(parameters))
        return float(((rest / np.hypot(error, misfit)) ** 2).sum())

    def chance(statistic: float, count: int) -> float:
        return float(gammaincc(0.5 * count, 0.5 * statistic))

    best, guess = chi_square(fit(0.0)[0]), chi_square(GUESS)
    misfit: Any = 0.0
    if chance(best, degrees) < ERROR_RATE:
        misfit = brentq(lambda s: chi_square(fit(s)[0], s) - degrees, 0.0, 1.0, xtol=1e-6)
    values, covariance = fit(misfit)
    chances = chance(best, degrees), chance(guess, len(x))
    return Fit(values, np.sqrt(np.diag(covariance)), misfit, best, guess, *chances, len(x))


def formula_errors(rates: pd.DataFrame) -> tuple[Array, Array]:
    """Return by how much the authors' formula is off at least, and at most, at each size."""
    seen = rates[rates.num_exceptions > 0]
    off = np.abs(seen.minus_log - empirical_formula(seen["size"], *GUESS)).to_numpy()
    noise = family_quantile(len(seen), two_sided=True) * seen.minus_log_stderr.to_numpy()
    return np.maximum(off - noise, 0.0), off + noise


def judge_formula(fit: Fit, rates: pd.DataFrame) -> Claim:
    """Judge the authors' approximate formula."""
    least, most = formula_errors(rates)
    worst, errors = float(least.max()), rates.minus_log_stderr
    return judge_interval(
        "−ln(1 − P) ≈ ½ ln(x(x + 1)/(x − 1.5)) + 0.1x − 0.3 for n × 2 matrices",
        "Figure S1",
        least,
        most,
        below=_CLOSE,
        measured=f"off by {worst:.3f} at least and {most.max():.3f} at most in −ln(1 − P), that is,"
        f" by {100 * np.expm1(worst):.1f} to {100 * np.expm1(most.max()):.1f} % of 1 − P; as an "
        f"exact formula: χ² = {fit.guess_chi_square:.0f} for {fit.num_points} sizes, "
        f"{probability_text(fit.guess_chance)}; fitted anew χ² = {fit.chi_square:.0f}",
        uncertainty=f"standard errors {errors.min():.1g} to {errors.max():.1g}",
        rule=f"at every size the formula is off by less than {_CLOSE:g} in −ln(1 − P), with its "
        f"interval ({SURE} for all); that limit is our reading of “≈”",
    )


def build(context: Context) -> Section:
    """Build the section from the run of Figure 2 A, B."""
    context.tell("random n × 2 matrices, shared with figure 2")
    rates = rates_table("n-by-2", context.run(rates_experiment(context, "n-by-2")))
    fit = fit_formula(rates)
    seen = rates[rates.num_exceptions > 0]
    numbers = seen.assign(
        formula=empirical_formula(seen["size"], *GUESS),
        fitted=empirical_formula(seen["size"], *fit.values),
    )
    numbers["residual"] = numbers.minus_log - numbers.formula
    numbers["residual_of_fit"] = numbers.minus_log - numbers.fitted
    return write_section(
        "figure-s1",
        values={
            "fit": fit,
            "rates": rates,
            "degrees": fit.num_points - len(GUESS),
            "worst": float(formula_errors(rates)[0].max()),
            "residuals": numbers.residual,
            "error_rate": ERROR_RATE,
        },
        figures=_pictures(rates, fit),
        tables={"parameters": _parameters_table(fit)},
        data={"figure-s1": numbers},
        claims=about(TOPIC, judge_formula(fit, rates)),
        sizes=f"{rates.num_samples.iloc[0]:,} matrices for each of {len(rates)} sizes, the run of "
        "figure 2.",
    )


def _parameters_table(fit: Fit) -> Table:
    rows = []
    for name, guess, value, error in zip(PARAMETERS, GUESS, fit.values, fit.stderrs, strict=True):
        away = abs(value - guess) / error
        sign = "✓" if away <= 3.0 else "△"
        rows.append((name, f"{guess:g}", f"{value:.4f} ± {error:.4f}", f"{sign} {away:.1f}"))
    return Table(
        "The four numbers, guessed and fitted by weighted least squares (± standard error).",
        ("parameter", "guess", "fitted", "apart, in standard errors"),
        tuple(rows),
    )


def _pictures(rates: pd.DataFrame, fit: Fit) -> dict[str, Figure]:
    grid = np.linspace(2.0, rates["size"].to_numpy().max(), 300)
    curve, rest = new_figure(4.8, 3.2), new_figure(4.8, 3.2)
    ax = curve.subplots()
    draw_exceptions(rates, ax, "number of rows n")
    ax.plot(grid, empirical_formula(grid, *GUESS), color=RED, label="the authors’ formula")
    fitted = empirical_formula(grid, *fit.values)
    ax.plot(grid, fitted, "--", color=GREEN, label="fitted anew")
    ax.legend(fontsize=8.5)
    ax = rest.subplots()
    for parameters, color, marker, face, shift, label in (
        (GUESS, BLUE, "o", BLUE, -0.15, "data less the authors’ formula"),
        (fit.values, GREEN, "D", "none", 0.15, "data less the fit"),
    ):
        residuals = rates.minus_log - empirical_formula(rates["size"], *parameters)
        style: dict[str, Any] = {
            "color": color,
            "marker": marker,
            "markerfacecolor": face,
            "linestyle": "none",
        }
        bars: dict[str, Any] = {"yerr": 2.0 * rates.minus_log_stderr, "elinewidth": 0.8}
        ax.errorbar(rates["size"] + shift, residuals, markersize=3, label=label, **bars, **style)
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.margins(y=0.2)
    finish(ax, "number of rows n", "residual of −ln(1 − P)")
    ax.legend(fontsize=8.5)
    return {"figure-S1": curve, "figure-S1-residuals": rest}
