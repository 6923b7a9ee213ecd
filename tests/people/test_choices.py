"""Invalid tables raise one clear error that names row and column."""

import numpy as np
import pandas as pd
import pytest

import cobayes as cb
from cobayes import people
from cobayes.people.choices import read_choices, read_numbers, read_problems

PROBLEMS = {
    "leaf": cb.Model([[3.0, 1.0], [1.0, 2.0], [1.0, 1.0]], ["x", "y", "z"], ["oak", "elm"]),
    "coin": [[0.9, 0.5], [0.1, 0.5]],
}


def rows(**changes):
    columns = {
        "person": ["a", "a", "a", "b"],
        "problem": ["leaf", "leaf", "coin", "coin"],
        "round": [1, 2, 1, 1],
        "hypothesis": ["oak", "oak", 1, 0],
        "datum": ["x", "y", 0, 1],
    }
    return pd.DataFrame(columns | changes)


def read(table, response="choice"):
    return read_choices(table, read_problems(PROBLEMS), response)


def histories(found):
    return [found.situations.histories[place] for place in found.situations.at]


def test_histories_hold_the_data_shown_before_in_the_lesson():
    found = read(rows())
    assert histories(found) == [(), (0,), (), ()]
    assert found.datum.tolist() == [0, 1, 0, 1]
    shuffled = read(rows().iloc[[1, 3, 0, 2]])
    assert histories(shuffled) == [(0,), (), (), ()]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"datum": ["x", "q", 0, 1]}, r"row 2 .* column 'datum', problem 'leaf': .*called 'q'"),
        ({"datum": ["x", "y", 7, 1]}, r"row 3 .* no datum called '7'"),
        ({"hypothesis": ["oak", "oak", 1, "ash"]}, r"row 4 .* column 'hypothesis'"),
        ({"problem": ["leaf", "leaf", "coin", "tree"]}, r"row 4 .* no problem 'tree'"),
        ({"round": [1, 1, 1, 1]}, r"row 2 .* round 1 of person 'a' .* occurs twice"),
        ({"round": [1, None, 1, 1]}, r"row 2 .* column 'round': the cell is empty"),
        ({"round": [1, "two", 1, 1]}, r"row 2 .* column 'round': 'two' is not a number"),
        ({"round": ["1", "nan", 1, 1]}, r"row 2 .* column 'round': 'nan' is not a number"),
        ({"hypothesis": ["oak", "elm", 1, 0]}, r"row 2 .* the truth changes within a lesson"),
    ],
)
def test_errors_name_row_and_column(changes, message):
    with pytest.raises(cb.CobayesError, match=message):
        read(rows(**changes))


def test_a_missing_column_is_named():
    with pytest.raises(cb.CobayesError, match="no column 'datum'"):
        read(rows().drop(columns="datum"))
    with pytest.raises(cb.CobayesError, match="no column 'guess'"):
        read(rows(), "guess")
    with pytest.raises(cb.CobayesError, match="the table has no rows"):
        read(rows().iloc[:0])


def test_ratings_lie_between_0_and_1_and_several_hypotheses_share_a_round():
    table = pd.DataFrame(
        {
            "person": "a",
            "problem": "leaf",
            "round": [1, 1, 2],
            "datum": ["x", "x", "y"],
            "hypothesis": ["oak", "elm", "oak"],
            "rating": [0.7, 0.3, 0.8],
        }
    )
    assert histories(read(table, "rating")) == [(), (), (0,)]
    with pytest.raises(cb.CobayesError, match=r"row 1 .* '?70.0'? is not a number between 0 and 1"):
        read(table.assign(rating=[70.0, 30.0, 80.0]), "rating")


def test_rounds_may_start_from_0():
    from_0, from_1 = (
        people.score(rows(round=own), PROBLEMS) for own in ([0, 1, 0, 0], [1, 2, 1, 1])
    )
    pd.testing.assert_frame_equal(from_0.drop(columns="round"), from_1.drop(columns="round"))


def test_a_column_lesson_allows_a_problem_to_occur_twice():
    table = rows().iloc[[0, 0]].assign(lesson=[1, 2])
    assert histories(read(table)) == [(), ()]


def test_rounds_that_are_trial_numbers_raise_a_warning():
    with pytest.warns(cb.CobayesWarning, match="seems to contain trial numbers"):
        found = read(rows(round=[4, 5, 6, 1]))
    assert histories(found) == [(), (0,), (), ()]
    # There is no warning if every trial is a separate problem, or if lessons are numbered.
    read(rows(round=[4, 5, 6, 1]).iloc[1:])
    read(rows(round=[4, 5, 6, 1], lesson=[1, 1, 2, 1]))


def test_a_gap_between_rounds_is_a_warning_that_asks_for_lessons():
    trials = rows(round=[3, 7, 5, 6])
    with pytest.warns(cb.CobayesWarning, match="person 'a' on problem 'leaf' has round 7 but not"):
        assert histories(read(trials)) == [(), (0,), (), ()]
    assert histories(read(trials.assign(lesson=trials["round"]))) == [(), (), (), ()]


def test_a_lesson_without_its_first_round_is_a_warning():
    table = pd.concat([rows().iloc[[0, 1]].assign(lesson=k) for k in (1, 2)])
    read(table)
    with pytest.warns(cb.CobayesWarning, match="has round 2 but not the round before"):
        found = read(table.iloc[[0, 1, 3]])
    assert histories(found) == [(), (0,), ()]


@pytest.mark.parametrize("removed", [[0], [0, 2]])
def test_a_first_round_that_is_missing_is_a_warning_with_one_lesson_per_person(removed):
    table = rows(person=["a", "a", "b", "b"], problem="leaf", round=[1, 2, 1, 2])
    table = table.assign(hypothesis="oak", datum="x")
    read(table)
    with pytest.warns(cb.CobayesWarning, match=f"lessons with missing rounds: {len(removed)}"):
        read(table.drop(index=removed))


def test_choices_come_from_csv_files_and_problems_from_a_folder(tmp_path):
    rows().assign(mood="good").to_csv(tmp_path / "choices.csv", index=False)
    folder = tmp_path / "problems"
    folder.mkdir()
    for name, matrix in PROBLEMS.items():
        cb.Model(matrix).to_dataframe().to_csv(folder / f"{name}.csv")
    found = people.score(tmp_path / "choices.csv", folder, depth=1)
    assert found["mood"].tolist() == ["good"] * 4
    assert np.isfinite(found["log_likelihood"]).all()
    with pytest.raises(cb.CobayesError, match="no file"):
        people.score(tmp_path / "none.csv", folder)


def test_one_problem_needs_no_column():
    table = {"person": ["a"], "round": [1], "hypothesis": ["oak"], "datum": ["x"]}
    assert len(people.score(table, PROBLEMS["leaf"])) == 1


def test_an_error_in_one_of_several_problems_names_it():
    with pytest.raises(cb.CobayesError, match=r"problem 'bark': the matrix .* NaN is a missing"):
        read_problems({"leaf": PROBLEMS["leaf"], "bark": [[np.nan, 1.0], [1.0, 1.0]]})


def test_priors_of_unknown_problems_are_refused():
    with pytest.raises(cb.CobayesError, match="the priors name 'leaff', but no problem has that"):
        people.score(rows(), PROBLEMS, priors={"leaff": [0.5, 0.5]})


@pytest.mark.parametrize("priors", [[0.2, 0.8], np.array([0.2, 0.8]), 0.5])
def test_priors_without_a_problem_are_refused(priors):
    with pytest.raises(cb.CobayesError, match="expected a mapping from problem to prior") as found:
        people.score(rows(), PROBLEMS, priors=priors)
    assert "priors={'leaf': ...}" in str(found.value)


def test_priors_of_all_problems_may_be_one_table(tmp_path):
    table = pd.DataFrame({"problem": "leaf", "hypothesis": ["elm", "oak"], "prior": [0.2, 0.8]})
    for given in (table, table.drop(columns="problem")):
        expected = {"leaf": [0.8, 0.2]}
        problems = {"leaf": PROBLEMS["leaf"]}
        own = rows().iloc[:2]
        found = people.score(own, problems, priors=given)
        pd.testing.assert_frame_equal(found, people.score(own, problems, priors=expected))
    table.to_csv(tmp_path / "priors.csv", index=False)
    with pytest.warns(cb.CobayesWarning, match="no prior for 'coin': uniform"):
        found = read_problems(PROBLEMS, tmp_path / "priors.csv")
    assert found["leaf"].prior == pytest.approx([0.8, 0.2])
    assert found["coin"].prior == pytest.approx([0.5, 0.5])
    with pytest.raises(cb.CobayesError, match="columns 'problem', 'hypothesis', 'odds'"):
        read_problems(PROBLEMS, table.rename(columns={"prior": "odds"}))
    with pytest.raises(cb.CobayesError, match="the table of priors has the columns") as found:
        read_problems(PROBLEMS, table.rename(columns={"hypothesis": "object"}))
    assert "'hypothesis', 'prior'" in str(found.value)
    with pytest.raises(cb.CobayesError, match="row 2 of the priors, column 'hypothesis'"):
        read_problems(PROBLEMS, table.assign(hypothesis=["elm", "ash"]))
    found = read_problems({"leaf": PROBLEMS["leaf"]}, table.assign(order=[1, 2], note="x"))
    assert found["leaf"].prior == pytest.approx([0.8, 0.2])


def test_one_matrix_serves_every_problem_that_the_priors_name(tmp_path):
    leaf = PROBLEMS["leaf"]
    expected = {"one": [0.8, 0.2], "two": [0.5, 0.5], "three": [0.1, 0.9]}
    table = pd.concat(
        pd.DataFrame({"problem": name, "hypothesis": leaf.hypotheses, "prior": prior})
        for name, prior in expected.items()
    )
    leaf.to_csv(tmp_path / "leaf.csv")
    for matrix in (leaf, tmp_path / "leaf.csv"):
        for priors in (expected, table):
            found = read_problems(matrix, priors)
            assert {name: own.prior.tolist() for name, own in found.items()} == expected
    with pytest.raises(cb.CobayesError, match="no problem 'leaf'"):
        people.score(rows().iloc[:2], leaf, priors=table)
    single = {"person": ["a"], "round": [1], "hypothesis": ["oak"], "datum": ["x"]}
    assert people.score(single, leaf, priors=table[:2])["belief"].item() == pytest.approx(0.8)
    costs = pd.DataFrame({"problem": ["one", "two"], "datum": "x", "cost": 1.0})
    with pytest.raises(cb.CobayesError, match="the features name 2 problems, but one matrix"):
        read_numbers(costs, read_problems(leaf), "datum")


def test_a_number_is_a_position_only_if_no_label_is_a_number():
    problems = {"p": cb.Model([[0.5, 0.2], [0.3, 0.2], [0.2, 0.6]], ["1", "2", "3"], ["h", "g"])}
    table = {"person": "a", "problem": "p", "round": [1, 2], "hypothesis": 1, "datum": [2, 0]}
    with pytest.raises(cb.CobayesError, match=r"row 2 .* no datum called '0'") as found:
        people.score(table, problems)
    assert "the labels are '1', '2', '3'; does the table count from another" in str(found.value)
    table["datum"] = [2, 3]
    assert people.score(table, problems)["hypothesis"].tolist() == [1, 1]


def test_a_table_of_another_response_is_recognised():
    table = rows(round=1, lesson=1, rating=0.5, person="bob")
    with pytest.raises(cb.CobayesError, match=r"occurs twice.[\s\S]*response='rating' \(--resp"):
        read(table)
    with pytest.raises(cb.CobayesError, match=r"no column 'hyp[\s\S]*response='guess' \(--resp"):
        read(table.rename(columns={"hypothesis": "guess"}).drop(columns="rating"))


def test_a_table_that_looks_like_counts_gets_a_hint_about_the_column_count():
    table = {"problem": ["leaf"], "hypothesis": ["oak"], "datum": ["x"], "freq": [12]}
    with pytest.raises(cb.CobayesError, match="--columns count=freq --by none"):
        read(table)


def test_errors_name_the_row_of_a_table_of_counts():
    table = pd.DataFrame({"problem": "leaf", "hypothesis": "oak", "datum": ["x", "y", "q"]})
    table = table.assign(count=[40, 10, 30], age=[1.0, 2.0, np.nan])
    with pytest.raises(cb.CobayesError, match="row 3 of the table, column 'datum'"):
        read(table)
    with pytest.raises(cb.CobayesError, match="row 3 of the table, column 'age': the cell is emp"):
        people.fit(table.assign(datum="x"), PROBLEMS, by="age")


def test_a_table_of_counts_needs_neither_persons_nor_rounds():
    counts = pd.DataFrame(
        {"problem": "leaf", "hypothesis": "oak", "datum": ["x", "y", "z"], "count": [3, 0, 2]}
    )
    single = pd.DataFrame(
        {
            "person": [f"p{i}" for i in range(5)],
            "problem": "leaf",
            "round": 1,
            "hypothesis": "oak",
            "datum": ["x", "x", "x", "z", "z"],
        }
    )
    family = people.Family(depth=(0, 1))
    found = people.fit(counts, PROBLEMS, family, by=None)
    expected = people.fit(single, PROBLEMS, family, by=None)
    pd.testing.assert_frame_equal(found.estimates, expected.estimates)
    assert found.estimates["num_choices"].item() == found.trials["count"].sum() == 5
    with pytest.raises(cb.CobayesError, match="no column 'person' to fit by"):
        people.fit(counts, PROBLEMS, family)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": [1.5, 1]}, "row 1 .* column 'count': 1.5 is not an integer >= 0"),
        ({"count": [0, 0]}, "the counts sum to 0; expected"),
        ({"count": [10**12, 1]}, "the counts sum to 1,000,000,000,001; expected 1 to"),
        ({"count": [1, 1], "round": [1, 2]}, "but does not say which data came before"),
    ],
)
def test_invalid_counts_are_refused(changes, message):
    table = {"problem": ["leaf"] * 2, "hypothesis": ["oak"] * 2, "datum": ["x", "y"], **changes}
    with pytest.raises(cb.CobayesError, match=message):
        read(table)


@pytest.mark.parametrize("column", ["person", "problem", "datum", "round"])
def test_lists_in_cells_are_refused(column):
    table = rows()
    table[column] = [[1], [2], [3], [4]]
    with pytest.raises(
        cb.CobayesError, match=rf"row 1 .* column '{column}': the cell holds .*expected one value"
    ):
        read(table)


def test_two_columns_with_the_same_name_are_refused():
    table = rows()
    table.insert(0, "datum", ["x"] * 4, allow_duplicates=True)
    with pytest.raises(cb.CobayesError, match="several columns 'datum'"):
        read(table)


@pytest.mark.parametrize("name", ["garbage.parquet", "empty.csv", "garbage.csv"])
def test_files_that_are_not_tables_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"" if name.startswith("empty") else b"\xff\xfe\x00")
    with pytest.raises(cb.CobayesError, match=r"cannot be read|is empty"):
        read(tmp_path / name)
    with pytest.raises(cb.CobayesError, match="is a folder, not a file"):
        read(tmp_path)


def test_ratings_with_decimal_commas_are_read(tmp_path):
    path = tmp_path / "ratings.csv"
    text = "person;problem;round;hypothesis;datum;rating\nann;p;1;0;0;0,8\nann;p;2;0;1;1\n"
    problems = read_problems({"p": [[0.5, 0.2], [0.5, 0.8]]})
    for start, encoding in (("", "utf-8"), ("sep=;\n", "utf-8-sig"), ("", "utf-16")):
        path.write_text(start + text, encoding=encoding)
        with pytest.warns(cb.CobayesWarning, match="decimal commas"):
            found = read_choices(path, problems, response="rating")
        assert found.response.tolist() == [0.8, 1.0]


def test_thousands_are_not_read_as_fractions():
    problems = read_problems({"p": [[0.5, 0.2], [0.5, 0.8]]})
    costs = {"datum": ["0", "1"], "cost": ["1,200", "2,400"]}
    with pytest.raises(cb.CobayesError, match="write 1200 if the comma separates thousands"):
        read_numbers(costs, problems, "datum")


def test_label_with_a_lone_surrogate_is_refused():
    table = pd.DataFrame(
        {
            "person": pd.Series(["\ud800"], dtype=object),
            "problem": "q",
            "round": 1,
            "hypothesis": 0,
            "datum": 0,
        }
    )
    with pytest.raises(cb.CobayesError, match="not Unicode text"):
        cb.people.score(table, {"q": [[1.0, 2.0], [2.0, 1.0]]})


def test_a_comma_among_integers_is_not_a_number():
    table = {"problem": ["q", "q"], "hypothesis": 0, "datum": 0, "count": [1, ","]}
    with pytest.raises(cb.CobayesError, match="',' is not a number"):
        cb.people.score(table, {"q": [[1.0, 2.0], [2.0, 1.0]]})


@pytest.mark.parametrize(
    ("problems", "message"), [({}, "no problems were given"), ("folder", "holds no model file")]
)
def test_missing_problems_raise_a_clear_error(problems, message, tmp_path):
    with pytest.raises(cb.CobayesError, match=message):
        read_problems(tmp_path if problems == "folder" else problems)


def test_objects_and_files_that_are_not_tables_raise_a_clear_error(tmp_path):
    with pytest.raises(cb.CobayesError, match="3 cannot be read as a table"):
        read(3)
    (tmp_path / "choices.csv").write_text('person,datum\na,"x\nb', encoding="utf-8")
    with pytest.raises(cb.CobayesError, match="cannot be read as a table"):
        read(tmp_path / "choices.csv")
