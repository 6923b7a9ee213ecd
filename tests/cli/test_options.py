"""Values of options: parsed, and refused, in plain words."""

import re

import pytest

from cobayes.cli.app import COMMANDS, app

TOOLKIT_WORDS = ("<", "Value error", "Input should be", "Invalid value", "range", "valid integer")


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--rounds", "abc"), "--rounds is 'abc'; expected an integer >= 0."),
        (("--rounds", "-1"), "--rounds is -1; expected an integer >= 0."),
        (("--rounds", "2.5"), "--rounds is '2.5'; expected an integer >= 0."),
        (("--rounds", "9" * 5000), "--rounds has 5000 characters; the limit is 40."),
        (("--seed", "1" * 41), "--seed has 41 characters; the limit is 40."),
        (("--seed", "1.5"), "--seed is '1.5'; expected an integer >= 0."),
        (("--rule", "sbci"), "'sbci' is not one of 'scbi', 'bi', 'pragmatic', 'both'."),
        (("--rouns", "3"), "no such option '--rouns'. (Did you mean one of: '--rounds'"),
        (("--hypothesis", "Bowl"), "there is no hypothesis called 'Bowl'."),
    ],
)
def test_a_bad_value_is_refused_in_plain_words(run, arguments, error):
    result = run("teach", "example:gestures", *arguments)
    assert result.exit_code == 2
    assert error in result.stderr
    assert not any(word in result.stderr for word in TOOLKIT_WORDS)


NUMBERS = {"N", "ALPHA", "BELIEF", "DISTANCE", "EPSILON", "FACTOR", "PROBABILITY"}


@pytest.mark.parametrize("name", [*COMMANDS, "conjecture check"])
def test_numbers_and_names_refuse_nonsense_in_plain_words(run, name):
    first, *rest = name.split()
    command = app.get_command(None, first)
    for part in rest:
        command = command.commands[part]
    for parameter in command.params:
        metavar = parameter.metavar or ""
        if metavar in NUMBERS or ("|" in metavar and metavar.islower()):
            result = run(*name.split(), parameter.opts[0], "-?-")
            assert result.exit_code == 2, parameter.opts
            assert not any(word in result.stderr for word in TOOLKIT_WORDS), result.stderr
            assert "'-?-'" in result.stderr
            assert f"hint: run 'cobayes {name} --help'" in result.stderr
        else:
            assert metavar not in ("NUMBER", "TEXT"), "an option parsed by the toolkit"


def test_too_many_arguments_are_named(run):
    assert "unexpected extra arguments (1 2)" in run("runs", ".", "1", "2").stderr


def test_similar_names_are_suggested(run):
    assert "did you mean 'gestures'?" in run("teach", "example:gesture").stderr
    assert "did you mean 'gestures'?" in run("examples", "gest").stderr
    assert "Did you mean 'teach'?" in run("tech").stderr
    assert "did you mean 'bowl'?" in run("teach", "example:gestures", "-H", "Bowl").stderr


def test_a_percentage_is_told_from_a_probability(run):
    result = run("compare", "example:gestures", "--level", "95")
    assert result.exit_code == 2
    assert "write 0.95 for 95 %" in result.stderr
    for text in ("95%", "0,95"):
        assert "(write 0.95)" in run("compare", "example:gestures", "--level", text).stderr
    assert "write" not in run("compare", "example:gestures", "--level", "1,200").stderr


def test_integers_may_be_written_as_powers_of_ten_and_names_in_any_case(run, world):
    result = run("teach", world, "-H", "A", "--rounds", "1e0", "--rule", "SCBI", "--seed", 1)
    assert result.exit_code == 0
    assert "SCBI teaches A, 1 round\n" in result.stdout


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_has_no_words_of_the_toolkit(run, name):
    result = run(*([name] if name else []), "--help")
    assert result.exit_code == 0
    assert not re.search(r"<\w+>|<\w+ range>|\[x>=", result.stdout)


def test_commands_are_listed_in_their_order(run):
    _, listed = run("--help").stdout.split("Commands:\n")
    # Commands are indented by two spaces, further lines of their descriptions by more.
    found = [line.split()[0] for line in listed.splitlines() if re.match("  [a-z]", line)]
    assert found == list(COMMANDS)


@pytest.mark.parametrize(
    "arguments", [("--lessons", "100000000000"), ("--rounds", "1000000000000"), ("--lessons", 1e15)]
)
def test_impossible_amounts_of_work_are_refused_with_an_estimate(run, arguments):
    result = run("compare", "example:gestures", "--seed", 1, *arguments)
    assert result.exit_code == 2
    assert re.search(r"would take about .*; the limit is", result.stderr)
    assert "hint: ask for fewer" in result.stderr
    assert run("teach", "example:gestures", "--rounds", "1e12").exit_code == 2


def test_a_median_beyond_the_last_round_is_more_than_it(run):
    result = run("compare", "example:gestures", "--rounds", 3, "--lessons", 50, "--seed", 1)
    assert "more than 3" in result.stdout
    assert "never" not in result.stdout


def test_rates_of_one_hypothesis(run):
    result = run("rates", "example:gestures", "-H", "bowl")
    assert result.exit_code == 0
    assert "\n bowl " in result.stdout
    assert "\n cup " not in result.stdout
