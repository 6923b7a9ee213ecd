"""Pictures of many lessons."""

import numpy as np

from cobayes.plots import (
    plot_mean_beliefs,
)


def test_a_comparison_does_not_spend_its_axis_on_the_flat_tail(ax):
    mean = 1.0 - 0.5 ** np.arange(400)
    plot_mean_beliefs({"SCBI": (mean, np.zeros(400))}, ax=ax)
    assert ax.get_xlim()[1] <= 15
    assert "no change from here to 399" in ax.get_xlabel()
