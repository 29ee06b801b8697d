"""gfile on local files: errors that tell the path, and files that are let go."""

from __future__ import annotations

import errno
from pathlib import Path

import pytest

from tfrkit.errors import AlreadyExistsError, NotFoundError
from tfrkit.tf.io import gfile_functions as gfile
from tfrkit.tf.io.gfile_object import GFile


def test_errors_know_their_path(tmp_path):
    path = str(tmp_path / "none")
    with pytest.raises(NotFoundError) as caught:
        gfile.remove(path)
    assert caught.value.path == path
    assert caught.value.errno == errno.ENOENT
    with pytest.raises(FileNotFoundError):
        GFile(path).read()


def test_paths_of_all_kinds(tmp_path):
    for path in (tmp_path / "a", str(tmp_path / "b"), bytes(tmp_path / "c")):
        with GFile(path, "w") as file:
            file.write("x")
        assert gfile.exists(path)
        assert GFile(path).read() == "x"
    assert sorted(gfile.listdir(tmp_path)) == ["a", "b", "c"]


def test_nothing_is_overwritten_unasked(tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_text(name)
    for change in (gfile.rename, gfile.copy):
        with pytest.raises(AlreadyExistsError):
            change(tmp_path / "a", tmp_path / "b")
    assert (tmp_path / "b").read_text() == "b"


def test_walk_tells_of_folders_it_cannot_read(tmp_path):
    seen = []
    assert list(gfile.walk(tmp_path / "none", onerror=seen.append)) == []
    assert [type(error) for error in seen] == [NotFoundError]


def test_file_that_is_not_closed_is_let_go(tmp_path: Path):
    file = GFile(tmp_path / "a", "w")
    file.write("x")
    del file
    assert (tmp_path / "a").read_text() == "x"
