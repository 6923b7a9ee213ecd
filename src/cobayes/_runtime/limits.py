"""Refusing work that would not end: estimates of time and memory before it starts."""

from __future__ import annotations

from cobayes._runtime.threads import num_threads
from cobayes.errors import CobayesError

# More than a night's work, or more memory than a laptop has to spare, is not started by accident.
LONGEST_SECONDS = 12 * 3600.0
LARGEST_BYTES = 8e9


def require_affordable(
    what: str, hint: str, *, seconds: float = 0.0, num_bytes: float = 0.0
) -> None:
    """Raise an error with the estimate where work would take too long or too much memory.

    Parameters
    ----------
    what
        The work, as the subject of a sentence: "10 lessons of 5 rounds".
    hint
        What to do instead.
    seconds
        Estimated processor time; it is shared by all threads.
    num_bytes
        Estimated memory.
    """
    elapsed = seconds / num_threads()
    if elapsed > LONGEST_SECONDS:
        raise CobayesError(
            f"{what} would take about {_duration(elapsed)}; the limit is "
            f"{_duration(LONGEST_SECONDS)}.",
            hint,
        )
    if num_bytes > LARGEST_BYTES:
        raise CobayesError(
            f"{what} would take about {num_bytes / 1e9:.3g} GB of memory; the limit is "
            f"{LARGEST_BYTES / 1e9:g} GB.",
            hint,
        )


# From below: bytes that a round takes in the statistics of lessons, bytes of a block of lessons
# with its random generator, and what a core takes per round of a lesson and per entry of its matrix
# (measured: 150 ns and 0.6 ns for BI, 200 ns and 3 ns for SCBI).
_BYTES_PER_ROUND = 4096
_LESSONS_PER_BLOCK, _BYTES_PER_BLOCK = 1024, 1024
_NANOSECONDS_PER_ROUND, _NANOSECONDS_PER_ENTRY = 100, 1


def require_affordable_simulation(
    num_lessons: int, num_rounds: int, num_data: int, num_hypotheses: int
) -> None:
    """Raise an error where simulated lessons would not fit into memory or would not end.

    Parameters
    ----------
    num_lessons, num_rounds
        How many lessons, and the rounds of each.
    num_data, num_hypotheses
        The shape of the matrix.
    """
    # Exact integers: the product of counts that a user types may lie beyond float64.
    per_round = _NANOSECONDS_PER_ROUND + _NANOSECONDS_PER_ENTRY * num_data * num_hypotheses
    nanoseconds = num_lessons * num_rounds * per_round
    num_bytes = num_rounds * (_BYTES_PER_ROUND + 64 * num_hypotheses) + _BYTES_PER_BLOCK * (
        num_lessons // _LESSONS_PER_BLOCK
    )
    is_one = num_lessons == 1
    hint = "ask for fewer lessons or rounds; 10,000 lessons give two digits of every mean belief."
    require_affordable(
        f"{'a lesson' if is_one else f'{short_number(num_lessons)} lessons'} of "
        f"{short_number(num_rounds)} rounds",
        "ask for fewer rounds." if is_one else hint,
        seconds=min(nanoseconds, 10**300) / 1e9,
        num_bytes=min(num_bytes, 10**300),
    )


def short_number(count: int) -> str:
    """Return an integer in short form, also one beyond the range of float64."""
    return str(count) if count < 10**6 else f"{float(count):.3g}" if count < 10**300 else "10^300+"


def _duration(seconds: float) -> str:
    for size, unit in ((365.25 * 86400.0, "years"), (86400.0, "days"), (3600.0, "hours")):
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 60.0:.3g} minutes"
