"""``cobayes warm-up``: compile the numerical code once, so that nothing waits for it later."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import TYPE_CHECKING, Annotated, Any

from cobayes.cli import options, output
from cobayes.errors import CobayesError

if TYPE_CHECKING:
    from numpy.typing import NDArray

EPILOG = "Example:\n\ncobayes warm-up"


def warm_up(
    jobs: Annotated[
        int | None,
        options.count_option(
            "--jobs", least=1, help="Number of local processes (default: one per core)."
        ),
    ] = None,
) -> None:
    """Compile the numerical code now, so that no later command or program waits for it.

    What is compiled is kept on disk, for this installation and this machine. Without a warm-up
    every part is compiled when it is first used.
    """
    import multiprocessing
    import time
    from concurrent.futures import ProcessPoolExecutor, as_completed

    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    if not is_kept():
        raise CobayesError(
            "there is no folder that can be written to keep what is compiled.",
            "name one by the environment variable NUMBA_CACHE_DIR, now and whenever cobayes runs.",
        )
    start = time.perf_counter()
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    console = Console(stderr=True)
    pool = ProcessPoolExecutor(
        min(jobs or os.cpu_count() or 1, len(PARTS)),
        mp_context=multiprocessing.get_context("spawn"),
    )
    is_log = not console.is_terminal
    with pool, Progress(*columns, TimeElapsedColumn(), console=console, disable=is_log) as bar:
        shown = bar.add_task("compiling", total=len(PARTS))
        waiting = {pool.submit(compile_part, name): name for name in PARTS}
        for number, done in enumerate(as_completed(waiting), start=1):
            done.result()
            bar.update(shown, advance=1, description=f"compiled {waiting[done]}")
            if is_log:
                output.say(f"compiled {waiting[done]}, {number}/{len(PARTS)}")
    output.say(f"everything is compiled ({time.perf_counter() - start:.0f} s).")


def is_kept() -> bool:
    """Tell whether there is a place on disk for what is compiled."""
    from numba.core.caching import NullCache

    from cobayes.rules import kernels

    kernel: Any = kernels.draw_many
    return not isinstance(kernel._cache, NullCache)


def compile_part(name: str) -> None:
    """Compile one of `PARTS`, by a small case of all that it serves."""
    PARTS[name]()


def _matrix(num_data: int, num_hypotheses: int, *, zero: bool = False) -> NDArray:
    import numpy as np

    matrix = np.random.default_rng(0).dirichlet(np.ones(num_data), size=num_hypotheses).T
    if zero:
        matrix[0, 0] = 0.0
    return matrix


def _scaling() -> None:
    import numpy as np

    import cobayes as cb

    for shape in ((2, 2), (3, 3), (4, 4), (6, 3), (3, 6), (20, 20)):
        cb.scale(_matrix(*shape))
        cb.scale(np.stack([_matrix(*shape)] * 3))
        cb.cooperative_inference(_matrix(*shape))
    stiff = np.array([[1.0, 1e-9, 1e-9], [1e-9, 1.0, 1e-6], [1e-9, 1e-6, 1.0]])
    cb.scale(stiff)
    cb.scale(np.stack([stiff] * 3))
    cb.scaling_blocks(_matrix(4, 3, zero=True))
    cb.scale(_matrix(4, 3, zero=True), on_failure="return")


def _rules() -> None:
    import numpy as np

    import cobayes as cb

    for size in (2, 3, 4, 5):
        for zero in (False, True):
            matrix = _matrix(size + 1, size, zero=zero)
            for rule in (cb.BI(matrix), cb.SCBI(matrix), cb.Pragmatic(matrix, 1)):
                belief = np.full(size, 1.0 / size)
                rule.update(belief, 1)
                rule.posteriors(belief)
                rule.teach(np.stack([belief] * 3), 0)
                teacher = cb.Teacher(rule, 0, rng=1)
                cb.run_lesson(teacher, cb.Learner(rule), 2)


def _ensembles(size: int, zero: bool) -> Callable[[], None]:
    def run() -> None:
        import cobayes as cb

        matrix = _matrix(size + 1, size, zero=zero)
        for rule in (cb.BI(matrix), cb.SCBI(matrix), cb.Pragmatic(matrix, 1)):
            ensemble = cb.simulate(rule, 0, num_rounds=3, num_lessons=70, rng=1)
            ensemble.log_odds(0)

    return run


def _data_priors(size: int, zero: bool) -> Callable[[], None]:
    def run() -> None:
        import numpy as np

        import cobayes as cb

        matrix = _matrix(size + 1, size, zero=zero)
        weights = np.arange(1.0, size + 2.0)
        rule = cb.SCBI(matrix, data_prior=weights / weights.sum())
        rule.update(np.full(size, 1.0 / size), 1)
        for learner in (rule, cb.SCBI(cb.without_repeats(matrix))):
            cb.simulate(learner, 0, num_rounds=2, num_lessons=70, rng=1)

    return run


def _theory() -> None:
    import cobayes as cb

    matrix = _matrix(4, 3)
    for rule in (cb.BI(matrix), cb.SCBI(matrix)):
        cb.exact_rounds(rule, 0, 3)
        cb.rate_of_convergence(matrix, rule=rule.name)
    cb.success_enclosure(matrix, 0, depth=3)


def _random_matrices() -> None:
    import cobayes as cb
    from cobayes.random_matrices import rare_probability

    for shape in ((3, 2), (4, 3)):
        cb.compare_rates(*shape, 1000, rng=1)
        rare_probability(*shape, num_particles=16, num_replicates=2, rng=1)


def _stability() -> None:
    import cobayes as cb

    for matrix in (_matrix(4, 3), _matrix(6, 5), _matrix(4, 3, zero=True)):
        for method in ("lessons", "coupling"):
            cb.success_rate(matrix, hypothesis=0, num_sequences=70, method=method, rng=1)
        cb.coupling(matrix, num_sequences=70, rng=1)


PARTS: dict[str, Callable[[], None]] = {
    "stability": _stability,
    "lessons with 5 hypotheses": _ensembles(5, False),
    "lessons with zeros": _ensembles(3, True),
    "lessons with 3 hypotheses": _ensembles(3, False),
    "data priors with zeros": _data_priors(9, True),
    "data priors with 5 hypotheses": _data_priors(5, False),
    "data priors with 3 hypotheses": _data_priors(3, False),
    "rules": _rules,
    "scaling": _scaling,
    "theory": _theory,
    "random matrices": _random_matrices,
}
"""What is compiled, the longest first; each part can be compiled by a process of its own."""
