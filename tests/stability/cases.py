"""Cases that several tests of this folder share."""

import numpy as np

import cobayes as cb


def perturbed(prior, rng, size):
    """Move a prior by a random step of about that size, staying inside the simplex."""
    step = rng.standard_normal(len(prior))
    step -= step.mean()
    return np.clip(prior + size * step / np.linalg.norm(step), 0.01, None)


def varied_cases():
    """Return twenty pairs of a teacher and a learner: (name, teacher, learner, priors, h)."""
    rng = np.random.default_rng(20)
    cases = []
    for k in range(14):
        n, m = int(rng.integers(2, 6)), int(rng.integers(2, 6))
        teacher = rng.dirichlet(np.ones(n), m).T + 0.02
        learner = None if k % 2 else teacher * np.exp(0.15 * rng.standard_normal((n, m)))
        own = rng.dirichlet(np.full(m, 3.0))
        theirs = perturbed(own, rng, 0.15)
        h = int(np.argmax(own)) if k % 3 else int(rng.integers(m))
        cases.append((f"random {k}, {n}x{m}", teacher, learner, own, theirs / theirs.sum(), h))
    for name in ("M_1", "M_3", "M_4", "M'_1", "M'_3"):
        example = cb.examples[name]
        own = next(iter(example.priors.values()))
        theirs = perturbed(own, rng, 0.2)
        cases.append((name, example.model, None, own, theirs / theirs.sum(), 0))
    gestures = cb.examples["gestures"]
    cases.append(
        ("gestures", gestures.model, None, gestures.priors["uniform"], gestures.priors["tidy"], 1)
    )
    assert len(cases) == 20
    return cases
