"""The site builds without a warning, from a copy, so that nobody's own build is touched."""

import os
import shutil
import subprocess
import sys

import pytest

from tests import HANGS
from tests.docs.pages import ROOT


@pytest.mark.slow
def test_site_builds_without_warnings(tmp_path):
    skip = shutil.ignore_patterns("_build", "__pycache__", "node_modules")
    shutil.copytree(ROOT / "docs", tmp_path / "docs", ignore=skip)
    shutil.rmtree(tmp_path / "docs" / "gallery", ignore_errors=True)  # of a build
    shutil.copytree(ROOT / "tests", tmp_path / "tests", ignore=skip)
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    shutil.copy(ROOT / "README.md", tmp_path)
    done = subprocess.run(
        [
            *(sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"),
            # A third of the time goes into the contents in the margin, which warn of nothing.
            *("-D", "toc_object_entries=0"),
            *(str(tmp_path / "docs"), str(tmp_path / "html")),
        ],
        env={**os.environ, "COBAYES_DOCS_PAGES_ONLY": "1"},
        capture_output=True,
        text=True,
        timeout=HANGS,
    )
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "html" / "beyond.html").read_text(encoding="utf-8")
    assert "<math" in page
    # Nothing on any page is loaded from elsewhere.
    for file in (tmp_path / "html").rglob("*.html"):
        text = file.read_text(encoding="utf-8")
        assert 'src="http' not in text, file
        assert 'rel="stylesheet" href="http' not in text, file
    tests = tmp_path / "html" / "repository" / "tests" / "theory" / "test_measures.py.txt"
    assert "def test_teaching_is_uniform_data_conditioned" in tests.read_text(encoding="utf-8")


def test_a_name_that_no_page_describes_is_an_error(monkeypatch):
    from sphinx.errors import ExtensionError

    monkeypatch.syspath_prepend(str(ROOT / "docs" / "extensions"))
    import public_names

    monkeypatch.setattr(public_names, "described", {"SCBI"})
    with pytest.raises(ExtensionError, match="BI"):
        public_names.require_all(None, None)
