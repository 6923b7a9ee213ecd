"""Cooperative inference and people's likelihoods as differentiable JAX functions.

Values are computed on the host by the native core and NumPy (`jax.pure_callback`). The functions
define their derivatives for JAX: ``jax.grad``, ``jit`` and ``vmap`` work, and samplers such as
those of NumPyro and BlackJAX can use the functions. Switch on ``jax_enable_x64``: JAX uses single
precision by default. The module needs JAX (``pip install '.[jax]'``).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cobayes.errors import import_optional
from cobayes.example_library import Example
from cobayes.model import Model, as_model

if TYPE_CHECKING:
    import jax
    import jax.numpy as jnp

    from cobayes.people import Family
else:
    jax = import_optional("jax", "jax", "cobayes.jax")
    jnp = import_optional("jax.numpy", "jax", "cobayes.jax")

__all__ = ["log_likelihood", "posteriors", "scale"]


def scale(matrix: Any, row_sums: Any = None, column_sums: Any = None) -> jax.Array:
    """Return a matrix scaled to given row and column sums, as in ``cobayes.scale(...).matrix``.

    The derivative follows from the implicit function theorem: it needs one linear system with as
    many unknowns as there are columns. Zero entries and zero sums are constants: they stay zero,
    and derivatives with respect to them are zero. It is an error if no matrix with these zeros has
    the given sums. In single precision, JAX's default, the result is float32.

    Parameters
    ----------
    matrix
        (n, m), not negative: an array, nested lists, a `Model` or an example.
    row_sums, column_sums
        (n,) and (m,); by default 1 for each row, and the same sum for all columns. The column sums
        are rescaled to the total of the row sums.

    Returns
    -------
    jax.Array
        (n, m): the scaled matrix.

    Examples
    --------
    >>> import jax
    >>> import cobayes.jax as cj
    >>> jax.grad(lambda m: cj.scale(m)[0, 0])(jax.numpy.array([[2.0, 1.0], [1.0, 1.0]])).shape
    (2, 2)
    """
    matrix = _as_array(matrix)
    n, m = matrix.shape
    rows = np.ones(n) if row_sums is None else jnp.asarray(row_sums)
    columns = np.ones(m) if column_sums is None else jnp.asarray(column_sums)
    return _scale(matrix, rows, columns)


@jax.jit  # one compilation instead of one for each operation
def _scale(matrix: jax.Array, rows: jax.Array, columns: jax.Array) -> jax.Array:
    # A sum of zero is made a constant: derivatives with respect to it are zero.
    rows, columns = (jnp.where(sums == 0.0, 0.0, sums) for sums in (rows, columns))
    columns *= rows.sum() / columns.sum()
    return _scaled(matrix, rows.astype(matrix.dtype), columns.astype(matrix.dtype))


def posteriors(matrix: Any, belief: Any) -> jax.Array:
    """Return an SCBI learner's belief after each possible datum; see ``cobayes.SCBI.posteriors``.

    Unlike that method, it raises an error if zeros in the matrix make the scaling impossible.

    Parameters
    ----------
    matrix
        (n, m), data by hypotheses: an array, nested lists, a `Model` or an example.
    belief
        (m,): the learner's belief before the datum, positive.

    Returns
    -------
    jax.Array
        (n, m): row d is the belief after datum d.

    Examples
    --------
    >>> import cobayes.jax as cj
    >>> [f"{belief:.3f}" for belief in cj.posteriors([[2, 1], [1, 1]], [0.5, 0.5])[0]]
    ['0.586', '0.414']
    """
    matrix, belief = _as_array(matrix), jnp.asarray(belief)
    return scale(matrix, None, len(matrix) * belief / belief.sum())


def log_likelihood(
    choices: Any, problems: Any, family: Family, *, priors: Mapping[str, Any] | None = None
) -> Callable[[Any], jax.Array]:
    """Return people's log-likelihood as a function that JAX can differentiate once.

    Parameters
    ----------
    choices, problems, family, priors
        As in `cobayes.people.LogLikelihood`, whose ``names`` list the parameters in order.

    Returns
    -------
    callable
        A function of the free parameters, (p,), that returns the log-likelihood; outside of the
        parameters' bounds it returns minus infinity.

    Examples
    --------
    >>> import jax
    >>> import cobayes.jax as cj
    >>> from cobayes import people
    >>> choices = {"person": ["a"], "round": [1], "hypothesis": [0], "datum": [0]}
    >>> family = people.Family(depth=1, lapse=0.0)
    >>> density = cj.log_likelihood(choices, [[0.9, 0.5], [0.1, 0.5]], family)
    >>> jax.grad(density)(jax.numpy.array([2.0])).shape
    (1,)
    """
    from cobayes.people import LogLikelihood

    return from_host(LogLikelihood(choices, problems, family, priors=priors))


def from_host(evaluate: Callable[[np.ndarray], Sequence[Any]]) -> Callable[[Any], jax.Array]:
    """Return a JAX function of points (..., p) that NumPy evaluates.

    Parameters
    ----------
    evaluate
        A function from points (..., p) to their values (...) and gradients (..., p).
    """

    def value_and_gradient(points: jax.Array) -> list[jax.Array]:
        def on_host(points: Any) -> list[np.ndarray]:
            found = evaluate(np.asarray(points, dtype=np.float64))
            return [np.asarray(part, dtype=points.dtype) for part in found]

        sizes = points.shape[:-1], points.shape
        shapes = [jax.ShapeDtypeStruct(size, points.dtype) for size in sizes]
        return jax.pure_callback(on_host, shapes, points, vmap_method="sequential")

    @jax.custom_jvp
    def value_of(points: jax.Array) -> jax.Array:
        return value_and_gradient(points)[0]

    @value_of.defjvp
    def _(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
        value, gradient = value_and_gradient(primals[0])
        return value, (gradient * tangents[0]).sum(axis=-1)

    return value_of


def _as_array(matrix: Any) -> jax.Array:
    is_labelled = isinstance(matrix, Model | Example)
    array = jnp.asarray(as_model(matrix).matrix if is_labelled else matrix)
    return array.astype(jnp.result_type(array, float))


@jax.custom_jvp
def _scaled(matrix: jax.Array, row_sums: jax.Array, column_sums: jax.Array) -> jax.Array:
    def on_host(*arguments: Any) -> np.ndarray:
        from cobayes.scaling import scale as scale_on_host

        given = [np.asarray(argument, dtype=np.float64) for argument in arguments]
        return scale_on_host(*given).matrix.astype(np.asarray(arguments[0]).dtype)

    shape = jax.ShapeDtypeStruct(matrix.shape, matrix.dtype)
    return jax.pure_callback(
        on_host, shape, matrix, row_sums, column_sums, vmap_method="sequential"
    )


@_scaled.defjvp
def _(primals: Any, tangents: Any) -> tuple[jax.Array, jax.Array]:
    """Return the scaled matrix S and dS = S dM / M + diag(a) S + S diag(b).

    The vectors a and b are chosen so that the row and column sums of S have the given changes.
    """
    scaled = _scaled(*primals)
    by_matrix = scaled / jnp.where(primals[0] > 0.0, primals[0], 1.0) * tangents[0]
    row_change = tangents[1] - by_matrix.sum(axis=1)
    column_change = tangents[2] - by_matrix.sum(axis=0)
    totals = scaled.sum(axis=1)
    totals = jnp.where(totals > 0.0, totals, 1.0)  # a row of zeros does not change
    share = scaled / totals[:, None]
    # In a connected block, a and b are unique up to a constant, which the pseudoinverse chooses.
    system = jnp.diag(scaled.sum(axis=0)) - share.T @ scaled
    b = jnp.linalg.pinv(system, hermitian=True) @ (column_change - share.T @ row_change)
    a = row_change / totals - share @ b
    return scaled, by_matrix + a[:, None] * scaled + scaled * b
