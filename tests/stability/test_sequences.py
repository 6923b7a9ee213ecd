"""Teaching sequences and those who follow them."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.stability import TeachingSequences


def test_the_teachers_own_learner_ends_where_the_teacher_does():
    sequences = TeachingSequences.draw(cb.examples["M_4"], 1, num_sequences=70, rng=5)
    assert np.allclose(sequences.beliefs_of(), sequences.teacher_beliefs, rtol=0.0, atol=1e-9)


def test_sequences_that_were_cut_off_are_followed_to_where_they_end():
    sequences = TeachingSequences.draw(
        cb.examples["M_5"], 0, num_sequences=90, max_rounds=20, rng=2
    )
    assert sequences.num_unfinished > 0
    assert np.allclose(sequences.beliefs_of(), sequences.teacher_beliefs, rtol=0.0, atol=1e-9)


@pytest.mark.parametrize("believed", range(4))
def test_a_learner_that_is_sure_of_something_else_keeps_a_belief(believed):
    prior = np.full(4, 1e-9)
    prior[believed] = 1.0 - 3e-9
    sequences = TeachingSequences.draw(cb.examples["M'_2"], 0, num_sequences=64, rng=1)
    found = sequences.beliefs_of(prior=prior)
    assert ((found >= 0.0) & (found <= 1.0)).all()
    assert np.allclose(found.sum(axis=1), 1.0, rtol=0.0, atol=1e-12)
