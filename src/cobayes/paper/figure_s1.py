"""Figure S1: the supplement's empirical formula for P of n x 2 matrices, tested and fitted anew."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes.paper.rate_experiments import Family, family_of, rates_experiment
from cobayes.report.claims import (
    ERROR_RATE,
    Claim,
    Verdict,
    family_quantile,
    probability_text,
)
from cobayes.report.data_table import DataTable, column
from cobayes.report.section import Cell, Context, Picture, Section, Table

Array = NDArray[np.float64]

PARAMETERS = ("a", "c", "b", "d")
GUESS = (0.5, 1.5, 0.1, -0.3)
"""The authors' values: -ln(1 - P) = a ln(x (x + 1) / (x - c)) + b x + d."""

# A formula that is off by less than this in -ln(1 - P) gives 1 - P to a tenth of itself.
_CLOSE = 0.1


def empirical_formula(num_data: ArrayLike, a: float, c: float, b: float, d: float) -> Array:
    """Return -ln(1 - P) by the supplement's formula.

    Parameters
    ----------
    num_data
        The number of rows, x.
    a, c, b, d
        See `GUESS`.

    Notes
    -----
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


def largest_deviation(minus_log: Array, stderr: Array, num_data: Array) -> float:
    """Return how far, at least, the authors' formula is off somewhere: beyond the noise.

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
    return float(np.maximum(off - noise, 0.0).max())


def build(context: Context) -> Section:
    """Build the section."""
    context.tell("random n × 2 matrices, shared with figure 2")
    experiment = rates_experiment(context, "n-by-2")
    two = family_of("n-by-2", context.run(experiment, section="figure-2"))
    fit = fit_formula(two.size, two.minus_log, two.minus_log_stderr)
    worst = largest_deviation(two.minus_log, two.minus_log_stderr, two.size)
    claim = _judge(fit, worst, two)
    return Section(
        title="Figure S1: an empirical formula",
        blocks=(
            "For n × 2 matrices the supplement guesses −ln(1 − P) ≈ a·ln(x(x + 1)/(x − c)) + b·x "
            "+ d with a = 1/2, c = 1.5, b = 0.1, d = −0.3, where x is the number of rows. Here "
            "are the formula, our data, and what is left of the data when either the guess or "
            "our own least-squares fit of the four numbers is taken away.",
            *_pictures(two, fit),
            _table(fit),
            _verdict_in_words(fit, worst, claim),
        ),
        data=(_data(two, fit),),
        claims=(claim,),
        sizes=f"{two.num_samples:,} matrices for each of {len(two.size)} sizes, the run of "
        "figure 2.",
    )


def _judge(fit: Fit, worst: float, two: Family) -> Claim:
    if fit.guess_chance >= ERROR_RATE:
        verdict: Verdict = "holds"
    else:
        verdict = "holds except" if worst < _CLOSE else "does not hold"
    return Claim(
        "−ln(1 − P) ≈ ½ ln(x(x + 1)/(x − 1.5)) + 0.1x − 0.3 for n × 2 matrices",
        "Figure S1",
        verdict,
        f"off by {worst:.3f} in −ln(1 − P) where it is worst, beyond the noise, that is, by "
        f"{100 * np.expm1(worst):.1f} % of 1 − P; χ² = {fit.guess_chi_square:.0f} for "
        f"{fit.num_points} sizes, {probability_text(fit.guess_chance)}; fitted anew "
        f"χ² = {fit.chi_square:.0f}",
        f"standard errors {np.nanmin(two.minus_log_stderr):.1g} to "
        f"{np.nanmax(two.minus_log_stderr):.1g}",
        f"holds if within sampling error (p ≥ {ERROR_RATE:g}); “except” if not, but within "
        f"{_CLOSE:g}",
    )


def _verdict_in_words(fit: Fit, worst: float, claim: Claim) -> str:
    if claim.verdict == "holds":
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

    from cobayes.plots.rates import RED, plot_exceptions
    from cobayes.plots.style import BLUE, GREEN, GREY, count_in_whole_numbers, tidy

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
