"""Runs the standard experiment in a process of its own, as a command would."""

from __future__ import annotations

import argparse
import sys

from cobayes.errors import CobayesError
from cobayes.runs import RunInterrupted, engine, executors, run, workers
from runs.experiments import bulky_experiment, drawing


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("folder")
    parser.add_argument("--jobs", type=int)
    parser.add_argument("--scheduler")
    parser.add_argument("--num-shards", type=int, default=20)
    parser.add_argument("--gate", default="")
    parser.add_argument("--bulky", action="store_true")
    options = parser.parse_args()
    executors._SECONDS_TO_CONNECT = 600  # however busy the machine is
    experiment = drawing(options.num_shards, gate=options.gate)
    if options.bulky:
        experiment = bulky_experiment()
        engine._SECONDS_BETWEEN_SAVES = 0  # one commit for each shard
    try:
        with workers(jobs=options.jobs, scheduler=options.scheduler) as executor:
            result = run(experiment, options.folder, executor=executor, progress=True)
    except RunInterrupted as interruption:
        print(interruption, file=sys.stderr)
        return interruption.exit_code
    except CobayesError as error:
        print(f"{type(error).__name__}: {error}", file=sys.stderr)
        return getattr(error, "exit_code", 2)
    print(result.digest)
    return 0


if __name__ == "__main__":
    sys.exit(main())
