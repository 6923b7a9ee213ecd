"""Compiled kernels are cached safely, and outdated by a change of code and by nothing else."""

import os
import subprocess
import sys

import pytest

from cobayes._runtime.kernel_cache import code_stamp

INNER = """
from cobayes._runtime.compiled import compiled

SCALE = 2.0

@compiled()
def inner(x):
    return SCALE * x
"""
OUTER = """
from cobayes._runtime.compiled import compiled
import cobayes_kernels_inner as kernels
from cobayes_kernels_inner import inner

@compiled(fastmath={"reassoc", "contract"})
def outer(x):
    return inner(x) + 1.0
"""
REPORT = """
import cobayes_kernels_outer as module
value = module.outer(3.0)
stats = module.outer.stats
print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""


class Workshop:
    """A folder with two modules of kernels, run in processes that share a cache."""

    def __init__(self, folder):
        self.folder = folder
        self.write(INNER, OUTER)

    def write(self, inner, outer):
        (self.folder / "cobayes_kernels_inner.py").write_text(inner)
        (self.folder / "cobayes_kernels_outer.py").write_text(outer)

    def run(self):
        path = os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")])
        environment = {
            **os.environ,
            "PYTHONPATH": path,
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        found = subprocess.run(
            [sys.executable, "-c", REPORT],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
        )
        value, hits, misses = found.stdout.split()
        return float(value), int(hits), int(misses)

    def cached(self, suffix):
        return list((self.folder / "cache").rglob(f"*outer*{suffix}"))


@pytest.fixture
def workshop(tmp_path):
    shop = Workshop(tmp_path)
    assert shop.run() == (7.0, 0, 1)
    assert shop.run() == (7.0, 1, 0)
    return shop


def test_docstrings_comments_and_moved_lines_recompile_nothing(workshop):
    workshop.write(
        '"""Words."""\n\n# More words.\n' + INNER.replace("(x):", '(x):\n    """Double."""'), OUTER
    )
    assert workshop.run() == (7.0, 1, 0)


def test_a_changed_constant_of_an_inner_kernel_recompiles_its_callers(workshop):
    workshop.write(INNER.replace("2.0", "3.0"), OUTER)
    assert workshop.run() == (10.0, 0, 1)


def test_changed_code_of_an_inner_kernel_recompiles_its_callers(workshop):
    workshop.write(INNER.replace("SCALE * x", "SCALE * x + 1.0"), OUTER)
    assert workshop.run() == (8.0, 0, 1)


@pytest.mark.parametrize("suffix", [".nbc", ".nbi"])
@pytest.mark.parametrize("damage", ["cut", "empty", "flipped"])
def test_a_damaged_cache_is_rebuilt(workshop, suffix, damage):
    (path,) = workshop.cached(suffix)
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    path.write_bytes(content[: {"cut": len(content) // 2, "empty": 0}.get(damage, len(content))])
    value, hits, misses = workshop.run()
    assert value == 7.0
    assert hits + misses == 1
    assert workshop.run() == (7.0, 1, 0)


@pytest.mark.parametrize("suffix", [".nbc", ".nbi"])
def test_damaged_caches_of_real_kernels_are_rebuilt(tmp_path, suffix):
    code = "import cobayes as cb; print(cb.scale([[1.0, 2.0], [3.0, 1.0]]).matrix.tobytes().hex())"

    def run():
        environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
        found = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, env=environment
        )
        assert found.returncode == 0, found.stderr
        return found.stdout

    first = run()
    files = sorted(tmp_path.rglob(f"*{suffix}"))
    assert len(files) > 1
    for number, path in enumerate(files):
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        cuts = (0, len(content) // 2, len(content))
        path.write_bytes(content[: cuts[number % 3]])
    assert run() == first
    assert run() == first


def test_the_stamp_covers_kernels_that_are_called():
    from cobayes.scaling.lanes import solve_by_newton
    from cobayes.scaling.sweeps import solve_by_sweeps

    assert len(code_stamp(solve_by_sweeps)) == 64
    assert code_stamp(solve_by_sweeps) != code_stamp(solve_by_newton)
