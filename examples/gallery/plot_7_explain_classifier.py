"""
Choose explanations for a scikit-learn classifier
=================================================

A reader wants to know how a classifier decides. Which labelled points should we show? Hypotheses
are the classifiers that the reader considers possible; a datum is a point together with its label.
"""

# %%
# Four classifiers, trained on the same noisy data.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from sklearn.tree import DecisionTreeClassifier

import cobayes as cb

points, labels = make_moons(200, noise=0.25, random_state=0)
classifiers = {
    "linear": LogisticRegression(),
    "tree": DecisionTreeClassifier(max_depth=2, random_state=0),
    "neighbours": KNeighborsClassifier(15),
    "kernel": SVC(gamma=1.0, random_state=0),
}
for classifier in classifiers.values():
    classifier.fit(points, labels)

# %%
# An entry is the probability of a datum (one of forty points at random, and its label) under a
# classifier, if one label in twenty is wrong.
x, y = np.meshgrid(np.linspace(-1.4, 2.4, 8), np.linspace(-0.9, 1.4, 5))
shown = np.column_stack([x.ravel(), y.ravel()])
answers = np.array([classifier.predict(shown) for classifier in classifiers.values()]).T
says_one = np.where(answers == 1, 0.95, 0.05)
matrix = np.concatenate([1 - says_one, says_one]) / len(shown)
names = [f"({px:.2f}, {py:.2f}) is {label}" for label in (0, 1) for px, py in shown]
model = cb.Model(matrix, names, list(classifiers))
print(model)

# %%
# The best first explanations of the tree: points at which it disagrees with the others.
rule = cb.SCBI(model)
first = rule.teach([0.25] * 4, "tree")
for datum in np.argsort(-first)[:4]:
    print(f"{first[datum]:.3f}  {names[datum]}")

# %%
# Each panel explains one classifier. A dot is a point with the label that this classifier gives it;
# its size grows with the probability that it is shown first. A plain Bayesian explainer would show
# all points equally often.
figure, axes = plt.subplots(1, 4, figsize=(12, 3.1), layout="constrained", sharey=True)
gx, gy = np.meshgrid(np.linspace(-1.6, 2.6, 200), np.linspace(-1.1, 1.6, 150))
for ax, (name, classifier) in zip(axes, classifiers.items()):
    region = classifier.predict(np.column_stack([gx.ravel(), gy.ravel()])).reshape(gx.shape)
    ax.contourf(gx, gy, region, levels=[-0.5, 0.5, 1.5], colors=["#e8eef7", "#fbe6d4"])
    chance = rule.teach([0.25] * 4, name).reshape(2, -1)
    own = classifier.predict(shown)
    for label, color, marker in ((0, "#0072b2", "o"), (1, "#d55e00", "s")):
        here = own == label
        sizes = 60_000 * chance[label, here] ** 2  # squared, so that differences are easier to see
        ax.scatter(*shown[here].T, s=sizes, color=color, marker=marker)
    ax.set_title(name)
dots = [
    axes[-1].scatter([], [], color=color, marker=marker)
    for color, marker in (("#0072b2", "o"), ("#d55e00", "s"))
]
figure.legend(dots, ["is 0", "is 1"], loc="outside right center")

# %%
# How many labelled points until the reader is 95 % sure which classifier it is?
for name in classifiers:
    medians = {
        kind.__name__: cb.simulate(
            kind(model), name, num_rounds=100, num_lessons=2000, rng=1
        ).rounds_needed.median
        for kind in (cb.BI, cb.SCBI)
    }
    print(name, medians)
