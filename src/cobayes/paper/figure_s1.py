"""Figure S1: the supplement's empirical formula for P of n x 2 matrices, tested and fitted anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.paper.figure2_claims import GUESS, PARAMETERS, empirical_formula
from cobayes.paper.rate_experiments import Family, family_of, rates_experiment
from cobayes.report.claims import (
    ERROR_RATE,
    SURE,
    Claim,
    about,
    family_quantile,
    probability_text,
    verdict_of,
)
from cobayes.report.data_table import DataTable, column
from cobayes.report.prose import read_prose, written_section
from cobayes.report.section import Cell, Context, Picture, Section, Table

Array = NDArray[np.float64]

TOPIC = "Section 4.1: which rule is faster"

# A formula that is off by less than this in -ln(1 - P) gives 1 - P to a tenth of itself.
_CLOSE = 0.1


@dataclass(frozen=True)
class Fit:
    """The formula fitted to data by weighted least squares.

    Attributes
    ----------
    values, stderrs : ndarray
        The four parameters in the order of `PARAMETERS`.
    misfit : float
        By how much the form itself is off, as a standard deviation in -ln(1 - P): what must be
        added to the sampling errors to explain the residuals. Zero where they do by themselves.
    chi_square, guess_chi_square : float
        Sum of squared residuals in sampling errors: of the best fit without a misfit, and of the
        authors' guess.
    num_points : int
        How many sizes had exceptions and could be used.
    """

    values: Array
    stderrs: Array
    misfit: float
    chi_square: float
    guess_chi_square: float
    num_points: int

    @property
    def chance(self) -> float:
        """The probability of a worse fit, were the form exact."""
        return _chance(self.chi_square, self.num_points - len(GUESS))

    @property
    def guess_chance(self) -> float:
        """The probability of larger residuals, were the authors' formula exact."""
        return _chance(self.guess_chi_square, self.num_points)


def fit_formula(num_data: ArrayLike, minus_log: ArrayLike, stderr: ArrayLike) -> Fit:
    """Fit the formula's four parameters by weighted least squares.

    Parameters
    ----------
    num_data
        The numbers of rows.
    minus_log, stderr
        -ln(1 - P) and its standard error; sizes where they are not finite are left out.

    Notes
    -----
    Where the sampling errors are too small to explain the residuals, a common variance is added
    to all of them until they do: else the fit would heed only the sizes that are known best.
    """
    from scipy.optimize import brentq, curve_fit

    x, y, error = (np.asarray(v, dtype=float) for v in (num_data, minus_log, stderr))
    usable = np.isfinite(y) & np.isfinite(error)
    x, y, error = x[usable], y[usable], error[usable]
    # The logarithm's argument must stay positive at the smallest size.
    bounds = ((-np.inf, -np.inf, -np.inf, -np.inf), (np.inf, x.min() - 1e-6, np.inf, np.inf))
    degrees = len(x) - len(GUESS)

    def fit(misfit: float) -> tuple[Array, Array]:
        errors = np.hypot(error, misfit)
        return curve_fit(
            empirical_formula, x, y, p0=GUESS, sigma=errors, absolute_sigma=True, bounds=bounds
        )

    def chi_square(parameters: ArrayLike, misfit: float = 0.0) -> float:
        rest = y - empirical_formula(x, *np.asarray(parameters))
        return float(((rest / np.hypot(error, misfit)) ** 2).sum())

    best = chi_square(fit(0.0)[0])
    misfit = 0.0
    if _chance(best, degrees) < ERROR_RATE:
        root: Any = brentq(lambda s: chi_square(fit(s)[0], s) - degrees, 0.0, 1.0, xtol=1e-6)
        misfit = float(root)
    values, covariance = fit(misfit)
    return Fit(values, np.sqrt(np.diag(covariance)), misfit, best, chi_square(GUESS), len(x))


def deviations(minus_log: Array, stderr: Array, num_data: Array) -> tuple[Array, Array]:
    """Return how far the authors' formula is off at least, and at most, at each size.

    Parameters
    ----------
    minus_log, stderr
        -ln(1 - P) and its standard error; sizes where they are not finite do not count.
    num_data
        The numbers of rows.
    """
    seen = np.isfinite(minus_log) & np.isfinite(stderr)
    off = np.abs(minus_log[seen] - empirical_formula(num_data[seen], *GUESS))
    noise = family_quantile(int(seen.sum()), two_sided=True) * stderr[seen]
    return np.maximum(off - noise, 0.0), off + noise


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("random n × 2 matrices, shared with figure 2")
    experiment = rates_experiment(context, "n-by-2")
    two = family_of("n-by-2", context.run(experiment))
    fit = fit_formula(two.size, two.minus_log, two.minus_log_stderr)
    least, most = deviations(two.minus_log, two.minus_log_stderr, two.size)
    worst = float(least.max())
    claim = judge_formula(fit, least, most, two)
    return written_section(
        read_prose("cobayes.paper.prose", "figure-s1"),
        values={"verdict": _verdict_in_words(fit, worst)},
        parts={"pictures": _pictures(two, fit), "parameters": _table(fit)},
        data=(_data(two, fit),),
        claims=about(TOPIC, claim),
        sizes=f"{two.num_samples:,} matrices for each of {len(two.size)} sizes, the run of "
        "figure 2.",
    )


def judge_formula(fit: Fit, least: Array, most: Array, two: Family) -> Claim:
    """Judge the authors' approximate formula.

    Parameters
    ----------
    fit
        Fit of the formula to the data.
    least, most
        Of `deviations`.
    two
        The data.
    """
    worst = float(least.max())
    return Claim(
        "−ln(1 − P) ≈ ½ ln(x(x + 1)/(x − 1.5)) + 0.1x − 0.3 for n × 2 matrices",
        "Figure S1",
        verdict_of(most < _CLOSE, least > _CLOSE),
        f"off by {worst:.3f} at least and {most.max():.3f} at most in −ln(1 − P), that is, by "
        f"{100 * np.expm1(worst):.1f} to {100 * np.expm1(most.max()):.1f} % of 1 − P; it is not "
        f"exact: χ² = {fit.guess_chi_square:.0f} for {fit.num_points} sizes, "
        f"{probability_text(fit.guess_chance)}; fitted anew χ² = {fit.chi_square:.0f}",
        f"standard errors {np.nanmin(two.minus_log_stderr):.1g} to "
        f"{np.nanmax(two.minus_log_stderr):.1g}",
        f"at every size the formula is off by less than {_CLOSE:g} in −ln(1 − P), with its "
        f"interval ({SURE} for all); that limit is our reading of “≈”",
    )


def _verdict_in_words(fit: Fit, worst: float) -> str:
    if fit.guess_chance >= ERROR_RATE:
        start = "The authors’ guess is within the sampling error of these data."
    else:
        start = (
            "The authors’ guess is not within the sampling error of these data "
            f"(χ² = {fit.guess_chi_square:.0f} for {fit.num_points} sizes), but it is "
            + ("a good summary" if worst < _CLOSE else "off")
            + f": where it is worst it is off by {worst:.3f} in −ln(1 − P), beyond the noise."
        )
    if fit.chance >= ERROR_RATE:
        return f"{start} The form itself, with the four numbers fitted, cannot be told from them."
    return (
        f"{start} Nor does the form itself with any four numbers fit within the error "
        f"(χ² = {fit.chi_square:.0f} with {fit.num_points - len(GUESS)} degrees of freedom): it "
        f"is a description, not a law, good to about {fit.misfit:.3f} (standard deviation). The "
        "fit and the errors in the table take that into account."
    )


def _pictures(two: Family, fit: Fit) -> tuple[Picture, Picture]:
    from matplotlib.figure import Figure

    from cobayes.plots.house import BLUE, GREEN, GREY, count_in_whole_numbers, tidy
    from cobayes.plots.rates import RED, plot_exceptions

    grid = np.linspace(2.0, float(two.size.max()), 300)
    curve, rest = (Figure(figsize=(4.8, 3.2), layout="constrained") for _ in range(2))
    ax = plot_exceptions(two.size, two.minus_log, *two.minus_log_interval(), ax=curve.subplots())
    ax.plot(grid, empirical_formula(grid, *GUESS), color=RED, label="the authors’ formula")
    ax.plot(
        grid,
        empirical_formula(grid, *fit.values),
        color=GREEN,
        linestyle="--",
        label="fitted anew",
    )
    ax.legend(frameon=False, fontsize=8.5)
    ax = rest.subplots()
    for parameters, color, marker, shift, label in (
        (GUESS, BLUE, "o", -0.15, "data less the authors’ formula"),
        (fit.values, GREEN, "D", 0.15, "data less the fit"),
    ):
        ax.errorbar(
            two.size + shift,
            two.minus_log - empirical_formula(two.size, *parameters),
            yerr=2.0 * two.minus_log_stderr,
            color=color,
            linestyle="none",
            marker=marker,
            markersize=3,
            markerfacecolor=color if marker == "o" else "none",
            elinewidth=0.8,
            label=label,
        )
    ax.axhline(0.0, color=GREY, linewidth=0.8)
    ax.set_xlabel("number of rows n")
    ax.set_ylabel("residual of −ln(1 − P)")
    ax.margins(y=0.2)
    count_in_whole_numbers(ax)
    tidy(ax)
    ax.legend(frameon=False, fontsize=8.5)
    left = two.minus_log - empirical_formula(two.size, *GUESS)
    return (
        Picture(
            "figure-S1",
            curve,
            "−ln(1 − P) for n × 2 matrices with the authors’ formula and our fit of it.",
            f"Points rise from {two.minus_log[0]:.2f} at n = 2 to {two.minus_log[-1]:.2f} at "
            f"n = {two.size[-1]}; both curves run through them.",
        ),
        Picture(
            "figure-S1-residuals",
            rest,
            "What is left when the formula is taken from the data; bars are two standard errors.",
            f"Residuals of the authors' formula between {np.nanmin(left):.3f} and "
            f"{np.nanmax(left):.3f}.",
        ),
    )


def _table(fit: Fit) -> Table:
    rows = []
    for name, guess, value, error in zip(PARAMETERS, GUESS, fit.values, fit.stderrs, strict=True):
        away = abs(value - guess) / error
        tone = "good" if away <= 3.0 else "note"
        rows.append((name, f"{guess:g}", f"{value:.4f} ± {error:.4f}", Cell(f"{away:.1f}", tone)))
    return Table(
        "The four numbers, guessed and fitted by weighted least squares (± standard error).",
        ("parameter", "guess", "fitted", "apart, in standard errors"),
        tuple(rows),
    )


def _data(two: Family, fit: Fit) -> DataTable:
    guess = empirical_formula(two.size, *GUESS)
    fitted = empirical_formula(two.size, *fit.values)
    seen = two.exceptions > 0
    return DataTable(
        "figure-s1",
        "Figure S1: -ln(1 - P) for n x 2 matrices and the empirical formula",
        (
            column("num_data", two.size, "number of rows n", is_key=True),
            column("num_samples", np.full(len(two.size), two.num_samples), "matrices drawn"),
            column("minus_log", np.where(seen, two.minus_log, np.nan), "-ln(1 - P), as sampled"),
            column("minus_log_stderr", two.minus_log_stderr, "its standard error"),
            column("formula", guess, "the authors' formula"),
            column("fitted", fitted, "the formula with its four numbers fitted"),
            column(
                "residual",
                np.where(seen, two.minus_log - guess, np.nan),
                "sampled less the authors' formula",
            ),
            column(
                "residual_of_fit",
                np.where(seen, two.minus_log - fitted, np.nan),
                "sampled less the fit",
            ),
        ),
    )


def _chance(chi_square: float, degrees: int) -> float:
    from scipy.special import gammaincc

    return float(gammaincc(0.5 * degrees, 0.5 * chi_square))
