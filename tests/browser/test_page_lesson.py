"""The lesson on the page, in a browser: its numbers are compared with Python's."""

import numpy as np
import pytest

import cobayes as cb
from tests.browser.screen import link, screen_table, shares, show

pytestmark = pytest.mark.slow


def test_the_first_screen_is_moving(visit, pages):
    page = visit(pages["gestures"], motion="no-preference", stops_clock=True)
    page.clock.run_for(2500)
    page.wait_for_selector(".round b:text-matches('[1-9]')")
    assert page.locator("[aria-label=pause]").count() == 1
    page.click("[aria-label=pause]")
    assert page.locator("h1").inner_text() == "Watch a belief being taught"


def test_nothing_moves_by_itself_for_those_who_prefer_calm(visit, pages):
    page = visit(pages["gestures"], stops_clock=True)
    page.clock.run_for(10_000)
    assert page.inner_text(".round b") == "0"


def test_the_opening_lesson_keeps_the_rules_apart(visit, pages):
    page = visit(pages["gestures"], hash=link(round=10))
    found = screen_table(page).pivot(index="round", columns="rule", values="bowl").astype(float)
    for one, other in (("BI", "Pragmatic"), ("Pragmatic", "SCBI"), ("BI", "SCBI")):
        assert (found[one] - found[other]).abs().loc[3:10].min() > 0.04


def test_after_a_step_back_the_lesson_is_in_that_round(visit, pages):
    # Without repeats the lesson of three data ends after round 3.
    page = visit(pages["gestures"], hash=link(repeats=False), stops_clock=True)
    page.focus(".view.lesson")
    said = []
    for key in ("ArrowRight", "ArrowRight", "ArrowRight", "ArrowLeft"):
        page.keyboard.press(key)
        page.clock.run_for(100)
        said.append(page.locator("#announcer").text_content())
    assert said[1].startswith("Round 2: Literal ")
    assert said[1] == said[3] != said[2].replace("Round 3", "Round 2")
    page.click("[aria-label=play]")
    page.clock.run_for(2500)
    assert page.inner_text(".round b") == "3"


def test_curves_that_coincide_can_all_be_seen(visit, pages):
    """The solid curve is drawn below the dashed ones."""
    page = visit(pages["gestures"], hash=link(round=3))
    dashes = (
        page.locator("figure >> nth=0")
        .locator(".curve")
        .evaluate_all("curves => curves.map((one) => getComputedStyle(one).strokeDasharray)")
    )
    assert dashes[0] == "none"
    assert "none" not in dashes[1:]
    assert len(set(dashes)) == 3


def test_beliefs_of_a_lesson_are_pythons(visit, pages):
    page = visit(pages["gestures"], hash=link(round=25))
    found = screen_table(page)
    model = cb.examples["gestures"].model
    for kind in ("BI", "SCBI"):
        rows = found[found["rule"] == kind]
        assert len(rows) == 26
        learner = cb.Learner(getattr(cb, kind)(model))
        for datum, belief in zip(
            rows["datum"], rows[list(model.hypotheses)].to_numpy(), strict=True
        ):
            if datum:
                learner.observe(datum)
            np.testing.assert_allclose(belief.astype(float), learner.belief, rtol=0, atol=1e-10)


def test_the_cards_show_what_the_table_holds(visit, pages):
    page = visit(pages["gestures"], hash=link(round=7))
    found = screen_table(page)
    last = found[found["round"] == 7]
    shown = shares(page, ".card .number b")
    np.testing.assert_allclose(shown, last["bowl"].to_numpy(dtype=float), atol=6e-4)


def test_steps_back_on_and_to_the_start(visit, pages):
    page = visit(pages["gestures"])
    for _ in range(3):
        page.click("[aria-label='one round on']")
    assert page.inner_text(".round b") == "3"
    page.click("[aria-label='one round back']")
    assert page.inner_text(".round b") == "2"
    page.locator("[aria-label=round]").fill("9")
    assert page.inner_text(".round b") == "9"
    page.click("[aria-label='to the start']")
    assert page.inner_text(".round b") == "0"


def test_the_keyboard_steps_through_a_lesson(visit, pages):
    page = visit(pages["gestures"])
    page.focus(".view.lesson")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.inner_text(".round b") == "1"


def test_you_can_be_the_teacher(visit, pages):
    page = visit(pages["gestures"])
    page.click("button:has-text('You pick')")
    # By keyboard: the focus stays in the row of buttons after the first one.
    page.focus(".picker button:has-text('point left')")
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.textContent") == "point left"
    page.click(".picker button:has-text('look left')")
    found = screen_table(page)
    for kind in ("BI", "SCBI"):
        rows = found[found["rule"] == kind]
        assert list(rows["datum"]) == ["", "point left", "look left"]
        learner = cb.Learner(getattr(cb, kind)(cb.examples["gestures"].model))
        learner.observe("point left")
        learner.observe("look left")
        assert float(rows["bowl"].iloc[-1]) == pytest.approx(learner.belief[1], abs=1e-10)


def test_with_your_data_the_last_round_is_that_of_your_last_datum(visit, pages):
    page = visit(pages["gestures"], hash=link(choice="you", picks=[4, 0], round=9))
    assert page.inner_text(".round b") == "2"


def test_the_likeliest_datum_is_pythons(visit, pages):
    page = visit(pages["gestures"], hash=link(choice="likeliest", round=4))
    found = screen_table(page)
    rule = cb.SCBI(cb.examples["gestures"].model)
    belief = np.full(4, 0.25)
    for datum in found[found["rule"] == "SCBI"]["datum"].iloc[1:]:
        chances = rule.teach(belief, "bowl")
        assert rule.model.data[int(np.argmax(chances))] == datum
        belief = rule.update(belief, datum)


def test_why_this_datum_shows_the_teachers_distribution(visit, pages):
    page = visit(pages["gestures"], hash=link(round=1))
    rule = cb.SCBI(cb.examples["gestures"].model)
    expected = np.sort(rule.teach(np.full(4, 0.25), "bowl"))[::-1]
    np.testing.assert_allclose(shares(page, ".why .chance .value"), expected, atol=6e-4)
    assert page.locator(".why .chosen").count() == 1
    page.click(".why button:has-text('Literal')")
    literal = np.sort(cb.BI(rule.model).teach(np.full(4, 0.25), "bowl"))[::-1]
    np.testing.assert_allclose(shares(page, ".why .chance .value"), literal, atol=6e-4)
    # Beliefs after each alternative, in the order of their probabilities.
    order = np.argsort(-rule.teach(np.full(4, 0.25), "bowl"), kind="stable")
    page.click(".why button:has-text('Cooperative')")
    after = rule.posteriors(np.full(4, 0.25))[order, 1]
    np.testing.assert_allclose(shares(page, ".why td:last-child"), after, atol=6e-4)


def test_one_round_ends_at_the_scaled_matrix(visit, pages):
    page = visit(pages["three"], hash=link(frame=13))
    assert "The limit: SCBI" in page.inner_text(".stage")
    model = cb.examples["M_2"].model
    expected = cb.SCBI(model).likelihood(np.full(3, 1 / 3))
    texts = page.locator(".one-round .heat").last.locator(".value").all_text_contents()
    np.testing.assert_allclose([float(text) for text in texts], expected.ravel(), rtol=6e-2)
    page.locator("[aria-label=normalisation]").fill("0")
    assert "The table M" in page.inner_text(".stage")


def test_every_normalisation_is_shown_on_the_way_to_the_limit(visit, pages):
    """Columns to n theta and rows to one in turn, beside the table itself."""
    page = visit(pages["three"])
    model = cb.examples["M_2"].model
    table = model.matrix.copy()
    for frame in range(1, 5):
        page.locator("[aria-label=normalisation]").fill(str(frame))
        table = table / table.sum(axis=0) if frame % 2 else table / table.sum(axis=1, keepdims=True)
        maps = page.locator(".one-round .heat")
        numbers = [maps.nth(k).locator(".value").all_text_contents() for k in (0, 1)]
        np.testing.assert_allclose(
            np.array(numbers[0], dtype=float), model.matrix.ravel(), rtol=6e-2
        )
        np.testing.assert_allclose(np.array(numbers[1], dtype=float), table.ravel(), rtol=6e-2)
        sums = maps.nth(1).locator(".sum").all_text_contents()
        expected = [*table.sum(axis=1), *table.sum(axis=0)]
        np.testing.assert_allclose([float(text) for text in sums], expected, rtol=6e-3)


def test_a_new_name_of_a_datum_stands_beside_its_normalised_row(visit, pages):
    page = visit(pages["three"])
    show(page, "table")
    page.fill("[aria-label='name of datum 1']", "new")
    show(page, "lesson")
    page.wait_for_selector(".one-round .head:text-is('new')")


def test_the_normalisations_play_by_themselves_and_can_be_paused(visit, pages):
    page = visit(pages["three"], motion="no-preference", hash=link(round=1), stops_clock=True)
    page.click("button:has-text('Normalise')")
    page.clock.run_for(1500)
    page.wait_for_selector(".stage:has-text('Rows to one')")
    page.click(".one-round button:has-text('Pause')")
    frame = page.input_value("[aria-label=normalisation]")
    page.clock.run_for(10_000)
    assert page.input_value("[aria-label=normalisation]") == frame


def test_blocks_are_outlined_where_zeros_bind(visit, pages):
    table = {"data": ["a", "b"], "hypotheses": ["x", "y"], "matrix": [[1, 1], [0, 1]]}
    page = visit(pages["three"], hash=link(table=table, frame=13, example=""))
    assert page.locator(".heat .block").count() > 0
    assert "rows to one; because of zeros some entries vanish" in page.inner_text(".stage")
    assert "1 positive entry vanishes" in page.inner_text(".one-round figcaption")


def test_the_triangle_has_a_path_for_each_rule(visit, pages):
    page = visit(pages["three"], hash=link(round=5))
    assert page.locator(".triangle .path").count() == 3
    page = visit(pages["evil"])
    assert page.locator(".triangle .path").count() == 3


def test_the_prior_can_be_dragged_in_the_triangle(visit, pages):
    """The lesson is taught again from the new prior, up to the same round."""
    page = visit(pages["three"], hash=link(round=5))
    page.locator(".lesson .triangle").scroll_into_view_if_needed()
    box = page.locator(".lesson .triangle .frame").bounding_box()
    middle = box["x"] + box["width"] / 2
    page.mouse.move(middle, box["y"] + box["height"] * 2 / 3)
    page.mouse.down()
    page.mouse.move(middle, box["y"] + box["height"] * 0.4, steps=4)
    page.mouse.up()
    assert page.inner_text(".round b") == "5"
    found = screen_table(page)
    model = cb.examples["M_2"].model
    rows = found[found["rule"] == "SCBI"]
    beliefs = rows[list(model.hypotheses)].to_numpy(dtype=float)
    assert beliefs[0, 0] == pytest.approx(0.6, abs=0.03)
    learner = cb.Learner(cb.SCBI(model), beliefs[0])
    for datum, belief in zip(rows["datum"].iloc[1:], beliefs[1:], strict=True):
        np.testing.assert_allclose(belief, learner.observe(datum), rtol=0, atol=1e-10)


def test_the_rates_are_pythons(visit, pages):
    page = visit(pages["three"], hash=link(round=5))
    caption = page.inner_text("figure:has-text('Log-odds of the truth') figcaption")
    model = cb.examples["M_2"].model
    for name, rule in (
        ("literal", cb.BI(model)),
        ("pragmatic", cb.Pragmatic(model, 1)),
        ("cooperative", cb.SCBI(model)),
    ):
        assert f"{name} {cb.rate_of_convergence(rule, 0):.3g}" in caption


def test_the_pragmatic_rule_follows_its_sliders(visit, pages):
    page = visit(pages["gestures"], hash=link(round=6))
    page.locator("label:has-text('Depth of the pragmatic rule') ~ input").fill("3")
    page.locator("label:has-text('Rationality') ~ input").fill("2.5")
    found = screen_table(page)
    rows = found[found["rule"] == "Pragmatic"]
    model = cb.examples["gestures"].model
    learner = cb.Learner(cb.Pragmatic(model, 3, rationality=2.5))
    for datum in rows["datum"].iloc[1:]:
        learner.observe(datum)
    last = rows[list(model.hypotheses)].to_numpy(dtype=float)[-1]
    np.testing.assert_allclose(last, learner.belief, rtol=0, atol=1e-10)
