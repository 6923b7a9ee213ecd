"""Compiled kernels are cached safely, and outdated by a change of code and by nothing else."""

import os
import shutil
import subprocess
import sys
import textwrap

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

def make(part):
    @compiled(fastmath={"reassoc", "contract"})
    def outer(x):
        return part(x) + 1.0

    return outer

outer = make(inner)  # kernels that enclose others are found again, too
"""
REPORT = """
import importlib
import cobayes_kernels_inner as inner, cobayes_kernels_outer as module

def report():
    value, stats = module.outer(3.0), module.outer.stats
    print(value, sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))

report()
"""
AGAIN = """
importlib.reload(inner)
importlib.reload(module)
report()
"""


def run_code(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


class Workshop:
    """A folder with two modules of kernels, run in processes that share a cache."""

    def __init__(self, folder):
        self.folder = folder
        self.write(INNER, OUTER)
        assert self.run() == (7.0, 0, 1)
        assert self.run() == (7.0, 1, 0)
        shutil.copytree(folder / "cache", folder / "first")

    def begin_again(self):
        self.write(INNER, OUTER)
        shutil.rmtree(self.folder / "cache")
        shutil.copytree(self.folder / "first", self.folder / "cache")

    def write(self, inner, outer):
        (self.folder / "cobayes_kernels_inner.py").write_text(inner)
        (self.folder / "cobayes_kernels_outer.py").write_text(outer)

    def run(self, before="", after=""):
        path = os.pathsep.join([str(self.folder), os.environ.get("PYTHONPATH", "")])
        environment = {
            "PYTHONPATH": path,
            "NUMBA_CACHE_DIR": str(self.folder / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        found = run_code(before + REPORT + after, **environment)
        assert found.returncode == 0, found.stderr
        values, hits, misses = zip(*map(str.split, found.stdout.splitlines()), strict=True)
        (value,) = set(values)
        return float(value), int(hits[-1]), int(misses[-1])

    def cached(self, suffix):
        return list((self.folder / "cache").rglob(f"*outer*{suffix}"))


@pytest.fixture(scope="module")
def one_workshop(tmp_path_factory):
    return Workshop(tmp_path_factory.mktemp("workshop"))


@pytest.fixture
def workshop(one_workshop):
    one_workshop.begin_again()
    return one_workshop


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


@pytest.mark.slow
@pytest.mark.parametrize("suffix", [".nbc", ".nbi"])
@pytest.mark.parametrize("damage", ["cut", "empty", "flipped"])
def test_a_damaged_cache_is_rebuilt(workshop, suffix, damage):
    (path,) = workshop.cached(suffix)
    content = bytearray(path.read_bytes())
    if damage == "flipped":
        content[len(content) // 2] ^= 1
    path.write_bytes(content[: {"cut": len(content) // 2, "empty": 0}.get(damage, len(content))])
    assert workshop.run(after=AGAIN) == (7.0, 1, 0)


def test_a_filled_folder_that_cannot_be_written_is_read(workshop):
    read_only = """
from numba.core import caching

def refuse(self):
    raise OSError("Read-only file system")

caching._CacheLocator.ensure_cache_path = refuse
"""
    assert workshop.run(read_only) == (7.0, 1, 0)
    workshop.write(INNER.replace("2.0", "3.0"), OUTER)
    assert workshop.run(read_only) == (10.0, 0, 1)


def test_without_any_place_for_a_cache_kernels_are_compiled_anew():
    found = run_code(
        """
        from cobayes._runtime import kernel_cache
        kernel_cache.KernelStore._impl_class._locator_classes = ()
        import numpy as np
        from cobayes.lessons.drawing import draw
        print(draw(np.array([0.5, 0.5]), 0.7))
        """
    )
    assert found.stdout.strip() == "1", found.stderr


def test_a_full_disk_under_the_cache_does_not_stop_the_work(tmp_path):
    found = run_code(
        """
        import errno
        from numba.core import caching
        def full(*args, **kwargs):
            raise OSError(errno.ENOSPC, "No space left on device")
        for kind in vars(caching).values():
            if hasattr(kind, "_open_for_write"):
                kind._open_for_write = full
        import numpy as np
        from cobayes.lessons.drawing import draw
        print(draw(np.array([0.5, 0.5]), 0.7))
        """,
        NUMBA_CACHE_DIR=str(tmp_path),
    )
    assert found.stdout.strip() == "1", found.stderr
    assert not list(tmp_path.rglob("*.nb?"))


def test_the_stamp_covers_kernels_that_are_called():
    from cobayes.scaling.lanes import solve_by_newton
    from cobayes.scaling.sweeps import solve_by_sweeps

    assert len(code_stamp(solve_by_sweeps)) == 64
    assert code_stamp(solve_by_sweeps) != code_stamp(solve_by_newton)
