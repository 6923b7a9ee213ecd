"""The section "Beyond the paper": its pictures, numbers and claims."""

import sys

import numpy as np
import pytest

from cobayes.paper import beyond
from cobayes.report.section import Context, Picture
from cobayes.runs import Estimate


@pytest.fixture
def section(monkeypatch, tmp_path):
    """The section with small numbers; depth 8 is enough for the proof."""
    few = {"depth": 8, "num_slope_rounds": 60, "num_slope_lessons": 40, "num_lessons": 40}
    few["num_teacher_rounds"] = 3
    monkeypatch.setattr(beyond, "SIZES", (-3.0, -90.0))
    cases = [case for case in beyond.predictable() if case.startswith(("M_2", "grid-world"))]
    monkeypatch.setattr(beyond, "predictable", lambda: cases)
    folder = tmp_path / "beyond"
    return beyond.build(Context("beyond", 0.01, 2020, folder, is_quick=True, settings=few))


def test_the_section_shows_four_pictures_and_refutes_by_proof_and_by_record(section):
    pictures = [block for block in section.blocks if isinstance(block, Picture)]
    assert [picture.name for picture in pictures] == [
        "success-enclosed",
        "tiny-perturbations",
        "predicted-rounds",
        "best-teacher",
    ]
    assert [claim.verdict for claim in section.claims] == ["does not hold"] * 2
    assert "at most 0.5989," in section.claims[0].measured
    assert "recorded in a certificate" in section.claims[1].measured
    assert len(section.data["predicted-rounds"]) == 4


def test_the_verdict_on_the_enclosure_needs_an_upper_bound_below_the_conjectured_rate():
    assert beyond.judge_enclosed(3, 0.6).verdict == "not decided"
    assert beyond.judge_enclosed(11, 0.5912).verdict == "does not hold"


def test_the_verdict_on_the_limit_follows_from_the_certificate_alone():
    assert beyond.judge_limit(Estimate(0.5, 0.1)).verdict == "does not hold"


@pytest.mark.parametrize("rule", beyond.RULES)
def test_chosen_data_are_better_than_drawn_ones_and_than_those_for_another_learner(rule):
    found = beyond._taught_beliefs(rule, 3)
    assert (found["chosen"][1:] > found["drawn"][1:]).all()
    assert (found["chosen"] >= found["borrowed"] - 1e-12).all()


def test_the_rounds_until_certainty_are_summed_over_all_lessons(monkeypatch):
    # Memory for the paths of no lesson.
    monkeypatch.setattr(sys.modules["cobayes.lessons.simulate"], "AUTOMATIC_PATHS", 10)
    given, seed = {"part": "rounds", "case": "M_1, SCBI"}, np.random.SeedSequence(1)
    few, many = (beyond.beyond_shard(given, seed, count) for count in (20, 40))
    assert 1.5 * few["total"] < many["total"] < 3.0 * few["total"]
    assert many["squares"] >= many["total"] ** 2 / 40
