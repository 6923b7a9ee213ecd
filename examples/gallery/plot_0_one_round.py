"""
What one round of SCBI does to a matrix
=======================================

At every round the matrix is scaled to the learner's belief: rows sum to one, columns to the number
of data times the belief. A row is then the next belief, and a normalised column is the teacher's
distribution.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

import cobayes as cb

example = cb.examples["M_3"]
belief = [0.6, 0.3, 0.1]
figure, axes = plt.subplots(1, 2, figsize=(8, 3.4), layout="constrained")
cb.plots.plot_scaling(example, belief, axes=tuple(axes))

# %%
# The same with numbers: the scaled matrix is what `SCBI.posteriors` returns, its columns divided
# by their sums are the likelihood, and its rows average to the belief.
rule = cb.SCBI(example)
scaled = cb.scale(example, column_sums=3 * np.array(belief))
print(scaled)
print(np.allclose(scaled.matrix, rule.posteriors(belief)))
print(rule.posteriors(belief).mean(axis=0).round(12))

# %%
# A lesson is a path of beliefs in the triangle. Plain Bayes and SCBI, the same seed:
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
for ax, kind in zip(axes, (cb.BI, cb.SCBI)):
    rule = kind(example)
    lesson = cb.run_lesson(cb.Teacher(rule, "h_1", rng=2), cb.Learner(rule), 12)
    cb.plots.plot_simplex_path(lesson, ax=ax)
    ax.set_title(kind.__name__)
