"""
Teach a concept from a CSV file
===============================

The input is a table with one row for each example that can be shown and one column for each
concept. A cell says how well the example fits the concept.
"""

# %%
# The file could come from any spreadsheet. Cells are weights, for example counts, since columns
# are normalised.
from pathlib import Path

import pandas as pd

import cobayes as cb

Path("leaves.csv").write_text(
    "seen,oak,beech,birch,maple\n"
    "green,40,42,41,40\n"
    "toothed edge,4,6,36,20\n"
    "lobed,38,1,1,28\n"
    "smooth edge,6,37,2,2\n"
    "acorn below,9,1,1,1\n"
    "white bark,1,2,19,1\n"
    "winged seed,1,1,6,13\n"
)
model = cb.read_model("leaves.csv")
model

# %%
# A teacher who knows that the tree is a maple, and a learner who does not.
rule = cb.SCBI(model)
teacher = cb.Teacher(rule, "maple", rng=4)
learner = cb.Learner(rule)
lesson = cb.run_lesson(teacher, learner, num_rounds=8)
lesson.to_dataframe().round(3)

# %%
# The same as a picture.
ax = cb.plots.plot_belief_bars(lesson)

# %%
# The teacher draws from a distribution over the examples, which depends on the learner's belief.
# At first "winged seed" is the likeliest example. Once the learner is nearly certain, SCBI's
# teacher draws almost uniformly.
pd.DataFrame(
    {"at first": rule.teach([0.25] * 4, "maple"), "now": rule.teach(learner.belief, "maple")},
    index=model.data,
).round(3)
