"""Conjecture 5.3 of the paper: certificates of counter-examples, and the limit of small errors."""

from cobayes.conjecture.certificate import (
    Certificate,
    CertificateCheck,
    LimitCertificate,
    LimitCheck,
    check_certificate,
    check_limit,
    known_certificates,
    load_certificate,
)
from cobayes.conjecture.limit import LimitSlope, limit_slope

__all__ = [
    "Certificate",
    "CertificateCheck",
    "LimitCertificate",
    "LimitCheck",
    "LimitSlope",
    "check_certificate",
    "check_limit",
    "known_certificates",
    "limit_slope",
    "load_certificate",
]
