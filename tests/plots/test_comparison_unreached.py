"""A teacher whose learners do not become sure, beside one whose learners do."""

import cobayes as cb
from cobayes.plots import plot_teachers


def test_a_median_that_was_not_reached_is_drawn_beyond_the_last_round():
    model = cb.Model([[0.7, 0.2], [0.3, 0.8]])
    found = cb.lessons.compare_teachers(
        model,
        0,
        teachers=["random", "greedy"],
        learners=["bi"],
        num_rounds=5,
        num_lessons=50,
        rng=1,
    )
    assert [result.median_rounds for result in found.results] == [None, 3]
    ax = plot_teachers(found)
    assert [line.get_xdata()[0] for line in ax.lines[:2]] == [6, 3]
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "not reached"
    assert "rounds until the belief in the truth is 0.95" in ax.get_xlabel()
