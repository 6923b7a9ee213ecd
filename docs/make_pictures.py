"""Draw the pictures that README and pages show: ``python docs/make_pictures.py [NAME]...``."""

from __future__ import annotations

import sys
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd

mpl.use("Agg")

from matplotlib import pyplot as plt

import cobayes as cb
from cobayes.plots.comparison import plot_rounds_needed
from cobayes.plots.house import line_style

FOLDER = Path(__file__).parent / "pictures"
# Files have no date and no version of matplotlib, so that equal pictures have equal bytes.
PLAIN = {"Software": None}


def draw_overview() -> None:
    """The gestures of a literal and a cooperative robot, and the rounds until watchers are sure."""
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
        cb.simulate(rule, "bowl", num_rounds=80, num_lessons=10_000, rng=1)
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
    """A listener's belief after the word "glasses", by depth and rationality."""
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


def draw_walk() -> None:
    """The walks that robots.md prints, and the watcher's belief in the goal."""
    board = cb.GridWorld.from_text("A.....B\n.......\n...S...", discount=0.5)
    walks = [cb.worlds.plan_walk(rule, "A") for rule in (cb.BI(board), cb.SCBI(board))]
    figure, axes = plt.subplots(1, 3, figsize=(10, 2.9), layout="constrained")
    for ax, walk in zip(axes, walks, strict=False):
        cb.plots.plot_walk(walk, ax=ax)
    cb.plots.plot_certainty(walks, ax=axes[2])
    axes[2].set_title("How sure the watcher is", fontsize=11)
    figure.savefig(FOLDER / "walk.png", dpi=90, metadata=PLAIN)


def draw_people() -> None:
    """A group of forty simulated teachers, and the most informative trials about depth."""
    rng = np.random.default_rng(4)
    problems = {f"p{i}": rng.dirichlet(np.full(10, 0.5), size=3).T + 0.01 for i in range(12)}
    crowd = pd.DataFrame(
        {
            "person": [f"P{i:02d}" for i in range(1, 41)],
            "depth": rng.choice([0.0, 1.0, np.inf], 40),
            "rationality": 20.0 / (1.0 + np.exp(1.7 + 0.5 * rng.standard_normal(40))),
            "lapse": 0.05,
        }
    )
    choices = cb.people.simulate(crowd, problems, num_rounds=2, rng=1)
    family = cb.people.Family(depth=(0, 1, np.inf))
    figure, ax = plt.subplots(figsize=(5.4, 4.2), layout="constrained")
    cb.people.fit_group(choices, problems, family, rng=1).plot("rationality", ax=ax)
    figure.savefig(FOLDER / "shrinkage.png", dpi=90, metadata=PLAIN)
    figure, ax = plt.subplots(figsize=(6.4, 4.2), layout="constrained")
    cb.plots.plot_informative(cb.people.informative(problems, family, rng=1), 15, ax=ax)
    figure.savefig(FOLDER / "informative.png", dpi=90, metadata=PLAIN)


def draw_lesson() -> None:
    """The lesson of the quickstart by both rules."""
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained", sharey=True)
    for ax, kind in zip(axes, (cb.BI, cb.SCBI), strict=True):
        rule = kind("example:gestures")
        lesson = cb.run_lesson(cb.Teacher(rule, "bowl", rng=6), cb.Learner(rule), 6)
        cb.plots.plot_belief_bars(lesson, ax=ax)
        ax.set_title(f"{rule.name} teaches bowl")
    figure.savefig(FOLDER / "lesson.png", dpi=90, metadata=PLAIN)


def draw_trees() -> None:
    """The maple of the tutorial: one lesson, and the rounds that many lessons need."""
    counts = pd.DataFrame(
        [(40, 42, 41, 40), (4, 6, 36, 20), (38, 0, 1, 28), (6, 37, 2, 2), (9, 0, 0, 0),
         (0, 2, 19, 0), (0, 0, 6, 13)],
        index=["green leaves", "toothed edge", "lobed leaf", "smooth edge", "acorns below",
               "white bark", "winged seeds"],
        columns=["oak", "beech", "birch", "maple"],
    )  # fmt: skip
    model = cb.Model(counts)
    rule = cb.SCBI(model)
    lesson = cb.run_lesson(cb.Teacher(rule, "maple", rng=2), cb.Learner(rule), 6)
    ensembles = [
        cb.simulate(kind(model), "maple", num_rounds=30, num_lessons=10_000, rng=1)
        for kind in (cb.BI, cb.SCBI)
    ]
    figure, axes = plt.subplots(1, 2, figsize=(10, 3.4), layout="constrained")
    cb.plots.plot_belief_bars(lesson, ax=axes[0])
    axes[0].set_title("One lesson about the maple (SCBI)")
    cb.plots.plot_rounds_needed(ensembles, ax=axes[1])
    axes[1].set_title("Ten thousand lessons")
    figure.savefig(FOLDER / "trees.png", dpi=90, metadata=PLAIN)


def draw_one_round() -> None:
    """A matrix beside its scaling for one round, and a lesson as a path of beliefs."""
    example = cb.examples["M_3"]
    figure, axes = plt.subplots(
        1, 3, figsize=(10, 3.3), layout="constrained", width_ratios=[1, 1, 1.1]
    )
    cb.plots.plot_scaling(example, [0.6, 0.3, 0.1], axes=tuple(axes[:2]))
    rule = cb.SCBI(example)
    lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=2), cb.Learner(rule), 12)
    cb.plots.plot_simplex_path(lesson, ax=axes[2])
    axes[2].set_title("12 rounds of a lesson")
    figure.savefig(FOLDER / "one_round.png", dpi=90, metadata=PLAIN)


PICTURES = {
    "overview": draw_overview,
    "depth": draw_depth,
    "walk": draw_walk,
    "people": draw_people,
    "lesson": draw_lesson,
    "trees": draw_trees,
    "one_round": draw_one_round,
}

if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in sys.argv[1:] or PICTURES:
        with cb.plots.style():
            PICTURES[name]()
