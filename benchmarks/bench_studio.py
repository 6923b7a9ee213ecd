"""How quickly the studio's page is ready and how long one of its steps takes, in Chromium."""

from __future__ import annotations

import shutil
import statistics
import tempfile
from pathlib import Path

import numpy as np

import cobayes as cb

STEPS = """() => {
  const step = document.querySelector("[aria-label='one round on']");
  return Array.from({ length: 30 }, () => {
    const start = performance.now();
    step.click();
    document.body.offsetHeight;
    return performance.now() - start;
  });
}"""


def main() -> None:
    from playwright.sync_api import sync_playwright

    matrix = np.random.default_rng(1).random((20, 10)) + 0.01
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        page_file = cb.studio(matrix).save(Path(folder) / "page.html")
        browser = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox", "--disable-gpu"]
        )
        page = browser.new_page(reduced_motion="reduce")
        page.goto(page_file.as_uri())
        page.wait_for_selector("html[data-ready=true]")
        ready = page.evaluate("performance.getEntriesByName('ready')[0].startTime")
        steps = {"at the top of the lesson": page.evaluate(STEPS)}
        page.locator(".why").scroll_into_view_if_needed()
        page.wait_for_timeout(300)
        steps["at 'Why this datum'"] = page.evaluate(STEPS)
        browser.close()
        print(f"size of the page: {page_file.stat().st_size / 1000:.0f} kB (target: below 400)")
        print(f"ready after opening, 20 x 10: {ready:.0f} ms (target: below 1000)")
        for place, times in steps.items():
            print(
                f"one step with its layout, 20 x 10, {place}: median "
                f"{statistics.median(times):.1f} ms, best {min(times):.1f} ms (target: below 16)"
            )


if __name__ == "__main__":
    main()
