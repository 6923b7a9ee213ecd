"""Planning a study: how many responses per person a wanted precision needs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes._input.validation import number_between, whole_number
from cobayes._intervals import wilson_interval
from cobayes._runtime.randomness import generator
from cobayes.errors import CobayesError, import_optional
from cobayes.people.family import Family
from cobayes.people.problems import read_problems
from cobayes.people.recover import Recovery, recover

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class StudyPlan:
    """How precise studies of different lengths are, and the shortest that is precise enough.

    Attributes
    ----------
    table : DataFrame
        One row per number of lessons that was tried: ``num_choices`` per person,
        ``depth_accuracy`` with a 95 % Wilson interval, and for every free parameter the median
        ``..._width`` of its 95 % interval and the ``..._rmse`` of its estimate.
    num_lessons, num_choices : int or None
        Lessons per problem and responses per person of the shortest study that is precise enough;
        None where none was, or where no precision was asked for.
    conclusion : str
        The same in a sentence.

    Examples
    --------
    >>> from cobayes import people
    >>> family = people.Family(depth=(0, 1), lapse=0.0)
    >>> plan = people.plan_study(
    ...     family, "example:gestures", precision={"depth": 0.9}, num_people=20, rng=1
    ... )
    >>> plan.num_choices
    2
    """

    table: pd.DataFrame
    num_lessons: int | None
    num_choices: int | None
    conclusion: str

    def __repr__(self) -> str:
        return f"{self.table.to_string(float_format=lambda x: f'{x:.4g}')}\n{self.conclusion}"


def plan_study(
    family: Family,
    problems: Any,
    *,
    precision: Mapping[str, float] | None = None,
    num_rounds: int = 2,
    num_lessons: Sequence[int] = (1, 2, 4, 8),
    max_lessons: int = 64,
    num_people: int = 100,
    parameters: Mapping[str, Any] | None = None,
    priors: Mapping[str, Any] | None = None,
    rng: Any = None,
) -> StudyPlan:
    """Say how many responses per person a study needs for a wanted precision.

    A study grows by lessons, on these problems or on more problems like them: longer lessons say
    little once the learner is sure. Every number of lessons is simulated and fitted by `recover`,
    with the same people and the same first lessons. Where a precision is asked for, the number is
    doubled until all of it is reached and then bisected. The answer has the uncertainty of a
    simulation with `num_people`: look at the neighbouring rows of the table.

    Parameters
    ----------
    family, problems, parameters, priors
        As in `recover`.
    precision
        What is wanted: from free parameter to the median width of its 95 % interval, and from
        "depth" to the share of people whose depth is recovered. An interval of a parameter that
        is not identified is as wide as its bounds. None: nothing is solved for.
    num_rounds
        Responses per lesson.
    num_lessons
        Lessons per problem to try where no precision is asked for.
    max_lessons
        Lessons per problem that no search goes beyond.
    num_people
        Simulated people for each.
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    StudyPlan
        The expected precision by number of responses, and a conclusion in words.

    Examples
    --------
    >>> from cobayes import people
    >>> family = people.Family(depth=(0, 1), lapse=0.05)
    >>> plan = people.plan_study(family, [[3, 1], [1, 2]], num_lessons=(1, 4), num_people=5, rng=1)
    >>> plan.table["num_choices"].tolist()
    [2, 8]
    """
    pandas = import_optional("pandas", "people", "a plan")
    whole_number(max_lessons, "max_lessons", 1)
    wanted = check_precision(precision or {}, family)
    known = read_problems(problems, priors)
    seed = int(generator(rng).integers(2**63))
    tried: dict[int, dict[str, float]] = {}

    def is_enough(count: int) -> bool:
        if count not in tried:
            found = recover(
                family,
                known,
                num_people=num_people,
                num_rounds=num_rounds,
                num_lessons=count,
                parameters=parameters,
                rng=seed,
            )
            tried[count] = _record(found, count)
        record = tried[count]
        return all(
            record["depth_accuracy"] >= value
            if name == "depth"
            else record[f"{name}_width"] <= value
            for name, value in wanted.items()
        )

    best = None
    if wanted:
        best = _smallest(is_enough, max_lessons)
    else:
        for count in num_lessons:
            is_enough(count)
    table = pandas.DataFrame([tried[count] for count in sorted(tried)])
    choices = None if best is None else int(tried[best]["num_choices"])
    return StudyPlan(table, best, choices, _conclude(table, wanted, best, num_people))


def _smallest(is_enough: Any, most: int) -> int | None:
    """Return the smallest number that is enough, if larger ones always are; None beyond `most`."""
    low, high = 0, 1
    while not is_enough(high):
        if high == most:
            return None
        low, high = high, min(2 * high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def check_precision(precision: Mapping[str, float], family: Family) -> dict[str, float]:
    """Return what is wanted, or say what cannot be planned with this family."""
    free = {name for depth in family.depth for name in family.free_names(depth)}
    known = [*(["depth"] if len(family.depth) > 1 else []), *sorted(free)]
    wanted = {}
    for name, value in precision.items():
        if name not in known:
            raise CobayesError(
                f"the precision of {name!r} cannot be planned: nothing of that name is estimated.",
                f"choose from {', '.join(known)}." if known else "free a parameter of the family.",
            )
        high = 1.0 if name == "depth" else np.inf
        closed = "high" if name == "depth" else ""
        wanted[name] = number_between(value, f"the precision of {name}", 0.0, high, closed=closed)
    return wanted


def _record(found: Recovery, count: int) -> dict[str, float]:
    people = len(found.table)
    low, high = wilson_interval(round(found.depth_accuracy * people), people)
    record = {
        "num_lessons": count,
        "num_choices": found.num_choices,
        "depth_accuracy": found.depth_accuracy,
        "depth_accuracy_low": low,
        "depth_accuracy_high": high,
    }
    for name, row in found.coverage.iterrows():
        record[f"{name}_width"] = row["median_width"]
        record[f"{name}_rmse"] = row["rmse"]
    return record


def _conclude(
    table: pd.DataFrame, wanted: dict[str, float], best: int | None, num_people: int
) -> str:
    if not wanted:
        return "No precision was asked for: the table shows what each length gives."
    parts = [
        f"a depth recovered in {100.0 * value:g} % of people"
        if name == "depth"
        else f"a median width of {value:g} for {name.replace('_', ' ')}"
        for name, value in wanted.items()
    ]
    text = f"For {' and '.join(parts)}"
    if best is not None:
        row = table[table["num_lessons"] == best].iloc[0]
        lessons = "one lesson" if best == 1 else f"{best} lessons"
        return (
            f"{text}, give everybody {lessons} on every problem (responses per person: "
            f"{int(row['num_choices'])}), says a simulation of {num_people} people."
        )
    last = table.iloc[-1]
    reached = ", ".join(
        f"{name.replace('_', ' ')} "
        f"{last['depth_accuracy' if name == 'depth' else f'{name}_width']:.3g}"
        for name in wanted
    )
    return (
        f"{text}, {int(last['num_choices'])} responses per person are not enough: they give "
        f"{reached}."
    )
