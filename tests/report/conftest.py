import matplotlib as mpl
import pytest

mpl.use("Agg")


FIRST_PARTS = ("worked-example", "lesson")


@pytest.fixture(scope="session")
def report(tmp_path_factory):
    """The first two parts of the report at quick scale, built once; later ones have own tests."""
    from cobayes.report.build import build_report

    folder = tmp_path_factory.mktemp("report")
    told = []
    page = build_report(
        folder, FIRST_PARTS, scale=0.01, seed=1, tell=lambda *line: told.append(line)
    )
    return page, told
