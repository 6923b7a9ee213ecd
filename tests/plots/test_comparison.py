"""Pictures of many lessons."""

from dataclasses import replace

import numpy as np
import pytest

import cobayes as cb
from cobayes.plots import plot_mean_beliefs, plot_rounds_needed, plot_teachers


def test_the_axis_ends_soon_after_the_last_change(ax):
    mean = 1.0 - 0.5 ** np.arange(400)
    plot_mean_beliefs({"SCBI": (mean, np.zeros(400))}, ax=ax)
    assert ax.get_xlim()[1] <= 15
    assert "no change from here to 399" in ax.get_xlabel()
    # The markers are spread over the rounds that are drawn.
    lines = [line for line in ax.get_lines() if line.get_markevery() is not None]
    assert all(line.get_markevery() <= ax.get_xlim()[1] / 8 for line in lines)


def test_a_belief_that_never_changes_is_drawn(ax):
    plot_mean_beliefs({"SCBI": (np.full(400, 0.5), np.zeros(400))}, ax=ax)
    assert "no change from here to 399" in ax.get_xlabel()


def test_two_ensembles_of_one_rule_have_two_curves_with_different_names_and_looks():
    options = {"num_rounds": 5, "num_lessons": 50, "rng": 1}
    found = [cb.simulate("example:M_3", taught, **options) for taught in ("h_1", "h_2")]
    for ax, ends in ((plot_mean_beliefs(found), ""), (plot_rounds_needed(found), ", median never")):
        assert ax.get_legend_handles_labels()[1] == [f"SCBI{ends}", f"SCBI (2){ends}"]
        assert ax.get_lines()[0].get_color() != ax.get_lines()[1].get_color()
    assert plot_mean_beliefs(found).get_ylabel() == "mean belief in the truth"
    found[1] = cb.simulate("example:M_3", "h_2", level=0.8, **options)
    with pytest.raises(cb.CobayesError, match=r"levels \[0\.8, 0\.95\]; expected one level"):
        plot_rounds_needed(found)


def test_every_pair_of_teacher_and_learner_has_a_mark():
    model = np.random.default_rng(0).uniform(0.05, 1.0, (4, 3))
    found = cb.lessons.compare_teachers(
        model, 0, teachers=["literal", "greedy"], learners=["bi", "scbi"], num_lessons=20, rng=1
    )
    ax = plot_teachers(found)
    assert sum(len(line.get_xdata()) for line in ax.lines) == 4
    assert [label.get_text() for label in ax.get_yticklabels()] == ["literal", "greedy"]
    assert "0.95" in ax.get_xlabel()


def test_an_unreached_level_and_an_unfinished_search_are_told_from_numbers():
    model = np.random.default_rng(0).uniform(0.05, 1.0, (4, 3))
    options = {"teachers": ["random", "greedy", "optimal"], "learners": ["bi"], "num_lessons": 20}
    found = cb.lessons.compare_teachers(model, 0, num_rounds=5, level=0.7, rng=1, **options)
    random, greedy, optimal = found.results
    assert random.median_rounds is None
    assert greedy.median_rounds is not None
    unknown = replace(optimal, rounds_needed=random.rounds_needed, is_proved=False)
    ax = plot_teachers(replace(found, results=(random, greedy, unknown)))
    labels = {tick.get_text(): tick.get_position()[0] for tick in ax.get_xticklabels()}
    assert labels[">5"] == ax.lines[0].get_xdata()[0] == 6
    assert [line.get_marker() for line in ax.lines[1:3]] == ["s", "$?$"]
    named = [text.get_text() for text in ax.get_legend().get_texts()]
    assert named == ["BI learner", "unknown: search not finished", "not reached"]


def test_beliefs_are_drawn_if_nobody_reaches_the_level():
    model = np.random.default_rng(0).uniform(0.05, 1.0, (4, 3))
    options = {"teachers": ["literal", "greedy"], "learners": ["bi"], "num_lessons": 20, "rng": 1}
    found = cb.lessons.compare_teachers(model, 0, num_rounds=1, level=0.999, **options)
    ax = plot_teachers(found)
    places = [line.get_xdata()[0] for line in ax.lines[:2]]
    assert places == [result.beliefs[-1] for result in found.results]
    assert "mean belief in the truth after 1 round (0.999 not reached)" in ax.get_xlabel()


@pytest.mark.parametrize(("level", "kind"), [(0.7, "upper bound"), (1.0 - 1e-12, "lower bound")])
def test_an_open_mark_bounds_rounds_from_above_and_beliefs_from_below(level, kind):
    # An optimal lesson takes at most as many rounds as the best one found, and ends with at least
    # its belief.
    model = np.random.default_rng(0).uniform(0.05, 1.0, (4, 3))
    options = {"teachers": ["greedy"], "learners": ["bi"], "num_lessons": 20, "rng": 1}
    found = cb.lessons.compare_teachers(model, 0, num_rounds=5, level=level, **options)
    (greedy,) = found.results
    assert (greedy.median_rounds is None) == (kind == "lower bound")
    ax = plot_teachers(replace(found, results=(replace(greedy, is_proved=False),)))
    assert ax.lines[0].get_fillstyle() == "none"
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["BI learner", kind]


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
