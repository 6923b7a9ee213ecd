"""Requests that no machine can serve: refused with an estimate before anything is allocated."""

from __future__ import annotations

import os

from cobayes.errors import CobayesError

# The share of the machine's memory that one call may ask for.
_SHARE = 0.5
# Where the machine does not tell its memory.
_ASSUMED_MEMORY = 16 * 2**30
_LONGEST_SECONDS = 86_400.0


def machine_memory() -> int:
    """Return the bytes of memory that this machine has."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return _ASSUMED_MEMORY


def require_memory(num_bytes: float, what: str, hint: str) -> None:
    """Raise an error where something would take more than half of the machine's memory.

    Parameters
    ----------
    num_bytes
        The estimate.
    what
        What is asked for, as the start of a sentence.
    hint
        What to ask for instead.
    """
    available = machine_memory()
    if num_bytes > _SHARE * available:
        raise CobayesError(
            f"{what} would need about {_bytes_text(num_bytes)} of memory; this machine has "
            f"{_bytes_text(available)}.",
            hint,
        )


def require_time(seconds: float, what: str, hint: str) -> None:
    """Raise an error where something would take more than a day even on a fast machine.

    Parameters
    ----------
    seconds
        The estimate, from below.
    what
        What is asked for, as the start of a sentence.
    hint
        What to ask for instead.
    """
    if seconds > _LONGEST_SECONDS:
        raise CobayesError(f"{what} would take at least {_days_text(seconds)}.", hint)


def _bytes_text(num_bytes: float) -> str:
    for unit in ("bytes", "kB", "MB", "GB", "TB"):
        if num_bytes < 1000.0:
            return f"{num_bytes:.3g} {unit}"
        num_bytes /= 1000.0
    return f"{num_bytes:.3g} PB"


def _days_text(seconds: float) -> str:
    days = seconds / _LONGEST_SECONDS
    return f"{days:.0f} days" if days < 1000.0 else f"{days / 365.25:.3g} years"


# From below: bytes that a round takes in the statistics, bytes of a block of lessons with its
# random generator, and entries of the matrix that a fast machine passes over in a second.
_BYTES_PER_ROUND = 4096
_LESSONS_PER_BLOCK, _BYTES_PER_BLOCK = 1024, 1024
_ENTRIES_PER_SECOND = 2e9


def require_affordable_lessons(
    num_lessons: int, num_rounds: int, num_data: int, num_hypotheses: int
) -> None:
    """Raise an error where so many lessons would not fit into memory or would not end.

    Parameters
    ----------
    num_lessons, num_rounds
        How many lessons, and the rounds of each.
    num_data, num_hypotheses
        The shape of the matrix.
    """
    what = f"{num_lessons:,} lessons of {num_rounds:,} rounds"
    hint = "ask for fewer lessons or rounds; 10,000 lessons give three digits of a mean belief."
    per_round = _BYTES_PER_ROUND + 64 * num_hypotheses
    blocks = num_lessons / _LESSONS_PER_BLOCK
    require_memory(num_rounds * per_round + blocks * _BYTES_PER_BLOCK, what, hint)
    work = float(num_lessons) * num_rounds * num_data * num_hypotheses
    require_time(work / _ENTRIES_PER_SECOND, what, hint)
