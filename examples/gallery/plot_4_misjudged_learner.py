"""
My teacher misjudges the learner
================================

The teacher assumes one prior; the learner has another. How often does the learner still converge to
the truth?
"""

# %%
# The teacher assumes a uniform prior over three hypotheses. The learner has a smaller prior in
# the first hypothesis.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import cobayes as cb

example = cb.examples["M_3"]
believed = [1 / 3, 1 / 3, 1 / 3]
actual = [0.20, 0.45, 0.35]
rate = cb.success_rate(example, 0, prior=believed, learner_prior=actual, rng=1)
print(rate)

# %%
# To which hypothesis does the learner converge when it fails? One run with uniform data answers
# this for all hypotheses (:doc:`/beyond` explains why): rows are taught hypotheses, columns are
# final beliefs.
coupled = cb.coupling(example, prior=believed, learner_prior=actual, rng=2)
names = example.model.hypotheses
pd.DataFrame(coupled.confusion, index=names, columns=names).round(3)

# %%
# Two bounds hold for any matrix without zeros. With the priors p of the learner and q of the
# teacher in the taught hypothesis, the success rate is at most min(1, p / q) and at least
# max(0, p + q - 1) / q.
lower, upper = cb.stability.success_bounds(believed, actual, 0)
print(f"proved: between {lower:.3f} and {upper:.3f}; measured {rate.value:.3f}")

# %%
# The same for many learners on the same lessons, by their prior in the truth.
doubts = np.linspace(0.02, 0.6, 30)
rest = np.array([0.45, 0.35]) / 0.80
measured = cb.stability.success_rates(
    example,
    0,
    num_lessons=2000,
    prior=believed,
    learner_priors=[[p, *((1 - p) * rest)] for p in doubts],
    rng=1,
)
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
ax.plot(doubts, np.minimum(1, 3 * doubts), color="0.4", label="proved upper bound")
ax.errorbar(
    doubts,
    [m.value for m in measured],
    yerr=[2 * m.stderr for m in measured],
    fmt=".",
    label="2000 lessons each, two standard errors",
)
ax.set_xlabel("learner's prior in the hypothesis that is taught")
ax.set_ylabel("success rate")
ax.legend(frameon=False)
