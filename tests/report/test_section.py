"""Sections: described numbers, words with values, and the context of a builder."""

import numpy as np
import pandas as pd
import pytest

from cobayes.errors import CobayesError
from cobayes.report.section import Context, Picture, Recipe, Table, data_frame, written_section
from cobayes.runs import Experiment, Point


def shard(parameters, seed_sequence, num_samples):
    return {"count": num_samples, "word": int(seed_sequence.generate_state(1)[0])}


def experiment(name="count"):
    return Experiment(name, (Point("p", {}, 4, 2),), shard)


def test_numbers_keep_their_bits_and_descriptions(tmp_path):
    frame = data_frame(
        "Some numbers",
        ("family", ["n × 2", "square"], "a family"),
        ("samples", [10**10, 2], "number of samples"),
        ("value", [0.1 + 0.2, np.nan], "a value, in nats per round"),
    )
    assert frame.attrs["title"] == "Some numbers"
    assert frame.attrs["columns"]["value"] == "a value, in nats per round"
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    again = pd.read_csv(tmp_path / "numbers.csv")
    pd.testing.assert_frame_equal(again, frame, check_exact=True)


def test_columns_of_different_lengths_are_an_error():
    with pytest.raises(ValueError, match="length"):
        data_frame("t", ("a", [1], "a"), ("b", [1, 2], "b"))


TEXT = """# Mine

There are {{ n }}.

![alt](p "caption")

Table: Counts of
everything.
| n | m |
|---|---|
| {{ n }} |  |

## Sizes

all of
it

## Numbers: d

Some numbers

- `x`: an x
- `P value`: a probability
"""


def test_a_text_becomes_words_pictures_tables_sizes_and_numbers():
    frame = pd.DataFrame({"x": [1.0], "other": [2.0], "P value": [0.5]})
    section = written_section(TEXT, values={"n": 3}, figures={"p": "<b>"}, data={"d": frame})
    table = Table("Counts of everything.", ("n", "m"), (("3", ""),))
    assert section.title == "Mine"
    assert section.blocks == ("There are 3.", Picture("p", "<b>", "caption", "alt"), table)
    assert section.sizes == "all of it"
    described = {"x": "an x", "P value": "a probability"}
    assert list(section.data["d"].columns) == list(described)
    assert section.data["d"].attrs == {"title": "Some numbers", "columns": described}


def test_words_and_parts_must_fit_each_other():
    text = TEXT.partition("Table")[0]
    for values, figures, message in (
        ({}, {"p": "<b>"}, "name without a value"),
        ({"n": 3}, {}, "the figure 'p' of '# Mine' is not given"),
        (
            {"n": 3},
            {"p": "<b>", "more": "<b>"},
            "the figure 'more' of '# Mine' does not occur in the text",
        ),
    ):
        with pytest.raises(CobayesError, match=message):
            written_section(text, values=values, figures=figures)
    frame = pd.DataFrame({"other": [1.0]})
    for data, message in (({}, "the data 'd' of '# Mine'"), ({"d": frame}, "no column 'x'")):
        with pytest.raises(CobayesError, match=message):
            written_section(TEXT, values={"n": 3}, figures={"p": "<b>"}, data=data)
    with pytest.raises(CobayesError, match="expected '# Heading'"):
        written_section("no heading", values={})


def test_a_context_scales_counts_and_seeds_by_name(tmp_path):
    first, second = (Context(name, 0.01, 1, tmp_path) for name in ("a", "b"))
    assert first.count(10_000) == 100
    assert first.count(10_000, at_least=200) == 200
    assert first.count(10_000, quick=7) == 100
    assert Context("a", 0.01, 1, tmp_path, is_quick=True).count(10_000, quick=7) == 7
    assert first.rng().random() == Context("a", 1.0, 1, tmp_path).rng().random()
    assert first.rng().random() != second.rng().random()


def test_fresh_deletes_a_shared_experiment_once(tmp_path):
    states = []
    options = {"jobs": 1, "progress": states.append}
    Context("a", 1.0, 1, tmp_path / "a", options=options).run(experiment())
    assert states
    deleted = set()
    counts = []
    for name in ("a", "b"):
        states.clear()
        context = Context(name, 1.0, 1, tmp_path / name, options=options, fresh=True)
        context._deleted = deleted
        context.run_all([(experiment(), "count"), (experiment("other"), name)])
        counts.append(max(state.num_done for state in states))
    assert counts == [4, 2]  # the second section found the shared run complete


def test_a_recipe_needs_a_name_that_is_a_folder():
    for name in ("../mine", "Mine", "", "runs", "-x"):
        with pytest.raises(CobayesError, match="a section is named"):
            Recipe(name, "", experiment)


def test_settings_have_the_type_of_their_defaults_and_unknown_ones_are_refused(tmp_path):
    context = Context("mine", 1.0, 1, tmp_path, settings={"radius": "0.2", "count": "x", "odd": 1})
    assert context.setting("radius", 0.07) == 0.2
    assert context.setting("rounds", 3) == 3
    with pytest.raises(CobayesError, match="count is 'x'; expected a positive integer"):
        context.setting("count", 5)
    for wrong in (2.7, True, None, 0):
        with pytest.raises(CobayesError, match=f"count is {wrong}; expected a positive integer"):
            Context("mine", 1.0, 1, tmp_path, settings={"count": wrong}).setting("count", 5)
    with pytest.raises(CobayesError, match="mine has no setting 'odd'") as caught:
        context.run(experiment())
    assert caught.value.hint == "its settings are radius=0.07, rounds=3, count=5."
