"""What all pictures have in common."""

import matplotlib as mpl
import numpy as np
import pytest

import cobayes as cb
from cobayes import plots
from cobayes.plots import (
    plot_belief_bars,
    plot_belief_curves,
    plot_matrix,
    plot_simplex_path,
)
from cobayes.plots.house import with_subscripts


def test_given_axes_make_no_figure_of_pyplot(lessons, ax):
    import matplotlib.pyplot as plt

    plot_belief_bars(lessons["SCBI"], ax=ax)
    plot_belief_curves(lessons, ax=ax)
    plot_matrix(cb.examples["M_1"], ax=ax)
    plot_simplex_path(lessons["SCBI"], ax=ax)
    assert plt.get_fignums() == []
    plot_belief_bars(lessons["SCBI"])
    assert len(plt.get_fignums()) == 1


def test_without_matplotlib_the_error_names_the_extra(monkeypatch, lessons):
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(
        cb.MissingDependencyError, match=r"clone of cobayes: pip install '\.\[plots\]'"
    ):
        plot_belief_bars(lessons["SCBI"])


def test_all_pictures_are_exported_and_share_one_style():
    import importlib
    import pkgutil

    found = {
        name
        for module in pkgutil.iter_modules(plots.__path__)
        for name in vars(importlib.import_module(f"cobayes.plots.{module.name}"))
        if name.startswith("plot_")
    }
    assert found <= set(plots.__all__)
    with plots.style():
        assert not mpl.rcParams["axes.spines.top"]
    assert mpl.rcParams["axes.spines.top"]


def pictures():
    return [name for name in dir(plots) if name.startswith(("plot_", "draw_", "save_"))]


@pytest.mark.parametrize("wrong", [None, "text", 3, [], [3], object], ids=str)
@pytest.mark.parametrize("name", pictures())
def test_a_wrong_object_is_a_clear_error(name, wrong, tmp_path):
    more = {"save_animation": [tmp_path / "a.gif"]}
    more["plot_robustness_map"] = [[[0.2, 0.3, 0.5]], [1.0]]
    with pytest.raises(cb.CobayesError):
        getattr(plots, name)(wrong, *more.get(name, []))


@pytest.mark.parametrize(
    ("name", "printed"),
    [
        ("h_1", "h₁"),
        ("M'_2", "M′₂"),
        ("theta'_5", "θ′₅"),
        ("my_1", "my_1"),
        ("M_1, new", "M₁, new"),
    ],
)
def test_names_of_the_paper_are_written_as_it_prints_them(name, printed):
    assert with_subscripts(name) == printed


def test_a_world_is_not_a_walk():
    with pytest.raises(cb.CobayesError, match="lesson is of type GridWorld; expected a walk"):
        plots.plot_walk(cb.GridWorld.paper())


def test_a_flag_that_is_neither_true_nor_false_is_refused(lessons):
    odd = np.array([1, 2])
    for draw in (
        lambda: plot_belief_bars(lessons["SCBI"], legend=odd),
        lambda: plot_belief_curves(lessons, log=odd),
        lambda: plot_matrix("example:M_1", write_values=odd),
        lambda: plot_matrix("example:M_1", colorbar=odd),
        lambda: plot_simplex_path(lessons["SCBI"], frame=odd),
        lambda: plots.plot_simplex_points([0.2, 0.3, 0.5], frame=odd),
    ):
        with pytest.raises(cb.CobayesError, match="is of type ndarray; expected True"):
            draw()


def test_a_row_of_axes_is_refused(lessons):
    from matplotlib.figure import Figure

    with pytest.raises(cb.CobayesError, match="ax is of type ndarray; expected Axes"):
        plot_belief_bars(lessons["SCBI"], ax=Figure().subplots(1, 2))
