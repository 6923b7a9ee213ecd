"""
The number game: a table with zeros
===================================

A teacher has a concept in mind, such as "even" or "powers of 2", and shows numbers that belong to
it. The table says how likely each number is under each concept. It has many zeros: a number outside
of the concept is never shown, and one number can exclude a concept.
"""

# %%
# Numbers by concepts. All numbers of a concept are equally likely; the darkest cells are zeros.
import matplotlib.pyplot as plt

import cobayes as cb
from cobayes.plots import plot_matrix

game = cb.examples["number-game"].model
figure, ax = plt.subplots(figsize=(6, 6), layout="constrained")
plot_matrix(game, title="probability of a number under a concept", ax=ax)
ax.set(xlabel="concept", ylabel="number")

# %%
# Which numbers does a teacher of "powers of 2" show first? A literal teacher shows all of
# them equally often. A cooperative teacher prefers numbers that belong to few other concepts.
uniform = game.distribution()
rules = {"literal": cb.BI(game), "cooperative": cb.SCBI(game)}
shown = {name: rule.teach(uniform, "powers of 2") for name, rule in rules.items()}
for number in ("1", "2", "4", "8", "16"):
    row = game.datum_index(number)
    print(number, {name: round(float(shares[row]), 3) for name, shares in shown.items()})

# %%
# Only true examples are ever shown, and lessons are short. This code prints the number of rounds
# after which half of the learners are 95 % sure.
for name, rule in rules.items():
    ensemble = cb.simulate(rule, "powers of 2", num_rounds=30, num_lessons=2000, rng=1)
    print(f"{name}: {ensemble.rounds_needed.median} numbers")

# %%
# Belief in every concept along one lesson by a cooperative teacher.
rule = rules["cooperative"]
teacher = cb.Teacher(rule, "powers of 2", rng=2)
lesson = cb.run_lesson(teacher, cb.Learner(rule), num_rounds=6)
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
for column, concept in enumerate(game.hypotheses):
    if lesson.beliefs[:3, column].max() > 0.1:
        ax.plot(lesson.beliefs[:, column], marker="o", label=concept)
ax.set(xlabel="round", ylabel="belief", title=" · ".join(lesson.data_labels), ylim=(-0.02, 1.02))
ax.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
