"""``live-figure``: a moving figure of the studio, made when the site is built."""

from __future__ import annotations

from docutils import nodes
from sphinx.util.docutils import SphinxDirective


class LiveFigure(SphinxDirective):
    """Arguments: the kind of figure and, if needed, an example, as in ``round supplement-2x2``."""

    required_arguments = 1
    optional_arguments = 1

    def run(self) -> list[nodes.Node]:
        from cobayes import examples
        from cobayes.browser import live_figure

        kind, *example = self.arguments
        matrix = examples[example[0]] if example else None
        return [nodes.raw("", live_figure(kind, matrix), format="html")]


def setup(app) -> dict[str, bool]:
    app.add_directive("live-figure", LiveFigure)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
