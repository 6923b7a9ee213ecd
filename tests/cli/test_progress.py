"""Progress on stderr."""

import time

from cobayes.cli import progress


def test_what_takes_longer_than_the_patience_is_said_once(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 0.0)
    with progress.patience("running 3 lessons"):
        deadline = time.monotonic() + 60.0
        while not capsys_has(capsys, "running 3 lessons ...\n") and time.monotonic() < deadline:
            time.sleep(0.01)
    assert capsys.readouterr().err == ""
    assert SEEN == ["running 3 lessons ...\n"]


SEEN = []


def capsys_has(capsys, text):
    found = capsys.readouterr().err
    if found:
        SEEN.append(found)
    return text in SEEN


def test_what_is_quick_says_nothing(monkeypatch, capsys):
    monkeypatch.setattr(progress, "PATIENCE", 600.0)
    with progress.patience("running"):
        pass
    assert capsys.readouterr().err == ""
