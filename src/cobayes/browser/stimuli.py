"""Stimuli of an experiment: the texts and pictures that stand for labels on the screen."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Mapping
from pathlib import Path

from cobayes._output import without_guard
from cobayes.errors import CobayesError
from cobayes.model import Model
from cobayes.reading import existing_file, read_text

Stimuli = str | Path | Iterable[Mapping[str, str]]
"""Rows with the columns of `COLUMNS`, or a CSV file that holds them."""

COLUMNS = ("label", "text", "image", "alt", "problem")
IMAGE_TYPES = (".gif", ".jpeg", ".jpg", ".png", ".svg", ".webp")


def read_stimuli(
    stimuli: Stimuli | None, models: Mapping[str, Model]
) -> tuple[dict[str, dict[str, dict[str, str]]], dict[str, Path]]:
    """Return the stimuli of each problem by label, and the files to copy by their new names.

    Parameters
    ----------
    stimuli
        The rows, or the CSV file; images in a file are relative to its folder.
    models
        The problems by name.
    """
    found: dict[str, dict[str, dict[str, str]]] = {name: {} for name in models}
    images: dict[str, Path] = {}
    folder, rows = _rows(stimuli)
    for row in rows:
        label, problem = row.get("label", ""), row.get("problem", "")
        targets = [
            name
            for name, model in models.items()
            if problem in ("", name) and label in (*model.data, *model.hypotheses)
        ]
        if not targets:
            where = f"problem {problem!r} has no" if problem else "no problem has a"
            raise CobayesError(
                f"the stimuli name {label!r}, but {where} datum or hypothesis of that name.",
                "write the label as it stands in the table.",
            )
        shown = _stimulus(row, label)
        if row.get("image"):
            shown["image"] = _image(row["image"], folder, images)
        for name in targets:
            found[name][label] = shown
    return found, images


def _rows(stimuli: Stimuli | None) -> tuple[Path, list[dict[str, str]]]:
    """Return the folder to which paths of images are relative, and the rows as texts."""
    folder, rows = Path(), [] if stimuli is None else stimuli
    if isinstance(rows, str | Path):
        file = existing_file(rows)
        folder = file.parent
        try:
            rows = list(csv.DictReader(io.StringIO(read_text(file), newline="")))
        except csv.Error as error:
            raise CobayesError(
                f"the stimuli cannot be read from {file}: {error}.",
                "name images as files where data URIs are long.",
            ) from error
    made: list[dict[str, str]] = []
    for row in rows:
        unknown = [str(name) for name in row if name not in COLUMNS]
        if unknown or "label" not in row:
            raise CobayesError(
                f"a row of the stimuli has the column {unknown[0]!r}."
                if unknown
                else "a row of the stimuli has no label.",
                f"the columns are {', '.join(COLUMNS)}; only label is required.",
            )
        made.append({name: without_guard(str(cell or "").strip()) for name, cell in row.items()})
    return folder, made


def _stimulus(row: Mapping[str, str], label: str) -> dict[str, str]:
    """Return text and alternative text; the label where the row has no text, image or alt."""
    is_empty = not (row.get("text") or row.get("image") or row.get("alt"))
    return {"text": label if is_empty else row.get("text", ""), "alt": row.get("alt") or label}


def _image(text: str, folder: Path, images: dict[str, Path]) -> str:
    """Return the image's address on the page, and add a file to the images to be copied."""
    if text.startswith("data:image/"):
        return text
    path = folder / text
    if ":/" in text or path.suffix.lower() not in IMAGE_TYPES or not path.is_file():
        raise CobayesError(
            f"the image {text[:80]!r} is not a file in {folder.absolute()} that can be shown.",
            f"give a local file ({', '.join(IMAGE_TYPES)}) or a data URI (data:image/...).",
        )
    known = [name for name, source in images.items() if source == path]
    name = known[0] if known else f"images/{len(images) + 1}{path.suffix.lower()}"
    images[name] = path
    return name
