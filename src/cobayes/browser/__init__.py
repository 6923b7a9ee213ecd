"""Pages for the browser: the studio, live figures and experiments.

`page` makes the studio's HTML file, `experiment` a folder with a jsPsych experiment, and `bundle`
joins the JavaScript modules of `twin/`, `page/` and `experiment/` into one script.
"""

from cobayes.browser.experiment import write_experiment
from cobayes.browser.page import Studio, live_figure, studio

__all__ = ["Studio", "live_figure", "studio", "write_experiment"]
