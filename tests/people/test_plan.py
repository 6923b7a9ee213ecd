"""How many responses a study needs."""

import numpy as np
import pytest

import cobayes as cb
from cobayes import people
from cobayes.people import Family
from cobayes.people.plan import _smallest

RNG = np.random.default_rng(5)
PROBLEMS = {f"p{i}": RNG.dirichlet(np.ones(8), size=3).T + 1e-3 for i in range(6)}


def test_the_smallest_number_that_is_enough_is_found():
    for needed in range(1, 40):
        assert _smallest(lambda count, needed=needed: count >= needed, 64) == needed
    assert _smallest(lambda count: count >= 40, 39) is None


def test_the_plan_is_the_shortest_study_with_the_wanted_precision():
    family = Family(depth=(0, 1), lapse=0.0)
    truth = {"rationality": 3.0}
    settings = dict(num_people=20, parameters=truth)
    wanted = {"rationality": 3.0, "depth": 0.8}
    plan = people.plan_study(family, PROBLEMS, precision=wanted, rng=1, **settings)
    table = plan.table.set_index("num_lessons")
    reached = (table["rationality_width"] <= 3.0) & (table["depth_accuracy"] >= 0.8)
    assert reached[reached].index.min() == plan.num_lessons
    assert not reached[plan.num_lessons - 1]
    assert plan.num_choices == 12 * plan.num_lessons
    assert f"(responses per person: {plan.num_choices})" in plan.conclusion
    # Other lengths are given the same people and their first lessons.
    given = people.plan_study(family, PROBLEMS, num_lessons=(plan.num_lessons,), rng=1, **settings)
    assert given.num_lessons is None
    assert given.table.iloc[0].to_dict() == plan.table.loc[reached.to_numpy()].iloc[0].to_dict()


def test_a_precision_out_of_reach_is_said_to_be():
    plan = people.plan_study(
        Family(depth=1, lapse=0.0),
        PROBLEMS,
        precision={"rationality": 0.01},
        max_lessons=3,
        num_people=5,
        rng=1,
    )
    assert plan.num_choices is None
    assert "36 responses per person are not enough: they give rationality" in plan.conclusion
    widths = plan.table["rationality_width"].to_numpy()
    assert plan.table["num_choices"].tolist() == [12, 24, 36]
    assert widths[2] < widths[0]


def test_a_precision_of_nothing_is_refused():
    with pytest.raises(cb.CobayesError, match="precision of 'depth' cannot be planned") as error:
        people.plan_study(Family(depth=1, lapse=0.0), PROBLEMS, precision={"depth": 0.9})
    assert "choose from rationality" in error.value.hint
    with pytest.raises(cb.CobayesError, match="the precision of depth"):
        people.plan_study(Family(depth=(0, 1)), PROBLEMS, precision={"depth": 1.5})
