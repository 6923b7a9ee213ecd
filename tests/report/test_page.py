"""The report in a real browser, on a desk and on a phone."""

import pytest

MEASURE = """() => {
  const images = [...document.images];
  return {
    page_width: document.documentElement.scrollWidth,
    images: images.length,
    shown: images.filter(i => i.complete && i.naturalWidth > 0).length,
    widest: Math.max(...images.map(i => i.getBoundingClientRect().right)),
    small: [...document.querySelectorAll("p, li, td, figcaption")]
      .filter(e => parseFloat(getComputedStyle(e).fontSize) < 12).length,
  };
}"""


@pytest.mark.slow
@pytest.mark.parametrize("width", [1200, 400])
def test_the_page_fits_its_window_and_shows_every_picture(report, chromium, width):
    page, _ = report
    window = chromium.new_page(viewport={"width": width, "height": 800})
    window.goto(page.as_uri())
    found = window.evaluate(MEASURE)
    window.close()
    assert found["page_width"] <= width
    assert found["widest"] <= width
    assert found["images"] == found["shown"] >= 11
    assert found["small"] == 0
