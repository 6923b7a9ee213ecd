"""The numbers of docs/published.md, from data that others published.

The data are not part of cobayes: clone the repositories that the page names, then run
``python -m benchmarks.published_data problems problems.json``, ``... evidence evidence.txt``,
``... reference-games models.csv`` or ``... turtles exp2_data_cleaned.csv``.
"""

import argparse
import json
import re

import numpy as np
import pandas as pd

import cobayes as cb
from cobayes import people

# Whether a face has a feature: hat, glasses, mustache (rows) by foil, target, logical (columns).
LAYOUTS = {
    "simple": [[0, 0, 1], [0, 1, 1], [1, 0, 0]],
    "complex": [[0, 0, 1], [0, 1, 1], [1, 1, 0]],
    "twins": [[0, 1, 1], [1, 0, 0], [1, 1, 1]],
    "oddman": [[1, 1, 0], [1, 0, 1], [0, 1, 1]],
}
FACES = ["foil", "target", "logical"]
WORDS = ["hat", "glasses", "mustache"]


def read_shapes(path: str) -> dict[str, np.ndarray]:
    """Return the teaching problems, cells by shapes; cells in no shape are left out."""
    with open(path, encoding="utf-8") as file:
        found = json.load(file)
    tables = [np.column_stack([np.ravel(one[name]) for name in "ABCD"]) for one in found]
    return {f"p{i:02d}": table[table.any(axis=1)] for i, table in enumerate(tables)}


def problems(path: str) -> None:
    """Print the share of recovered depths and the coverage of intervals for these problems."""
    tables = read_shapes(path)
    shares = [100.0 * (table == 0).mean() for table in tables.values()]
    print(f"{len(tables)} problems with {min(shares):.0f} to {max(shares):.0f} % zeros")
    for rounds, count in ((2, 500), (5, 200)):
        found = people.recover(
            people.Family(depth=(1, np.inf)),
            tables,
            num_people=count,
            num_rounds=rounds,
            parameters={"rationality": 3.0, "lapse": 0.02},
            rng=1,
        )
        share = 100.0 * found.depth_accuracy
        print(f"{found.num_choices} choices, {count} people: depth of {share:.1f} % recovered")
    for depth in (1, np.inf):
        found = people.recover(
            people.Family(depth=depth),
            tables,
            num_people=1000,
            num_rounds=2,
            parameters={"rationality": 3.0, "lapse": 0.1},
            rng=2,
        )
        print(f"depth {depth:g}: {(100 * found.coverage['coverage']).round(1).to_dict()} % covered")


def evidence(path: str) -> None:
    """Print exceedance probabilities of published log evidence, a matrix in NumPy's format."""
    with open(path, encoding="utf-8") as file:
        text = file.read()
    shape = [int(size) for size in re.findall(r"\((\d+), (\d+)\)", text)[0]]
    numbers = [float(number) for number in re.findall(r"-?\d+\.\d*", text)]
    found = people.exceedance(np.reshape(numbers, shape))
    print("exceedance", found.exceedance)
    print("omnibus risk", found.omnibus_risk)


def read_games(path: str) -> tuple[pd.DataFrame, dict[str, cb.Model], dict[str, np.ndarray]]:
    """Return guesses, layouts and priors of the reference games; one problem per condition."""
    table = pd.read_csv(path)
    table = table[table["expt"] != "lang"]
    rows, layouts, priors = [], {}, {}
    for (experiment, condition), group in table.groupby(["expt", "cond"], sort=False):
        name = f"{experiment}-{condition}"
        first = group.iloc[0]
        layouts[name] = cb.Model(LAYOUTS[first["matrix"]], WORDS, FACES)
        priors[name] = first[FACES].to_numpy(dtype=float)
        counts = group.set_index("object")["count"]
        if name == "complex-1":
            # Here the roles in models.csv contradict the word, so the roles in levels.csv are used.
            counts = counts.rename({"target": "logical", "logical": "target"})
        # Each of two twins has half of their count; if that count is odd, the target has one more.
        counts = {face: int(np.ceil(counts[face] - 0.5 * (face == "logical"))) for face in FACES}
        rows += [(name, first["query"], face, count) for face, count in counts.items()]
    columns = ["problem", "datum", "guess", "count"]
    return pd.DataFrame(rows, columns=columns), layouts, priors


def reference_games(path: str) -> None:
    """Print fits of listeners' depths to pooled guesses, with a free lapse."""
    guesses, layouts, priors = read_games(path)
    is_simple = guesses["problem"].str.match("color|baserate|simple")
    depth = (0, 1, 2, 3, 4, np.inf)
    for title, table in (("simple layout", guesses[is_simple]), ("all layouts", guesses)):
        count, conditions = table["count"].sum(), table["problem"].unique()
        own = {name: priors[name] for name in conditions}
        print(f"{title}: {len(conditions)} conditions, {count} guesses, ", end="")
        print(f"chance {-count * np.log(3):.1f}")
        for literal in ("truth", "likelihood"):
            for sharpness in (1.0, (0.0, 20.0)):
                family = people.Family(
                    depth=depth,
                    response="guess",
                    literal=literal,
                    rationality=1.0,
                    sharpness=sharpness,
                )
                found = people.fit(table, layouts, family, None, priors=own, intervals=None)
                print(literal, sharpness, found.depths["log_likelihood"].round(1).tolist())
        family = people.Family(depth=1, response="guess", literal="truth", rationality=(0.0, 10.0))
        found = people.fit(table, layouts, family, None, priors=own)
        print("rationality free, depth 1:", found.estimates.round(2).to_dict("records"))


def turtles(path: str) -> None:
    """Print fits to the pooled first guesses of learners of a proportion."""
    table = pd.read_csv(path)
    table = table[(table["guess"] == 1) & table["first_guess"].notna()]
    guesses = pd.DataFrame(
        {
            "person": table["subject_id"],
            "round": 1,
            "lesson": table["island_idx"],
            "datum": table["first_examples_a"].astype(int),
            "guess": table["first_guess"].map({0.3: "0.3", 0.7: "0.7"}),
        }
    )
    shown = np.arange(6)
    likelihood = np.column_stack([q**shown * (1 - q) ** (5 - shown) for q in (0.3, 0.7)])
    likelihood *= np.array([1, 5, 10, 10, 5, 1])[:, None]
    model = cb.Model(likelihood, [str(i) for i in shown], ["0.3", "0.7"])
    odds = (0.7 / 0.3) ** 8  # nine turtles of one colour and one of the other were seen before
    priors = {"*": np.array([1.0, odds]) / (1.0 + odds)}
    print(f"{len(guesses)} guesses of {guesses['person'].nunique()} people, odds {odds:.0f}")
    for temperature in (1.0, (0.0, 2.0)):
        family = people.Family(
            depth=(0, 1, 2, np.inf),
            response="guess",
            rationality=1.0,
            sharpness=(0.0, 20.0),
            prior_temperature=temperature,
        )
        found = people.fit(guesses, model, family, None, priors=priors)
        print(temperature, found.depths.round(2).to_string())
        print(found.estimates.round(2).to_dict("records"))
    family = family.at(prior_temperature=1.0)
    for method in ("laplace", "nuts"):
        group = people.fit_group(guesses, model, family, method, 1, priors=priors)
        print(method, group.group.round(3).to_string())
        print(group.estimates.filter(like="depth_").max().round(2).to_dict())
    group.plot("sharpness").figure.savefig("turtles.png", dpi=90)
    alone = group.fit.estimates["sharpness"]
    print(f"sharpness not identified in {alone.isna().sum()} of {len(alone)} separate fits")


COMMANDS = {
    "problems": problems,
    "evidence": evidence,
    "reference-games": reference_games,
    "turtles": turtles,
}

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=COMMANDS)
    parser.add_argument("path")
    arguments = parser.parse_args()
    COMMANDS[arguments.what](arguments.path)
