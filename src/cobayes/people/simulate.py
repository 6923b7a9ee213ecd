"""Simulated people: from parameters to a table like the one that `fit` reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import whole_number
from cobayes._runtime.randomness import generator
from cobayes.errors import CobayesError, import_optional
from cobayes.people._response import draw_many
from cobayes.people.choices import Choices
from cobayes.people.family import INNER, Family
from cobayes.people.likelihood import Likelihood
from cobayes.people.problems import Problem, read_problems
from cobayes.people.result import Fit
from cobayes.reading import read_model

if TYPE_CHECKING:
    import pandas as pd

    from cobayes.model import Model

Array = NDArray[np.float64]
Positions = NDArray[np.int64]

DEFAULTS = {
    "depth": 1.0,
    "rationality": 1.0,
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
    priors: Mapping[str, Any] | None = None,
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
    names, depth, values = _people(parameters, family, num_people)
    known = list(read_problems(problems, priors).values())
    random = generator(rng)
    parts = []
    for lesson in range(1, num_lessons + 1):
        lessons = _Lessons(names, known, random)
        for number in range(1, num_rounds + 1):
            parts.append(lessons.play(number, family, depth, values, random))
            if num_lessons > 1:
                parts[-1].insert(2, "lesson", lesson)
    pandas = import_optional("pandas", "people", "a table of choices")
    table = pandas.concat(parts)
    order = np.argsort(table.pop("lesson_number").to_numpy(), kind="stable")
    return table.iloc[order].reset_index(drop=True)


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
    """Everybody's lessons, one for each person and problem, and what was shown so far."""

    def __init__(
        self, names: list[str], problems: list[Problem], random: np.random.Generator
    ) -> None:
        self.person = np.repeat(np.arange(len(names)), len(problems))
        self.problem = problems * len(names)
        counts = np.array([problem.model.num_hypotheses for problem in self.problem])
        self.truth = np.minimum((random.random(len(counts)) * counts).astype(np.int64), counts - 1)
        self.history: list[tuple[int, ...]] = [()] * len(self.problem)
        self.names = names

    def play(
        self,
        number: int,
        family: Family,
        depth: Array,
        values: Array,
        random: np.random.Generator,
    ) -> pd.DataFrame:
        """Let everybody respond once and return the rows."""
        pandas = import_optional("pandas", "people", "a table of choices")
        count = len(self.problem)
        shown, answer, rating = np.zeros(count, int), np.zeros(count, int), np.full(count, np.nan)
        if family.response != "choice":
            shown = self._literal_data(random)
        uniform = random.random(count)
        error = random.standard_normal(count)
        for level in np.unique(depth):
            rows = np.flatnonzero(depth[self.person] == level)
            probability, noise = self._probabilities(rows, shown[rows], family, level, values)
            answer[rows] = draw_many(probability, uniform[rows])
            if family.response == "rating":
                believed = probability[np.arange(len(rows)), self.truth[rows]]
                rating[rows] = np.clip(believed + noise * error[rows], 0.0, 1.0)
        if family.response == "choice":
            shown = answer
        self.history = [(*old, int(new)) for old, new in zip(self.history, shown, strict=True)]
        models = [problem.model for problem in self.problem]
        columns = {
            "person": [self.names[person] for person in self.person],
            "problem": [problem.name for problem in self.problem],
            "round": np.full(count, number),
            "hypothesis": [m.hypotheses[h] for m, h in zip(models, self.truth, strict=True)],
            "datum": [m.data[d] for m, d in zip(models, shown, strict=True)],
        }
        if family.response == "guess":
            columns["guess"] = [m.hypotheses[g] for m, g in zip(models, answer, strict=True)]
        if family.response == "rating":
            columns["rating"] = rating
        return pandas.DataFrame({**columns, "lesson_number": np.arange(count)})

    def _probabilities(
        self, rows: Positions, shown: Positions, family: Family, depth: float, values: Array
    ) -> tuple[Array, Array]:
        """Return the probabilities of all options, and the noise of ratings, in some lessons."""
        pandas = import_optional("pandas", "people", "a table of choices")
        people, units = np.unique(self.person[rows], return_inverse=True)
        own = values[people]
        # Only inner parameters that differ between people need a learner in mind for each.
        spread = {name: _span(own[:, family.names.index(name)]) for name in INNER}
        if not family.uses_inner_rationality(depth):
            spread["inner_rationality"] = 1.0
        known = family.at(depth=depth, rationality=1.0, lapse=0.0, weights=0.0, noise=1.0, **spread)
        choices = Choices(
            frame=pandas.DataFrame(index=range(len(rows))),
            problem=[self.problem[row] for row in rows],
            history=[self.history[row] for row in rows],
            datum=shown,
            hypothesis=self.truth[rows],
            guess=np.zeros(len(rows), dtype=np.int64),
            rating=np.full(len(rows), np.nan),
        )
        likelihood = Likelihood(choices, known, known.depth[0], units)
        column = family.names.index("noise") if family.response == "rating" else 0
        noise = own[units, column]
        return likelihood.responses(own).probability, noise

    def _literal_data(self, random: np.random.Generator) -> Positions:
        """Draw what a literal teacher shows."""
        columns = []
        for problem, history, truth in zip(self.problem, self.history, self.truth, strict=True):
            table = problem.table(history)
            column = table.matrix[:, truth] * (table.data_prior > 0.0)
            columns.append(column / column.sum())
        size = max(len(column) for column in columns)
        padded = np.array([np.pad(column, (0, size - len(column))) for column in columns])
        return draw_many(padded, random.random(len(columns)))


def _span(values: Array) -> tuple[float, float] | float:
    low, high = float(values.min()), float(values.max())
    return (low, high) if low < high else low


def _people(
    parameters: Any, family: Family, num_people: SupportsIndex | None
) -> tuple[list[str], Array, Array]:
    """Return names, depths (people,) and parameters (people, p)."""
    if isinstance(parameters, Fit):
        best, every = parameters.arrays.best, np.arange(len(parameters.groups))
        depths = np.array([float(depth) for depth in parameters.family.depth])[best]
        values = parameters.arrays.parameters[every, best]
        if parameters.by is None:
            count = whole_number(num_people, "num_people", 1)
            return _numbered(count), np.repeat(depths, count), np.repeat(values, count, axis=0)
        return [str(unit) for unit in parameters.units], depths, values
    if isinstance(parameters, Mapping):
        count = whole_number(num_people, "num_people", 1)
        columns = {name: np.full(count, value) for name, value in parameters.items()}
        names = _numbered(count)
    else:
        columns = {str(name): parameters[name].to_numpy() for name in parameters.columns}
        count = len(parameters)
        names = [str(p) for p in columns.pop("person", _numbered(count))]
    allowed = {"depth", *family.names}
    unknown = [name for name in columns if name not in allowed]
    if unknown and isinstance(parameters, Mapping):
        raise CobayesError(
            f"there is no parameter {unknown[0]!r}.", f"choose from {', '.join(sorted(allowed))}."
        )
    missing = dict.fromkeys(family.names, 0.0) | DEFAULTS
    missing |= {p.name: p.low for p in family.parameters if not p.is_free}
    if len(family.depth) == 1:
        missing["depth"] = family.depth[0]
    filled = {
        name: np.asarray(columns.get(name, np.full(count, missing[name])), dtype=np.float64)
        for name in ("depth", *family.names)
    }
    for name, column in filled.items():
        if np.isnan(column).any():
            person = names[int(np.isnan(column).argmax())]
            raise CobayesError(f"the parameter {name!r} of person {person!r} is not a number.")
    return names, filled["depth"], np.column_stack([filled[name] for name in family.names])


def _numbered(count: int) -> list[str]:
    return [str(number) for number in range(1, count + 1)]
