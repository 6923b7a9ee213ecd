"""The section "Beyond the paper": its pictures, numbers and claims."""

import pytest

from cobayes.paper import beyond, beyond_experiments
from cobayes.report.section import Context, Picture


@pytest.fixture
def section(monkeypatch, tmp_path):
    """The section with small numbers; depth 8 is enough for the proof."""
    for name, value in {
        "QUICK_DEPTH": 8,
        "QUICK_SLOPE": (60, 40),
        "SIZES": (-3.0, -90.0),
        "QUICK_NUM_LESSONS": 40,
        "QUICK_TEACHER_ROUNDS": 3,
    }.items():
        monkeypatch.setattr(beyond_experiments, name, value)
    monkeypatch.setattr(beyond, "SIZES", (-3.0, -90.0))
    cases = {
        name: case
        for name, case in beyond_experiments.predictable().items()
        if name.startswith(("M_2", "grid-world"))
    }
    monkeypatch.setattr(beyond_experiments, "predictable", lambda: cases)
    return beyond.build(Context("beyond", 0.01, 2020, tmp_path / "beyond", is_quick=True))


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
    (table,) = section.data
    assert len(table.columns[0].values) == 4


def test_the_verdict_on_the_enclosure_needs_an_end_below_the_promise():
    assert beyond._judge_enclosed(3, 0.6).verdict == "not decided"
    assert beyond._judge_enclosed(11, 0.5912).verdict == "does not hold"


@pytest.mark.parametrize("rule", beyond_experiments.LEARNERS)
def test_chosen_data_are_better_than_drawn_ones_and_than_those_for_another_learner(rule):
    found = beyond_experiments._teachers({"rule": rule, "num_rounds": 3})
    assert (found["chosen"][1:] > found["drawn"][1:]).all()
    assert (found["chosen"] >= found["borrowed"] - 1e-12).all()
