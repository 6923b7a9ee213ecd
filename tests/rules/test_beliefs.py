import numpy as np

from cobayes.rules import BeliefState


def test_logarithms_survive_the_format():
    logs = -np.random.default_rng(1).exponential(2000.0, size=(70, 5))
    logs[:, 0] = 0.0
    logs[3, 2] = -np.inf
    state = BeliefState.from_logs(logs)
    np.testing.assert_allclose(state.log_beliefs, logs, rtol=1e-13)
    np.testing.assert_allclose(state.beliefs, np.where(logs > -354, np.exp(logs), 0.0))
    assert state.size == 70


def test_one_belief_stands_for_many():
    state = BeliefState.from_logs(np.log([0.25, 0.75]), 3)
    np.testing.assert_allclose(state.beliefs, [[0.25, 0.75]] * 3)


def test_data_priors_and_choices_of_beliefs_are_kept():
    rng = np.random.default_rng(2)
    beliefs, priors = rng.dirichlet(np.ones(3), size=90), rng.dirichlet(np.ones(4), size=90)
    state = BeliefState.from_logs(np.log(beliefs), data_priors=priors)
    np.testing.assert_allclose(state.data_priors, priors)
    chosen = np.array([5, 80, 2])
    kept = state.keep(chosen)
    np.testing.assert_allclose(kept.beliefs, beliefs[chosen])
    np.testing.assert_allclose(kept.data_priors, priors[chosen])
