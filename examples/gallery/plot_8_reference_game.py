"""
Pragmatic language: a reference game
====================================

Three faces: one plain, one with glasses, one with glasses and a hat. A speaker says one word; a
listener picks a face. After one round of cooperative inference "glasses" means the face that has
*only* glasses.
"""

# %%
# What is literally true: 1 where the word fits the face, 0 where it does not.
import matplotlib.pyplot as plt

import cobayes as cb
from cobayes.plots import plot_matrix

game = cb.examples["reference-game"].model
game.to_dataframe()

# %%
# A literal listener hears "glasses" and is undecided: it applies Bayes' rule to a speaker who
# says any true word. A pragmatic listener assumes a speaker who reasons about the literal listener,
# as in models of rational speech acts. At full cooperation the speaker has one word for each face.
uniform = game.distribution()
listeners = {
    "literal": cb.Pragmatic(game, 0),
    "depth 1": cb.Pragmatic(game, 1),
    "full cooperation": cb.SCBI(game),
}
figure, axes = plt.subplots(1, 3, figsize=(12, 3.4), layout="constrained")
for ax, (name, rule) in zip(axes, listeners.items()):
    shown = cb.Model(rule.posteriors(uniform), game.data, game.hypotheses)
    plot_matrix(shown, title=f"{name}: P(face | word)", ax=ax)
    ax.set(xlabel="face", ylabel="word")

# %%
# In numbers:
for name, rule in listeners.items():
    belief = rule.update(uniform, "glasses")[game.hypothesis_index("glasses only")]
    print(f"'glasses' means the face with glasses only, {name}: {belief:.3f}")

# %%
# A data prior models costs: words with a cost are said less often.
costly = cb.Pragmatic(game, 1, data_prior={"face": 0.5, "glasses": 0.4, "hat": 0.1})
costly.update(uniform, "glasses").round(3)
