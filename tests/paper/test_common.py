"""Texts of claims, and intervals of several shares."""

import re
from importlib import resources
from pathlib import Path

import jinja2
import numpy as np
import pytest

import cobayes.paper
from cobayes._intervals import exact_interval
from cobayes.paper import section_name
from cobayes.paper.common import share_intervals, words
from cobayes.report.claims import ERROR_RATE


def test_figures_are_found_by_their_numbers():
    for name in ("3", "Figure3", "fig. 3", "figure-3"):
        assert section_name(name) == "figure-3"
    assert section_name("S1") == "figure-s1"
    assert section_name("lesson") == "lesson"
    assert section_name("fig99") == "fig99"


def test_the_texts_of_a_claim_are_filled_in_and_have_the_topic_above_them():
    found = words("much faster", rates=(0.22, 0.2), limit=2.0)
    assert found == {
        "topic": "Supplement: the worked example",
        "statement": "The SCBI learner eventually converges much faster",
        "source": "Supplement, “An Example on a 2 by 2 Matrix”",
        "measured": "rates of convergence 0.2200 (SCBI) and 0.2000 (BI) nats per round: faster by "
        "10 %",
        "rule": "SCBI’s rate is more than 2 times BI’s, our reading of “much faster”",
    }
    with pytest.raises(jinja2.UndefinedError):
        words("much faster")


def test_every_text_of_a_claim_is_used():
    text = (resources.files("cobayes.paper") / "prose" / "claims.md").read_text(encoding="utf-8")
    names = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert len(set(names)) == len(names) > 40
    folder = Path(cobayes.paper.__file__).parent
    code = "".join(path.read_text(encoding="utf-8") for path in folder.rglob("*.py"))
    unused = [name for name in names if f'"{name}"' not in code]
    assert unused == [f"invariant {k}" for k in (1, 2, 3, 4)]  # named by their position


def test_intervals_of_several_shares_are_wider_than_those_of_one():
    low, high = share_intervals([3, 10], [10, 10])
    expected = [exact_interval(k, 10, 1.0 - ERROR_RATE / 2) for k in (3, 10)]
    assert np.array_equal(np.transpose([low, high]), expected)
