"""The built-in examples: names, numbers, and the promises that they make."""

import pickle
from html import escape

import numpy as np
import pytest

import cobayes as cb

PAPER_NAMES = ["M_1", "M_2", "M_3", "M_4", "M_5", "M'_1", "M'_2", "M'_3"]


def test_iterating_gives_the_names_and_each_name_gives_its_example():
    names = list(cb.examples)
    assert len(names) == len(cb.examples) == len(set(names))
    assert {"supplement-2x2", "grid-world", "number-game", "diagnosis", "gestures"} <= set(names)
    assert set(PAPER_NAMES) <= set(names)
    for name, example in cb.examples.items():
        assert example.name == name
        assert cb.examples[name].model == example.model


@pytest.mark.parametrize("name", list(cb.examples))
def test_every_example_fulfils_the_assumptions_and_is_documented(name):
    example = cb.examples[name]
    assert example.model.check().holds
    assert example.hypothesis in example.model.hypotheses
    assert len(example.title) > 20
    assert len(example.description) > 100
    assert example.priors
    for prior in example.priors.values():
        # Printed priors sum to one up to the last of four digits.
        assert example.model.distribution(prior).min() > 0.0
        assert not prior.flags.writeable
    assert name in repr(example)
    assert escape(example.title) in example._repr_html_()


def test_an_example_can_stand_for_its_matrix_and_be_pickled():
    example = cb.examples["gestures"]
    assert cb.Model(example) == example.model
    assert pickle.loads(pickle.dumps(example)).model == example.model


@pytest.mark.parametrize(
    ("alias", "name"),
    [("M1", "M_1"), ("M5", "M_5"), ("M1p", "M'_1"), ("M3'", "M'_3"), ("M'2", "M'_2")],
)
def test_plain_names_work_in_shells(alias, name):
    assert cb.examples[alias].name == name
    assert alias in cb.examples
    assert alias not in list(cb.examples)


def test_an_unknown_name_is_an_error_that_lists_the_names():
    with pytest.raises(cb.CobayesError, match="no example called 'M_6'") as caught:
        cb.examples["M_6"]
    assert all(repr(name) in caught.value.hint for name in cb.examples)
    assert "M_6" not in cb.examples
    assert cb.examples.get("M_6") is None


@pytest.mark.parametrize("name", [3, None, ["M_1"]])
def test_a_name_that_is_no_text_is_an_unknown_name(name):
    with pytest.raises(cb.CobayesError, match="there is no example called") as caught:
        cb.examples[name]
    assert isinstance(caught.value, KeyError)
    assert name not in cb.examples


def test_changing_what_was_returned_does_not_change_the_library():
    cb.examples["M_1"].priors.clear()
    assert list(cb.examples["M_1"].priors) == [f"theta_{k}" for k in range(1, 6)]


def test_the_supplements_matrix_normalises_to_the_printed_likelihood():
    # Supplement, "An Example on a 2 by 2 Matrix".
    np.testing.assert_allclose(
        cb.examples["supplement-2x2"].model.normalized(), [[0.75, 0.5], [0.25, 0.5]]
    )


@pytest.mark.parametrize("name", PAPER_NAMES)
def test_printed_columns_and_priors_sum_to_one_up_to_four_digits(name):
    example = cb.examples[name]
    np.testing.assert_allclose(example.model.matrix.sum(axis=0), 1.0, atol=1.01e-4)
    for prior in example.priors.values():
        assert abs(prior.sum() - 1.0) < 1.01e-4
    printed = np.concatenate([example.model.matrix.ravel(), *example.priors.values()])
    np.testing.assert_allclose(printed, printed.round(4), rtol=0, atol=0)


def test_printed_digits_are_the_papers():
    # Spot checks against Eqs. (matrix samples) and (prior samples) of the supplement.
    assert cb.examples["M_3"].model.matrix[2].tolist() == [0.1974, 0.3277, 0.0382]
    assert cb.examples["M_5"].model.matrix[:, 1].tolist() == [0.5466, 0.3807, 0.0727]
    assert cb.examples["M'_2"].model.matrix[3].tolist() == [0.2761, 0.0100, 0.1526, 0.2618]
    assert cb.examples["M_2"].priors["theta_4"].tolist() == [0.5955, 0.2995, 0.1051]
    assert cb.examples["M'_1"].priors["theta'_3"].tolist() == [0.4460, 0.4676, 0.0821, 0.0043]


def test_the_grid_worlds_matrix_is_the_papers_up_to_a_factor():
    # Section 6: rows left, up, right; columns A, B; exponents k - 1 and k + 1.
    model = cb.examples["grid-world"].model
    assert (model.data, model.hypotheses) == (("left", "up", "right"), ("A", "B"))
    k, gamma = 5, 0.5
    near, far = gamma ** (k - 1), gamma ** (k + 1)
    printed = np.array([[near, far], [near, near], [far, near]])
    np.testing.assert_allclose(model.matrix * near, printed, rtol=1e-15)


def test_the_number_game_gives_members_of_a_concept_equal_chances_and_others_none():
    model = cb.examples["number-game"].model
    column = model.matrix[:, model.hypothesis_index("powers of 2")]
    members = [number for number in model.data if column[model.datum_index(number)] > 0.0]
    assert members == ["1", "2", "4", "8", "16"]
    np.testing.assert_allclose(column[column > 0.0], 1 / 5)
    np.testing.assert_allclose(model.matrix.sum(axis=0), 1.0)
    primes = model.matrix[:, model.hypothesis_index("primes")] > 0.0
    assert [n for n, is_prime in zip(model.data, primes, strict=True) if is_prime] == (
        ["2", "3", "5", "7", "11", "13", "17", "19"]
    )


def test_the_number_games_description_of_the_first_number_is_true():
    model = cb.examples["number-game"].model
    shown = cb.SCBI(model).teach(model.distribution(), "even")
    assert model.data[int(shown.argmax())] == "14"
    assert 0.2 < shown.max() < 0.3
    others = model.matrix[model.datum_index("14")] > 0.0
    assert [h for h, is_in in zip(model.hypotheses, others, strict=True) if is_in] == (
        ["even", "10 to 20"]
    )


def test_the_reference_game_gives_glasses_its_pragmatic_meaning():
    model = cb.examples["reference-game"].model
    uniform, word, face = model.distribution(), "glasses", model.hypothesis_index("glasses only")
    literal = cb.BI(model).update(uniform, word)
    cooperative = cb.SCBI(model).update(uniform, word)
    assert literal[0] == cooperative[0] == 0.0
    assert cooperative[face] > literal[face] > 0.0
    # In the limit the speaker has one word for each face.
    np.testing.assert_allclose(cooperative, [0.0, 1.0, 0.0], atol=1e-9)


@pytest.mark.parametrize(
    ("name", "hypothesis", "telling"),
    [
        ("diagnosis", "strep throat", "white spots on tonsils"),
        ("gestures", "bowl", "point left"),
        ("grid-world", "A", "left"),
    ],
)
def test_the_cooperative_teacher_shows_telling_data_more_often(name, hypothesis, telling):
    model = cb.examples[name].model
    uniform = model.distribution()
    gain = cb.SCBI(model).teach(uniform, hypothesis) - cb.BI(model).teach(uniform, hypothesis)
    assert model.data[int(gain.argmax())] == telling
    assert gain.max() > 0.05


@pytest.mark.parametrize("name", ["diagnosis", "gestures"])
def test_designed_columns_sum_to_one(name):
    np.testing.assert_allclose(cb.examples[name].model.matrix.sum(axis=0), 1.0, rtol=1e-12)
