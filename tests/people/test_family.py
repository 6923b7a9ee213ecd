"""Families: free and fixed parameters, and errors."""

import re

import numpy as np
import pytest

import cobayes as cb
from cobayes.people import Family


def test_a_number_fixes_a_parameter_and_a_pair_frees_it():
    family = Family(depth=1, rationality=2.0, lapse=(0.0, 0.3))
    assert family.free_names(1) == ("lapse",)
    assert family.bounds["rationality"] == (2.0, 2.0)


def test_inner_rationality_is_free_only_at_depths_with_a_recursion():
    family = Family(depth=(0, 1, 2, np.inf), inner_rationality=(0.5, 2.0))
    used = {depth: "inner_rationality" in family.free_names(depth) for depth in family.depth}
    assert used == {0: False, 1: False, 2: True, np.inf: False}
    # A person of infinite depth may update the learner in mind by a rule of finite depth.
    assert "inner_rationality" in family.at(other=2).free_names(np.inf)


def test_rationality_is_the_exponent_of_the_recursion_and_sharpness_that_of_a_response():
    guesses = Family(depth=(0, 1, np.inf), sharpness=(0.5, 2.0), response="guess")
    assert guesses.free_names(0) == guesses.free_names(np.inf) == ("sharpness", "lapse")
    assert guesses.free_names(1) == guesses.free_names() == ("rationality", "sharpness", "lapse")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (dict(depth=-1), "neither an integer >= 0 nor infinity"),
        (dict(depth=1.5), "neither an integer"),
        (dict(depth=()), "no depth"),
        (dict(rationality=(3.0, 1.0)), "rationality is"),
        (dict(lapse=(0.0, 2.0)), "lapse is"),
        (dict(rationality=10**400), "rationality is"),
        (dict(rationality=1e300), "rationality is"),
        (dict(rationality=(0.0, np.inf)), "finite bounds"),
        (dict(response="speech"), "expected 'choice', 'guess' or 'rating'"),
        (dict(literal="half"), "expected 'likelihood' or 'truth'"),
        (dict(depth=np.inf, inner_rationality=2.0), "infinite depth needs inner_rationality 1"),
        (dict(features={"lapse": [1.0]}), "cannot be called 'lapse'"),
        (dict(features={"cost": [1.0]}, weights={}), "'cost' is in only one of features and wei"),
        (dict(features={"a": [1.0]}, weights={"a": 1.0, "b": 1.0}), "'b' is in only one of feat"),
        (dict(features={"edge": [1.0]}, response="guess"), "'features' has no effect"),
        (dict(response="guess", inner_rationality=2.0), "'inner_rationality' has no effect"),
        (dict(sharpness=2.0), "'sharpness' has no effect"),
        (dict(response="guess", noise=0.2), "'noise' has no effect"),
        (dict(weights=1.0), "'weights' has no effect"),
        (dict(weights=np.array([-1.0, 1.0])), "'weights' has no effect"),
        (dict(response="guess", noise=np.array([0.1, 0.2])), "'noise' has no effect"),
        (dict(response="rating", noise=0.0), "noise is"),
        (dict(depth=np.inf, response="guess", rationality=2.0), "exponent of a response is sharp"),
    ],
)
def test_invalid_settings_are_refused(settings, message):
    with pytest.raises(cb.CobayesError, match=message):
        Family(**settings)


def test_defaults_of_settings_without_effect_are_accepted_in_any_form():
    for settings in (dict(weights=[-10.0, 10.0]), dict(weights={}, noise=np.array([0.01, 1.0]))):
        assert Family(**settings).bounds == Family().bounds


@pytest.mark.parametrize("lapse", [5, (0.0, 50.0)])
def test_a_lapse_in_percent_gets_a_hint(lapse):
    with pytest.raises(cb.CobayesError, match=r"0\.05 means 5 %"):
        Family(lapse=lapse)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        ("rationality", {"response": "choice"}),
        ("noise", {"response": "rating"}),
        ("weights", {"features": {"cost": [1.0]}}),
    ],
)
def test_arguments_in_the_hint_about_bounds_are_accepted(name, settings):
    with pytest.raises(cb.CobayesError, match=r"expected a number, or a pair of finite") as found:
        Family(**settings, **{name: 1e12})
    arguments = re.match(r"write (.*) to fix it, or (.*) to estimate it", str(found.value.hint))
    assert arguments
    bounds = [Family(**settings, **eval(f"dict({own})")).bounds for own in arguments.groups()]
    key = "cost" if name == "weights" else name
    assert [own[key] for own in bounds] == [(1.0, 1.0), (0.1, 1.0)]
