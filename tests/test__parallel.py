"""Refusing work that would not end."""

import pytest

from cobayes._parallel import require_affordable, short_number
from cobayes.errors import CobayesError


def test_affordable_work_passes():
    require_affordable("ten lessons", "none.", seconds=60.0, num_bytes=1e6)


def test_the_error_gives_the_estimate_and_the_hint():
    with pytest.raises(CobayesError, match=r"ten lessons would take about .* years") as error:
        require_affordable("ten lessons", "take one.", seconds=1e12)
    assert error.value.hint == "take one."
    with pytest.raises(CobayesError, match=r"9e\+03 GB"):
        require_affordable("ten lessons", "take one.", num_bytes=9e12)


def test_short_numbers_reach_beyond_float64():
    assert [short_number(n) for n in (5, 10**9, 10**400)] == ["5", "1e+09", "10^300+"]
