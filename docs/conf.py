"""Settings of the documentation; `make docs` builds it, and a warning is an error."""

from __future__ import annotations

import gc
import os
import shutil
import sys
import warnings
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE / "extensions"))
# Pictures of the gallery are drawn without a screen, and examples print plain text.
os.environ.update(MPLBACKEND="Agg", NO_COLOR="1", COLUMNS="90")
# The trees of all pages are in use to the end: with Python's thresholds, a quarter of the time goes
# into looking for garbage in them. Without any limit, the build would need twice the memory.
gc.set_threshold(100_000, 50)
warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")

import cobayes  # noqa: E402

project = "cobayes"
author = "the cobayes developers"
copyright = f"2026, {author}"
version = release = cobayes.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
    "sphinx_copybutton",
    # Ours, in docs/extensions:
    "mathml",
    "public_names",
    "command_help",
    "repository_links",
    "live_figure",
]
# A test builds the pages alone. Another test runs the gallery's code, and the highlighted source of
# every module would take a quarter of the time.
PAGES_ONLY = os.environ.get("COBAYES_DOCS_PAGES_ONLY") == "1"
if not PAGES_ONLY:
    extensions.append("sphinx.ext.viewcode")

exclude_patterns = ["_build", "**/*.py", "gallery/*.ipynb", "gallery/*.codeobj.json"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}

myst_enable_extensions = ["dollarmath", "amsmath", "colon_fence", "deflist"]
myst_heading_anchors = 3

# In our docstrings a name in single back-quotes is a name of the library.
default_role = "py:obj"
# The types of parameters are added by docs/extensions/public_names.py, as the code writes them.
autodoc_typehints = "none"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
add_module_names = False
toc_object_entries_show_parents = "hide"

html_math_renderer = "mathml"
html_theme = "furo"
html_title = "cobayes"
html_static_path = ["static"]
html_css_files = ["cobayes.css"]
html_show_sphinx = False
html_copy_source = False
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True


def use_house_style(gallery_conf, name):
    del gallery_conf, name
    import matplotlib as mpl

    from cobayes.plots import house

    colors = mpl.cycler(color=house.HYPOTHESIS_COLORS)
    mpl.rcParams.update({**house.STYLE, "axes.prop_cycle": colors})


sphinx_gallery_conf = {
    "examples_dirs": "../examples/gallery",
    "gallery_dirs": "gallery",
    "filename_pattern": r".*\.py",
    "within_subsection_order": "FileNameSortKey",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    # The page of computation times would load scripts from a network.
    "write_computation_times": False,
    "show_signature": False,
    "min_reported_time": 1,
    "plot_gallery": not PAGES_ONLY,
    "image_srcset": ["2x"],
    # Results with HTML, such as tables, are shown; others, such as addresses of objects, are not.
    "capture_repr": ("_repr_html_",),
    "thumbnail_size": (480, 336),
    "reset_modules": ("matplotlib", use_house_style),
}
suppress_warnings = [
    # The gallery's configuration holds functions, which Sphinx cannot store between builds.
    "config.cache",
    # A name in back-quotes may be that of a parameter and, by chance, of several methods.
    "ref.python",
]


def use_own_thumbnails(app):  # noqa: ARG001
    """Show one panel of each example's figure: a wide figure would be too small to read."""
    for picture in (HERE / "pictures" / "gallery").glob("*.png"):
        thumbnail = HERE / "gallery" / "images" / "thumb" / f"sphx_glr_{picture.stem}_thumb.png"
        if thumbnail.parent.is_dir():
            shutil.copy(picture, thumbnail)


def setup(app):
    """Run after sphinx-gallery, which has made its thumbnails by then."""
    app.connect("builder-inited", use_own_thumbnails, priority=900)
