"""``command-help``: what ``cobayes COMMAND --help`` says, as of this build."""

from __future__ import annotations

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


def help_text(arguments: list[str]) -> str:
    """Return the help of a command as plain text, 80 columns wide."""
    from click.testing import CliRunner

    from cobayes.cli.app import app

    runner = CliRunner(env={"NO_COLOR": "1", "TERM": "dumb"})
    result = runner.invoke(app, [*arguments, "--help"], prog_name="cobayes")
    if result.exit_code != 0:
        raise ValueError(f"cobayes {' '.join(arguments)} --help failed: {result.output}")
    return "\n".join(line.rstrip() for line in result.output.splitlines()).strip("\n")


def all_commands() -> list[list[str]]:
    """Return every command, and after a group its commands, as lists of words."""
    from cobayes.cli.app import COMMANDS, app

    found = []
    for name in COMMANDS:
        found.append([name])
        found += [[name, inner] for inner in getattr(app.get_command(None, name), "commands", ())]
    return found


class CommandHelp(SphinxDirective):
    """The help of every command: a section for each."""

    def run(self):
        sections = []
        for words in all_commands():
            target = "-".join(["cobayes", *words])
            section = nodes.section(ids=[target], names=[target])
            section += nodes.title("", "", nodes.literal("", " ".join(["cobayes", *words])))
            section += nodes.literal_block("", help_text(words), language="text")
            sections.append(section)
        return sections


def setup(app):
    """Register the directive."""
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
