"""Certificates against Conjecture 5.3 in L1 for perturbations that are too small to write down."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import whole_number
from cobayes._runtime.randomness import spawn_generators
from cobayes.conjecture.certificate import STANDARD_ERRORS, Certificate
from cobayes.conjecture.certificate_files import CertificateFile, read_certificate
from cobayes.conjecture.small_perturbations import LimitSlope, limit_slope
from cobayes.model import MatrixLike, Model, as_model

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class LimitCertificate(CertificateFile):
    """A claim that Conjecture 5.3 fails in L1 for all sufficiently small perturbations.

    Attributes
    ----------
    model : Model
        The matrix that both agents hold.
    hypothesis : int
        The position of what is taught.
    teacher_prior, direction : ndarray
        The teacher's prior, and the direction in which the learner's differs from it, (m,).
    num_rounds, num_sequences : int
        How much work a check is meant to do.
    sizes : tuple of float
        Decimal logarithms of L1 distances at which a check measures the ratio, too.
    story : str
        Where it comes from.
    evidence : dict
        What was measured when it was made.

    Examples
    --------
    >>> from cobayes.conjecture import LimitCertificate
    >>> certificate = LimitCertificate.of([[0.8, 0.3], [0.2, 0.7]], 0, [0.6, 0.4], [-1, 1])
    >>> certificate.direction
    array([-1.,  1.])
    """

    kind = "cobayes conjecture limit certificate"
    distance = "l1"

    model: Model
    hypothesis: int
    teacher_prior: Array
    direction: Array
    num_rounds: int = 500
    num_sequences: int = 10_000
    sizes: tuple[float, ...] = ()
    story: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        matrix: MatrixLike,
        hypothesis: SupportsIndex | str,
        teacher_prior: ArrayLike,
        direction: ArrayLike,
        **more: Any,
    ) -> Self:
        """Validate a claim.

        Parameters
        ----------
        matrix, hypothesis, teacher_prior, direction
            See the attributes.
        **more
            The attributes that have defaults.

        Returns
        -------
        LimitCertificate
            The claim, with matrix and priors as arrays.
        """
        model = as_model(matrix)
        found = cls(
            model,
            model.hypothesis_index(hypothesis),
            model.distribution(teacher_prior, name="teacher's prior"),
            np.asarray(direction, dtype=np.float64),
            **more,
        )
        found.slope(num_rounds=0, num_sequences=2, rng=0)  # raises where the claim is no claim
        return found

    def slope(
        self,
        *,
        log10_size: float | None = None,
        num_rounds: int | None = None,
        num_sequences: int | None = None,
        rng: Any = None,
    ) -> LimitSlope:
        """Measure failure over what is allowed; see `limit_slope`.

        Parameters
        ----------
        log10_size
            Decimal logarithm of the L1 distance; by default the limit.
        num_rounds, num_sequences
            By default what the certificate asks for.
        rng
            Anything that `numpy.random.default_rng` takes.

        Returns
        -------
        LimitSlope
            More than one refutes the conjecture.
        """
        return limit_slope(
            self.model,
            self.hypothesis,
            self.teacher_prior,
            self.direction,
            num_rounds=self.num_rounds if num_rounds is None else num_rounds,
            log10_size=log10_size,
            num_sequences=self.num_sequences if num_sequences is None else num_sequences,
            rng=rng,
        )

    def _own_content(self) -> dict[str, Any]:
        return {
            "direction": self.direction.tolist(),
            "num_rounds": self.num_rounds,
            "num_sequences": self.num_sequences,
            "sizes": list(self.sizes),
        }

    @classmethod
    def _of_content(cls, model: Model, content: dict[str, Any], **shared: Any) -> Self:
        return cls.of(
            model,
            content["hypothesis"],
            content["teacher_prior"],
            content["direction"],
            num_rounds=whole_number(content["num_rounds"], "num_rounds", 1),
            num_sequences=whole_number(content["num_sequences"], "num_sequences", 2),
            sizes=tuple(float(size) for size in content.get("sizes", ())),
            **shared,
        )

    def __repr__(self) -> str:
        n, m = self.model.shape
        return f"LimitCertificate(l1, small perturbations: {n} data x {m} hypotheses)"


@dataclass(frozen=True, eq=False, repr=False)
class LimitCheck:
    """The outcome of running a `LimitCertificate`.

    Attributes
    ----------
    certificate : LimitCertificate
        What was checked.
    limit : LimitSlope
        Failure over what is allowed, in the limit of small perturbations.
    at_sizes : dict
        The same at the certificate's sizes.

    Examples
    --------
    >>> from cobayes.conjecture import LimitCertificate, check_limit
    >>> matrix = [[0.8, 0.3], [0.2, 0.7]]
    >>> certificate = LimitCertificate.of(matrix, 0, [0.6, 0.4], [-1, 1], num_rounds=5)
    >>> check = check_limit(certificate, num_sequences=4, rng=1)
    >>> round(check.limit.value, 9), check.is_confirmed
    (0.5, False)
    """

    certificate: LimitCertificate
    limit: LimitSlope
    at_sizes: dict[float, LimitSlope]

    @property
    def standard_errors(self) -> float:
        """By how many standard errors the ratio exceeds one in the limit."""
        return (self.limit.value - 1.0) / self.limit.stderr

    @property
    def is_confirmed(self) -> bool:
        """Whether it does by at least six."""
        return self.standard_errors >= STANDARD_ERRORS

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        return {
            "is_confirmed": self.is_confirmed,
            "is_proved": False,
            "distance": "l1",
            "limit": self.limit._asdict(),
            "standard_errors": self.standard_errors,
            "at_sizes": [
                {"log10_size": size, **found._asdict()} for size, found in self.at_sizes.items()
            ],
        }

    def __repr__(self) -> str:
        verdict = "confirmed" if self.is_confirmed else "not confirmed"
        return (
            f"LimitCheck({verdict}; failure over what L1 allows is at least {self.limit.value:.3f} "
            f"± {self.limit.stderr:.3f} in the limit, {self.standard_errors:.1f} standard errors "
            "above one)"
        )


def check_limit(
    certificate: LimitCertificate, *, num_sequences: int | None = None, rng: Any = None
) -> LimitCheck:
    """Run a certificate: estimate the ratio in the limit and at its sizes, with new random numbers.

    Parameters
    ----------
    certificate
        What to check.
    num_sequences
        How many sequences each; by default what the certificate asks for.
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    LimitCheck
        The ratio in the limit and at the sizes, and whether it confirms the claim.

    Examples
    --------
    >>> from cobayes.conjecture import LimitCertificate, check_limit
    >>> matrix = [[0.8, 0.3], [0.2, 0.7]]
    >>> certificate = LimitCertificate.of(matrix, 0, [0.6, 0.4], [-1, 1], num_rounds=5)
    >>> round(check_limit(certificate, num_sequences=4, rng=1).limit.value, 9)
    0.5
    """
    first, *others = spawn_generators(rng, 1 + len(certificate.sizes))
    return LimitCheck(
        certificate,
        certificate.slope(num_sequences=num_sequences, rng=first),
        {
            size: certificate.slope(log10_size=size, num_sequences=num_sequences, rng=stream)
            for size, stream in zip(certificate.sizes, others, strict=True)
        },
    )


def load_certificate(path: str | Path) -> Certificate | LimitCertificate:
    """Read a certificate of either kind, from a file or a packaged one by name.

    Parameters
    ----------
    path
        A file, or one of `known_certificates()`.

    Returns
    -------
    Certificate or LimitCertificate
        By the file's own word.

    Examples
    --------
    >>> from cobayes.conjecture import load_certificate
    >>> load_certificate("l1-small-perturbations")
    LimitCertificate(l1, small perturbations: 3 data x 3 hypotheses)
    """
    content = read_certificate(path)
    kind = LimitCertificate if content.get("kind") == LimitCertificate.kind else Certificate
    return kind.from_dict(content)
