"""Help texts, and completion in a real shell."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import HANGS
from tests.docs.pages import ROOT

sys.path.insert(0, str(ROOT / "docs" / "extensions"))
import itertools
import re

from command_help import all_commands, help_nodes, help_text


@pytest.mark.parametrize("words", [[], *all_commands()], ids=" ".join)
def test_every_help_shows_an_example_and_says_what_it_does(words):
    text = help_text(words)
    usage, _, rest = text.partition("\n")
    assert usage.strip().startswith(" ".join(["Usage: cobayes", *words]))
    # After the last option come the examples, each a command line of its own.
    epilog = rest.rsplit("Show this message and exit.", 1)[-1]
    examples = [line.strip() for line in epilog.splitlines() if "cobayes" in line]
    assert examples
    assert any(" ".join(["cobayes", *words]) in example for example in examples)


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_the_page_shows_every_word_of_a_help_text(words):
    shown = " ".join(node.astext() for node in help_nodes(help_text(words)))
    assert shown.split() == help_text(words).split()


@pytest.mark.parametrize("words", all_commands(), ids=" ".join)
def test_paragraphs_of_help_are_filled(words):
    """A line that ends early in the middle of a sentence reads badly."""
    text = help_text(words)
    paragraphs = re.split("(Positional arguments|Options):", text, maxsplit=1)[0].split("\n\n")
    for paragraph in paragraphs[1:]:
        lines = [line.strip() for line in paragraph.strip().splitlines()]
        for line, following in itertools.pairwise(lines):
            assert len(line) + 1 + len(following.split()[0]) > 76


COMPLETIONS = {
    "cobayes te": {"teach"},
    "cobayes ": {"teach", "compare", "rates", "world", "info", "examples", "runs"},
    "cobayes teach --ru": {"--rule"},
    "cobayes teach example:gestures --rule ": {"scbi", "bi", "both"},
    "cobayes conjecture ch": {"check"},
}


def test_bash_completes():
    """The script that click prints, sourced and called as bash would."""
    script = "source <(_COBAYES_COMPLETE=bash_source cobayes)\n"
    for words in (line.split(" ") for line in COMPLETIONS):
        quoted = " ".join(f"'{word}'" for word in words)
        script += (
            f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; COMPREPLY=()\n"
            '_cobayes_completion cobayes\necho "${COMPREPLY[@]}"\n'
        )
    done = subprocess.run(
        ["bash", "--norc", "-c", script],
        capture_output=True,
        text=True,
        timeout=HANGS,
        env={
            **os.environ,
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        },
    )
    assert done.returncode == 0, done.stderr
    for (line, expected), found in zip(COMPLETIONS.items(), done.stdout.splitlines(), strict=True):
        assert expected <= set(found.split()), (line, found, done.stderr)


def test_completion_says_nothing_else():
    done = subprocess.run(
        [Path(sys.executable).parent / "cobayes"],
        capture_output=True,
        text=True,
        timeout=HANGS,
        env={
            **os.environ,
            "_COBAYES_COMPLETE": "bash_complete",
            "COMP_WORDS": "cobayes ra",
            "COMP_CWORD": "1",
        },
    )
    assert (done.stdout.strip(), done.stderr) == ("plain,rates", "")
