"""
From literal Bayes to full cooperation: depth
=============================================

The depth is the number of steps in which teacher and learner reason about each other. Depth 0 is
plain Bayes, depth 1 is the model of rational speech acts, and infinite depth is SCBI.
"""

# %%
# Belief in the truth after one datum, for depths 0 to 8, in the reference game of three faces.
import matplotlib.pyplot as plt
import numpy as np

import cobayes as cb

game = cb.examples["reference-game"].model
uniform = game.distribution()
truth = game.hypothesis_index("glasses only")
depths = np.arange(9)
figure, ax = plt.subplots(figsize=(6.4, 3.6), layout="constrained")
for rationality in (1.0, 2.0, 4.0):
    beliefs = [
        cb.Pragmatic(game, int(depth), rationality=rationality).update(uniform, "glasses")[truth]
        for depth in depths
    ]
    ax.plot(depths, beliefs, marker="o", label=f"rationality {rationality:g}")
limit = cb.SCBI(game).update(uniform, "glasses")[truth]
ax.axhline(limit, color="0.4", linestyle="--", label="infinite depth (SCBI)")
ax.set(xlabel="depth", ylabel='belief in "glasses only" after "glasses"', ylim=(0.5, 1.03))
ax.legend(frameon=False, loc="lower right")

# %%
# The same over whole lessons: rounds until half of the learners are 95 % sure.
gestures = cb.examples["gestures"].model
for depth in (0, 1, 2, 4, np.inf):
    rule = cb.Pragmatic(gestures, depth)
    ensemble = cb.simulate(rule, "bowl", num_rounds=80, num_lessons=2000, rng=1)
    print(f"depth {depth:g}: {ensemble.rounds_needed.median} gestures")
