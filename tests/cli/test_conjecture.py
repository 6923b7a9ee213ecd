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


@pytest.mark.parametrize("named", [(), ("nothing.json",)])
def test_a_missing_certificate_is_bad_input(run, named):
    result = run("conjecture", "check", *named)
    assert result.exit_code == 2
    assert all(name in result.stderr for name in known_certificates())
