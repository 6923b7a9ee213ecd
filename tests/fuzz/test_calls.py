"""Public calls with hostile arguments return a valid result or raise a clear error."""

from __future__ import annotations

import contextlib
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import cobayes as cb

from .strategies import COUNTS, DISTRIBUTIONS, HOSTILE_MATRICES, LABELS, NUMBERS, TASKS, matrices

FUZZ = settings.get_profile("fuzz")


def attempt(call, *arguments, **options):
    """Return the result of a call, or None if it raised a clear error."""
    with contextlib.suppress(cb.CobayesError):
        return call(*arguments, **options)
    return None


@FUZZ
@given(HOSTILE_MATRICES, st.none() | st.lists(LABELS, max_size=5), st.none() | st.lists(LABELS))
def test_a_model_is_sound_or_refused(matrix, data, hypotheses):
    model = attempt(cb.Model, matrix, data, hypotheses)
    if model is not None:
        assert np.isfinite(model.matrix).all()
        assert (model.matrix >= 0.0).all()
        assert model.matrix.any(axis=0).all()
        assert model.matrix.any(axis=1).all()
        assert len(set(model.data)) == model.num_data
        assert repr(model)
        assert model._repr_html_()
        attempt(model.check)


@FUZZ
@given(HOSTILE_MATRICES, DISTRIBUTIONS, DISTRIBUTIONS)
def test_scaling_meets_its_sums_or_says_why_not(matrix, row_sums, column_sums):
    attempt(cb.smooth, matrix, 1e-3)
    scaled = attempt(cb.scale, matrix, row_sums, column_sums)
    if scaled is not None:
        assert np.isfinite(scaled.matrix).all()
        assert (scaled.matrix >= 0.0).all()
        assert scaled.residual < 1e-6


@FUZZ
@given(HOSTILE_MATRICES, DISTRIBUTIONS, LABELS, LABELS, st.sampled_from([cb.BI, cb.SCBI]))
def test_rules_give_distributions_or_errors(matrix, belief, hypothesis, datum, kind):
    rule = attempt(kind, matrix)
    if rule is None:
        return
    for found in (
        attempt(rule.teach, belief, hypothesis),
        attempt(rule.update, belief, datum),
    ):
        if found is not None:
            np.testing.assert_allclose(found.sum(axis=-1), 1.0, rtol=1e-9)
            assert (found >= 0.0).all()
    posteriors = attempt(rule.posteriors, belief)
    if posteriors is not None:
        # A row of NaN is a datum that every believed hypothesis rules out.
        possible = posteriors[~np.isnan(posteriors).all(axis=-1)]
        np.testing.assert_allclose(possible.sum(axis=-1), 1.0, rtol=1e-9)


@FUZZ
@given(HOSTILE_MATRICES, DISTRIBUTIONS, DISTRIBUTIONS)
def test_one_round_of_cooperative_inference(matrix, teacher_prior, learner_prior):
    found = attempt(
        cb.cooperative_inference, matrix, learner_prior=learner_prior, teacher_prior=teacher_prior
    )
    if found is not None:
        assert np.isfinite(found.teacher).all()


@FUZZ
@given(HOSTILE_MATRICES, LABELS | st.none(), st.sampled_from([cb.BI, cb.SCBI, None]))
def test_rates_are_not_negative_or_refused(matrix, hypothesis, kind):
    rule = matrix if kind is None else attempt(kind, matrix)
    found = None if rule is None else attempt(cb.rate_of_convergence, rule, hypothesis)
    if found is not None:
        assert (np.asarray(found) >= 0.0).all()


@FUZZ
@given(matrices(), LABELS, COUNTS, COUNTS, DISTRIBUTIONS, NUMBERS)
def test_lessons_end_in_beliefs_or_errors(matrix, hypothesis, rounds, lessons, prior, level):
    rule = attempt(cb.SCBI, matrix)
    if rule is None:
        return
    teacher = attempt(cb.Teacher, rule, hypothesis, prior, rng=1)
    learner = attempt(cb.Learner, rule, prior)
    if teacher is not None and learner is not None:
        lesson = attempt(cb.run_lesson, teacher, learner, rounds)
        if lesson is not None:
            np.testing.assert_allclose(lesson.beliefs.sum(axis=1), 1.0, rtol=1e-9)
    ensemble = attempt(
        cb.simulate,
        rule,
        hypothesis,
        num_rounds=rounds,
        num_lessons=lessons,
        prior=prior,
        level=level,
        rng=1,
    )
    if ensemble is not None:
        assert np.isfinite(ensemble.mean()).all()


@FUZZ
@given(
    matrices(),
    st.integers(0, 4),
    st.floats(0.1, 50.0) | st.sampled_from([1e9, 1e100, 1.7e308]),
    st.sampled_from(["likelihood", "truth"]),
    st.integers(0, 2**32 - 1),
)
def test_pragmatic_answers_to_many_beliefs_are_those_to_each(matrix, depth, alpha, literal, seed):
    rule = attempt(cb.Pragmatic, matrix, depth, rationality=alpha, literal=literal)
    if rule is None:
        return
    m = rule.model.num_hypotheses
    beliefs = np.random.default_rng(seed).dirichlet(np.full(m, 0.3), size=4)
    beliefs = np.vstack([beliefs, np.eye(m), np.full(m, 1.0 / m)])
    for answer in (rule.likelihood, rule.posteriors):
        together = answer(beliefs)
        np.testing.assert_array_equal(together, [answer(belief) for belief in beliefs])
        assert answer == rule.posteriors or np.isfinite(together).all()
    ensemble = attempt(cb.simulate, rule, 0, num_rounds=3, num_lessons=3, rng=seed)
    if ensemble is not None:
        np.testing.assert_allclose(ensemble.means.sum(axis=1), 1.0, rtol=1e-9)


RULES = (cb.BI, cb.SCBI, lambda task: cb.Pragmatic(task, 1))
LESSONS = st.tuples(
    matrices(),
    st.sampled_from(sorted(TASKS)),
    st.sampled_from(RULES),
    st.integers(0, 2),
    st.integers(0, 4),
    st.integers(0, 99),
)


@FUZZ
@given(LESSONS)
def test_simulated_lessons_are_lessons_that_agents_can_have(drawn):
    matrix, name, kind, taught, rounds, seed = drawn
    task = attempt(TASKS[name], matrix)
    rule = None if task is None else attempt(kind, task)
    options = {"num_rounds": rounds, "num_lessons": 2, "keep_paths": True, "rng": seed}
    many = None if rule is None else attempt(cb.simulate, rule, taught, **options)
    if many is None:
        return
    for path in many.paths:
        # On some tables a last bit of the belief decides whether float64 can scale it.
        with contextlib.suppress(cb.ConvergenceError):
            follow(path, cb.Learner(rule), taught)


def follow(path, learner, taught):
    """Require that some data and states lead a learner through these beliefs."""
    agents = [learner]
    for after in path[1:]:
        agents = [
            agent
            for before in agents
            for agent in next_agents(before, taught)
            if is_same_belief(agent, after)
        ]
        assert agents


def is_same_belief(agent, logs):
    """Tell whether an agent's belief is that of a path, given by its logarithms."""
    # Small beliefs may depend on the last bit where sums tie, and so may their being zero where a
    # table has zeros. A table without zeros excludes nothing, however faint.
    is_same = np.allclose(np.exp(agent.log_belief), np.exp(logs), rtol=1e-9, atol=1e-12)
    return is_same and (np.isfinite(logs).all() or not agent.rule.model.matrix.all())


def next_agents(agent, taught):
    """Yield the learner after every datum that its teacher may show, in every state."""
    if agent.task.is_over(agent.state, taught):
        yield agent
        return
    for datum in np.flatnonzero(agent.distribution_over_data(taught)):
        after = agent.copy()
        after.observe(datum)
        if not after.outcomes:
            yield after
        for state, _ in after.outcomes:
            arrived = after.copy()
            arrived.arrive(state)
            yield arrived


def run(drawn):
    """Return a lesson, or None if the call raised an error."""
    matrix, name, kind, taught, rounds, seed = drawn
    task = attempt(TASKS[name], matrix)
    rule = None if task is None else attempt(kind, task)
    teacher = None if rule is None else attempt(cb.Teacher, rule, taught, rng=seed)
    return teacher and attempt(cb.run_lesson, teacher, cb.Learner(rule), rounds)


@FUZZ
@given(LESSONS)
def test_lessons_on_tasks_are_sound_and_go_on_after_saving(drawn):
    lesson = run(drawn)
    if lesson is None:
        return
    np.testing.assert_allclose(lesson.beliefs.sum(axis=1), 1.0, rtol=1e-9)
    with tempfile.TemporaryDirectory() as folder:
        lesson.save(Path(folder) / "lesson.json")
        again = cb.Lesson.load(Path(folder) / "lesson.json")
    more, expected = attempt(again.extend, 1), attempt(lesson.extend, 1)
    assert (more is None) == (expected is None)
    if more is not None:
        np.testing.assert_array_equal(more.data, expected.data)
        np.testing.assert_array_equal(more.log_beliefs, expected.log_beliefs)
        assert more.states == expected.states


IN_A_FRESH_PROCESS = """
import pathlib, sys
import cobayes as cb
for file in sorted(pathlib.Path(sys.argv[1]).iterdir()):
    print(file.name, cb.Lesson.load(file).log_beliefs.tobytes().hex())
"""


@settings(FUZZ, max_examples=1 + FUZZ.max_examples // 25)
@given(st.lists(LESSONS, min_size=8, max_size=8))
def test_lessons_on_every_task_load_in_a_fresh_process(drawn):
    saved = {}
    with tempfile.TemporaryDirectory() as folder:
        for number, lesson in enumerate(map(run, drawn)):
            if lesson is not None:
                lesson.save(Path(folder) / str(number))
                saved[str(number)] = lesson.log_beliefs.tobytes().hex()
        command = [sys.executable, "-c", IN_A_FRESH_PROCESS, folder]
        found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.stderr == ""
    assert dict(line.split() for line in found.stdout.splitlines()) == saved


@FUZZ
@given(matrices(most=3), LABELS, st.integers(-1, 3) | COUNTS, DISTRIBUTIONS)
def test_exact_rounds_agree_with_probability(matrix, hypothesis, rounds, prior):
    rule = attempt(cb.SCBI, matrix)
    if rule is not None:
        found = attempt(cb.exact_rounds, rule, hypothesis, rounds, prior)
        if found is not None:
            assert ((found.mean >= -1e-9) & (found.mean <= 1.0 + 1e-9)).all()


HOSTILE = st.one_of(NUMBERS, LABELS, COUNTS)
# Every one of these calls with anything in the place of any argument.
CALLS = {
    "success_rate": lambda m, a, b, c: cb.success_rate(m, a, num_lessons=b, learner_prior=c),
    "coupling": lambda m, a, b, c: cb.coupling(m, num_lessons=b, prior=c, max_rounds=a),
    "enclosure": lambda m, a, b, c: cb.success_enclosure(m, a, num_rounds=b, learner_prior=c),
    "robustness": lambda m, a, b, c: cb.stability.robustness(m, a, num_lessons=b, prior=c),
    "best data prior": lambda m, a, b, c: cb.best_data_prior(m, a),
    "predicted rounds": lambda m, a, b, c: cb.theory.predicted_rounds(m, a, level=b, prior=c),
    "choosing rate": lambda m, a, b, c: cb.theory.choosing_rate(m, a),
    "plan": lambda m, a, b, c: cb.plan_lesson(m, a, b, prior=c),
    "teachers": lambda m, a, b, c: cb.lessons.compare_teachers(
        m, a, num_rounds=b, num_lessons=2, prior=c
    ),
    "no repeats": lambda m, a, b, c: cb.without_repeats(m),
    "limited": lambda m, a, b, c: cb.limited_to(m, [a, b]),
    "costs": lambda m, a, b, c: cb.moving_costs(m, m, b),
    "sets": lambda m, a, b, c: cb.sets_of(m, b),
    "grid": lambda m, a, b, c: cb.GridWorld(a, b, (0, 0), {"A": (1, 1), "B": c}, 0.5),
    "exceedance": lambda m, a, b, c: cb.people.exceedance(m),
    "studio": lambda m, a, b, c: cb.studio(m),
    "smooth": lambda m, a, b, c: cb.smooth(m, a),
    "blocks": lambda m, a, b, c: cb.scaling_blocks(m, c, c),
    "random": lambda m, a, b, c: cb.compare_rates(a, b, 2, rng=c),
    "advantage": lambda m, a, b, c: cb.expected_advantage(a),
    "measure": lambda m, a, b, c: cb.AtomicMeasure.at(c).push(m, a),
}


@FUZZ
@given(
    st.sampled_from(sorted(CALLS)),
    HOSTILE_MATRICES,
    st.just(0) | HOSTILE,
    st.integers(1, 3) | HOSTILE,
    DISTRIBUTIONS,
)
def test_other_calls_answer_or_explain_themselves(name, matrix, first, second, distribution):
    attempt(CALLS[name], matrix, first, second, distribution)
