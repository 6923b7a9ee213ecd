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

plan = people.plan_study(family, problems, num_rounds=(1, 2, 4), num_people=40, rng=1)
plan.round(2).T

# %%
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
low, high = plan["depth_accuracy_low"], plan["depth_accuracy_high"]
accuracy = plan["depth_accuracy"]
axes[0].errorbar(plan["num_choices"], accuracy, yerr=[accuracy - low, high - accuracy], fmt="o-")
axes[0].set(xlabel="choices per person", ylabel="share of depths recovered", ylim=(0, 1.02))
axes[1].plot(plan["num_choices"], plan["rationality_width"], "o-")
axes[1].set(xlabel="choices per person", ylabel="width of the 95 % interval", ylim=(0, None))
axes[1].set_title("rationality", loc="left")

# %%
# The largest design in detail: estimates against the truth, and which depths are confused.
found = people.recover(family, problems, num_people=60, num_rounds=4, rng=2)
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_recovery(found, "rationality", ax=axes[0])
plot_confusion(found, ax=axes[1])
found.coverage.round(3)
