"""
Grid world: moves that show where you are going
===============================================

A walker knows its goal; a watcher infers the goal from the moves. A cooperative walker prefers
moves that distinguish the goals.
"""

# %%
import matplotlib.pyplot as plt

import cobayes as cb
from cobayes.plots import plot_certainty, plot_walk

world = cb.GridWorld.paper(discount=0.5)
print(world.to_text())

# %%
# The matrix of a square has the value of each move for each goal. In general every square has
# its own matrix.
world.matrix_at(world.start)

# %%
# From the start, a plain Bayesian walker to A finds "left" and "up" equally good. A cooperative
# walker prefers "left", since "up" is equally good for B.
belief = [0.5, 0.5]
for rule in (cb.BI, cb.SCBI):
    distribution = rule(world.matrix_at(world.start)).teach(belief, "A")
    print(rule.__name__, dict(zip(world.action_labels, distribution.round(3).tolist())))

# %%
# One shortest walk by each rule, drawn among the moves that lead to A.
walks = [
    cb.run_lesson(cb.Teacher(rule, "A", rng=1, choice="forward"), cb.Learner(rule), 100)
    for rule in (cb.BI(world), cb.SCBI(world))
]
figure, axes = plt.subplots(1, 3, figsize=(12, 3.2), layout="constrained")
for ax, walk in zip(axes, walks):
    plot_walk(walk, ax=ax)
axes[2].set_title("how sure the watcher is")
_ = plot_certainty(walks, ax=axes[2])

# %%
# A single walk depends on chance. The mean number of moves until the watcher is 95 % sure, over
# many walks:
for rule in (cb.BI(world), cb.SCBI(world)):
    found = cb.worlds.measure_legibility(rule, "A", num_lessons=500, rng=1)
    print(f"{rule.name:>4}: {found.rounds:.2f} ± {found.rounds_stderr:.2f} moves")
