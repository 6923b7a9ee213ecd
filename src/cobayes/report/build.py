"""Build a report: run the builders of changed sections, and write the page of all sections."""

from __future__ import annotations

import errno
import hashlib
import json
import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

from cobayes import _core
from cobayes._input.labels import find
from cobayes._input.validation import one_of
from cobayes.errors import CobayesError, import_optional
from cobayes.plots.house import style
from cobayes.report.page import FORMATS, load_section, save_section, write_page
from cobayes.report.section import QUICK_SCALE, Context, Recipe
from cobayes.runs.plan import function_digest, package_digest, versions

_CANNOT_WRITE = (errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOSPC, errno.EDQUOT, errno.ENOTDIR)


def build_report(
    folder: str | Path,
    recipes: Sequence[Recipe],
    names: Sequence[str] = (),
    *,
    title: str = "Report",
    lead: str = "",
    command: str = "",
    scale: float | None = None,
    seed: int = 2020,
    formats: Collection[str] = FORMATS,
    fresh: bool = False,
    settings: Mapping[str, Any] | None = None,
    tell: Callable[[str, str], None] | None = None,
    **options: Any,
) -> Path:
    """Build sections and write the page of all sections that are in the folder.

    Every section has its own folder. An existing section is built again only after a change of its
    builder's code, the code of cobayes, the scale, the seed, a setting, the formats or the
    section's own files. A builder that is not a plain function of a module (a method, a lambda, a
    nested function, a `functools.partial`) is always run. If other files that a builder reads have
    changed, use `fresh`.

    Parameters
    ----------
    folder
        The report's folder; ``index.html`` is its page.
    recipes
        The sections of the report, in the page's order.
    names
        Names of the sections to build (default: all).
    title, lead
        The page's heading, and Markdown below it.
    command
        The command line that builds one section, shown below it; ``{name}``, ``{scale}`` and
        ``{seed}`` are filled in, and ``--set NAME=VALUE`` is appended for each of the `settings`.
    scale
        The effort: 1 for the full numbers of samples (default: the quick numbers).
    seed
        The same seed gives the same numbers.
    formats
        Formats of pictures ("svg", "png", "pdf") and numbers ("csv") to save.
    fresh
        Whether to build unchanged sections, too, and to run experiments from the start.
    settings
        New values for parameters, which every chosen section must have. See `Context.setting`.
    tell
        Called with two texts: the section, such as "[1/3] NAME" for the first of three, and its
        progress.
    **options
        Keywords of `cobayes.runs.run_all`: executor, progress, and jobs, the number of processes
        (default: 1, this process).

    Returns
    -------
    Path
        The path of ``index.html``.

    Examples
    --------
    >>> import tempfile
    >>> from cobayes import report
    >>> def build(context):
    ...     return report.Section("Mine", ("Some *words*.",))
    >>> mine = report.Recipe("mine", "a section of my own", build)
    >>> report.build_report(tempfile.mkdtemp(), [mine], title="My report").name
    'index.html'
    """
    for name in names:
        find(name, [recipe.name for recipe in recipes], "part of the report")
    chosen = [recipe for recipe in recipes if not names or recipe.name in names]
    if scale is not None and not 0.0 < scale < math.inf:
        raise CobayesError(f"the scale is {scale}; it must be a positive number.")
    for kind in formats:
        one_of(kind, "a format", FORMATS)
    import_optional("matplotlib", "plots", "the report")
    place, changed = Path(folder), dict(settings or {})
    made = {"seed": seed, "scale": "quick" if scale is None else f"{scale:g}"}
    sets = "".join(f" --set {name}={value}" for name, value in changed.items())
    deleted: set[Path] = set()
    try:
        for path in (place, *(place / recipe.name for recipe in chosen)):
            if path.exists() and not path.is_dir():
                raise CobayesError(f"{path} is a file; the report needs a folder.")
        place.mkdir(parents=True, exist_ok=True)
        for number, recipe in enumerate(chosen, start=1):
            line = partial(tell or (lambda *_: None), f"[{number}/{len(chosen)}] {recipe.name}")
            key = _key(recipe, [made, sorted(formats), changed])
            stored = load_section(place / recipe.name)
            if stored is not None and key and stored["key"] == key and not fresh:
                line("unchanged since it was built")
                continue
            context = Context(
                recipe.name,
                QUICK_SCALE if scale is None else scale,
                seed,
                place / recipe.name,
                line,
                is_quick=scale is None,
                options=options if "executor" in options else {"jobs": 1, **options},
                fresh=fresh,
                settings=changed,
                _deleted=deleted,
            )
            own = {"command": (command.format(name=recipe.name, **made) + sets).strip(), **made}
            _build(recipe, context, formats, own, key)
        return write_page(place, recipes, title=title, lead=lead, formats=formats)
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        raise CobayesError(
            f"cannot write {str(error.filename or place)!r}: {error.strerror}.",
            "choose another folder, or free disk space; finished shards and sections are kept.",
        ) from error


def _build(
    recipe: Recipe, context: Context, formats: Collection[str], made: dict[str, Any], key: str
) -> None:
    context.tell("started")
    start = time.perf_counter()
    context.folder.mkdir(parents=True, exist_ok=True)
    with style():
        section = recipe.builder()(context)
        context.check_settings()
        seconds = time.perf_counter() - start + context.extra_seconds
        context.tell("drawing")
        made |= {"seconds": seconds, "versions": versions()}
        made["instruction_set"] = _core.instruction_set()
        save_section(section, context.folder, made=made, formats=formats, key=key)
    context.tell(f"done in {time.perf_counter() - start:.1f} s")


def _key(recipe: Recipe, choices: list[Any]) -> str:
    """Return a digest of a section's code, scale, seed, formats and settings.

    The digest is empty unless the builder is a plain function of a module: the variables of a
    method, a lambda, a nested function or a `functools.partial` may change unnoticed.
    """
    builder = recipe.builder()
    if not isinstance(builder, FunctionType) or "<" in builder.__qualname__:
        return ""
    parts = [recipe.name, *choices, package_digest(everything=True), function_digest(builder)]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()
