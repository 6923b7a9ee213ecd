"""Take the picture of the studio that README shows: ``python docs/make_studio_picture.py``."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from pathlib import Path

import cobayes as cb

FILE = Path(__file__).parent / "pictures" / "studio.png"
WIDTH, MARGIN = 1440, 28
STATE = {"round": 9}


def main() -> None:
    from playwright.sync_api import sync_playwright

    state = base64.urlsafe_b64encode(json.dumps(STATE).encode()).decode().rstrip("=")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        page_file = cb.studio().save(Path(folder) / "page.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(
            viewport={"width": WIDTH, "height": 1200},
            color_scheme="light",
            reduced_motion="reduce",
        )
        page.goto(f"{page_file.as_uri()}#{state}")
        page.wait_for_selector("html[data-ready=true]")
        page.wait_for_timeout(500)
        # The picture ends below the charts, whatever their height.
        end = page.evaluate("document.querySelector('.figures').getBoundingClientRect().bottom")
        page.screenshot(path=FILE, clip={"x": 0, "y": 0, "width": WIDTH, "height": end + MARGIN})
        browser.close()


if __name__ == "__main__":
    main()
