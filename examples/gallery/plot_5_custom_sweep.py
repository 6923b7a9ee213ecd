"""
A custom Monte-Carlo sweep
==========================

Many points, many samples each, resumable, and the same bits on one core, on many, or on a
cluster: write a function that computes one shard, and list the points.
"""

# %%
# The question: how much does the belief in the truth after ten rounds gain from cooperation,
# when the matrix is random? One sample is one random matrix. A shard depends on its arguments
# alone and returns sums, not samples.
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import cobayes as cb
from cobayes import runs

NUM_ROUNDS = 10


def shard(parameters, seed_sequence, num_samples):
    rng = np.random.default_rng(seed_sequence)
    n = parameters["size"]
    gains = np.empty(num_samples)
    for sample in range(num_samples):
        matrix = rng.dirichlet(np.ones(n), size=n).T
        final = [
            cb.simulate(
                rule(matrix), 0, num_rounds=NUM_ROUNDS, num_lessons=200, rng=rng, keep_paths=False
            ).mean()[-1]
            for rule in (cb.SCBI, cb.BI)
        ]
        gains[sample] = final[0] - final[1]
    return {"count": num_samples, "total": gains.sum(), "squares": (gains**2).sum()}


def estimate(statistics, parameters):
    return {"gain": runs.mean_estimate(*(statistics[k] for k in ("count", "total", "squares")))}


# %%
# Here sixty matrices a point; in earnest, thousands. ``samples_per_shard`` is part of the plan:
# it decides which random numbers a shard draws.
points = [
    runs.Point(f"{n} x {n}", {"size": n}, num_samples=60, samples_per_shard=20)
    for n in (2, 3, 4, 6, 8)
]
experiment = runs.Experiment("gain after ten rounds", points, shard, seed=4, estimate=estimate)
folder = tempfile.mkdtemp()  # a folder of your own: the same call then goes on where it stopped
result = runs.run(experiment, folder, jobs=1)
result.to_dataframe()

# %%
# One row per point. Stop a long run any way you like, and call it again; ``cobayes runs FOLDER``
# shows how far it is. See :doc:`/cluster` for many cores and clusters.
figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
gains = [point.estimates["gain"] for point in result]
ax.errorbar(
    [point.parameters["size"] for point in result],
    [gain.value for gain in gains],
    yerr=[2 * gain.stderr for gain in gains],
    fmt="o",
    capsize=3,
)
ax.axhline(0, color="0.6", linewidth=1)
ax.set_xlabel("rows and columns of the random matrix")
ax.set_ylabel(f"SCBI's gain in belief after {NUM_ROUNDS} rounds")
