"""
Compare depths of people
========================

Twelve people taught; some reason about the learner's belief, some do not. Which model describes the
group, and which model describes each person?
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from cobayes import people
from cobayes.plots import plot_comparison, plot_estimates

rng = np.random.default_rng(4)
problems = {f"p{i}": rng.dirichlet(np.full(10, 0.5), size=3).T + 0.01 for i in range(12)}
crowd = pd.DataFrame(
    {
        "person": [f"P{i:02d}" for i in range(1, 13)],
        "depth": [0.0] * 3 + [1.0] * 9,
        "rationality": [1.0] * 3 + [3.0] * 9,
        "lapse": 0.05,
    }
)
choices = people.simulate(crowd, problems, num_rounds=4, rng=1)

# %%
# One fit over all depths; each depth is then a separate model.
fit = people.fit(choices, problems, people.Family(depth=(0, 1, 2, np.inf)))
models = {f"depth {depth:g}": fit.at_depth(depth) for depth in fit.family.depth}
comparison = people.compare(models, num_draws=100, cross_validation=True)
comparison.table.round(3)

# %%
# The conclusion and its limits:
print(comparison.conclusion)

# %%
figure, axes = plt.subplots(1, 2, figsize=(11, 3.8), layout="constrained")
plot_comparison(comparison, ax=axes[0])
plot_estimates(fit, "rationality", ax=axes[1])

# %%
# The probability of each model for each person, from the group analysis, with the true depths:
shares = pd.DataFrame(
    comparison.exceedance.attributions, index=fit.units, columns=list(models)
).round(2)
shares.assign(true_depth=crowd["depth"].to_numpy())
