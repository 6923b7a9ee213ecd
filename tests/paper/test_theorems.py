"""The section on theorems: what it measures, and what it would refuse."""

import numpy as np
import pytest

import cobayes as cb
from cobayes.example_library import examples
from cobayes.paper import theorem_experiments, theorems
from cobayes.paper.theorem_claims import (
    Destinations,
    MeasuredRate,
    judge_destinations,
    judge_rates,
)
from cobayes.paper.theorem_experiments import theorem_shard, without_relevant
from cobayes.report.section import Context


@pytest.mark.slow
def test_theorems_and_invariants_hold_where_they_are_measured(tmp_path, monkeypatch):
    own = ("supplement-2x2", "M_1", "M_2", "M_3")
    monkeypatch.setattr(theorem_experiments, "EXAMPLES", own)
    monkeypatch.setattr(theorem_experiments, "RANDOM_SIZES", (3,))
    monkeypatch.setattr(theorem_experiments, "QUICK_NUM_LESSONS", 300)
    monkeypatch.setattr(theorem_experiments, "QUICK_NUM_LEARNERS", 3000)
    section = theorems.build(Context("theorems", 0.01, 2020, tmp_path / "t", is_quick=True))
    verdicts = {claim.statement: claim.verdict for claim in section.claims}
    assert len(verdicts) == 11
    atoms = "After k rounds the distribution of beliefs has exactly nᵏ atoms"
    assert verdicts.pop(atoms) == "holds except"
    assert set(verdicts.values()) <= {"holds", "not decided"}
    assert "does not hold" not in verdicts.values()
    assert len(section.data[0]) == 12
    assert (tmp_path / "runs" / "theorems" / "ledger.sqlite").is_file()


def test_a_prior_without_the_relevant_hypothesis_gives_a_higher_rate():
    model = examples["M_1"].model
    for rule in ("BI", "SCBI"):
        prior = without_relevant(model, 0, rule)
        assert (prior == 0.0).sum() == 1
        assert prior[0] > 0.0
        whole = cb.rate_of_convergence(model, 0, rule=rule)
        assert cb.rate_of_convergence(model, 0, rule=rule, prior=prior) > whole


def test_proportional_rows_make_fewer_atoms():
    found = theorem_shard({"part": "atoms"}, np.random.SeedSequence(1), 1)
    assert found["random"].tolist() == [3, 9, 27, 81]
    assert found["alike"].tolist() == [2, 4, 8, 16]


def test_plain_bayes_does_not_find_a_mixture():
    parameters = {
        "part": "mixture",
        "matrix": examples["M_3"].model.normalized().tolist(),
        "num_rounds": 10_000,
    }
    found = theorem_shard(parameters, np.random.SeedSequence(1), 200)
    assert found["away"] > 190


def test_a_rate_that_is_not_the_theorems_is_refused():
    fine = MeasuredRate("a", "BI", 0.5, 0.501, 0.002)
    wrong = MeasuredRate("a", "SCBI", 0.5, 0.51, 0.002)
    bayes, cooperative = judge_rates([fine, wrong])
    assert bayes.verdict == "holds"
    assert cooperative.verdict == "does not hold"


def test_learners_that_end_elsewhere_refute_proposition_5_1():
    prior = np.array([0.5, 0.3, 0.2])
    assert (
        judge_destinations([Destinations("a", prior, np.array([10_020, 5980, 4000]), 0)]).verdict
        == "holds"
    )
    assert (
        judge_destinations([Destinations("a", prior, np.array([600, 250, 150]), 0)]).verdict
        == "does not hold"
    )
