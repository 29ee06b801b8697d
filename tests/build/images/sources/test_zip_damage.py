"""Damaged ZIP archives and lists of photos: never fewer photos without an error or a count."""

from __future__ import annotations

import io
import os
import random
import zipfile
from pathlib import Path

import pytest

from tests.build.support.image_samples import picture, write_files, zipped
from tfrkit.build.images.build_images import images
from tfrkit.build.images.image_items import Findings, ImageBuffer, ImageSource
from tfrkit.build.images.sources.archive import MemberList
from tfrkit.build.images.sources.image_zip import ZipReader, list_zip
from tfrkit.errors import InvalidArgumentError

FILES = {"cat/1.jpg": b"1" * 300, "猫/二.jpg": b"2" * 400, "dog/photo": b"3" * 500}


def found_in(path: Path) -> tuple[list[bytes], int]:
    """The contents of all members that can be read, and how many others were counted."""
    found = Findings()
    items = list_zip(str(path), found, encoding=None)
    contents = []
    buffer = ImageBuffer()
    with ImageSource(str(path), 10_000, ZipReader).open() as reader:
        for read in reader.contents(items, buffer):
            if read.error is not None:
                found.bad.add("", read.error.reason)
            else:
                contents.append(bytes(buffer.data[read.begin : read.end]))
    return sorted(contents), sum(found.bad.counts.values()) + sum(found.noted.counts.values())


def is_told(path: Path) -> bool:
    try:
        contents, counted = found_in(path)
    except InvalidArgumentError:
        return True
    return bool(counted) or contents == sorted(FILES.values())


def test_every_byte_that_is_no_photo_is_guarded(tmp_path):
    path = zipped(tmp_path / "p.zip", FILES)
    data = path.read_bytes()
    assert found_in(path) == (sorted(FILES.values()), 0)
    photo_bytes = {
        data.index(content) + at for content in FILES.values() for at in range(len(content))
    }  # which have checksums
    chance = random.Random(5)
    silent = []
    with open(path, "r+b", buffering=0) as file:
        for at in sorted(set(range(len(data))) - photo_bytes):
            flip = chance.choice([1 << at % 8, chance.randrange(1, 256)])
            os.pwrite(file.fileno(), bytes([data[at] ^ flip]), at)
            if not is_told(path):
                silent.append((at, flip))
            os.pwrite(file.fileno(), data[at : at + 1], at)
    assert silent == []


def test_every_cut_is_told(tmp_path):
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("cat/inner.jpg", b"4")
    path = zipped(tmp_path / "p.zip", {"cat/0.zip": inner.getvalue(), **FILES})
    whole = found_in(path)
    for size in reversed(range(path.stat().st_size)):
        os.truncate(path, size)
        with pytest.raises(InvalidArgumentError, match="expected a ZIP archive but"):
            assert found_in(path) == whole


def test_a_length_that_jumps_over_an_entry_is_an_error(tmp_path):
    path = zipped(tmp_path / "p.zip", FILES)
    data = bytearray(path.read_bytes())
    first = data.index(b"PK\1\2")
    second = data.index(b"PK\1\2", first + 1)
    third = data.index(b"PK\1\2", second + 1)
    data[first + 32 : first + 34] = (third - second).to_bytes(2, "little")  # of the comment
    path.write_bytes(data)
    with pytest.raises(InvalidArgumentError, match="its directory has 2 members where 3 are said to be"):
        found_in(path)


@pytest.mark.parametrize("cut", [0, 30], ids=["whole", "cut"])
def test_joined_archives_are_an_error(tmp_path, cut):
    one = zipped(tmp_path / "1.zip", {"cat/1.jpg": picture(1)}).read_bytes()
    two = zipped(tmp_path / "2.zip", {"dog/2.jpg": picture(2)}).read_bytes()
    (tmp_path / "p.zip").write_bytes(one + two[: len(two) - cut])
    with pytest.raises(InvalidArgumentError, match="archives were joined"):
        images(tmp_path / "p.zip", tmp_path / "out")


def test_a_file_called_like_a_folder_is_counted(tmp_path):
    path = zipped(tmp_path / "p.zip", {"cat/1.jpg": picture(1), "cat/2/": b""})
    assert images(path, tmp_path / "out").bad == {}
    data = zipped(tmp_path / "p.zip", {"cat/1.jpg": picture(1), "cat/2o": picture(2)}).read_bytes()
    path.write_bytes(data.replace(b"cat/2o", b"cat/2/"))
    report = images(path, tmp_path / "again")
    assert report.records + sum(report.bad.values()) == 2


def test_duplicate_names_take_linear_time(tmp_path):
    class Folders(dict):
        looks = 0

        def __iter__(self):
            Folders.looks += 1
            return super().__iter__()

    members = MemberList(Findings(), "offset")
    members.folders = Folders()
    for number in range(2000):
        for _ in range(2):
            members.add_member([b"%d" % number, b"1.jpg"], 1, 0)
    assert len(members.finish(ordered=True)) == 2000
    assert members.bad.counts == {"duplicate name": 2000}
    assert members.bad.listed[1].source == "1/1.jpg"
    assert Folders.looks < 5


@pytest.mark.parametrize("name", ["p.csv", "p.tsv"])
def test_a_quote_that_does_not_end_takes_no_rows_of_a_list(tmp_path, name):
    write_files(tmp_path, {f"{number}.jpg": picture(number) for number in range(4)})
    comma = "," if name == "p.csv" else "\t"
    rows = [
        f"path{comma}label",
        f"0.jpg{comma}cat",
        f'1.jpg{comma}"cat',
        f"2.jpg{comma}dog",
        f"3.jpg{comma}dog",
    ]
    (tmp_path / name).write_text("\n".join(rows))
    with pytest.raises(
        InvalidArgumentError, match="in the row that begins in line 3 there is: unexpected end"
    ):
        images(tmp_path / name, tmp_path / "out")
