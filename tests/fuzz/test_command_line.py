"""Hostile command lines give an exit code, one line and a hint, never a traceback."""

from __future__ import annotations

from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from cobayes.cli.app import app

FUZZ = settings.get_profile("fuzz")

WORDS = st.one_of(
    st.sampled_from(
        [
            "--rounds",
            "--hypothesis",
            "--prior",
            "--learner-prior",
            "--rule",
            "--seed",
            "--json",
            "--smooth",
            "--level",
            "--lessons",
            "--help",
            "-k",
            "-H",
        ]
    ),
    st.sampled_from(
        ["example:M_1", "example:gestures", "example:x", "nowhere.csv", ".", "", "\x1b[2J"]
    ),
    st.sampled_from(
        ["0", "1", "3", "-1", "1e3", "1e99", "nan", "0.5,0.5", "h_1=1", "bi", "both", "h_1"]
    ),
    st.text(st.characters(exclude_characters="\0"), max_size=5),
)


@FUZZ
@given(
    st.sampled_from(["teach", "info", "examples", "compare", "runs"]), st.lists(WORDS, max_size=5)
)
def test_no_command_line_ends_in_a_traceback(name, words):
    # Last, so that no request of fuzzing is large.
    small = {"teach": ["--rounds", "2"], "compare": ["--rounds", "2", "--lessons", "20"]}
    runner = CliRunner(env={"COLUMNS": "100", "NO_COLOR": "1", "TERM": "dumb"})
    result = runner.invoke(app, [name, *words, *small.get(name, [])])
    assert result.exit_code in (0, 1, 2)
    assert isinstance(result.exception, (SystemExit, type(None)))
    assert "Traceback" not in result.output
    assert "\x1b" not in result.output
    if result.exit_code == 1:
        assert "--debug" not in result.stderr, result.stderr  # that is for our own mistakes
