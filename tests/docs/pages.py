"""Run the code of a page: python blocks in one namespace, commands as processes.

A block ```` ```text ```` right after a python block is its output; in a ```` ```console ```` block,
the lines after a command are its output. Three dots match any text.  ``python -m tests.docs.pages
PAGE ...`` writes the current output of the code into the pages.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import os
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from tests import HANGS

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [page for page in PAGES if not {"_build", "gallery"} & set(page.parts)]

FENCE = re.compile(r"^```([\w{}-]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
# A comment right before a block that needs, say, the results of hours.
NOT_RUN = re.compile(r"<!-- not run: [^>]+ -->\s*$")
# Commands of minutes or hours: only their options are checked, by listing what they would do.
LONG = {"reproduce": "--list"}
WIDTH = "80"


@dataclass
class Block:
    """A fenced block of a page: its language, its content, and its position."""

    language: str
    content: str
    start: int
    end: int

    def line(self, text: str) -> int:
        """Return the number of the line at which the content starts."""
        return text.count("\n", 0, self.start) + 1


def blocks_of(text: str) -> list[Block]:
    """Return the fenced blocks of a page in order."""
    return [Block(m[1], m[2], m.start(2), m.end(2)) for m in FENCE.finditer(text)]


def same_output(expected: str, found: str) -> bool:
    """Compare what a page shows with what was printed, but for the width of gaps."""
    want, got = (
        "\n".join(line.rstrip() for line in text.strip("\n").splitlines()) + "\n"
        for text in (expected, found)
    )
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    return doctest.OutputChecker().check_output(want, got, flags)


def run_page(path: Path, folder: Path) -> list[tuple[int, int, str, str]]:
    """Run a page's code in a folder.

    Returns
    -------
    list of (start, end, expected, found)
        For each output on the page: its position, the expected and the actual text.
    """
    text = path.read_text(encoding="utf-8")
    namespace: dict = {"__name__": f"page_{path.stem}"}
    outputs = []
    blocks = blocks_of(text)
    with contextlib.chdir(folder):
        for position, block in enumerate(blocks):
            where = f"{path.name}:{block.line(text)}"
            if NOT_RUN.search(text[: block.start].rsplit("```", 1)[0]):
                continue
            if block.language == "python":
                printed = io.StringIO()
                # The padding makes tracebacks name the page's own lines.
                code = "\n" * (block.line(text) - 1) + block.content
                with contextlib.redirect_stdout(printed):
                    exec(compile(code, str(path), "exec"), namespace)
                following = blocks[position + 1] if position + 1 < len(blocks) else None
                if (
                    following is not None
                    and following.language == "text"
                    and not text[block.end + 3 : following.start - len("```text\n")].strip()
                ):
                    outputs.append(
                        (following.start, following.end, following.content, printed.getvalue())
                    )
            elif block.language == "console":
                outputs += _run_console(block, where)
            elif block.language == "bash":
                subprocess.run(["bash", "-n"], input=block.content, text=True, check=True)
    return outputs


def _run_console(block: Block, where: str) -> list[tuple[int, int, str, str]]:
    outputs = []
    pieces = re.split(r"^\$ ", block.content, flags=re.MULTILINE)
    at = block.start + len(pieces[0])
    for piece in pieces[1:]:
        at += len("$ ")
        command, _, shown = re.sub(r"\\\n\s*", " ", piece).partition("\n")
        command = command.split("  #")[0].strip()
        found = run_command(command, where)
        if shown.strip() and found is not None:
            end = at + len(piece)
            outputs.append((end - len(shown), end, shown, found))
        at += len(piece)
    return outputs


def run_command(command: str, where: str) -> str | None:
    """Run a cobayes or python command of a page and return what it prints."""
    words = shlex.split(command)
    if words[0] not in ("cobayes", "python"):
        return None
    if words[0] == "cobayes" and words[1] in LONG and LONG[words[1]] not in words:
        words.append(LONG[words[1]])
    environment = {"COLUMNS": WIDTH, "NO_COLOR": "1", "TERM": "dumb", "MPLBACKEND": "Agg"}
    if words[0] == "cobayes":  # in this process, which has loaded everything
        from cobayes.cli.app import app

        result = CliRunner(env=environment).invoke(app, words[1:])
        if result.exit_code != 0:
            raise AssertionError(f"{where}: {command!r} failed:\n{result.output}")
        return result.stdout
    done = subprocess.run(
        [sys.executable, *words[1:]],
        capture_output=True,
        text=True,
        timeout=HANGS,
        env={**os.environ, **environment},
    )
    if done.returncode != 0:
        raise AssertionError(f"{where}: {command!r} failed:\n{done.stderr}")
    return done.stdout


def refresh(path: Path) -> None:
    """Write the current output of a page's code into the page."""
    text = path.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        outputs = run_page(path, Path(folder))
    for start, end, expected, found in reversed(outputs):
        if not same_output(expected, found):
            printed = "\n".join(line.rstrip() for line in found.strip("\n").splitlines()) + "\n"
            text = text[:start] + printed + text[end:]
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    os.environ["MPLBACKEND"] = "Agg"
    for argument in sys.argv[1:]:
        refresh(Path(argument).resolve())
