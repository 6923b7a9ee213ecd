"""
Plan a study
============

Before anybody is tested: how many choices per person does it take to tell depth 1 from full
cooperation, and to know the rationality well enough?
"""

# %%
# Simulate the study that you plan, on your own problems, with more and more lessons per problem,
# and fit it.
import matplotlib.pyplot as plt
import numpy as np

from cobayes import people
from cobayes.plots import plot_confusion, plot_recovery

rng = np.random.default_rng(4)
problems = {f"p{i}": rng.dirichlet(np.full(10, 0.5), size=3).T + 0.01 for i in range(12)}
family = people.Family(depth=(0, 1, np.inf), lapse=(0.0, 0.3))
studies = [
    people.recover(family, problems, num_people=40, num_rounds=2, num_lessons=lessons, rng=1)
    for lessons in (1, 2, 4, 8)
]

# %%
# The share of people whose depth is recovered, and the median width of the 95 % interval of the
# rationality.
choices = [study.num_choices for study in studies]
accuracy = [study.depth_accuracy for study in studies]
width = [study.coverage.loc["rationality", "median_width"] for study in studies]
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
axes[0].plot(choices, accuracy, "o-")
axes[0].set(xlabel="choices per person", ylabel="share of depths recovered", ylim=(0, 1.02))
axes[1].plot(choices, width, "o-")
axes[1].set(xlabel="choices per person", ylabel="width of the 95 % interval", ylim=(0, None))
for ax, name, wanted in zip(axes, ("depth", "rationality"), (0.9, 3.0), strict=True):
    ax.axhline(wanted, color="0.5", linestyle="--", label=f"wanted: {wanted}")
    ax.legend(frameon=False)
    ax.set_title(name, loc="left")

# %%
# The longest study in detail: estimates against the truth, and which depths are confused.
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_recovery(studies[-1], "rationality", ax=axes[0])
plot_confusion(studies[-1], ax=axes[1])
studies[-1].coverage.round(3)
