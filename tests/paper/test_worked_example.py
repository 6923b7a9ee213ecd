"""The supplement's 2x2 example: its printed numbers are ours, but for one misprint."""

import numpy as np
import pytest

from cobayes.paper.worked_example import divergences, half_unit, recompute

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


def test_the_divergence_of_the_columns_grows_as_the_text_says():
    first, second, third = divergences()
    assert first < second < third


def test_half_a_unit_follows_the_printed_digits():
    assert half_unit("0.4") == pytest.approx(0.05)
    assert half_unit("0.60") == pytest.approx(0.005)
