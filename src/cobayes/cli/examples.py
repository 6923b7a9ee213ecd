"""``cobayes examples``: the built-in matrices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from cobayes.cli import inputs, options, output
from cobayes.errors import CobayesError

EPILOG = "Examples:\n\ncobayes examples\n\ncobayes examples diagnosis --csv diagnosis.csv"


def examples(
    name: Annotated[
        str | None,
        typer.Argument(metavar="NAME", help="The example to show (default: list all)."),
    ] = None,
    as_json: options.AsJson = False,
    csv: Annotated[
        Path | None,
        options.file_option("--csv", "Write the matrix to a table that you can edit."),
    ] = None,
    raw: options.Raw = False,
) -> None:
    """List the built-in examples, show one, or write one to a file to start from."""
    from cobayes.example_library import examples as library
    from cobayes.reading import EXAMPLE_PREFIX

    if name is None:
        if csv is not None:
            raise CobayesError(
                "--csv needs the name of an example.", "cobayes examples diagnosis --csv FILE"
            )
        if as_json:
            output.print_json([_summary(example) for example in library.values()])
        else:
            _print_list(library)
        return
    example = library[name.removeprefix(EXAMPLE_PREFIX)]
    if csv is not None:
        model = example.model
        rows = ([datum, *row] for datum, row in zip(model.data, model.matrix.tolist(), strict=True))
        inputs.check_outputs({"--csv": csv})
        output.write_csv(csv, ["datum", *model.hypotheses], rows, raw=raw)
        output.say(f"wrote {csv}")
    if as_json:
        priors = {key: values.tolist() for key, values in example.priors.items()}
        output.print_json(
            {
                **_summary(example),
                "description": example.description,
                **example.model.to_dict(),
                "priors": priors,
            }
        )
    elif csv is None:
        _print_one(example)


def _summary(example: Any) -> dict[str, Any]:
    return {
        "name": example.name,
        "title": example.title,
        "num_data": example.model.num_data,
        "num_hypotheses": example.model.num_hypotheses,
        "hypothesis": example.hypothesis,
    }


def _print_list(library: Any) -> None:
    from rich.text import Text

    table = output.table(None, [("name", "left"), ("size", "right"), ("what it is", "left")])
    for name, example in library.items():
        size = f"{example.model.num_data} x {example.model.num_hypotheses}"
        table.add_row(Text(name, style="bold"), Text(size), Text(example.title))
    console = output.console()
    console.print(table)
    console.print("Use one anywhere a matrix is asked for: example:NAME (M1 and M1p also work).")


def _print_one(example: Any) -> None:
    from rich.text import Text

    console = output.console()
    console.print(Text(example.title, style="bold"))
    console.print(Text(example.description + "\n"))
    model = example.model
    table = output.table(None, [("", "left"), *((name, "right") for name in model.hypotheses)])
    for datum, row in zip(model.data, model.matrix, strict=True):
        table.add_row(Text(datum, style="bold"), *(Text(f"{value:.4g}") for value in row))
    console.print(table)
    for name, values in example.priors.items():
        numbers = ", ".join(f"{value:.4g}" for value in values)
        console.print(Text(f"prior {name}: ", style="bold") + Text(numbers, style=""))
    console.print(Text("teaches: ", style="bold") + Text(example.hypothesis, style=""))
