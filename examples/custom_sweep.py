"""A custom sweep: the learner's mean belief in the truth by BI and SCBI, for your matrices.

    python examples/custom_sweep.py                              # two built-in matrices
    python examples/custom_sweep.py mine.csv other.csv --out my-sweep
    python examples/custom_sweep.py --scheduler scheduler.json   # on a Dask cluster

Stop it with Ctrl-C at any time: the same command continues the run. `cobayes runs my-sweep` shows
the progress, from any terminal.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np

import cobayes as cb
from cobayes import runs

RULES = {"BI": cb.BI, "SCBI": cb.SCBI}
NUM_ROUNDS = (1, 3, 10)


def teach(parameters, seed_sequence, num_samples):
    """Run one shard of lessons; return sums that depend only on the arguments."""
    model = cb.Model(parameters["matrix"], hypotheses=parameters["hypotheses"])
    lessons = cb.simulate(
        RULES[parameters["rule"]](model),
        parameters["hypothesis"],
        num_rounds=max(NUM_ROUNDS),
        num_lessons=num_samples,
        rng=np.random.default_rng(seed_sequence),
        keep_paths=False,
    )
    at = list(NUM_ROUNDS)
    mean = lessons.mean(parameters["hypothesis"])[at]
    variance = lessons.std(parameters["hypothesis"])[at] ** 2
    return {
        "count": num_samples,
        "total": num_samples * mean,
        "total_of_squares": num_samples * (variance + mean**2),
    }


def estimate(statistics, parameters):  # noqa: ARG001
    """Return the learner's mean belief in the truth after 1, 3 and 10 rounds, with errors."""
    return {
        f"after {k}": runs.mean_estimate(
            statistics["count"], statistics["total"][i], statistics["total_of_squares"][i]
        )
        for i, k in enumerate(NUM_ROUNDS)
    }


def plan(models: dict[str, cb.Model], num_lessons: int, seed: int) -> runs.Experiment:
    points = [
        runs.Point(
            f"{name}, {hypothesis}, {rule}",
            {
                "name": name,
                "rule": rule,
                "hypothesis": hypothesis,
                "matrix": model.matrix,
                "hypotheses": list(model.hypotheses),
            },
            num_samples=num_lessons,
            # At most 0.02 s per shard for the built-in matrices; one or two seconds are best.
            samples_per_shard=20_000,
        )
        for name, model in models.items()
        for hypothesis in model.hypotheses
        for rule in RULES
    ]
    return runs.Experiment("belief in the truth", points, teach, seed=seed, estimate=estimate)


def main() -> int:
    parser = argparse.ArgumentParser(description="A sweep over your own matrices.")
    parser.add_argument("files", nargs="*", help="matrices: CSV, TSV, JSON or Parquet")
    parser.add_argument("--out", default="my-sweep", help="folder of the run")
    parser.add_argument("--lessons", type=int, default=40_000, help="number for each point")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, help="number of processes (default: one per core)")
    parser.add_argument("--scheduler", help="address or scheduler file of a Dask cluster")
    parser.add_argument("--fresh", action="store_true", help="delete the run in --out first")
    options = parser.parse_args()
    try:
        if options.files:
            models = {file: cb.read_model(file) for file in options.files}
        else:
            models = {name: cb.examples[name].model for name in ("diagnosis", "gestures")}
        with runs.workers(jobs=options.jobs, scheduler=options.scheduler) as executor:
            result = runs.run(
                plan(models, options.lessons, options.seed),
                options.out,
                executor=executor,
                fresh=options.fresh,
                progress=True,
            )
    except (cb.CobayesError, runs.RunInterrupted) as error:
        print(error, file=sys.stderr)
        return getattr(error, "exit_code", 2)
    for point in result:
        shown = ", ".join(f"{name}: {value}" for name, value in point.estimates.items())
        print(f"{point.name:40} {shown}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
