"""Figure S1: the formula, its fit, and the verdict on the authors' guess."""

import numpy as np
import pytest

from cobayes.paper import figure_s1, rate_experiments
from cobayes.paper.figure2_claims import GUESS, empirical_formula
from cobayes.paper.figure_s1 import fit_formula
from cobayes.report.section import Context

SIZES = np.arange(2, 51)


def test_the_guess_is_the_supplements_formula():
    x = SIZES.astype(float)
    probability = 1 - np.sqrt((x - 1.5) / (x * (x + 1))) * np.exp(-0.1 * x + 0.3)
    assert empirical_formula(x, *GUESS) == pytest.approx(-np.log1p(-probability))


def test_a_fit_finds_the_numbers_that_made_the_data():
    # Fixed seed; four standard errors on four numbers err together once in 4000.
    truth = (0.6, 1.4, 0.09, -0.4)
    error = np.linspace(0.002, 0.02, len(SIZES))
    noisy = empirical_formula(SIZES, *truth) + error * np.random.default_rng(3).normal(size=49)
    fit = fit_formula(SIZES, noisy, error)
    assert (np.abs(fit.values - truth) < 4 * fit.stderrs).all()
    assert fit.misfit == 0.0
    assert fit.chance > 0.01
    assert fit.guess_chance < 1e-6


def test_a_form_that_does_not_fit_is_given_its_misfit():
    # The fit absorbs a part of a smooth deviation of size 0.05, never all of this one.
    error = np.full(len(SIZES), 1e-4)
    values = empirical_formula(SIZES, *GUESS) + 0.05 * np.sin(SIZES / 3.0)
    fit = fit_formula(SIZES, values, error)
    assert 0.02 < fit.misfit < 0.06
    assert fit.chi_square > 1e4
    assert (np.abs(fit.values - GUESS) < 4 * fit.stderrs).all()


def test_sizes_without_exceptions_are_left_out():
    values, error = empirical_formula(SIZES, *GUESS), np.full(len(SIZES), 0.01)
    values[-3:], error[-3:] = np.inf, np.nan
    fit = fit_formula(SIZES, values, error)
    assert fit.num_points == 46
    assert fit.values == pytest.approx(GUESS, abs=1e-4)


def build(tmp_path, monkeypatch, num_samples):
    monkeypatch.setitem(rate_experiments.QUICK_SAMPLES, "n-by-2", num_samples)
    context = Context("figure-s1", 0.01, 2020, tmp_path / "figure-s1", is_quick=True)
    return figure_s1.build(context)


def test_the_section_shares_the_run_of_figure_2_and_judges_the_guess(tmp_path, monkeypatch):
    section = build(tmp_path, monkeypatch, 200_000)
    assert (tmp_path / "runs" / "rates-n-by-2" / "ledger.sqlite").is_file()
    # The true 1 - P is about 6 % off the formula at six rows, which 200,000 matrices see clearly.
    (claim,) = section.claims
    assert claim.verdict == "not decided"
    assert "it is not exact" in claim.measured
    table = section.data[0]
    assert np.nanmax(np.abs(table["residual"][:20])) < 0.1
    assert table["formula"] == pytest.approx(empirical_formula(SIZES, *GUESS))
