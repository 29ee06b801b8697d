"""Folders of images: links, hidden and special files, strange names, many classes, and bad files of every kind."""

from __future__ import annotations

import errno
import json
import os
import socket
import struct
import sys
import zlib
from pathlib import Path

import numpy as np
import pytest

from tests.build.support.image_samples import examples, labels, photos, picture, write_files
from tfrkit._core import read_files
from tfrkit.build.images.build_images import images
from tfrkit.build.images.image_arguments import ImagesOptions
from tfrkit.build.images.image_plan import plan_images
from tfrkit.build.images.sources import image_folder, image_objects
from tfrkit.build.job.job import run_job
from tfrkit.errors import DataLossError, InvalidArgumentError

ONE = photos({"cat": 1})


def listed(report) -> set[tuple[str, str]]:
    """Where bad files are, and why."""
    return {(bad.source, bad.reason) for bad in report.listed}


def tiny(number: int) -> bytes:
    """The smallest files that are images, all different."""
    return b"GIF89a" + struct.pack("<HH", 1 + number % 1000, 1 + number // 1000) + b"\0\0\0;"


def test_bad_files_are_listed_with_reasons_and_left_out(tmp_path):
    files = ONE | {
        "cat/empty.jpg": b"",
        "cat/cut.jpg": picture(5)[:-40],
        "cat/noise.jpg": zlib.compress(b"noise") * 20,
        "cat/notes.txt": b"some notes",
        "stray.jpg": picture(6),
    }
    report = images(write_files(tmp_path / "photos", files), tmp_path / "out")
    assert listed(report) == {
        ("photos/cat/empty.jpg", "empty file"),
        ("photos/cat/cut.jpg", "broken image"),
        ("photos/cat/noise.jpg", "not an image"),
        ("photos/cat/notes.txt", "not an image"),
        ("photos/stray.jpg", "not in a class folder"),
    }
    assert report.bad == {"empty file": 1, "broken image": 1, "not an image": 2, "not in a class folder": 1}
    assert labels(tmp_path / "out") == {"cat/0.jpg": 0}
    saved = (tmp_path / "out" / "report.json").read_text("utf-8")
    (job,) = json.loads(saved)["jobs"].values()
    assert job["bad"] == report.bad
    assert "the JPEG file has no end: it is cut" in saved


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("cat/empty.jpg", b"", "photos/cat/empty.jpg: empty file"),
        (
            "cat/cut.jpg",
            picture(5)[:-40],
            "photos/cat/cut.jpg: broken image: the JPEG file has no end: it is cut",
        ),
        (
            "cat/notes.txt",
            b"some notes",
            "photos/cat/notes.txt: not an image: it looks like text",
        ),
    ],
)
def test_bad_files_are_fatal_if_the_user_says_so(tmp_path, name, content, message):
    write_files(tmp_path / "photos", ONE | {name: content})
    with pytest.raises(InvalidArgumentError) as caught:
        images(tmp_path / "photos", tmp_path / "out", on_bad="raise")
    assert message in str(caught.value)
    assert "--on-bad skip" in str(caught.value)
    assert not list(tmp_path.glob("out/*.tfrecord"))


def test_hidden_and_system_files_are_noted_and_never_fatal(tmp_path):
    hidden = {"cat/.DS_Store": b"x", "cat/Thumbs.db": b"x", "__MACOSX/cat/._0.jpg": b"x", ".git/config": b"x"}
    write_files(tmp_path / "photos", ONE | hidden | {"labels.txt": b"cat\n"})
    report = images(tmp_path / "photos", tmp_path / "out", on_bad="raise")
    assert report.noted == {"hidden or system file": 5}
    assert labels(tmp_path / "out") == {"cat/0.jpg": 0}


def test_links_are_followed_and_loops_end(tmp_path):
    source = write_files(tmp_path / "photos", ONE)
    write_files(tmp_path / "elsewhere", {"9.jpg": picture(9), "more/8.jpg": picture(8)})
    (source / "cat" / "link.jpg").symlink_to(tmp_path / "elsewhere" / "9.jpg")
    (source / "dog").symlink_to(tmp_path / "elsewhere")
    (source / "kitten").symlink_to(source / "cat")
    (source / "cat" / "up").symlink_to(source)
    (source / "cat" / "self").symlink_to(source / "cat")
    (source / "again").symlink_to(source)
    (tmp_path / "elsewhere" / "more" / "back").symlink_to(tmp_path / "elsewhere")
    report = images(source, tmp_path / "out")
    assert labels(tmp_path / "out") == {
        "cat/0.jpg": 0,
        "cat/link.jpg": 0,
        "dog/9.jpg": 1,
        "dog/more/8.jpg": 1,
        "kitten/0.jpg": 2,
        "kitten/link.jpg": 2,
    }
    assert report.bad == {"link to a folder that was read already": 6}


def test_folders_that_link_to_each_other_do_not_multiply(tmp_path):
    source = tmp_path / "photos"
    for number in range(12):
        write_files(source, {f"{number}/{number}.gif": tiny(number)})
    for number in range(12):
        for other in range(12):
            (source / str(number) / f"to{other}").symlink_to(source / str(other))
    report = images(source, tmp_path / "out", duplicates="keep")
    assert report.records == 144


def test_broken_links_and_special_files_are_bad(tmp_path):
    source = write_files(tmp_path / "photos", ONE)
    (source / "cat" / "gone.jpg").symlink_to(tmp_path / "nothing")
    os.mkfifo(source / "cat" / "pipe.jpg")
    with socket.socket(socket.AF_UNIX) as server:
        before = Path.cwd()
        os.chdir(source / "cat")  # names of sockets must be short
        try:
            server.bind("socket.jpg")
        finally:
            os.chdir(before)
        report = images(source, tmp_path / "out")
    assert listed(report) == {
        ("photos/cat/gone.jpg", "unreadable file"),
        ("photos/cat/pipe.jpg", "not a regular file"),
        ("photos/cat/socket.jpg", "not a regular file"),
    }


def longer(path):
    path.write_bytes(picture(1) + b"x" * 10_000)
    return f"expected .* bytes but got {path.stat().st_size:,}"


def shorter(path):
    path.write_bytes(b"x")
    return "expected .* bytes but got 1"


def gone(path):
    path.unlink()
    return "the file is gone"


def other_of_the_same_size(path):
    content = bytearray(path.read_bytes())
    content[-3] ^= 1
    path.write_bytes(bytes(content))
    os.utime(path, ns=(0, 5))
    return r"expected it to be written last at .* but got 0\.000000005"


@pytest.mark.parametrize("change", [longer, shorter, gone, other_of_the_same_size])
def test_file_that_changes_between_planning_and_reading_is_an_error(change, tmp_path):
    source = write_files(tmp_path / "photos", photos({"cat": 4}))
    job = planned(source, tmp_path / "out")
    text = change(source / "cat" / "1.jpg")
    with pytest.raises(DataLossError, match=f"1.jpg: this input has changed since the job began: .*{text}"):
        run_job(job)
    assert not [path for path in (tmp_path / "out").iterdir() if path.name != ".tfrkit"]


def test_names_in_chinese_with_spaces_and_in_no_encoding(tmp_path):
    source = tmp_path / "照片 2024"
    files = {"猫 咪/一 号.jpg": picture(1), "狗/二.jpg": picture(2)}
    write_files(source, files)
    odd = os.fsencode(source) + b"/\xff\xfe"
    os.mkdir(odd)
    with open(odd + b"/\xe9.jpg", "wb") as file:
        file.write(picture(3))
    with open(odd + b"/\xc3.jpg", "wb") as file:
        file.write(b"no image")
    report = images(source, tmp_path / "输出")
    found = {
        one["image/filename"]: (one["image/label"], one["image/text"]) for one in examples(tmp_path / "输出")
    }
    assert found == {
        "狗/二.jpg".encode(): (0, "狗".encode()),
        "猫 咪/一 号.jpg".encode(): (1, "猫 咪".encode()),
        b"\xff\xfe/\xe9.jpg": (2, b"\xff\xfe"),
    }
    assert (tmp_path / "输出" / "labels.txt").read_bytes() == "狗\n猫 咪\n".encode() + b"\xff\xfe\n"
    assert listed(report) == {("照片 2024/\\xff\\xfe/\\xc3.jpg", "not an image")}


def test_class_name_with_a_line_break_is_refused(tmp_path):
    write_files(tmp_path / "photos", {"a\nb/1.jpg": picture(1)})
    with pytest.raises(InvalidArgumentError, match=r"class 'a\\nb': expected a name without line breaks"):
        images(tmp_path / "photos", tmp_path / "out")


def test_ten_thousand_classes(tmp_path):
    source = tmp_path / "photos"
    source.mkdir()
    for number in range(10_000):
        os.mkdir(f"{source}/{number:05d}")
        with open(f"{source}/{number:05d}/a.gif", "wb") as file:
            file.write(tiny(number))
    report = images(source, tmp_path / "out", split="train=0.9,test=0.1", per_class=True)
    assert report.records == 10_000
    found = labels(tmp_path / "out")
    assert len(found) == 10_000
    assert all(int(name[:5]) == label for name, label in found.items())


def test_folders_nested_deeper_than_calls_can_be(tmp_path):
    deep = tmp_path / "photos" / "cat"
    deep.mkdir(parents=True)
    before = Path.cwd()
    depth = sys.getrecursionlimit() + 100
    os.chdir(deep)
    try:
        for _ in range(depth):
            os.mkdir("d")
            os.chdir("d")
        Path("1.gif").write_bytes(tiny(1))
        report = images(tmp_path / "photos", tmp_path / "out")
    finally:
        os.unlink("1.gif")
        for _ in range(depth):  # nobody else could remove them
            os.chdir("..")
            os.rmdir("d")
        os.chdir(before)
    assert labels(tmp_path / "out") == {f"cat/{'d/' * depth}1.gif": 0}
    assert report.bad == {}


def test_unreadable_files_are_bad(tmp_path, monkeypatch):
    source = write_files(tmp_path / "photos", photos({"cat": 2}))

    def refuse(paths, *arguments):
        found = read_files(paths, *arguments)
        found[3][[path.endswith(b"cat/1.jpg") for path in paths]] = errno.EACCES
        return found

    monkeypatch.setattr(image_folder, "read_files", refuse)
    report = images(source, tmp_path / "out")
    assert [(bad.source, bad.reason, bad.detail) for bad in report.listed] == [
        ("photos/cat/1.jpg", "unreadable file", "Permission denied")
    ]
    assert labels(tmp_path / "out") == {"cat/0.jpg": 0}


def planned(source, out):
    """A job with the default options."""
    return plan_images(str(source), str(out), ImagesOptions())


def test_file_that_has_become_a_folder_is_bad(tmp_path):
    source = write_files(tmp_path / "photos", photos({"cat": 3}))
    job = planned(source, tmp_path / "out")
    (source / "cat" / "1.jpg").unlink()
    (source / "cat" / "1.jpg").mkdir()
    report = run_job(job)
    assert [(bad.source, bad.reason, bad.detail) for bad in report.listed] == [
        ("photos/cat/1.jpg", "unreadable file", "Is a directory")
    ]
    assert labels(tmp_path / "out") == {"cat/0.jpg": 0, "cat/2.jpg": 0}


def test_file_that_has_become_a_pipe_is_an_error_and_is_not_waited_for(tmp_path):
    source = write_files(tmp_path / "photos", photos({"cat": 2}))
    job = planned(source, tmp_path / "out")
    (source / "cat" / "1.jpg").unlink()
    os.mkfifo(source / "cat" / "1.jpg")
    with pytest.raises(DataLossError, match=r"1.jpg: this input has changed .*: expected .* bytes but got 0"):
        run_job(job)


@pytest.mark.parametrize("limit", [None, 60_000])
def test_good_files_among_bad_ones_are_kept_whole(tmp_path, limit):
    good = {f"cat/{number:03d}.jpg": picture(number) for number in range(60)}
    bad = {
        f"cat/{number:03d}{kind}": content
        for number in range(0, 60, 3)
        for kind, content in (("a.txt", b"notes" * number), ("b.jpg", picture(number)[:-2] + bytes(70_000)))
    }
    options = {} if limit is None else {"max_image": limit}
    report = images(write_files(tmp_path / "photos", good | bad), tmp_path / "out", **options)
    found = {one["image/filename"].decode(): one["image/encoded"] for one in examples(tmp_path / "out")}
    assert found == good
    assert sum(report.bad.values()) == 40


def test_more_files_than_a_block_are_kept_whole_in_their_order(tmp_path, monkeypatch):
    monkeypatch.setattr(image_objects, "BLOCK_BYTES", 20_000)
    files = {f"cat/{number:03d}.jpg": picture(number) for number in range(90)}
    images(write_files(tmp_path / "photos", files), tmp_path / "out", shuffle=False)
    found = {one["image/filename"].decode(): one["image/encoded"] for one in examples(tmp_path / "out")}
    assert list(found.items()) == sorted(files.items())


@pytest.mark.parametrize(("size", "begin"), [(4, 1), (-1, 0), (2**62, 0), (0, 5), (0, 2**62)])
def test_files_are_read_within_the_buffer_alone(tmp_path, size, begin):
    path = tmp_path / "a"
    path.write_bytes(b"1234567")
    room = bytearray(5)
    with pytest.raises(IndexError):
        read_files([os.fsencode(path)], np.array([size]), room, begin)
    assert room == bytes(5)


def test_files_are_read_one_after_the_other_with_what_is_known_of_each(tmp_path):
    for name, content in (("a", b"123"), ("b", b"4"), ("c", b"56789")):
        (tmp_path / name).write_bytes(content)
        os.utime(tmp_path / name, ns=(0, -5))
    paths = [os.fsencode(tmp_path / name) for name in ("a", "b", "none", "c")]
    room = bytearray(b"-" * 12)
    found = read_files(paths, np.array([3, 2, 1, 4]), room, 1)
    got, sizes, times, errors = (part.tolist() for part in found)
    assert got == [3, 1, 0, 5]  # the second is shorter than expected, the last is longer
    assert sizes == [3, 1, 0, 5]
    assert times == [-5, -5, 0, -5]
    assert errors == [0, 0, errno.ENOENT, 0]
    assert room[1:4] == b"123"
    assert room[7:] == b"56789"


def test_names_that_no_file_has_are_refused(tmp_path):
    with pytest.raises(ValueError, match="embedded null byte"):
        read_files([b"a\0b"], np.array([1]), bytearray(9), 0)
    with pytest.raises(ValueError, match="paths"):
        read_files([b"a"], np.array([1, 2]), bytearray(9), 0)


def test_files_over_the_limit_are_bad(tmp_path):
    source = write_files(tmp_path / "photos", ONE | {"cat/big.jpg": picture(1) + bytes(100_000)})
    report = images(source, tmp_path / "out", max_image=50_000)
    assert listed(report) == {("photos/cat/big.jpg", "larger than the limit")}


def test_large_files_among_small_ones_are_kept_whole(tmp_path):
    files = ONE | {f"cat/big{number}.jpg": picture(number) + bytes(9_000_000) for number in range(3)}
    images(write_files(tmp_path / "photos", files), tmp_path / "out")
    assert {
        one["image/filename"].decode(): one["image/encoded"] for one in examples(tmp_path / "out")
    } == files


@pytest.mark.parametrize("name", ["labels.txt", "manifest.json", "report.json"])
def test_class_called_like_a_file_of_builds_is_a_class(name, tmp_path):
    write_files(tmp_path / "photos", photos({name: 2, "cat": 1}))
    assert images(tmp_path / "photos", tmp_path / "out").records == 3
    assert (tmp_path / "out" / "labels.txt").read_text() == f"cat\n{name}\n"
