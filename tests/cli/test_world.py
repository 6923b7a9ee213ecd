"""The command ``cobayes world``."""

import json

import pytest
from click.testing import CliRunner
from PIL import Image

import cobayes as cb
from cobayes.cli.app import app
from cobayes.rules import as_rule
from cobayes.worlds import GridWorld, plan_walk


def run(*arguments):
    return CliRunner().invoke(app, ["world", *map(str, arguments)])


def test_json_holds_the_planned_walks_and_nothing_else_is_on_stdout():
    done = run("--moves", "plan", "--json", "--discount", 0.4)
    assert done.exit_code == 0
    content = json.loads(done.stdout)
    assert GridWorld.from_settings(content["world"]) == GridWorld.paper(0.4)
    for walk, rule in zip(content["walks"], ("SCBI", "BI"), strict=True):
        plan = plan_walk(as_rule(rule, GridWorld.paper(0.4)), "A")
        assert walk["beliefs"] == plan.beliefs.tolist()
        assert walk["data"] == list(plan.data_labels)
        assert walk["states"] == [list(state) for state in plan.states]
        assert walk["extra_moves"] == 0


def test_same_seed_prints_the_same_walk():
    assert run("--seed", 3).stdout == run("--seed", 3).stdout
    assert run("--seed", 3, "--moves", "any").stdout != run("--seed", 4, "--moves", "any").stdout


def test_seed_that_was_chosen_is_told():
    done = run("--rule", "scbi", "--moves", "any", "--slip", 0.2)
    assert "add --seed" in done.stderr
    assert "add --seed" not in done.stdout


def test_terminal_output_names_moves_beliefs_and_costs():
    done = run("--moves", "plan")
    assert done.exit_code == 0
    assert "SCBI: 95 % sure after 2 moves; at A after 5 moves (0 more than needed)" in done.stdout
    assert "0.9583" in done.stdout


def test_a_board_and_a_width_are_an_error_that_says_which_to_drop(tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("A..B\n....\n.S..\n")
    done = run("--board", board, "--width", 4, "--goals", 2)
    assert done.exit_code == 2
    assert "--board is given together with --width and --goals" in done.stderr
    assert "drop --width and --goals, or drop --board" in done.stderr
    assert run("--board", board, "--discount", 0.4).exit_code == 0


def test_board_is_read_from_a_file_and_animated(tmp_path):
    board = tmp_path / "board.txt"
    board.write_text("A.#B\n....\n.S..\n")
    gif = tmp_path / "walk.gif"
    done = run("--board", board, "--goal", "B", "--seed", 1, "--gif", gif)
    assert done.exit_code == 0, done.stderr
    with Image.open(gif) as picture:
        assert picture.n_frames == 5
    assert f"wrote {gif}" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--discount", 1.0), "--discount is 1.0; expected a number strictly between 0 and 1"),
        (("--goals", 9), "9 goals do not fit"),
        (("--goal", "Z"), "no goal called 'Z'"),
        (("--gif", "/nowhere/x.gif"), "does not exist"),
        (("--gif", "walk.mp4", "--seed", 1), "ends in .gif"),
        (("--board", "nowhere.txt"), "there is no file nowhere.txt"),
        (("--slip", 2), "--slip is 2.0"),
        (("--discount", 2), "hint: 0.5 halves the value of a goal with every move."),
        (("--moves", "plan", "--slip", 0.2), "hint: let moves be drawn: --moves forward"),
        (("--moves", "plan", "--rounds", 2), "--rounds is given together with --moves plan"),
    ],
)
def test_bad_input_is_one_line_with_exit_code_two(arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_a_pragmatic_walker_of_infinite_depth_is_the_cooperative_one():
    found = {
        rule: json.loads(run("--seed", 1, "--json", "--rule", *rule.split()).stdout)
        for rule in ("scbi", "pragmatic --depth inf", "pragmatic --depth 1")
    }
    beliefs = {rule: content["walks"][0]["beliefs"] for rule, content in found.items()}
    assert beliefs["pragmatic --depth inf"] == beliefs["scbi"]
    assert beliefs["pragmatic --depth 1"] != beliefs["scbi"]
    assert found["pragmatic --depth 1"]["walks"][0]["rule"] == "Pragmatic, depth 1"


def test_a_walk_from_json_is_a_lesson_again():
    content = json.loads(run("--seed", 1, "--json").stdout)
    walk = cb.Lesson.from_dict(content["walks"][0])
    assert walk.hypothesis_label == "A"
    assert walk.beliefs.tolist() == content["walks"][0]["beliefs"]
