from html.parser import HTMLParser

import matplotlib as mpl
import pytest

mpl.use("Agg")


FIRST_PARTS = ("worked-example", "lesson")


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The first two parts of the report at quick scale, built once; others have own tests."""
    from cobayes.paper import build_paper

    folder = tmp_path_factory.mktemp("report")
    told = []
    page = build_paper(
        folder, FIRST_PARTS, scale=0.01, seed=1, tell=lambda *line: told.append(line)
    )
    return page, told


class Reader(HTMLParser):
    """Collects tags, and checks that they are closed in order."""

    VOID = frozenset({"meta", "img", "br"})

    def __init__(self):
        super().__init__()
        self.tags, self.open, self.text = [], [], []

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text.append(data)


def read(page):
    reader = Reader()
    reader.feed(page.read_text(encoding="utf-8"))
    assert reader.open == []
    return reader
