"""Where compiled kernels are kept on disk, and when they are out of date.

Numba dates a cached kernel by its own source file. That is too little, because the kernels that it
calls are compiled into it, and too much, because a changed docstring changes the file. Here a
kernel is dated by its bytecode and by that of everything it refers to.
"""

from __future__ import annotations

import hashlib
import logging
import pickle
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime.nrt import rtsys

from cobayes._runtime.compilation import begins

logger = logging.getLogger("cobayes")

CHECKSUM_LENGTH = 32


class KernelCache(IndexDataCacheFile):
    """The cache files of one kernel: stamped by code, checked on reading, dispensable.

    Parameters
    ----------
    cache_path
        The folder.
    filename_base
        Numba's name for the files. The line number in it is left out, so that text added above a
        kernel does not outdate it.
    dispatcher
        The kernel.
    """

    def __init__(self, cache_path: str, filename_base: str, dispatcher: Any) -> None:
        base = re.sub(r"-\d+(?=\.)", "", filename_base)
        cells = dispatcher.py_func.__closure__
        if cells:  # kernels made by one factory differ in what they enclose
            enclosed = repr([_name(cell.cell_contents) for cell in cells])
            base += "-" + hashlib.sha256(enclosed.encode()).hexdigest()[:8]
        super().__init__(cache_path, base, None)
        # Found when it is first needed: a kernel may call kernels that are defined after it.
        del self.__dict__["_source_stamp"]
        self._dispatcher = dispatcher

    @cached_property
    def _source_stamp(self) -> str:
        return code_stamp(self._dispatcher)

    def load(self, key: Any) -> Any:
        """Return what is cached, or None where there is nothing or it is damaged."""
        try:
            found = super().load(key)
        except Exception as error:  # a damaged pickle may raise anything
            logger.info("a damaged kernel cache is rebuilt: %s (%s)", self._index_path, error)
            found = None
        if found is None:
            begins()
        return found

    def save(self, key: Any, data: Any) -> None:
        """Write to disk; where that fails, what was compiled is still in memory."""
        try:
            super().save(key, data)
        except OSError as error:
            logger.info("a compiled kernel could not be cached: %s", error)

    def _load_index(self) -> dict[Any, str]:
        try:
            return super()._load_index()
        except OSError:
            raise
        except Exception as error:
            logger.info("a damaged kernel cache is rebuilt: %s (%s)", self._index_path, error)
            return {}

    def _load_data(self, name: str) -> Any:
        with open(self._data_path(name), "rb") as file:
            content = file.read()
        checksum, payload = content[:CHECKSUM_LENGTH], content[CHECKSUM_LENGTH:]
        # Damaged machine code would not raise an error: it would run.
        if hashlib.sha256(payload).digest() != checksum:
            raise ValueError(f"the checksum of {name} is wrong")
        return pickle.loads(payload)

    def _save_data(self, name: str, data: Any) -> None:
        payload = self._dump(data)
        with self._open_for_write(self._data_path(name)) as file:
            file.write(hashlib.sha256(payload).digest() + payload)


_Impl: Any = FunctionCache._impl_class


def _or_filled(locator: Any) -> Any:
    """Let one of Numba's folders be taken where it has the kernel, though it cannot be written."""

    class Filled(locator):
        def __init__(self, function: Any, file: str) -> None:
            super().__init__(function, file)
            name = f"{Path(file).stem}.{function.__qualname__}".replace("<", "").replace(">", "")
            self._pattern = f"{name}.*.nbi"

        def ensure_cache_path(self) -> None:
            try:
                super().ensure_cache_path()
            except OSError:
                if not any(Path(self.get_cache_path()).glob(self._pattern)):
                    raise

    return Filled


class _KernelImpl(_Impl):
    """Looks for the folder of the environment variable, then for the one beside the source.

    Either may be part of a read-only image.
    """

    _locator_classes = (*map(_or_filled, _Impl._locator_classes[:2]), *_Impl._locator_classes[2:])


class KernelStore(FunctionCache):
    """Numba's cache of one kernel, which may be in a folder that cannot be written any more."""

    _impl_class = _KernelImpl

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        # The stamp has the code and what it encloses. Numba's key would have the identity of
        # enclosed kernels, which every process draws anew: nothing would ever be found.
        return sig, codegen.magic_tuple()

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return a kernel from the disk, or None; start no more of Numba than that needs.

        Numba's own method first loads all that it knows of types, half a second that only
        compiling needs; the compiler does it itself.
        """
        rtsys.initialize(target_context)
        return self._load_overload(sig, target_context)


def _name(value: Any) -> str:
    """Return what tells enclosed values apart: the name of a kernel, else how it is written."""
    function = getattr(value, "py_func", value)
    return getattr(function, "__qualname__", None) or repr(value)


def code_stamp(kernel: Any) -> str:
    """Return a digest of a kernel's code and of all code and constants that it refers to."""
    digest = hashlib.sha256()
    for part in _parts(kernel, set()):
        digest.update(part.encode() + b"\0")
    return digest.hexdigest()


def _parts(value: Any, seen: set[int]) -> Iterator[str]:
    """List as text what decides how something that a kernel refers to is compiled."""
    # A dispatcher wraps a function; so does an intrinsic, and a class may be a NamedTuple.
    function = getattr(value, "py_func", None) or getattr(value, "_defn", None) or value
    if isinstance(function, FunctionType):
        if id(function) in seen:
            return
        seen.add(id(function))
        for option, setting in sorted(getattr(value, "targetoptions", {}).items()):
            yield option + _text(setting)
        yield str(getattr(value, "in_registers", False))
        for cell in function.__closure__ or ():
            yield from _parts(cell.cell_contents, seen)
        names: set[str] = set()
        yield from _code_parts(function.__code__, function.__doc__, names)
        yield from _named_parts(names, function.__globals__, seen)
    elif isinstance(value, type) and hasattr(value, "_fields"):
        yield f"{value.__name__}{value._fields}"
    elif isinstance(value, (bool, int, float, str, tuple)):
        yield repr(value)
    elif hasattr(value, "tobytes"):
        yield f"{value.dtype}{value.shape}{hashlib.sha256(value.tobytes()).hexdigest()}"
    else:
        yield getattr(value, "__name__", type(value).__name__)


def _named_parts(names: set[str], scope: dict[str, Any], seen: set[int]) -> Iterator[str]:
    """List the parts of what names stand for, in a module and in our modules that it names."""
    for name in sorted(names & scope.keys()):
        value = scope[name]
        yield name
        if isinstance(value, ModuleType) and value.__name__.startswith("cobayes"):
            yield from _named_parts(names, vars(value), seen)
        else:
            yield from _parts(value, seen)


def _code_parts(code: CodeType, doc: str | None, names: set[str]) -> Iterator[str]:
    """List bytecode and constants, without docstrings and line numbers; collect the names."""
    names.update(code.co_names)
    yield code.co_code.hex()
    yield repr((code.co_names, code.co_varnames, code.co_freevars))
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            inner = constant.co_consts[0] if constant.co_consts else None
            yield from _code_parts(constant, inner if isinstance(inner, str) else None, names)
        elif constant is not doc and constant != doc:
            yield _text(constant)


def _text(value: Any) -> str:
    """Return a text that is the same in every process; sets of strings have no fixed order."""
    return repr(sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value)
