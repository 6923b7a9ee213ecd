"""The supplement's 2x2 example: its printed numbers are ours, but for one misprint."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.paper.worked_example import divergences, half_unit, judge_example, recompute

NUMBERS = recompute()


@pytest.mark.parametrize("row", NUMBERS, ids=lambda row: row.quantity)
def test_every_printed_number_is_ours_or_the_known_misprint(row):
    assert row.disagreements == row.misprints


def test_the_only_misprint_is_0643_for_0634():
    # Supplement, "An Example on a 2 by 2 Matrix": the digits 3 and 4 are swapped, twice.
    wrong = [text for row in NUMBERS for text in row.disagreements]
    assert wrong == ["0.643", "0.643"]
    values = [
        value
        for row in NUMBERS
        for text, value in zip(row.printed, row.recomputed, strict=True)
        if text == "0.643"
    ]
    np.testing.assert_allclose(values, 0.634, atol=half_unit("0.634"))


def test_a_wrong_number_would_be_noticed():
    row = NUMBERS[-1]
    wrong = type(row)(row.quantity, row.printed, row.recomputed + np.array([0.001, 0.0]))
    assert wrong.disagreements == ("0.758",)


def test_the_divergence_grows_on_the_printed_rounds_and_falls_after_them():
    found = divergences(200)
    # Computed independently, to four digits.
    expected = [0.1308, 0.1472, 0.1484, 0.1480, 0.1468]
    np.testing.assert_allclose(found[:5], expected, atol=5e-5)
    assert found[0] < found[1] < found[2]
    assert (np.diff(found[2:20]) < 0).all()
    assert found[-1] == pytest.approx(
        cb.rate_of_convergence(cb.examples["supplement-2x2"].model, 0), abs=1e-6
    )


def test_the_example_is_judged():
    numbers, divergence = judge_example(NUMBERS)
    assert numbers.verdict == "holds except"
    assert divergence.verdict == "does not hold"


def test_half_a_unit_follows_the_printed_digits():
    assert half_unit("0.4") == pytest.approx(0.05)
    assert half_unit("0.60") == pytest.approx(0.005)
