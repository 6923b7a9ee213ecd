"""``cobayes studio``."""


def test_it_writes_one_page(run, world, tmp_path):
    page = tmp_path / "page.html"
    found = run("studio", world, "--out", page, "--no-open")
    assert found.exit_code == 0, found.output
    assert '"hypotheses": ["A", "B"]' in page.read_text(encoding="utf-8")


def test_it_opens_the_page_in_the_browser(run, tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", lambda address: opened.append(address) or True)
    page = tmp_path / "page.html"
    assert run("studio", "example:gestures", "--out", page).exit_code == 0
    assert opened == [page.as_uri()]


def test_a_folder_that_does_not_exist_is_one_line_with_a_hint(run, tmp_path):
    found = run("studio", "--out", tmp_path / "no" / "page.html", "--no-open")
    assert found.exit_code == 2
    assert "does not exist" in found.stderr
