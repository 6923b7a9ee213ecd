"""``cobayes examples``: the built-in matrices."""

from __future__ import annotations

from typing import Any

from cobayes.cli import options, terminal
from cobayes.cli.inputs import Given
from cobayes.errors import CobayesError
from cobayes.example_library import Example
from cobayes.example_library import examples as library
from cobayes.reading import EXAMPLE_PREFIX


@options.command("cobayes examples", "cobayes examples diagnosis --csv diagnosis.csv")
@options.argument("name", required=False, help="The example to show (default: list all).")
@options.as_json
@options.output("--csv", help="Write the matrix to a table that you can edit.")
@options.raw
def examples(given: Given) -> None:
    """List the built-in examples, show one, or write one to a file to start from."""
    if given.name is None:
        if given.csv is not None:
            raise CobayesError(
                "--csv needs the name of an example.", "cobayes examples diagnosis --csv FILE"
            )
        if given.as_json:
            terminal.show_json([_summary(example) for example in library.values()])
            return
        rows = [[name, _size(example), example.title] for name, example in library.items()]
        terminal.show_table(None, [("name", "<"), ("size", ">"), ("what it is", "<")], rows)
        terminal.show(
            "Use one anywhere a matrix is asked for: example:NAME (M1 and M1p also work)."
        )
        return
    example = library[given.name.removeprefix(EXAMPLE_PREFIX)]
    if given.csv is not None:
        example.model.to_csv(given.csv, raw=given.raw)
        terminal.say(f"wrote {given.csv}")
    if given.as_json:
        priors = {key: values.tolist() for key, values in example.priors.items()}
        more = {"description": example.description, **example.model.to_dict(), "priors": priors}
        terminal.show_json({**_summary(example), **more})
    elif given.csv is None:
        _show(example)


def _size(example: Example) -> str:
    return f"{example.model.num_data} x {example.model.num_hypotheses}"


def _summary(example: Example) -> dict[str, Any]:
    return {
        "name": example.name,
        "title": example.title,
        "num_data": example.model.num_data,
        "num_hypotheses": example.model.num_hypotheses,
        "hypothesis": example.hypothesis,
    }


def _show(example: Example) -> None:
    terminal.show(example.title, bold=True)
    terminal.show_text(example.description)
    model = example.model
    rows = [
        [datum, *(f"{value:.4g}" for value in row)]
        for datum, row in zip(model.data, model.matrix, strict=True)
    ]
    terminal.show_table(None, [("", "<"), *((name, ">") for name in model.hypotheses)], rows)
    for name, values in example.priors.items():
        terminal.show(f"prior {name}: {', '.join(f'{value:.4g}' for value in values)}")
    terminal.show(f"teaches: {example.hypothesis}")
