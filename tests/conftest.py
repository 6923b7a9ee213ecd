"""What holds for all tests."""

import signal


def pytest_configure():
    # A shell that starts the tests in the background makes them, and every process that they
    # start, ignore Ctrl-C, which some tests send.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)
