"""A short, repeatable run in `make test`; `make fuzz` asks for more examples and another seed."""

import os
import warnings

import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "fuzz",
    max_examples=int(os.environ.get("FUZZ_EXAMPLES", "25")),
    derandomize="FUZZ_EXAMPLES" not in os.environ,
    database=None,
    deadline=None,
    suppress_health_check=list(HealthCheck),
)


@pytest.fixture(autouse=True)
def warnings_are_no_errors_here():
    """Allow the library's own warnings, and no others, for fuzzed input."""
    from cobayes.errors import CobayesWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CobayesWarning)
        yield
