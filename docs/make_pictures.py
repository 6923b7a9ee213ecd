"""Draw the pictures that README and pages show: ``python docs/make_pictures.py``."""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

from matplotlib import pyplot as plt

import cobayes as cb
from cobayes.plots.comparison import plot_rounds_needed
from cobayes.plots.house import line_style

FOLDER = Path(__file__).parent / "pictures"
# Nothing in the file may tell when or with what it was drawn.
PLAIN = {"Software": None}


def draw_overview() -> None:
    """What a cooperative robot does differently, and what its watchers gain."""
    example = cb.examples["gestures"]
    rules = {"BI": cb.BI(example), "SCBI": cb.SCBI(example)}
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(10, 3.7), layout="constrained", width_ratios=[1, 1.15]
    )
    uniform = np.full(4, 0.25)
    chances = {name: rule.teach(uniform, "bowl") for name, rule in rules.items()}
    places = np.arange(example.model.num_data)
    for shift, (name, chance) in zip((-0.2, 0.2), chances.items(), strict=True):
        color = line_style(name, 0)["color"]
        left.barh(places + shift, chance, height=0.38, color=color, label=name)
    left.set_yticks(places, example.model.data)
    left.invert_yaxis()
    left.set_xlabel("chance that this is the first gesture")
    left.set_title("A robot that means the bowl", fontsize=11)
    left.legend(frameon=False, loc="lower right")
    left.spines[["top", "right"]].set_visible(False)
    ensembles = [
        cb.simulate(rule, "bowl", num_rounds=80, num_lessons=20_000, rng=1)
        for rule in rules.values()
    ]
    plot_rounds_needed(ensembles, ax=right)
    right.set_title("People who watch it", fontsize=11)
    right.set_xlabel("gestures seen")
    right.set_ylabel("share who are 95 % sure")
    figure.savefig(FOLDER / "overview.png", dpi=90, metadata=PLAIN)
    for ensemble in ensembles:
        print(ensemble.rule_name, "median", ensemble.rounds_needed.median)


def draw_depth() -> None:
    """What a listener makes of the word "glasses", by depth and rationality."""
    game = cb.examples["reference-game"].model
    prior, face = game.distribution(), game.hypothesis_index("glasses only")
    depths = range(9)
    figure, ax = plt.subplots(figsize=(6.4, 3.4), layout="constrained")
    for alpha, color in ((1.0, "#0072B2"), (2.0, "#E69F00"), (4.0, "#009E73")):
        belief = [
            cb.Pragmatic(game, depth, rationality=alpha).update(prior, "glasses")[face]
            for depth in depths
        ]
        ax.plot(depths, belief, "o-", color=color, label=f"rationality {alpha:g}", markersize=4)
    ax.axhline(1.0, color="0.6", linewidth=0.8, linestyle="--")
    ax.text(8, 0.985, "SCBI (infinite depth)", ha="right", va="top", fontsize=9, color="0.35")
    ax.text(0.15, 0.585, "plain Bayes", ha="left", va="top", fontsize=9, color="0.35")
    ax.set_xlabel("depth: how often the speaker thinks of the listener")
    ax.set_ylabel('belief in "glasses only"\nafter the word "glasses"')
    ax.set_ylim(0.55, 1.02)
    ax.legend(frameon=False, loc="center right")
    ax.spines[["top", "right"]].set_visible(False)
    figure.savefig(FOLDER / "depth.png", dpi=90, metadata=PLAIN)


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    draw_overview()
    draw_depth()
