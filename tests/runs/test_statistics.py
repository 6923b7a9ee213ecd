from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as npst

from cobayes.errors import CobayesError
from cobayes.runs import Estimate, PointResult, RunResult, mean_estimate, run
from cobayes.runs.statistics import add, concatenate, pack, unpack

from .experiments import drawing

DTYPES = st.one_of(
    npst.boolean_dtypes(),
    npst.integer_dtypes(endianness="="),
    npst.floating_dtypes(sizes=(32, 64), endianness="="),
    npst.complex_number_dtypes(sizes=(128,), endianness="="),
)
ARRAYS = npst.arrays(DTYPES, npst.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4))
STATISTICS = st.dictionaries(
    st.text(st.characters(categories=["L", "N", "P", "Zs"])),
    st.one_of(ARRAYS, st.integers(-(2**63), 2**63 - 1), st.floats(), st.booleans()),
    max_size=4,
)


@given(STATISTICS)
def test_packing_and_unpacking_gives_back_every_bit(statistics):
    back = unpack(pack(statistics))
    assert list(back) == list(statistics)
    for name, value in statistics.items():
        array = np.asarray(value)
        assert np.asarray(back[name]).shape == array.shape
        # Single numbers come back as Python numbers, which represent them exactly.
        same = np.asarray(back[name]).astype(array.dtype)
        assert same.tobytes() == array.tobytes()
    assert pack(back) == pack(unpack(pack(back)))


@pytest.mark.parametrize("value", ["text", None, [1, "a"], {"a": 1}, object(), 10**30])
def test_a_statistic_that_is_not_a_number_is_an_error_that_names_it(value):
    with pytest.raises(CobayesError, match="'wrong'"):
        pack({"right": 1, "wrong": value})


def test_a_shard_that_returns_no_dict_is_told_what_to_return():
    with pytest.raises(CobayesError, match="expected a dict of numbers"):
        pack(1.5)  # type: ignore[arg-type]


def test_small_counters_do_not_overflow_when_added():
    most = {"small": np.array([120], np.int8), "flags": np.array([True]), "big": 10**18}
    total = add(add(most, most), most)
    assert total["small"].tolist() == [360]
    assert total["flags"].tolist() == [3]
    assert total["big"] == 3 * 10**18


def test_concatenation_keeps_the_order_of_the_shards():
    rows = [{"x": np.arange(k, k + 2)} for k in (0, 2, 4)]
    joined = concatenate(concatenate(rows[0], rows[1]), rows[2])
    assert joined["x"].tolist() == [0, 1, 2, 3, 4, 5]


def test_shards_with_different_names_cannot_be_added():
    with pytest.raises(CobayesError, match="different statistics"):
        add({"a": 1}, {"b": 1})


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=50))
def test_mean_estimate_is_the_textbook_mean_and_standard_error(sample):
    values = np.array(sample)
    estimate = mean_estimate(len(values), values.sum(), (values**2).sum())
    assert estimate.value == pytest.approx(values.mean(), abs=1e-9)
    expected = values.std(ddof=1) / math.sqrt(len(values))
    # Sums of squares cancel to about the square root of the rounding error.
    assert estimate.stderr == pytest.approx(expected, rel=1e-6, abs=1e-4)


def test_without_samples_nothing_is_known():
    assert math.isnan(mean_estimate(0, 0, 0).value)
    assert math.isnan(mean_estimate(1, 5, 25).stderr)


def test_estimate_reads_with_two_digits_of_its_uncertainty():
    assert str(Estimate(0.123456, 0.0012)) == "0.1235 ± 0.0012"
    assert str(Estimate(1234.6, 12)) == "1235 ± 12"
    assert str(Estimate(0.5)) == "0.5"


def test_estimate_with_a_tiny_or_a_huge_uncertainty_reads_with_its_power_of_ten():
    assert str(Estimate(1.25e-15, 3e-17)) == "1.25e-15 ± 3.0e-17"
    assert str(Estimate(123456.7, 450.0)) == "123457 ± 4.5e+02"


def test_a_result_shows_the_estimates_of_eight_points_and_the_number_of_the_others():
    points = tuple(
        PointResult(f"p{k}", {}, 7, {}, {"mean": Estimate(k / 4, 0.01)} if k else {}, 0.1)
        for k in range(10)
    )
    lines = repr(RunResult("counting", 3, points, Path("results"))).splitlines()
    assert lines[0] == "RunResult('counting', seed 3, 10 points)"
    assert lines[1:3] == ["  p0: 7 samples", "  p1: mean = 0.250 ± 0.010"]
    assert lines[8:] == ["  p7: mean = 1.750 ± 0.010", "  ... and 2 more"]


def test_results_come_as_tables_with_parameters_and_uncertainty(tmp_path):
    result = run(drawing(), tmp_path, jobs=1)
    table = result.to_dataframe()
    assert list(table.index) == ["scale 1", "scale 2"]
    assert list(table["scale"]) == [0.1, 0.2]
    estimate = result["scale 2"].estimates["mean"]
    assert table.loc["scale 2", "mean"] == estimate.value
    assert table.loc["scale 2", "mean_stderr"] == estimate.stderr
    data = result.to_xarray()
    assert data["mean"].sel(point="scale 2") == estimate.value
    assert "scale" in data.coords
    with pytest.raises(CobayesError, match="no point called 'scale 9'"):
        result["scale 9"]
    # The mean of a lognormal is exp(s^2/2); 5 standard errors, one chance in a million.
    assert abs(estimate.value - math.exp(0.02)) < 5 * estimate.stderr
