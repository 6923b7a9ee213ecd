"""
My teacher misjudges the learner
================================

The teacher takes the learner to start from one prior; the learner starts from another. How often
does the learner still end up at the truth?
"""

# %%
# The teacher thinks that all three hypotheses are equally likely to the learner. The learner, in
# truth, doubts the first one.
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
# Where does the learner end when it fails? One run with uniform data answers for every
# hypothesis at once (see :doc:`/beyond` for why): row = what was taught, column = what is believed.
coupled = cb.coupling(example, prior=believed, learner_prior=actual, rng=2)
names = example.model.hypotheses
pd.DataFrame(coupled.confusion, index=names, columns=names).round(3)

# %%
# Two bounds hold for any matrix: success is at most min(1, learner's prior / teacher's prior), and
# at least what is left when the two agree as little as possible.
lower, upper = cb.stability.success_bounds(believed, actual, 0)
print(f"proved: between {lower:.3f} and {upper:.3f}; measured {rate.value:.3f}")

# %%
# The same for many learners, from deep doubt to trust in the truth, on the same lessons.
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
