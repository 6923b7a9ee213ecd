"""Who may use a folder: the run that is in it, one process at a time."""

from __future__ import annotations

import dataclasses
import json
import signal

import pytest

from cobayes.runs import Experiment, Point, RunError, read_state, run
from cobayes.runs import folder as folder_module
from cobayes.runs.workers.tasks import CODE

from .conftest import drive, end, finish, wait_until
from .experiments import bulky, draw, drawing


def changed(**changes):
    return dataclasses.replace(drawing(), **changes)


POINT = drawing().points[0]
OTHERS = {
    "the seed is 3 there and 4 here": drawing(seed=4),
    "the experiment's version is '1' there and '2' here": changed(version="2"),
    "the experiment is 'drawing' there and 'sketching' here": changed(name="sketching"),
    "the shard function is 'draw' there and 'bulky' here": changed(shard=bulky),
    "num_samples of point 'scale 1' is 1963 there and 2963 here": drawing(30),
    "point 'scale 2' is there, not here": drawing(num_points=1),
    "point 'scale 3' is here, not there": drawing(num_points=3),
    "pause of point 'scale 1' is 0.0 there and 0.5 here": drawing(pause=0.5),
    "the points are in another order": changed(points=drawing().points[::-1]),
    "extra of point 'scale 1' is absent there and [1, 2] here": changed(
        points=(
            dataclasses.replace(POINT, parameters={**POINT.parameters, "extra": [1, 2]}),
            drawing().points[1],
        )
    ),
}


@pytest.fixture
def complete(tmp_path):
    """A folder with a complete run."""
    run(drawing(), tmp_path, jobs=1)
    return tmp_path


@pytest.mark.parametrize("difference", OTHERS)
def test_another_run_in_the_folder_is_refused_by_what_differs(complete, difference):
    before = (complete / "ledger.sqlite").read_bytes()
    with pytest.raises(RunError) as caught:
        run(OTHERS[difference], complete, jobs=1)
    assert difference in caught.value.message
    assert "--fresh" in (caught.value.hint or "")
    assert (complete / "ledger.sqlite").read_bytes() == before


def test_another_package_version_is_refused(complete, monkeypatch):
    versions = tuple(
        (package, "9.9" if package == "numpy" else version)
        for package, version in folder_module.versions_here()
    )
    monkeypatch.setattr(folder_module, "versions_here", lambda: versions)
    with pytest.raises(RunError, match=r"made with numpy .*, this is 9\.9"):
        run(drawing(), complete, jobs=1)


def test_a_change_of_the_shard_functions_code_is_refused(complete):
    def changed_draw(parameters, seeds, num_samples):
        return {"count": 2 * num_samples}

    changed_draw.__qualname__ = draw.__qualname__
    with pytest.raises(RunError, match="the code of draw, or of what it imports, has changed"):
        run(changed(shard=changed_draw), complete, jobs=1)


def test_a_change_of_cobayes_itself_is_refused(complete, monkeypatch):
    versions = tuple(
        (name, "other" if name == CODE else version)
        for name, version in folder_module.versions_here()
    )
    monkeypatch.setattr(folder_module, "versions_here", lambda: versions)
    with pytest.raises(RunError, match="the code of cobayes has changed since"):
        run(drawing(), complete, jobs=1)


def test_starting_over_says_what_it_deletes_and_deletes_nothing_else(complete, capsys):
    (complete / "figure.png").write_bytes(b"kept")
    result = run(drawing(seed=4), complete, jobs=1, fresh=True, progress=True)
    said = capsys.readouterr().err
    assert f"starting over in {complete}: deleting ledger.sqlite, manifest.json" in said
    assert "(40 finished shards" in said
    assert result.seed == 4
    assert (complete / "figure.png").read_bytes() == b"kept"
    assert read_state(complete).seed == 4


def test_nothing_is_said_of_deleting_where_there_is_nothing(tmp_path, capsys):
    run(drawing(), tmp_path, jobs=1, fresh=True, progress=True)
    assert "deleting" not in capsys.readouterr().err


def test_the_library_prints_nothing_unless_asked(tmp_path, capsys):
    run(drawing(), tmp_path, jobs=1)
    run(drawing(), tmp_path, jobs=1, fresh=True)
    assert capsys.readouterr() == ("", "")


def test_a_second_process_on_the_folder_is_refused_and_the_first_goes_on(tmp_path, processes):
    # So slow that it is at work still, however long the second takes to start.
    first = drive(tmp_path, "--jobs", 1, "--pause", 3600)
    processes.callback(end, first)
    wait_until(lambda: (tmp_path / "manifest.json").exists())
    code, _, err = finish(drive(tmp_path, "--jobs", 1, "--pause", 3600))
    assert code == 1
    assert f"process {first.pid} on" in err
    assert "is running in" in err
    assert first.poll() is None
    assert read_state(tmp_path).status == "running"
    first.send_signal(signal.SIGINT)
    code, _, err = finish(first)
    assert code == 130, err


def test_the_manifest_tells_what_was_run_where_and_for_how_long(complete):
    manifest = json.loads((complete / "manifest.json").read_text())
    assert manifest["experiment"] == "drawing"
    assert manifest["seed"] == 3
    assert manifest["points"][1]["parameters"] == {"scale": 0.2, "pause": 0.0}
    assert set(manifest["versions"]) == {
        *("cobayes", "python", "numpy", "scipy", "numba"),
        CODE,
    }
    assert manifest["machine"]["cores"] >= 1
    assert manifest["status"] == "complete"
    assert manifest["num_done"] == manifest["num_shards"] == 40
    assert 0 < manifest["work_seconds"] <= manifest["seconds"] + 0.01
    assert manifest["digest"] == run(drawing(), complete).digest


def test_one_point_of_one_shard_is_enough(tmp_path):
    result = run(Experiment("one", [Point("p", {"scale": 1.0})], draw), tmp_path, jobs=1)
    assert result["p"].statistics["count"] == 1
