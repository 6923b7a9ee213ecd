import re
import warnings
from pathlib import Path

import matplotlib as mpl
import pytest
from matplotlib import pyplot as plt

from tests.docs.pages import PAGES, ROOT, blocks_of, run_page, same_output

mpl.use("Agg")

RUNNABLE = {"python", "console", "bash"}
# Blocks that are shown, not run: output, files, and Sphinx's own directives.
OTHER = {"text", "csv", "yaml", "js", "r", ""}


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_code_runs_and_prints_what_the_page_says(page, tmp_path):
    try:
        outputs = run_page(page, tmp_path)
    finally:
        plt.close("all")
    for _, _, expected, found in outputs:
        assert same_output(expected, found), f"shown:\n{expected}\nprinted:\n{found}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_block_has_a_language_that_the_tests_know(page):
    for block in blocks_of(page.read_text(encoding="utf-8")):
        assert block.language in RUNNABLE | OTHER or block.language.startswith("{"), block


def test_the_comparison_of_outputs_can_fail():
    assert same_output("a 1\n...\nb", "a 1\nmany lines\nhere\nb\n")
    assert not same_output("a 1\n", "a 2\n")


def test_a_wrong_page_is_noticed(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("```python\nx = 1\nprint(x)\n```\n\n```text\n2\n```\n", encoding="utf-8")
    ((_, _, expected, found),) = run_page(page, tmp_path)
    assert (expected, found) == ("2\n", "1\n")
    page.write_text("```console\n$ cobayes no-such-command\n```\n", encoding="utf-8")
    with pytest.raises(AssertionError, match="no-such-command"):
        run_page(page, tmp_path)


def test_the_readme_is_short_and_its_commands_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 90
    targets = set(re.findall(r"^(\w+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))
    named = set(re.findall(r"\bmake (\w+)", text))
    assert {"report", "test"} <= named <= targets


def test_links_to_files_lead_somewhere():
    for page in PAGES:
        text = re.sub(r"`[^`\n]*`", "", page.read_text(encoding="utf-8"))  # code shows syntax
        for target in re.findall(r"\]\(([^)#\s]+)", text):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name}: {target}"


SCRIPTS = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


@pytest.mark.slow
@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_gallery_runs_and_draws(script, tmp_path, monkeypatch):
    import runpy

    monkeypatch.chdir(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(script))
    assert plt.get_fignums()
    plt.close("all")


def test_every_example_of_the_gallery_has_a_picture_in_the_list_of_examples():
    assert len(SCRIPTS) >= 8
    text = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for script in SCRIPTS:
        assert f"](../docs/pictures/gallery/{script.stem}.png)](gallery/{script.name})" in text
        assert (ROOT / "docs" / "pictures" / "gallery" / f"{script.stem}.png").exists()


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_files_that_contributors_are_sent_to_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for name in re.findall(r"`([\w/]+\.(?:py|pyi|hpp|cpp|md))`", text):
        if name.isupper() or any(part.isupper() for part in Path(name).with_suffix("").parts):
            continue  # stands for any name
        places = (ROOT, ROOT / "src" / "cobayes", ROOT / "core")
        assert any((place / name).exists() for place in places), name
