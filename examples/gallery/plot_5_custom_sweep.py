"""
A custom Monte-Carlo sweep
==========================

A sweep draws many samples at each of several points, the values of its parameters. It can be
resumed, and has the same bits on one core, on many cores and on a cluster. It needs a list of
points and a function that computes a shard, a part of a point's samples.
"""

# %%
# The question: by how much does cooperation raise the belief in the truth after ten rounds, on a
# random matrix? One sample is one random matrix. A shard depends only on its arguments and returns
# sums, not samples.
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
# This example draws sixty matrices per point; a study would draw thousands.
# ``samples_per_shard`` is part of the plan, because the random numbers of a shard depend on it.
points = [
    runs.Point(f"{n} x {n}", {"size": n}, num_samples=60, samples_per_shard=20)
    for n in (2, 3, 4, 6, 8)
]
experiment = runs.Experiment("gain after ten rounds", points, shard, seed=4, estimate=estimate)
folder = tempfile.mkdtemp()  # with a permanent folder, the same call continues an interrupted run
result = runs.run(experiment, folder, jobs=1)
result.to_dataframe()

# %%
# The result has one row per point. A long run may be stopped at any time and continued by the
# same call; ``cobayes runs FOLDER`` shows its progress. See :doc:`/cluster` for many cores and
# clusters.
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
