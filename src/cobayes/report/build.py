"""Building a report: sections in folders of their own, and one page of all that are there."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import io
import json
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path
from types import FunctionType
from typing import Any

from cobayes import _core
from cobayes._input.labels import suggest
from cobayes._output import csv_text, frame_csv, write_text
from cobayes.errors import CobayesError, import_optional
from cobayes.plots.house import style
from cobayes.report.page import render_page
from cobayes.report.section import QUICK_SCALE, Context, Picture, Recipe, Section, Table
from cobayes.runs.plan import function_digest, package_digest, versions

PICTURE_FORMATS = ("svg", "png", "pdf")
FORMATS = (*PICTURE_FORMATS, "csv")
"""Formats of the files that a report writes beside its page."""

# A drawing with a longer SVG file (many points) is shown as PNG, which is then smaller.
_MAX_SVG_BYTES = 400_000
# A wider drawing takes the whole width of the page.
_COLUMN_INCHES = 6.0
_SECTION_FILE = "section.json"
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

    Every section has a folder of its own. A section that is there already is built again only if
    its code, the scale, the seed, a setting or the formats have changed, or its own files have. A
    method, a lambda or a function inside another one is run every time. Files that a builder reads
    are not looked at: use `fresh`.

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
        ``{seed}`` are filled in.
    scale
        The effort: 1 for the full numbers of samples (default: the quick numbers).
    seed
        The same seed gives the same numbers.
    formats
        Formats of pictures ("svg", "png", "pdf") and numbers ("csv") to save.
    fresh
        Whether to build the sections and to run their experiments from the start.
    settings
        Parameters of the chosen sections to change, see `Context.setting`.
    tell
        Called with a section's name and a line about its progress.
    **options
        Keywords of `cobayes.runs.run_all` such as executor and progress. Without an executor the
        experiments run in this process.

    Returns
    -------
    Path
        The page.

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
    chosen = choose_recipes(names, recipes)
    if scale is not None and not 0.0 < scale < math.inf:
        raise CobayesError(f"the scale is {scale}; it must be a positive number.")
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        raise CobayesError(
            f"{unknown[0]!r} is not a format.", f"choose among: {', '.join(FORMATS)}."
        )
    import_optional("matplotlib", "plots", "the report")
    place, changed = Path(folder), dict(settings or {})
    made = {"seed": seed, "scale": "quick" if scale is None else f"{scale:g}"}
    sets = "".join(f" --set {name}={value}" for name, value in changed.items())
    deleted: set[Path] = set()
    with _failures_explained(place):
        place.mkdir(parents=True, exist_ok=True)
        for number, recipe in enumerate(chosen, start=1):
            line = partial(tell or _be_silent, f"[{number}/{len(chosen)}] {recipe.name}")
            key = _key(recipe, [made, sorted(formats), changed])
            stored = load_section(place / recipe.name)
            if stored is not None and key and stored["key"] == key and not fresh:
                line("done before; nothing has changed since")
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


def write_page(
    folder: Path,
    recipes: Sequence[Recipe],
    *,
    title: str = "Report",
    lead: str = "",
    formats: Collection[str] = FORMATS,
) -> Path:
    """Write ``index.html`` and ``claims.csv`` from the sections in a report's folder.

    Parameters
    ----------
    folder
        The report's folder.
    recipes
        The sections to look for, in order.
    title, lead, formats
        See `build_report`.

    Returns
    -------
    Path
        The page.

    Examples
    --------
    >>> import tempfile
    >>> from cobayes import report
    >>> def build(context):
    ...     return report.Section("Mine", ("Some *words*.",))
    >>> mine = report.Recipe("mine", "a section of my own", build)
    >>> page = report.build_report(tempfile.mkdtemp(), [mine])
    >>> report.write_page(page.parent, [mine]) == page
    True
    """
    stored = ((recipe, load_section(folder / recipe.name)) for recipe in recipes)
    found = [
        {**content, "name": recipe.name, "is_opening": recipe.is_opening}
        for recipe, content in stored
        if content is not None
    ]
    claims = [{"section": item["name"], **claim} for item in found for claim in item["claims"]]
    has_csv = bool(claims) and "csv" in formats
    if has_csv:
        rows = [list(claims[0]), *(claim.values() for claim in claims)]
        write_text(folder / "claims.csv", csv_text(rows))
    page = folder / "index.html"
    # Replaced in one step: a reader never sees half a page.
    files = "claims.csv" if has_csv else ""
    write_text(page, render_page(found, folder, title=title, lead=lead, claims_file=files))
    return page


def choose_recipes(names: Sequence[str], recipes: Sequence[Recipe]) -> tuple[Recipe, ...]:
    """Return the recipes of these names in the report's order; no name means all.

    ``2``, ``S1`` and ``Figure2`` mean ``figure-2``, ``figure-s1`` and ``figure-2``.

    Parameters
    ----------
    names
        Names of sections, or numbers of figures.
    recipes
        All recipes of the report.
    """
    known = [recipe.name for recipe in recipes]
    chosen = set()
    for name in names:
        number = name.lower().removeprefix("figure").removeprefix("fig").strip(" .-_")
        found = name if name in known else f"figure-{number}"
        if found not in known:
            raise CobayesError(
                f"there is no part of the report called {name!r}.",
                suggest(name, known, limit=len(known)),
            )
        chosen.add(found)
    return tuple(recipe for recipe in recipes if not chosen or recipe.name in chosen)


def save_section(
    section: Section,
    folder: Path,
    *,
    made: dict[str, Any],
    formats: Collection[str] = FORMATS,
    key: str = "",
) -> None:
    """Write a section's pictures, numbers and words into its folder.

    Parameters
    ----------
    section
        What to write.
    folder
        The section's folder.
    made
        How it was made: command, seed, scale, seconds, versions, instruction set.
    formats
        Some of `FORMATS`. SVG or PNG is written in any case, for the page.
    key
        Digest of what the section depends on.
    """
    folder.mkdir(parents=True, exist_ok=True)
    downloads = [
        {"name": name, "label": text, "columns": {}} for name, text in section.downloads.items()
    ]
    for name, frame in section.data.items() if "csv" in formats else ():
        write_text(folder / f"{name}.csv", frame_csv(frame))
        label = f"{frame.attrs.get('title', name)} (CSV)"
        columns = frame.attrs.get("columns", {})
        downloads.append({"name": f"{name}.csv", "label": label, "columns": columns})
    content = {
        "title": section.title,
        "blocks": [_save_block(block, folder, formats) for block in section.blocks],
        "downloads": downloads,
        "claims": [asdict(claim) for claim in section.claims],
        "made": {**made, "sizes": section.sizes},
        "key": key,
    }
    content["digest"] = _digest(content, folder)
    # Written last: a section that was interrupted is not part of the report.
    write_text(folder / _SECTION_FILE, json.dumps(content, indent=1, ensure_ascii=False))


def load_section(folder: Path) -> dict[str, Any] | None:
    """Return what `save_section` wrote, or None where it or one of its files is not as written.

    Parameters
    ----------
    folder
        The section's folder.
    """
    try:
        content = json.loads((folder / _SECTION_FILE).read_text(encoding="utf-8"))
        is_ours = content.pop("digest") == _digest(content, folder)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None
    return content if is_ours else None


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
    """Return a digest of what decides how a section comes out; empty where it is not known.

    What a method, a lambda or a function inside another one depends on besides its code is unknown.
    """
    builder = recipe.builder()
    if not isinstance(builder, FunctionType) or "<" in builder.__qualname__:
        return ""
    parts = [recipe.name, *choices, package_digest(everything=True), function_digest(builder)]
    return hashlib.sha256(json.dumps(parts, default=str).encode()).hexdigest()


def _digest(content: dict[str, Any], folder: Path) -> str:
    """Return a digest of a stored section and of the files that it names."""
    whole = hashlib.sha256(json.dumps(content, sort_keys=True).encode())
    pictures = [name for block in content["blocks"] for name in block.get("files", ())]
    for name in (*pictures, *(item["name"] for item in content["downloads"])):
        path = folder / name
        # The page embeds these files: paths outside of the folder are refused.
        if Path(name).name != name or path.is_symlink():
            raise ValueError(name)
        whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()


def _save_block(
    block: str | Picture | Table, folder: Path, formats: Collection[str]
) -> dict[str, Any]:
    if isinstance(block, str):
        return {"kind": "text", "text": block}
    if isinstance(block, Table):
        return {"kind": "table", **asdict(block)}
    words = {"caption": block.caption, "alt": block.alt}
    if isinstance(block.figure, str):
        return {"kind": "live", "html": block.figure, **words}
    files = _save_drawing(block.figure, block.name, folder, formats)
    is_wide = bool(block.figure.get_figwidth() > _COLUMN_INCHES)
    return {"kind": "picture", "files": files, "is_wide": is_wide, **words}


def _save_drawing(drawing: Any, name: str, folder: Path, formats: Collection[str]) -> list[str]:
    """Save a drawing in the wanted formats; return the file names, the one to show first."""
    import matplotlib as mpl

    wanted = [suffix for suffix in PICTURE_FORMATS if suffix in formats]
    if not {"svg", "png"} & set(wanted):
        wanted.insert(0, "svg")
    # A fixed salt and no date: the same drawing gives the same bytes.
    metadata = {
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    files = [f"{name}.{suffix}" for suffix in wanted]
    for suffix, file in zip(wanted, files, strict=True):
        # Drawn in memory first: on a full disk Matplotlib would hide the operating system's error.
        content = io.BytesIO()
        with mpl.rc_context({"svg.hashsalt": name}):
            drawing.savefig(content, format=suffix, dpi=200, metadata=metadata.get(suffix))
        (folder / file).write_bytes(content.getvalue())
    if {"svg", "png"} <= set(wanted) and (folder / files[0]).stat().st_size > _MAX_SVG_BYTES:
        files[:2] = reversed(files[:2])
    return files


@contextlib.contextmanager
def _failures_explained(place: Path) -> Iterator[None]:
    """Turn a full disk or a folder that cannot be written into one clear line."""
    try:
        yield
    except FileExistsError:
        raise CobayesError(f"{place} is a file; the report needs a folder.") from None
    except OSError as error:
        if error.errno not in _CANNOT_WRITE:
            raise
        raise CobayesError(
            f"cannot write {str(error.filename or place)!r}: {error.strerror}.",
            "choose another folder, or make room; finished shards and sections are kept.",
        ) from error


def _be_silent(_name: str, _text: str) -> None:
    pass
