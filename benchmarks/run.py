"""The speed table: ours, the textbook, batched NumPy and peer packages, in one run.

``make bench``, or ``python -m benchmarks.run [PART ...]``; the parts are listed in `PARTS`.
Everything is measured on one core, in processor time, unless a row says otherwise. A figure that
misses its target makes the command fail, unless other programs kept the machine busy.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from contextlib import ExitStack

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import cobayes as cb
from benchmarks import (
    bench_exact,
    bench_lessons,
    bench_rates,
    bench_runs,
    bench_scaling,
    bench_start,
    machine,
)

Rows = list[dict]

# Part -> (title, rows, on one core); rows of one table are all comparisons or all measures.
PARTS: dict[str, tuple[tuple[str, Callable[[], Rows], bool], ...]] = {
    "start": (("A fresh process, processor time", bench_start.rows, False),),
    "scaling": (
        ("Scaling once, tolerance 1e-12", bench_scaling.scale_rows, True),
        ("Scaling a batch, per item", bench_scaling.batch_rows, True),
        ("Single calls", bench_scaling.call_rows, True),
        ("Memory", lambda: [bench_scaling.memory_row()], True),
    ),
    "lessons": (
        ("One round of a lesson of 30", bench_lessons.lesson_rows, True),
        ("One round of a long lesson", bench_lessons.long_rows, True),
        ("One round of one lesson", bench_lessons.single_rows, True),
        ("Tables with zeros", bench_lessons.zeros_rows, True),
        ("Memory of long lessons", bench_lessons.memory_rows, True),
    ),
    "rates": (("P and E of random matrices, per matrix", bench_rates.rows, True),),
    "exact": (("Exact distributions", bench_exact.rows, False),),
    "cores": (("Two threads against one, on the clock", bench_lessons.core_rows, False),),
    "runs": (("The run engine", bench_runs.rows, False),),
}
PEERS = ("textbook", "stepwise", "NumPy", "POT", "OTT", "published", "matmul")

console = Console(width=120)


def seconds(value: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1.0:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def comparison_table(title: str, rows: Rows) -> tuple[Table, list[str]]:
    """Make a table of times with ratios, and list the ratios that are too low."""
    peers = [peer for peer in PEERS if any(peer in row for row in rows)]
    table, missed = Table(title=title, title_justify="left"), []
    for column in ("case", "ours", *peers, "required"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for row in rows:
        cells = []
        for peer in peers:
            ratio = row[peer] / row["ours"] if peer in row else None
            cells.append("" if ratio is None else f"{seconds(row[peer])} ({ratio:.3g} x)")
            least = row["required"].get(peer)
            if ratio is not None and least is not None and ratio < least:
                missed.append(f"{row['case']}: {ratio:.3g} x {peer}, required {least:g}")
        required = ", ".join(f"{least:g} x {peer}" for peer, least in row["required"].items())
        table.add_row(row["case"], seconds(row["ours"]), *cells, required)
    return table, missed


def measure_table(title: str, rows: Rows) -> tuple[Table, list[str]]:
    """Make a table of single figures, and list those that miss their target."""
    table, missed = Table(title=title, title_justify="left"), []
    for column in ("measure", "value", "target"):
        table.add_column(column, justify="left" if column == "measure" else "right")
    for row in rows:
        sign, _, bound = row["target"].partition(" ")
        is_met = not bound or (
            row["value"] >= float(bound) if sign == ">=" else row["value"] <= float(bound)
        )
        if not is_met:
            missed.append(f"{row['name']}: {row['value']:.3g}, target {row['target']}")
        table.add_row(row["name"], f"{row['value']:.3g} {row['unit']}", row["target"])
    return table, missed


def run_part(part: str) -> tuple[list[str], list[str]]:
    """Show the tables of a part; return what was missed on a quiet and on a busy machine."""
    quiet, busy = [], []
    for title, make_rows, on_one_core in PARTS[part]:
        was_busy = machine.is_busy()
        with ExitStack() as stack:
            if on_one_core:
                cb.set_num_threads(1)
                stack.callback(cb.set_num_threads, None)
                stack.enter_context(threadpool_limits(1))
            rows = make_rows()
        heading = f"{title} [{machine.instruction_set()}, load {machine.load():.1f}]"
        make_table = comparison_table if "case" in rows[0] else measure_table
        table, missed = make_table(heading, rows)
        console.print(table)
        (busy if was_busy or machine.is_busy() else quiet).extend(missed)
    return quiet, busy


def main(parts: list[str]) -> int:
    unknown = [part for part in parts if part not in PARTS]
    if unknown:
        console.print(f"unknown part {unknown[0]!r}; choose from {', '.join(PARTS)}")
        return 2
    console.print(machine.description())
    quiet, busy = [], []
    for part in parts or PARTS:
        missed = run_part(part)
        quiet += missed[0]
        busy += missed[1]
    for line in busy:
        console.print(f"[yellow]missed under load[/yellow] {line}")
    for line in quiet:
        console.print(f"[red]missed[/red] {line}")
    return 1 if quiet else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
