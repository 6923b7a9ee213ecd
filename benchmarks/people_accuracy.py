"""Accuracy and speed of fits to people: coverage, recovery of depths, seconds.

Run with ``python -m benchmarks.people_accuracy``; ``--quick`` simulates a tenth of the people.
Problems are made like those of published teaching studies: a grid of 6 by 6 cells and four shapes;
a cell is either in a shape or not.
"""

import argparse
import time

import numpy as np

from cobayes import people

SIDE = 6


def shapes(num_problems: int, seed: int) -> dict[str, np.ndarray]:
    """Return tables of zeros and ones, cells by four shapes; cells in no shape are left out."""
    rng = np.random.default_rng(seed)
    problems = {}
    while len(problems) < num_problems:
        table = np.column_stack([shape(rng).ravel() for _ in range(4)])
        table = table[table.any(axis=1)]
        distinct = len(np.unique(table, axis=1).T) == 4
        if distinct and len(table) >= 10:
            problems[f"p{len(problems)}"] = table.astype(float)
    return problems


def shape(rng: np.random.Generator) -> np.ndarray:
    """Return a union of two overlapping rectangles."""
    cells = np.zeros((SIDE, SIDE))
    for _ in range(2):
        top, left = rng.integers(0, 4, size=2)
        height, width = rng.integers(2, 5, size=2)
        cells[top : top + height, left : left + width] = 1.0
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    share = 10 if parser.parse_args().quick else 1
    problems = shapes(40, seed=1)
    print("coverage of 95 % intervals, 80 choices, rationality 3, lapse 0.1")
    for depth in (1, np.inf):
        found = people.recover(
            people.Family(depth=depth),
            problems,
            num_people=1000 // share,
            num_rounds=2,
            parameters={"rationality": 3.0, "lapse": 0.1},
            rng=7,
        )
        for name, row in found.coverage.iterrows():
            print(f"  depth {depth:g}, {name}: {100 * row['coverage']:.1f} %")
    print("depth 1 against infinity, rationality 3, lapse 0.02")
    for rounds in (2, 5):
        found = people.recover(
            people.Family(depth=(1, np.inf)),
            problems,
            num_people=200 // share,
            num_rounds=rounds,
            parameters={"rationality": 3.0, "lapse": 0.02},
            rng=8,
        )
        print(f"  {found.num_choices} choices: {100 * found.depth_accuracy:.1f} % recovered")
    rng = np.random.default_rng(3)
    wide = {f"p{i}": rng.dirichlet(np.ones(36), size=4).T + 1e-3 for i in range(40)}
    truth = {"depth": 1, "rationality": 3.0, "lapse": 0.1}
    for name, used in (("positive tables, 36 x 4", wide), ("tables with zeros", problems)):
        choices = people.simulate(truth, used, num_people=150 // share, num_rounds=2, rng=1)
        start, work = time.perf_counter(), time.process_time()
        people.fit(choices, used, people.Family(depth=(0, 1, 2, 3, np.inf)))
        print(
            f"fit of {150 // share} people x 80 choices, depths 0 to 3 and infinity, {name}: "
            f"{time.perf_counter() - start:.1f} s, {time.process_time() - work:.1f} s of processor"
        )


if __name__ == "__main__":
    main()
