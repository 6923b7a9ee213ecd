"""The report in a real browser, on a desk and on a phone."""

import html
import json
import re
import shutil
import subprocess
import tempfile

import pytest

CHROMIUM = (
    shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
)

pytestmark = [
    pytest.mark.skipif(
        CHROMIUM is None, reason="needs Chromium to show the page; none is installed"
    ),
    pytest.mark.slow,
]

MEASURE = """
const frame = document.querySelector("iframe");
frame.onload = () => {
  const page = frame.contentDocument;
  const images = [...page.images];
  document.body.setAttribute("data-found", JSON.stringify({
    page_width: page.documentElement.scrollWidth,
    images: images.length,
    shown: images.filter(i => i.complete && i.naturalWidth > 0).length,
    widest: Math.max(...images.map(i => i.getBoundingClientRect().right)),
    small: [...page.querySelectorAll("p, li, td, figcaption")]
      .filter(e => parseFloat(getComputedStyle(e).fontSize) < 12).length,
  }));
};
"""


def measure(page, width, folder):
    # A window is never narrower than 500 px, a frame inside it may be.
    source = html.escape(page.read_text(encoding="utf-8"))
    outer = folder / "outer.html"
    outer.write_text(
        f'<body><iframe style="width:{width}px;height:800px;border:0"></iframe>'
        f"<script>{MEASURE}</script><template>{source}</template><script>"
        'frame.srcdoc = document.querySelector("template").innerHTML'
        '.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");'
        "</script></body>",
        encoding="utf-8",
    )
    with tempfile.TemporaryDirectory() as profile:
        found = subprocess.run(
            [
                CHROMIUM,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-quic",
                "--no-first-run",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                f"--user-data-dir={profile}",
                "--virtual-time-budget=5000",
                "--dump-dom",
                outer.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=120,
            check=True,
        ).stdout
    data = re.search(r'data-found="([^"]*)"', found)
    assert data is not None, found[:300]
    return json.loads(html.unescape(data.group(1)))


@pytest.mark.parametrize("width", [1200, 400])
def test_the_page_fits_its_window_and_shows_every_picture(report, tmp_path, width):
    page, _ = report
    found = measure(page, width, tmp_path)
    assert found["page_width"] <= width
    assert found["widest"] <= width
    assert found["images"] == found["shown"] >= 11
    assert found["small"] == 0
