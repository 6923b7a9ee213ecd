import numpy as np
import pytest

import cobayes as cb
from cobayes.lessons import simulation
from cobayes.lessons.playing import ROUNDS


def play_one_by_one(responses, course):
    """Do what `playing.play` does, by the methods that any rule's responses have."""
    num_rounds, rng, tallies, *_ = course
    size = responses.beliefs.size
    for k in range(1, num_rounds + 1):
        responses = responses.answer(responses.beliefs)
        data = responses.draw(np.full(size, tallies.hypothesis), rng.random(size))
        tallies.add(responses.observe(data), k)
        course.keep(k, responses.beliefs.log_beliefs)


@pytest.mark.parametrize(
    ("kind", "size", "num_hypotheses"),
    [(cb.SCBI, 1, 3), (cb.SCBI, 70, 3), (cb.SCBI, 1100, 3), (cb.BI, 70, 3), (cb.SCBI, 70, 6)],
)
def test_rounds_in_one_call_are_the_rounds_one_by_one(kind, size, num_hypotheses, monkeypatch):
    matrix = np.random.default_rng(1).exponential(size=(5, num_hypotheses)) + 0.05
    options = {"num_rounds": ROUNDS + 9, "num_lessons": size, "rng": 4}
    together = cb.simulate(kind(matrix), 1, **options, keep_paths=[0, 3, ROUNDS, ROUNDS + 1])
    monkeypatch.setattr(simulation, "play", play_one_by_one)
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

    def give_up_once(beliefs, lanes, solver, swept, rounds, tallies):
        if not rounds.is_answered and not calls:
            calls.append(1)
            playing.scale_many(beliefs, lanes, solver)
            lanes.not_converged[:] = 1
            return 0
        return played(beliefs, lanes, solver, swept, rounds, tallies)

    monkeypatch.setattr(playing, "_play", give_up_once)
    found = cb.simulate(cb.SCBI(matrix), 0, num_rounds=5, num_lessons=9, rng=1)
    assert calls
    np.testing.assert_allclose(found.paths, expected.paths, rtol=1e-9, atol=1e-12)
