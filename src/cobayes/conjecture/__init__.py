"""Conjecture 5.3 of the paper: certificates against it, and the search for them."""

from cobayes.conjecture.certificate import (
    Certificate,
    CertificateCheck,
    check_certificate,
    known_certificates,
)
from cobayes.conjecture.search import Falsifier, SearchReport
from cobayes.conjecture.separation import alternating_prior, nested_success, separated_matrix
from cobayes.conjecture.small_perturbations import LimitSlope, limit_slope

__all__ = [
    "Certificate",
    "CertificateCheck",
    "Falsifier",
    "LimitSlope",
    "SearchReport",
    "alternating_prior",
    "check_certificate",
    "known_certificates",
    "limit_slope",
    "nested_success",
    "separated_matrix",
]
