"""The page under bad input, other screens, keyboards and screen readers, in a browser."""

import numpy as np
import pytest

from tests.browser.conftest import npm_file
from tests.browser.screen import EVIL, every_view, link, show

pytestmark = pytest.mark.slow


def test_500_damaged_pastes_give_a_message_and_never_a_blank_page(visit, pages):
    rng = np.random.default_rng(3)
    good = "datum\tcup\tbowl\nlook left\t0.2\t0.1\nlook right\t0.1\t0.3\n"
    signs = [
        *list("\t\n,;\"'<>&%/\\-+.eE0123456789\x00\ufeff\u2028é漢🎲 ="),
        "NaN",
        "1e999",
        "</script>",
    ]
    texts = [
        "",
        " ",
        "\n" * 50,
        "a",
        "1",
        "1\t2",
        "x\ty\n",
        "=1+1\t2\n3\t4",
        good * 200,
        "\t" * 500,
    ]
    while len(texts) < 500:
        text = list(good) if rng.random() < 0.7 else []
        for _ in range(int(rng.integers(1, 12))):
            place = int(rng.integers(len(text) + 1))
            if text and rng.random() < 0.4:
                del text[place : place + int(rng.integers(1, 6))]
            else:
                text.insert(place, str(rng.choice(signs)))
        texts.append("".join(text))
    page = visit(pages["three"], hash=link(view="table", lessons=20))
    answers = page.evaluate(
        """(texts) => texts.map((text) => {
            const area = document.getElementById("paste");
            area.value = text;
            area.dispatchEvent(new Event("input"));
            const message = document.querySelector(".panel .message");
            return {
                message: message.textContent,
                isBad: message.classList.contains("bad"),
                rows: document.querySelectorAll(".edit tbody tr").length,
            };
        })""",
        texts,
    )
    assert all(answer["message"] and answer["rows"] >= 2 for answer in answers)
    refused = sum(answer["isBad"] for answer in answers)
    assert 100 < refused < 500
    for _ in every_view(page):
        assert page.locator(".view").count() == 1


def test_labels_are_never_read_as_html(visit, pages):
    page = visit(pages["evil"], hash=link(round=2, lessons=20))
    for _ in every_view(page):
        assert page.locator("#app img").count() == 0
    assert page.evaluate("window.evil === undefined")
    show(page, "lesson")
    assert EVIL in page.inner_text(".shown >> nth=0")


def test_nothing_is_asked_of_the_network(window, pages):
    asked = []
    page = window()
    page.on("request", lambda request: asked.append(request.url))
    page.goto(pages["gestures"].as_uri() + link(lessons=20))
    page.wait_for_selector("html[data-ready=true]")
    for _ in every_view(page):
        pass
    page.wait_for_timeout(500)
    assert [url for url in asked if not url.startswith(("file:", "blob:"))] == []


def luminance(color):
    """Relative luminance of colours in red, green and blue, as WCAG 2 defines it."""
    shares = np.asarray(color)[:, :3] / 255
    linear = np.where(shares <= 0.04045, shares / 12.92, ((shares + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_numbers_of_a_heat_map_have_enough_contrast_at_every_share(visit, pages, scheme):
    """WCAG AA asks for 4.5; cells from none to all of the colour, in steps of one in 400."""
    values = np.arange(400).reshape(40, 10) / 399
    names = [str(k) for k in range(40)]
    table = {"data": names, "hypotheses": names[:10], "matrix": values.tolist()}
    state = {"view": "play", "example": "", "table": table}
    page = visit(pages["three"], width=1400, scheme=scheme, hash=link(**state))
    paper, cells, texts = (
        np.array(found, dtype=float)
        for found in page.evaluate(
            """() => {
                const read = (text) => {
                    const parts = text.match(/[\\d.]+/g).map(Number);
                    return parts.length === 4 ? parts : [...parts, 1];
                };
                const fills = (name) => [...document.querySelectorAll(name)].map(
                    (one) => read(getComputedStyle(one).fill));
                const paper = read(getComputedStyle(document.body).backgroundColor);
                return [[paper], fills(".heat .cell"), fills(".heat .value")];
            }"""
        )
    )
    assert len(cells) == len(texts) == 400
    opacity = cells[:, 3:]
    behind = luminance(opacity * cells[:, :3] + (1 - opacity) * paper[:, :3])
    number = luminance(texts)
    contrast = (np.maximum(behind, number) + 0.05) / (np.minimum(behind, number) + 0.05)
    assert contrast.min() >= 4.5


def test_every_control_can_be_reached_by_keyboard_and_shows_its_focus(visit, pages):
    page = visit(pages["three"], hash=link(round=2, lessons=20))
    for view in every_view(page):
        page.evaluate("document.activeElement.blur()")
        wanted = page.evaluate(
            """() => [...document.querySelectorAll(
                "a[href], button:not(:disabled), input:not(:disabled), select, textarea, summary, "
                + "[tabindex='0']")].filter((one) => one.checkVisibility()).length"""
        )
        seen = []
        for _ in range(wanted + 8):
            page.keyboard.press("Tab")
            found = page.evaluate(
                """() => {
                    const one = document.activeElement;
                    if (one === document.body) return null;
                    globalThis.places ??= new Map();
                    if (!places.has(one)) places.set(one, places.size);
                    const style = getComputedStyle(one);
                    const hasRing = style.outlineStyle !== "none" || one.matches(".square");
                    return [places.get(one), hasRing, one.outerHTML.slice(0, 80)];
                }"""
            )
            if found is None:
                continue  # past the end, before the page begins again
            assert found[1], found[2]
            seen.append(found[0])
        assert len(set(seen)) >= wanted, view


def test_scripts_that_are_not_the_pages_own_do_not_run(visit, pages):
    """The policy holds in the browser: an added script, style or request is refused."""
    page = visit(pages["three"])
    refused = page.evaluate(
        """async () => {
            const blocked = [];
            addEventListener("securitypolicyviolation", (event) =>
                blocked.push(event.effectiveDirective));
            const add = (tag, parts) =>
                document.body.append(Object.assign(document.createElement(tag), parts));
            add("script", { textContent: "window.evil = 1" });
            add("style", { textContent: "* { color: red }" });
            add("img", { src: "http://x.test/" });
            await fetch("http://x.test/").catch(() => null);
            while (blocked.length < 4) await new Promise((done) => setTimeout(done, 10));
            return [blocked.sort(), window.evil === undefined];
        }"""
    )
    visit.complaints.clear()  # the browser's messages about these are expected
    assert refused == [["connect-src", "img-src", "script-src-elem", "style-src-elem"], True]


@pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
def test_axe_finds_nothing_serious(visit, pages, scheme, width):
    axe = npm_file("axe-core/axe.min.js").read_text(encoding="utf-8")
    page = visit(pages["three"], width=width, scheme=scheme, hash=link(round=4, lessons=20))
    page.evaluate(axe)
    for view in every_view(page):
        found = page.evaluate("axe.run({ resultTypes: ['violations'] })")
        serious = [
            (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
            for one in found["violations"]
            if one["impact"] in ("serious", "critical")
        ]
        assert serious == [], view


@pytest.mark.parametrize("width", [1400, 900, 390])
def test_every_view_fits_its_window(visit, pages, width):
    page = visit(pages["gestures"], width=width, hash=link(round=3, lessons=20))
    for view in every_view(page):
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
