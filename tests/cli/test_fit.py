"""``cobayes fit``."""

import json

import numpy as np
import pandas as pd
import pytest

import cobayes as cb
from cobayes import people


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    folder = tmp_path_factory.mktemp("study")
    (folder / "problems").mkdir()
    rng = np.random.default_rng(1)
    problems = {f"p{i}": cb.Model(rng.dirichlet(np.ones(6), size=3).T + 1e-3) for i in range(4)}
    for name, model in problems.items():
        model.to_dataframe().to_csv(folder / "problems" / f"{name}.csv")
    truth = {"depth": 1, "rationality": 3.0, "lapse": 0.05}
    choices = people.simulate(truth, problems, num_people=3, num_rounds=4, rng=2)
    choices.to_csv(folder / "choices.csv", index=False)
    return folder


def test_it_writes_tables_and_a_page(run, study, tmp_path):
    out = tmp_path / "out"
    result = run(
        "fit", study / "choices.csv", "--problems", study / "problems", "--depth", "0,1,inf",
        "--no-loo", "--out", out,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "depth 1" in result.stdout
    estimates = pd.read_csv(out / "fit.csv")
    assert len(estimates) == 3
    trials = pd.read_csv(out / "trials.csv")
    assert trials["log_likelihood"].sum() == pytest.approx(estimates["log_likelihood"].sum())
    comparison = pd.read_csv(out / "comparison.csv")
    assert set(comparison["model"]) == {"depth 0", "depth 1", "depth inf"}
    page = (out / "index.html").read_text(encoding="utf-8")
    for part in (
        "The log-likelihood of the best model is",
        "Models compared",
        "Estimates",
        "Predicted against",
    ):
        assert part in page
    assert page.count('src="data:image/svg') == 4
    assert 'src="http' not in page


def test_group_is_fitted_on_request(run, study, tmp_path):
    result = run(
        "fit", study / "choices.csv", "--problems", study / "problems", "--depth", "0,1",
        "--lapse", "0.05", "--no-loo", "--group", "--out", tmp_path,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert "median rationality" in pd.read_csv(tmp_path / "group.csv")["quantity"].tolist()
    assert "median rationality" in result.stdout
    assert len(pd.read_csv(tmp_path / "people.csv")) == 3
    assert "comparison.csv, group.csv, people.csv" in " ".join(result.stderr.split())
    assert "share of depth 1" in (tmp_path / "index.html").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("flag", "does"), [("--group", "fits"), ("--cross-validation", "leaves out")]
)
def test_people_are_needed_before_anything_is_written(run, study, tmp_path, flag, does):
    counts = pd.read_csv(study / "choices.csv").drop(columns=["person", "round"]).assign(count=1)
    counts.to_csv(tmp_path / "counts.csv", index=False)
    result = run(
        "fit", tmp_path / "counts.csv", "--problems", study / "problems", "--by", "none",
        flag, "--out", tmp_path / "out",
    )  # fmt: skip
    assert result.exit_code == 2
    assert f"{flag} {does} people, but the table has no column 'person'" in result.stderr
    assert f"leave {flag} out" in result.stderr
    assert not (tmp_path / "out").exists()


def test_tables_are_written_before_anything_that_may_fail(run, study, tmp_path, monkeypatch):
    def fail(*_, **settings):
        raise KeyboardInterrupt if settings.get("loo") else AssertionError

    original = people.compare
    monkeypatch.setattr(
        people,
        "compare",
        lambda *given, **own: (fail if own.get("loo") else original)(*given, **own),
    )
    result = run(
        "fit", study / "choices.csv", "-p", study / "problems", "--depth", "1", "-o", tmp_path
    )
    assert result.exit_code == 130
    assert {file.name for file in tmp_path.iterdir()} == {"fit.csv", "trials.csv", "comparison.csv"}


def test_every_part_of_the_family_can_be_set(run, study, tmp_path):
    files = sorted((study / "problems").glob("*.csv"))
    problems = {file.stem: cb.read_model(file) for file in files}
    rng = np.random.default_rng(3)
    cost = pd.DataFrame(
        [
            {"problem": name, "datum": datum, "cost": rng.random(), "edge": rng.random()}
            for name, model in problems.items()
            for datum in model.data[::-1]
        ]
    )
    cost.to_csv(tmp_path / "cost.csv", index=False)
    prior = pd.DataFrame({"hypothesis": problems["p0"].hypotheses, "prior": [0.5, 0.3, 0.2]})
    prior.to_csv(tmp_path / "prior.csv", index=False)
    features = {
        column: {name: own[column].to_numpy()[::-1] for name, own in cost.groupby("problem")}
        for column in ("cost", "edge")
    }
    family = people.Family(
        depth=2, lapse=0.05, features=features, weights=(-2.0, 2.0), inner_rationality=(0.5, 3.0),
        prior_temperature=(0.0, 2.0), other=1, literal="truth",
    )  # fmt: skip
    expected = people.fit(
        study / "choices.csv",
        problems,
        family,
        None,
        priors={name: [0.5, 0.3, 0.2] for name in problems},
        intervals=None,
    )
    result = run(
        "fit", study / "choices.csv", "-p", study / "problems", "--depth", "2", "--lapse", "0.05",
        "--features", tmp_path / "cost.csv", "--weights", "-2:2", "--inner-rationality", "0.5:3",
        "--prior-temperature", "0:2", "--priors", tmp_path / "prior.csv", "--other", "1",
        "--literal", "truth", "--by", "none", "--no-loo", "--json", "--out", tmp_path / "out",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    found = json.loads(result.stdout)["estimates"][0]
    for name in family.free_names(2):
        assert found[name] == pytest.approx(expected.estimates[name][0]), name
    assert {"cost", "edge", "inner_rationality", "prior_temperature"} < set(family.free_names(2))
    command = (tmp_path / "out" / "index.html").read_text(encoding="utf-8")
    assert "--weights -2:2" in command
    assert "--json" not in command


def test_tables_of_numbers_name_what_is_missing(run, study, tmp_path):
    rows = {
        "datum,cost\n0,1\n1,2\n": "0 rows for datum '2'",
        "datum,cost\n0,1\n0,2\n1,1\n2,1\n3,1\n4,1\n5,1\n": "2 rows for datum '0'",
        "datum,cost\n0,1\n1,cheap\n2,1\n3,1\n4,1\n5,1\n": "row 2 of the features, column 'cost'",
        "item,cost\n0,1\n": "columns 'item', 'cost'. hint: it needs 'datum'",
        "datum,cost\nx,1\n": "no datum called 'x'",
    }
    for text, message in rows.items():
        (tmp_path / "cost.csv").write_text(text, encoding="utf-8")
        result = run(
            "fit", study / "choices.csv", "-p", study / "problems", "-o", tmp_path / "out",
            "--features", tmp_path / "cost.csv",
        )  # fmt: skip
        assert result.exit_code == 2
        assert message in " ".join(result.stderr.split())


def test_json_is_for_programs(run, study, tmp_path):
    result = run(
        "fit", study / "choices.csv", "-p", study / "problems", "--depth", "1", "--by", "none",
        "--lapse", "0.05", "--no-loo", "--json", "-o", tmp_path / "out",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    content = json.loads(result.stdout)
    assert content["estimates"][0]["lapse"] == 0.05
    assert content["estimates"][0]["num_choices"] == 48


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--depth", "one"], "'one' is not a number"),
        (["--depth", "-1"], "neither an integer"),
        (["--lapse", "0:2"], "lapse is"),
        (["--by", "age"], "no column 'age'"),
        (["--response", "speech"], "is not one of"),
        (["--other", "friend"], "'friend' is not a number"),
        (["--features", "none.csv"], "none.csv"),
    ],
)
def test_bad_options_are_one_line(run, study, tmp_path, options, message):
    result = run(
        "fit", study / "choices.csv", "-p", study / "problems", "-o", tmp_path / "out", *options
    )
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert "Traceback" not in result.stderr


def test_without_repeats_it_fits_what_the_library_fits(run, study, tmp_path):
    files = sorted((study / "problems").glob("*.csv"))
    tasks = {file.stem: cb.without_repeats(cb.read_model(file)) for file in files}
    truth = {"depth": 1, "rationality": 3.0, "lapse": 0.05}
    choices = people.simulate(truth, tasks, num_people=3, num_rounds=4, rng=2)
    choices.to_csv(tmp_path / "choices.csv", index=False)
    family = people.Family(depth=[1], rationality=(0.0, 20.0), lapse=0.05)
    expected = people.fit(choices, tasks, family)
    result = run(
        "fit", tmp_path / "choices.csv", "-p", study / "problems", "--depth", "1",
        "--lapse", "0.05", "--no-repeats", "--no-loo", "--json", "-o", tmp_path / "out",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    assert json.loads(result.stdout)["log_likelihood"] == pytest.approx(expected.log_likelihood)
    assert "--no-repeats" in (tmp_path / "out" / "index.html").read_text(encoding="utf-8")


def test_a_repeated_choice_is_an_error_if_lessons_have_no_repeats(run, tmp_path):
    (tmp_path / "matrix.csv").write_text(",x,y\na,0.8,0.3\nb,0.2,0.7\n", encoding="utf-8")
    rows = ["person,problem,round,hypothesis,datum", "1,1,1,x,a", "1,1,2,x,a"]
    (tmp_path / "choices.csv").write_text("\n".join(rows), encoding="utf-8")
    arguments = ("fit", tmp_path / "choices.csv", "-p", tmp_path / "matrix.csv", "--no-loo")
    assert run(*arguments, "-o", tmp_path / "out").exit_code == 0
    refused = run(*arguments, "--no-repeats", "-o", tmp_path / "out")
    assert refused.exit_code != 0
    assert "row 2 of the table: datum 'a' is not available" in refused.stderr


def test_zeros_of_problems_can_be_smoothed(run, tmp_path):
    (tmp_path / "matrix.csv").write_text(",x,y\na,0.8,0\nb,0.2,1\n", encoding="utf-8")
    rows = ["person,problem,round,hypothesis,datum", "1,1,1,x,a", "2,1,1,y,a"]
    (tmp_path / "choices.csv").write_text("\n".join(rows), encoding="utf-8")
    result = run(
        "fit", tmp_path / "choices.csv", "-p", tmp_path / "matrix.csv", "--smooth", 0.1,
        "--depth", 1, "--lapse", 0, "--no-loo", "--json", "-o", tmp_path / "out",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    smoothed, family = cb.smooth([[0.8, 0.0], [0.2, 1.0]], 0.1), people.Family(depth=1, lapse=0.0)
    table = {"person": [1, 2], "round": [1, 1], "hypothesis": [0, 1], "datum": [0, 0]}
    expected = people.fit(table, smoothed, family).log_likelihood
    assert json.loads(result.stdout)["log_likelihood"] == pytest.approx(expected)


def test_missing_files_are_named(run, study, tmp_path):
    result = run("fit", tmp_path / "none.csv", "-p", study / "problems")
    assert result.exit_code == 2
    assert "none.csv" in result.stderr


def test_errors_about_one_problem_for_all_do_not_name_it(run, study, tmp_path):
    table = pd.read_csv(study / "choices.csv").astype({"datum": str})
    table.loc[2, "datum"] = "nothing"
    table.to_csv(tmp_path / "choices.csv", index=False)
    result = run("fit", tmp_path / "choices.csv", "--problems", study / "problems" / "p0.csv")
    assert result.exit_code == 2
    assert "column 'datum': there is no datum called 'nothing'" in result.stderr


def test_the_error_about_a_missing_file_names_a_similar_file(run, study):
    result = run("fit", study / "choices", "--problems", study / "problems")
    assert result.exit_code == 2
    assert "did you mean choices.csv?" in result.stderr


@pytest.mark.parametrize("name", ["fit.csv", "trials.csv", "comparison.csv"])
def test_the_table_that_is_read_is_not_overwritten(run, study, tmp_path, name):
    path = tmp_path / name
    path.write_bytes((study / "choices.csv").read_bytes())
    for choices, problems in ((path, study / "problems"), (study / "choices.csv", path)):
        result = run("fit", choices, "-p", problems, "-o", tmp_path)
        assert result.exit_code == 2
        assert f"--out would overwrite {path}" in result.stderr
    result = run("fit", path, "-p", study / "problems", "-o", path)
    assert (result.exit_code, "needs a folder" in result.stderr) == (2, True)
    assert path.read_bytes() == (study / "choices.csv").read_bytes()


def test_labels_that_a_spreadsheet_would_run_are_guarded_and_read_back(run, tmp_path):
    (tmp_path / "m.csv").write_text(",h,g\n'=1+1,0.8,0.3\n'@b,0.2,0.7\n", encoding="utf-8")
    rows = ["person,round,hypothesis,datum", "-me,0,h,=1+1", "-me,1,h,=1+1", "you,0,g,@b"]
    (tmp_path / "choices.csv").write_text("\n".join(rows), encoding="utf-8")
    options = ("-p", tmp_path / "m.csv", "--depth", "1", "--no-loo")
    result = run("fit", tmp_path / "choices.csv", *options, "-o", tmp_path / "a")
    assert result.exit_code == 0, result.stderr
    text = (tmp_path / "a" / "trials.csv").read_text(encoding="utf-8")
    assert "'=1+1" in text
    assert "'-me" in (tmp_path / "a" / "fit.csv").read_text(encoding="utf-8")
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "again.csv").write_text(text, encoding="utf-8")
    result = run("fit", tmp_path / "b" / "again.csv", *options, "-o", tmp_path / "c")
    assert result.exit_code == 0, result.stderr
    assert "'=1+1" in (tmp_path / "c" / "trials.csv").read_text(encoding="utf-8")


def test_columns_may_have_other_names(run, study, tmp_path):
    own = {"person": "subject", "datum": "answer"}
    table = pd.read_csv(study / "choices.csv", dtype=str)
    table["person"] = "0" + table["person"]  # a label, whatever its column is called
    table.rename(columns=own).to_csv(tmp_path / "own.csv", index=False)
    arguments = ("fit", tmp_path / "own.csv", "-p", study / "problems", "--depth", "1", "--no-loo")
    result = run(*arguments, "--columns", "person=subject, datum=answer", "-o", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    people_found = pd.read_csv(tmp_path / "out" / "fit.csv", dtype=str)["person"]
    assert list(people_found) == ["01", "02", "03"]
    for names, message in (
        ("person=subjet", "did you mean 'subject'"),
        ("person", "expected NAME=VALUE"),
    ):
        assert message in run(*arguments, "--columns", names, "-o", tmp_path / "no").stderr
