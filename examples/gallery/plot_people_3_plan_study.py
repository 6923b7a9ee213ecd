"""
Plan a study
============

Before anybody is tested: how many choices per person does it take to tell depth 1 from full
cooperation, and to know the rationality well enough?
"""

# %%
# Simulate the study that you plan, on your own problems, and fit it.
import matplotlib.pyplot as plt
import numpy as np

from cobayes import people
from cobayes.plots import plot_confusion, plot_recovery

rng = np.random.default_rng(4)
problems = {f"p{i}": rng.dirichlet(np.full(10, 0.5), size=3).T + 0.01 for i in range(12)}
family = people.Family(depth=(0, 1, np.inf), lapse=(0.0, 0.3))

wanted = {"depth": 0.9, "rationality": 3.0}
plan = people.plan_study(family, problems, precision=wanted, num_people=40, rng=1)
print(plan.conclusion)

# %%
# The lengths that were tried on the way: the share of people whose depth is recovered, and the
# median width of the 95 % interval of the rationality.
table = plan.table
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
accuracy = table["depth_accuracy"]
errors = [accuracy - table["depth_accuracy_low"], table["depth_accuracy_high"] - accuracy]
axes[0].errorbar(table["num_choices"], accuracy, yerr=errors, fmt="o-", capsize=3)
axes[0].set(xlabel="choices per person", ylabel="share of depths recovered", ylim=(0, 1.02))
axes[1].plot(table["num_choices"], table["rationality_width"], "o-")
axes[1].set(xlabel="choices per person", ylabel="width of the 95 % interval", ylim=(0, None))
for ax, name in zip(axes, wanted, strict=True):
    ax.axhline(wanted[name], color="0.5", linestyle="--", label=f"wanted: {wanted[name]}")
    ax.legend(frameon=False)
    ax.set_title(name, loc="left")

# %%
# The largest design in detail: estimates against the truth, and which depths are confused.
found = people.recover(family, problems, num_people=60, num_rounds=4, rng=2)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_recovery(found, "rationality", ax=axes[0])
plot_confusion(found, ax=axes[1])
found.coverage.round(3)
