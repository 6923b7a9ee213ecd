"""Reports: sections with figures, tables, numbers and claims with verdicts, on one page.

The paper's report consists of such sections (`cobayes.paper`); you can add your own sections, or
build your own report.

>>> from cobayes import report
>>> def build(context):
...     return report.Section("Mine", ("Some *words*.",))
>>> mine = report.Recipe("mine", "a section of my own", build)
>>> page = report.build_report("my-report", [mine])  # doctest: +SKIP
"""

from __future__ import annotations

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
