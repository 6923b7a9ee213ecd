"""Matrices from classifiers."""

import numpy as np
import pandas as pd
import pytest

import cobayes as cb


class Fitted:
    """What the adapter needs of a fitted classifier: a threshold with some noise."""

    classes_ = np.array(["no", "yes"])

    def __init__(self, threshold):
        self.threshold = threshold

    def predict_proba(self, points):
        chance = 1.0 / (1.0 + np.exp(-4.0 * (np.asarray(points)[:, 0] - self.threshold)))
        return np.column_stack([1.0 - chance, chance])


POINTS = np.linspace(0.0, 3.0, 7)[:, None]
CLASSIFIERS = {"low": Fitted(0.7), "middle": Fitted(1.5), "high": Fitted(2.3)}


def test_entries_are_the_predicted_probabilities():
    model = cb.model_from_classifiers(CLASSIFIERS, POINTS)
    assert model.hypotheses == ("low", "middle", "high")
    assert model.data[:2] == ("0: no", "0: yes")
    expected = CLASSIFIERS["high"].predict_proba(POINTS)[3, 1]
    assert model.matrix[model.datum_index("3: yes"), 2] == pytest.approx(expected)


def test_a_frame_reaches_the_classifiers_as_it_is_and_its_index_names_the_points():
    seen = []

    class Fussy(Fitted):
        def predict_proba(self, points):
            seen.append(list(points.columns))
            return super().predict_proba(points)

    frame = pd.DataFrame(POINTS[:2], columns=["size"], index=["ann", "bob"])
    model = cb.model_from_classifiers([Fussy(1.0), Fussy(2.0)], frame)
    assert model.data == ("ann: no", "ann: yes", "bob: no", "bob: yes")
    assert seen == [["size"], ["size"]]


def test_whole_numbers_are_labels_without_a_point():
    tree = Fitted(1.0)
    tree.classes_ = np.array([0.0, 1.0])
    assert cb.model_from_classifiers([tree, tree], POINTS[:1]).data == ("0: 0", "0: 1")


def test_known_labels_make_each_point_one_datum():
    labels = np.where(POINTS[:, 0] > 1.5, "yes", "no")
    model = cb.model_from_classifiers(CLASSIFIERS, POINTS, true_labels=labels, names="abcdefg")
    assert model.data == ("a: no", "b: no", "c: no", "d: no", "e: yes", "f: yes", "g: yes")


def test_the_best_examples_enclose_the_threshold():
    model = cb.model_from_classifiers(CLASSIFIERS, POINTS)
    plan = cb.plan_lesson(cb.BI(cb.without_repeats(model)), "middle", 2, look_ahead=2)
    shown = {label.split(": ")[1] for label in plan.data_labels}
    assert shown == {"no", "yes"}
    assert plan.beliefs[-1, 1] > 0.7


def test_the_data_of_a_plan_are_rows_of_the_points_where_true_labels_are_given():
    labels = np.where(POINTS[:, 0] > 1.5, "yes", "no")
    model = cb.model_from_classifiers(CLASSIFIERS, POINTS, true_labels=labels, smallest=1e-9)
    reader = cb.Pragmatic(model, 0, literal="truth")
    plan = cb.plan_lesson(cb.BI(cb.without_repeats(model)), "middle", 3, learner_rule=reader)
    assert plan.data_labels == tuple(f"{row}: {labels[row]}" for row in plan.data)
    # Such a reader believes what a Bayesian reader of all points with all labels believes.
    every = cb.Learner(cb.BI(cb.model_from_classifiers(CLASSIFIERS, POINTS, smallest=1e-9)))
    for label in plan.data_labels:
        every.observe(label)
    np.testing.assert_allclose(plan.beliefs[-1], every.belief, rtol=1e-7)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([Fitted(1.0)], POINTS), "expected at least two"),
        ((Fitted(1.0), POINTS), "are one Fitted; expected several"),
        (([Fitted(1.0), object()], POINTS), "is not fitted"),
        ((CLASSIFIERS, POINTS[:0]), "with at least one point"),
        ((CLASSIFIERS, POINTS[:, 0]), "expected \\(points, features\\)"),
    ],
)
def test_bad_input_gets_one_clear_error(arguments, message):
    with pytest.raises(cb.CobayesError, match=message):
        cb.model_from_classifiers(*arguments)


def test_labels_are_checked():
    with pytest.raises(cb.CobayesError, match="6 true labels were given for 7 points"):
        cb.model_from_classifiers(CLASSIFIERS, POINTS, true_labels=["no"] * 6)
    with pytest.raises(cb.CobayesError, match="knows the label 'maybe'"):
        cb.model_from_classifiers(CLASSIFIERS, POINTS, true_labels=["maybe"] * 7)
    frame = pd.DataFrame(POINTS, index=list("abcdefg"))
    labels = pd.Series(["no"] * 4 + ["yes"] * 3, index=frame.index)
    aligned = cb.model_from_classifiers([Fitted(1.0), Fitted(2.0)], frame, true_labels=labels)
    assert aligned.data[0] == "a: no"
    with pytest.raises(cb.CobayesError, match="index of true_labels differs"):
        cb.model_from_classifiers(CLASSIFIERS, frame, true_labels=labels[::-1])
    odd = Fitted(1.0)
    odd.classes_ = np.array(["no", "perhaps"])
    with pytest.raises(cb.CobayesError, match="knows the classes"):
        cb.model_from_classifiers([Fitted(1.0), odd], POINTS)


@pytest.mark.parametrize(
    ("points", "options"),
    [
        ([[1.0], [1.0, 2.0]], {}),
        (POINTS, {"true_labels": 3}),
        (POINTS, {"true_labels": [["no"], ["no", "yes"]] + ["no"] * 5}),
        (POINTS, {"names": 3}),
        (POINTS, {"smallest": "small"}),
    ],
)
def test_values_of_the_wrong_kind_are_clear_errors(points, options):
    with pytest.raises(cb.CobayesError):
        cb.model_from_classifiers(CLASSIFIERS, points, **options)
