"""A whole lesson in one figure."""

import pytest

import cobayes as cb
from cobayes.plots import (
    draw_lessons,
    save_lessons,
)
from cobayes.plots.house import shorten_label


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
        save_lessons([lessons["SCBI"]], tmp_path / "lesson.doc")
    with pytest.raises(cb.CobayesError, match="cannot be written"):
        save_lessons([lessons["SCBI"]], tmp_path / "nowhere" / "lesson.png")


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
        assert "th is named" in ax.get_xlabel()
