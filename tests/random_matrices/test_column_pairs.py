"""The quick loops over pairs of columns, the plain ones, and the choice between them."""

import json
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba import types
from numba.extending import intrinsic

from cobayes._runtime import wide_vectors
from cobayes.random_matrices import column_pairs, lowered_column_pairs, plain_column_pairs
from cobayes.random_matrices.column_pairs import WIDTH
from cobayes.random_matrices.random_rates import sample_mean_rates

WITHOUT_LLVM = """
import json, sys
sys.modules["cobayes.random_matrices.lowered_column_pairs"] = None
from cobayes._runtime import wide_vectors
wide_vectors.use_wide_vectors = wide_vectors.ask_for_nothing
import numpy as np
from cobayes.random_matrices import column_pairs
from cobayes.random_matrices.random_rates import sample_mean_rates
rates = [sample_mean_rates(n, m, 100, np.random.SeedSequence(4)) for n, m in SHAPES]
print(json.dumps([column_pairs.sum_columns.__module__, [[list(r) for r in p] for p in rates]]))
"""
SHAPES = [(3, 3), (10, 5)]


@intrinsic
def broken(typingctx):
    """Fail where code is made, as another version of the compiler might."""

    def generate(context, builder, signature, arguments):
        raise AttributeError("the compiler's inside has changed")

    return types.none(), generate


@numba.njit
def calls_broken(*arguments):
    broken()


def random_case(num_data, num_hypotheses, seed):
    rng = np.random.default_rng(seed)
    x = rng.standard_exponential((num_hypotheses, num_data, WIDTH)) + 1e-12
    totals = rng.uniform(0.5, 2.0, (7, num_hypotheses * WIDTH))
    totals[3], totals[4] = -np.inf, np.inf
    return np.stack([x, np.log(x), 1.0 / x]).reshape(3, -1), totals


@pytest.mark.parametrize("shape", [(1, 2), (2, 2), (7, 5), (30, 3)])
def test_plain_and_quick_kernels_agree(shape):
    n, m = shape
    planes, totals = random_case(n, m, seed=n)
    results = []
    for kernels in (plain_column_pairs, lowered_column_pairs):
        nearest, sums, pairs = totals.copy(), totals.copy(), np.empty((4, m * WIDTH))
        kernels.find_nearest(planes, n, m, nearest)
        kernels.sum_columns(planes, 1, m, n, sums)
        kernels.pairs_with(m - 1, planes, totals, n, pairs)
        results.append((nearest, sums, pairs))
    for plain, quick in zip(*results, strict=True):
        # Cross terms are differences of numbers of size one or more.
        np.testing.assert_allclose(quick, plain, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("kernels", [plain_column_pairs, lowered_column_pairs])
def test_both_kinds_of_kernels_pass_the_trial(kernels):
    column_pairs.try_out(kernels)


def test_plain_kernels_are_used_where_the_quick_ones_cannot_be_imported(monkeypatch):
    monkeypatch.setitem(sys.modules, "cobayes.random_matrices.lowered_column_pairs", None)
    assert column_pairs.choose_kernels() is plain_column_pairs


@pytest.mark.parametrize("name", ["sum_columns", "find_nearest", "pairs_with"])
def test_plain_kernels_are_used_where_a_quick_one_does_not_compile(monkeypatch, name):
    monkeypatch.setattr(lowered_column_pairs, name, calls_broken)
    assert column_pairs.choose_kernels() is plain_column_pairs


@pytest.mark.parametrize("name", ["sum_columns", "find_nearest", "pairs_with"])
def test_plain_kernels_are_used_where_a_quick_one_computes_nothing(monkeypatch, name):
    monkeypatch.setattr(lowered_column_pairs, name, lambda *_: None)
    assert column_pairs.choose_kernels() is plain_column_pairs


def test_wide_vectors_are_not_asked_for_where_that_does_not_compile():
    assert wide_vectors.choose_vector_width() is wide_vectors.ask_for_wide_vectors
    assert wide_vectors.choose_vector_width(calls_broken) is wide_vectors.ask_for_nothing


@pytest.mark.slow
def test_random_rates_are_the_same_without_anything_of_llvms_own(tmp_path):
    # A folder of its own: compiled code from elsewhere would hold the quick loops.
    done = subprocess.run(
        [sys.executable, "-c", f"SHAPES = {SHAPES}\n{WITHOUT_LLVM}"],
        env={**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    module, rates = json.loads(done.stdout)
    assert module == "cobayes.random_matrices.plain_column_pairs"
    for shape, found in zip(SHAPES, rates, strict=True):
        expected = sample_mean_rates(*shape, 100, np.random.SeedSequence(4))
        np.testing.assert_allclose(found, expected, rtol=1e-12)
