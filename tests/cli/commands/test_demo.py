"""`tfr demo`: the whole way, on few photos."""

from __future__ import annotations

import os

from tfrkit.cli.demo_photos import CLASSES, write_photos


def test_demo_builds_checks_shows_and_reads(command, tmp_path, monkeypatch):
    monkeypatch.setattr("shutil.which", lambda name: None)
    monkeypatch.setattr("sys.argv", ["bin/tfr"])
    code, out, err = command("demo", str(tmp_path / "kept"), "--photos", "40")
    assert code == 0, err
    assert "$ tfr build images photos.zip out" in err
    assert "8 files, 40 records: all is well" in out + err
    assert "image/text" in out
    assert "float32 (36, 96, 96, 3)" in err
    assert [line.split()[0] for line in out.splitlines()[-7:]] == [
        "draw",
        "tfr",
        "tfr",
        "tfr",
        "tfr",
        "tfr",
        "read",
    ]
    assert err.endswith(f"\nlook at them in a browser: bin/tfr view {tmp_path}/kept/out\n")
    assert (tmp_path / "kept" / "out" / "labels.txt").read_text("utf-8").split() == sorted(CLASSES)


def test_folder_with_something_in_it_is_refused(command, tmp_path):
    (tmp_path / "mine.txt").write_text("mine")
    code, _, err = command("demo", str(tmp_path))
    assert code == 1
    assert err.startswith(f"error: {tmp_path}: expected an empty folder but it is not empty\n\nhint: ")
    assert os.listdir(tmp_path) == ["mine.txt"]


def test_the_same_photos_every_time(tmp_path):
    contents = []
    for name in ("one.zip", "two.zip"):
        write_photos(str(tmp_path / name), 4)
        contents.append((tmp_path / name).read_bytes())
    assert contents[0] == contents[1]


def test_url_is_refused(command, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    done = command("demo", "s3://bucket/demo")
    assert done.code == 2
    assert done.err.startswith(
        "error: s3://bucket/demo: the tour works in a local folder\n\nhint: name a local"
    )
    assert not list(tmp_path.iterdir())
