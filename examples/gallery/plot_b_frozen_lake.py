"""
Frozen lake: goals in somebody else's environment
=================================================

Gymnasium's FrozenLake becomes a task: its table of transitions gives the matrices, and we
add the candidate goals. A watcher infers the goal of a walker on firm ice from its moves.
"""

# %%
import gymnasium
import matplotlib.pyplot as plt

import cobayes as cb

lake = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=False)
places = {"upper right": 7, "lower left": 56, "lower right": 63}
world = cb.worlds.world_from_gymnasium(lake, places, discount=0.7)
print(world)

# %%
# The likeliest shortest walk of a cooperative and of a literal walker, each with a watcher who
# follows the same rule.
figure, ax = plt.subplots(figsize=(6, 3.4), layout="constrained")
rules = [cb.SCBI(world), cb.BI(world)]
looks = [("o-", "#0072B2"), ("s--", "#D55E00")]  # as in all pictures of cobayes
for rule, (line, color) in zip(rules, looks):
    walk = cb.worlds.plan_walk(rule, "lower right")
    print(rule.name, walk.data_labels)
    belief = walk.beliefs[:, walk.hypothesis]
    ax.plot(belief, line, color=color, label=f"{rule.name}: {walk.num_rounds} moves")
ax.set(xlabel="moves", ylabel="belief in the true goal")
ax.legend()

# %%
# A world is a task: lessons on it can be run, saved and resumed.
lesson = cb.run_lesson(cb.Teacher(rules[0], "lower left", rng=1), cb.Learner(rules[0]), 6)
print(lesson.data_labels, lesson.states)

# %%
# The number of moves until the watcher is sure, for walkers that move towards their goal, over
# forty walks each:
for rule in rules:
    print(cb.worlds.measure_legibility(rule, "lower right", num_lessons=40, rng=1))
