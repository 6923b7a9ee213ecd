"""
Plan a study
============

Before a study: which problems distinguish depth 1 from infinite depth, and how many choices per
person are needed?
"""

# %%
# There are forty candidate tables. They are ranked by the expected information of one response
# about the depth, in nats (depths 1 and infinity, which are hard to distinguish).
import matplotlib.pyplot as plt
import numpy as np

from cobayes import people
from cobayes.plots import plot_confusion, plot_informative, plot_recovery

rng = np.random.default_rng(4)
pool = {
    f"p{i}": rng.dirichlet(np.full(6, rng.choice([0.3, 1.0, 3.0])), size=4).T + 0.005
    for i in range(40)
}
family = people.Family(depth=(1, np.inf), lapse=0.05)
trials = people.informative(pool, family, rng=1)
plot_informative(trials, 15)

# %%
# The next code simulates and fits the study with the ten best problems and with ten random
# problems, for increasing numbers of lessons per problem.
best = trials.groupby("problem")["nats"].mean().nlargest(10).index
designs = {"best ten problems": best, "random ten": rng.permutation(list(pool))[:10]}
studies = {
    name: [
        people.recover(
            family,
            {problem: pool[problem] for problem in chosen},
            num_people=100,
            num_rounds=1,
            num_lessons=lessons,
            rng=1,
        )
        for lessons in (2, 4, 8, 16)
    ]
    for name, chosen in designs.items()
}

# %%
# The share of people whose depth is recovered, and the median width of the 95 % interval of the
# rationality.
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for (name, own), marker in zip(studies.items(), "os", strict=True):
    choices = [study.num_choices for study in own]
    axes[0].plot(choices, [study.depth_accuracy for study in own], f"{marker}-", label=name)
    widths = [study.coverage.loc["rationality", "median_width"] for study in own]
    axes[1].plot(choices, widths, f"{marker}-", label=name)
axes[0].axhline(0.9, color="0.5", linestyle="--", label="wanted")
axes[0].set(xlabel="choices per person", ylabel="share of depths recovered", ylim=(0.5, 1.02))
axes[1].set(xlabel="choices per person", ylabel="width of the 95 % interval", ylim=(0, None))
for ax, title in zip(axes, ("depth", "rationality"), strict=True):
    ax.legend(frameon=False)
    ax.set_title(title, loc="left")

# %%
# The longest study of the best problems in detail: estimates against the truth, and which depths
# are confused.
longest = studies["best ten problems"][-1]
figure, axes = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
plot_recovery(longest, "rationality", ax=axes[0])
plot_confusion(longest, ax=axes[1])
longest.coverage.round(3)
