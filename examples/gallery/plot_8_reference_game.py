"""
Pragmatic language: a reference game
====================================

Three faces: one plain, one with glasses, one with glasses and a hat. A speaker says one word;
a listener picks a face. One round of cooperative inference makes "glasses" mean the face that
has *only* glasses.
"""

# %%
# What is literally true: 1 where the word fits the face. Cooperation needs positive entries, so
# that one utterance in a hundred may be any word.
import matplotlib.pyplot as plt
import pandas as pd

import cobayes as cb
from cobayes.plots import plot_matrix

faces = ["plain", "glasses only", "glasses and hat"]
truth = pd.DataFrame(
    [[1, 1, 1], [0, 1, 1], [0, 0, 1]], index=["face", "glasses", "hat"], columns=faces
)
literal = cb.smooth(truth, 0.01)

# %%
# A literal listener hears "glasses" and is undecided: it applies Bayes' rule to a speaker who says
# any true word.
uniform = [1 / 3] * 3
literal_listener = cb.BI(literal).posteriors(uniform)

# %%
# Cooperative speaker and listener take each other into account: the speaker chooses words by what
# the listener will understand, the listener hears them as chosen so.
game = cb.cooperative_inference(literal)
print(game)

# %%
figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
for ax, values, title in (
    (axes[0], literal_listener, "literal listener: P(face | word)"),
    (axes[1], game.learner, "cooperative listener: P(face | word)"),
    (axes[2], game.teacher, "cooperative speaker: P(word | face)"),
):
    plot_matrix(cb.Model(values, literal.data, literal.hypotheses), title=title, ax=ax)

# %%
# In numbers:
word, face = literal.datum_index("glasses"), literal.hypothesis_index("glasses only")
print(
    f"'glasses' means the face with glasses only: literally {literal_listener[word, face]:.3f}, "
    f"cooperatively {game.learner[word, face]:.3f}"
)

# %%
# Where some faces are talked about more often than others, that is the listener's prior; where
# some words cost more, that is the speaker's.
rare = cb.cooperative_inference(
    literal, learner_prior=[0.1, 0.3, 0.6], teacher_prior=[0.6, 0.3, 0.1]
)
rare.to_dataframe().round(3)
