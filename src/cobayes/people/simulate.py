"""Simulated people: from parameters to a table like the one that `fit` reads."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import whole_number
from cobayes._parallel import require_affordable, short_number
from cobayes._random import generator
from cobayes.errors import CobayesError, import_optional
from cobayes.people.choices import read_problems
from cobayes.people.family import STATIC, Family, as_depths
from cobayes.people.model import (
    after_datum,
    choose,
    constant,
    draw_many,
    feature_values,
    first_beliefs,
    score_options,
    think,
)
from cobayes.people.problems import Problem, Tables
from cobayes.people.result import Fit
from cobayes.reading import read_model

if TYPE_CHECKING:
    import pandas as pd

    from cobayes.model import Model

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

# From below, for a response of a simulated person and for an entry of its matrix; measured with
# 100 people, 10 problems of 36 x 4 and 20 rounds.
SECONDS_PER_ROW, SECONDS_PER_ENTRY, BYTES_PER_ROW = 5e-6, 1e-8, 500

DEFAULTS = {
    "depth": 1.0,
    "rationality": 1.0,
    "sharpness": 1.0,
    "lapse": 0.0,
    "inner_rationality": 1.0,
    "prior_temperature": 1.0,
    "noise": 0.1,
}


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

    The truth of each lesson is drawn evenly. Simulated learners (``response="guess"`` or
    ``"rating"``) see data of the literal teacher.

    Parameters
    ----------
    parameters
        A mapping from parameter to number, the same for all people; a table with a row per
        person; or a `Fit` by person.
    problems, priors
        As in `score`.
    num_rounds
        Responses per lesson.
    num_lessons
        Lessons per person and problem; each starts afresh. More than one get a column ``lesson``.
    num_people
        Needed where the parameters are a mapping.
    family
        Features, literal learner, kind of response and so on. Parameters that are not given have
        the family's fixed value; free ones are neutral (depth and rationality 1, lapse 0).
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    pandas.DataFrame
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
        family = family or parameters.family
    family = family or Family()
    is_table = isinstance(parameters, Fit) and parameters.by is not None
    is_table = is_table or hasattr(parameters, "columns")
    count = 1 if is_table else whole_number(num_people, "num_people", 1)
    known = list(read_problems(problems, priors).values())
    require_affordable_lessons(count * len(known) * num_lessons, num_rounds, known)
    names, depth, values = _people(parameters, family, count)
    random = generator(rng)
    pandas = import_optional("pandas", "people", "a table of choices")
    parts = []
    for lesson in range(1, num_lessons + 1):
        lessons = _Lessons(names, depth, values, known, family, random)
        for number in range(1, num_rounds + 1):
            table = pandas.DataFrame(lessons.play(number, random))
            if num_lessons > 1:
                table.insert(2, "lesson", lesson)
            parts.append(table)
    # Rows of one person and problem stand together.
    return pandas.concat(parts).sort_index(kind="stable").reset_index(drop=True)


def require_affordable_lessons(
    num_lessons: int, num_rounds: int, problems: Sequence[Problem], seconds_per_row: float = 0.0
) -> None:
    """Raise an error where lessons would not end or not fit into memory.

    Parameters
    ----------
    num_lessons, num_rounds
        Lessons of everybody on all problems together, and the rounds of each.
    problems
        The problems.
    seconds_per_row
        Time for a response beside its simulation.
    """
    size = sum(problem.model.matrix.size for problem in problems) / len(problems)
    # Exact integers: a product of counts that a user types may lie beyond float64.
    num_rows = min(num_lessons * num_rounds, 10**300)
    require_affordable(
        f"{short_number(num_lessons)} lessons of {short_number(num_rounds)} rounds",
        "ask for fewer people, lessons or rounds.",
        seconds=num_rows * (SECONDS_PER_ROW + SECONDS_PER_ENTRY * size + seconds_per_row),
        num_bytes=num_rows * BYTES_PER_ROW,
    )


def example_study() -> tuple[pd.DataFrame, dict[str, Model]]:
    """Return the choices of three simulated teachers, and their problem, to try things out on.

    Returns
    -------
    DataFrame
        Five choices of each; the teachers have depth 1, rationality 2 and lapse 0.05.
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


class _Lessons:
    """Everybody's lessons, one for each person and problem, and where each of them stands."""

    def __init__(
        self,
        names: list[str],
        depth: Array,
        values: Array,
        problems: list[Problem],
        family: Family,
        random: np.random.Generator,
    ) -> None:
        person = np.repeat(np.arange(len(names)), len(problems))
        self.names = [names[number] for number in person]
        self.depth, self.values, self.family = depth[person], values[person], family
        self.problem = problems * len(names)
        counts = np.array([problem.model.num_hypotheses for problem in self.problem])
        self.truth = np.minimum((random.random(len(counts)) * counts).astype(np.int64), counts - 1)
        self.history: list[tuple[int, ...]] = [()] * len(counts)
        self.state = [problem.task.start for problem in self.problem]
        temperature = constant(self._value("prior_temperature"))
        self.log_belief = first_beliefs(self.problem, temperature, int(counts.max()))[0]

    def _value(self, name: str) -> Array:
        return self.values[:, self.family.column(name)]

    def play(self, number: int, random: np.random.Generator) -> dict[str, Any]:
        """Let everybody respond once and return the columns of the table."""
        family, count = self.family, len(self.problem)
        tables = Tables([own.rule_at(at) for own, at in zip(self.problem, self.state, strict=True)])
        shown = np.zeros(count, dtype=np.int64)
        if not family.is_teacher:
            # A literal teacher shows data to learners.
            log_teacher = tables.log_likelihood[tables.index, :, self.truth]
            shown = draw_many(np.exp(log_teacher), random.random(count))
        uniform, error = random.random(count), random.standard_normal(count)
        answer, rating = shown.copy(), np.empty(count)
        for depth in np.unique(self.depth):
            rows = np.flatnonzero(self.depth == depth)
            probability, after = self._respond(rows, depth, tables, shown[rows])
            answer[rows] = draw_many(probability, uniform[rows])
            if family.response == "rating":
                believed = probability[np.arange(len(rows)), self.truth[rows]]
                noise = self._value("noise")[rows] * error[rows]
                rating[rows] = np.clip(believed + noise, 0.0, 1.0)
            if family.other != STATIC:
                datum = answer if family.is_teacher else shown
                self.log_belief[rows] = after(datum[rows])
        shown = answer if family.is_teacher else shown
        for place, (problem, datum) in enumerate(zip(self.problem, shown.tolist(), strict=True)):
            self.state[place] = problem.next_state(self.state[place], datum)
            self.history[place] = (*self.history[place], datum)
        data, hypotheses = (
            [problem.labels(kind) for problem in self.problem] for kind in ("datum", "hypothesis")
        )
        columns: dict[str, Any] = {
            "person": self.names,
            "problem": [problem.name for problem in self.problem],
            "round": np.full(count, number),
            "hypothesis": [own[h] for own, h in zip(hypotheses, self.truth, strict=True)],
            "datum": [own[d] for own, d in zip(data, shown, strict=True)],
        }
        if family.response == "guess":
            columns["guess"] = [own[g] for own, g in zip(hypotheses, answer, strict=True)]
        if family.response == "rating":
            columns["rating"] = rating
        return columns

    def _respond(
        self, rows: Positions, depth: float, tables: Tables, shown: Positions
    ) -> tuple[Array, Callable[[Positions], Array]]:
        """Return the probabilities of all options, and the beliefs after given data."""
        family, index = self.family, tables.index[rows]
        belief = constant(self.log_belief[rows])
        rationality = constant(self._value(family.recursion)[rows])
        posterior, followed = think(family, depth, tables, index, belief, rationality)
        about = self.truth[rows] if family.is_teacher else shown
        places = np.arange(len(rows))
        scores = score_options(family, depth, tables, index, about, posterior, places)
        situations = [(self.problem[row], self.history[row]) for row in rows]
        features = feature_values(family, situations, tables.log_matrix.shape[1])
        at = dict(zip(family.names, self.values[rows].T, strict=True))
        probability, _ = choose(family, scores, features, at)
        return probability, lambda datum: after_datum(followed, belief, places, datum)[0]


def _people(parameters: Any, family: Family, num_people: int) -> tuple[list[str], Array, Array]:
    """Return names, depths (people,) and parameters (people, p)."""
    names = [str(number) for number in range(1, num_people + 1)]
    if isinstance(parameters, Fit):
        best, every = parameters.arrays.best, np.arange(len(parameters.groups))
        depths = np.array(parameters.family.depth, dtype=np.float64)[best]
        values = parameters.arrays.parameters[every, best]
        if parameters.by is not None:
            return [str(unit) for unit in parameters.units], depths, values
        return names, np.repeat(depths, num_people), np.repeat(values, num_people, axis=0)
    if isinstance(parameters, Mapping):
        allowed = ("depth", *family.names)
        unknown = [name for name in parameters if name not in allowed]
        if unknown:
            raise CobayesError(
                f"there is no parameter {unknown[0]!r}.", f"choose from {', '.join(allowed)}."
            )
        columns = {name: [value] * num_people for name, value in parameters.items()}
    elif hasattr(parameters, "columns"):
        columns = {str(name): parameters[name].tolist() for name in parameters.columns}
        numbered = [str(number) for number in range(1, len(parameters) + 1)]
        names = [str(name) for name in columns.get("person", numbered)]
    else:
        raise CobayesError(
            f"the parameters are {parameters!r}; expected a mapping, a table or a Fit.",
            'write {"depth": 1, "rationality": 3.0}.',
        )
    missing = dict.fromkeys(family.names, 0.0) | DEFAULTS
    missing |= {p.name: p.low for p in family.parameters if not p.is_free}
    if len(family.depth) == 1:
        missing["depth"] = family.depth[0]
    filled = {
        name: _as_numbers(name, columns.get(name, [missing[name]] * len(names)), names)
        for name in ("depth", *family.names)
    }
    as_depths(np.unique(filled["depth"]))
    settings = [name for name in family.names if name not in (family.features or {})]
    # A family of one depth with these bounds says whether the numbers make sense.
    family.at(depth=0, **{name: (filled[name].min(), filled[name].max()) for name in settings})
    return names, filled["depth"], np.column_stack([filled[name] for name in family.names])


def _as_numbers(name: str, values: list[Any], people: list[str]) -> Array:
    """Return one number for each person, or say whose is none."""
    found = np.empty(len(values))
    for place, (value, person) in enumerate(zip(values, people, strict=True)):
        try:
            found[place] = float(value)
        except (TypeError, ValueError, OverflowError):
            found[place] = np.nan
        if np.isnan(found[place]):
            raise CobayesError(f"the parameter {name!r} of person {person!r} is not a number.")
    return found
