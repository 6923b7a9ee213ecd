"""
Grid world: moves that show where you are going
===============================================

A walker knows its goal; a watcher sees the moves and guesses. A cooperative walker prefers
moves that tell the goals apart.
"""

# %%
import matplotlib.pyplot as plt

import cobayes as cb
from cobayes.plots.worlds import plot_certainty, plot_trajectory

world = cb.GridWorld.paper(discount=0.5)
print(world.to_text())

# %%
# The matrix of a square: how good is each move for each goal? In general every square has its own.
world.matrix_at(world.start)

# %%
# From the start, a plain Bayesian walker to A finds "left" and "up" equally good. A cooperative one
# prefers "left", since "up" is as good for B.
belief = [0.5, 0.5]
for rule in (cb.BI, cb.SCBI):
    distribution = rule(world.matrix_at(world.start)).teach(belief, "A")
    print(rule.__name__, dict(zip(world.action_labels, distribution.round(3).tolist())))

# %%
# One shortest walk by each rule, drawn among the moves that lead to A.
trajectories = [
    cb.worlds.run_trajectory(
        cb.worlds.WorldTeacher(world, "A", rule, rng=1, moves="forward"),
        cb.worlds.WorldLearner(world, rule),
    )
    for rule in ("BI", "SCBI")
]
figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
for ax, trajectory in zip(axes, trajectories):
    plot_trajectory(trajectory, ax=ax)
axes[2].set_title("how sure the watcher is")
_ = plot_certainty(trajectories, ax=axes[2])

# %%
# Single walks are luck. Over many, how many moves until the watcher is 95 % sure?
for rule in ("BI", "SCBI"):
    found = cb.worlds.measure_legibility(world, "A", rule, num_walks=500, rng=1)
    print(f"{rule:>4}: {found.rounds:.2f} ± {found.rounds_stderr:.2f} moves")
