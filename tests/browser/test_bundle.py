"""Joining modules into one script."""

import re

import pytest

from cobayes.browser import bundle
from cobayes.errors import CobayesError


def test_every_module_comes_once_and_after_what_it_needs():
    text = bundle.bundle("page/main.js")
    order = re.findall(r"^// (\S+\.js)$", text, re.MULTILINE)
    assert len(order) == len(set(order))
    assert order[-1] == "page/main.js"
    assert order.index("twin/blocks.js") < order.index("twin/scaling.js")
    assert order.index("twin/rules.js") < order.index("page/lesson_data.js")


def test_no_import_or_export_is_left():
    text = bundle.bundle("page/main.js")
    assert re.search(r"^\s*(import|export)\b", text, re.MULTILINE) is None


def test_a_name_defined_twice_is_refused(monkeypatch):
    files = {
        "a.js": 'import { x } from "./b.js";\nconst twice = x;\n',
        "b.js": "export const x = 1;\nconst twice = 2;\n",
    }
    monkeypatch.setattr(bundle, "read", files.__getitem__)
    with pytest.raises(CobayesError, match="both define 'twice'"):
        bundle.bundle("a.js")


def test_a_circle_of_imports_is_refused(monkeypatch):
    files = {
        "a.js": 'import { x } from "./b.js";\nconst z = x;\n',
        "b.js": 'import { y } from "./c.js";\nexport const x = y;\n',
        "c.js": 'import { x } from "./b.js";\nexport const y = x;\n',
    }
    monkeypatch.setattr(bundle, "read", files.__getitem__)
    with pytest.raises(CobayesError, match=r"in a circle: b\.js -> c\.js -> b\.js\."):
        bundle.bundle("a.js")


def test_the_twin_exports_its_public_names():
    text = bundle.twin_module()
    assert text.startswith("/**\n * cobayes.js")
    for name in ("BI", "Pragmatic", "SCBI", "scalingBlocks", "Teacher", "Learner", "simulate"):
        assert name in text.rsplit("export {", 1)[1]
