"""``{test}`path.py::name` `` and ``{source}`path` ``: links to files of the repository.

The files are copied beside the pages, so that the links work without a network; a link to a test or
a file that does not exist is an error.
"""

from __future__ import annotations

import re
from pathlib import Path

from docutils import nodes
from sphinx.util.docutils import SphinxRole

ROOT = Path(__file__).parents[2]
FOLDER = "repository"


class RepositoryLink(SphinxRole):
    """A link to a file, or to the line at which a test starts."""

    def run(self):
        file, _, name = self.text.partition("::")
        path = ROOT / file
        if not path.is_file():
            return self._wrong(f"there is no file {file}")
        if name and not re.search(rf"^def {re.escape(name)}\(", path.read_text("utf-8"), re.M):
            return self._wrong(f"{file} has no function {name}")
        wanted = self.env.__dict__.setdefault("cobayes_linked_files", set())
        wanted.add(file)
        up = "../" * self.env.docname.count("/")
        # Browsers scroll to the text after `#:~:text=`.
        target = f"{up}{FOLDER}/{file}.txt" + (f"#:~:text=def%20{name}" if name else "")
        shown = name.replace("_", " ").removeprefix("test ") if name else file
        link = nodes.reference("", "", internal=False, refuri=target)
        link += nodes.Text(shown) if name else nodes.literal("", shown)
        return [link], []

    def _wrong(self, message):
        error = self.inliner.reporter.error(message, line=self.lineno)
        return [self.inliner.problematic(self.rawtext, self.rawtext, error)], [error]


def copy_files(app, exception):
    """Put the linked files beside the pages, as text that a browser shows."""
    if exception is not None:
        return
    for file in sorted(app.env.__dict__.get("cobayes_linked_files", ())):
        target = Path(app.outdir) / FOLDER / f"{file}.txt"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text((ROOT / file).read_text("utf-8"), encoding="utf-8")


def setup(app):
    app.add_role("test", RepositoryLink())
    app.add_role("source", RepositoryLink())
    app.connect("build-finished", copy_files)
    return {"parallel_read_safe": False}
