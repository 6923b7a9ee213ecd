"""Formulas as MathML, made at build time: the pages need neither network nor JavaScript."""

from __future__ import annotations

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

logger = logging.getLogger(__name__)


def convert(code: str, *, as_block: bool) -> str:
    # The converter does not know these two notations.
    code = code.replace("\\dots", "\\ldots").replace("'", "^{\\prime}")
    return tex2mathml(code, as_block=as_block)


def _visit(as_block: bool):
    def visit(translator, node: nodes.Element) -> None:
        code = node.astext()
        try:
            mathml = convert(code, as_block=as_block)
        except MathError as error:
            logger.warning("formula not understood: %s: %s", code, error, location=node)
            mathml = ""
        if as_block:
            translator.body.append(f'<div class="math-block">{mathml}</div>')
        else:
            translator.body.append(mathml)
        raise nodes.SkipNode

    return visit


def setup(app):
    app.add_html_math_renderer(
        "mathml", inline_renderers=(_visit(False), None), block_renderers=(_visit(True), None)
    )
    return {"parallel_read_safe": True, "parallel_write_safe": True}
