import os

import pytest

from cobayes._output import write_text


def test_a_written_file_is_as_readable_as_any_other(tmp_path):
    ordinary = tmp_path / "ordinary"
    ordinary.write_text("x")
    path = tmp_path / "written"
    write_text(path, "é\n")
    assert path.read_text(encoding="utf-8") == "é\n"
    assert path.stat().st_mode == ordinary.stat().st_mode
    assert sorted(os.listdir(tmp_path)) == ["ordinary", "written"]


def test_a_failed_write_leaves_the_old_file_and_nothing_else(tmp_path):
    path = tmp_path / "file"
    write_text(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_text(path, "half \udc80")
    assert path.read_text(encoding="utf-8") == "old"
    assert os.listdir(tmp_path) == ["file"]
