"""The speed table: ours, the textbook procedure and a peer package, in one run.

``make bench``, or ``python -m benchmarks.run [PART ...]`` with parts out of: scaling, lessons,
rates, exact, runs, start. Everything is measured on one core unless a row says otherwise; a
ratio below what is required makes the command fail.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from rich.console import Console
from rich.table import Table
from threadpoolctl import threadpool_limits

import cobayes as cb

console = Console(width=110)
failures: list[str] = []


def seconds(value: float) -> str:
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if value * factor >= 1.0:
            return f"{value * factor:.3g} {unit}"
    return f"{value * 1e9:.3g} ns"


def show_comparison(title: str, rows: list[dict]) -> None:
    table = Table(title=title, title_justify="left")
    for column in (
        "case",
        "ours",
        "textbook",
        "POT",
        "ours vs textbook",
        "ours vs POT",
        "required",
    ):
        table.add_column(column, justify="left" if column == "case" else "right")
    for row in rows:
        ratios = {peer: row[peer] / row["ours"] for peer in ("textbook", "POT")}
        required = row["required"]
        for peer, least in required.items():
            if ratios[peer] < least:
                failures.append(f"{row['case']}: {ratios[peer]:.3g} x {peer}, required {least}")
        table.add_row(
            row["case"],
            seconds(row["ours"]),
            seconds(row["textbook"]),
            seconds(row["POT"]),
            f"{ratios['textbook']:.3g} x",
            f"{ratios['POT']:.3g} x",
            ", ".join(f">= {least:g} x {peer}" for peer, least in required.items()),
        )
    console.print(table)


def show_rates(rows: list[dict]) -> None:
    table = Table(title="P and E of random matrices, per matrix", title_justify="left")
    for column in ("case", "ours", "published form", "ratio", "required"):
        table.add_column(column, justify="left" if column == "case" else "right")
    for row in rows:
        if row["ratio"] < row["required"]:
            failures.append(f"{row['case']}: {row['ratio']:.3g} x, required {row['required']:g}")
        table.add_row(
            row["case"],
            seconds(row["ours_ns"] / 1e9),
            seconds(row["published_form_ns"] / 1e9),
            f"{row['ratio']:.3g} x",
            f">= {row['required']:g} x",
        )
    console.print(table)


def show_measures(title: str, rows: list[dict]) -> None:
    table = Table(title=title, title_justify="left")
    for column in ("measure", "value", "target"):
        table.add_column(column, justify="left" if column == "measure" else "right")
    for row in rows:
        sign, _, bound = row["target"].partition(" ")
        is_met = not bound or (
            row["value"] >= float(bound) if sign == ">=" else row["value"] <= float(bound)
        )
        if not is_met:
            failures.append(f"{row['name']}: {row['value']:.3g}, target {row['target']}")
        table.add_row(row["name"], f"{row['value']:.3g} {row['unit']}", row["target"])
    console.print(table)


def start_rows() -> list[dict[str, object]]:
    """Measure a fresh process: importing, compiling once, and using the cache."""

    def run(code: str, cache: str) -> float:
        start = time.perf_counter()
        subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            stderr=subprocess.DEVNULL,
        )
        return time.perf_counter() - start

    first_call = "import cobayes as cb; cb.scale([[1.0, 2.0], [3.0, 1.0]])"
    with tempfile.TemporaryDirectory() as cache:
        empty = min(run("pass", cache) for _ in range(3))
        imported = min(run("import cobayes", cache) for _ in range(3)) - empty
        compiled = run(first_call, cache) - empty
        cached = run(first_call, cache) - empty
    return [
        {"name": "import cobayes", "value": imported, "unit": "s", "target": "<= 0.5"},
        {"name": "first call, compiling", "value": compiled, "unit": "s", "target": "<= 10"},
        {"name": "first call, cached", "value": cached, "unit": "s", "target": "<= 3"},
    ]


def main(parts: list[str]) -> int:
    from benchmarks import bench_rates, bench_runs, bench_scaling

    chosen = parts or ["start", "scaling", "lessons", "rates", "exact", "runs"]
    cb.set_num_threads(1)
    with threadpool_limits(1):
        if "start" in chosen:
            show_measures("A fresh process", start_rows())
        if "scaling" in chosen:
            show_comparison("Scaling, one core, tolerance 1e-12", bench_scaling.scale_rows())
            show_measures("Memory", [bench_scaling.memory_row()])
        if "lessons" in chosen:
            show_comparison(
                "One round of a lesson of 30, one core, tolerance 1e-12",
                bench_scaling.lesson_rows(),
            )
        if "rates" in chosen:
            show_rates(bench_rates.rows())
    cb.set_num_threads(None)
    if "exact" in chosen:
        from benchmarks import bench_exact

        show_measures("Exact distributions", bench_exact.rows())
    if "runs" in chosen:
        show_measures("The run engine", bench_runs.rows())
    for failure in failures:
        console.print(f"[red]missed[/red] {failure}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
