"""Conjecture 5.3: the certificates that come with cobayes, checking them, and broken ones."""

import json
from dataclasses import replace

import numpy as np
import pytest

import cobayes as cb
from cobayes.conjecture import known_certificates, load_certificate, witness_margin
from cobayes.errors import CobayesError
from cobayes.stability import success_rate

LIMIT = "l1-small-perturbations"


def test_the_recorded_evidence_is_what_this_version_measures():
    certificate = load_certificate("tv-paper-matrix")
    found, recorded = certificate.check(rng=2024), certificate.evidence
    assert recorded["seed"] == 2024
    for rate, name in ((found.lessons, "lessons"), (found.coupled, "coupling")):
        assert rate.value == pytest.approx(recorded[name]["value"], rel=1e-9)


def test_the_evidence_in_packaged_certificates_supports_their_claims():
    names = {"euclidean-separated", "euclidean-three-hypotheses", "tv-paper-matrix"}
    assert names <= set(known_certificates())
    for name in names:
        certificate = load_certificate(name)
        enclosure = certificate.evidence["enclosure"]
        assert enclosure["is_proved"]
        # The Euclidean claims are measured only: their enclosures are too wide to prove them.
        is_below = enclosure["upper"] < certificate.conjectured_success
        assert is_below == (certificate.distance == "tv")
        assert enclosure["lower"] < certificate.evidence["lessons"]["value"] < enclosure["upper"]
        assert min(certificate.evidence["standard_errors"].values()) >= 6.0
        assert certificate.evidence["slope"] > 1.0
    assert load_certificate("tv-paper-matrix").model == cb.examples["M_1"].model
    # Eight data, six hypotheses that separate on different time scales; docs/conjecture.md.
    separated = load_certificate("euclidean-separated")
    np.testing.assert_allclose(separated.model.matrix.sum(axis=0), 1.0)
    np.testing.assert_allclose(
        np.abs(8 * separated.model.matrix - 1.0).max(axis=0), [0, 0.1, 0.1732, 0.3, 0.5196, 0.9]
    )


def test_the_paper_matrix_refutes_total_variation_with_both_estimators():
    outcome = load_certificate("tv-paper-matrix").check(rng=11)
    assert outcome.is_confirmed
    assert min(outcome.standard_errors.values()) >= 6.0
    assert outcome.is_proved
    # The enclosure proves the claim, too, without a witness.
    assert outcome.is_enclosed
    assert replace(outcome, witness_margin=None).is_proved
    # An enclosure that is too wide proves nothing.
    enclosure = replace(outcome.enclosure, upper=0.6)
    assert not replace(outcome, witness_margin=None, enclosure=enclosure).is_proved
    assert outcome.to_dict()["enclosure"]["upper"] == outcome.enclosure.upper


def test_three_hypotheses_refute_the_euclidean_form():
    # 80,000 lessons: 6.8 standard errors are expected, fewer than 4 once in 400. The full check
    # with both estimates (9.1 and 9.2, seed 2024) takes half a minute.
    certificate = load_certificate("euclidean-three-hypotheses")
    rate = success_rate(
        certificate.model,
        certificate.hypothesis,
        prior=certificate.teacher_prior,
        learner_prior=certificate.learner_prior,
        num_lessons=80_000,
        max_rounds=certificate.max_rounds,
        rng=5,
    )
    assert certificate.conjectured_success - rate.upper >= 4.0 * rate.stderr


@pytest.mark.slow
def test_the_euclidean_counter_example_behaves_as_the_block_argument_says():
    # Few lessons here; the full check, which reaches 9.0 and 10.0 standard errors, is
    # `cobayes conjecture check euclidean-separated --seed 2024`.
    outcome = load_certificate("euclidean-separated").check(num_lessons=1000, rng=2)
    predicted = 0.9528  # by the block argument of docs/conjecture.md
    for rate in (outcome.lessons, outcome.coupled):
        assert abs(rate.value - predicted) < 4.0 * rate.stderr + 1e-3


def test_a_witness_is_checked_step_by_step():
    certificate = load_certificate("tv-paper-matrix")
    assert witness_margin(certificate) == pytest.approx(0.01546, abs=1e-5)
    shorter = load_certificate({**certificate.to_dict(), "witness": [2, 0]})
    assert witness_margin(shorter) < 0.0
    with pytest.raises(CobayesError, match="nothing for the distance 'euclidean'") as caught:
        witness_margin(load_certificate({**certificate.to_dict(), "distance": "euclidean"}))
    assert "give the distance 'tv'" in (caught.value.hint or "")


@pytest.mark.parametrize("value", [None, "tv-paper-matrix", load_certificate(LIMIT)])
def test_a_margin_needs_a_certificate_with_two_priors(value):
    with pytest.raises(CobayesError, match=r"certificate is .*; expected a Certificate"):
        witness_margin(value)


@pytest.mark.parametrize("name", ["tv-paper-matrix", LIMIT])
@pytest.mark.parametrize("num_lessons", [0, 1, "x"])
def test_a_check_needs_two_lessons(name, num_lessons):
    with pytest.raises(CobayesError, match=r"num_lessons is .*; expected an integer >= 2"):
        load_certificate(name).check(num_lessons, rng=1)


def test_certificates_survive_saving_and_loading(tmp_path):
    first = load_certificate("tv-paper-matrix")
    (tmp_path / "c.json").write_text(json.dumps(first.to_dict()), encoding="utf-8")
    again = load_certificate(tmp_path / "c.json")
    assert again.to_dict() == first.to_dict()
    assert "0.6" in repr(first)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("not json", "broken.json is not valid JSON: Expecting value: line 1 column 1"),
        ("[" * 100_000, "is not valid JSON"),
        ('{"kind": ' + "9" * 5000 + "}", "is not valid JSON"),
        ("[1, 2]", "not a certificate of format 2"),
        ('{"kind": "cobayes conjecture certificate", "format": 2}', "no entry 'matrix'"),
        ('{"kind": "lesson", "format": 1}', "'lesson'"),
    ],
)
def test_broken_certificates_say_what_is_wrong(tmp_path, text, message):
    path = tmp_path / "broken.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(CobayesError, match=message):
        load_certificate(path)


def test_a_certificate_with_a_trivial_bound_and_a_missing_file_are_refused():
    content = load_certificate("tv-paper-matrix").to_dict()
    with pytest.raises(CobayesError, match="strictly between 0 and 1"):
        load_certificate({**content, "learner_prior": [0.0, 0.0, 1.0]})
    with pytest.raises(CobayesError, match="there is no certificate"):
        load_certificate("no-such-file.json")


def test_a_witness_too_long_to_follow_is_refused():
    content = load_certificate("tv-paper-matrix").to_dict()
    with pytest.raises(CobayesError, match="witness has 200000 data"):
        load_certificate({**content, "witness": [0] * 200_000})


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("num_lessons", "x"),
        ("num_lessons", -(10**400)),
        ("max_rounds", 1e400),
        ("level", "small"),
        ("level", 10**400),
        ("witness", [99]),
        ("witness", 3),
        ("format", "new"),
        ("matrix", [[1], [1, 2]]),
        ("matrix", [[10**400, 1, 1]]),
        ("hypothesis", 10**4000),
        ("teacher_prior", {"h_1": 10**400}),
    ],
)
def test_a_field_of_the_wrong_type_is_refused(field, value):
    content = load_certificate("tv-paper-matrix").to_dict()
    with pytest.raises(CobayesError):
        load_certificate({**content, field: value})
