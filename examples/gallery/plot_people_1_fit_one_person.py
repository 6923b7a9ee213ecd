"""
Fit one person
==============

A person taught one of four regions by showing cells, one after another. How rational were the
choices, and how deep was the reasoning? The person is simulated, so the true parameters are known.
"""

# %%
# Fifteen problems, each a grid of 4 x 4 cells with four regions; a cell is in a region or not.
import matplotlib.pyplot as plt
import numpy as np

import cobayes as cb
from cobayes import people
from cobayes.plots import plot_calibration


def region(rng):
    cells = np.zeros((4, 4))
    top, left = rng.integers(0, 3, size=2)
    cells[top : top + rng.integers(2, 4), left : left + rng.integers(2, 4)] = 1.0
    return cells.ravel()


def problem(rng):
    while True:
        table = np.column_stack([region(rng) for _ in range(4)])
        table = table[table.any(axis=1)]
        if len(np.unique(table, axis=1).T) == 4 and len(table) > 8:
            return cb.Model(table, hypotheses=list("ABCD"))


rng = np.random.default_rng(2)
problems = {f"problem {i + 1}": problem(rng) for i in range(15)}
problems["problem 1"]

# %%
# A table of choices has one row per choice. `people.fit` also accepts the name of a CSV file.
truth = {"depth": 1, "rationality": 3.0, "lapse": 0.05}
choices = people.simulate(truth, problems, num_people=1, num_rounds=4, rng=5)
choices.head()

# %%
# Depth, rationality and lapse by maximum likelihood, with 95 % profile intervals:
fit = people.fit(choices, problems, people.Family(depth=(0, 1, np.inf)))
fit.estimates.T

# %%
# The likelihood of each depth. On tables of zeros and ones a literal teacher (depth 0) shows all
# true data equally often at any rationality, so the rationality is not identified and its estimate
# is empty.
fit.depths[["depth", "rationality", "lapse", "log_likelihood"]]

# %%
# Regressors for a behavioural or fMRI analysis, one row per choice: the belief of the learner whom
# the person imagines, the entropy of this belief, and the information gain of the choice.
fit.trials[["problem", "round", "belief", "entropy", "information_gain", "rank"]].head(8).round(3)

# %%
# A posterior predictive check: options with a high predicted probability should be chosen often.
# The band contains 95 % of the frequencies of simulated people with parameters drawn from the
# posterior.
figure, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
plot_calibration(people.calibration(fit, num_bins=5), ax=ax)
