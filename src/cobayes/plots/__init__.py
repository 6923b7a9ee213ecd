"""Pictures of lessons, matrices and beliefs; every function takes and returns an Axes.

They need matplotlib (``pip install 'cobayes[plots]'``), which is imported at the first picture.
Colours are those of Okabe and Ito, and the map cividis, which colour-blind readers can tell apart;
no picture tells anything by colour alone.
"""

from cobayes.plots import simplex as simplex
from cobayes.plots.beliefs import plot_belief_bars as plot_belief_bars
from cobayes.plots.beliefs import plot_belief_curves as plot_belief_curves
from cobayes.plots.matrices import plot_matrix as plot_matrix
from cobayes.plots.matrices import plot_scaling as plot_scaling
from cobayes.plots.overview import draw_lessons as draw_lessons
from cobayes.plots.overview import save_lessons as save_lessons
from cobayes.plots.paths import plot_simplex_path as plot_simplex_path
from cobayes.plots.simplex import plot_simplex_points as plot_simplex_points

__all__ = [
    "draw_lessons",
    "plot_belief_bars",
    "plot_belief_curves",
    "plot_matrix",
    "plot_scaling",
    "plot_simplex_path",
    "plot_simplex_points",
    "save_lessons",
    "simplex",
]
