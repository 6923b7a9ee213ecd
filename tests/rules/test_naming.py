import numpy as np
import pytest

import cobayes as cb
from cobayes.rules import as_rule

MATRIX = [[0.8, 0.3], [0.2, 0.7]]


@pytest.mark.parametrize("rule", ["scbi", "SCBI", " Scbi ", cb.SCBI, cb.SCBI(MATRIX)])
def test_a_rule_may_be_an_object_a_class_or_a_name(rule):
    assert type(as_rule(rule, MATRIX)) is cb.SCBI


def test_a_matrix_a_task_or_an_example_means_scbi():
    for given in (MATRIX, cb.Model(MATRIX), cb.without_repeats(MATRIX), "example:gestures"):
        assert type(as_rule(given)) is cb.SCBI
    assert as_rule(MATRIX, np.eye(2)).model == cb.Model(MATRIX)


def test_settings_are_arguments_of_the_named_rule():
    rule = as_rule("pragmatic", MATRIX, depth=3)
    assert isinstance(rule, cb.Pragmatic)
    assert rule.depth == 3


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("rsa", "no rule called"),
        ("restricted", "no rule called"),
        ("NativeRule", "no rule called"),
        (3, "expected a rule"),
        (None, "expected a rule"),
    ],
)
def test_an_object_that_is_no_rule_is_an_error(rule, message):
    with pytest.raises(cb.CobayesError, match=message):
        as_rule(rule, MATRIX)


@pytest.mark.parametrize("rule", ["scbi", cb.BI])
def test_a_class_or_a_name_needs_a_matrix(rule):
    with pytest.raises(cb.CobayesError, match="without a matrix"):
        as_rule(rule)


def test_simulate_takes_the_learners_rule_by_name():
    named, made = (
        cb.simulate(cb.SCBI(MATRIX), 0, num_rounds=3, num_lessons=9, learner_rule=learner, rng=1)
        for learner in ("bi", cb.BI(MATRIX))
    )
    assert np.array_equal(named.means, made.means)


def test_the_name_of_a_custom_rule_means_its_last_definition():
    made = [type("Loud", (cb.BI,), {}) for _ in range(2)]
    assert type(as_rule("loud", MATRIX)) is made[1]


def test_the_name_of_a_rule_of_cobayes_always_means_that_rule():
    copy = type("Scbi", (cb.Rule,), {"respond": cb.SCBI.respond})
    assert copy.name == "Scbi"
    assert type(as_rule("scbi", MATRIX)) is cb.SCBI
