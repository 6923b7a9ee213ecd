"""Compiled code gives the same bits whether a process compiled it or loaded it."""

import os
import subprocess
import sys

import pytest

from cobayes._runtime.compiled import compiled

# Rates of random matrices keep numbers in vector registers, as lessons with many hypotheses do.
FIRST_AND_SECOND_PROCESS = """
import hashlib
import sys
import numpy as np
import cobayes as cb

rates = cb.compare_rates(7, 3, 2000, rng=1)
print(hashlib.md5(np.array([rates.advantage, rates.mean_bi]).tobytes()).hexdigest())
print("numba.np.linalg" in sys.modules)
"""


@pytest.mark.slow
def test_the_process_that_compiles_gets_the_bits_of_those_that_load(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", FIRST_AND_SECOND_PROCESS],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout.split()
        for _ in range(2)
    )
    assert any(tmp_path.rglob("*.nbc"))
    assert len(first[0]) == 32
    assert first[0] == second[0]
    # Who loads does not start the compiler.
    assert (first[1], second[1]) == ("True", "False")


@compiled(inner=True)
def _twice(number):
    return 2.0 * number


@compiled()
def _twice_and_one(number):
    return _twice(number) + 1.0


def test_an_inner_kernel_is_for_kernels_only():
    for _ in range(2):  # before and after it was compiled
        with pytest.raises(TypeError, match="_twice is called by kernels only"):
            _twice(2.0)
        assert _twice_and_one(2.0) == 5.0
