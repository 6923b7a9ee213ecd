"""The report: builds sections and writes one page of all that are there."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from cobayes._input.labels import suggest
from cobayes._output import write_text
from cobayes.errors import CobayesError, import_optional
from cobayes.plots.house import style
from cobayes.report.claims import Claim
from cobayes.report.data_table import DataTable, column
from cobayes.report.page import PageSection, render_page
from cobayes.report.runner import Runner
from cobayes.report.saving import load_section, save_section
from cobayes.report.section import FORMATS, QUICK_SCALE, Context, Made, Recipe
from cobayes.runs.code import package_digest

Tell = Callable[[str], None]


def build_report(
    folder: str | Path,
    names: Sequence[str] = (),
    *,
    recipes: Sequence[Recipe] | None = None,
    scale: float | None = None,
    seed: int = 2020,
    formats: Collection[str] = FORMATS,
    runner: Runner | None = None,
    tell: Callable[[str, str], None] | None = None,
) -> Path:
    """Build sections of the report and write its page.

    Every section has a folder of its own; the page shows all sections that are there, the ones
    built earlier too, so that a long one need not be built again to add another. A section that
    would come out the same is left as it is.

    Parameters
    ----------
    folder
        Where the report goes; ``index.html`` is its page.
    names
        Which sections to build; none means all.
    recipes
        The sections that there are, in the page's order; those of the paper when left out. Add
        your own to them: ``(*cobayes.paper.RECIPES, mine)``.
    scale
        The effort as a share of the paper's own numbers of samples; the quick numbers, which
        take minutes, when left out.
    seed
        The same seed gives the same numbers.
    formats
        What to save: "svg", "png", "pdf" (pictures), "csv", "netcdf" (numbers).
    runner
        Computes the experiments; in this process when left out.
    tell
        Called with a section's name and a line about its progress.

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
    >>> report.build_report(tempfile.mkdtemp(), recipes=[mine]).name
    'index.html'
    """
    known = paper_recipes() if recipes is None else tuple(recipes)
    chosen = choose_recipes(names, known)
    if scale is not None and (not scale > 0.0 or scale == float("inf")):
        raise CobayesError(f"the scale is {scale}; it must be a positive number.")
    unknown = sorted(set(formats) - set(FORMATS))
    if unknown:
        raise CobayesError(
            f"there is no format {unknown[0]!r}.", f"choose among: {', '.join(FORMATS)}."
        )
    import_optional("matplotlib", "plots", "the report")
    place = Path(folder)
    if place.exists() and not place.is_dir():
        raise CobayesError(f"{place} is a file; the report needs a folder.")
    builder = _Builder(place, scale, seed, frozenset(formats), runner or Runner(jobs=1))
    try:
        place.mkdir(parents=True, exist_ok=True)
        for number, recipe in enumerate(chosen, start=1):
            prefix = f"[{number}/{len(chosen)}] {recipe.name}"
            builder.build(recipe, _speaker(tell, prefix))
        return write_page(place, known, formats)
    except PermissionError as error:
        raise CobayesError(
            f"{error.filename} cannot be written: {error.strerror}.", "choose another folder."
        ) from None


def write_page(
    folder: Path, recipes: Sequence[Recipe] | None = None, formats: Collection[str] = FORMATS
) -> Path:
    """Write ``index.html``, and the claims as files, from the sections that lie in the folder.

    Parameters
    ----------
    folder
        The report's folder.
    recipes
        The sections to look for, in order; those of the paper when left out.
    formats
        Formats of the claims: "csv" and "netcdf" are heeded.

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
    >>> page = report.build_report(tempfile.mkdtemp(), recipes=[mine])
    >>> report.write_page(page.parent, recipes=[mine]) == page
    True
    """
    from cobayes import __version__

    found = []
    for recipe in paper_recipes() if recipes is None else recipes:
        content = load_section(folder / recipe.name)
        if content is not None:
            found.append(PageSection(recipe.name, folder / recipe.name, content, recipe.is_opening))
    claims_files = _write_claims(folder, found, formats)
    page = folder / "index.html"
    # Replaced in one step: a reader never sees half a page.
    write_text(page, render_page(found, __version__, claims_files))
    return page


def paper_recipes() -> tuple[Recipe, ...]:
    """Return the sections of the paper's report."""
    from cobayes.paper import RECIPES

    return RECIPES


def choose_recipes(names: Sequence[str], recipes: Sequence[Recipe]) -> tuple[Recipe, ...]:
    """Return the recipes of these names in the report's order; no name means all.

    ``2``, ``S1`` and ``Figure2`` mean ``figure-2``, ``figure-s1`` and ``figure-2``.

    Parameters
    ----------
    names
        As the user writes them.
    recipes
        All that there are.
    """
    known = {recipe.name: recipe for recipe in recipes}
    chosen = set()
    for name in names:
        found = name if name in known else f"figure-{_figure_number(name)}"
        if found not in known:
            raise CobayesError(
                f"there is no part of the report called {name!r}.",
                suggest(name, list(known), limit=len(known)),
            )
        chosen.add(found)
    return tuple(recipe for recipe in recipes if not chosen or recipe.name in chosen)


def _figure_number(name: str) -> str:
    text = name.lower()
    for prefix in ("figure", "fig"):
        text = text.removeprefix(prefix)
    return text.strip(" .-_")


def scale_in_words(scale: float | None) -> str:
    """Return the scale as the command line takes it."""
    if scale is None:
        return "quick"
    return "paper" if scale == 1.0 else f"{scale:g}"


class _Builder:
    """Builds sections with one set of options."""

    def __init__(
        self,
        place: Path,
        scale: float | None,
        seed: int,
        formats: frozenset[str],
        runner: Runner,
    ) -> None:
        self._place = place
        self._scale = scale
        self._seed = seed
        self._formats = formats
        self._runner = runner

    def build(self, recipe: Recipe, tell: Tell) -> None:
        from cobayes import __version__

        folder = self._place / recipe.name
        key = self._key()
        before = load_section(folder)
        if before is not None and before.get("key") == key and not self._runner.fresh:
            tell("done before; nothing has changed since")
            return
        tell("started")
        start = time.perf_counter()
        folder.mkdir(parents=True, exist_ok=True)
        runner = self._runner
        here, in_all = runner.seconds_here, runner.seconds_in_all
        context = Context(
            recipe.name,
            QUICK_SCALE if self._scale is None else self._scale,
            self._seed,
            folder,
            tell,
            is_quick=self._scale is None,
            runner=runner,
        )
        # Nothing is written before the section is complete, except run data, which can be resumed.
        with style():
            section = recipe.make(context)
        # A run that was resumed, or found complete, took its time in earlier sessions.
        earlier = (runner.seconds_in_all - in_all) - (runner.seconds_here - here)
        words = scale_in_words(self._scale)
        made = Made(
            f"cobayes reproduce {recipe.name} --scale {words} --seed {self._seed}",
            self._seed,
            words,
            time.perf_counter() - start + max(0.0, earlier),
            __version__,
            section.sizes,
        )
        tell("drawing")
        with style():
            save_section(section, made, folder, formats=self._formats, key=key)
        tell(f"done in {time.perf_counter() - start:.1f} s")

    def _key(self) -> str:
        """Return what decides how a section comes out."""
        return json.dumps(
            [
                scale_in_words(self._scale),
                self._seed,
                sorted(self._formats),
                package_digest(everything=True),
            ]
        )


def _write_claims(
    folder: Path, sections: Sequence[PageSection], formats: Collection[str]
) -> list[str]:
    """Write the claims of all sections as one table; return the names of the files."""
    claims = [
        (section.name, Claim(**claim))
        for section in sections
        for claim in section.content["claims"]
    ]
    if not claims:
        return []
    described = (
        ("topic", "what the claim is about"),
        ("statement", "what is claimed"),
        ("source", "where the paper says so"),
        ("verdict", "holds, holds except, does not hold, or not decided"),
        ("measured", "the figure behind the verdict"),
        ("uncertainty", "how sure that figure is"),
        ("rule", "how the verdict follows from the figure"),
    )
    table = DataTable(
        "claims",
        "The paper's claims, judged",
        (
            column("section", [name for name, _ in claims], "part of the report", is_key=True),
            *(
                column(name, [getattr(claim, name) for _, claim in claims], text)
                for name, text in described
            ),
        ),
        row="claim",
    )
    names = []
    if "csv" in formats:
        names.append(table.write_csv(folder))
    if "netcdf" in formats:
        names.append(table.write_netcdf(folder))
    return names


def _speaker(tell: Callable[[str, str], None] | None, prefix: str) -> Tell:
    def speak(text: str) -> None:
        if tell is not None:
            tell(prefix, text)

    return speak
