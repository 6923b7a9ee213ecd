"""The command itself: help, version, failures, interruption."""

import json
import os
import signal
import subprocess
import sys

import pytest

import cobayes as cb
from cobayes.cli.app import COMMANDS
from tests import AFTER_CTRL_C, HANGS


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_a_help_text_that_shows_how_to_use_it(run, name):
    result = run(name, "--help")
    assert result.exit_code == 0
    flat = " ".join(result.stdout.split())
    assert f"Usage: cobayes {name}" in flat or f"cobayes {name}" in flat
    assert "…" not in flat  # no name of an option is cut off


def test_help_lists_commands_with_whole_sentences(run):
    assert "..." not in run("--help").stdout.partition("Commands:")[2]


@pytest.mark.parametrize("name", ["teach", "info", "examples", "reproduce"])
def test_help_shows_an_example_command(run, name):
    assert result_examples(run(name, "-h").stdout)


def result_examples(text):
    after = text.partition("Examples:")[2]
    return [line for line in after.splitlines() if line.strip().startswith("cobayes ")]


def test_examples_are_not_broken_into_lines(run):
    lines = result_examples(run("experiment", "--help").stdout)
    assert lines[-1].endswith("--rule pragmatic --literal truth --rationality 4")


def test_help_lists_every_command_and_no_arguments_show_help(run):
    result = run("--help")
    assert result.exit_code == 0
    assert all(name in result.stdout for name in COMMANDS)


@pytest.mark.parametrize("arguments", [(), ("conjecture",)])
def test_no_arguments_show_help_and_are_no_error(run, arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    assert "Usage" in result.stdout
    assert result.stderr == ""


def test_version_is_the_packages(run):
    result = run("--version")
    assert result.exit_code == 0
    assert result.stdout == f"cobayes {cb.__version__}\n"


def test_an_unknown_command_is_a_usage_error(run):
    result = run("tech")
    assert result.exit_code == 2
    assert result.stderr.startswith("error: ")
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("arguments", "command"),
    [
        (("info",), "cobayes info"),
        (("rates", "x.csv", "--seed"), "cobayes rates"),
        (("conjecture", "check", "tv", "--seed"), "cobayes conjecture check"),
        (("conjecture", "chek"), "cobayes conjecture"),
        (("tech",), "cobayes"),
    ],
)
def test_a_usage_error_points_to_the_help_of_its_own_command(run, arguments, command):
    result = run(*arguments)
    assert result.exit_code == 2
    assert (
        result.stderr.splitlines()[-1]
        == f"hint: run '{command} --help' for its arguments and options."
    )


@pytest.mark.parametrize(
    ("name", "content", "error"),
    [
        ("m.json", f"[[1, {'9' * 400}]]", "is infinite, or too large"),
        ("m.json", f"[[1, {'9' * 5000}]]", "4300 digits"),
        ("m.json", "[" * 100_000, "is not valid JSON"),
        ("m.csv", ",,,\n,,,", "is empty"),
        ("m.csv", "d,A,\nx,1,2\n", "column 3: the hypothesis has no label"),
    ],
)
def test_a_malformed_file_is_exit_code_2(run, tmp_path, name, content, error):
    (tmp_path / name).write_text(content, encoding="utf-8")
    result = run("info", tmp_path / name)
    assert result.exit_code == 2
    assert error in result.stderr


@pytest.mark.parametrize(
    ("name", "error"),
    [("", "the file to read is ''"), ("x" * 5000 + ".csv", "cannot be read")],
)
def test_a_name_without_a_file_is_exit_code_2(run, name, error):
    result = run("info", name)
    assert result.exit_code == 2
    assert error in result.stderr
    assert "folder" not in result.stderr


def test_an_unexpected_error_is_exit_code_1_with_a_traceback_only_on_request(run, monkeypatch):
    def fail(*_):
        raise RuntimeError("the disk is on fire")

    monkeypatch.setattr("cobayes.cli.inputs.load_matrix", fail)
    result = run("info", "example:M_1")
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        "error: RuntimeError: the disk is on fire",
        "hint: run again with --debug for the full traceback.",
    ]
    for arguments in (("--debug", "info", "example:M_1"), ("info", "example:M_1", "--debug")):
        result = run(*arguments)
        assert isinstance(result.exception, RuntimeError)


def test_interruption_in_a_command_is_exit_code_130(run, monkeypatch):
    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("cobayes.cli.inputs.load_matrix", interrupt)
    result = run("info", "example:M_1")
    assert result.exit_code == 130
    assert result.stderr.startswith("interrupted")


def test_the_real_command_keeps_stdout_and_stderr_apart(command, world):
    process = command("teach", world, "-H", "A", "--json")
    output, errors = process.communicate(timeout=HANGS)
    assert process.returncode == 0
    assert json.loads(output)["hypothesis"] == "A"
    assert "Traceback" not in errors


def test_the_real_command_fails_in_two_lines(command):
    process = command("info", "nowhere.csv")
    output, errors = process.communicate(timeout=HANGS)
    assert (process.returncode, output) == (2, "")
    assert errors == (
        "error: there is no file nowhere.csv.\nhint: check the spelling and the folder.\n"
    )


def test_the_real_command_shows_a_traceback_with_debug(command):
    process = command("info", "nowhere.csv", "--debug")
    _, errors = process.communicate(timeout=HANGS)
    assert process.returncode == 1
    assert "Traceback" in errors
    assert "CobayesError" in errors


# Code by which the import of the command takes an hour, or its work is shown without delay.
LONG_IMPORT = """
import sys, time
class Slow:
    def find_spec(self, name, *_):
        if name == "cobayes.cli.app":
            print("importing", file=sys.stderr, flush=True)
            time.sleep(3600)
sys.meta_path.insert(0, Slow())
"""
LONG_WORK = "terminal.PATIENCE = 0.0"


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently on Windows")
@pytest.mark.parametrize(
    ("before", "notice"),
    [(LONG_IMPORT, "importing\n"), (LONG_WORK, "running 1,000,000,000 lessons")],
    ids=["imports", "works"],
)
def test_control_c_ends_the_real_command_with_130(command, before, notice):
    arguments = ("compare", "example:M_1", "--lessons", 10**9, "--rounds", 1000, "--seed", 1)
    process = command(*arguments, before=before)
    assert process.stderr.readline().startswith(notice)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=HANGS)
    assert process.returncode in AFTER_CTRL_C
    assert "Traceback" not in errors


@pytest.mark.skipif(sys.platform == "win32", reason="pipes close differently on Windows")
def test_a_reader_that_stops_early_causes_no_error_message(command):
    process = command("teach", "example:number-game", "--rounds", 2000, "--seed", 1, "--json")
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    process.wait(timeout=HANGS)
    process.stderr.close()
    assert "Traceback" not in errors
    assert "BrokenPipe" not in errors


def test_help_is_quick_because_nothing_heavy_is_imported():
    script = (
        "import atexit, sys; from cobayes.cli.app import app\n"
        "heavy = {'numpy', 'scipy', 'pandas', 'matplotlib'}\n"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules))))\n"
        "app(['--help'])"
    )
    found = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, env=os.environ
    )
    assert found.stdout.splitlines()[-1] == "[]"


def test_a_null_byte_is_one_clear_line(run):
    for arguments in (("info", "a\0b"), ("a\0b",), ("teach", "example:M_1", "-H", "\0")):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "holds a null byte." in result.stderr.splitlines()[0]
    assert run("runs", "\ud800").stderr.splitlines()[0].endswith("is not Unicode text.")
    assert run("runs", "\udc80").exit_code == 2  # a byte of a file name


def test_an_error_of_the_system_is_one_short_line(run, tmp_path):
    result = run("teach", "example:M_1", "--csv", f"{5000 * '9'}/lesson.csv")
    assert result.exit_code == 1
    assert result.stderr.endswith("File name too long.\n")
    assert len(result.stderr) < 250


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such files")
@pytest.mark.parametrize("command", [("info",), ("conjecture", "check"), ("world", "--board")])
def test_a_link_to_an_endless_device_is_refused(run, tmp_path, command):
    (tmp_path / "endless.csv").symlink_to("/dev/zero")
    result = run(*command, tmp_path / "endless.csv")
    assert result.exit_code == 2
    assert "is a device or a pipe, not a file" in result.stderr
