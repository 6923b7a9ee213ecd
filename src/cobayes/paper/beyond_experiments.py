"""The numbers behind the section "Beyond the paper"."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from cobayes.conjecture.limit_certificate import LimitCertificate, load_certificate
from cobayes.errors import CobayesError
from cobayes.example_library import examples
from cobayes.lessons import simulate
from cobayes.lessons.planning import plan_lesson
from cobayes.model import Model
from cobayes.report.section import Context
from cobayes.rules import BI, SCBI, Pragmatic, Rule
from cobayes.runs import Experiment, Point
from cobayes.stability.enclosure import success_enclosure
from cobayes.theory.exact import exact_rounds
from cobayes.theory.time_to_certainty import predicted_rounds

LEARNER_PRIOR = (1 / 5, 1 / 3, 7 / 15)
FULL_DEPTH, QUICK_DEPTH = 12, 11
SIZES = (-1.5, -3.0, -10.0, -30.0, -60.0, -90.0, -150.0)
FULL_SLOPE, QUICK_SLOPE = (1000, 20_000), (400, 500)
FULL_NUM_LESSONS, QUICK_NUM_LESSONS = 2000, 200
DOUBT = 1e-9
TEACHERS_MATRIX = "M_3"
FULL_TEACHER_ROUNDS, QUICK_TEACHER_ROUNDS = 8, 6
LEARNERS = ("BI", "Pragmatic", "SCBI")
CERTIFICATE = "l1-small-perturbations"


def limit_case() -> LimitCertificate:
    """Return the packaged case in which the L1 form fails."""
    found = load_certificate(CERTIFICATE)
    assert isinstance(found, LimitCertificate)
    return found


def rules_of(model: Model) -> dict[str, Rule]:
    """Return the learners that are compared, by name."""
    return {"BI": BI(model), "Pragmatic": Pragmatic(model, 1), "SCBI": SCBI(model)}


def predictable() -> dict[str, tuple[Rule, int]]:
    """Return the built-in examples whose length of lessons has a normal limit, for both rules."""
    found: dict[str, tuple[Rule, int]] = {}
    for name in examples:
        for kind in ("BI", "SCBI"):
            case = f"{name}, {kind}"
            rule, hypothesis = _case(case)
            try:
                predicted_rounds(rule, hypothesis, doubt=DOUBT)
            except CobayesError:
                continue
            found[case] = (rule, hypothesis)
    return found


def _case(name: str) -> tuple[Rule, int]:
    """Return the rule and the hypothesis of a case, such as "M_1, SCBI"."""
    matrix, _, kind = name.rpartition(", ")
    example = examples[matrix]
    rule = BI(example.model) if kind == "BI" else SCBI(example.model)
    return rule, example.model.hypothesis_index(example.hypothesis)


def beyond_experiment(context: Context) -> Experiment:
    """Return the experiment of the section."""
    quick = context.is_quick
    depth = QUICK_DEPTH if quick else FULL_DEPTH
    num_rounds, num_sequences = FULL_SLOPE
    if quick:
        num_rounds, num_sequences = QUICK_SLOPE
    num_sequences = context.count(num_sequences, at_least=100, quick=QUICK_SLOPE[1])
    num_lessons = context.count(FULL_NUM_LESSONS, at_least=50, quick=QUICK_NUM_LESSONS)
    teacher_rounds = QUICK_TEACHER_ROUNDS if quick else FULL_TEACHER_ROUNDS
    points = [
        Point(f"enclosure, depth {k}", {"part": "enclosure", "depth": k}) for k in range(depth + 1)
    ]
    points += [
        Point(
            f"slope, {'limit' if size is None else f'1e{size:g}'}",
            {
                "part": "slope",
                "log10_size": size,
                "num_rounds": num_rounds,
            },
            num_sequences,
            num_sequences,
        )
        for size in (*SIZES, None)
    ]
    points += [
        Point(f"rounds, {name}", {"part": "rounds", "case": name}, num_lessons, num_lessons)
        for name in predictable()
    ]
    points += [
        Point(f"teachers, {name}", {"part": "teachers", "rule": name, "num_rounds": teacher_rounds})
        for name in LEARNERS
    ]
    return Experiment("beyond", tuple(points), beyond_shard, seed=context.seed)


def beyond_shard(
    parameters: dict[str, Any], seed_sequence: np.random.SeedSequence, num_samples: int
) -> Mapping[str, Any]:
    """Compute one point.

    Parameters
    ----------
    parameters
        "part" is "enclosure", "slope", "rounds" or "teachers"; the rest is for that part.
    seed_sequence
        The point's own.
    num_samples
        Sequences or lessons; one for what is not sampled.
    """
    part = parameters["part"]
    if part == "enclosure":
        found = success_enclosure(
            examples["M_1"].model,
            0,
            learner_prior=LEARNER_PRIOR,
            depth=parameters["depth"],
            max_leaves=10**6,
        )
        return {"lower": found.lower, "upper": found.upper}
    if part == "slope":
        value, stderr = limit_case().slope(
            log10_size=parameters["log10_size"],
            num_rounds=parameters["num_rounds"],
            num_sequences=num_samples,
            rng=np.random.default_rng(seed_sequence),
        )
        return {"value": value, "stderr": stderr}
    if part == "rounds":
        return _rounds(parameters, num_samples, np.random.default_rng(seed_sequence))
    return _teachers(parameters)


def _rounds(
    parameters: Mapping[str, Any], num_lessons: int, rng: np.random.Generator
) -> dict[str, Any]:
    rule, hypothesis = _case(parameters["case"])
    predicted = predicted_rounds(rule, hypothesis, doubt=DOUBT)
    odds = simulate(
        rule,
        hypothesis,
        num_rounds=math.ceil(predicted.mean + 10.0 * predicted.std) + 50,
        num_lessons=num_lessons,
        rng=rng,
    ).log_odds(hypothesis)
    is_sure = odds > math.log1p(-DOUBT) - math.log(DOUBT)
    rounds = np.where(is_sure.any(axis=1), is_sure.argmax(axis=1), odds.shape[1])
    return {
        "predicted": predicted.mean,
        "predicted_std": predicted.std,
        "mean": float(rounds.mean()),
        "std": float(rounds.std(ddof=1)),
        "unfinished": int((~is_sure.any(axis=1)).sum()),
    }


def _teachers(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return beliefs of one learner: data drawn, chosen for it, and chosen for another learner."""
    model = examples[TEACHERS_MATRIX].model
    rules = rules_of(model)
    name, num_rounds = parameters["rule"], parameters["num_rounds"]
    other = "SCBI" if name == "BI" else "BI"
    chosen, borrowed = ([1.0 / model.num_hypotheses] for _ in range(2))
    for rounds in range(1, num_rounds + 1):
        for rule, beliefs in ((rules[name], chosen), (rules[other], borrowed)):
            # The best data for this number of rounds; the learner sees them whoever they are for.
            lesson = plan_lesson(rule, 0, rounds, look_ahead=rounds)
            belief = np.full(model.num_hypotheses, 1.0 / model.num_hypotheses)
            for datum in lesson.data.tolist():
                belief = rules[name].update(belief, datum)
            beliefs.append(float(belief[0]))
    return {
        "drawn": np.asarray(exact_rounds(rules[name], 0, num_rounds).mean),
        "chosen": np.array(chosen),
        "borrowed": np.array(borrowed),
    }
