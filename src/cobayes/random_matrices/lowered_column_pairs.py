"""Sums over pairs of columns of eight matrices, in LLVM's own terms; see `column_pairs`.

Vectors of eight numbers are loaded, multiplied and added as such; LLVM fits them to what
vectors the processor has. The three kernels at the end do what those of `plain_column_pairs` do.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from cobayes._runtime.compiled import compiled
from cobayes._runtime.vector_math import FUSED, use_wide_vectors
from cobayes.random_matrices.plain_column_pairs import WIDTH

# Inside compiled code an intrinsic is called without its first argument; types cannot say so.
lowered: Any = intrinsic

VECTOR_BYTES = 8 * WIDTH
_WORD = ir.IntType(64)
_FUSED = ("contract",)
_VECTOR = ir.VectorType(ir.DoubleType(), WIDTH)


class _Vectors:
    """Loads, stores and arithmetic on vectors of eight, at addresses given in bytes."""

    def __init__(self, builder) -> None:
        self.builder = builder

    def _pointer(self, address, plane: int, stride, offset=None):
        address = self.builder.add(address, self.builder.mul(stride, _WORD(plane)))
        if offset is not None:
            address = self.builder.add(address, offset)
        return self.builder.inttoptr(address, _VECTOR.as_pointer())

    def load(self, address, plane, stride, offset=None):
        return self.builder.load(self._pointer(address, plane, stride, offset), align=8)

    def store(self, value, address, plane, stride):
        self.builder.store(value, self._pointer(address, plane, stride), align=8)

    def extreme(self, order, left, right):
        return self.builder.select(self.builder.fcmp_ordered(order, left, right), left, right)

    def sums(self, columns, num_data, terms):
        """Sum over rows; a term is one plane, or two to be multiplied."""
        builder = self.builder
        zero = ir.Constant(_VECTOR, [0.0] * WIDTH)
        variables = [cgutils.alloca_once(builder, _VECTOR) for _ in terms]
        for variable in variables:
            builder.store(zero, variable)
        with cgutils.for_range(builder, num_data) as loop:
            offset = builder.mul(loop.index, _WORD(VECTOR_BYTES))
            rows = {
                name: self.load(address, plane, stride, offset)
                for name, (address, plane, stride) in columns.items()
            }
            for variable, term in zip(variables, terms, strict=True):
                total = builder.load(variable)
                value = rows[term[0]]
                for name in term[1:]:
                    value = builder.fmul(value, rows[name], flags=_FUSED)
                builder.store(builder.fadd(total, value, flags=_FUSED), variable)
        return [builder.load(variable) for variable in variables]


def _pair_values(vectors, first, second, stride, num_data, first_totals, second_totals, step):
    """Return, for both directions, how near two columns are under either rule."""
    builder = vectors.builder
    columns = {f"a{plane}": (first, plane, stride) for plane in range(3)}
    columns |= {f"b{plane}": (second, plane, stride) for plane in range(3)}
    sums = vectors.sums(columns, num_data, [("a0", "b1"), ("b0", "a1"), ("b0", "a2"), ("a0", "b2")])
    values = []
    for own, other, cross, ratio in (
        (first_totals, second_totals, sums[0], sums[2]),
        (second_totals, first_totals, sums[1], sums[3]),
    ):
        cross = builder.fmul(cross, vectors.load(own, 0, step))
        values.append(builder.fsub(cross, vectors.load(other, 1, step)))
        values.append(builder.fmul(ratio, vectors.load(other, 2, step)))
    return values


@lowered
def compare_columns(
    typingctx,  # noqa: ARG001
    first,  # noqa: ARG001
    second,  # noqa: ARG001
    stride,  # noqa: ARG001
    num_data,  # noqa: ARG001
    first_totals,  # noqa: ARG001
    second_totals,  # noqa: ARG001
    totals_stride,  # noqa: ARG001
):
    """Update the nearest neighbours of two columns, both rules, both directions.

    Parameters
    ----------
    first, second
        Addresses of two columns, (n, 8) numbers x; `stride` and twice `stride` bytes further
        on are log x and 1/x.
    num_data
        The number of rows n.
    first_totals, second_totals
        Addresses of eight numbers 1/S; further on, at multiples of `totals_stride` bytes,
        log S, exp(-c), and the two results: the largest sum x_h log x_b / S_h - log S_b
        and the smallest sum x_b / x_h exp(-c_b) so far.
    """

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        vectors = _Vectors(builder)
        values = _pair_values(vectors, *arguments)
        first_totals, second_totals, stride = arguments[4:]
        for own, plane, order, value in (
            (first_totals, 3, ">", values[0]),
            (first_totals, 4, "<", values[1]),
            (second_totals, 3, ">", values[2]),
            (second_totals, 4, "<", values[3]),
        ):
            best = vectors.load(own, plane, stride)
            vectors.store(vectors.extreme(order, value, best), own, plane, stride)
        return context.get_dummy_value()

    return types.none(*(types.int64,) * 7), generate


@lowered
def pair_of_columns(
    typingctx,  # noqa: ARG001
    first,  # noqa: ARG001
    second,  # noqa: ARG001
    stride,  # noqa: ARG001
    num_data,  # noqa: ARG001
    first_totals,  # noqa: ARG001
    second_totals,  # noqa: ARG001
    totals_stride,  # noqa: ARG001
    out,  # noqa: ARG001
    out_stride,  # noqa: ARG001
):
    """Store what `compare_columns` takes extremes of, for one pair of columns.

    Parameters
    ----------
    first, second, stride, num_data, first_totals, second_totals, totals_stride
        As in `compare_columns`.
    out, out_stride
        Address of the first result and bytes between results: the cross term and the ratio
        with the first column taught, then both with the second one taught.
    """

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        vectors = _Vectors(builder)
        for plane, value in enumerate(_pair_values(vectors, *arguments[:7])):
            vectors.store(value, arguments[7], plane, arguments[8])
        return context.get_dummy_value()

    return types.none(*(types.int64,) * 9), generate


@lowered
def sum_column(typingctx, column, stride, num_data, totals, totals_stride):  # noqa: ARG001
    """Store the sums over one column of x, x log x and log x in planes 0, 1 and 2.

    Parameters
    ----------
    column, stride, num_data, totals, totals_stride
        As in `compare_columns`.
    """

    def generate(context, builder, signature, arguments):  # noqa: ARG001
        column, stride, num_data, totals, totals_stride = arguments
        vectors = _Vectors(builder)
        columns = {"x": (column, 0, stride), "log": (column, 1, stride)}
        sums = vectors.sums(columns, num_data, [("x",), ("x", "log"), ("log",)])
        for plane, total in enumerate(sums):
            vectors.store(total, totals, plane, totals_stride)
        return context.get_dummy_value()

    return types.none(*(types.int64,) * 5), generate


@compiled(fastmath=FUSED)
def sum_columns(planes, first, last, num_data, totals):
    """Put the sums over some columns of x, x log x and log x into the first three rows."""
    use_wide_vectors()
    # Signed like the offsets: Numba would make a float of signed plus unsigned.
    entries, sums = np.int64(planes.ctypes.data), np.int64(totals.ctypes.data)
    for column in range(first, last):
        sum_column(
            entries + column * num_data * VECTOR_BYTES,
            planes.strides[0],
            num_data,
            sums + column * VECTOR_BYTES,
            totals.strides[0],
        )


@compiled(fastmath=FUSED)
def find_nearest(planes, num_data, num_hypotheses, totals):
    """Compare all pairs of columns and keep the nearest neighbours of each, under both rules."""
    use_wide_vectors()
    entries, sums = np.int64(planes.ctypes.data), np.int64(totals.ctypes.data)
    for a in range(num_hypotheses):
        for b in range(a + 1, num_hypotheses):
            compare_columns(
                entries + a * num_data * VECTOR_BYTES,
                entries + b * num_data * VECTOR_BYTES,
                planes.strides[0],
                num_data,
                sums + a * VECTOR_BYTES,
                sums + b * VECTOR_BYTES,
                totals.strides[0],
            )


@compiled(fastmath=FUSED)
def pairs_with(column, planes, totals, num_data, out):
    """Compare one column with the first m: what `find_nearest` takes extremes of."""
    use_wide_vectors()
    entries, sums = np.int64(planes.ctypes.data), np.int64(totals.ctypes.data)
    result = np.int64(out.ctypes.data)
    for other in range(out.shape[1] // WIDTH):
        pair_of_columns(
            entries + column * num_data * VECTOR_BYTES,
            entries + other * num_data * VECTOR_BYTES,
            planes.strides[0],
            num_data,
            sums + column * VECTOR_BYTES,
            sums + other * VECTOR_BYTES,
            totals.strides[0],
            result + other * VECTOR_BYTES,
            out.strides[0],
        )
