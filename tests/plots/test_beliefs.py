"""Bars and curves show the beliefs of a lesson."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.plots import draw_lessons, plot_belief_bars, plot_belief_curves
from cobayes.plots.beliefs import require_picture_format, save_picture
from cobayes.plots.house import shorten_label


def test_bars_stack_to_the_beliefs_of_every_round(lessons, ax):
    lesson = lessons["SCBI"]
    assert plot_belief_bars(lesson, ax=ax) is ax
    heights = np.array([[bar.get_height() for bar in part] for part in ax.containers]).T
    taught_first = [0, 1, 2]  # h_1 is taught and is the first hypothesis already
    np.testing.assert_allclose(heights, lesson.beliefs[:, taught_first], atol=1e-12)
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    assert ticks == ["prior", *map(shorten_label, lesson.data_labels)]
    assert ax.get_xlabel()
    assert ax.get_ylabel() == "belief"


def test_bars_put_the_taught_hypothesis_lowest(ax):
    example = cb.examples["gestures"]
    rule = cb.SCBI(example)
    lesson = cb.run_lesson(cb.Teacher(rule, "lamp", rng=0), cb.Learner(rule), 3)
    plot_belief_bars(lesson, ax=ax)
    assert ax.containers[0].get_label() == "lamp (taught)"
    np.testing.assert_allclose(
        [bar.get_height() for bar in ax.containers[0]], lesson.beliefs[:, 3], atol=1e-12
    )
    assert [text.get_text() for text in ax.get_legend().get_texts()][-1] == "lamp (taught)"


def test_many_hypotheses_with_the_lowest_beliefs_are_one_part(ax):
    names = [f"the long name of a hypothesis, number {k}" for k in range(25)]
    model = cb.Model(np.random.default_rng(0).uniform(0.1, 1.0, (6, 25)), hypotheses=names)
    lesson = cb.run_lesson(cb.Teacher(cb.BI(model), 3, rng=0), cb.Learner(cb.BI(model)), 3)
    plot_belief_bars(lesson, ax=ax)
    labels = [part.get_label() for part in ax.containers]
    assert labels[0].endswith("ber 3 (taught)")  # the ends of long labels are kept
    assert len(set(labels)) == len(labels) <= 13
    assert labels[-1] == f"{25 - len(labels) + 1} others"
    heights = np.array([[bar.get_height() for bar in part] for part in ax.containers])
    np.testing.assert_allclose(heights.sum(axis=0), 1.0)


def test_of_many_hypotheses_before_the_first_round_the_most_likely_are_drawn(ax):
    plot_belief_bars([np.arange(1.0, 21.0) / 210.0], ax=ax)
    labels = [part.get_label() for part in ax.containers]
    assert labels == [*map(str, range(9, 20)), "9 others"]


def test_bars_of_a_plain_array_number_the_rounds(ax):
    plot_belief_bars([[0.5, 0.5], [0.9, 0.1]], hypotheses=["A", "B"], ax=ax)
    assert "round" in ax.get_xlabel()
    assert [part.get_label() for part in ax.containers] == ["A", "B"]


def test_bars_tell_more_than_eight_hypotheses_apart_by_hatching(ax):
    plot_belief_bars(np.full((2, 10), 0.1), ax=ax)
    looks = {(bar[0].get_facecolor(), bar[0].get_hatch()) for bar in ax.containers}
    assert len(looks) == 10


def test_curves_show_the_belief_in_the_taught_hypothesis(lessons, ax):
    assert plot_belief_curves(list(lessons.values()), ax=ax) is ax
    for line, (name, lesson) in zip(ax.get_lines(), lessons.items(), strict=True):
        assert line.get_label() == name
        np.testing.assert_allclose(line.get_ydata(), lesson.beliefs[:, 0])
    styles = {
        (line.get_color(), line.get_linestyle(), line.get_marker()) for line in ax.get_lines()
    }
    assert len(styles) == 2
    assert "h₁" in ax.get_ylabel()


def test_logarithmic_curves_stay_exact_where_the_belief_rounds_to_one(ax):
    rule = cb.SCBI([[0.9, 0.1], [0.1, 0.9]])
    lesson = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), 60)
    assert lesson.beliefs[-1, 0] == 1.0
    plot_belief_curves(lesson, log=True, ax=ax)
    doubt = ax.get_lines()[0].get_ydata()
    np.testing.assert_allclose(doubt, lesson.beliefs[:, 1], rtol=1e-12)
    assert 0 < doubt[-1] < 1e-17
    assert ax.get_yscale() == "log"


def test_curves_take_mappings_of_arrays_and_other_hypotheses(ax):
    path = np.array([[0.5, 0.5], [0.9, 0.1]])
    plot_belief_curves({"mine": path, "yours": path[::-1]}, hypothesis=1, ax=ax)
    assert [line.get_label() for line in ax.get_lines()] == ["mine", "yours"]
    np.testing.assert_allclose(ax.get_lines()[0].get_ydata(), [0.5, 0.1])


def test_curves_of_lessons_that_teach_different_things_are_an_error(lessons):
    rule = cb.BI(cb.examples["M_3"])
    other = cb.run_lesson(cb.Teacher(rule, "h_2", rng=0), cb.Learner(rule), 2)
    with pytest.raises(cb.CobayesError, match="different hypotheses: h_1, h_2"):
        plot_belief_curves([lessons["BI"], other])
    with pytest.raises(cb.CobayesError, match="no lesson"):
        plot_belief_curves([])


@pytest.mark.parametrize("hypothesis", [0, "h_1"])
def test_an_array_beside_a_lesson_has_its_labels(lessons, hypothesis):
    lesson = lessons["BI"]
    for curves in ([lesson, lesson.beliefs], {"BI": lesson, "lesson 2": lesson.beliefs.tolist()}):
        ax = plot_belief_curves(curves, hypothesis=hypothesis)
        assert [line.get_label() for line in ax.lines] == ["BI", "lesson 2"]
        assert ax.get_ylabel() == "belief in h₁"
        np.testing.assert_allclose(ax.lines[0].get_ydata(), ax.lines[1].get_ydata())
    with pytest.raises(cb.CobayesError, match="which hypothesis was taught"):
        plot_belief_curves([lesson, lesson.beliefs])


@pytest.mark.parametrize(
    ("beliefs", "message"),
    [
        ([0.5, 0.5], "shape"),
        ([[0.5, 0.6]], "its sum is not one"),
        ([[1.5, -0.5]], "its sum is not one"),
    ],
)
def test_an_array_that_holds_no_beliefs_is_an_error(beliefs, message):
    with pytest.raises(cb.CobayesError, match=message):
        plot_belief_bars(beliefs)
    with pytest.raises(cb.CobayesError, match="2 data were given for 1 round;"):
        plot_belief_bars([[0.5, 0.5], [0.9, 0.1]], data=["x", "y"])
    with pytest.raises(cb.CobayesError, match="which hypothesis was taught"):
        plot_belief_curves([[0.5, 0.5], [0.9, 0.1]])


def test_a_whole_lesson_is_drawn_into_one_figure(lessons, tmp_path):
    import matplotlib.pyplot as plt

    assert len(draw_lessons([lessons["SCBI"]]).axes) == 1
    panels = draw_lessons(list(lessons.values())).axes
    assert [panel.get_title(loc="left") for panel in panels] == [
        "BI teaches h₁",
        "SCBI teaches h₁",
        "",
    ]
    assert plt.get_fignums() == []
    with pytest.raises(cb.CobayesError, match="picture format"):
        require_picture_format(tmp_path / "lesson.doc")
    with pytest.raises(cb.CobayesError, match="cannot be written"):
        save_picture(draw_lessons([lessons["SCBI"]]), tmp_path / "nowhere" / "lesson.png")


@pytest.mark.parametrize("num_rounds", [12, 60, 400])
def test_every_lesson_names_its_data_whatever_its_length(num_rounds):
    rule = cb.SCBI(cb.examples["gestures"])
    lesson = cb.run_lesson(cb.Teacher(rule, 0, rng=1), cb.Learner(rule), num_rounds)
    figure = draw_lessons([lesson])
    figure.draw_without_rendering()
    (ax,) = figure.axes
    labels = [text.get_text() for text in ax.get_xticklabels()]
    assert labels[0] == "prior"
    assert set(labels[1:]) <= {shorten_label(label, 16) for label in lesson.model.data}
    if num_rounds < 200:
        assert len(labels) == num_rounds + 1
    else:
        assert "; one label per " in ax.get_xlabel()
