"""
Explain a classifier with five examples
=======================================

A clinic uses one classifier of tumours. A reader knows that it is one of sixty trees that were
fitted to different samples of patients, but not which one. Which five patients, with the
classifier's verdict, should we show?
"""

# %%
# Sixty trees; a hypothesis is a tree, a datum is a patient with a verdict.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split
from sklearn.tree import DecisionTreeClassifier

import cobayes as cb

points, kinds = load_breast_cancer(return_X_y=True)
known, pool, known_kinds, _ = train_test_split(points, kinds, test_size=0.6, random_state=0)
shown, held_out = pool[:200], pool[200:]
rng = np.random.default_rng(0)
trees = {}
for number in range(60):
    sample = rng.integers(len(known), size=len(known))
    tree = DecisionTreeClassifier(max_depth=3, min_samples_leaf=5, random_state=number)
    trees[f"tree {number}"] = tree.fit(known[sample], known_kinds[sample])
truth = "tree 7"
verdict = trees[truth].predict(shown)
model = cb.model_from_classifiers(trees, shown, true_labels=verdict, smallest=0.02)
print(model)

# %%
# No patient is shown twice. The reader uses each tree's probability of the verdict without
# normalisation, and does not know that the patients were chosen.
column = model.hypothesis_index(truth)
reader = cb.Pragmatic(model, 0, literal="truth")
plan = cb.plan_lesson(cb.BI(cb.without_repeats(model)), truth, 5, learner_rule=reader)
print("the best five:", plan.data_labels)

# %%
# For comparison: five patients at random, and five nearest to the centres of the two kinds.


def prototypes():
    """Return five patients near the centres of the two kinds, one of each kind in turn."""
    scaled = (shown - shown.mean(axis=0)) / shown.std(axis=0)
    order = []
    for kind in (0, 1):
        members = np.flatnonzero(verdict == kind)
        centre = scaled[members].mean(axis=0)
        order.append(members[np.argsort(((scaled[members] - centre) ** 2).sum(axis=1))])
    return [order[k % 2][k // 2] for k in range(5)]


def beliefs(rows):
    """Return the reader's beliefs while these patients are shown."""
    learner = cb.Learner(reader)
    return np.array([learner.belief, *(learner.observe(row) for row in rows)])


ways = {
    "best order": plan.beliefs[None],
    "random": np.array([beliefs(rng.choice(len(shown), 5, replace=False)) for _ in range(100)]),
    "prototypes": beliefs(prototypes())[None],
}

# %%
# Two measures: the belief in the right tree, and the share of held-out patients for whom the
# vote of the trees, weighted by belief, agrees with the right tree.
answers = np.array([tree.predict(held_out) for tree in trees.values()])
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for (name, paths), marker in zip(ways.items(), "osd"):
    belief = paths[:, :, column].mean(axis=0)
    agreement = ((paths @ answers > 0.5) == answers[column]).mean(axis=(0, 2))
    left.plot(belief, marker=marker, label=name)
    right.plot(agreement, marker=marker, label=name)
    print(f"{name:>10}: belief {belief[-1]:.3f}, held-out agreement {agreement[-1]:.3f}")
left.set(xlabel="examples shown", ylabel="belief in the right tree")
right.set(xlabel="examples shown", ylabel="agreement on held-out patients")
left.legend()
