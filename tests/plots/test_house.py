"""What all pictures have in common."""

import matplotlib as mpl
import pytest

import cobayes as cb
from cobayes import plots
from cobayes.plots import (
    plot_belief_bars,
    plot_belief_curves,
    plot_matrix,
    plot_simplex_path,
)


def test_given_axes_leave_pyplot_alone(lessons, ax):
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
