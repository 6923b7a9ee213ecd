"""Errors for work that would take too much time or memory."""

import pytest

import cobayes as cb
from cobayes import _parallel
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


def test_more_threads_than_any_computer_has_are_not_asked_of_the_core():
    try:
        cb.set_num_threads(10**30)
        assert cb.SCBI([[0.8, 0.3], [0.2, 0.7]]).update([0.5, 0.5], 0).shape == (2,)
    finally:
        cb.set_num_threads(None)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.5, "1.5 s"), (600, "10 minutes"), (9000, "2.5 hours"), (864_000, "10 days")],
)
def test_durations_are_in_fitting_units(seconds, text):
    assert _parallel.duration(seconds) == text
