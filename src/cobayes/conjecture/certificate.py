"""Conjecture 5.3: certificates of counter-examples, and checking them.

The conjecture says that a learner whose prior is at distance d from what the teacher takes it to
be still succeeds with probability at least ``1 - d / theta^T(h)``. A certificate is a file with a
matrix and two priors for which that fails; anyone can run the check again.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, Self, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cobayes._input.validation import number_between, whole_number
from cobayes.conjecture.certificate_files import CertificateFile
from cobayes.errors import CobayesError
from cobayes.lessons import Learner
from cobayes.model import MatrixLike, Model, as_model
from cobayes.rules import SCBI
from cobayes.stability.bounds import Distance, conjectured_success, prior_distance
from cobayes.stability.enclosure import SuccessEnclosure, success_enclosure
from cobayes.stability.results import SuccessRate
from cobayes.stability.success import Method, success_rate

Array = NDArray[np.float64]

# How far a failure must exceed what is allowed, in standard errors, to count as confirmed.
STANDARD_ERRORS = 6.0
# The coupling never gets more pairs than this, however rarely they end at what is taught.
MOST_PAIRS = 20_000_000
# A witness is followed stepwise, at about 0.1 ms a datum.
LONGEST_WITNESS = 10_000
# The tree of data that encloses the success rate: about a second of work.
ENCLOSED_DEPTH, ENCLOSED_LEAVES = 100, 100_000


@dataclass(frozen=True, eq=False, repr=False)
class Certificate(CertificateFile):
    """A claim that Conjecture 5.3 fails for one matrix and one pair of priors.

    Attributes
    ----------
    distance : str
        In which form of the conjecture: "euclidean", "l1" or "tv".
    model : Model
        The matrix that both agents hold.
    hypothesis : int
        The position of what is taught.
    teacher_prior, learner_prior : ndarray
        The two priors, (m,).
    num_sequences, max_rounds : int
        How much work a check is meant to do: lessons, and rounds of each. The coupling gets
        1 / theta^T(h) times as many pairs, since only that share of them ends at h.
    doubt : float
        When a lesson ends, as in `success_rate`.
    witness : tuple of int
        Data, by position, that prove the claim without statistics; see `witness_margin`.
    story : str
        Where it comes from.
    evidence : dict
        What was measured when it was made.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.conjecture.Certificate.load("tv-paper-matrix")
    Certificate(tv: 3 data x 3 hypotheses; conjectured success >= 0.6000)
    """

    kind = "cobayes conjecture certificate"

    distance: Distance
    model: Model
    hypothesis: int
    teacher_prior: Array
    learner_prior: Array
    num_sequences: int = 100_000
    max_rounds: int = 10_000
    doubt: float = 1e-5
    witness: tuple[int, ...] = ()
    story: str = ""
    evidence: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        matrix: MatrixLike,
        hypothesis: SupportsIndex | str,
        teacher_prior: ArrayLike,
        learner_prior: ArrayLike,
        distance: Distance,
        **more: Any,
    ) -> Self:
        """Validate a claim.

        Parameters
        ----------
        matrix, hypothesis, teacher_prior, learner_prior, distance
            See the attributes.
        **more
            The attributes that have defaults.

        Returns
        -------
        Certificate
            The claim, with matrix and priors as arrays.
        """
        model = as_model(matrix)
        position = model.hypothesis_index(hypothesis)
        own = model.distribution(teacher_prior, name="teacher's prior")
        theirs = model.distribution(learner_prior, name="learner's prior")
        bound = conjectured_success(own, theirs, position, distance)
        if not 0.0 < bound < 1.0:
            raise CobayesError(
                f"the conjecture's bound is {bound:.4g} here; it says something only strictly "
                "between 0 and 1.",
                "take other priors, closer to each other.",
            )
        found = cls(distance, model, position, own, theirs, **more)
        if len(found.witness) > LONGEST_WITNESS:
            raise CobayesError(
                f"the witness has {len(found.witness)} data; a check observes them one by one, "
                f"{LONGEST_WITNESS} at most.",
                "give a shorter sequence, or none.",
            )
        return replace(found, witness=tuple(model.datum_index(datum) for datum in found.witness))

    @property
    def conjectured_success(self) -> float:
        """What the conjecture says the success rate is at least."""
        return conjectured_success(
            self.teacher_prior, self.learner_prior, self.hypothesis, self.distance
        )

    def slope(self, success: float) -> float:
        """Return failure times theta^T(h) over the distance; the conjecture says at most one."""
        apart = prior_distance(self.teacher_prior, self.learner_prior, self.distance)
        return float((1.0 - success) * self.teacher_prior[self.hypothesis] / apart)

    def _own_content(self) -> dict[str, Any]:
        return {
            "learner_prior": self.learner_prior.tolist(),
            "conjectured_success": self.conjectured_success,
            "num_sequences": self.num_sequences,
            "max_rounds": self.max_rounds,
            "doubt": self.doubt,
            "witness": list(self.witness),
        }

    @classmethod
    def _of_content(cls, model: Model, content: dict[str, Any], **shared: Any) -> Self:
        return cls.of(
            model,
            content["hypothesis"],
            content["teacher_prior"],
            content["learner_prior"],
            content["distance"],
            num_sequences=whole_number(content["num_sequences"], "num_sequences", 1),
            max_rounds=whole_number(content["max_rounds"], "max_rounds", 1),
            doubt=number_between(content["doubt"], "doubt", 0.0, 0.5),
            witness=tuple(content.get("witness", ())),
            **shared,
        )

    def __repr__(self) -> str:
        n, m = self.model.shape
        return (
            f"Certificate({self.distance}: {n} data x {m} hypotheses; conjectured success "
            f">= {self.conjectured_success:.4f})"
        )


@dataclass(frozen=True, eq=False, repr=False)
class CertificateCheck:
    """The outcome of running a certificate.

    Attributes
    ----------
    certificate : Certificate
        What was checked.
    lessons, coupled : SuccessRate
        The two estimates, from independent random numbers.
    witness_margin : float or None
        Positive where the certificate's witness proves the claim; None where it has none.
    enclosure : SuccessEnclosure
        An interval that contains the success rate for certain.

    Examples
    --------
    >>> from cobayes.conjecture import Certificate, check_certificate
    >>> certificate = Certificate.load("tv-paper-matrix")
    >>> check = check_certificate(certificate, num_sequences=500, rng=1)
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
        """By how many standard errors each estimate lies below the conjectured success.

        Counted from the upper end of what unfinished sequences may hide.
        """
        bound = self.certificate.conjectured_success
        return {
            rate.method: (bound - rate.upper) / rate.stderr for rate in (self.lessons, self.coupled)
        }

    @property
    def is_confirmed(self) -> bool:
        """Whether both estimates lie at least six standard errors below."""
        return min(self.standard_errors.values()) >= STANDARD_ERRORS

    @property
    def is_enclosed(self) -> bool:
        """Whether the enclosure proves the claim: its upper end is below what is conjectured."""
        # The bound itself is rounded, too; 1e-12 is far more than that.
        bound = self.certificate.conjectured_success - 1e-12
        return self.enclosure.upper < bound

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
    certificate: Certificate, *, num_sequences: int | None = None, rng: Any = None
) -> CertificateCheck:
    """Run a certificate: estimate the success rate in both ways, with new random numbers.

    Parameters
    ----------
    certificate
        What to check.
    num_sequences
        How many lessons; by default what the certificate asks for.
    rng
        Anything that `numpy.random.default_rng` takes.

    Returns
    -------
    CertificateCheck
        Both estimates, the enclosure, and whether they confirm or prove the claim.

    Examples
    --------
    >>> from cobayes.conjecture import Certificate, check_certificate
    >>> certificate = Certificate.load("tv-paper-matrix")
    >>> check = check_certificate(certificate, num_sequences=500, rng=1)
    >>> check.is_enclosed
    True
    """
    generator = np.random.default_rng(rng)
    estimates = {}
    lessons = num_sequences or certificate.num_sequences
    pairs = min(math.ceil(lessons / certificate.teacher_prior[certificate.hypothesis]), MOST_PAIRS)
    work: tuple[tuple[Method, int], ...] = (("lessons", lessons), ("coupling", pairs))
    for method, count in work:
        estimates[method] = success_rate(
            certificate.model,
            hypothesis=certificate.hypothesis,
            teacher_prior=certificate.teacher_prior,
            learner_prior=certificate.learner_prior,
            num_sequences=count,
            max_rounds=certificate.max_rounds,
            doubt=certificate.doubt,
            method=method,
            rng=generator,
        )
    margin = witness_margin(certificate) if certificate.witness else None
    enclosure = success_enclosure(
        certificate.model,
        certificate.hypothesis,
        teacher_prior=certificate.teacher_prior,
        learner_prior=certificate.learner_prior,
        depth=ENCLOSED_DEPTH,
        max_leaves=ENCLOSED_LEAVES,
    )
    return CertificateCheck(
        certificate, estimates["lessons"], estimates["coupling"], margin, enclosure
    )


def witness_margin(certificate: Certificate) -> float:
    """Return by how much a single sequence of data proves a certificate; negative if it does not.

    Let the learner's prior exceed the teacher's everywhere but at the taught hypothesis h. Then
    the total variation is ``theta^T(h) - theta^L(h)`` and the conjecture says that the learner
    never ends at h unless the teacher does. After data that leave the teacher believing some
    other i and the learner believing h with more than one together, that happens all the same:
    such data have a positive probability, and from there on the two events overlap by at least
    the excess, which is returned.

    Parameters
    ----------
    certificate
        With a witness, in the form of total variation.
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
