"""The section on theorems: what it measures, and what it would refuse."""

import numpy as np
import pytest

from cobayes.paper import theorems
from cobayes.paper.theorems import Destinations, MeasuredRate
from cobayes.report.section import Context


@pytest.mark.slow
def test_theorems_and_invariants_hold_where_they_are_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(theorems, "EXAMPLES", ("supplement-2x2", "M_2", "M_3"))
    monkeypatch.setattr(theorems, "RANDOM_SIZES", (3,))
    monkeypatch.setattr(theorems, "QUICK_NUM_LESSONS", 100)
    monkeypatch.setattr(theorems, "QUICK_NUM_LEARNERS", 1000)
    section = theorems.build(Context("theorems", 0.01, 2020, tmp_path, is_quick=True))
    assert len(section.claims) == 7
    assert {claim.verdict for claim in section.claims} == {"holds"}
    assert "(0 unsettled)" in section.claims[-1].measured
    assert len(section.data[0]) == 8


def test_a_rate_that_is_not_the_theorems_is_refused():
    fine = MeasuredRate("a", "BI", 0.5, 0.501, 0.002)
    wrong = MeasuredRate("a", "SCBI", 0.5, 0.51, 0.002)
    bayes, cooperative = theorems._judge_rates([fine, wrong])
    assert bayes.verdict == "holds"
    assert cooperative.verdict == "does not hold"


def test_learners_that_end_elsewhere_refute_proposition_5_1():
    prior = np.array([0.5, 0.3, 0.2])
    assert (
        theorems._judge_destinations(
            [Destinations("a", prior, np.array([510, 290, 200]), 0)]
        ).verdict
        == "holds"
    )
    assert (
        theorems._judge_destinations(
            [Destinations("a", prior, np.array([600, 250, 150]), 0)]
        ).verdict
        == "does not hold"
    )
