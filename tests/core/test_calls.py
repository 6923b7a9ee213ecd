"""Long calls of the core end soon after Ctrl-C."""

import signal
import subprocess
import sys
import time

import pytest

# Each is one call that takes minutes. The system ends the process of all calls after 40 seconds of
# processor time.
CALLS = {
    "lessons": "cb.simulate(np.eye(50) + 0.1, 0, num_rounds=100_000, num_lessons=20_000)",
    "without repeats": (
        "cb.simulate(cb.without_repeats(np.eye(60) + 0.1), 0, num_rounds=50, num_lessons=5_000_000)"
    ),
    "one deep answer": "cb.Pragmatic(np.eye(1500) + 0.1, 10_000).likelihood([1 / 1500] * 1500)",
    "rates": "cb.compare_rates(50, 50, 10**8)",
    "coupling": "cb.coupling(np.eye(8) + 0.5, num_lessons=8_000_000)",
}
# A signal may be lost while modules are imported: small calls import them before the long ones.
PROGRAM = """
import resource, sys, numpy as np, cobayes as cb
resource.setrlimit(resource.RLIMIT_CPU, (40, 40))
cb.simulate(np.eye(2) + 1, 0, num_rounds=1, num_lessons=2); cb.compare_rates(2, 2, 2)
cb.coupling(np.eye(2) + 1, num_lessons=2); cb.without_repeats(np.eye(2) + 1)
for call in sys.stdin:
    try:
        print("started", flush=True)
        exec(call)
    except KeyboardInterrupt:
        print("stopped", flush=True)
"""


@pytest.fixture(scope="module")
def process():
    """A process that executes the lines of its standard input."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with subprocess.Popen([sys.executable, "-c", PROGRAM], **pipes) as process:
        yield process


@pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")
@pytest.mark.parametrize("name", CALLS)
def test_ctrl_c_ends_a_call_soon(process, name):
    process.stdin.write(CALLS[name] + "\n")
    process.stdin.flush()
    assert process.stdout.readline() == "started\n"
    time.sleep(0.2)
    process.send_signal(signal.SIGINT)
    assert process.stdout.readline() == "stopped\n"
