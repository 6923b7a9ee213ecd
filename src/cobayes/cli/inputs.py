"""What users type: matrices, hypotheses, priors and output files."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobayes.errors import CobayesError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from cobayes.example_library import Example
    from cobayes.model import Model

EXAMPLE_PREFIX = "example:"

# Python refuses to read integers of thousands of digits; no position is that far.
_MANY_DIGITS = 20


def load_matrix(text: str) -> tuple[Model, Example | None]:
    """Return the model that ``example:NAME`` or a file name stands for, and the example."""
    from cobayes.example_library import examples
    from cobayes.reading import read_model

    if text.startswith(EXAMPLE_PREFIX):
        example = examples[text.removeprefix(EXAMPLE_PREFIX)]
        return example.model, example
    if text in examples and not Path(text).exists():
        raise CobayesError(f"there is no file {text}.", f"for the example write example:{text}.")
    return read_model(text), None


def find_hypothesis(text: str | None, model: Model, example: Example | None) -> int:
    """Return the position of the hypothesis to teach, given by label or position.

    Parameters
    ----------
    text
        What the user typed; None takes the example's own.
    model, example
        What the matrix argument stood for.
    """
    if text is None and example is not None:
        return model.hypothesis_index(example.hypothesis)
    if text is None:
        raise CobayesError(
            "no hypothesis to teach was given.",
            f"add --hypothesis with one of: {', '.join(model.hypotheses[:12])}.",
        )
    if text not in model.hypotheses and text.isdecimal() and len(text) < _MANY_DIGITS:
        return model.hypothesis_index(int(text))
    return model.hypothesis_index(text)


def read_prior(
    text: str | None, model: Model, example: Example | None, *, name: str
) -> NDArray[np.float64] | None:
    """Return the prior that the user typed, or None.

    Numbers in the order of the hypotheses (``0.2,0.8`` or ``1/3,1/3,1/3``), pairs
    (``A=0.2,B=0.8``), ``uniform``, or the name of one of the example's priors.

    Parameters
    ----------
    text
        What the user typed.
    model, example
        What the matrix argument stood for.
    name
        What to call the prior in an error message.
    """
    if text is None:
        return None
    if example is not None and text.strip() in example.priors:
        return model.distribution(example.priors[text.strip()], name=name)
    if text.strip() == "uniform":
        return model.distribution(None)
    parts = [part.strip() for part in text.split(",")]
    pairs = [part.rpartition("=") for part in parts]
    if all(sign for _, sign, _ in pairs):
        labels = [label.strip() for label, _, _ in pairs]
        repeated = {label for label in labels if labels.count(label) > 1}
        if repeated:
            raise CobayesError(f"the {name} gives {repeated.pop()!r} twice.")
        values: Any = {
            label: _number(value, name) for label, (_, _, value) in zip(labels, pairs, strict=True)
        }
        return model.distribution(values, name=name)
    numbers = [_number(part, name, example) for part in parts]
    return model.distribution(numbers, name=name)


def _number(text: str, name: str, example: Example | None = None) -> float:
    # Not fractions.Fraction: it would write out all the digits of 1e99999999.
    above, has_line, below = text.strip().partition("/")
    try:
        if "_" in text:
            raise ValueError
        value = float(above) / (float(below) if has_line else 1.0)
        if not math.isfinite(value):
            raise ValueError
        return value
    except (ValueError, ZeroDivisionError):
        known = f", or a name: {', '.join(example.priors)}" if example is not None else ""
        raise CobayesError(
            f"the {name} holds {text.strip()!r}, which is not a finite number.",
            f"write 0.2,0.8 or 1/3,2/3 or A=0.2,B=0.8{known}.",
        ) from None


def choose_seed(seed: int | None) -> int:
    """Return the user's seed, or a new one that can be told and used again."""
    if seed is not None:
        return seed
    import secrets

    return secrets.randbelow(2**32)


def require_writable(path: Path, purpose: str) -> None:
    """Raise an error early where a file cannot be written."""
    try:
        is_folder, has_folder = path.is_dir(), path.parent.is_dir()
    except OSError as error:
        raise CobayesError(f"{purpose} cannot be written: {error.strerror}.") from None
    if is_folder:
        raise CobayesError(f"{path} is a folder; {purpose} needs a file name.")
    if not has_folder:
        raise CobayesError(f"the folder {path.parent} does not exist.", "make it first.")


def require_picture_file(path: Path, purpose: str) -> None:
    """Raise an error early where a picture cannot be written to this file."""
    require_writable(path, purpose)

    from cobayes.plots.overview import require_picture_format

    require_picture_format(path)
