"""Draw the thumbnails of the gallery for examples/README.md: ``python docs/make_thumbnails.py``.

Two examples are drawn large, too, for the pages that show them.
"""

from __future__ import annotations

import os
import runpy
import sys
from pathlib import Path

import matplotlib as mpl

mpl.use("Agg")

from matplotlib import pyplot as plt
from matplotlib.figure import Figure
from matplotlib.transforms import Bbox

from cobayes import plots

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "examples" / "gallery"
FOLDER = ROOT / "docs" / "pictures" / "gallery"
WIDTH_IN_PIXELS, WIDTH_IN_INCHES = 480, 4.4
ON_PAGES = {"plot_a_five_examples": "five_examples", "plot_d_demonstrations": "demonstrations"}


def title_of(script: Path) -> str:
    lines = script.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines[1:] if line.strip())


def draw(script: Path) -> None:
    """Run a script and keep the first panel of its first figure."""
    plt.close("all")
    os.chdir(script.parent)
    with plots.style():
        runpy.run_path(str(script), run_name="__main__")
        plain = {"Software": None}
        if script.stem in ON_PAGES:
            name = f"{ON_PAGES[script.stem]}.png"
            plt.figure(plt.get_fignums()[-1]).savefig(FOLDER.parent / name, dpi=90, metadata=plain)
        figure = plt.figure(plt.get_fignums()[0])
        for other in (*figure.legends, *figure.axes[1:]):  # their texts would lie on the panel
            other.set_visible(False)
        # A wide panel is drawn smaller, so that its texts are larger relative to it.
        width = _panel(figure).width
        if width > WIDTH_IN_INCHES:
            figure.set_size_inches(figure.get_size_inches() * [WIDTH_IN_INCHES / width, 0.9])
        box = _panel(figure)
        figure.savefig(
            FOLDER / f"{script.stem}.png",
            dpi=WIDTH_IN_PIXELS / box.width,
            bbox_inches=box,
            metadata=plain,
        )


def _panel(figure: Figure) -> Bbox:
    """Return the box of the first panel and its texts, in inches."""
    figure.draw_without_rendering()
    box = figure.axes[0].get_tightbbox().padded(8.0)
    return box.transformed(figure.dpi_scale_trans.inverted())


def main(names: list[str]) -> None:
    """Draw the thumbnails of the named scripts (default: of all scripts)."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for script in sorted(SCRIPTS.glob("plot_*.py")):
        if not names or script.stem in names:
            draw(script)


if __name__ == "__main__":
    main(sys.argv[1:])
