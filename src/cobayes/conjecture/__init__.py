"""Conjecture 5.3 of the paper: certificates against it, and the search for them."""

from cobayes.conjecture.certificate import Certificate, CertificateCheck, check_certificate
from cobayes.conjecture.certificate_files import known_certificates
from cobayes.conjecture.limit_certificate import (
    LimitCertificate,
    LimitCheck,
    check_limit,
    load_certificate,
)
from cobayes.conjecture.limit_search import SteepestLimit, steepest_limit
from cobayes.conjecture.search import Falsifier
from cobayes.conjecture.search_report import SearchReport
from cobayes.conjecture.separation import alternating_prior, nested_success, separated_matrix
from cobayes.conjecture.small_perturbations import LimitSlope, limit_slope

__all__ = [
    "Certificate",
    "CertificateCheck",
    "Falsifier",
    "LimitCertificate",
    "LimitCheck",
    "LimitSlope",
    "SearchReport",
    "SteepestLimit",
    "alternating_prior",
    "check_certificate",
    "check_limit",
    "known_certificates",
    "limit_slope",
    "load_certificate",
    "nested_success",
    "separated_matrix",
    "steepest_limit",
]
