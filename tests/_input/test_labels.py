"""Labels, and distributions over them as users give them: one or many, by label or in order."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

import cobayes as cb
from cobayes._input.labels import as_distribution

SMALL = [[0.3, 0.3], [0.1, 0.3], [0.2, 0.5]]
MODEL = cb.Model(SMALL)


def test_distributions_are_validated_and_rounded_ones_renormalised():
    model = cb.Model(SMALL, list("abc"), ["x", "y"])
    np.testing.assert_array_equal(model.distribution(), [0.5, 0.5])
    np.testing.assert_allclose(model.distribution([0.4999, 0.5]).sum(), 1.0, rtol=1e-15)
    np.testing.assert_array_equal(model.distribution({"y": 0.25, "x": 0.75}), [0.75, 0.25])
    series = pd.Series([0.25, 0.75], index=["y", "x"])
    np.testing.assert_array_equal(model.distribution(series), [0.75, 0.25])
    np.testing.assert_array_equal(
        model.distribution([0.2, 0.3, 0.5], over="datum"), [0.2, 0.3, 0.5]
    )
    with pytest.raises(cb.CobayesError, match=r"sums to 0\.9, not to 1"):
        model.distribution([0.4, 0.5])
    with pytest.raises(cb.CobayesError, match="no hypothesis called 'z'"):
        model.distribution({"x": 0.5, "y": 0.4, "z": 0.1})
    with pytest.raises(cb.CobayesError, match="cannot be read as numbers"):
        model.distribution(["a", "b"])


def test_priors_with_labels_are_put_in_order():
    model = cb.Model(SMALL, list("abc"), ["x", "y"])
    prior = xr.DataArray([0.25, 0.75], dims="h", coords={"h": ["y", "x"]})
    np.testing.assert_array_equal(model.distribution(prior), [0.75, 0.25])
    plain = xr.DataArray([0.25, 0.75], dims="h")
    np.testing.assert_array_equal(model.distribution(plain), [0.25, 0.75])


def test_tables_of_beliefs_with_labels_are_put_in_order():
    rule = cb.SCBI(cb.Model(SMALL, list("abc"), ["x", "y"]))
    expected = rule.posteriors([[0.25, 0.75], [0.5, 0.5]])
    frame = pd.DataFrame({"y": [0.75, 0.5], "x": [0.25, 0.5]})
    for table in (
        frame,
        pl.from_pandas(frame),
        xr.DataArray(frame.to_numpy(), dims=("lesson", "h"), coords={"h": ["y", "x"]}),
        pd.DataFrame([[0.25, 0.75], [0.5, 0.5]]),  # columns 0 and 1 are positions
    ):
        np.testing.assert_array_equal(rule.posteriors(table), expected)
    with pytest.raises(cb.CobayesError, match="no hypothesis called 'z'"):
        rule.posteriors(frame.rename(columns={"y": "z"}))
    with pytest.raises(cb.CobayesError, match="the belief has no number for 'y'"):
        rule.posteriors(frame[["x"]])
    with pytest.raises(cb.CobayesError, match="no hypothesis called 'belief'"):
        rule.posteriors(xr.Dataset({"belief": ("h", [0.5, 0.5])}))
    with pytest.raises(cb.CobayesError, match="the belief has two numbers for one hypothesis"):
        rule.posteriors(frame[["x", "y", "x"]])


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        (np.array([0.5 + 1j, 0.5]), "complex128"),
        ([0.5 + 0j, 0.5], "complex"),
        (np.ma.masked_array([0.5, 0.5], [False, True]), "the prior has masked entries"),
        ([10**400, 1], r"the prior has a number beyond 1\.8e308"),
        ([np.nan, 0.5], "the prior is nan at hypothesis '0'"),
        ([0.5, np.inf], "the prior is inf at hypothesis '1'"),
        ([1.7e308, 1.7e308], "the prior sums to inf, not to 1"),
        ([1.5, -0.5], r"the prior is -0\.5 at hypothesis '1'"),
        ([[0.5, 0.5]], r"the prior has shape \(1, 2\)"),
        (b"ab", "cannot be read as numbers"),
        ([None, 1.0], "cannot be read as numbers|is nan"),
    ],
)
def test_an_invalid_distribution_is_an_error_that_names_the_place(prior, message):
    with pytest.raises(cb.CobayesError, match=message):
        MODEL.distribution(prior)
    with pytest.raises(cb.CobayesError, match=message):
        cb.Learner(cb.SCBI(MODEL), prior)


def distributions(values):
    labels = [str(position) for position in range(len(values[0]))]
    return as_distribution(values, tuple(labels), "hypothesis", "prior", batch=True)


def test_a_batch_is_checked_and_renormalised_row_by_row():
    batch = distributions([[0.5, 0.5], [0.25, 0.7501]])
    np.testing.assert_array_equal(batch[0], [0.5, 0.5])
    np.testing.assert_array_equal(batch[1], MODEL.distribution([0.25, 0.7501]))
    with pytest.raises(cb.CobayesError, match=r"number 1 is -0\.5 at hypothesis '0'"):
        distributions([[0.5, 0.5], [-0.5, 1.5]])
    with pytest.raises(cb.CobayesError, match=r"number 1 sums to 0\.7, not to 1"):
        distributions([[0.5, 0.5], [0.2, 0.5]])
    # Added from left to right, these numbers exceed 1.001; by NumPy's pairwise sum they do not.
    with pytest.raises(cb.CobayesError, match=r"number 1 sums to 1\.001, not to 1"):
        distributions([np.full(12, 1 / 12), np.full(12, 1.001 / 12)])
    with pytest.raises(cb.CobayesError, match="shape"):
        MODEL.distribution([[0.5, 0.5]])


def test_the_hint_about_a_distribution_of_zeros_is_not_to_divide_by_its_sum():
    with pytest.raises(cb.CobayesError, match="sums to 0, not to 1") as caught:
        cb.SCBI([[1, 2], [2, 1]]).update([0, 0], 0)
    assert caught.value.hint == "at least one probability must be positive."
