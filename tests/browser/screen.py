"""Helpers for tests of the page in a browser: links, numbers on the page, downloads."""

import base64
import json
import re

import numpy as np

EVIL = '<img src=x onerror="window.evil=1">'
VIEWS = ("lesson", "table", "compare", "play", "grid")
KINDS = (("Literal", "BI"), ("Pragmatic", "Pragmatic"), ("Cooperative", "SCBI"))


def link(**state):
    text = base64.urlsafe_b64encode(json.dumps(state).encode()).decode().rstrip("=")
    return f"#{text}"


def show(page, view):
    page.click(f"nav [data-view={view}]")


def typed(text):
    """Return a label as it stands in the table; the page shows d_1 as d₁."""
    return text.translate({ord(sign): f"_{k}" for k, sign in enumerate("₀₁₂₃₄₅₆₇₈₉")})


def shares(page, selector):
    """Return percentages on the page as numbers between 0 and 1."""
    texts = page.locator(selector).all_inner_texts()
    return np.array([float(re.sub("[^0-9.]", "", text)) / 100 for text in texts])


def download(page, click):
    """Return the path of the file that a click offers."""
    with page.expect_download() as saved:
        click()
    return saved.value.path()


def screen_table(page):
    """Return the numbers of the screen, all digits, as the button CSV gives them."""
    import pandas as pd

    path = download(page, lambda: page.click(".top [aria-label$='as CSV']"))
    return pd.read_csv(path, dtype={"datum": str}, keep_default_na=False)


def wait_for_numbers(page, view):
    """Wait until the background computation has finished."""
    if view == "compare":
        page.wait_for_selector(".results [data-rule=SCBI] td")


def every_view(page):
    """Show every view and yield its name when its numbers and figures are drawn."""
    drawn = "new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
    for view in VIEWS:
        show(page, view)
        wait_for_numbers(page, view)
        page.evaluate(drawn)
        yield view
