import numpy as np

import cobayes as cb


def test_versions_of_the_package_and_of_what_it_uses_are_shown(capsys):
    cb.show_versions()
    found = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert found["cobayes"] == cb.__version__
    assert found["numpy"] == np.__version__
    assert "threads used" in found["processors"]


def test_a_package_that_is_missing_is_called_so(capsys, monkeypatch):
    monkeypatch.setattr("cobayes.versions._OPTIONAL", ("no-such-package",))
    cb.show_versions()
    assert "no-such-package  not installed" in capsys.readouterr().out
