"""Certificates of counter-examples to Conjecture 5.3, and checking them.

The conjecture says that a learner whose prior is at distance d from the teacher's idea of it
succeeds with probability at least ``1 - d / theta^T(h)``. A certificate is a JSON file with a
matrix and priors for which that fails; anyone can run the check again.
"""

from __future__ import annotations

import json
import math
import os
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cobayes._input.validation import number_between, whole_number
from cobayes._random import spawn_generators
from cobayes.conjecture.limit import LimitSlope, limit_slope
from cobayes.errors import CobayesError
from cobayes.lessons import Learner
from cobayes.model import Model
from cobayes.reading import existing_file, read_text
from cobayes.rules import SCBI
from cobayes.stability.bounds import Distance, conjectured_success, prior_distance
from cobayes.stability.enclosure import SuccessEnclosure, success_enclosure
from cobayes.stability.success import SuccessRate, success_rate

Array = NDArray[np.float64]

FORMAT = 2
# A failure counts as confirmed if it exceeds what is allowed by this many standard errors.
STANDARD_ERRORS = 6.0
# The most pairs that a coupling gets, however small the prior of the taught hypothesis is.
MOST_PAIRS = 20_000_000
# The longest witness: its data are observed one by one, in about 0.1 ms each.
LONGEST_WITNESS = 10_000
# The tree of data that encloses the success rate: about a second of work.
ENCLOSURE_ROUNDS, ENCLOSURE_LEAVES = 100, 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Certificate:
    """A claim that Conjecture 5.3 fails for one matrix and one pair of priors.

    Attributes
    ----------
    distance : str
        How the distance of the priors is measured: "euclidean", "l1" or "tv".
    model : Model
        The matrix that both agents hold.
    hypothesis : int
        The position of the hypothesis that is taught.
    teacher_prior, learner_prior : ndarray
        The two priors, (m,).
    num_lessons, max_rounds : int
        The number of lessons of a full check, and the most rounds of each. The coupling gets
        1 / theta^T(h) times as many pairs, since only that share of them ends at h.
    level : float
        The belief from which on the teacher counts as sure; see `success_rate`.
    witness : tuple of int
        Positions of data that prove the claim without statistics; see `witness_margin`.
    story : str
        Where the certificate comes from.
    evidence : dict
        What was measured when it was made.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.conjecture.load_certificate("tv-paper-matrix")
    Certificate(tv: 3 data x 3 hypotheses; conjectured success >= 0.6000)
    """

    kind: ClassVar[str] = "cobayes conjecture certificate"

    distance: Distance
    model: Model
    hypothesis: int
    teacher_prior: Array
    learner_prior: Array
    num_lessons: int
    max_rounds: int
    level: float
    witness: tuple[int, ...] = ()
    story: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)

    @property
    def conjectured_success(self) -> float:
        """The least success rate that the conjecture allows."""
        return conjectured_success(
            self.teacher_prior, self.learner_prior, self.hypothesis, self.distance
        )

    def slope(self, success: float) -> float:
        """Return failure times theta^T(h) over the distance; the conjecture says at most one."""
        apart = prior_distance(self.teacher_prior, self.learner_prior, self.distance)
        return float((1.0 - success) * self.teacher_prior[self.hypothesis] / apart)

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold; `load_certificate` reads it back."""
        return _header(self) | {
            "distance": self.distance,
            "learner_prior": self.learner_prior.tolist(),
            "num_lessons": self.num_lessons,
            "max_rounds": self.max_rounds,
            "level": self.level,
            "witness": list(self.witness),
        }

    def __repr__(self) -> str:
        n, m = self.model.shape
        return (
            f"Certificate({self.distance}: {n} data x {m} hypotheses; conjectured success "
            f">= {self.conjectured_success:.4f})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class LimitCertificate:
    """A claim that Conjecture 5.3 fails in L1 for all sufficiently small errors of a prior.

    Attributes
    ----------
    model : Model
        The matrix that both agents hold.
    hypothesis : int
        The position of the hypothesis that is taught.
    teacher_prior, direction : ndarray
        The teacher's prior, and the direction in which the learner's differs from it, (m,).
    num_rounds, num_lessons : int
        The number of rounds and lessons of a full check.
    sizes : tuple of float
        Decimal logarithms of L1 distances at which a check measures the ratio, too.
    story : str
        Where the certificate comes from.
    evidence : dict
        What was measured when it was made.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.conjecture.load_certificate("l1-small-perturbations").direction
    array([-1.,  1.,  0.])
    """

    kind: ClassVar[str] = "cobayes conjecture limit certificate"

    model: Model
    hypothesis: int
    teacher_prior: Array
    direction: Array
    num_rounds: int
    num_lessons: int
    sizes: tuple[float, ...] = ()
    story: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)

    def slope(
        self,
        *,
        log10_size: float | None = None,
        num_rounds: int | None = None,
        num_lessons: int | None = None,
        rng: Any = None,
    ) -> LimitSlope:
        """Measure failure over what is allowed; see `limit_slope`.

        Parameters
        ----------
        log10_size
            Decimal logarithm of the L1 distance (default: the limit of small distances).
        num_rounds, num_lessons
            The number of rounds and of lessons (default: the certificate's).
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
            num_lessons=self.num_lessons if num_lessons is None else num_lessons,
            rng=rng,
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold; `load_certificate` reads it back."""
        return _header(self) | {
            "direction": self.direction.tolist(),
            "num_rounds": self.num_rounds,
            "num_lessons": self.num_lessons,
            "sizes": list(self.sizes),
        }

    def __repr__(self) -> str:
        n, m = self.model.shape
        return f"LimitCertificate(l1, small perturbations: {n} data x {m} hypotheses)"


def known_certificates() -> tuple[str, ...]:
    """Return the names of the certificates that come with cobayes.

    Returns
    -------
    tuple of str
        Names that `load_certificate` takes, sorted.

    Examples
    --------
    >>> import cobayes as cb
    >>> "tv-paper-matrix" in cb.conjecture.known_certificates()
    True
    """
    files = (entry.name for entry in _folder().iterdir())
    return tuple(sorted(name.removesuffix(".json") for name in files if name.endswith(".json")))


def load_certificate(source: str | Path | dict[str, Any]) -> Certificate | LimitCertificate:
    """Read a certificate of either kind.

    Parameters
    ----------
    source
        A JSON file, one of `known_certificates()`, or the content itself.

    Returns
    -------
    Certificate or LimitCertificate
        Which one, the file says.

    Examples
    --------
    >>> from cobayes.conjecture import load_certificate
    >>> load_certificate("l1-small-perturbations")
    LimitCertificate(l1, small perturbations: 3 data x 3 hypotheses)
    """
    content = source if isinstance(source, dict) else _read(source)
    kinds = {Certificate.kind: _certificate, LimitCertificate.kind: _limit_certificate}
    kind, version = content.get("kind"), content.get("format")
    if not isinstance(kind, str) or kind not in kinds or version != FORMAT:
        raise CobayesError(
            f"this is no certificate of format {FORMAT}: its kind is {kind!r}, its format "
            f"{version!r}.",
            f"expected one of the kinds {', '.join(map(repr, kinds))}.",
        )
    try:
        model = Model.from_dict(content)
        shared = {
            "model": model,
            "hypothesis": model.hypothesis_index(content["hypothesis"]),
            "teacher_prior": model.distribution(content["teacher_prior"], name="teacher's prior"),
            "num_lessons": whole_number(content["num_lessons"], "num_lessons", 2),
            "story": content.get("story", ""),
            "evidence": content.get("evidence", {}),
        }
        return kinds[kind](content, shared)
    except CobayesError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise CobayesError(
            "the certificate is incomplete or has a value of the wrong type: "
            f"{type(error).__name__} {error}.",
            "compare it with one that comes with cobayes.",
        ) from error


@dataclass(frozen=True, eq=False, repr=False)
class CertificateCheck:
    """The outcome of checking a `Certificate`.

    Attributes
    ----------
    certificate : Certificate
        What was checked.
    lessons, coupled : SuccessRate
        Two estimates of the success rate, from independent random numbers.
    witness_margin : float or None
        Positive where the certificate's witness proves the claim; None where it has none.
    enclosure : SuccessEnclosure
        An interval that contains the success rate for certain.

    Examples
    --------
    >>> from cobayes.conjecture import check_certificate, load_certificate
    >>> check = check_certificate(load_certificate("tv-paper-matrix"), num_lessons=500, rng=1)
    >>> check.enclosure.lower <= check.lessons.value <= check.enclosure.upper
    True
    """

    certificate: Certificate
    lessons: SuccessRate
    coupled: SuccessRate
    witness_margin: float | None
    enclosure: SuccessEnclosure

    @property
    def standard_errors(self) -> dict[str, float]:
        """By how many standard errors the upper end of each estimate lies below the conjecture."""
        bound = self.certificate.conjectured_success
        return {
            rate.method: (bound - rate.upper) / rate.stderr for rate in (self.lessons, self.coupled)
        }

    @property
    def is_confirmed(self) -> bool:
        """Whether both estimates lie at least six standard errors below the conjecture."""
        return min(self.standard_errors.values()) >= STANDARD_ERRORS

    @property
    def is_enclosed(self) -> bool:
        """Whether the enclosure proves the claim: its upper end lies below the conjecture."""
        # 1e-12 covers the rounding of the bound itself.
        return self.enclosure.upper < self.certificate.conjectured_success - 1e-12

    @property
    def has_witness(self) -> bool:
        """Whether the certificate's witness proves the claim."""
        return self.witness_margin is not None and self.witness_margin > 1e-6

    @property
    def is_proved(self) -> bool:
        """Whether the enclosure, or a witness, proves the claim without statistics."""
        return self.is_enclosed or self.has_witness

    def to_dict(self) -> dict[str, Any]:
        """Return plain content that JSON can hold."""
        certificate = self.certificate
        return {
            "is_confirmed": self.is_confirmed,
            "is_proved": self.is_proved,
            "distance": certificate.distance,
            "conjectured_success": certificate.conjectured_success,
            "standard_errors": self.standard_errors,
            "slope": certificate.slope(self.lessons.value),
            "witness_margin": self.witness_margin,
            "enclosure": self.enclosure.to_dict(),
            "lessons": self.lessons.to_dict(),
            "coupling": self.coupled.to_dict(),
        }

    def __repr__(self) -> str:
        verdict = "confirmed" if self.is_confirmed else "not confirmed"
        errors = ", ".join(f"{name} {z:.1f}" for name, z in self.standard_errors.items())
        return (
            f"CertificateCheck({verdict}; conjectured success >= "
            f"{self.certificate.conjectured_success:.4f}, found {self.lessons.value:.4f} and "
            f"{self.coupled.value:.4f}; standard errors below: {errors})"
        )


def check_certificate(
    certificate: Certificate, *, num_lessons: int | None = None, rng: Any = None
) -> CertificateCheck:
    """Estimate the success rate of a certificate in both ways, with new random numbers.

    Parameters
    ----------
    certificate
        What to check.
    num_lessons
        The number of lessons (default: the certificate's).
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    CertificateCheck
        Both estimates, the enclosure, and whether they confirm or prove the claim.

    Examples
    --------
    >>> from cobayes.conjecture import check_certificate, load_certificate
    >>> check = check_certificate(load_certificate("tv-paper-matrix"), num_lessons=500, rng=1)
    >>> check.is_enclosed
    True
    """
    streams = spawn_generators(rng, 2)
    lessons = num_lessons or certificate.num_lessons
    taught = certificate.teacher_prior[certificate.hypothesis]
    pairs = math.ceil(min(lessons / taught, MOST_PAIRS)) if lessons < MOST_PAIRS else MOST_PAIRS
    priors = {"prior": certificate.teacher_prior, "learner_prior": certificate.learner_prior}
    limits = {"max_rounds": certificate.max_rounds, "level": certificate.level}
    by_lessons = success_rate(
        certificate.model, certificate.hypothesis, num_lessons=lessons, method="lessons",
        rng=streams[0], **priors, **limits,
    )  # fmt: skip
    by_coupling = success_rate(
        certificate.model, certificate.hypothesis, num_lessons=pairs, method="coupling",
        rng=streams[1], **priors, **limits,
    )  # fmt: skip
    enclosure = success_enclosure(
        certificate.model,
        certificate.hypothesis,
        num_rounds=ENCLOSURE_ROUNDS,
        max_leaves=ENCLOSURE_LEAVES,
        **priors,
    )
    margin = witness_margin(certificate) if certificate.witness else None
    return CertificateCheck(certificate, by_lessons, by_coupling, margin, enclosure)


def witness_margin(certificate: Certificate) -> float:
    """Return by how much a single sequence of data proves a certificate; negative if it does not.

    Let the learner's prior exceed the teacher's everywhere but at the taught hypothesis h. Then
    the total variation is ``theta^T(h) - theta^L(h)`` and the conjecture says that the learner
    never ends at h unless the teacher does. Suppose that after some data the teacher believes
    some other i with p and the learner believes h with q. From there on both events happen
    together with probability at least p + q - 1, the margin. A positive margin contradicts the
    conjecture, since the data have a positive probability.

    Parameters
    ----------
    certificate
        With a witness, in total variation.
    """
    own, theirs, h = certificate.teacher_prior, certificate.learner_prior, certificate.hypothesis
    others = np.arange(len(own)) != h
    if certificate.distance != "tv" or not (theirs >= own - 1e-12)[others].all():
        raise CobayesError(
            "a witness proves the form of total variation only, for a learner whose prior is "
            "smaller than the teacher's at the taught hypothesis alone."
        )
    rule = SCBI(certificate.model)
    agents = Learner(rule, own), Learner(rule, theirs)
    for datum in certificate.witness:
        for agent in agents:
            agent.observe(datum)
    return float(agents[0].belief[others].max() + agents[1].belief[h] - 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class LimitCheck:
    """The outcome of checking a `LimitCertificate`.

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
    >>> from cobayes.conjecture import check_limit, load_certificate
    >>> check = check_limit(load_certificate("l1-small-perturbations"), num_lessons=2, rng=1)
    >>> sorted(check.at_sizes)
    [-90.0, -60.0, -30.0, -3.0]
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
        """Whether the ratio exceeds one by at least six standard errors."""
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
    certificate: LimitCertificate, *, num_lessons: int | None = None, rng: Any = None
) -> LimitCheck:
    """Estimate the ratio of a limit certificate, with new random numbers.

    Parameters
    ----------
    certificate
        What to check.
    num_lessons
        The number of lessons at each size (default: the certificate's).
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    LimitCheck
        The ratio in the limit and at the sizes, and whether it confirms the claim.

    Examples
    --------
    >>> from cobayes.conjecture import check_limit, load_certificate
    >>> check = check_limit(load_certificate("l1-small-perturbations"), num_lessons=2, rng=1)
    >>> check.limit.value > 0.0
    True
    """
    first, *others = spawn_generators(rng, 1 + len(certificate.sizes))
    return LimitCheck(
        certificate,
        certificate.slope(num_lessons=num_lessons, rng=first),
        {
            size: certificate.slope(log10_size=size, num_lessons=num_lessons, rng=stream)
            for size, stream in zip(certificate.sizes, others, strict=True)
        },
    )


def _certificate(content: dict[str, Any], shared: dict[str, Any]) -> Certificate:
    model: Model = shared["model"]
    witness = tuple(content.get("witness", ()))
    if len(witness) > LONGEST_WITNESS:
        raise CobayesError(
            f"the witness has {len(witness)} data; expected at most {LONGEST_WITNESS}.",
            "give a shorter sequence, or none.",
        )
    found = Certificate(
        **shared,
        distance=content["distance"],
        learner_prior=model.distribution(content["learner_prior"], name="learner's prior"),
        max_rounds=whole_number(content["max_rounds"], "max_rounds", 1),
        level=number_between(content["level"], "level", 0.5, 1.0),
        witness=tuple(model.datum_index(datum) for datum in witness),
    )
    if not 0.0 < found.conjectured_success < 1.0:
        raise CobayesError(
            f"the conjecture's bound is {found.conjectured_success:.4g} here; it says something "
            "only strictly between 0 and 1.",
            "take other priors, closer to each other.",
        )
    return found


def _limit_certificate(content: dict[str, Any], shared: dict[str, Any]) -> LimitCertificate:
    found = LimitCertificate(
        **shared,
        direction=np.array(content["direction"], dtype=np.float64),
        num_rounds=whole_number(content["num_rounds"], "num_rounds", 1),
        sizes=tuple(float(size) for size in content.get("sizes", ())),
    )
    # Raises an error where matrix, prior or direction make no claim.
    found.slope(num_rounds=0, num_lessons=2, rng=0)
    return found


def _header(certificate: Certificate | LimitCertificate) -> dict[str, Any]:
    """Return the content that both kinds of certificates have."""
    return {
        "kind": certificate.kind,
        "format": FORMAT,
        **certificate.model.to_dict(),
        "hypothesis": certificate.model.hypotheses[certificate.hypothesis],
        "teacher_prior": certificate.teacher_prior.tolist(),
        "num_lessons": certificate.num_lessons,
        "story": certificate.story,
        "evidence": certificate.evidence,
    }


def _read(path: str | Path) -> dict[str, Any]:
    """Return the content of a certificate's file, or of a packaged one by name."""
    known = known_certificates()
    if str(path) not in known and not os.path.exists(path):
        raise CobayesError(
            f"there is no certificate {path}.", f"give a file, or one of: {', '.join(known)}."
        )
    try:
        if str(path) in known:
            content = json.loads((_folder() / f"{path}.json").read_text(encoding="utf-8"))
        else:
            content = json.loads(read_text(existing_file(path)))
    except CobayesError:
        raise
    except (ValueError, RecursionError) as error:
        raise CobayesError(f"{path} is no JSON that can be read: {error}.") from error
    if not isinstance(content, dict):
        raise CobayesError(f"{path} is no certificate: it holds no JSON object.")
    return content


def _folder():
    return resources.files("cobayes") / "data" / "conjecture"
