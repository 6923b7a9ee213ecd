"""Conjecture 5.3 of the paper: certificates against it, and the search for them."""

from cobayes.conjecture.certificate import (
    Certificate,
    CertificateCheck,
    check_certificate,
    known_certificates,
)
from cobayes.conjecture.search import Falsifier, SearchReport
from cobayes.conjecture.separation import alternating_prior, nested_success, separated_matrix

__all__ = [
    "Certificate",
    "CertificateCheck",
    "Falsifier",
    "SearchReport",
    "alternating_prior",
    "check_certificate",
    "known_certificates",
    "nested_success",
    "separated_matrix",
]
