"""Hostile tables of choices give a valid fit or a clear error."""

from __future__ import annotations

import numpy as np
import pandas as pd
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb

from .strategies import COUNTS, LABELS, NUMBERS, TASKS, matrices
from .test_calls import attempt

FUZZ = settings.get_profile("fuzz")

# Mostly what a table should hold, now and then what it should not.
CELLS = {
    "person": st.sampled_from(["Ann", "Bob"]),
    "problem": st.sampled_from(["p", "p", "q"]),
    "round": st.integers(1, 3),
    "hypothesis": st.sampled_from(["0", "0", "1", 0]),
    "datum": st.sampled_from(["0", "1", 1]),
    "count": st.integers(0, 5),
}
HOSTILE = st.one_of(LABELS, NUMBERS, st.sampled_from([[0], {"a": 1}, pd.NA, pd.Timestamp(0)]))


@st.composite
def choices(draw):
    """Draw a table of choices; about half of them are sound."""
    columns = draw(
        st.sampled_from([list(CELLS)[:5], list(CELLS)[1:], list(CELLS)[:5], list(CELLS)[2:4]])
    )
    num_rows = draw(st.integers(0, 5))
    table = {name: [draw(CELLS[name]) for _ in range(num_rows)] for name in columns}
    if num_rows and draw(st.booleans()):
        table[draw(st.sampled_from(columns))][-1] = draw(HOSTILE)
    return pd.DataFrame(table, dtype=object)


PROBLEMS = st.dictionaries(
    st.sampled_from(["p", "q"]),
    st.tuples(st.sampled_from(sorted(TASKS)), matrices(most=3)),
    min_size=1,
).map(lambda named: {name: attempt(TASKS[kind], matrix) for name, (kind, matrix) in named.items()})
FAMILIES = st.fixed_dictionaries(
    {"depth": st.sampled_from([0, 1, (0, 1), np.inf, (0, np.inf)])},
    optional={
        "rationality": st.sampled_from([1.0, (0.0, 20.0)]) | NUMBERS,
        "lapse": st.sampled_from([0.0, 0.1, (0.0, 0.5)]) | NUMBERS,
        "inner_rationality": st.sampled_from([1.0, (0.0, 5.0)]) | NUMBERS,
        "prior_temperature": st.sampled_from([1.0, (0.0, 2.0)]) | NUMBERS,
        "response": st.sampled_from(["choice", "guess", "nothing"]),
    },
)


@FUZZ
@given(choices(), PROBLEMS, FAMILIES, st.sampled_from(["person", None, "round", ["person"], 3]))
def test_a_fit_is_sound_or_refused(table, problems, options, by):
    family = attempt(cb.people.Family, **options)
    if family is None or None in problems.values():
        return
    before = table.copy(deep=True)
    fit = attempt(cb.people.fit, table, problems, family, by=by)
    pd.testing.assert_frame_equal(table, before)
    if fit is not None:
        assert (fit.estimates["log_likelihood"] <= 1e-9).all()
        assert (fit.trials["log_likelihood"] <= 1e-9).all()
        total = fit.trials["log_likelihood"].sum()  # a counted response has as many rows
        np.testing.assert_allclose(fit.log_likelihood, total, rtol=1e-6, atol=1e-9)


@FUZZ
@given(choices(), PROBLEMS, COUNTS, NUMBERS, NUMBERS)
def test_scores_are_log_probabilities_or_refused(table, problems, depth, rationality, lapse):
    if None in problems.values():
        return
    options = {"depth": depth, "rationality": rationality, "lapse": lapse}
    scored = attempt(cb.people.score, table, problems, **options)
    if scored is not None:
        assert (scored["log_likelihood"] <= 1e-9).all()
        assert len(scored) == table.get("count", pd.Series([1] * len(table))).sum()


@FUZZ
@given(PROBLEMS, COUNTS, COUNTS, COUNTS, NUMBERS)
def test_simulated_people_can_be_scored(problems, depth, num_people, num_rounds, rationality):
    if None in problems.values():
        return
    parameters = {"depth": depth, "rationality": rationality}
    counts = {"num_people": num_people, "num_rounds": num_rounds}
    table = attempt(cb.people.simulate, parameters, problems, **counts, rng=1)
    if table is not None and len(table):
        scored = cb.people.score(table, problems, depth=depth, rationality=float(rationality))
        assert np.isfinite(scored["log_likelihood"]).all()
