import numpy as np
import pytest

import cobayes as cb
from cobayes.lessons import few, simulation
from cobayes.lessons.playing import ROUNDS


def test_a_few_lessons_one_by_one_are_those_side_by_side(monkeypatch):
    matrix = np.random.default_rng(1).exponential(size=(6, 5)) + 0.02
    rule = cb.SCBI(matrix)
    # Long enough for beliefs far below the range of float64.
    options = {"num_rounds": 40 * ROUNDS + 9, "num_lessons": 3, "rng": 4}
    found = cb.simulate(rule, 1, **options)
    assert found.paths.min() < -1500.0
    monkeypatch.setattr(few, "PARALLEL_SIZE", 0)
    by_rule = cb.simulate(rule, 1, **{**options, "num_rounds": 50})
    monkeypatch.setattr(simulation, "FEW", ((np.inf, 0),))
    monkeypatch.setattr(simulation, "ENTRIES_PER_AGENT", np.inf)
    side_by_side = cb.simulate(rule, 1, **options)
    np.testing.assert_allclose(found.paths, side_by_side.paths, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(by_rule.paths, found.paths[:, :51], rtol=1e-9, atol=1e-11)
    for name in ("means", "stds"):
        np.testing.assert_allclose(
            getattr(found, name), getattr(side_by_side, name), rtol=1e-9, atol=1e-11
        )
    np.testing.assert_array_equal(found.histogram.counts, side_by_side.histogram.counts)
    np.testing.assert_array_equal(found.rounds_needed.counts, side_by_side.rounds_needed.counts)


@pytest.mark.parametrize("data_prior", [None, np.arange(1.0, 8.0) / 28.0])
def test_one_lesson_is_the_lesson_of_its_two_agents(data_prior):
    matrix = np.random.default_rng(2).dirichlet(np.ones(7), size=6).T
    rule = cb.SCBI(matrix, data_prior=data_prior)
    found = cb.simulate(rule, 2, num_rounds=30, num_lessons=1, rng=np.random.SeedSequence(5))
    generator = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    teacher = cb.Teacher(rule, 2, rng=generator)
    for k in range(30):
        teacher.choose()
        np.testing.assert_allclose(teacher.log_belief, found.paths[0, k + 1], atol=1e-9)
