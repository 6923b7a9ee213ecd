"""Paths on the triangle."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.plots import (
    plot_simplex_path,
    simplex,
)


def test_a_path_runs_through_the_projected_beliefs(lessons, ax):
    plot_simplex_path(lessons["BI"], ax=ax)
    plot_simplex_path(lessons["SCBI"], frame=False, ax=ax)
    lines = {line.get_label(): line for line in ax.get_lines()}
    for name, lesson in lessons.items():
        np.testing.assert_allclose(lines[name].get_xydata(), simplex.project(lesson.beliefs))
    assert [text.get_text() for text in ax.texts] == ["h₁", "h₂", "h₃"]


def test_a_path_needs_three_hypotheses():
    with pytest.raises(cb.CobayesError, match="exactly three hypotheses; this lesson has 2"):
        plot_simplex_path([[0.5, 0.5]])
