"""What the figures were measured on: processor, instruction set, load, versions."""

from __future__ import annotations

import os
import platform
from importlib.metadata import version

import llvmlite.binding as llvm

from cobayes._parallel import available_cores

PACKAGES = ("cobayes", "numpy", "scipy", "numba")


def instruction_set() -> str:
    """Return the widest vector instructions that the compiler may use here."""
    features = llvm.get_host_cpu_features()
    for name, flag in (("AVX-512", "avx512f"), ("AVX2", "avx2"), ("AVX", "avx"), ("NEON", "neon")):
        if features.get(flag):
            return name
    return "no vector instructions known"


def load() -> float:
    """Return the mean number of programs that wanted a core in the last minute."""
    return os.getloadavg()[0] if hasattr(os, "getloadavg") else float("nan")


def is_busy() -> bool:
    """Tell whether other programs compete for the cores, beside the benchmark itself."""
    return load() > available_cores() - 0.5


def description() -> str:
    """Return one line about the machine."""
    versions = ", ".join(f"{name} {version(name)}" for name in PACKAGES)
    return (
        f"{llvm.get_host_cpu_name()} ({instruction_set()}), {available_cores()} cores, "
        f"load {load():.1f}; Python {platform.python_version()}, {versions}"
    )
