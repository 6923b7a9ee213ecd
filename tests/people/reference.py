"""The likelihood in sixty digits, by plain loops and without derivatives: slow, for comparison."""

from __future__ import annotations

import math

import mpmath as mp

DIGITS = 60


def normalised(values):
    total = mp.fsum(values)
    return [value / total for value in values] if total else [mp.mpf(0) for _ in values]


def literal_teacher(matrix):
    columns = [normalised(column) for column in zip(*matrix, strict=True)]
    return [list(row) for row in zip(*columns, strict=True)]


def learner(matrix, belief, depth, alpha, literal="likelihood"):
    """Return L_depth(h | d) as a list of rows."""
    matrix = [[mp.mpf(x) for x in row] for row in matrix]
    teacher = matrix if literal == "truth" else literal_teacher(matrix)
    if math.isinf(depth):
        return scaled(matrix, belief)
    for step in range(depth + 1):
        rows = [normalised([t * b for t, b in zip(row, belief, strict=True)]) for row in teacher]
        if step < depth:
            teacher = literal_teacher([[x**alpha for x in row] for row in rows])
    return rows


def scaled(matrix, belief):
    """Normalise columns and rows alternately until convergence; positive matrices only."""
    n = len(matrix)
    rows = matrix
    for _ in range(2000):
        columns = [
            [n * b * x for x in normalised(column)]
            for column, b in zip(zip(*rows, strict=True), belief, strict=True)
        ]
        new = [normalised(row) for row in zip(*columns, strict=True)]
        change = max(
            abs(a - b) for p, q in zip(new, rows, strict=True) for a, b in zip(p, q, strict=True)
        )
        rows = new
        if change < mp.mpf(10) ** (10 - DIGITS):
            return rows
    raise AssertionError("the alternating normalisation did not converge")


def options(scores, lapse):
    """Return probabilities by softmax and lapse; an option with score None gets the lapse only."""
    weights = [mp.mpf(0) if score is None else mp.exp(score) for score in scores]
    if not any(weights):
        weights = [mp.mpf(1)] * len(scores)
    return [(1 - lapse) * p + lapse / len(scores) for p in normalised(weights)]


def log_likelihood(lessons, depth, values, response="choice", literal="likelihood", feature=None):
    """Sum over lessons (matrix, prior, truth, data, answers); `values`: parameters by name."""
    with mp.workdps(DIGITS):
        get = {name: mp.mpf(value) for name, value in values.items()}
        outer, inner = ("rationality", "inner_rationality")
        if response != "choice":
            outer, inner = ("sharpness", "rationality")
        beta, lapse = get[outer], get["lapse"]
        alpha, temperature = get[inner], get["prior_temperature"]
        total = mp.mpf(0)
        for matrix, prior, truth, data, answers in lessons:
            belief = normalised([mp.mpf(p) ** temperature for p in prior])
            learner_depth = depth if response != "choice" else max(depth - 1, 0)
            for position, datum in enumerate(data):
                rows = learner(matrix, belief, learner_depth, alpha, literal)
                if response == "choice":
                    teacher = literal_teacher([[mp.mpf(x) for x in row] for row in matrix])
                    used = [r[truth] for r in (rows if depth > 0 else teacher)]
                    scores = [
                        None
                        if not u
                        else beta * mp.log(u) + (get["edge"] * feature[d] if feature else 0)
                        for d, u in enumerate(used)
                    ]
                    total += mp.log(options(scores, lapse)[datum])
                else:
                    scores = [None if not q else beta * mp.log(q) for q in rows[datum]]
                    chances = options(scores, lapse)
                    total += respond(chances, answers[position], truth, response, get)
                belief = rows[datum]
        return total


def respond(chances, answer, rated, response, get):
    if response == "guess":
        return mp.log(chances[answer])
    z = (mp.mpf(answer) - chances[rated]) / get["noise"]
    if answer <= 0:
        return mp.log(mp.ncdf(z))
    if answer >= 1:
        return mp.log(mp.ncdf(-z))
    return mp.log(mp.npdf(z) / get["noise"])


def derivative(function, values, name):
    """Return the central difference in sixty digits, which is exact to about thirty digits."""
    with mp.workdps(DIGITS):
        step = mp.mpf(10) ** -15
        up = function({**values, name: mp.mpf(values[name]) + step})
        down = function({**values, name: mp.mpf(values[name]) - step})
        return (up - down) / (2 * step)
