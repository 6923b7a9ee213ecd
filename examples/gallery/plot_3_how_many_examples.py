"""
How many examples do I need?
============================

This example simulates the lesson many times and shows the share of learners who are sure by round
*k*.
"""

# %%
import cobayes as cb
from cobayes.plots.comparison import plot_rounds_needed

example = cb.examples["gestures"]
prior = example.priors["tidy"]
ensembles = [
    cb.simulate(rule(example), "lamp", prior=prior, num_rounds=100, num_lessons=10_000, rng=3)
    for rule in (cb.BI, cb.SCBI)
]
for ensemble in ensembles:
    print(ensemble)

# %%
# A learner is sure when its belief is at least 95 % (``simulate(..., level=0.99)`` sets another
# level). The numbers of gestures after which half of the learners, and nine in ten, are sure:
for ensemble in ensembles:
    needed = ensemble.rounds_needed
    print(f"{ensemble.rule_name:>4}: half by {needed.median}, 90 % by {needed.quantile(0.9)}")

# %%
ax = plot_rounds_needed(ensembles)

# %%
# The first few rounds can be computed exactly, from all sequences of data.
exact = cb.exact_rounds(cb.SCBI(example), "lamp", num_rounds=6, prior=prior)
exact.to_dataframe().round(4)
