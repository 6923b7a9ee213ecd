"""Accuracy and speed of fits to people, separately and as a group.

Run ``python -m benchmarks.people_accuracy WHAT`` with one of

- ``intervals``: coverage of intervals, recovery of depths;
- ``ranks``: simulation-based calibration of group fits (``--method nuts`` for NUTS);
- ``grid``: posterior means of a group of five people, compared with integrals over a grid;
- ``group``: seconds and errors of a group fit to 150 people with 80 choices each;
- ``problems``: the most informative ten problems against random problems;
- ``speed``: seconds of separate fits.

``--quick`` uses a tenth of the studies or people. Problems are made like those of published
teaching studies: a grid of 6 by 6 cells and four shapes; a cell is either in a shape or not.
"""

import argparse
import time

import numpy as np
import pandas as pd
from scipy.special import expit, logit
from scipy.stats import chisquare

from cobayes import people
from cobayes.people.groups import SPREAD

SIDE = 6


def shapes(num_problems: int, seed: int) -> dict[str, np.ndarray]:
    """Return tables of zeros and ones, cells by four shapes; cells in no shape are omitted."""
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
    """Return a random union of two rectangles."""
    cells = np.zeros((SIDE, SIDE))
    for _ in range(2):
        top, left = rng.integers(0, 4, size=2)
        height, width = rng.integers(2, 5, size=2)
        cells[top : top + height, left : left + width] = 1.0
    return cells


def positive(num_problems: int, num_data: int = 36) -> dict[str, np.ndarray]:
    """Return tables without zeros, data by four hypotheses."""
    rng = np.random.default_rng(3)
    return {f"p{i}": rng.dirichlet(np.ones(num_data), size=4).T + 1e-3 for i in range(num_problems)}


def crowd(rng, num_people, depths, share, rationality, lapse) -> pd.DataFrame:
    """Draw people; `rationality` and `lapse` are mean and standard deviation of normal logits."""
    z = rng.standard_normal((2, num_people))
    return pd.DataFrame(
        {
            "person": [str(number) for number in range(num_people)],
            "depth": rng.choice(depths, num_people, p=share),
            "rationality": 20.0 * expit(rationality[0] + rationality[1] * z[0]),
            "lapse": 0.5 * expit(lapse[0] + lapse[1] * z[1]),
        }
    )


def intervals(share: int, _: str) -> None:
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


def study_ranks(seed: int, method: str) -> dict[str, float]:
    """Simulate a study from the group model's prior; rank the true values among posterior draws."""
    problems, family = positive(6, 8), people.Family(depth=(0, np.inf))
    rng = np.random.default_rng(seed)
    mean, spread = rng.logistic(size=2), rng.uniform(*SPREAD, size=2)
    shares = rng.dirichlet(np.ones(2))
    truth = crowd(rng, 4, family.depth, shares, *zip(mean, spread, strict=True))
    choices = people.simulate(truth, problems, num_rounds=2, rng=rng)
    fit = people.fit_group(choices, problems, family, method, rng, num_draws=990)
    draws = {name: own.reshape(-1, own.shape[-1]) for name, own in fit.draws.items()}
    values = {"median": expit(mean) * [20.0, 0.5], "spread": spread, "share": shares[:1]}
    values |= {name: truth[name].to_numpy() for name in ("rationality", "lapse")}
    return {
        f"{name} {place}": (draws[name][:, place] < value).mean()
        for name, own in values.items()
        for place, value in enumerate(own)
    }


def ranks(share: int, method: str) -> None:
    """Simulation-based calibration: ranks of the truth are uniform if the draws are right."""
    table = pd.DataFrame([study_ranks(seed, method) for seed in range(200 // share)])
    chances = {}
    for name, own in table.items():
        counts = np.histogram(own, bins=10, range=(0.0, 1.0))[0]
        chances[name] = chisquare(counts).pvalue
    print(f"{len(table)} studies of 4 people, 12 choices each, method {method}")
    print(pd.DataFrame({"mean rank": table.mean(), "chi-squared p": chances}).round(3).to_string())


def five_people() -> tuple[pd.DataFrame, dict[str, np.ndarray], people.Family]:
    """Return choices, problems and family of a study that can be integrated over a grid."""
    rng = np.random.default_rng(3)
    problems = {f"p{i}": rng.dirichlet(np.ones(6), size=3).T + 1e-3 for i in range(6)}
    rng = np.random.default_rng(2)
    truth = {"person": list("abcde"), "depth": rng.choice([0.0, 1.0], 5), "lapse": 0.05}
    truth["rationality"] = 20.0 * expit(-1.5 + 0.5 * rng.standard_normal(5))
    choices = people.simulate(pd.DataFrame(truth), problems, num_rounds=2, rng=2)
    return choices, problems, people.Family(depth=(0, 1), lapse=0.05)


def integrate(alone: people.Fit) -> dict[str, np.ndarray]:
    """Return posterior means of `five_people` by sums over a grid of parameters."""
    line = np.linspace(-12.0, 8.0, 401)
    values = 20.0 * expit(line)
    logs = [
        alone.likelihood(depth).log_likelihoods(np.tile(values[:, None, None], (1, 5, 1)))
        for depth in (0, 1)
    ]
    mean, spread = np.linspace(-5.0, 4.0, 91)[:, None], 0.1 + 2.9 * (np.arange(60) + 0.5) / 60
    z = (line - mean[..., None]) / spread[:, None]
    density = np.exp(-0.5 * z**2) / spread[:, None]
    evidence = np.einsum("mst,ktu->msku", density, np.exp(logs))
    first = np.einsum("mst,t,ktu->msku", density, values, np.exp(logs))
    share = (np.arange(40) + 0.5) / 40
    shares = np.stack([share, 1.0 - share])
    mixed = np.einsum("msku,kw->mswu", evidence, shares)
    posterior = (mixed / mixed.max(axis=(0, 1, 2))).prod(axis=-1)
    posterior *= (expit(mean) * expit(-mean))[..., None]
    posterior /= posterior.sum()
    deep = np.einsum("msw,msu,w,mswu->u", posterior, evidence[:, :, 1], 1.0 - share, 1.0 / mixed)
    return {
        "median": (posterior.sum(axis=(1, 2)) * 20.0 * expit(mean[:, 0])).sum(keepdims=True),
        "spread": (posterior.sum(axis=(0, 2)) * spread).sum(keepdims=True),
        "share": (posterior.sum(axis=(0, 1)) * shares).sum(axis=1),
        "rationality": np.einsum("msw,msku,kw,mswu->u", posterior, first, shares, 1.0 / mixed),
        "depth 1": deep,
    }


def grid(share: int, method: str) -> None:
    """Compare posterior means of `five_people` with integrals over a grid."""
    count = {"laplace": 20_000, "nuts": 100_000}[method] // share
    found = people.fit_group(*five_people(), method, 1, num_draws=count)
    print(f"{found}: differences from the grid's values, and standard errors, in per cent")
    effective = dict(zip(found.group.index, found.group["effective"], strict=True))
    sizes = {"rationality": found.effective}
    for name, own in integrate(found.fit).items():
        if name == "depth 1":
            print(f"  {name}: difference {np.abs(found.depth_probability[:, 1] - own).max():.4f}")
            continue
        draws = found.draws[name].reshape(-1, len(own))
        size = sizes.get(name, [n for label, n in effective.items() if label.startswith(name)])
        off = 100.0 * (draws.mean(axis=0) / own - 1.0)
        error = 100.0 * draws.std(axis=0) / np.sqrt(np.minimum(size, len(draws))) / own
        print(f"  {name}: {off.round(2)}, standard errors {error.round(2)}")


def group(share: int, method: str) -> None:
    depths = (0, 1, 2, np.inf)
    logits = (logit(3.0 / 20.0), 0.5), (logit(0.1 / 0.5), 0.8)
    truth = crowd(np.random.default_rng(5), 150 // share, depths, np.full(4, 0.25), *logits)
    for name, problems in (("positive tables", positive(40)), ("zeros", shapes(40, seed=1))):
        choices = people.simulate(truth, problems, num_rounds=2, rng=1)
        start, work = time.perf_counter(), time.process_time()
        found = people.fit_group(choices, problems, people.Family(depth=depths), method, 1)
        print(
            f"{name}: {time.perf_counter() - start:.0f} s, {time.process_time() - work:.0f} s of "
            f"processor; at least {found.effective.min():.0f} effective draws of a person"
        )
        print(found.group.round(4).to_string())
        for title, table in (("group", found.estimates), ("one by one", found.fit.estimates)):
            error = np.nanmean((table["rationality"] - truth["rationality"]) ** 2)
            depth = (table["depth"] == truth["depth"]).mean()
            print(f"  {title}: squared error of rationality {error:.2f}, depth right {depth:.1%}")


def problems(share: int, _: str) -> None:
    """Recover depths from ten of 60 problems: the most informative, ten at random, the least."""
    rng = np.random.default_rng(1)
    pools = {
        "positive, 6 x 4": {
            f"q{i}": rng.dirichlet(np.full(6, rng.choice([0.3, 1.0, 3.0])), size=4).T + 0.005
            for i in range(60)
        },
        "zeros and ones, 36 x 4": shapes(60, seed=2),
    }
    for title, pool in pools.items():
        for depths in ((1, np.inf), (0, 1), (0, 1, 2, np.inf)):
            family = people.Family(depth=depths, lapse=0.05)
            nats = people.informative(pool, family, rng=1).groupby("problem")["nats"].mean()
            order = nats.sort_values(ascending=False).index
            rng = np.random.default_rng(7)
            sets = [order[:10], order[-10:], *(rng.permutation(order)[:10] for _ in range(5))]
            best, worst, *others = (
                people.recover(
                    family,
                    {name: pool[name] for name in chosen},
                    num_people=600 // share,
                    num_rounds=1,
                    num_lessons=2,
                    rng=3,
                ).depth_accuracy
                for chosen in sets
            )
            known = ", ".join(f"{depth:g}" for depth in depths)
            print(
                f"| {title} | {known} | {best:.0%} | {np.mean(others):.0%} "
                f"({min(others):.0%} to {max(others):.0%}) | {worst:.0%} |"
            )


def speed(share: int, _: str) -> None:
    truth = {"depth": 1, "rationality": 3.0, "lapse": 0.1}
    for name, used in (("positive, 36 x 4", positive(40)), ("with zeros", shapes(40, seed=1))):
        choices = people.simulate(truth, used, num_people=150 // share, num_rounds=2, rng=1)
        start, work = time.perf_counter(), time.process_time()
        people.fit(choices, used, people.Family(depth=(0, 1, 2, 3, np.inf)))
        print(
            f"fit of {150 // share} people x 80 choices, depths 0 to 3 and infinity, {name}: "
            f"{time.perf_counter() - start:.1f} s, {time.process_time() - work:.1f} s of processor"
        )


PARTS = {part.__name__: part for part in (intervals, ranks, grid, group, problems, speed)}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=PARTS)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--method", default="laplace", choices=("laplace", "nuts"))
    given = parser.parse_args()
    PARTS[given.what](10 if given.quick else 1, given.method)
