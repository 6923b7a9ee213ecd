"""Properties of the whole package."""

import inspect
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import cobayes as cb

SOURCE = Path(cb.__file__).parent


def run(code, **environment):
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, **environment},
    )


def test_every_public_name_can_be_imported():
    for name in cb.__all__:
        assert getattr(cb, name) is not None
    assert set(cb.__all__) <= set(dir(cb))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = cb.nonsense
    with pytest.raises(AttributeError, match=r"it is cobayes\.lessons\.compare_teachers"):
        _ = cb.compare_teachers


def test_no_name_is_listed_in_two_modules():
    homes = {}
    for module in inspect.getmembers(cb, inspect.ismodule):
        for name in getattr(module[1], "__all__", ()):
            thing = getattr(module[1], name)
            if not inspect.ismodule(thing):
                homes.setdefault(name, []).append((module[0], thing))
    twice = {name: places for name, places in homes.items() if len(places) > 1}
    # `simulate` exists for people and for lessons: two different functions.
    for name, places in twice.items():
        things = {id(thing) for _, thing in places}
        assert len(things) == len(places), (name, [module for module, _ in places])


def test_every_file_of_tests_belongs_to_one_of_the_package():
    tests = Path(__file__).parent
    for file in tests.rglob("test_*.py"):
        place = file.relative_to(tests)
        if place.parts[0] in ("core", "docs", "fuzz", "test_imports.py", "test_package.py"):
            continue  # the C++ core, the pages, hostile input, and the package as a whole
        name = place.stem.removeprefix("test_")
        # A module or a folder may have several files: test_native.py, test_native_zeros.py.
        first = name.rpartition("_")[0] or name
        homes = [f"{name}.py", name, f"{first}.py", first]
        found = [home for home in homes if (SOURCE / place.parent / home).exists()]
        assert found, f"{place} tests no module"


def test_importing_loads_nothing_heavy():
    # These modules would make the import slow; a test of its time would depend on the machine.
    found = run(
        """
        import sys
        import cobayes
        heavy = {"numpy", "scipy", "pandas", "xarray", "matplotlib", "click"}
        print(sorted(heavy & set(sys.modules)))
        """
    )
    assert found.stdout.split() == ["[]"], found.stderr


def test_people_without_pandas_name_the_extra():
    found = run(
        """
        import sys
        sys.modules["pandas"] = None
        import cobayes as cb
        try:
            cb.people
        except cb.MissingDependencyError as error:
            print(error.hint)
        """
    )
    assert "[people]" in found.stdout, found.stderr


def test_the_marker_for_typed_packages_ships():
    assert (SOURCE / "py.typed").exists()


def test_version_is_the_one_in_the_citation():
    citation = SOURCE.parents[1] / "CITATION.cff"
    assert f"version: {cb.__version__}" in citation.read_text()


def test_python_m_cobayes_is_the_command():
    found = subprocess.run(
        [sys.executable, "-m", "cobayes", "--version"], capture_output=True, text=True, check=True
    )
    assert found.stdout.strip() == f"cobayes {cb.__version__}"


def test_integers_of_numpy_pass_type_checking_where_a_hypothesis_is_chosen():
    # np.int64 is no int for a type checker, but it has __index__.
    taught = (cb.simulate, cb.plan_lesson, cb.lessons.compare_teachers, cb.Teacher, cb.success_rate)
    for function in taught:
        parameter = inspect.signature(function).parameters["hypothesis"]
        assert parameter.annotation == "SupportsIndex | str", function
    for function, name in (
        *((f, "num_rounds") for f in (cb.simulate, cb.plan_lesson, cb.run_lesson)),
        *((f, "num_rounds") for f in (cb.exact_rounds, cb.people.simulate)),
        *((f, "num_lessons") for f in (cb.success_rate, cb.coupling, cb.stability.robustness)),
        (cb.compare_rates, "num_data"),
        (cb.success_enclosure, "num_rounds"),
        (cb.sets_of, "size"),
        (cb.GridWorld, "width"),
    ):
        assert inspect.signature(function).parameters[name].annotation == "SupportsIndex", function
