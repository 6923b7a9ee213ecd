"""Teach a goal in an environment that nobody here wrote: Gymnasium's FrozenLake.

A walker crosses the frozen lake to one of three places. Only the walker knows which one; a watcher
sees its moves. The matrices come from the environment's own table of transitions, holes and
slippery ice included, and the moves are made in the environment itself. Then a taxi: its
destination is part of its state, which somebody in the street cannot see.

Run it:  python examples/frozen_lake.py
It needs: pip install 'cobayes[worlds]'
"""

import gymnasium

from cobayes.worlds import (
    WorldLearner,
    WorldTeacher,
    measure_legibility,
    taxi_world,
    world_from_gymnasium,
)

# States of the 8 x 8 lake are numbered row by row; 63 is the square that the environment calls G.
PLACES = {"upper right": 7, "lower left": 56, "lower right": 63}


def walk_in_environment(env, world, goal, rule, seed):
    """Let the walker act in the real environment and return what was seen."""
    teacher = WorldTeacher(world, goal, rule, rng=seed, moves="forward")
    learner = WorldLearner(world, rule)
    state, _ = env.reset(seed=seed)
    seen = [("start", learner.belief)]
    is_over = False
    while not is_over and not world.is_goal(world.observe(state), goal):
        here = world.observe(state)
        action = teacher.act(here)
        learner.watch(here, action)
        seen.append((world.action_labels[action], learner.belief))
        state, _, terminated, truncated, _ = env.step(action)
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
    for rule in ("SCBI", "BI"):
        seen = walk_in_environment(firm, world, "lower right", rule, seed=3)
        show(f"Firm ice, to the lower right, walker and watcher: {rule}", world, seen)

    print("\nMoves until the watcher is 95 % sure of the lower right, mean of 100 walks:")
    slippery = gymnasium.make("FrozenLake-v1", map_name="8x8", is_slippery=True)
    for ice, env, discount in (("firm", firm, 0.7), ("slippery", slippery, 0.95)):
        lake = world_from_gymnasium(env, PLACES, discount)
        for rule in ("SCBI", "BI"):
            found = measure_legibility(
                lake, "lower right", rule, num_walks=100, max_rounds=200, rng=1
            )
            print(
                f"{ice:>9}  {rule:<5} {found.rounds:6.2f} ± {found.rounds_stderr:.2f} "
                f"(never sure in {found.num_unsure} walks, not arrived in {found.num_unfinished})"
            )

    taxi_name = "Taxi-v4" if "Taxi-v4" in gymnasium.registry else "Taxi-v3"
    taxi = gymnasium.make(taxi_name)
    state, _ = taxi.reset(seed=2)
    streets = taxi_world(taxi, state, discount=0.7)
    destination = ["red", "green", "yellow", "blue"][state % 4]
    seen = walk_in_environment(taxi, streets, destination, "SCBI", seed=2)
    show(f"A taxi to {destination}, seen by somebody in the street", streets, seen)


if __name__ == "__main__":
    main()
