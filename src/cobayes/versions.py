"""The versions of cobayes, Python and the packages, for bug reports."""

from __future__ import annotations

__version__ = "0.3.0"

# The packages that cobayes uses, required ones first.
_PACKAGES = ("numpy", "scipy", "click", "lazy_loader", "threadpoolctl")
_OPTIONAL = ("pandas", "xarray", "pyarrow", "polars", "matplotlib", "distributed", "gymnasium")
_OPTIONAL += ("arviz-base", "arviz-stats", "jax")


def show_versions() -> None:
    """Print the versions of cobayes, Python and the packages in use, to paste into a bug report.

    Examples
    --------
    >>> import cobayes as cb
    >>> cb.show_versions()  # doctest: +ELLIPSIS
    cobayes ...
    """
    import importlib.metadata
    import os
    import platform
    import sys

    from cobayes import _core
    from cobayes._parallel import num_threads

    lines = {"cobayes": __version__, "python": sys.version.split()[0]}
    lines["system"] = f"{platform.system()} {platform.release()}, {platform.machine()}"
    lines["processors"] = f"{os.cpu_count()} (threads used: {num_threads()})"
    lines["instruction set"] = _core.instruction_set()
    for name in (*_PACKAGES, *_OPTIONAL):
        try:
            lines[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            lines[name] = "not installed"
    width = max(map(len, lines))
    print("\n".join(f"{name:<{width}}  {value}" for name, value in lines.items()))
