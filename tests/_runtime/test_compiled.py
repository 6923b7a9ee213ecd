"""Compiled code gives the same bits whether a process compiled it or loaded it."""

import os
import subprocess
import sys

FIRST_AND_SECOND_PROCESS = """
import hashlib
import numpy as np
import cobayes as cb

found = []
rng = np.random.default_rng(3)
matrix = rng.dirichlet(np.ones(5), size=5).T
prior = rng.dirichlet(np.ones(5))
success = cb.success_rate(matrix, hypothesis=0, learner_prior=prior, num_sequences=200, rng=1)
found.append(success.outcomes)
ensemble = cb.simulate(cb.SCBI(matrix), 0, num_rounds=12, num_lessons=100, rng=1)
found += [ensemble.paths, ensemble.means, cb.scale(matrix).matrix]
rates = cb.compare_rates(7, 3, 2000, rng=1)
found.append(np.array([rates.advantage, rates.mean_bi]))
print(hashlib.md5(b"".join(array.tobytes() for array in found)).hexdigest())
"""


def test_the_process_that_compiles_gets_the_bits_of_those_that_load(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    first, second = (
        subprocess.run(
            [sys.executable, "-c", FIRST_AND_SECOND_PROCESS],
            env=environment,
            check=True,
            capture_output=True,
            text=True,
        ).stdout
        for _ in range(2)
    )
    assert any(tmp_path.rglob("*.nbc"))
    assert len(first) == 33
    assert first == second
