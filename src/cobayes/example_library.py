"""Built-in examples by name: the paper's matrices and four teaching cases."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.labels import suggest
from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.reading import read_model


@dataclass(frozen=True, eq=False)
class Example:
    """A matrix with its story, its priors and the hypothesis that is taught.

    Wherever the library takes a matrix it takes an example as well.

    Attributes
    ----------
    name : str
        The name it is looked up by.
    title : str
        One line.
    description : str
        What data, hypotheses and entries mean, and where the numbers come from.
    model : Model
        The labelled matrix.
    priors : dict of str to ndarray
        Named priors over the hypotheses, as printed or designed (read-only arrays).
    hypothesis : str
        The label of the hypothesis that the examples of the documentation teach.
    """

    name: str
    title: str
    description: str = field(repr=False)
    model: Model = field(repr=False)
    priors: dict[str, NDArray[np.float64]] = field(repr=False)
    hypothesis: str

    def _repr_html_(self) -> str:
        from html import escape

        return (
            f"<p><b>{escape(self.name)}</b>: {escape(self.title)}</p>"
            f"<p>{escape(self.description)}</p>{self.model._repr_html_()}"
        )


class UnknownExampleError(CobayesError, KeyError):
    """There is no example of that name."""

    # KeyError would show the message in quotation marks.
    __str__ = Exception.__str__


class ExampleLibrary(Mapping[str, Example]):
    """A read-only mapping from names to examples; iterating gives the names.

    Plain names for shells work too: ``M1`` means ``M_1`` and ``M1p`` means ``M'_1``.
    """

    def __init__(self, builders: Mapping[str, Callable[[], Example]]) -> None:
        self._builders = dict(builders)
        self._aliases = {
            alias: name
            for name in self._builders
            if name.startswith("M")
            for alias in _short_names(name)
        }

    def load(self, name: str) -> Example:
        """Return the example of that name, the same as ``examples[name]``."""
        builder = self._builders.get(self._aliases.get(name, name))
        if builder is None:
            raise UnknownExampleError(
                f"there is no example called {name!r}.",
                suggest(name, tuple(self), limit=len(self)),
            )
        return builder()

    def __getitem__(self, name: str) -> Example:
        return self.load(name)

    def __iter__(self) -> Iterator[str]:
        return iter(self._builders)

    def __len__(self) -> int:
        return len(self._builders)

    def __repr__(self) -> str:
        return f"ExampleLibrary({', '.join(self)})"

    def _repr_html_(self) -> str:
        from html import escape

        rows = "".join(
            f"<tr><td>{escape(name)}</td><td>{escape(example.title)}</td>"
            f"<td>{example.model.num_data} x {example.model.num_hypotheses}</td></tr>"
            for name, example in self.items()
        )
        return f"<table><tr><th>name</th><th>title</th><th>size</th></tr>{rows}</table>"


def _short_names(name: str) -> tuple[str, ...]:
    """Return the spellings of M_3 or M'_3 that need no quotation marks, and common ones."""
    number = name[-1]
    return (f"M{number}p", f"M{number}'", f"M'{number}") if "'" in name else (f"M{number}",)


def _priors(**named: ArrayLike) -> dict[str, NDArray[np.float64]]:
    priors = {name: np.array(values, dtype=np.float64) for name, values in named.items()}
    for values in priors.values():
        values.flags.writeable = False
    return priors


def _numbered(letter: str, count: int) -> list[str]:
    return [f"{letter}_{position}" for position in range(1, count + 1)]


def _data_file(name: str):
    return resources.as_file(resources.files("cobayes") / "data" / name)


def _supplement() -> Example:
    return Example(
        name="supplement-2x2",
        title="The worked example of the paper's supplement",
        description=(
            "The joint distribution of two data and two hypotheses that the supplement follows "
            "through two rounds of teaching h_1 with a uniform prior. Plain Bayes reaches "
            "(0.692, 0.308) after d_1, d_1, SCBI (0.758, 0.242). The supplement prints 0.643 for "
            "0.634 in two places."
        ),
        model=Model([[0.3, 0.3], [0.1, 0.3]], _numbered("d", 2), _numbered("h", 2)),
        priors=_priors(uniform=[0.5, 0.5]),
        hypothesis="h_1",
    )


def _stability(name: str, rank: str) -> Example:
    with _data_file("paper.json") as file:
        content: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))[rank]
    matrix = content["matrices"][name]
    size = len(matrix)
    return Example(
        name=name,
        title=f"{size}x{size} matrix {name} of the paper's stability experiments",
        description=(
            f"Columns were drawn uniformly from the simplex by the paper's authors; the {size} "
            "columns and the priors are the four-digit numbers that the supplement prints, so "
            "they sum to one up to rounding only. The experiments teach h_1."
        ),
        model=Model(matrix, _numbered("d", size), _numbered("h", size)),
        priors=_priors(**content["priors"]),
        hypothesis="h_1",
    )


def _grid_world(discount: float = 0.5) -> Example:
    far = discount**2
    return Example(
        name="grid-world",
        title="One step in the paper's grid world: moves that tell goal A from goal B",
        description=(
            "A walker knows which of two far corners, A (upper left) or B (upper right), holds "
            "the reward; a watcher sees the moves. An entry is the discounted value of the square "
            "that a move leads to, with discount 0.5: one step nearer is worth 1, one step "
            "farther 0.25. The paper's common factor gamma^(k-1) is divided out, since scaling "
            "changes nothing. 'up' leads nearer to both and tells nothing; a cooperative walker "
            "to A prefers 'left', where plain Bayes finds 'left' and 'up' equally good."
        ),
        model=Model([[1.0, far], [1.0, 1.0], [far, 1.0]], ["left", "up", "right"], ["A", "B"]),
        priors=_priors(uniform=[0.5, 0.5]),
        hypothesis="A",
    )


def _number_game() -> Example:
    numbers = range(1, 21)
    concepts: dict[str, Callable[[int], bool]] = {
        "even": lambda number: number % 2 == 0,
        "odd": lambda number: number % 2 == 1,
        "multiples of 3": lambda number: number % 3 == 0,
        "multiples of 5": lambda number: number % 5 == 0,
        "powers of 2": lambda number: number & (number - 1) == 0,
        "squares": lambda number: round(number**0.5) ** 2 == number,
        "primes": lambda number: number > 1 and all(number % k for k in range(2, number)),
        "10 to 20": lambda number: 10 <= number <= 20,
    }
    belongs = np.array([[float(test(k)) for test in concepts.values()] for k in numbers])
    return Example(
        name="number-game",
        title="The number game: which concept do these numbers come from?",
        description=(
            "A teacher has one of eight concepts in mind and shows numbers from 1 to 20. A number "
            "of the concept is drawn with equal chances, so that small concepts say more with each "
            "number; any other number is impossible, a true zero of the matrix. Concepts overlap: "
            "most primes are odd, 16 is even, a square and a power of two. Plain Bayes shows the "
            "ten even numbers equally often; a cooperative teacher of 'even' begins with 14 in "
            "one lesson out of four, since 14 belongs to one other concept only. "
            "The prior 'everyday' is our guess of how readily each concept comes to mind."
        ),
        model=Model(belongs / belongs.sum(axis=0), [str(k) for k in numbers], list(concepts)),
        priors=_priors(
            uniform=np.full(8, 0.125), everyday=[0.24, 0.20, 0.08, 0.16, 0.08, 0.06, 0.06, 0.12]
        ),
        hypothesis="primes",
    )


def _reference_game() -> Example:
    return Example(
        name="reference-game",
        title="A reference game: which face does the speaker mean?",
        description=(
            "Three faces: one plain, one with glasses, one with glasses and a hat. A speaker says "
            "one word and a listener picks a face. Data are words, hypotheses are faces; an entry "
            "is 1 where the word is true of the face and 0 where it is not. A literal listener "
            "who hears 'glasses' is undecided between two faces; a cooperative one picks the face "
            "with glasses only, since for the other one the speaker would have said 'hat'. The "
            "prior 'hats' is that of a party at which most faces wear one."
        ),
        model=Model(
            [[1, 1, 1], [0, 1, 1], [0, 0, 1]],
            ["face", "glasses", "hat"],
            ["plain", "glasses only", "glasses and hat"],
        ),
        priors=_priors(uniform=np.full(3, 1 / 3), hats=[0.2, 0.2, 0.6]),
        hypothesis="glasses only",
    )


def _diagnosis() -> Example:
    with _data_file("diagnosis.csv") as file:
        model = read_model(file)
    return Example(
        name="diagnosis",
        title="Teaching a diagnosis: which findings should a tutor show?",
        description=(
            "A tutor teaches students to recognise one of five common illnesses by showing one "
            "finding of a patient at a time. An entry is the chance that a finding picked at "
            "random from such a patient's notes is this one; columns sum to one. As in life, the "
            "frequent findings (tiredness, cough) go with nearly everything and the telling ones "
            "(white spots on tonsils) are rare: picking at random teaches slowly, a cooperative "
            "tutor shows the telling ones. The prior 'winter' is how often each is met in a winter "
            "practice. The numbers are made up for teaching; they are no medical data."
        ),
        model=model,
        priors=_priors(uniform=np.full(5, 0.2), winter=[0.45, 0.20, 0.10, 0.05, 0.20]),
        hypothesis="influenza",
    )


def _gestures() -> Example:
    with _data_file("gestures.csv") as file:
        model = read_model(file)
    return Example(
        name="gestures",
        title="Robot gestures: which object does the robot want?",
        description=(
            "Four objects stand on a table: a cup (near left), a bowl (far left), a book (near "
            "right) and a lamp (far right). A robot shows which one it means by gestures, one at "
            "a time. An entry is the chance that a robot set on that object makes the gesture "
            "without thinking of its watcher; columns sum to one. Mostly it keeps still or leans "
            "forward, which tells next to nothing; looking tells the side, reaching tells near, "
            "pointing tells far. A cooperative robot points and reaches more. The prior 'tidy' is "
            "that of a person who expects it to clear cups and bowls away. The numbers are "
            "designed, not measured."
        ),
        model=model,
        priors=_priors(uniform=np.full(4, 0.25), tidy=[0.40, 0.35, 0.15, 0.10]),
        hypothesis="bowl",
    )


examples = ExampleLibrary(
    {
        "supplement-2x2": _supplement,
        **{f"M_{k}": partial(_stability, f"M_{k}", "rank 3") for k in range(1, 6)},
        **{f"M'_{k}": partial(_stability, f"M'_{k}", "rank 4") for k in range(1, 4)},
        "grid-world": _grid_world,
        "number-game": _number_game,
        "reference-game": _reference_game,
        "diagnosis": _diagnosis,
        "gestures": _gestures,
    }
)
"""The built-in examples; see `ExampleLibrary`."""
