"""Draws of the parameters of a group and of its people by NumPyro's No-U-Turn sampler.

The coordinates are centred and scaled with draws of Laplace's method, so that the posterior is
close to a standard normal distribution. A person's parameters are

    x = (precision * centre + mean / spread^2) / (precision + 1 / spread^2) + sd * z,
    sd = (precision + 1 / spread^2)^(-1/2),

where z are the coordinates, mean and spread are the group's, and centre and precision are those of
a normal approximation of the person's likelihood. If this approximation were exact, z would be
standard normal given the group. The sampler's target is the exact posterior: the likelihood is
summed over depths, and the Jacobian of these coordinates is part of the density. Single precision
is enough, since each person's maximal log-likelihood is subtracted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from cobayes.errors import import_optional, warn_user
from cobayes.people.groups import Group, GroupFit
from cobayes.people.likelihood import Likelihood
from cobayes.people.model import draw_many
from cobayes.people.problems import Array
from cobayes.people.result import Fit, Progress

NUM_CHAINS, NUM_WARMUP = 4, 200
# The number of draws between two reports of progress.
BLOCK = 50
# Chains continue until every R-hat of the group is below GOOD_R_HAT. Together they make at least
# the requested number of draws, or FEWEST_DRAWS if that is larger: with fewer draws R-hat is
# unreliable. They make at most MOST_TIMES times this minimum.
GOOD_R_HAT, MOST_TIMES, FEWEST_DRAWS = 1.01, 4, 800
# Lower bound on the precisions in the normal approximation of a person's likelihood.
LEAST_PRECISION = 1e-3


def draw_by_nuts(
    alone: Fit, guess: GroupFit, num_draws: int, random: np.random.Generator, tell: Progress
) -> GroupFit:
    """Return a group fit with the draws of NUM_CHAINS chains.

    Parameters
    ----------
    alone
        The separate fits of the people.
    guess
        Draws of the same posterior by Laplace's method.
    num_draws
        All chains together make at least this number of draws.
    random, tell
        The random generator, and the function that reports progress.
    """
    import jax

    hmc = import_optional("numpyro.infer.hmc", "people-groups", 'method="nuts"').hmc
    at, size = _posterior(alone, guess)
    start, step = hmc(lambda point: at(point)[0], algo="NUTS")
    # One compilation instead of one for each of its operations.
    start = jax.jit(start, static_argnames="num_warmup")

    @jax.jit
    def run(state: Any) -> Any:
        def once(state: Any, _: None) -> Any:
            state = step(state)
            return state, (*at(state.z)[1:], state.diverging)

        return jax.lax.scan(once, state, None, length=BLOCK)

    chains = []
    for _ in range(NUM_CHAINS):
        key = jax.random.key(int(random.integers(2**31)))
        first = random.standard_normal(size).astype(np.float32)
        chains.append(start(first, num_warmup=NUM_WARMUP, step_size=0.3, rng_key=key))
    num_warmup = NUM_WARMUP // BLOCK
    num_blocks = -(-max(num_draws, FEWEST_DRAWS) // (NUM_CHAINS * BLOCK))
    blocks = []
    for block in range(num_warmup + MOST_TIMES * num_blocks):
        drawn = []
        for number, state in enumerate(chains):
            share = (block + number / NUM_CHAINS) / (num_warmup + num_blocks)
            tell("warm-up" if block < num_warmup else "draws", min(share, 0.99))
            # JAX computes in the background; each block is awaited, so that the reported progress
            # is correct.
            chains[number], found = jax.block_until_ready(run(state))
            drawn.append(found)
        blocks.append([np.stack(parts) for parts in zip(*drawn, strict=True)])
        if len(blocks) >= num_warmup + num_blocks:
            parts = zip(*blocks[num_warmup:], strict=True)
            lines, people, log_depth, diverging = (
                np.concatenate(own, axis=1, dtype=np.float64) for own in parts
            )
            r_hat, effective = _diagnose(lines, len(alone.family.free_names()))
            if r_hat.max() < GOOD_R_HAT:
                break
    if r_hat.max() >= GOOD_R_HAT or diverging.any():
        warn_user(
            f"the chains have R-hat up to {r_hat.max():.3f} (below {GOOD_R_HAT} is good) and "
            f"{diverging.sum():.0f} divergent steps: the draws may miss a part of the posterior."
        )
    weights = special.softmax(log_depth, axis=-1)
    flat = weights.reshape(-1, weights.shape[-1])
    depth = draw_many(flat, random.random(len(flat))).reshape(weights.shape[:-1])
    effective_draws = _statistics().ess(people, chain_axis=0, draw_axis=1)
    by_person = effective_draws.min(axis=-1, initial=depth[..., 0].size)
    probability = weights.mean(axis=(0, 1))
    return GroupFit(alone, lines, people, depth, probability, by_person, effective, r_hat)


def _statistics() -> Any:
    return import_optional("arviz_stats.base", "people", "R-hat").array_stats


def _diagnose(lines: Array, num_free: int) -> tuple[Array, Array]:
    """Return R-hat and the effective number of draws of every quantity of the group."""
    group = Group.from_line(lines, num_free)
    values = np.concatenate([group.mean, group.spread, np.exp(group.log_share)], axis=-1)
    r_hat = np.ones(values.shape[-1])
    effective = r_hat * lines[..., 0].size
    # A single depth has the constant share one, for which R-hat is undefined.
    varied = np.ptp(values, axis=(0, 1)) > 0.0
    for found, measure in ((r_hat, _statistics().rhat), (effective, _statistics().ess)):
        found[varied] = measure(values[..., varied], chain_axis=0, draw_axis=1)
    return r_hat, effective


def _posterior(alone: Fit, guess: GroupFit) -> tuple[Callable, int]:
    """Return the posterior as a JAX function, and the number of its coordinates.

    With u people, p free parameters and k depths, the group has d = 2 p + k - 1 coordinates, the
    people have u p. The function takes all coordinates and returns four values: the negative log
    density; the group's parameters as `Group.from_line` takes them, (d,); people's parameters in
    logits, (u, p); the log weights of their depths, (u, k).
    """
    import jax
    from jax import numpy as jnp

    names = alone.family.free_names()
    lines, people = guess.lines[0], guess.people[0]
    num_units, num_free, num_lines = len(alone.groups), len(names), lines.shape[1]
    densities = [density_in_jax(alone.likelihood(depth), names) for depth in alone.family.depth]
    centre, peak = jnp.float32(lines.mean(axis=0)), jnp.float32(alone.arrays.value.max(1))
    covariance = np.atleast_2d(np.cov(lines.T)) + 1e-6 * np.eye(num_lines)
    root = jnp.float32(np.linalg.cholesky(covariance))
    # The normal approximation of each person's likelihood. Its precision is that of the posterior
    # draws minus that of the group's distribution; `pull` is its precision times its centre.
    group = Group.from_line(lines.mean(axis=0), num_free)
    mean, variance = people.mean(axis=0), people.var(axis=0)
    precision = np.maximum(1.0 / variance - group.spread**-2.0, LEAST_PRECISION)
    pull = (precision + group.spread**-2.0) * mean - group.mean * group.spread**-2.0
    precision, pull = jnp.float32(precision), jnp.float32(pull)

    def at(point: Any) -> tuple[Any, Any, Any, Any]:
        line = centre + root @ point[:num_lines]
        group = Group.from_line(line, num_free, jnp)
        total = precision + group.spread**-2.0
        z = point[num_lines:].reshape(num_units, num_free)
        people = (pull + group.mean * group.spread**-2.0) / total + total**-0.5 * z
        logs = jnp.stack([density(people) for density in densities], axis=1)
        logs += group.log_share - peak[:, None]
        log_prior = -0.5 * ((people - group.mean) / group.spread) ** 2 - jnp.log(group.spread)
        log_prior = log_prior.sum() - (jnp.logaddexp(0.0, line) + jnp.logaddexp(0.0, -line)).sum()
        log_jacobian = -0.5 * jnp.log(total).sum()
        value = jax.nn.logsumexp(logs, axis=1).sum() + log_prior + log_jacobian
        return -value, line, people, logs

    return at, num_lines + num_units * num_free


def density_in_jax(likelihood: Likelihood, names: tuple[str, ...]) -> Any:
    """Return a JAX function from points (u, p) in logits to log-likelihoods (u,).

    For ratings, and for free parameters of the learner in mind (see `cobayes.people.model`), NumPy
    computes the log-likelihoods, which takes about ten times as long.
    """
    import jax
    from jax import numpy as jnp

    from cobayes.jax import from_host

    family = likelihood.family
    if family.response == "rating" or set(likelihood.names) & set(family.inner):
        columns = [names.index(name) for name in likelihood.names]
        density = from_host(lambda points: likelihood.on_line(points)[:2])
        return lambda points: density(points[:, columns])
    every = np.arange(len(likelihood.rows))

    def relative(options: Array) -> Any:
        """Return the values of all options minus the value of the chosen option."""
        return jnp.float32(options - options[every, likelihood.answer][:, None])

    utility, log_base, even = likelihood.scores(likelihood.low[None])
    # Minus infinity is replaced by -1e9, since its derivatives would be NaN.
    base, slope = relative(np.maximum(log_base, -1e9)), relative(utility[0])
    lapsed = jnp.float32(even[every, likelihood.answer])
    features = dict(zip(family.features or {}, map(relative, likelihood.features), strict=True))

    def log_likelihoods(points: Any) -> Any:
        at = dict(zip(family.names, family.low.tolist(), strict=True))
        for name in likelihood.names:
            low, high = family.bounds[name]
            place = jax.nn.sigmoid(points[:, names.index(name)])
            at[name] = (low + (high - low) * place)[likelihood.units][:, None]
        logs = base + at[family.exponent] * slope
        for name, feature in features.items():
            logs += at[name] * feature
        chosen = jnp.exp(-jax.nn.logsumexp(logs, axis=1, keepdims=True))
        probability = (1.0 - at["lapse"]) * chosen + at["lapse"] * lapsed[:, None]
        return jax.ops.segment_sum(
            jnp.log(jnp.maximum(probability[:, 0], 1e-37)),
            likelihood.units,
            num_segments=likelihood.num_units,
            indices_are_sorted=True,
        )

    return log_likelihoods
