"""The kernels for three and four hypotheses against the general code that they stand in for."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb
from cobayes.stability import followers
from cobayes.stability.followers import beliefs_of_many


def by_general_code(sequences, matrices, priors):
    learners = [None] * len(priors) if matrices is None else matrices
    return np.array(
        [
            sequences.beliefs_of(learner, prior)[:, sequences.hypothesis]
            for learner, prior in zip(learners, priors, strict=True)
        ]
    )


@pytest.fixture
def no_detour(monkeypatch):
    """Make falling back on the general code an error."""

    def refuse(*_):
        raise AssertionError("the kernel was left")

    monkeypatch.setattr(cb.stability.TeachingSequences, "beliefs_of", refuse)


@pytest.mark.parametrize("name", ["M_1", "M_2", "M_3", "M_4", "M_5", "M'_1", "M'_2", "M'_3"])
def test_kernels_agree_with_the_general_code(name):
    example = cb.examples[name]
    size = example.model.num_hypotheses
    rng = np.random.default_rng(3)
    for prior in list(example.priors.values())[:2]:
        sequences = cb.stability.TeachingSequences.draw(
            example, int(rng.integers(size)), prior=prior, num_sequences=150, rng=rng
        )
        priors = np.concatenate(
            [rng.dirichlet(np.ones(size), 3), rng.dirichlet(np.ones(size) / 8)[None]]
        )
        found = beliefs_of_many(sequences, None, priors)
        assert np.allclose(found, by_general_code(sequences, None, priors), rtol=0.0, atol=1e-9)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.sampled_from([3, 4]))
def test_learners_with_other_matrices_agree_with_the_general_code(seed, size):
    rng = np.random.default_rng(seed)
    teacher, *matrices = rng.dirichlet(np.full(size, 0.7), (4, size)).transpose(0, 2, 1) + 1e-3
    sequences = cb.stability.TeachingSequences.draw(
        teacher, 0, num_sequences=40, max_rounds=80, rng=rng
    )
    priors = rng.dirichlet(np.full(size, 0.5), 3) * 0.99 + 0.01 / size
    found = beliefs_of_many(sequences, matrices, priors)
    assert np.allclose(found, by_general_code(sequences, matrices, priors), rtol=0.0, atol=1e-8)


@pytest.mark.parametrize("believed", range(4))
def test_a_learner_that_is_sure_of_something_else_stays_in_the_kernel(believed, no_detour):
    # The last column is eliminated first; where it holds all the belief, rounding could stall it.
    prior = np.full(4, 1e-9)
    prior[believed] = 1.0
    sequences = cb.stability.TeachingSequences.draw(cb.examples["M'_2"], 0, num_sequences=64, rng=1)
    found = beliefs_of_many(sequences, None, prior[None])
    assert ((found >= 0.0) & (found <= 1.0 + 1e-12)).all()


def test_the_teachers_own_learner_ends_where_the_teacher_does(no_detour):
    example = cb.examples["M_4"]
    sequences = cb.stability.TeachingSequences.draw(example, 1, num_sequences=70, rng=5)
    found = beliefs_of_many(sequences, None, sequences.prior)
    assert np.allclose(found[0], sequences.teacher_beliefs[:, 1], rtol=0.0, atol=1e-9)


def test_sequences_that_were_cut_off_are_followed_to_where_they_end(no_detour):
    sequences = cb.stability.TeachingSequences.draw(
        cb.examples["M_5"], 0, num_sequences=90, max_rounds=20, rng=2
    )
    assert sequences.num_unfinished > 0
    found = beliefs_of_many(sequences, None, sequences.prior)
    assert np.allclose(found[0], sequences.teacher_beliefs[:, 0], rtol=0.0, atol=1e-9)


@pytest.mark.parametrize(
    "matrix",
    [
        np.array([[0.6, 0.3], [0.4, 0.7]]),
        np.array([[0.5, 0.2, 0.1], [0.3, 0.3, 0.2], [0.1, 0.3, 0.3], [0.1, 0.2, 0.4]]),
        np.array([[0.5, 0.5, 1e-14], [0.4, 0.5, 2e-14], [1e-14, 1e-14, 1.0]]),
    ],
    ids=["two columns", "four rows", "nearly blocks"],
)
def test_other_matrices_are_left_to_the_general_code(matrix):
    sequences = cb.stability.TeachingSequences.draw(
        matrix, 0, num_sequences=30, max_rounds=50, rng=2
    )
    prior = np.linspace(1.0, 2.0, matrix.shape[1])
    prior /= prior.sum()
    found = beliefs_of_many(sequences, None, prior)
    assert np.array_equal(found, by_general_code(sequences, None, prior[None]))


def test_a_scaling_that_does_not_converge_is_left_to_the_general_code(monkeypatch):
    monkeypatch.setattr(followers, "LAST_STEP", 0.0)
    sequences = cb.stability.TeachingSequences.draw(cb.examples["M_3"], 0, num_sequences=20, rng=2)
    priors = np.array([[0.2, 0.3, 0.5]])
    found = beliefs_of_many(sequences, None, priors)
    assert np.array_equal(found, by_general_code(sequences, None, priors))
