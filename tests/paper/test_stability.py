"""Figures 4, 5 and S2 to S7 as sections of the report."""

import numpy as np
import pandas as pd
import pytest

from cobayes.paper.stability import FIGURES, build
from cobayes.report.page import load_section, save_section
from cobayes.report.section import Context, Picture, Table

NAMES = ("4", "S2", "S3", "S4", "S5", "S6", "5", "S7")


@pytest.fixture(scope="module")
def sections(tmp_path_factory):
    """All eight sections with few sequences and learners, in one folder as in a report."""
    folder = tmp_path_factory.mktemp("report")
    few = {
        "disc": {"num_circles": 3},
        "directions": {"num_distances": 5},
        "uniform": {"num_uniform": 60},
        "column": {"num_column_circles": 3, "num_curve": 20, "num_mixtures": 12},
    }
    found = {}
    for name, figure in FIGURES.items():
        settings = {"num_lessons": 60}
        for case in figure.cases:
            settings |= few[case.kind]
        found[name] = build(Context(name, 0.01, 5, folder / name, is_quick=True, settings=settings))
    return folder, found


pytestmark = pytest.mark.slow


def test_every_section_has_pictures_numbers_claims_and_sizes(sections):
    _, found = sections
    assert list(found) == [f"figure-{name.lower()}" for name in NAMES]
    for section in found.values():
        pictures = [block for block in section.blocks if isinstance(block, Picture)]
        assert pictures
        assert all(len(picture.alt) > 20 and picture.caption for picture in pictures)
        assert section.data
        assert section.claims
        assert "60 teaching sequences" in section.sizes
        assert "0 of" in section.sizes


def test_captions_of_figure_4_state_the_noise_of_their_dots(sections):
    section = sections[1]["figure-4"]
    captions = [block.caption for block in section.blocks if isinstance(block, Picture)]
    tables = [table for table in section.data.values() for _ in range(2)]
    for caption, table, kind in zip(
        captions, tables, ("disc", "uniform", "directions", "uniform"), strict=True
    ):
        error = table.success_stderr[table.kind == kind].max()
        assert "Means of 60 teaching sequences" in caption
        assert f"standard error of a dot is {error:.2g}." in " ".join(caption.split())


@pytest.mark.parametrize(
    ("name", "panels"),
    [
        ("figure-4", 4),
        ("figure-5", 4),
        ("figure-s2", 30),
        ("figure-s3", 27),
        ("figure-s4", 10),
        ("figure-s5", 25),
        ("figure-s6", 9),
        ("figure-s7", 20),
    ],
)
def test_figures_have_all_the_papers_panels(sections, name, panels):
    _, found = sections
    axes = [
        ax
        for block in found[name].blocks
        if isinstance(block, Picture)
        for ax in block.figure.axes
        if not ax.get_label().startswith("<colorbar>")
    ]
    assert len([ax for ax in axes if ax.has_data() and not is_color_bar(ax)]) == panels


def is_color_bar(ax):
    return hasattr(ax, "_colorbar")


def test_rays_are_part_of_the_discs(sections):
    _, found = sections
    (discs,), (rays,) = (found[name].data.values() for name in ("figure-s2", "figure-s3"))
    chosen = (discs["ray"] > 0) | (discs["kind"] == "centre")
    assert chosen.sum() == len(rays)
    assert np.array_equal(discs["success"][chosen], rays["success"])


@pytest.mark.parametrize(
    ("shown", "kinds", "full"),
    [
        (("figure-4", 0), ("centre", "disc"), "figure-s2"),
        (("figure-4", 0), ("uniform",), "figure-s5"),
        (("figure-4", 1), ("centre", "directions"), "figure-s4"),
        (("figure-4", 1), ("uniform",), "figure-s6"),
        (("figure-5", 0), ("centre", "disc", "equal divergence", "mixture"), "figure-s7"),
    ],
)
def test_shown_cases_are_those_of_the_supplement(sections, shown, kinds, full):
    _, found = sections
    name, number = shown
    some, (everything,) = [*found[name].data.values()][number], found[full].data.values()
    own = np.isin(some["kind"], kinds)
    same = (everything["matrix"] == some["matrix"][0]) & (everything["prior"] == some["prior"][0])
    assert np.array_equal(np.sort(some["success"][own]), np.sort(everything["success"][same]))


def test_success_rates_keep_the_proved_bounds(sections):
    # 60 sequences for each learner: Hoeffding's inequality, an error rate of 1 % for each section.
    _, found = sections
    verdicts = {
        claim.verdict
        for name in ("figure-4", "figure-s5", "figure-s6")
        for claim in found[name].claims
        if "is bounded by" in claim.statement
    }
    assert verdicts == {"holds"}


def test_teachers_own_learner_never_fails(sections):
    _, found = sections
    for name in ("figure-s2", "figure-s4", "figure-s7"):
        (table,) = found[name].data.values()
        centre = table["kind"] == "centre"
        assert (table["success"][centre] > 1.0 - 1e-5).all()


def test_upper_bound_is_drawn_in_figures_4b_and_s5(sections):
    _, found = sections
    (picture,) = [
        block
        for block in found["figure-4"].blocks
        if isinstance(block, Picture) and block.name == "figure-4B"
    ]
    (ax,) = picture.figure.axes
    bound = ax.lines[0].get_xydata()
    assert np.allclose(bound[:, 1], np.minimum(1.0, 3.0 * bound[:, 0]))
    (grid,) = [block for block in found["figure-s5"].blocks if isinstance(block, Picture)]
    assert all(ax.lines[0].get_ydata().max() == 1.0 for ax in grid.figure.axes)


def test_every_panel_of_figure_4_has_a_legend_of_all_its_marks(sections):
    _, found = sections
    panels = [block for block in found["figure-4"].blocks if isinstance(block, Picture)]
    legends = {
        picture.name[-1]: [text.get_text() for text in picture.figure.axes[0].get_legend().texts]
        for picture in panels
    }
    assert legends["A"] == [*(f"ray {k}" for k in range(1, 7)), "Conjecture 5.3"]
    assert set(legends["B"]) == {"learners", "upper bound, proved", "lower bound, proved"}
    assert legends["C"] == ["direction closest to h", "farthest from h", "Conjecture 5.3"]
    assert set(legends["D"]) == {"learners", "Conjecture 5.3, lower bound"}


def test_tables_name_every_matrix(sections):
    _, found = sections
    for name, count in (("figure-s5", 5), ("figure-s6", 3), ("figure-s7", 10), ("figure-5", 2)):
        (table,) = [block for block in found[name].blocks if isinstance(block, Table)]
        assert len(table.rows) == count


def test_sections_are_saved_with_their_numbers(sections, tmp_path):
    _, found = sections
    save_section(found["figure-4"], tmp_path, made={}, formats=("png", "csv"))
    assert load_section(tmp_path) is not None
    data = pd.read_csv(tmp_path / "figure-4-rank-4.csv")
    assert data["success"].dtype == np.float64
    assert float(data["success"].max()) <= 1.0
