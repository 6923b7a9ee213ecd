"""`cobayes reproduce`: the report from the command line."""

import pytest


def test_reproduce_writes_the_page_and_names_it_on_stdout(run, tmp_path):
    folder = tmp_path / "deep" / "report"
    result = run("reproduce", "worked-example", "--out", folder, "--seed", 5)
    assert result.exit_code == 0
    assert result.stdout.replace("\n", "") == str(folder / "index.html")
    assert (folder / "index.html").is_file()
    assert "[1/1] worked-example: started" in result.stderr
    page = (folder / "index.html").read_text(encoding="utf-8")
    assert "cobayes reproduce worked-example --scale 0.01 --seed 5" in page


def test_the_parts_are_listed(run):
    result = run("reproduce", "--list")
    assert result.exit_code == 0
    assert "worked-example" in result.stdout
    assert "lesson" in result.stdout


@pytest.mark.parametrize(
    ("text", "factor"), [("quick", "0.01"), ("paper", "1"), ("0.5", "0.5"), ("1e-3", "0.001")]
)
def test_the_scale_is_a_name_or_a_share_of_the_papers(run, tmp_path, text, factor):
    result = run("reproduce", "worked-example", "--scale", text, "--out", tmp_path)
    assert result.exit_code == 0
    assert f"--scale {factor} " in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fig99"], "no part of the report called 'fig99'"),
        (["--scale", "big"], "expected quick, paper or a positive number"),
        (["--scale", "-1"], "expected quick, paper or a positive number"),
        (["--scale", "nan"], "expected quick, paper or a positive number"),
    ],
)
def test_bad_requests_are_errors(run, tmp_path, arguments, message):
    result = run("reproduce", *arguments, "--out", tmp_path)
    assert result.exit_code == 2
    assert message in result.stderr
    assert list(tmp_path.iterdir()) == []
