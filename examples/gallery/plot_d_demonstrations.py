"""
Demonstrations that teach a reward
==================================

A robot carries a cup past a vase. Its reward is a weighted sum of features: time, closeness to the
vase, and acceleration. A learner watches and infers the weights. Which demonstrations should it
see?
"""

# %%
# Candidates are paths with a detour of some width, at some speed. Only their features matter.
import matplotlib.pyplot as plt
import numpy as np

import cobayes as cb

along = np.linspace(0.0, 1.0, 60)
vase = np.array([0.5, 0.0])
paths, features = {}, []
for detour in np.linspace(-0.1, 0.7, 9):
    for speed in (0.5, 1.0, 1.5):
        path = np.column_stack([along, detour * np.sin(np.pi * along)])
        length = np.linalg.norm(np.diff(path, axis=0), axis=1).sum()
        nearness = np.exp(-(((path - vase) / 0.15) ** 2).sum(axis=1)).mean()
        push = speed**2 * (0.3 + abs(detour))
        paths[f"detour {detour:.1f}, speed {speed:g}"] = path
        features.append([length / speed, nearness, push])
features = np.array(features) / np.max(features, axis=0)

# %%
# Hypotheses are weights. The table is that of a noisily rational demonstrator, who shows a path
# with a probability proportional to the exponential of its return.
rewards = {
    "fast": [3.0, 1.0, 1.0],
    "far from the vase": [1.0, 3.0, 1.0],
    "gentle": [1.0, 1.0, 3.0],
    "balanced": [2.0, 2.0, 2.0],
}
returns = -features @ np.array(list(rewards.values())).T
model = cb.Model(np.exp(2.0 * returns), list(paths), list(rewards))

# %%
# The truth is "far from the vase". Three ways to demonstrate it to a learner by BI: the path of
# the highest return in every round; paths drawn from the table; and the paths that teach best.
truth, num_shown = "far from the vase", 5
column = model.hypothesis_index(truth)
rule = cb.BI(model)
best = model.data[int(np.argmax(returns[:, column]))]
learner = cb.Learner(rule)
again = [learner.belief[column]] + [learner.observe(best)[column] for _ in range(num_shown)]
drawn = cb.simulate(rule, truth, num_rounds=num_shown, num_lessons=2000, rng=1)
plan = cb.plan_lesson(cb.BI(cb.without_repeats(model)), truth, num_shown)
planned = plan.beliefs[:, column]
print("best for the robot: ", best)
print("best for the learner:", *plan.data_labels[:3], sep="\n  ")

# %%
# The path that teaches best has a wider detour than the path of the highest return.
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for path in paths.values():
    left.plot(*path.T, color="0.88", linewidth=0.8)
left.plot(*paths[best].T, color="C2", linewidth=2.5, label="best for the robot")
left.plot(*paths[plan.data_labels[0]].T, color="C0", linewidth=2.5, label="best for the learner")
left.plot(*vase, "o", color="0.3", markersize=12)
left.annotate("vase", vase, xytext=(10, -15), textcoords="offset points")
left.set(xlabel="metres to the right", ylabel="metres aside", ylim=(-0.15, 1.0))
left.legend(loc="upper center", ncols=2)
for name, belief, marker in (
    ("paths that teach best", planned, "s"),
    ("paths drawn from the table", drawn.mean(), "o"),
    ("best for the robot, repeated", again, "d"),
):
    right.plot(belief, marker=marker, label=name)
    print(f"{name:>30}: {belief[-1]:.2f}")
right.set(xlabel="demonstrations shown", ylabel=f"belief in “{truth}”", ylim=(0, 1.02))
_ = right.legend(loc="lower right")
