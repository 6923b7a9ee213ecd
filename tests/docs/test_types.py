"""The code of README and docs passes pyright, as users' editors check it."""

import ast
import json
import subprocess
import sys
from pathlib import Path

from tests.docs.pages import NOT_RUN, PAGES, ROOT, blocks_of


def code_of(page):
    """Return the python blocks of a page as one module, each at its own lines."""
    text = page.read_text(encoding="utf-8")
    lines = [""] * (text.count("\n") + 1)
    for block in blocks_of(text):
        if block.language == "python" and not NOT_RUN.search(
            text[: block.start].rsplit("```", 1)[0]
        ):
            start = block.line(text) - 1
            content = block.content.splitlines()
            lines[start : start + len(content)] = content
    return "\n".join(lines) + "\n"


def test_the_code_of_all_pages_passes_a_type_checker(tmp_path):
    modules = {}
    for page in PAGES:
        code = code_of(page)
        if code.strip():
            file = tmp_path / f"{'_'.join(page.relative_to(ROOT).with_suffix('').parts)}.py"
            file.write_text(code, encoding="utf-8")
            modules[str(file)] = page
    settings = {
        "include": [str(tmp_path)],
        "extraPaths": [str(ROOT / "src")],
        "pythonVersion": "3.11",
        # Notebooks and pages show values of expressions; packages beside ours have poor types.
        "reportUnusedExpression": False,
        "reportMissingImports": False,
    }
    (tmp_path / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    pyright = Path(sys.executable).parent / "pyright"
    done = subprocess.run(
        [pyright, "-p", tmp_path, "--pythonpath", sys.executable, "--outputjson"],
        capture_output=True,
        text=True,
        check=False,
    )
    found = [
        f"{modules[entry['file']].name}:{entry['range']['start']['line'] + 1}: {entry['message']}"
        for entry in json.loads(done.stdout)["generalDiagnostics"]
        if entry["severity"] == "error"
    ]
    assert not found, "\n".join(found)


def test_priors_of_all_functions_are_typed_alike():
    """Arrays, or mappings by label: `Distribution`."""
    names = {"prior", "learner_prior", "teacher_prior"}
    wrong = []
    for path in (ROOT / "src" / "cobayes").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.FunctionDef):
                continue
            for argument in (*node.args.args, *node.args.kwonlyargs):
                kind = argument.annotation and ast.unparse(argument.annotation)
                if argument.arg in names and kind in ("ArrayLike", "ArrayLike | None"):
                    wrong.append((path.name, node.name, argument.arg))
    assert wrong == []
