"""``cobayes warm-up``: each part runs, and what it compiles is found again."""

from numba.core.event import install_recorder

from cobayes.cli import warm_up


def test_a_bar_counts_the_parts_and_a_line_says_the_end(command):
    # One small part in a process of its own; all of them take minutes where nothing is cached.
    before = (
        "from cobayes.cli import warm_up\nwarm_up.PARTS = {'scaling': warm_up.PARTS['scaling']}"
    )
    process = command("warm-up", "--jobs", "1", before=before)
    out, err = process.communicate(timeout=600)
    assert process.returncode == 0, err
    assert out == ""
    assert "compiled scaling, 1/1" in err
    assert "everything is compiled" in err


def test_without_a_place_on_disk_nothing_is_compiled(run, monkeypatch):
    monkeypatch.setattr(warm_up, "is_kept", lambda: False)
    result = run("warm-up")
    assert result.exit_code == 2
    assert "NUMBA_CACHE_DIR" in result.stderr


def test_after_a_part_what_it_serves_compiles_nothing():
    import cobayes as cb

    warm_up.compile_part("rules")
    with install_recorder("numba:compile") as recorder:
        rule = cb.SCBI("example:gestures")
        lesson = cb.run_lesson(cb.Teacher(rule, "bowl", rng=6), cb.Learner(rule), 12)
    assert lesson.num_rounds == 12
    assert [event.data for _, event in recorder.buffer] == []
