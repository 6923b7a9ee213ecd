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

from cobayes import plots

ROOT = Path(__file__).parents[1]
SCRIPTS = ROOT / "examples" / "gallery"
FOLDER = ROOT / "docs" / "pictures" / "gallery"
WIDTH_IN_PIXELS = 360
ON_PAGES = {"plot_a_five_examples": "five_examples", "plot_d_demonstrations": "demonstrations"}


def title_of(script: Path) -> str:
    """Return the heading of a script of the gallery."""
    lines = script.read_text(encoding="utf-8").splitlines()
    return next(line for line in lines[1:] if line.strip())


def draw(script: Path) -> None:
    """Run a script and keep its last figure, small."""
    plt.close("all")
    os.chdir(script.parent)
    with plots.style():
        runpy.run_path(str(script), run_name="__main__")
        figure = plt.figure(plt.get_fignums()[-1])
        dots = WIDTH_IN_PIXELS / figure.get_figwidth()
        plain = {"Software": None}
        figure.savefig(FOLDER / f"{script.stem}.png", dpi=dots, metadata=plain)
        if script.stem in ON_PAGES:
            name = f"{ON_PAGES[script.stem]}.png"
            figure.savefig(FOLDER.parent / name, dpi=90, metadata=plain)


def main(names: list[str]) -> None:
    """Draw all thumbnails, or those of the scripts named."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for script in sorted(SCRIPTS.glob("plot_*.py")):
        if not names or script.stem in names:
            draw(script)


if __name__ == "__main__":
    main(sys.argv[1:])
