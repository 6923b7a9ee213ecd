"""The experiments behind the theorems: slopes, invariants, where learners end, atoms."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cobayes.example_library import examples
from cobayes.lessons import simulate
from cobayes.model import Model
from cobayes.paper.belief_experiments import random_matrix
from cobayes.report.section import Context
from cobayes.rules import BI, SCBI, BeliefState, Rule
from cobayes.runs import Estimate, Experiment, Point, mean_estimate, proportion_estimate
from cobayes.theory.invariants import check_invariants
from cobayes.theory.rates import rate_of_convergence

Array = NDArray[np.float64]

EXAMPLES = ("supplement-2x2", "M_1", "M_2", "M_3", "M_4", "M_5", "M'_1", "diagnosis", "gestures")
RANDOM_SIZES = (4, 8)
RULES = ("BI", "SCBI")

# Long enough for two hypotheses with nearly the same rate to part: the slope is an asymptotic one.
FULL_NUM_ROUNDS, QUICK_NUM_ROUNDS = 8000, 4000
FULL_NUM_LESSONS, QUICK_NUM_LESSONS = 2000, 200
_LESSONS_PER_SHARD = 200

UNIFORM_PRIORS = {"M_2": (0.5, 0.3, 0.2), "M_3": (0.2, 0.2, 0.6), "M'_1": (0.1, 0.2, 0.3, 0.4)}
MAX_UNIFORM_ROUNDS, _ROUNDS_BETWEEN_LOOKS = 20_000, 100
FULL_NUM_LEARNERS, QUICK_NUM_LEARNERS = 20_000, 4096
_LEARNERS_PER_SHARD = 2048

MIXTURE_MATRIX, MIXTURE_ROUNDS = "M_3", 10_000
FULL_NUM_MIXTURES, QUICK_NUM_MIXTURES = 10_000, 1000

SETTLED = 1e-5
"""A learner is sure of something when it believes it with more than one less this."""


def models_of(context: Context) -> dict[str, tuple[Model, int]]:
    """Return the matrices by name, each with the position of what is taught.

    Parameters
    ----------
    context
        Its seed decides the random matrices.
    """
    found = {
        name: (
            examples[name].model,
            examples[name].model.hypothesis_index(examples[name].hypothesis),
        )
        for name in EXAMPLES
    }
    _, matrix_seed, _ = context.seeds().spawn(3)
    rng = np.random.default_rng(matrix_seed)
    for size in RANDOM_SIZES:
        found[f"random {size}x{size}"] = (Model(random_matrix(rng, size)), 0)
    return found


def without_relevant(model: Model, hypothesis: int, rule: str) -> Array:
    """Return a prior that excludes the hypothesis which sets the rate, and is even elsewhere.

    Parameters
    ----------
    model
        With at least three hypotheses.
    hypothesis
        What is taught.
    rule
        "BI" or "SCBI".
    """
    own: Rule = _rule(rule, model)
    count = model.num_hypotheses
    rates = []
    for other in range(count):
        prior = np.zeros(count)
        prior[[hypothesis, other]] = 0.5
        rates.append(
            np.inf if other == hypothesis else rate_of_convergence(own, hypothesis, prior=prior)
        )
    prior = np.ones(count)
    prior[int(np.argmin(rates))] = 0.0
    return prior / prior.sum()


def theorem_experiment(context: Context) -> Experiment:
    """Return the experiment of the section on theorems.

    Parameters
    ----------
    context
        Says scale and seed.
    """
    num_rounds = QUICK_NUM_ROUNDS if context.is_quick else FULL_NUM_ROUNDS
    num_lessons = context.count(FULL_NUM_LESSONS, at_least=20, quick=QUICK_NUM_LESSONS)
    num_learners = context.count(FULL_NUM_LEARNERS, at_least=500, quick=QUICK_NUM_LEARNERS)
    num_mixtures = context.count(FULL_NUM_MIXTURES, at_least=100, quick=QUICK_NUM_MIXTURES)
    models = models_of(context)
    points = []
    for name, (model, hypothesis) in models.items():
        given = {"matrix": model.matrix, "hypothesis": hypothesis}
        points += [
            Point(
                f"rate, {name}, {rule}",
                {"part": "rate", **given, "rule": rule, "num_rounds": num_rounds},
                num_lessons,
                min(num_lessons, _LESSONS_PER_SHARD),
            )
            for rule in RULES
        ]
        points.append(Point(f"invariants, {name}", {"part": "invariants", **given}))
    model, hypothesis = models["M_1"]
    points += [
        Point(
            f"rate without the relevant hypothesis, M_1, {rule}",
            {
                "part": "rate",
                "matrix": model.matrix,
                "hypothesis": hypothesis,
                "rule": rule,
                "num_rounds": num_rounds,
                "prior": without_relevant(model, hypothesis, rule),
            },
            num_lessons,
            min(num_lessons, _LESSONS_PER_SHARD),
        )
        for rule in RULES
    ]
    points += [
        Point(
            f"uniform data, {name}",
            {"part": "uniform", "matrix": examples[name].model.matrix, "prior": prior},
            num_learners,
            min(num_learners, _LEARNERS_PER_SHARD),
        )
        for name, prior in UNIFORM_PRIORS.items()
    ]
    points.append(
        Point(
            "any true distribution",
            {
                "part": "mixture",
                "matrix": examples[MIXTURE_MATRIX].model.normalized(),
                "num_rounds": MIXTURE_ROUNDS,
            },
            num_mixtures,
        )
    )
    points.append(Point("atoms", {"part": "atoms"}))
    return Experiment(
        "theorems", tuple(points), theorem_shard, seed=context.seed, estimate=theorem_estimate
    )


def theorem_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Compute a shard of any part.

    Parameters
    ----------
    parameters
        "part" is "rate", "invariants", "uniform", "mixture" or "atoms"; the rest is for that part.
    seed_sequence
        The shard's own.
    num_samples
        Lessons, learners or true distributions.
    """
    rng = np.random.default_rng(seed_sequence)
    part = parameters["part"]
    if part == "rate":
        return _slopes(parameters, num_samples, rng)
    if part == "uniform":
        return _destinations(parameters, num_samples, rng)
    if part == "mixture":
        return _mixtures(parameters, num_samples, rng)
    if part == "atoms":
        return _atoms(rng)
    report = check_invariants(Model(np.array(parameters["matrix"])), parameters["hypothesis"])
    return {
        "num_rounds": report.num_rounds,
        "deviations": np.array([invariant.deviation for invariant in report.invariants]),
        "tolerance": report.invariants[0].tolerance,
        "mean_belief": np.asarray(report.mean_belief),
    }


def theorem_estimate(
    statistics: Mapping[str, Any], parameters: dict[str, Any]
) -> dict[str, Estimate]:
    """Estimate what a point is about, for progress reports.

    Parameters
    ----------
    statistics
        Statistics of the shards that have finished.
    parameters
        Parameters of the point.
    """
    if parameters["part"] == "rate":
        return {"slope": slope_of(statistics)}
    if parameters["part"] == "mixture":
        return {"ends elsewhere": proportion_estimate(statistics["away"], statistics["count"])}
    return {}


def slope_of(statistics: Mapping[str, Any]) -> Estimate:
    """Return the mean slope of the log-odds, in nats per round.

    Parameters
    ----------
    statistics
        Statistics of a point "rate".
    """
    return mean_estimate(statistics["count"], statistics["total"], statistics["squares"])


def _rule(name: str, matrix: Any) -> Rule:
    return BI(matrix) if name == "BI" else SCBI(matrix)


def _slopes(
    parameters: Mapping[str, Any], num_lessons: int, rng: np.random.Generator
) -> dict[str, Any]:
    first, last = parameters["num_rounds"] // 2, parameters["num_rounds"]
    lessons = simulate(
        _rule(parameters["rule"], Model(np.array(parameters["matrix"]))),
        parameters["hypothesis"],
        num_rounds=last,
        num_lessons=num_lessons,
        prior=parameters.get("prior"),
        rng=rng,
        keep_paths=[first, last],
    )
    odds = lessons.log_odds()
    slopes = (odds[:, 1] - odds[:, 0]) / (last - first)
    return {
        "count": num_lessons,
        "total": slopes.sum(),
        "squares": (slopes**2).sum(),
        # Belief above 0.99 at the end.
        "sure": int((odds[:, 1] > np.log(99.0)).sum()),
    }


def _destinations(
    parameters: Mapping[str, Any], num_learners: int, rng: np.random.Generator
) -> dict[str, Any]:
    rule = SCBI(np.array(parameters["matrix"]))
    state = BeliefState.from_logs(np.log(parameters["prior"]), num_learners)
    responses = None
    counts = np.zeros(len(parameters["prior"]), dtype=np.int64)
    for _ in range(MAX_UNIFORM_ROUNDS // _ROUNDS_BETWEEN_LOOKS):
        for _ in range(_ROUNDS_BETWEEN_LOOKS):
            responses = rule.respond_many(state, responses)
            state = responses.observe(rng.integers(rule.model.num_data, size=state.size))
        beliefs = state.beliefs
        is_settled = beliefs.max(axis=1) > 1.0 - SETTLED
        counts += np.bincount(beliefs[is_settled].argmax(axis=1), minlength=len(counts))
        if is_settled.all():
            break
        # Those that are sure stay so; the others go on.
        if responses is not None:
            responses = responses.keep(np.flatnonzero(~is_settled))
            state = responses.beliefs
    return {"counts": counts, "unsettled": num_learners - int(counts.sum())}


def _mixtures(
    parameters: Mapping[str, Any], count: int, rng: np.random.Generator
) -> dict[str, Any]:
    """Let BI learn from data of mixtures of hypotheses; count how often it ends elsewhere."""
    matrix = np.array(parameters["matrix"])
    truths = rng.dirichlet(np.ones(matrix.shape[1]), count)
    data = np.array([rng.multinomial(parameters["num_rounds"], p) for p in truths @ matrix.T])
    logs = data @ np.log(matrix)
    beliefs = np.exp(logs - logs.max(axis=1, keepdims=True))
    beliefs /= beliefs.sum(axis=1, keepdims=True)
    apart = np.abs(beliefs - truths).sum(axis=1)
    return {
        "count": count,
        "away": int((apart > 0.1).sum()),
        "apart": apart.sum(),
        "at_corner": int((beliefs.max(axis=1) > 0.99).sum()),
    }


def _atoms(rng: np.random.Generator) -> dict[str, Any]:
    """Count different beliefs after k rounds, on a random matrix and on one with like rows."""
    random = random_matrix(rng, 3)
    alike = random.copy()
    alike[1] = 0.5 * alike[0]
    counts = []
    for matrix in (random, alike):
        rule = SCBI(matrix / matrix.sum(axis=0))
        beliefs = np.full((1, 3), 1.0 / 3.0)
        own = []
        for _ in range(4):
            beliefs = np.concatenate([rule.posteriors(belief) for belief in beliefs])
            own.append(len(np.unique(beliefs.round(10), axis=0)))
        counts.append(own)
    return {"random": np.array(counts[0]), "alike": np.array(counts[1])}
