"""Exact moments of lessons that end early."""

import numpy as np

import cobayes as cb


def test_exact_beliefs_stay_the_same_after_a_walk_has_ended():
    # Walks end after one to four moves. Four standard errors of 1,000 lessons: an error rate of
    # 6e-5 per round.
    rule = cb.SCBI(cb.GridWorld(3, 1, (0, 1), {"L": (0, 0), "R": (0, 2)}, discount=0.5))
    exact = cb.exact_rounds(rule, "L", 4)
    rng = np.random.default_rng(0)
    sums, count = np.zeros(5), 1000
    for _ in range(count):
        lesson = cb.run_lesson(cb.Teacher(rule, "L", rng=rng), cb.Learner(rule), num_rounds=4)
        beliefs = lesson.beliefs[:, 0]
        sums += np.pad(beliefs, (0, 5 - len(beliefs)), mode="edge")
    assert (np.abs(sums / count - exact.mean) <= 4.0 * exact.std / np.sqrt(count) + 1e-12).all()
