"""The same bits from every instruction set, in batches and one by one, on any number of threads."""

import hashlib
import json
from pathlib import Path

import numpy as np
import pytest

import cobayes as cb
from cobayes import _core

# Digests of the main results, the same for every processor, compiler and version of Python. After
# an intended change of numbers, `python -m tests.core.test_bits` writes the new digests.
HELD = Path(__file__).with_name("bits.json")

# Inputs without logarithms or powers, whose last bits differ between libraries.
RNG = np.random.default_rng(2026)
POSITIVE = {shape: RNG.random(shape) ** 2 for shape in [(3, 3), (8, 4), (7, 6), (12, 9), (20, 20)]}
ZEROS = RNG.integers(0, 3, size=(9, 5)).astype(float)
ZEROS[0] = 1.0
LARGE_ZEROS = RNG.random((16, 12)) * (RNG.random((16, 12)) > 0.2) + np.eye(16, 12)
LARGE_ZEROS[:, 0] += 0.1
# Two groups that exchange 2^-40 of their sums, for the careful method; and entries whose powers
# underflow, for the recursion in logarithms.
IS_INSIDE = (np.arange(12) < 6)[:, None] == (np.arange(9) < 5)
WEAK = np.where(IS_INSIDE, 1.0, 2.0**-40) * POSITIVE[12, 9]
STEEP = np.ldexp(POSITIVE[8, 4], -300 * np.arange(4))


def digest(*arrays):
    """Return the digest of the bits of some arrays."""
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def lessons(rule, **options):
    found = cb.simulate(rule, 1, num_rounds=12, num_lessons=300, rng=5, **options)
    return digest(found.means, found.stds, found.paths)


def results():
    """Return digests of the main results, each made from scratch."""
    found = {}
    for (n, m), matrix in POSITIVE.items():
        counts = np.random.default_rng(n).integers(1, 100, size=(11, m))
        beliefs = counts / counts.sum(axis=1, keepdims=True)
        rule = cb.SCBI(matrix)
        found[f"scale {n}x{m}"] = digest(cb.scale(matrix, column_sums=n * beliefs).matrix)
        found[f"update {n}x{m}"] = digest(rule.update(beliefs, 1), rule.update(beliefs[0], 2))
        found[f"simulate {n}x{m}"] = lessons(rule)
    matrix = POSITIVE[8, 4]
    prior = np.arange(1.0, 9.0) / 36.0
    found["data prior"] = lessons(cb.SCBI(matrix, data_prior=prior))
    found["literal"] = lessons(cb.BI(matrix))
    found["pragmatic"] = lessons(cb.Pragmatic(matrix, 2, rationality=2.5))
    found["two rules"] = lessons(
        cb.SCBI(matrix), learner_rule=cb.BI(matrix), learner_prior=[0.1, 0.2, 0.3, 0.4]
    )
    found["no repeats"] = digest(
        cb.simulate(
            cb.SCBI(cb.without_repeats(POSITIVE[20, 20])), 1, num_rounds=12, num_lessons=99, rng=5
        ).means
    )
    found["zeros"] = lessons(cb.SCBI(ZEROS))
    found["more zeros"] = lessons(cb.SCBI(LARGE_ZEROS))
    found["weak coupling"] = digest(cb.scale(WEAK).matrix)
    found["logarithms"] = lessons(cb.Pragmatic(STEEP, 2, rationality=4.0))
    found["blocks"] = digest(cb.scale(ZEROS, on_failure="return").matrix)
    exact = cb.exact_rounds(matrix, 0, 5)
    found["exact rounds"] = digest(exact.means, exact.stds)
    learner = {"learner_prior": [0.1, 0.2, 0.3, 0.4], "num_lessons": 300, "rng": 5}
    found["coupling"] = digest(cb.coupling(matrix, **learner).matrix)
    rates = [
        cb.success_rate(cb.SCBI(table), 0, num_lessons=300, rng=5) for table in (matrix, ZEROS)
    ]
    rates.append(cb.success_rate(matrix, 0, **learner))
    other = cb.SCBI(matrix, data_prior=prior)
    rates.append(cb.success_rate(matrix, 0, learner_rule=other, num_lessons=300, rng=5))
    found["success rate"] = digest(*(rate.outcomes for rate in rates))
    for shape in ((10, 2), (5, 4)):
        drawn = cb.compare_rates(*shape, 1500, rng=5)
        numbers = drawn.num_exceptions, drawn.advantage, drawn.mean_bi
        found[f"rates of random matrices {shape}"] = digest(np.array(numbers))
    return found


@pytest.fixture(scope="module")
def by_instruction_set():
    own = _core.instruction_set()
    found = {}
    try:
        for name in ("v2", "v3", "v4"):
            found[_core.force_instruction_set(name)] = results()
    finally:
        _core.force_instruction_set(own)
    return found


def test_every_instruction_set_gives_the_same_bits(by_instruction_set):
    first, *others = by_instruction_set.values()
    for other in others:
        assert other == first


def test_results_have_the_bits_that_are_held(by_instruction_set):
    held = json.loads(HELD.read_text(encoding="utf-8"))
    for found in by_instruction_set.values():
        assert found == held


@pytest.mark.parametrize("shape", POSITIVE)
def test_batches_and_single_calls_have_the_same_bits(shape):
    rule = cb.SCBI(POSITIVE[shape])
    beliefs = np.random.default_rng(0).dirichlet(np.full(shape[1], 0.5), size=37)
    together = rule.likelihood(beliefs)
    for k in (0, 1, 17, 36):
        assert np.array_equal(rule.likelihood(beliefs[k]), together[k])
        assert np.array_equal(rule.likelihood(beliefs[k].tolist()), together[k])
    assert np.array_equal(rule.likelihood(beliefs[30:]), together[30:])


def test_a_lesson_does_not_depend_on_how_many_there_are():
    for matrix in (POSITIVE[8, 4], POSITIVE[20, 20], ZEROS):
        many, few = (
            cb.simulate(cb.SCBI(matrix), 0, num_rounds=15, num_lessons=count, rng=1).paths
            for count in (1500, 3)
        )
        assert np.array_equal(many[:3], few)


if __name__ == "__main__":
    HELD.write_text(json.dumps(results(), indent=1) + "\n", encoding="utf-8")
