"""Simulated people: tables of responses made from parameters."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
import pandas as pd

from cobayes._input.validation import generator, instance, one_of, whole_number
from cobayes._parallel import require_affordable, short_number
from cobayes.errors import CobayesError
from cobayes.people import model
from cobayes.people.choices import read_problems
from cobayes.people.family import STATIC, Family, as_depths, as_family
from cobayes.people.problems import History, Positions, Problem, Tables
from cobayes.people.result import Fit
from cobayes.people.tables import as_numbers, read_frame
from cobayes.reading import read_model

if TYPE_CHECKING:
    from cobayes.model import Model

# Lower bounds on the cost of a simulated response: a fixed time and a time per entry of its matrix,
# in seconds, and memory in bytes; measured with 100 people, 10 problems of 36 x 4 and 20 rounds.
SECONDS_PER_ROW, SECONDS_PER_ENTRY, BYTES_PER_ROW = 5e-6, 1e-8, 500


def simulate(
    parameters: Any,
    problems: Any,
    *,
    num_rounds: SupportsIndex,
    num_lessons: SupportsIndex = 1,
    num_people: SupportsIndex | None = None,
    family: Family | None = None,
    priors: Any = None,
    rng: Any = None,
) -> pd.DataFrame:
    """Simulate people who respond to every problem for some rounds.

    The true hypothesis of each lesson is drawn uniformly, whatever the prior. Simulated learners
    (``response="guess"`` or ``"rating"``) see data of the literal teacher; the hypothesis that they
    rate is the true one.

    Parameters
    ----------
    parameters
        A mapping from parameter to number, the same for all people; a table (or file) with a row
        per person; or a `Fit`, whose estimates are used.
    problems, priors
        As in `score`.
    num_rounds
        Responses per lesson.
    num_lessons
        Lessons per person and problem; each starts from the prior. With more than one, the table
        has a column ``lesson``.
    num_people
        The number of people, if the parameters are a mapping or a pooled fit.
    family
        The family, which sets `features`, `literal`, `other` and `response` (see `Family`). A
        parameter that is not given has the family's fixed value. If it is free in the family, it
        has a neutral value: lapse and weights 0, noise 0.1, depth and all other parameters 1.
    rng
        Anything that `numpy.random.default_rng` accepts.

    Returns
    -------
    DataFrame
        One row per response, in the form that `fit` reads.

    Examples
    --------
    >>> from cobayes import people
    >>> people.simulate(
    ...     {"depth": 1, "rationality": 3.0}, {"p": [[2, 1], [1, 1]]},
    ...     num_people=2, num_rounds=1, rng=0,
    ... )["person"].tolist()
    ['1', '2']
    """
    num_rounds = whole_number(num_rounds, "num_rounds", 1)
    num_lessons = whole_number(num_lessons, "num_lessons", 1)
    if isinstance(parameters, Fit):
        fit, family = parameters, family or parameters.family
        fitted = pd.DataFrame(fit.arrays.at_best, columns=list(fit.family.names))
        fitted["depth"] = fit.estimates["depth"]
        parameters = dict(fitted.loc[0]) if fit.by is None else fitted.assign(person=fit.units)
    family = as_family(family)
    given = parameters if isinstance(parameters, Mapping) else read_frame(parameters)
    count = len(given) if hasattr(given, "columns") else whole_number(num_people, "num_people", 1)
    known = list(read_problems(problems, priors).values())
    require_affordable_lessons(count * len(known) * num_lessons, num_rounds, known)
    random = generator(rng)
    people = _people(given, family, count)
    # All lessons are simulated together: every combination of person, problem and lesson number.
    people = people.loc[np.repeat(people.index, len(known) * num_lessons)].reset_index(drop=True)
    problem = [own for own in known for _ in range(num_lessons)]
    parts = _play(people, problem * (len(people) // len(problem)), family, num_rounds, random)
    # The sort makes the rows of each lesson consecutive.
    table = pd.concat(parts).sort_index(kind="stable")
    if num_lessons > 1:
        table.insert(2, "lesson", table.index % num_lessons + 1)
    return table.reset_index(drop=True)


def require_affordable_lessons(
    num_lessons: int, num_rounds: int, problems: Sequence[Problem], seconds_per_row: float = 0.0
) -> None:
    """Raise an error if lessons would take too much time or memory.

    Parameters
    ----------
    num_lessons, num_rounds
        The number of lessons of all people on all problems, and of rounds in each lesson.
    problems
        The problems.
    seconds_per_row
        Time per response in seconds, in addition to the time of the simulation.
    """
    size = sum(problem.model.matrix.size for problem in problems) / len(problems)
    # The product of the user's counts may exceed the range of float64.
    num_rows = min(num_lessons * num_rounds, 10**300)
    require_affordable(
        f"{short_number(num_lessons)} lessons of {short_number(num_rounds)} rounds",
        "ask for fewer people, lessons or rounds.",
        seconds=num_rows * (SECONDS_PER_ROW + SECONDS_PER_ENTRY * size + seconds_per_row),
        num_bytes=num_rows * BYTES_PER_ROW,
    )


def example_study() -> tuple[pd.DataFrame, dict[str, Model]]:
    """Return the choices of three simulated teachers and their problem, for examples and tests.

    Returns
    -------
    DataFrame
        Five choices of each teacher; the teachers have depth 1, rationality 2 and lapse 0.05.
    dict
        One problem, ``example:gestures``.

    Examples
    --------
    >>> from cobayes import people
    >>> choices, problems = people.example_study()
    >>> len(choices)
    15
    """
    problems = {"p": read_model("example:gestures")}
    truth = {"depth": 1, "rationality": 2.0, "lapse": 0.05}
    return simulate(truth, problems, num_people=3, num_rounds=5, rng=1), problems


def _play(
    people: pd.DataFrame,
    problem: list[Problem],
    family: Family,
    num_rounds: int,
    random: np.random.Generator,
) -> Iterator[pd.DataFrame]:
    """Simulate a lesson for every row of `people`; yield a table of responses for each round."""
    count = len(problem)
    at = {name: people[name].to_numpy() for name in ("depth", *family.names)}
    sizes = np.array([own.model.num_hypotheses for own in problem])
    truth = np.minimum((random.random(count) * sizes).astype(np.int64), sizes - 1)
    history: list[History] = [()] * count
    state = [own.task.start for own in problem]
    temperature = model.constant(at["prior_temperature"])
    belief = model.first_beliefs(problem, temperature, int(sizes.max()))

    def labels(kind: str, positions: Positions) -> list[str]:
        return [own.labels(kind)[place] for own, place in zip(problem, positions, strict=True)]

    for number in range(1, num_rounds + 1):
        tables = Tables([own.rule_at(place) for own, place in zip(problem, state, strict=True)])
        shown = np.zeros(count, dtype=np.int64)
        if not family.is_teacher:
            # The literal teacher shows data to learners.
            chances = np.exp(tables.log_likelihood[tables.index, :, truth])
            if (stuck := chances.max(axis=1) == 0.0).any():
                own, h = problem[stuck.argmax()], truth[stuck.argmax()]
                raise CobayesError(
                    f"problem {own.name!r}: hypothesis {own.model.hypotheses[h]!r} allows none of "
                    f"the data that are available in round {number}.",
                    "ask for fewer rounds.",
                )
            shown = model.draw_many(chances, random.random(count))
        uniform, error = random.random(count), random.standard_normal(count)
        answer, rating = np.empty_like(shown), np.empty(count)
        for depth in np.unique(at["depth"]):
            rows = np.flatnonzero(at["depth"] == depth)
            every, index, before = np.arange(len(rows)), tables.index[rows], belief[:, rows]
            own = {name: values[rows] for name, values in at.items()}
            exponent = model.constant(own[family.recursion])
            posterior, followed = model.think(family, depth, tables, index, before, exponent)
            about = (truth if family.is_teacher else shown)[rows]
            scores = model.score_options(family, depth, tables, index, about, posterior, every)
            situations = [(problem[row], history[row]) for row in rows]
            features = model.feature_values(family, situations, scores.even.shape[1])
            probability, _ = model.choose(family, scores, features, own)
            answer[rows] = model.draw_many(probability, uniform[rows])
            if family.response == "rating":
                rating[rows] = probability[every, truth[rows]] + own["noise"] * error[rows]
            if family.is_teacher:
                shown[rows] = answer[rows]
            if family.other != STATIC:
                belief[:, rows] = model.after_datum(followed, before, every, shown[rows])
        for place, (own, datum) in enumerate(zip(problem, shown.tolist(), strict=True)):
            state[place] = own.next_state(state[place], datum)
            history[place] = (*history[place], datum)
        names = [own.name for own in problem]
        table = people[["person"]].assign(problem=names, round=number)
        table["hypothesis"], table["datum"] = labels("hypothesis", truth), labels("datum", shown)
        if family.response == "guess":
            table["guess"] = labels("hypothesis", answer)
        if family.response == "rating":
            table["rating"] = np.clip(rating, 0.0, 1.0)
        yield table


def _people(given: Any, family: Family, num_people: int) -> pd.DataFrame:
    """Return person, depth and all parameters of the family, one row per person."""
    if isinstance(given, Mapping):
        require_known(given, ("depth", *family.names))
        given = pd.DataFrame(dict(given), index=range(num_people))
    neutral = dict.fromkeys(family.names, 1.0) | dict.fromkeys(family.features or {}, 0.0)
    depth = family.depth[0] if len(family.depth) == 1 else 1.0
    neutral |= {"lapse": 0.0, "noise": 0.1, "depth": depth}
    neutral |= {name: low for name, (low, high) in family.bounds.items() if low == high}
    found = pd.DataFrame({"person": given.get("person", given.index + 1)}).astype(str)
    for name in ("depth", *family.names):
        values = as_numbers(given[name] if name in given else [neutral[name]] * len(given))
        if np.isnan(values).any():
            person = found["person"].iloc[np.isnan(values).argmax()]
            raise CobayesError(
                f"the parameter {name!r} of person {person!r} is missing or not a number.",
                "give a number for every parameter of every person.",
            )
        found[name] = values
    as_depths(found["depth"].unique())
    settings = [name for name in family.names if name not in (family.features or {})]
    # The smallest and largest values are given as bounds to `Family`, which checks them.
    family.at(depth=0, **{name: (found[name].min(), found[name].max()) for name in settings})
    return found


def require_known(given: Mapping[str, Any], names: Sequence[str]) -> None:
    """Raise an error if a name in a mapping from parameters to values is not in `names`."""
    expected = 'a mapping from names to values, such as {"depth": 1, "rationality": 3.0}'
    for name in instance(given, Mapping, "parameters", expected):
        one_of(name, "the name of a parameter", names)
