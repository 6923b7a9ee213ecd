"""The calls of cobayes that are measured.

A call is prepared by the function with its name, which returns the function to run and its number
of units (calls, lesson-rounds, matrices). `peers` has functions with the same arguments. As a
script this file measures calls for another process, so that an older version of cobayes in another
environment can be measured. Therefore this file needs only cobayes and NumPy, and uses only names
that both versions have.
"""

import json
import sys
import time

import numpy as np

import cobayes as cb

# The number of random matrices on which lessons are measured.
SEEDS = (1, 2, 3, 4)


def problem(n, m, seed=1):
    """Return a random matrix, drawn as in the paper, and the column sums for a random belief."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(n), size=m).T.copy(), n * rng.dirichlet(np.full(m, 5.0))


def with_zeros(n, m, share, seed):
    """Return a random matrix with about this share of its entries replaced by zeros."""
    rng = np.random.default_rng(seed)
    while True:
        allowed = rng.random((n, m)) > share
        if allowed.any(axis=0).all() and allowed.any(axis=1).all():
            return np.where(allowed, rng.dirichlet(np.ones(n), size=m).T, 0.0)


def scale(n):
    matrix, columns = problem(n, n)
    return lambda: cb.scale(matrix, column_sums=columns).matrix, 1


def update(n):
    matrix, columns = problem(n, n)
    rule, belief = cb.SCBI(matrix), columns / n
    return lambda: rule.update(belief, 0), 1


def scale_batch(n, count):
    matrix, columns = batch(n, count)
    return lambda: cb.scale(matrix, column_sums=columns).matrix, count


def batch(n, count):
    """Return a matrix and many column sums for it."""
    columns = n * np.random.default_rng(2).dirichlet(np.full(n, 5.0), size=count)
    return problem(n, n)[0], columns


def lessons(n, m, num_lessons, num_rounds=30):
    return _lessons([cb.SCBI(problem(n, m, seed)[0]) for seed in SEEDS], num_lessons, num_rounds)


def zeros(n, m, num_lessons, num_rounds, zeros):
    rules = [cb.SCBI(with_zeros(n, m, zeros, seed)) for seed in SEEDS]
    return _lessons(rules, num_lessons, num_rounds)


def no_repeats(n, m, num_lessons, num_rounds, zeros):
    tables = [with_zeros(n, m, zeros, seed) for seed in SEEDS]
    rules = [cb.SCBI(cb.without_repeats(table)) for table in tables]
    return _lessons(rules, num_lessons, num_rounds)


def pragmatic(n, m, depth, num_lessons, num_rounds=30):
    matrix, _ = problem(n, m)
    rule = cb.Pragmatic(matrix, depth) if depth else cb.BI(matrix)
    return _lessons([rule], num_lessons, num_rounds)


def _lessons(rules, num_lessons, num_rounds):
    """Prepare a default call of `simulate` for each rule; the unit is a round of a lesson."""

    def play():
        settings = dict(num_rounds=num_rounds, num_lessons=num_lessons, rng=0)
        return np.array([cb.simulate(rule, 0, **settings).mean(0)[-1] for rule in rules])

    return play, len(rules) * num_lessons * num_rounds


def rates(n, m):
    # Large enough to make the fixed cost of a call negligible.
    count = max(1000, (6_000_000 if m == 2 else 12_000_000 // m) // (n * m))
    return lambda: cb.compare_rates(n, m, count, rng=1).advantage, count


def exact(n, num_rounds):
    rule = cb.SCBI(problem(n, n)[0])
    return lambda: cb.exact_rounds(rule, 0, num_rounds).mean, 1


def fit(num_people, num_problems):
    """Prepare the fit of five depths to people who teach every problem in two rounds."""
    rng = np.random.default_rng(3)
    problems = {f"p{i}": rng.dirichlet(np.ones(36), size=4).T + 1e-3 for i in range(num_problems)}
    truth = {"depth": 1, "rationality": 3.0, "lapse": 0.1}
    choices = cb.people.simulate(truth, problems, num_people=num_people, num_rounds=2, rng=1)
    family = cb.people.Family(depth=(0, 1, 2, 3, np.inf))
    return lambda: cb.people.fit(choices, problems, family), 1


def measure(function, least, clock=time.process_time):
    """Return the mean seconds per call, over enough calls to take at least `least` seconds."""
    count = 1
    while True:
        start = clock()
        for _ in range(count):
            function()
        taken = clock() - start
        if taken >= least:
            return taken / count
        count *= 4


def serve():
    """Prepare and measure the calls that standard input names, one per line."""
    print(cb.__version__, flush=True)
    prepared = {}
    for line in sys.stdin:
        name, arguments, least, clock, threads = json.loads(line)
        key = name, str(arguments)
        if key not in prepared:
            prepared.clear()
            prepared[key] = globals()[name](**arguments)
        function, units = prepared[key]
        cb.set_num_threads(threads)
        print(measure(function, least, getattr(time, clock)) / units, flush=True)


if __name__ == "__main__":
    serve()
