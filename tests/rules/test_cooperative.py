import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30)
def test_both_equations_of_cooperative_inference_hold(seed):
    rng = np.random.default_rng(seed)
    n, m = rng.integers(2, 6, size=2)
    matrix = rng.exponential(size=(n, m)) + 0.01
    over_h, over_d = rng.dirichlet(np.ones(m)), rng.dirichlet(np.ones(n)) * 0.9 + 0.1 / n
    c = cb.cooperative_inference(matrix, learner_prior=over_h, teacher_prior=over_d)
    np.testing.assert_allclose(c.teacher.sum(axis=0), 1.0, rtol=1e-10)
    np.testing.assert_allclose(c.learner.sum(axis=1), 1.0, rtol=1e-10)
    bayes = c.teacher * over_h  # Eq. (1), left
    np.testing.assert_allclose(c.learner, bayes / bayes.sum(axis=1, keepdims=True), rtol=1e-9)
    choice = c.learner * over_d[:, None]  # Eq. (1), right
    np.testing.assert_allclose(c.teacher, choice / choice.sum(axis=0), rtol=1e-9)


def test_with_uniform_priors_one_round_is_the_first_round_of_scbi():
    matrix = np.random.default_rng(0).exponential(size=(4, 3))
    c = cb.cooperative_inference(matrix)
    rule = cb.SCBI(matrix)
    np.testing.assert_allclose(c.teacher, rule.likelihood([1 / 3] * 3), rtol=1e-10)
    np.testing.assert_allclose(c.learner, rule.posteriors([1 / 3] * 3), rtol=1e-10)


def test_a_datum_with_the_prior_zero_is_never_chosen_but_has_a_posterior():
    c = cb.cooperative_inference([[1.0, 2.0], [3.0, 1.0], [1.0, 1.0]], teacher_prior=[0.5, 0.5, 0])
    assert (c.teacher[2] == 0.0).all()
    assert c.learner[2].sum() == pytest.approx(1.0)


def test_tables_keep_the_labels():
    model = cb.Model([[1.0, 2.0], [3.0, 1.0]], ["a", "b"], ["x", "y"])
    c = cb.cooperative_inference(model)
    table = c.to_dataframe()
    assert list(table.columns) == ["datum", "hypothesis", "teacher", "learner"]
    assert c.to_xarray().learner.sel(datum="b", hypothesis="x").item() == c.learner[1, 0]
    assert "2 data x 2 hypotheses" in repr(c)
