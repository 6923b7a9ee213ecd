"""Measurements: ``python -m benchmarks`` (speed), and accuracy on people's data."""

import os

# One thread each, here and in child processes; set before NumPy and JAX are loaded.
for library in ("OPENBLAS", "OMP", "MKL"):
    os.environ.setdefault(f"{library}_NUM_THREADS", "1")
os.environ.setdefault("XLA_FLAGS", "--xla_cpu_multi_thread_eigen=false")
