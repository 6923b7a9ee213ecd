"""Long calls of the core end soon after Ctrl-C."""

import signal
import subprocess
import sys
import time

import pytest

from tests import HANGS

# Each is one call that takes minutes. The system ends a process after this number of seconds of
# processor time.
LIMIT = 20
CALLS = {
    "lessons": "cb.simulate(np.eye(50) + 0.1, 0, num_rounds=100_000, num_lessons=20_000)",
    "without repeats": (
        "cb.simulate(cb.without_repeats(np.eye(60) + 0.1), 0, num_rounds=50, num_lessons=5_000_000)"
    ),
    "one deep answer": "cb.Pragmatic(np.eye(1500) + 0.1, 10_000).likelihood([1 / 1500] * 1500)",
    "rates": "cb.compare_rates(50, 50, 10**8)",
    "coupling": "cb.coupling(np.eye(8) + 0.5, num_lessons=8_000_000)",
}
# A signal may be lost while modules are imported: small calls import them before the long one.
IMPORTS = (
    "cb.simulate(np.eye(2) + 1, 0, num_rounds=1, num_lessons=2); cb.compare_rates(2, 2, 2); "
    "cb.coupling(np.eye(2) + 1, num_lessons=2); cb.without_repeats(np.eye(2) + 1)"
)


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_call_soon(name):
    code = (
        f"import resource; resource.setrlimit(resource.RLIMIT_CPU, ({LIMIT}, {LIMIT}))\n"
        f"import numpy as np, cobayes as cb\n{IMPORTS}\nprint('started', flush=True)\n{CALLS[name]}"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANGS)
    assert errors.rstrip().endswith("KeyboardInterrupt")
