"""``cobayes examples``: the built-in matrices."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from cobayes.cli import inputs, options, terminal
from cobayes.cli.app import command
from cobayes.errors import CobayesError

if TYPE_CHECKING:
    from cobayes.example_library import Example


@command("cobayes examples", "cobayes examples diagnosis --csv diagnosis.csv")
@options.argument("name", required=False, help="The example to show (default: list all).")
@options.as_json
@options.path("--csv", help="Write the matrix to a table that you can edit.")
@options.raw
def examples(name: str | None, as_json: bool, csv: Path | None, raw: bool) -> None:
    """List the built-in examples, show one, or write one to a file to start from."""
    from cobayes.example_library import examples as library
    from cobayes.reading import EXAMPLE_PREFIX

    if name is None:
        if csv is not None:
            raise CobayesError(
                "--csv needs the name of an example.", "cobayes examples diagnosis --csv FILE"
            )
        if as_json:
            terminal.show_json([_summary(example) for example in library.values()])
            return
        rows = [[name, _size(example), example.title] for name, example in library.items()]
        terminal.show_table(None, [("name", "<"), ("size", ">"), ("what it is", "<")], rows)
        terminal.show(
            "Use one anywhere a matrix is asked for: example:NAME (M1 and M1p also work)."
        )
        return
    example = library[name.removeprefix(EXAMPLE_PREFIX)]
    if csv is not None:
        inputs.check_outputs({"--csv": csv})
        example.model.to_csv(csv, raw=raw)
        terminal.say(f"wrote {csv}")
    if as_json:
        priors = {key: values.tolist() for key, values in example.priors.items()}
        terminal.show_json(
            {
                **_summary(example),
                "description": example.description,
                **example.model.to_dict(),
                "priors": priors,
            }
        )
    elif csv is None:
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
