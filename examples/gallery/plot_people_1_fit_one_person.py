"""
Fit one person
==============

A person taught which of four regions is meant by showing cells, one after another. How rational
were the choices, and how deep did the person think? Here the person is simulated, so we know.
"""

# %%
# Five problems, each a grid of 4 x 4 cells with four regions; a cell is in a region or not.
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
# A table of choices has one row per choice. Your own comes from a CSV file: `people.fit` takes
# the file's name as well.
truth = {"depth": 1, "rationality": 3.0, "lapse": 0.05}
choices = people.simulate(truth, problems, num_people=1, num_rounds=4, rng=5)
choices.head()

# %%
# Depth, rationality and lapse by maximum likelihood, with 95 % profile intervals:
fit = people.fit(choices, problems, people.Family(depth=(0, 1, np.inf)))
fit.estimates.T

# %%
# The likelihood of each depth. On tables of zeros and ones a literal teacher (depth 0) chooses
# evenly whatever the rationality is; the fit says so by leaving it empty.
fit.depths[["depth", "rationality", "lapse", "log_likelihood"]]

# %%
# What goes into a regression or an fMRI design: one row per choice with the belief that the person
# ascribes to the learner, its entropy, and the information that the choice gave.
fit.trials[["problem", "round", "belief", "entropy", "information_gain", "rank"]].head(8).round(3)

# %%
# Is the model any good? Options that it calls likely should be chosen often. The band is what
# people with parameters drawn from the fit's uncertainty would do.
figure, ax = plt.subplots(figsize=(4.6, 4.4), layout="constrained")
plot_calibration(people.calibration(fit, num_bins=5), ax=ax)
