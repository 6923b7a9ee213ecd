"""Figure S1: the formula, its fit, the section."""

import numpy as np
import pandas as pd
import pytest

from cobayes.paper.formula import GUESS, build, empirical_formula, fit_formula
from cobayes.report.section import Context

SIZES = np.arange(2, 51)


def sampled(minus_log, stderr):
    columns = {"size": SIZES, "minus_log": minus_log, "minus_log_stderr": stderr}
    return pd.DataFrame({**columns, "num_exceptions": np.isfinite(minus_log).astype(int)})


def test_the_guess_is_the_supplements_formula():
    x = SIZES.astype(float)
    probability = 1 - np.sqrt((x - 1.5) / (x * (x + 1))) * np.exp(-0.1 * x + 0.3)
    assert empirical_formula(x, **GUESS) == pytest.approx(-np.log1p(-probability))


def test_a_fit_finds_the_numbers_that_made_the_data():
    # Fixed seed; four standard errors on four numbers err together once in 4000.
    truth = (0.6, 1.4, 0.09, -0.4)
    error = np.linspace(0.002, 0.02, len(SIZES))
    noisy = empirical_formula(SIZES, *truth) + error * np.random.default_rng(3).normal(size=49)
    fit = fit_formula(sampled(noisy, error))
    assert (np.abs(fit.values - truth) < 4 * fit.stderrs).all()
    assert fit.misfit == 0.0
    assert fit.chance > 0.01
    assert fit.guess_chance < 1e-6


def test_the_misfit_is_the_size_of_a_deviation_that_the_formula_cannot_fit():
    # The fit absorbs a part of a smooth deviation of size 0.05, never all of this one.
    error = np.full(len(SIZES), 1e-4)
    values = empirical_formula(SIZES, **GUESS) + 0.05 * np.sin(SIZES / 3.0)
    fit = fit_formula(sampled(values, error))
    assert 0.02 < fit.misfit < 0.06
    assert fit.chi_square > 1e4
    assert (np.abs(fit.values - [*GUESS.values()]) < 4 * fit.stderrs).all()


def test_sizes_without_exceptions_are_left_out():
    values, error = empirical_formula(SIZES, **GUESS), np.full(len(SIZES), 0.01)
    values[-3:], error[-3:] = np.inf, np.nan
    fit = fit_formula(sampled(values, error))
    assert fit.num_points == 46
    assert fit.values == pytest.approx([*GUESS.values()], abs=1e-4)


def test_the_section_shares_the_run_of_figure_2_and_judges_the_guess(tmp_path):
    few = {"num_samples_n_by_2": 200_000}
    folder = tmp_path / "figure-s1"
    section = build(Context("figure-s1", 0.01, 2020, folder, is_quick=True, settings=few))
    assert (tmp_path / "runs" / "rates-n-by-2").is_dir()
    # The true 1 - P differs from the formula by about 6 % at six rows, which 200,000 matrices show.
    (claim,) = section.claims
    assert claim.verdict == "not decided"
    assert "test that the formula is exact: χ²" in claim.measured
    table = section.data["figure-s1"]
    assert np.nanmax(np.abs(table["residual"][:20])) < 0.1
    assert table["formula"].to_numpy() == pytest.approx(empirical_formula(SIZES, **GUESS))
