"""Arguments that users type, and files that must not be overwritten."""

import os

import numpy as np
import pytest

from cobayes.cli.inputs import Given
from cobayes.model import Model
from tests.cli.conftest import WORLD


@pytest.mark.parametrize(
    "command", [("teach", "--csv"), ("teach", "--plot"), ("compare", "--plot")]
)
@pytest.mark.parametrize("spelling", ["same", "link", "dots", "hard link"])
def test_an_output_that_is_also_the_input_is_refused(run, tmp_path, command, spelling):
    path = tmp_path / "m.csv"
    path.write_text(WORLD, encoding="utf-8")
    name, option = command
    target = {
        "same": path,
        "link": tmp_path / "link.csv",
        "dots": tmp_path / "." / ".." / tmp_path.name / "m.csv",
        "hard link": tmp_path / "hard.csv",
    }[spelling]
    if spelling == "link":
        target.symlink_to(path)
    if spelling == "hard link":
        os.link(path, target)
    result = run(name, path, "-H", "A", option, target)
    assert result.exit_code == 2
    assert f"{option} would overwrite {path}" in result.stderr
    assert path.read_text(encoding="utf-8") == WORLD


def test_no_command_overwrites_what_it_reads(run, world, tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("A.B\n...\n.S.\n", encoding="utf-8")
    for arguments in (
        ("robustness", world, "-H", "A", "--plot", world),
        ("robustness", "example:M_1", "--learner-matrix", world, "--plot", world),
        ("world", "--board", board, "--gif", board),
    ):
        result = run(*arguments)
        assert result.exit_code == 2
        assert "would overwrite" in result.stderr
    assert world.read_text(encoding="utf-8") == WORLD


def test_two_outputs_to_one_file_are_refused(run, world, tmp_path):
    result = run(
        "teach", world, "-H", "A", "--csv", tmp_path / "x.png", "--plot", tmp_path / "x.png"
    )
    assert result.exit_code == 2
    assert "would overwrite" in result.stderr


def test_a_number_is_a_label_and_never_a_position(run, tmp_path):
    path = tmp_path / "years.csv"
    path.write_text("datum,1,2,3\nx,0.5,0.3,0.2\ny,0.5,0.7,0.8\n", encoding="utf-8")
    result = run("teach", path, "-H", "1", "--rounds", 1, "--seed", 1, "--json")
    assert result.exit_code == 0
    assert '"hypothesis": "1"' in result.stdout
    result = run("teach", path, "-H", "0", "--rounds", 1, "--seed", 1, "--json")
    assert result.exit_code == 2
    assert "there is no hypothesis called '0'" in result.stderr


def test_an_unknown_name_of_a_rule_never_means_scbi():
    given = Given.__new__(Given)
    vars(given).update(rule="sbci", depth=None, rationality=None, literal=None)
    with pytest.raises(KeyError, match="sbci"):
        given.rules_on(Model([[0.8, 0.3], [0.2, 0.7]]))


def test_zeros_are_smoothed_on_request(run, tmp_path):
    path = tmp_path / "zeros.csv"
    path.write_text("datum,A,B\nx,0,0.5\ny,1,0.5\n", encoding="utf-8")
    result = run("info", path, "--smooth", "0.1", "--json")
    assert result.exit_code == 0
    import json

    np.testing.assert_allclose(json.loads(result.stdout)["smallest_entry"], 0.05)
    result = run("info", path, "--smooth", "2")
    assert result.exit_code == 2
    assert "--smooth is 2.0; expected a number strictly between 0 and 1" in result.stderr
