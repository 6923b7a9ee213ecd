"""The public pictures, listed once."""

from . import simplex as simplex
from .beliefs import draw_lessons as draw_lessons
from .beliefs import plot_belief_bars as plot_belief_bars
from .beliefs import plot_belief_curves as plot_belief_curves
from .beliefs import save_lessons as save_lessons
from .comparison import plot_mean_beliefs as plot_mean_beliefs
from .comparison import plot_rounds_needed as plot_rounds_needed
from .comparison import plot_teachers as plot_teachers
from .house import style as style
from .matrices import plot_matrix as plot_matrix
from .matrices import plot_scaling as plot_scaling
from .people import plot_calibration as plot_calibration
from .people import plot_comparison as plot_comparison
from .people import plot_confusion as plot_confusion
from .people import plot_estimates as plot_estimates
from .people import plot_informative as plot_informative
from .people import plot_recovery as plot_recovery
from .people import plot_shrinkage as plot_shrinkage
from .robustness import plot_directions as plot_directions
from .robustness import plot_robustness_map as plot_robustness_map
from .simplex import plot_simplex_path as plot_simplex_path
from .simplex import plot_simplex_points as plot_simplex_points
from .worlds import plot_certainty as plot_certainty
from .worlds import plot_walk as plot_walk
from .worlds import plot_world as plot_world
from .worlds import save_animation as save_animation
