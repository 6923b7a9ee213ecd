"""`cobayes conjecture check`."""

import json

import pytest

from cobayes.conjecture import known_certificates


def test_a_packaged_certificate_is_confirmed(run):
    result = run("conjecture", "check", "tv-paper-matrix", "--seed", "1", "--json")
    content = json.loads(result.stdout)
    assert result.exit_code == 0
    assert content["is_confirmed"]
    assert content["is_proved"]


def test_a_check_prints_both_estimates(run):
    words = run("conjecture", "check", "--help").stdout.replace("\n", " ").split()
    assert set(known_certificates()) <= {word.rstrip(".,") for word in words}
    result = run("conjecture", "check", "tv-paper-matrix", "--seed", "1", "-n", "2000")
    assert "measured by lessons" in result.stdout
    assert "measured by coupling" in result.stdout
    assert "proved by its witness" in result.stdout


def test_an_unconfirmed_certificate_has_exit_code_1(run, tmp_path):
    from cobayes.conjecture import load_certificate

    content = load_certificate("tv-paper-matrix").to_dict()
    content |= {"distance": "euclidean", "witness": []}
    path = tmp_path / "wrong.json"
    path.write_text(json.dumps(content), encoding="utf-8")
    result = run("conjecture", "check", path, "-n", "500", "--seed", "1")
    assert result.exit_code == 1
    assert "NOT confirmed" in result.stdout


def test_a_check_of_all_small_perturbations_prints_ratios_and_standard_errors(run, monkeypatch):
    from cobayes.conjecture import LimitCertificate, LimitSlope
    from cobayes.conjecture.certificate import LimitCheck

    for limit, code in ((LimitSlope(1.25, 0.04), 0), (LimitSlope(1.25, 0.05), 1)):

        def check(self, limit=limit, **_):
            return LimitCheck(self, limit, {-90.0: LimitSlope(1.125, 0.02)})

        monkeypatch.setattr(LimitCertificate, "check", check)
        result = run("conjecture", "check", "l1-small-perturbations")
        lines = [" ".join(line.split()) for line in result.stdout.splitlines()]
        assert "1e-90 1.125 ± 0.02 6.2" in lines
        above = (limit.value - 1.0) / limit.stderr
        assert f"limit 1.250 ± {limit.stderr:g} {above:.1f}" in lines
        assert result.exit_code == code
        assert ("NOT confirmed" in result.stdout) == bool(code)


@pytest.mark.parametrize("named", [(), ("nothing.json",)])
def test_a_missing_certificate_is_bad_input(run, named):
    result = run("conjecture", "check", *named)
    assert result.exit_code == 2
    assert all(name in result.stderr for name in known_certificates())
