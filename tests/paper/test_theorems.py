"""The section on theorems: its verdicts on true and on false numbers."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import cobayes as cb
from cobayes.example_library import examples
from cobayes.paper import theorems
from cobayes.paper.theorems import (
    judge_cross_ratios,
    judge_destinations,
    judge_inverse,
    judge_rates,
    models_of,
    theorem_shard,
    without_relevant,
)
from cobayes.report.section import Context
from cobayes.runs.plan import function_digest


@pytest.mark.slow
def test_theorems_and_invariants_hold_on_examples(tmp_path, monkeypatch):
    monkeypatch.setattr(theorems, "EXAMPLES", ("supplement-2x2", "M_1", "M_2", "M_3"))
    monkeypatch.setattr(theorems, "RANDOM_SIZES", (3,))
    context = Context(
        "theorems",
        0.01,
        2020,
        tmp_path / "t",
        is_quick=True,
        settings={"num_lessons": 300, "num_learners": 3000},
    )
    section = theorems.build(context)
    verdicts = {claim.statement: claim.verdict for claim in section.claims}
    assert len(verdicts) == 13
    atoms = "After k rounds the distribution of beliefs has exactly nᵏ atoms"
    assert verdicts.pop(atoms) == "holds except"
    assert set(verdicts.values()) <= {"holds", "not decided"}
    assert len(section.data["theorems"]) == 12
    assert (tmp_path / "runs" / "theorems").is_dir()


def test_a_change_of_any_part_of_the_shard_function_starts_its_run_anew(tmp_path, monkeypatch):
    source = Path(theorems.__file__).read_text(encoding="utf-8")
    copy = tmp_path / "theorems.py"
    copy.write_text(source, encoding="utf-8")
    monkeypatch.setattr(theorems, "__file__", str(copy))
    monkeypatch.setattr(theorems, "__spec__", None)
    before = function_digest(theorem_shard)
    for part in theorems.PARTS:
        head = f"def _shard_of_{part}("
        assert head in source
        copy.write_text(source.replace(head, f"@print\n{head}"), encoding="utf-8")
        assert function_digest(theorem_shard) != before, part


def test_a_prior_without_the_relevant_hypothesis_gives_a_higher_rate():
    model = examples["M_1"].model
    for name, rule in theorems.RULES.items():
        prior = without_relevant(model, 0, name)
        assert (prior == 0.0).sum() == 1
        assert prior[0] > 0.0
        whole = cb.rate_of_convergence(rule(model), 0)
        assert cb.rate_of_convergence(rule(model), 0, prior=prior) > whole


def test_proportional_rows_make_fewer_atoms():
    found = theorem_shard({"part": "atoms"}, np.random.SeedSequence(1), 1)
    assert found["random"].tolist() == [3, 9, 27, 81]
    assert found["alike"].tolist() == [2, 4, 8, 16]


def test_plain_bayes_does_not_find_a_mixture():
    matrix = examples["M_3"].model.normalized().tolist()
    found = theorem_shard({"part": "mixtures", "matrix": matrix}, np.random.SeedSequence(1), 200)
    assert found["away"] > 190


def test_learners_under_uniform_data_end_where_the_prior_says():
    parameters = {
        "part": "uniform",
        "matrix": examples["M_2"].model.matrix,
        "prior": (0.5, 0.3, 0.2),
    }
    found = theorem_shard(parameters, np.random.SeedSequence(1), 2000)
    assert found["unsettled"] == 0
    assert found["shares"].sum() == pytest.approx(2000, rel=1e-4)
    # Four standard errors on three shares err together once in 5000.
    noise = np.sqrt(2000 * np.array([0.25, 0.21, 0.16]))
    assert (np.abs(found["shares"] - [1000, 600, 400]) < 4 * noise).all()


def test_a_rate_that_is_not_the_theorems_does_not_hold():
    columns = ("matrix", "rule", "theory", "measured", "stderr", "num_lessons", "num_sure")
    rows = [("a", "BI", 0.5, 0.501, 0.002, 9, 9), ("a", "SCBI", 0.5, 0.51, 0.002, 9, 9)]
    slopes = pd.DataFrame(rows, columns=columns)
    assert judge_rates(slopes, "BI").verdict == "holds"
    assert judge_rates(slopes, "SCBI").verdict == "does not hold"


class Ends(dict):
    """Counts of learners by matrix, as a run returns them."""

    def __getitem__(self, name):
        counts = np.array(dict.__getitem__(self, name.removeprefix("uniform data, ")), dtype=float)
        return type("Point", (), {"statistics": {"shares": counts, "unsettled": 0}})


def test_learners_that_end_elsewhere_refute_proposition_5_1(monkeypatch):
    monkeypatch.setattr(theorems, "UNIFORM_PRIORS", {"a": (0.5, 0.3, 0.2)})
    assert judge_destinations(Ends(a=(10_020, 5980, 4000))).verdict == "holds"
    assert judge_destinations(Ends(a=(600, 250, 150))).verdict == "does not hold"


def test_shares_of_one_total_are_judged_by_pearsons_statistic(monkeypatch):
    monkeypatch.setattr(theorems, "UNIFORM_PRIORS", {"a": (0.5, 0.3, 0.2)})
    claim = judge_destinations(Ends(a=(1040, 590, 370)))
    # sum (O - E)^2 / E with two degrees of freedom; as independent shares it would be 5.8 with 3.
    expected = 40**2 / 1000 + 10**2 / 600 + 30**2 / 400
    assert f"χ² = {expected:.1f} with 2 degrees of freedom" in claim.measured


def test_updates_are_inverted_and_divergences_follow_from_cross_ratios(tmp_path):
    models = models_of(Context("theorems", 0.01, 1, tmp_path))
    for claim in (judge_inverse(models, np.random.default_rng(1)), judge_cross_ratios(models)):
        assert claim.verdict == "holds"
        assert claim.uncertainty == "exact"
