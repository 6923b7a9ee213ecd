"""The one decorator for compiled kernels.

Kernels are compiled when they are first called and cached on disk. Where no folder can be
written (a read-only install without a home), they are compiled again in every process, unless the
folder was filled before it became read-only.

A kernel is compiled into whatever kernel calls it. Else a function would exist in two copies, its
own and one inside its caller, optimised differently and so rounded differently; which of them runs
would depend on whether the process has compiled them or found them in the cache.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import config, types

from cobayes._runtime.compilation import attended
from cobayes._runtime.kernel_cache import KernelCache, KernelStore

# Its attributes are made when it is imported; types cannot say so.
_settings: Any = config

Function = TypeVar("Function", bound=Callable[..., Any])

# Lets sums be vectorised, and nothing else: NaN and infinity keep their meaning.
REASSOCIATE = {"reassoc", "contract"}


def compiled(
    *,
    fastmath: bool | set[str] = False,
    in_registers: bool = False,
    inner: bool = False,
    **options: Any,
) -> Callable[[Function], Function]:
    """Compile a function at its first call, without the interpreter's lock, cached on disk.

    Parameters
    ----------
    fastmath
        At most `REASSOCIATE`; more would break the checks for NaN.
    in_registers
        Keep tuples of numbers in vector registers; see `cobayes._runtime.eights`. In other kernels
        the compiler would then no longer make vectors of loops.
    inner
        Only kernels call it: it gets no entry from Python, which takes a fifth of the time that
        kernels take to compile.
    **options
        Further options of `numba.njit`.
    """

    def decorate(function: Function) -> Function:
        settings = {
            "nogil": True,
            "error_model": "numpy",
            "fastmath": fastmath,
            "forceinline": True,
            "no_cfunc_wrapper": True,
            "no_cpython_wrapper": inner,
            **options,
        }
        dispatcher: Any = numba.njit(**settings)(function)
        is_cached = True
        try:
            store: Any = KernelStore(function)
        except RuntimeError:  # no place to put a cache
            is_cached = False
        else:
            dispatcher._cache = store
            place = store._cache_path, store._impl.filename_base
            store._cache_file = KernelCache(*place, dispatcher)
        dispatcher.in_registers = in_registers
        if inner:
            # Numba would take the missing entry for one and call nothing.
            dispatcher.add_overload = functools.partial(_remember, dispatcher)
            dispatcher._compile_for_args = functools.partial(_refuse, function.__name__)
        dispatcher.get_call_template = _for_all_numbers(dispatcher.get_call_template)
        dispatcher.compile = attended(
            _with_vectors(dispatcher.compile, in_registers), is_cached=is_cached
        )
        return dispatcher

    return decorate


def _remember(dispatcher: Any, compiled_kernel: Any) -> None:
    """Let kernels, but not Python, find what was compiled."""
    dispatcher.overloads[tuple(compiled_kernel.signature.args)] = compiled_kernel


def _refuse(name: str, *_: Any, **__: Any) -> Any:
    raise TypeError(f"{name} is called by kernels only; leave out inner=True to call it")


def _for_all_numbers(find: Callable[..., Any]) -> Callable[..., Any]:
    """Let kernels be compiled for any number where they are called with a constant.

    Numba would compile a kernel again for every constant; inlining does as much for speed.
    """

    def find_template(arguments: Any, keywords: Any) -> Any:
        plain = tuple(types.unliteral(argument) for argument in arguments)
        return find(plain, {key: types.unliteral(value) for key, value in keywords.items()})

    return find_template


def _with_vectors(compile_kernel: Callable[..., Any], in_registers: bool) -> Callable[..., Any]:
    """Set, for one kernel, whether numbers that stand side by side become vectors.

    To Numba this is a setting of the whole process, off by default.
    """

    @functools.wraps(compile_kernel)
    def compile_with_vectors(*arguments: Any) -> Any:
        before = _settings.SLP_VECTORIZE
        _settings.SLP_VECTORIZE = int(in_registers)
        try:
            return compile_kernel(*arguments)
        finally:
            _settings.SLP_VECTORIZE = before

    return compile_with_vectors
