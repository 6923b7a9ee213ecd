"""Settings and fixtures of all tests."""

import os
import shutil
import signal

import pytest
from hypothesis import HealthCheck, settings

from tests import HANGS

# No deadline, because the time of an example depends on the load of the machine. Every run has the
# same examples; `pytest --hypothesis-profile=explore --hypothesis-seed=7` tries others.
settings.register_profile("explore", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("cobayes", settings.get_profile("explore"), derandomize=True)
settings.load_profile("cobayes")

# The headless shell takes half the time of the whole browser.
BROWSERS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"
CHROMIUM = next(filter(None, map(shutil.which, BROWSERS)), None)


def pytest_configure():
    # Tests that a shell starts in the background ignore Ctrl-C, and so do the processes that they
    # start. Some tests send Ctrl-C.
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
        signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_auto_num_workers():
    # One more than there are cores, because some tests wait for a browser or a process.
    return (os.cpu_count() or 1) + 1


def pytest_collection_modifyitems(items):
    # Files with slow tests run first, so that no process has to finish one alone at the end.
    slow = {item.path for item in items if item.get_closest_marker("slow")}
    items.sort(key=lambda item: item.path not in slow)


@pytest.fixture(scope="session")
def chromium():
    """A headless browser."""
    if CHROMIUM is None:
        pytest.skip("needs Chromium to show the page; none is installed")
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=CHROMIUM,
            timeout=1000 * HANGS,
            args=[
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
            ],
        )
        yield browser
        browser.close()


@pytest.fixture
def window(chromium):
    """A function that opens an empty page in a new browser context; the test's end closes it."""
    contexts = []

    def open_window(**options):
        contexts.append(chromium.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(300_000)  # milliseconds; a busy machine needs more than 30 s
        return page

    yield open_window
    for context in contexts:
        context.close()
