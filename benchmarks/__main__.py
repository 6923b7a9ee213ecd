"""Measure processor times: one table for each question, all programs in turns, in one run.

A time is the shortest of several turns, in processor time on one thread unless a table says
otherwise.
The command fails if a required ratio is missed; required times are only shown, because they depend
on the machine. ``BASELINE=/path/to/python`` adds the cobayes of that environment.
"""

import argparse
import json
import os
import platform
import re
import resource
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

from benchmarks import calls
from benchmarks.peers import PEERS
from cobayes import _core

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
MODULES = {"POT": "ot", "OTT-JAX": "ott"}
OLDER = "older"
README = """
import cobayes as cb
rule = cb.SCBI(cb.examples["gestures"].model)
lesson = cb.run_lesson(cb.Teacher(rule, "bowl", rng=6), cb.Learner(rule), num_rounds=12)
print(lesson, lesson.data_labels[:4])
print(cb.simulate(rule, "bowl", num_rounds=60, num_lessons=10_000, rng=1).rounds_needed.median)
"""
FIGURES = """
import subprocess, sys, tempfile
parts = ["4", "5", "S2", "S3", "S4", "S5", "S6", "S7", "--scale", "quick", "--jobs", "1", "--out"]
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, "-m", "cobayes", "reproduce", *parts, folder], check=True)
"""


class Row(NamedTuple):
    """A row of a table: a call in `calls`, or "process" for a fresh process, and what is required.

    `ratios` are the smallest allowed ratios of other programs' times to ours; `most` is the longest
    allowed time in seconds.
    """

    name: str
    call: str
    arguments: dict
    ratios: dict[str, float] = {}  # noqa: RUF012
    most: float | None = None


class Question(NamedTuple):
    """A table; each program has `turns` turns of at least `least` seconds."""

    title: str
    rows: list[Row]
    turns: int = 5
    least: float = 0.05


QUESTIONS = {
    "start": Question(
        "A fresh process, starting Python included; the older version with an empty cache",
        [
            Row("`import cobayes`", "process", {"code": "import cobayes"}, most=0.15),
            Row("README's ten lines", "process", {"code": README}, most=1.0),
        ],
        turns=3,
    ),
    "calls": Question(
        "One call",
        [
            *(
                Row(f"`scale` {n} x {n}", "scale", {"n": n}, most=most)
                for n, most in ((3, 12e-6), (20, 18e-6), (200, 150e-6))
            ),
            *(
                Row(f"`update` {n} x {n}", "update", {"n": n}, most=most)
                for n, most in ((3, 4e-6), (20, 9e-6))
            ),
        ],
    ),
    "lessons": Question(
        "One round of a lesson, default call of `simulate`, 30 rounds",
        [
            Row(f"{n} x {m}", "lessons", {"n": n, "m": m, "num_lessons": count}, {"NumPy": least})
            for n, m, count, least in (
                (3, 3, 8192, 12),
                (36, 4, 2048, 6),
                (20, 20, 2048, 4),
                (50, 50, 1024, 2.6),
                (200, 200, 64, 1.7),
            )
        ],
    ),
    "others": Question(
        "One round of other lessons: 8 rounds of SCBI on tables with zeros, 30 of other rules",
        [
            Row(
                f"{n} x {m}, {100 * share:.0f} % zeros{what}",
                call,
                dict(n=n, m=m, num_lessons=count, num_rounds=8, zeros=share),
                most=most,
            )
            for call, what, n, m, count, share, most in (
                ("zeros", "", 36, 4, 4096, 1 / 3, 0.5e-6),
                ("zeros", "", 20, 20, 1024, 1 / 5, 4e-6),
                ("no_repeats", ", no repeats", 36, 4, 1024, 1 / 3, 3e-6),
            )
        ]
        + [
            Row(
                f"{n} x {m}, {what}",
                "pragmatic",
                dict(n=n, m=m, depth=depth, num_lessons=4096),
                {OLDER: 1.0},
            )
            for what, n, m, depth in (
                ("pragmatic, depth 2", 8, 4, 2),
                ("pragmatic, depth 2", 20, 20, 2),
                ("literal", 8, 4, 0),
            )
        ],
    ),
    "rates": Question(
        "Rates of one random matrix",
        [
            Row(f"{n} x {m}", "rates", {"n": n, "m": m}, {OLDER: 0.9})
            for n, m in ((10, 2), (50, 2), (10, 10), (20, 20), (50, 50))
        ],
    ),
    "batches": Question(
        "`scale` of one matrix to many column sums, per item",
        [
            Row(f"{n} x {n}", "scale_batch", {"n": n, "count": count}, most=most)
            for n, count, most in ((3, 4096, None), (20, 1024, 2e-6), (200, 32, 95e-6))
        ],
    ),
    "trees": Question(
        "`exact_rounds` of 20 x 20 to round 4",
        [Row("20 x 20", "exact", {"n": 20, "num_rounds": 4}, {OLDER: 1.0})],
        turns=3,
    ),
    "people": Question(
        "A fit of five depths to 80 choices of each person, 36 x 4",
        [Row("150 people", "fit", {"num_people": 150, "num_problems": 40}, {OLDER: 1.0})],
        turns=1,
    ),
    "threads": Question(
        "Two threads against one, on the clock",
        [
            Row(name, call, arguments, {"one thread": 1.7})
            for name, call, arguments in (
                ("lessons, 3 x 3", "lessons", dict(n=3, m=3, num_lessons=65536)),
                ("lessons, 20 x 20", "lessons", dict(n=20, m=20, num_lessons=8192)),
                ("`scale` of a batch, 20 x 20", "scale_batch", dict(n=20, count=100_000)),
                ("`exact_rounds`, 20 x 20", "exact", dict(n=20, num_rounds=5)),
            )
        ],
        least=0.2,
    ),
    "figures": Question(
        "Figures 4, 5, S2 to S7 at quick scale; the older version with an empty cache",
        [Row("figures", "process", {"code": FIGURES}, most=60.0)],
        turns=1,
    ),
}


class Version:
    """The cobayes of an environment, in a separate process."""

    def __init__(self, python):
        self.python = python
        self.process = subprocess.Popen(
            [python, str(Path(calls.__file__))],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        self.version = self._answer()

    def _answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise RuntimeError(f"{self.python} stopped; its error is shown above")
        return line.strip()

    def measure(self, row, least, clock="process_time", threads=1):
        """Return seconds per unit by a clock of the module `time`."""
        if row.call == "process":
            return process_time(self.python, **row.arguments)
        self.process.stdin.write(
            json.dumps([row.call, row.arguments, least, clock, threads]) + "\n"
        )
        self.process.stdin.flush()
        return float(self._answer())


def process_time(python, code):
    """Return the processor time of a fresh process and its children."""
    with tempfile.TemporaryDirectory() as cache:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
        subprocess.run([python, "-c", code], check=True, env=environment, capture_output=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def contestants(row, question, versions):
    """Return, by the name of each program, a function that measures it once."""
    if "one thread" in row.ratios:
        return {
            name: lambda k=k: versions["ours"].measure(row, question.least, "perf_counter", k)
            for name, k in (("ours", 2), ("one thread", 1))
        }
    found = {
        name: lambda version=version: version.measure(row, question.least)
        for name, version in versions.items()
    }
    expected = None
    for peer, offers in PEERS.items():
        if row.call not in offers or (peer in MODULES and find_spec(MODULES[peer]) is None):
            continue
        function, units = offers[row.call](**row.arguments)
        answer = function()
        if answer is not None:
            if expected is None:
                expected = getattr(calls, row.call)(**row.arguments)[0]()
            # Scaled matrices agree to 1e-7, means over random lessons to 0.05.
            close = dict(rtol=1e-7) if "scale" in row.call else dict(atol=0.05)
            np.testing.assert_allclose(answer, expected, **close)
        found[peer] = lambda function=function, units=units: (
            calls.measure(function, question.least) / units
        )
    return found


def table(question, versions):
    """Measure; return the table in Markdown, and the rows that missed a required ratio."""
    measured = []
    for row in question.rows:
        in_turns = contestants(row, question, versions)
        times = [{name: run() for name, run in in_turns.items()} for _ in range(question.turns)]
        measured.append({name: min(one[name] for one in times) for name in in_turns})
    names = list(dict.fromkeys(name for best in measured for name in best))
    title = {name: f"cobayes {versions[name].version}" for name in versions if name == OLDER}
    head = ["", *(title.get(name, name) for name in names), "required"]
    lines = [head, ["---", *["--:"] * (len(names) + 1)]]
    missed = []
    for row, best in zip(question.rows, measured, strict=True):
        cells = [shown(best["ours"])]
        for name in names[1:]:
            ratio = best[name] / best["ours"] if name in best else np.nan
            size = f"{ratio:.3g}" if ratio < 1000 else f"{ratio:.0f}"
            cells.append(f"{shown(best[name])} ({size} x)" if name in best else "")
            if ratio < row.ratios.get(name, 0.0):
                rival = title.get(name, name)
                missed.append(f"{row.name}: {size} x {rival}, required {row.ratios[name]:g} x")
        required = [
            f"{least:g} x {title.get(name, name)}"
            for name, least in row.ratios.items()
            if name in names
        ]
        required += [shown(row.most)] if row.most is not None else []
        lines.append([row.name, *cells, ", ".join(required)])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines), missed


def shown(seconds):
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if seconds * factor >= 1.0 or unit == "ns":
            return f"{seconds * factor:.3g} {unit}"
    return ""


def machine():
    try:
        processor = re.search(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text())[1]
    except (OSError, TypeError):
        processor = platform.processor()
    return (
        f"{processor}, {os.cpu_count()} cores, instruction set {_core.instruction_set()}, "
        f"load {os.getloadavg()[0]:.1f}; Python {platform.python_version()}, NumPy {np.__version__}"
    )


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("questions", nargs="*", help=f"{', '.join(QUESTIONS)} (default: all)")
    parser.add_argument("--rows", default="", help="only rows whose name contains this")
    parser.add_argument("--write", action="store_true", help=f"put the tables into {PAGE.name}")
    given = parser.parse_args()
    unknown = set(given.questions) - set(QUESTIONS)
    if unknown:
        parser.error(f"unknown question {unknown.pop()!r}; choose from {', '.join(QUESTIONS)}")
    versions = {"ours": Version(sys.executable)}
    if os.environ.get("BASELINE"):
        versions[OLDER] = Version(os.environ["BASELINE"])
    print(machine(), flush=True)
    if given.write:
        write("machine", f"Measured on {machine()}.")
    started, missed = time.time(), []
    for name in given.questions or QUESTIONS:
        question = QUESTIONS[name]
        rows = [row for row in question.rows if given.rows in row.name]
        if not rows:
            continue
        text, below = table(question._replace(rows=rows), versions)
        missed += [f"{name}: {line}" for line in below]
        print(f"\n{name}: {question.title}\n\n{text}", flush=True)
        if given.write:
            write(name, f"{question.title}.\n\n{text}")
    for line in missed:
        print(f"missed in {line}")
    print(f"{time.time() - started:.0f} s")
    return 1 if missed else 0


def write(name, text):
    """Replace the text between the two comments of a table on the page."""
    pattern = rf"(<!-- {name} -->\n).*?(<!-- end -->)"
    page, count = re.subn(
        pattern, lambda found: f"{found[1]}{text}\n\n{found[2]}", PAGE.read_text(), flags=re.DOTALL
    )
    if count != 1:
        raise RuntimeError(f"{PAGE} needs one place for the table '{name}'")
    PAGE.write_text(page)


if __name__ == "__main__":
    sys.exit(main())
