"""Teach a goal in an existing environment: Gymnasium's FrozenLake.

A walker crosses the frozen lake to one of three places. Only the walker knows which; a watcher sees
the moves. The matrices come from the environment's own table of transitions, holes and
slippery ice included, and the moves are made in the environment itself.

Run it:  python examples/frozen_lake.py
It needs: pip install '.[worlds]'
"""

import gymnasium

import cobayes as cb
from cobayes.worlds import measure_legibility, world_from_gymnasium

# States of the 8 x 8 lake are numbered row by row; 63 is the square that the environment calls G.
PLACES = {"upper right": 7, "lower left": 56, "lower right": 63}


def walk_in_environment(env, rule, goal, seed):
    """Run a walk in the environment itself and return the moves and the watcher's beliefs."""
    world = rule.task
    teacher = cb.Teacher(rule, goal, rng=seed, choice="forward")
    learner = cb.Learner(rule)
    env.reset(seed=seed)
    seen = [("start", learner.belief)]
    is_over = False
    while not is_over and not world.is_over(teacher.state, goal):
        action = teacher.choose()
        belief = learner.observe(action)
        seen.append((world.action_labels[action], belief))
        state, _, terminated, truncated, _ = env.step(action)
        for agent in (teacher, learner):
            agent.arrive(state)  # on slippery ice the move may lead to another state
        is_over = terminated or truncated
    return seen


def show(title, world, seen):
    print(f"\n{title}")
    print(f"{'move':>12}  " + "  ".join(f"{label:>12}" for label in world.goal_labels))
    for action, belief in seen:
        print(f"{action:>12}  " + "  ".join(f"{share:12.3f}" for share in belief))


def main():
    firm = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=False)
    world = world_from_gymnasium(firm, PLACES, discount=0.7)
    for rule in (cb.SCBI(world), cb.BI(world)):
        seen = walk_in_environment(firm, rule, "lower right", seed=3)
        show(f"Firm ice, to the lower right, rule of walker and watcher: {rule.name}", world, seen)

    print("\nMoves until the watcher is 95 % sure (mean over those of 100 walks in which it is):")
    slippery = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=True)
    for ice, env, discount in (("firm", firm, 0.7), ("slippery", slippery, 0.95)):
        lake = world_from_gymnasium(env, PLACES, discount)
        for rule in (cb.SCBI(lake), cb.BI(lake)):
            found = measure_legibility(rule, "lower right", num_lessons=100, num_rounds=200, rng=1)
            print(
                f"{ice:>9}  {rule.name:<5} {found.rounds:6.2f} ± {found.rounds_stderr:.2f} "
                f"(never sure in {found.num_unsure} walks, not arrived in {found.num_unfinished})"
            )


if __name__ == "__main__":
    main()
