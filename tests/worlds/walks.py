"""All walks to a goal, with their probabilities."""

import itertools

from cobayes import Teacher


def all_walks(rule, goal, num_rounds, prior=None, choice="draw"):
    """Return (probability, moves, teacher) of every walk; a walk ends at its goal."""
    found = {}
    for moves in itertools.product(range(rule.model.num_data), repeat=num_rounds):
        teacher, probability, made = Teacher(rule, goal, prior, choice=choice), 1.0, ()
        for move in moves:
            if rule.task.is_over(teacher.state, teacher.hypothesis) or probability == 0.0:
                break
            probability *= teacher.distribution[move]
            teacher.observe(move)
            made += (move,)
        if probability > 0.0:
            found[made] = (probability, made, teacher)
    return list(found.values())


def with_discount(world, discount):
    """Return the same world with another discount."""
    return type(world).from_settings({**world.settings(), "discount": discount})
