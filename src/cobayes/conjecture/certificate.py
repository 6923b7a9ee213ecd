"""Certificates of counter-examples to Conjecture 5.3, and their checks.

The teacher assumes the prior theta^T and teaches the hypothesis h; the learner's actual prior is at
distance d from theta^T. The conjecture says that the learner succeeds with probability at least
``1 - d / theta^T(h)``. A certificate is a JSON file; anyone can run its check again. A
`Certificate` has a matrix and two priors for which the success rate is below this bound, a
`LimitCertificate` a matrix, a prior and a direction in which the conjecture fails for small d.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from cobayes._input.validation import instance, number_between, spawn_generators, whole_number
from cobayes._output import Result
from cobayes.conjecture.limit import LimitSlope, limit_slope
from cobayes.errors import CobayesError
from cobayes.lessons import Learner
from cobayes.model import Model
from cobayes.reading import existing_file, parse_json, read_text
from cobayes.rules import SCBI
from cobayes.stability.bounds import Distance, conjectured_success
from cobayes.stability.enclosure import SuccessEnclosure, success_enclosure
from cobayes.stability.success import SuccessRate, success_rate

FOLDER = resources.files("cobayes") / "data" / "conjecture"
FORMAT = 2
# A counter-example is confirmed if the failure rate exceeds its bound by six standard errors.
STANDARD_ERRORS = 6.0
# The largest number of pairs of agents in an estimate by `coupling`. Below this limit, the number
# of pairs is the number of lessons divided by the teacher's prior in the taught hypothesis.
MOST_PAIRS = 20_000_000
# The largest number of data in `Certificate.witness`; a check takes 0.1 ms for each of them.
LONGEST_WITNESS = 10_000
# With these `num_rounds` and `max_leaves`, `success_enclosure` takes less than a second.
ENCLOSURE_ROUNDS, ENCLOSURE_LEAVES = 100, 100_000


class _Claim:
    """Base class of the two kinds of certificates."""

    kind: ClassVar[str]

    def __init__(self, content: dict[str, Any]) -> None:
        self._content = content
        self.model = Model.from_dict(content)
        self.hypothesis = self.model.hypothesis_index(content["hypothesis"])
        prior = content["teacher_prior"]
        self.teacher_prior = self.model.distribution(prior, name="teacher's prior")
        self.num_lessons = whole_number(content["num_lessons"], "num_lessons", 2)
        self.evidence: dict[str, Any] = content.get("evidence", {})

    def to_dict(self) -> dict[str, Any]:
        """Return the certificate as a dict for JSON; `from_dict` reads it."""
        return dict(self._content)

    @staticmethod
    def from_dict(content: dict[str, Any]) -> Certificate | LimitCertificate:
        """Make a certificate of either kind from the result of `to_dict`."""
        return load_certificate(content)


class Certificate(_Claim):
    """A claim that Conjecture 5.3 fails for one matrix and one pair of priors.

    Attributes
    ----------
    distance : str
        How the distance between the priors is measured: "euclidean", "l1" or "tv".
    model : Model
        The matrix of both agents.
    hypothesis : int
        The position of the hypothesis that is taught.
    teacher_prior, learner_prior : ndarray
        The two priors, (m,).
    num_lessons, max_rounds : int
        The number of lessons of a full check, and the largest number of rounds per lesson. The
        estimate by coupling uses num_lessons / theta^T(h) pairs of agents, since only a share
        theta^T(h) of the teachers converges to h.
    level : float
        The teacher is sure when its belief exceeds this; see `success_rate`.
    witness : tuple of int
        A sequence of data, by position, that proves the claim without statistics (see
        `witness_margin`); empty if there is none.
    conjectured_success : float
        The conjecture's lower bound on the success rate.
    evidence : dict
        The numbers measured when the certificate was made.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.conjecture.load_certificate("tv-paper-matrix")
    Certificate(tv: 3 data x 3 hypotheses; conjectured success >= 0.6000)
    """

    kind = "cobayes conjecture certificate"

    def __init__(self, content: dict[str, Any]) -> None:
        super().__init__(content)
        self.distance: Distance = content["distance"]
        prior = content["learner_prior"]
        self.learner_prior = self.model.distribution(prior, name="learner's prior")
        self.max_rounds = whole_number(content["max_rounds"], "max_rounds", 1)
        self.level = number_between(content["level"], "level", 0.5, 1.0)
        witness = tuple(content.get("witness", ()))
        if len(witness) > LONGEST_WITNESS:
            raise CobayesError(
                f"the witness has {len(witness)} data; expected at most {LONGEST_WITNESS}.",
                "give a shorter sequence, or none.",
            )
        self.witness = tuple(map(self.model.datum_index, witness))
        priors = self.teacher_prior, self.learner_prior
        bound = conjectured_success(*priors, self.hypothesis, self.distance)
        name, hint = "the conjectured success rate", "take priors that are close, but differ."
        self.conjectured_success = number_between(bound, name, 0.0, 1.0, hint=hint)

    def check(self, num_lessons: int | None = None, rng: Any = None) -> CertificateCheck:
        """Estimate the success rate from lessons and from a coupling, and prove bounds on it.

        Parameters
        ----------
        num_lessons
            The number of lessons (default: the certificate's).
        rng
            Anything that `numpy.random.default_rng` accepts.

        Returns
        -------
        CertificateCheck
            Both estimates, the enclosure, the margin of the witness if there is one, and whether
            they confirm or prove the claim.
        """
        given = self.num_lessons if num_lessons is None else num_lessons
        lessons = whole_number(given, "num_lessons", 2)
        pairs = math.ceil(min(lessons, MOST_PAIRS) / self.teacher_prior[self.hypothesis])
        pairs = min(pairs, MOST_PAIRS)
        case = {"rule": self.model, "hypothesis": self.hypothesis, "prior": self.teacher_prior}
        case |= {"learner_prior": self.learner_prior}
        limits = {"max_rounds": self.max_rounds, "level": self.level}
        first, second = spawn_generators(rng, 2)
        return CertificateCheck(
            self,
            success_rate(**case, **limits, num_lessons=lessons, rng=first),
            success_rate(**case, **limits, num_lessons=pairs, rng=second, method="coupling"),
            witness_margin(self) if self.witness else None,
            success_enclosure(**case, num_rounds=ENCLOSURE_ROUNDS, max_leaves=ENCLOSURE_LEAVES),
        )

    def __repr__(self) -> str:
        n, m = self.model.shape
        bound = f"conjectured success >= {self.conjectured_success:.4f}"
        return f"Certificate({self.distance}: {n} data x {m} hypotheses; {bound})"


class LimitCertificate(_Claim):
    """A claim that Conjecture 5.3 fails in L1 for all sufficiently small errors in a prior.

    Attributes
    ----------
    model : Model
        The matrix of both agents.
    hypothesis : int
        The position of the hypothesis that is taught.
    teacher_prior, direction : ndarray
        The teacher's prior, and the direction in which the learner's differs from it, (m,).
    num_rounds, num_lessons : int
        The number of rounds and lessons of a full check.
    sizes : tuple of float
        Decimal logarithms of L1 distances between the two priors. A check estimates the failure
        rate divided by the conjecture's bound, at each distance and in the limit of zero distance.
    evidence : dict
        The numbers measured when the certificate was made.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.conjecture.load_certificate("l1-small-perturbations").direction
    array([-1.,  1.,  0.])
    """

    kind = "cobayes conjecture limit certificate"

    def __init__(self, content: dict[str, Any]) -> None:
        super().__init__(content)
        self.direction = np.array(content["direction"], dtype=np.float64)
        self.num_rounds = whole_number(content["num_rounds"], "num_rounds", 1)
        self.sizes = tuple(float(size) for size in content.get("sizes", ()))
        # The call raises an error if the matrix, the prior or the direction is invalid.
        self.slope(num_rounds=0, num_lessons=2, rng=0)

    def slope(self, **options: Any) -> LimitSlope:
        """Estimate a lower bound on (failure rate) / (the conjecture's bound on the failure rate).

        Without ``log10_size``, the limit of small perturbations is taken. A value above one
        contradicts the conjecture.

        Parameters
        ----------
        **options
            ``log10_size`` and ``rng`` of `limit_slope`; ``num_rounds`` and ``num_lessons``
            (default: the certificate's).
        """
        case = self.model, self.hypothesis, self.teacher_prior, self.direction
        options = {"num_rounds": self.num_rounds, "num_lessons": self.num_lessons, **options}
        return limit_slope(*case, **options)

    def check(self, num_lessons: int | None = None, rng: Any = None) -> LimitCheck:
        """Estimate the ratio that `slope` returns, in the limit of small errors and at all `sizes`.

        Parameters
        ----------
        num_lessons
            The number of lessons for each estimate (default: the certificate's).
        rng
            Anything that `numpy.random.default_rng` accepts.

        Returns
        -------
        LimitCheck
            The ratios, and whether they confirm the claim.
        """
        count = self.num_lessons if num_lessons is None else num_lessons
        first, *streams = spawn_generators(rng, 1 + len(self.sizes))
        at_sizes = {
            size: self.slope(log10_size=size, num_lessons=count, rng=stream)
            for size, stream in zip(self.sizes, streams, strict=True)
        }
        return LimitCheck(self, self.slope(num_lessons=count, rng=first), at_sizes)

    def __repr__(self) -> str:
        n, m = self.model.shape
        return f"LimitCertificate(l1, small perturbations: {n} data x {m} hypotheses)"


def known_certificates() -> tuple[str, ...]:
    """Return the names of the certificates in cobayes.

    Returns
    -------
    tuple of str
        Names for `load_certificate`, sorted.

    Examples
    --------
    >>> import cobayes as cb
    >>> "tv-paper-matrix" in cb.conjecture.known_certificates()
    True
    """
    return tuple(sorted(file.name.removesuffix(".json") for file in FOLDER.iterdir()))


def load_certificate(source: str | Path | dict[str, Any]) -> Certificate | LimitCertificate:
    """Read a certificate of either kind.

    Parameters
    ----------
    source
        A JSON file, one of `known_certificates()`, or the content itself.

    Returns
    -------
    Certificate or LimitCertificate
        A certificate of the kind that the content states.

    Examples
    --------
    >>> from cobayes.conjecture import load_certificate
    >>> load_certificate("l1-small-perturbations")
    LimitCertificate(l1, small perturbations: 3 data x 3 hypotheses)
    """
    content = source if isinstance(source, dict) else _read(source)
    kinds = {kind.kind: kind for kind in (Certificate, LimitCertificate)}
    found = content if isinstance(content, dict) else {}
    kind, version = str(found.get("kind")), found.get("format")
    if kind not in kinds or version != FORMAT:
        raise CobayesError(
            f"this is not a certificate of format {FORMAT}: its kind is {kind!r}, its format "
            f"{version!r}.",
            f"expected format {FORMAT} and the kind {' or '.join(map(repr, kinds))}.",
        )
    try:
        return kinds[kind](content)
    except CobayesError:
        raise
    except (KeyError, TypeError, ValueError, OverflowError, RecursionError) as error:
        raise CobayesError(
            "the certificate is incomplete or has a value of the wrong type: "
            f"{type(error).__name__} {error}.",
            f"compare it with a certificate of cobayes, such as {FOLDER / 'tv-paper-matrix.json'}.",
        ) from error


def _read(source: str | Path) -> Any:
    """Return the content of a certificate, given its file or its name in cobayes."""
    known = known_certificates()
    instance(source, (str, Path), "source", "a file, the name of a certificate or its content")
    path = Path(str(FOLDER), f"{source}.json") if str(source) in known else Path(source)
    if not path.exists():
        hint = f"give a file, or one of: {', '.join(known)}."
        raise CobayesError(f"there is no certificate {source}.", hint)
    return parse_json(path, read_text(existing_file(path)))


@dataclass(frozen=True, eq=False, repr=False)
class CertificateCheck(Result):
    """The outcome of checking a `Certificate`.

    Attributes
    ----------
    certificate : Certificate
        The certificate.
    lessons, coupled : SuccessRate
        Two estimates of the success rate, from independent random numbers.
    witness_margin : float or None
        The result of `witness_margin`; None without a witness. A margin above 1e-6 proves the
        claim.
    enclosure : SuccessEnclosure
        An interval that is proved to contain the success rate.

    Examples
    --------
    >>> from cobayes.conjecture import load_certificate
    >>> check = load_certificate("tv-paper-matrix").check(num_lessons=500, rng=1)
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
        """``(conjectured_success - upper) / stderr`` of each estimate, by its method."""
        bound, rates = self.conjectured_success, (self.lessons, self.coupled)
        return {rate.method: (bound - rate.upper) / rate.stderr for rate in rates}

    @property
    def is_confirmed(self) -> bool:
        """Whether both estimates are at least six standard errors below the conjectured rate."""
        return min(self.standard_errors.values()) >= STANDARD_ERRORS

    @property
    def is_enclosed(self) -> bool:
        """Whether the enclosure proves the claim: its upper end is below the conjectured rate."""
        # 1e-12 covers the rounding error of the conjectured rate.
        return self.enclosure.upper < self.conjectured_success - 1e-12

    @property
    def has_witness(self) -> bool:
        """Whether the certificate's witness proves the claim."""
        return self.witness_margin is not None and self.witness_margin > 1e-6

    @property
    def is_proved(self) -> bool:
        """Whether the enclosure, or a witness, proves the claim without statistics."""
        return self.is_enclosed or self.has_witness

    @property
    def conjectured_success(self) -> float:
        """The conjecture's lower bound on the success rate."""
        return self.certificate.conjectured_success

    def __repr__(self) -> str:
        verdict = "confirmed" if self.is_confirmed else "not confirmed"
        errors = ", ".join(f"{name} {z:.1f}" for name, z in self.standard_errors.items())
        found = f"found {self.lessons.value:.4f} and {self.coupled.value:.4f}"
        return (
            f"CertificateCheck({verdict}; conjectured success >= {self.conjectured_success:.4f}, "
            f"{found}; standard errors below: {errors})"
        )


def witness_margin(certificate: Certificate) -> float:
    """Return the margin of a certificate's witness; if it is positive, the witness is a proof.

    Let the learner's prior be smaller than the teacher's at the taught hypothesis h, and at no
    other. Then the total variation is ``theta^T(h) - theta^L(h)``, and the conjecture says that the
    learner converges to h only if the teacher does. Suppose that after some data the teacher's
    belief in another hypothesis i is p and the learner's belief in h is q. Then the teacher
    converges to i and the learner to h with probability at least p + q - 1, the margin. A positive
    margin contradicts the conjecture, since the data have a positive probability.

    Parameters
    ----------
    certificate
        A certificate in total variation that has a witness.

    Returns
    -------
    float
        Positive if the data prove the claim.

    Examples
    --------
    >>> from cobayes.conjecture import load_certificate, witness_margin
    >>> round(witness_margin(load_certificate("tv-paper-matrix")), 4)
    0.0155
    """
    instance(certificate, Certificate, "certificate", "a Certificate, see load_certificate")
    own, theirs, h = certificate.teacher_prior, certificate.learner_prior, certificate.hypothesis
    others = np.arange(len(own)) != h
    if certificate.distance != "tv" or not (theirs >= own - 1e-12)[others].all():
        raise CobayesError(
            f"a witness proves nothing for the distance {certificate.distance!r}, the teacher's "
            f"prior {own.tolist()} and the learner's prior {theirs.tolist()}.",
            "give the distance 'tv', and a learner's prior that is smaller than the teacher's only "
            "at the taught hypothesis.",
        )
    rule = SCBI(certificate.model)
    agents = Learner(rule, own), Learner(rule, theirs)
    for datum in certificate.witness:
        for agent in agents:
            agent.observe(datum)
    return float(agents[0].belief[others].max() + agents[1].belief[h] - 1.0)


@dataclass(frozen=True, eq=False, repr=False)
class LimitCheck(Result):
    """The outcome of checking a `LimitCertificate`.

    Attributes
    ----------
    certificate : LimitCertificate
        The certificate.
    limit : LimitSlope
        Failure rate divided by the conjecture's bound on it, in the limit of small perturbations.
    at_sizes : dict
        The same ratio at each of the certificate's `sizes`, which are the keys.

    Examples
    --------
    >>> from cobayes.conjecture import load_certificate
    >>> check = load_certificate("l1-small-perturbations").check(num_lessons=2, rng=1)
    >>> sorted(check.at_sizes)
    [-90.0, -60.0, -30.0, -3.0]
    """

    certificate: LimitCertificate
    limit: LimitSlope
    at_sizes: dict[float, LimitSlope]

    @property
    def standard_errors(self) -> float:
        """By how many standard errors the ratio in the limit exceeds one."""
        return (self.limit.value - 1.0) / self.limit.stderr

    @property
    def is_confirmed(self) -> bool:
        """Whether the ratio exceeds one by at least six standard errors."""
        return self.standard_errors >= STANDARD_ERRORS

    def __repr__(self) -> str:
        verdict = "confirmed" if self.is_confirmed else "not confirmed"
        limit = f"{self.limit.value:.3f} ± {self.limit.stderr:.3f} in the limit"
        return (
            f"LimitCheck({verdict}; failure rate over its L1 bound is at least {limit}, "
            f"{self.standard_errors:.1f} standard errors above one)"
        )
