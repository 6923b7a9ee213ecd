"""The files of certificates: writing, reading, and those that come with cobayes."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cobayes._output import write_text
from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.stability.bounds import Distance

Array = NDArray[np.float64]

FORMAT = 1


class CertificateFile(ABC):
    """What certificates of both kinds share: their file.

    A kind has the attributes `distance`, `model`, `hypothesis`, `teacher_prior`, `story` and
    `evidence`, and adds others by `_own_content` and `_of_content`.
    """

    kind: ClassVar[str]
    distance: Distance
    model: Model
    hypothesis: int
    teacher_prior: Array
    story: str
    evidence: dict[str, Any]

    @abstractmethod
    def _own_content(self) -> dict[str, Any]:
        """Return what this kind adds to the file."""

    @classmethod
    @abstractmethod
    def _of_content(cls, model: Model, content: dict[str, Any], **shared: Any) -> Self:
        """Validate what `_own_content` wrote, and make the certificate."""

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "kind": self.kind,
            "format": FORMAT,
            "distance": self.distance,
            **self.model.to_dict(),
            "hypothesis": self.model.hypotheses[self.hypothesis],
            "teacher_prior": self.teacher_prior.tolist(),
            **self._own_content(),
            "story": self.story,
            "evidence": self.evidence,
        }

    @classmethod
    def from_dict(cls, content: dict[str, Any]) -> Self:
        """Undo `to_dict`."""
        try:
            if content["kind"] != cls.kind or not 1 <= content["format"] <= FORMAT:
                raise CobayesError(
                    f"this is a {content['kind']!r} of format {content['format']}; expected "
                    f"{cls.kind!r} of format {FORMAT} at most."
                )
            shared = {name: content[name] for name in ("story", "evidence") if name in content}
            return cls._of_content(Model.from_dict(content), content, **shared)
        except (KeyError, TypeError, ValueError, OverflowError) as error:
            raise CobayesError(
                f"the certificate is incomplete or has a value of the wrong type: {error}.",
                f"compare it with one that {cls.__name__}.save writes.",
            ) from error

    def save(self, path: str | Path) -> None:
        """Write the certificate to a JSON file."""
        text = json.dumps(self.to_dict(), indent=2, allow_nan=False)
        try:
            write_text(path, text + "\n")
        except OSError as error:
            raise CobayesError(f"{path} cannot be written: {error.strerror}.") from error

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a certificate written by `save`, or a packaged one by name.

        Parameters
        ----------
        path
            A file, or one of `known_certificates()`.
        """
        return cls.from_dict(read_certificate(path))


def read_certificate(path: str | Path) -> dict[str, Any]:
    """Return the content of a certificate's file, or of a packaged one by name."""
    if str(path) in known_certificates() and not Path(path).exists():
        text = (_folder() / f"{path}.json").read_text(encoding="utf-8")
    else:
        hint = f"give a file, or one of: {', '.join(known_certificates())}."
        if not Path(path).exists():
            raise CobayesError(f"there is no certificate {path}.", hint)
        try:
            text = Path(path).read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise CobayesError(f"{path} cannot be read: {error}.", hint) from error
    try:
        content = json.loads(text)
    except json.JSONDecodeError as error:
        raise CobayesError(f"{path} is no JSON: {error}.") from error
    if not isinstance(content, dict):
        raise CobayesError(f"{path} is no certificate: it holds no JSON object.")
    return content


def known_certificates() -> tuple[str, ...]:
    """Return the names of the certificates that come with cobayes.

    Returns
    -------
    tuple of str
        What `cobayes.conjecture.certificate` takes, sorted.

    Examples
    --------
    >>> import cobayes as cb
    >>> "tv-paper-matrix" in cb.conjecture.known_certificates()
    True
    """
    files = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in files if name.endswith(".json")))


def _folder():
    return resources.files("cobayes") / "data" / "conjecture"
