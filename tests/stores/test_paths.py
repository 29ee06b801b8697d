from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

from tfrkit.errors import NotFoundError, UnimplementedError
from tfrkit.stores.paths import expand_paths, path_text

NAME = "训练数据-00000.tfrecord"


def expand(paths: object) -> list[object]:
    return list(expand_paths(paths, globs=True))  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    for name in ("b.tfrecord", "a.tfrecord", NAME, ".hidden.tfrecord", "manifest.json"):
        (tmp_path / name).touch()
    for name in ("sub.tfrecord", ".tfrkit", "deep/er"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / ".tfrkit" / "a.tfrecord.idx").touch()
    (tmp_path / "deep" / "er" / "c.tfrecord").touch()
    return tmp_path


@pytest.mark.parametrize("path", [NAME, os.fsencode(NAME), Path(NAME)], ids=["str", "bytes", "PathLike"])
def test_path_of_any_type_becomes_text(path):
    assert path_text(path) == NAME
    assert expand(path) == [NAME]


def test_bytes_that_are_no_utf8_survive():
    assert os.fsencode(path_text(b"\xff.tfrecord")) == b"\xff.tfrecord"


def test_path_without_pattern_need_not_exist():
    assert expand("missing.tfrecord") == ["missing.tfrecord"]


def test_glob_is_sorted_and_skips_dot_files_folders_and_the_manifest(folder):
    assert expand("*") == ["a.tfrecord", "b.tfrecord", NAME]


def test_glob_skips_what_a_build_leaves_beside_shards_and_only_there(folder):
    for place in (folder, folder / "deep"):
        (place / "report.json").touch()
        (place / "labels.txt").touch()
    assert expand("*") == ["a.tfrecord", "b.tfrecord", NAME]
    assert expand("deep/*") == ["deep/labels.txt", "deep/report.json"]
    assert expand("report.json") == ["report.json"]


def test_glob_of_tfrecords_skips_a_folder_of_that_name(folder):
    assert expand("*.tfrecord") == ["a.tfrecord", "b.tfrecord", NAME]


def test_glob_with_two_stars_goes_into_folders_but_not_into_dot_folders(folder):
    assert expand("**/*") == ["a.tfrecord", "b.tfrecord", "deep/er/c.tfrecord", NAME]


@pytest.mark.parametrize(
    ("pattern", "found"), [("?.tfrecord", ["a", "b"]), ("[b]*", ["b"]), ("训练*", [NAME[:10]])]
)
def test_every_kind_of_pattern(folder, pattern, found):
    assert [str(path).removesuffix(".tfrecord") for path in expand(pattern)] == [
        name.removesuffix(".tfrecord") for name in found
    ]


def test_pattern_as_bytes_and_pathlike(folder):
    assert expand(b"[ab].tfrecord") == expand(Path("[ab].tfrecord")) == ["a.tfrecord", "b.tfrecord"]


def test_file_whose_name_is_a_pattern_is_that_file(folder):
    (folder / "a[b].tfrecord").touch()
    assert expand("a[b].tfrecord") == ["a[b].tfrecord"]


def test_pattern_without_a_match_is_not_found(folder):
    with pytest.raises(NotFoundError) as caught:
        expand("x*.tfrecord")
    assert str(caught.value) == (
        "No files matched pattern: x*.tfrecord. Check the folder and the spelling; "
        "dot files, folders and manifest.json never match."
    )
    assert caught.value.path == "x*.tfrecord"


def test_nested_iterables_are_flattened_in_order(folder):
    stream = io.BytesIO()
    nested = ["b.tfrecord", [Path("a.tfrecord"), (stream,)], (name for name in ["?.tfrecord"])]
    assert expand(nested) == ["b.tfrecord", "a.tfrecord", stream, "a.tfrecord", "b.tfrecord"]


def test_dash_is_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(b"x"))
    monkeypatch.setattr(sys, "stdin", stdin)
    assert expand("-") == [stdin.buffer]


def test_without_globs_every_text_is_a_name(folder):
    assert expand_paths(["*", "-"], globs=False) == ["*", "-"]


def test_anything_else_is_a_type_error():
    with pytest.raises(
        TypeError, match=r"^expected a path, an open binary file or a list of them but got int$"
    ):
        expand(["a.tfrecord", 7])


def test_pattern_of_a_web_server_is_refused_and_a_name_is_not(http_server):
    http_server.files |= {"what*": b"", "a": b""}
    for url in (f"{http_server.url}/what*", f"{http_server.url}/a?v=[1]*"):
        assert expand_paths(url, globs=True) == [url]
    with pytest.raises(UnimplementedError, match="a web server cannot list files, so patterns do not work"):
        expand_paths(f"{http_server.url}/b*?v=1", globs=True)
