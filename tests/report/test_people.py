"""Fits to people as sections of a report."""

import numpy as np
import pytest

from cobayes import people, report
from cobayes.report.people import cell_text, fit_in_words

RNG = np.random.default_rng(2)
PROBLEMS = {f"p{i}": RNG.dirichlet(np.ones(6), size=3).T + 1e-3 for i in range(4)}


@pytest.fixture(scope="module")
def fit():
    family = people.Family(depth=(2, np.inf), lapse=0.0, inner_rationality=(0.5, 3.0))
    choices = people.simulate({"depth": 2}, PROBLEMS, num_people=3, num_rounds=3, rng=1)
    names = {"1": "<b>*ann*", "2": "[bob](x)", "3": "_c_|d"}
    return people.fit(choices.replace({"person": names}), PROBLEMS, family, num_starts=2)


@pytest.fixture(scope="module")
def recipes(fit):
    models = {f"depth {depth:g}": fit.at_depth(depth) for depth in fit.family.depth}
    return report.fit_recipes(fit, people.compare(models, loo=False))


def test_the_page_shows_labels_as_they_are(fit, recipes, tmp_path):
    page = report.build_report(tmp_path, recipes, formats=("svg",), fresh=True, scale=1.0)
    text = page.read_text(encoding="utf-8")
    for label in ("&lt;b&gt;*ann*", "[bob](x)", "_c_|d"):
        assert label in text
    assert "<b>*" not in text
    assert fit_in_words(fit) == "36 responses by 3 people on 4 problems, depths 2, inf."


def test_parameters_of_every_depth_have_a_picture(fit, recipes):
    # The inner rationality is free at depth 2 and plays no part at infinite depth.
    section = recipes[1].builder()(report.Context("estimates", 1.0, 0, None))
    pictures = [block.name for block in section.blocks if isinstance(block, report.Picture)]
    known = fit.estimates["inner_rationality"].notna().any()
    assert pictures == ["rationality", *(["inner_rationality"] if known else [])]
    assert known


def test_a_group_has_its_table_and_pictures_of_shrinkage(tmp_path):
    family = people.Family(depth=(0, 1), lapse=0.05)
    choices, problems = people.example_study()
    group = people.fit_group(choices, problems, family, num_draws=100, rng=1)
    comparison = people.compare({"all": group.fit}, loo=False)
    recipes = report.fit_recipes(group.fit, comparison, group)
    assert [recipe.name for recipe in recipes] == [
        "comparison", "estimates", "group", "predictions"
    ]  # fmt: skip
    page = report.build_report(tmp_path, recipes, formats=("svg",), fresh=True, scale=1.0)
    text = page.read_text(encoding="utf-8")
    for words in ("median rationality", "share of depth 1", "rationality in the group"):
        assert words in text


def test_ratings_have_no_predicted_frequencies():
    rows = {"person": ["a"] * 2, "round": [1, 2], "datum": [0, 1], "hypothesis": [0, 0]}
    family = people.Family(depth=0, response="rating")
    fit = people.fit(rows | {"rating": [0.2, 0.4]}, [[2, 1], [1, 1]], family)
    recipes = report.fit_recipes(fit, people.compare({"0": fit}, loo=False))
    assert [recipe.name for recipe in recipes] == ["comparison", "estimates"]


@pytest.mark.parametrize(
    ("value", "text"), [(0.9997, "0.9997"), (1.0, "1"), (0.12345, "0.123"), (1234.5, "1234.5")]
)
def test_a_number_below_one_is_not_shown_as_one(value, text):
    assert cell_text(value) == text
