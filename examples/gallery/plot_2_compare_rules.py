"""
Compare BI and SCBI for my task
===============================

Whether cooperation helps depends on the matrix and on the hypothesis. This example compares two
numbers: the learner's belief after ten rounds, and the rate of convergence in the long run.
"""

# %%
import matplotlib.pyplot as plt
import pandas as pd

import cobayes as cb
from cobayes.plots.comparison import plot_mean_beliefs

model = cb.examples["diagnosis"].model  # or cb.read_model("mine.csv")
rules = {"BI": cb.BI(model), "SCBI": cb.SCBI(model)}

# %%
# Two thousand lessons by each rule, about every hypothesis.
rows = []
ensembles = {}
for hypothesis in model.hypotheses:
    row = {"taught": hypothesis}
    for name, rule in rules.items():
        ensemble = cb.simulate(rule, hypothesis, num_rounds=60, num_lessons=2000, rng=1)
        ensembles[hypothesis, name] = ensemble
        row[f"{name} after 10"] = ensemble.mean()[10]
        row[f"{name} median rounds"] = ensemble.rounds_needed.median
        row[f"{name} rate"] = cb.rate_of_convergence(rule, hypothesis)
    rows.append(row)
table = pd.DataFrame(rows).set_index("taught")
table.round(3)

# %%
# "After 10" is the mean belief in the truth after ten rounds, "median rounds" the round by which
# half of the learners are 95 % sure, and the rate is the growth of the log-odds of the truth per
# round in the long run. After ten rounds SCBI has the larger belief on all five illnesses. In the
# long run it has the *lower* rate on hay fever and on bronchitis: near certainty its teacher draws
# data almost uniformly, and the data of plain Bayes are more informative there.
faster = table["SCBI rate"] > table["BI rate"]
print("SCBI has the higher rate for:", ", ".join(table.index[faster]))
print("BI has the higher rate for:", ", ".join(table.index[~faster]))

# %%
figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), sharey=True, layout="constrained")
for ax, hypothesis in zip(axes, ("common cold", "hay fever")):
    plot_mean_beliefs([ensembles[hypothesis, name] for name in rules], ax=ax)
    ax.set(title=hypothesis, ylabel="mean belief in the truth")
axes[1].set_ylabel("")
