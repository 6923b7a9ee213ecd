"""``command-help``: what ``cobayes COMMAND --help`` says, as of this build."""

from __future__ import annotations

import re
import textwrap

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


def help_nodes(text: str) -> list[nodes.Node]:
    """Return a help text as nodes that wrap on a phone; its lists become definition lists."""
    usage, *blocks = text.split("\n\n")
    found: list[nodes.Node] = [nodes.literal_block("", usage, language="text")]
    after_list = False
    for block in blocks:
        title, _, rest = block.partition("\n")
        if not title.startswith(" "):  # "Options:", "Positional arguments:" or "Commands:"
            found.append(nodes.paragraph("", title))
            found.append(nodes.definition_list(classes=["options"]))
            for item in re.split(r"\n(?=  \S)", rest):
                term, said = re.split(r"\n|  ", item.strip(), maxsplit=1)
                left = nodes.term("", "", nodes.literal("", term))
                right = nodes.definition("", _paragraph(said))
                found[-1] += nodes.definition_list_item("", left, right)
            after_list = True
        elif after_list:  # examples
            found.append(nodes.literal_block("", textwrap.dedent(block), language="text"))
        else:
            found.append(_paragraph(block))
    return found


def _paragraph(text: str) -> nodes.paragraph:
    # As literals, options keep both of their dashes.
    parts = re.split(r"(--[\w-]+)", " ".join(text.split()))
    words = [(nodes.literal if part[:2] == "--" else nodes.inline)("", part) for part in parts]
    return nodes.paragraph("", "", *words)


def all_commands() -> list[list[str]]:
    """Return every command as a list of words; the commands of a group follow the group."""
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
            section += help_nodes(help_text(words))
            sections.append(section)
        return sections


def setup(app):
    app.add_directive("command-help", CommandHelp)
    return {"parallel_read_safe": True}
