import numpy as np
import pytest

import cobayes as cb
from cobayes.lessons import simulation
from cobayes.lessons.playing import ROUNDS


@pytest.mark.parametrize("kind", [cb.SCBI, cb.BI])
@pytest.mark.parametrize("size", [1, 70, 1100])
def test_rounds_in_one_call_are_the_rounds_one_by_one(kind, size, monkeypatch):
    matrix = np.random.default_rng(1).exponential(size=(5, 3)) + 0.05
    options = {"num_rounds": ROUNDS + 9, "num_lessons": size, "prior": [0.2, 0.3, 0.5], "rng": 4}
    together = cb.simulate(kind(matrix), 1, **options, keep_paths=[0, 3, ROUNDS, ROUNDS + 1])
    monkeypatch.setattr(simulation, "can_play", lambda responses: False)
    single = cb.simulate(kind(matrix), 1, **options, keep_paths=[0, 3, ROUNDS, ROUNDS + 1])
    for name in ("means", "stds", "paths"):
        assert np.array_equal(getattr(together, name), getattr(single, name))
    assert np.array_equal(together.histogram.counts, single.histogram.counts)
    assert np.array_equal(together.rounds_needed.counts, single.rounds_needed.counts)


def test_scalings_that_do_not_converge_are_finished_by_newton(monkeypatch):
    matrix = np.random.default_rng(2).exponential(size=(4, 3)) + 0.05
    expected = cb.simulate(cb.SCBI(matrix), 0, num_rounds=5, num_lessons=9, rng=1)
    from cobayes.lessons import playing

    played, calls = playing._play, []

    def give_up_once(beliefs, lanes, tolerance, wide, is_answered, *others):
        if not is_answered and not calls:
            calls.append(1)
            playing.scale_many(beliefs, lanes, tolerance, True, wide)
            lanes.not_converged[:] = 1
            return 0
        return played(beliefs, lanes, tolerance, wide, is_answered, *others)

    monkeypatch.setattr(playing, "_play", give_up_once)
    found = cb.simulate(cb.SCBI(matrix), 0, num_rounds=5, num_lessons=9, rng=1)
    assert calls
    np.testing.assert_allclose(found.paths, expected.paths, rtol=1e-9, atol=1e-12)
