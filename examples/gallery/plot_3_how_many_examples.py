"""
How many examples do I need?
============================

Simulate the lesson many times and read off how often the learner is sure by round *k*.
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
# A lesson ends well when the learner is 95 % sure (``simulate(..., level=0.99)`` asks for more).
# Half, and nine in ten, of the learners are that sure after so many gestures:
for ensemble in ensembles:
    needed = ensemble.rounds_needed
    print(f"{ensemble.rule_name:>4}: half by {needed.median}, 90 % by {needed.quantile(0.9)}")

# %%
ax = plot_rounds_needed(ensembles)

# %%
# For the first few rounds no sampling is needed: every sequence of data is followed, with its
# probability.
exact = cb.exact_rounds(cb.SCBI(example), "lamp", num_rounds=6, prior=prior)
exact.to_dataframe().round(4)
