"""The resources of a computation: the number of threads, and limits on time and memory."""

from __future__ import annotations

import os

from cobayes._input.validation import whole_number
from cobayes.errors import CobayesError

# Work that would take more than 12 hours, or more than the free memory of a laptop, is an error.
LONGEST_SECONDS = 12 * 3600.0
LARGEST_BYTES = 8e9
# Lower bounds on the time of one round of a lesson: a constant, and a time per entry of the matrix
# (measured with `make bench`: 60 ns and 0.5 ns for BI, 60 ns and 1.5 ns for SCBI).
_NANOSECONDS_PER_ROUND, _NANOSECONDS_PER_ENTRY = 40, 0.5

# The number of cores that this process may run on.
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1

# Upper limit on the number of threads, above the number of cores of almost all computers.
MOST_THREADS = 1024

_chosen: int | None = None


def num_threads() -> int:
    """Return the number of threads that compiled code uses.

    It is the last value given to `set_num_threads`, else that of the environment variable
    ``COBAYES_NUM_THREADS``, else the number of cores that this process may use.

    Returns
    -------
    int
        At least one.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.num_threads() >= 1
    True
    """
    if _chosen is not None:
        return _chosen
    text = os.environ.get("COBAYES_NUM_THREADS")
    if text is None:
        return CORES
    given = int(text) if text.strip().isdigit() else text
    return min(whole_number(given, "COBAYES_NUM_THREADS", 1), MOST_THREADS)


def set_num_threads(count: int | None) -> None:
    """Set the number of threads; None restores the default.

    Parameters
    ----------
    count
        At least one, or None; values above 1,024 are replaced by 1,024.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.set_num_threads(1)
    >>> cb.num_threads()
    1
    >>> cb.set_num_threads(None)  # the default again
    """
    global _chosen
    if count is not None:
        count = min(whole_number(count, "the number of threads", 1), MOST_THREADS)
    _chosen = count


def require_affordable(
    what: str, hint: str, *, seconds: float = 0.0, num_bytes: float = 0.0
) -> None:
    """Raise an error with an estimate if work would take too much time or memory.

    Parameters
    ----------
    what
        The work, as the subject of a sentence: "10 lessons of 5 rounds".
    hint
        What to do instead.
    seconds
        Estimated processor time: the elapsed time multiplied by the number of threads.
    num_bytes
        Estimated memory.
    """
    elapsed = seconds / num_threads()
    if elapsed > LONGEST_SECONDS:
        raise CobayesError(
            f"{what} would take about {duration(elapsed)}; the limit is "
            f"{duration(LONGEST_SECONDS)}.",
            hint,
        )
    if num_bytes > LARGEST_BYTES:
        raise CobayesError(
            f"{what} would take about {num_bytes / 1e9:.3g} GB of memory; the limit is "
            f"{LARGEST_BYTES / 1e9:g} GB.",
            hint,
        )


def require_affordable_simulation(
    num_lessons: int, num_rounds: int, num_data: int, num_hypotheses: int, num_kept: int = 0
) -> None:
    """Raise an error if simulated lessons would take too much time or memory.

    Parameters
    ----------
    num_lessons, num_rounds
        The number of lessons, and of rounds in each.
    num_data, num_hypotheses
        The shape of the matrix.
    num_kept
        The number of beliefs that are kept in memory.
    """
    # Python integers, because the product of the user's counts may exceed the range of float64.
    per_round = _NANOSECONDS_PER_ROUND + int(_NANOSECONDS_PER_ENTRY * num_data * num_hypotheses)
    nanoseconds = num_lessons * max(num_rounds, 1) * per_round
    num_bytes = 8 * num_hypotheses * (8 * num_rounds + num_kept)
    if nanoseconds <= 1e9 * LONGEST_SECONDS and num_bytes <= LARGEST_BYTES:
        return
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


def duration(seconds: float) -> str:
    """Return a time in seconds, minutes, hours, days or years: "2.5 minutes"."""
    units = {"years": 365.25 * 86400.0, "days": 86400.0, "hours": 3600.0, "minutes": 60.0}
    for unit, size in units.items():
        if seconds >= 2.0 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"
