"""ZIP archives of images: names in any encoding, names that lead out, duplicates, encryption, bombs and damage."""

from __future__ import annotations

import contextlib
import io
import random
import stat
import struct
import warnings
import zipfile
import zlib
from pathlib import Path

import pytest

from tests.build.support.image_samples import examples, labels, photos, picture, write_files, zipped
from tfrkit.build.images.build_images import images
from tfrkit.build.images.sources.zip_directory import read_zip_directory
from tfrkit.errors import InvalidArgumentError

GOOD = {"cat/1.jpg": picture(1), "dog/2.jpg": picture(2)}


def patched(path: Path, old: bytes, new: bytes, count: int = -1) -> Path:
    """Change bytes of a file."""
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, count))
    return path


def reasons(report) -> dict[str, str]:
    return {bad.source: bad.reason for bad in report.listed}


@pytest.mark.parametrize(
    "name",
    [
        "../evil.jpg",
        "cat/../../evil.jpg",
        "/etc/evil.jpg",
        "C:/evil.jpg",
        "c:evil.jpg",
        "..\\evil.jpg",
        "\\\\host\\evil",
    ],
)
def test_names_that_lead_out_are_refused(tmp_path, name):
    write_files(tmp_path, {"evil.jpg": picture(3)})
    (tmp_path / "in").mkdir()
    source = zipped(tmp_path / "in" / "p.zip", GOOD | {name: picture(3)})
    with pytest.raises(InvalidArgumentError, match="expected names inside the archive but got") as caught:
        images(source, tmp_path / "out")
    assert name.replace("\\", "\\\\") in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_dots_inside_names_are_names(tmp_path):
    images(
        zipped(tmp_path / "p.zip", GOOD | {"cat/..1.jpg": picture(4), "cat/1..jpg": picture(5)}),
        tmp_path / "out",
    )
    assert len(labels(tmp_path / "out")) == 3  # one is hidden


def test_links_in_archives_are_bad(tmp_path):
    source = zipped(tmp_path / "p.zip", GOOD)
    with zipfile.ZipFile(source, "a") as archive:
        info = zipfile.ZipInfo("cat/link.jpg")
        info.create_system = 3
        info.external_attr = (stat.S_IFLNK | 0o777) << 16
        archive.writestr(info, "../../../etc/passwd")
    assert reasons(images(source, tmp_path / "out")) == {"p.zip/cat/link.jpg": "link in an archive"}


def test_of_two_members_with_one_name_the_first_is_taken(tmp_path):
    source = tmp_path / "p.zip"
    with zipfile.ZipFile(source, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for number in (1, 2, 3):
            archive.writestr("cat/1.jpg", picture(number))
    report = images(source, tmp_path / "out")
    assert report.bad == {"duplicate name": 2}
    assert examples(tmp_path / "out")[0]["image/encoded"] == picture(1)
    with pytest.raises(InvalidArgumentError, match=r"p\.zip/cat/1\.jpg: duplicate name"):
        images(source, tmp_path / "again", on_bad="raise")


@pytest.mark.parametrize("names", [["猫/一.jpg", "狗/二.jpg"], ["猫/1.jpg"]], ids=["long", "short"])
@pytest.mark.parametrize("encoding", ["utf-8 marked", "utf-8", "gbk"])
def test_names_in_chinese_however_they_are_stored(tmp_path, encoding, names):
    source = zipped(tmp_path / "照片.zip", {name: picture(number) for number, name in enumerate(names)})
    if encoding != "utf-8 marked":
        source.write_bytes(unmarked(source.read_bytes(), names, encoding))
    images(source, tmp_path / "out")
    assert {name.split("/")[0] for name in labels(tmp_path / "out")} == {name.split("/")[0] for name in names}


def unmarked(content: bytes, names: list[str], encoding: str) -> bytes:
    """Write the archive anew with names in an encoding, not marked as UTF-8."""
    files = zipfile.ZipFile(io.BytesIO(content))
    body, directory = b"", b""
    for info, name in zip(files.infolist(), names, strict=True):
        data, raw = files.read(info), name.encode(encoding)
        fixed = struct.pack("<HHHHIII", 0, 0, 0, 33, zlib.crc32(data), len(data), len(data))
        directory += (
            b"PK\1\2"
            + struct.pack("<HH", 20, 20)
            + fixed
            + struct.pack("<HHHHHII", len(raw), 0, 0, 0, 0, 0, len(body))
            + raw
        )
        body += b"PK\3\4" + struct.pack("<H", 20) + fixed + struct.pack("<HH", len(raw), 0) + raw + data
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, len(names), len(names), len(directory), len(body), 0)
    return body + directory + end


def test_names_in_code_page_437_and_in_an_encoding_that_is_given(tmp_path):
    content = zipped(tmp_path / "a.zip", {"x/1.jpg": picture(1)}).read_bytes()
    (tmp_path / "dos.zip").write_bytes(unmarked(content, ["été/1.jpg"], "cp437"))
    images(tmp_path / "dos.zip", tmp_path / "out")
    assert list(labels(tmp_path / "out")) == ["été/1.jpg"]
    (tmp_path / "russian.zip").write_bytes(unmarked(content, ["кот/1.jpg"], "cp866"))
    images(tmp_path / "russian.zip", tmp_path / "russian", zip_encoding="cp866")
    assert list(labels(tmp_path / "russian")) == ["кот/1.jpg"]
    with pytest.raises(InvalidArgumentError, match="expected names in ascii but got"):
        images(tmp_path / "russian.zip", tmp_path / "no", zip_encoding="ascii")


def test_encrypted_members_and_unknown_compression_are_bad(tmp_path):
    source = zipped(tmp_path / "p.zip", GOOD)
    with zipfile.ZipFile(source, "a", zipfile.ZIP_LZMA) as archive:
        archive.writestr("cat/lzma.jpg", picture(4))
        archive.writestr("cat/secret.jpg", picture(5))
    content = bytearray(source.read_bytes())
    entry = content.rfind(b"PK\1\2")
    content[entry + 8] |= 1
    source.write_bytes(content)
    report = images(source, tmp_path / "out")
    assert reasons(report) == {
        "p.zip/cat/secret.jpg": "encrypted in the archive",
        "p.zip/cat/lzma.jpg": "unknown compression in the archive",
    }
    assert report.records == 2


def test_member_that_inflates_to_more_than_it_says_is_bad(tmp_path):
    source = tmp_path / "p.zip"
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cat/1.jpg", picture(1))
        archive.writestr("cat/bomb.jpg", picture(2) + bytes(30_000_000))
    size = len(picture(2)) + 30_000_000
    patched(source, struct.pack("<I", size), struct.pack("<I", 5000))
    report = images(source, tmp_path / "out")
    assert [(bad.source, bad.reason, bad.detail) for bad in report.listed] == [
        ("p.zip/cat/bomb.jpg", "damaged in the archive", "it inflates to more bytes, expected 5000")
    ]


def test_member_that_says_it_is_huge_is_bad(tmp_path):
    source = tmp_path / "p.zip"
    with zipfile.ZipFile(source, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("cat/1.jpg", picture(1))
        archive.writestr("cat/bomb.jpg", bytes(1_234_567))
    patched(source, struct.pack("<I", 1_234_567), struct.pack("<I", 4_000_000_000))
    assert reasons(images(source, tmp_path / "out")) == {"p.zip/cat/bomb.jpg": "larger than the limit"}


def test_member_whose_wide_size_is_absurd_is_bad(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    source = zipped(
        tmp_path / "p.zip", {"cat/1.jpg": picture(1), "cat/2.jpg": picture(1) + b"2"}, zipfile.ZIP_DEFLATED
    )
    size = struct.pack("<Q", len(picture(1)) + 1)
    patched(source, size, b"\xff" * 8)
    assert reasons(images(source, tmp_path / "out")) == {"p.zip/cat/2.jpg": "larger than the limit"}


def test_members_that_share_bytes_are_bad(tmp_path):
    content = picture(1)
    fixed = struct.pack("<HHHHIII", 0, 0, 0, 33, zlib.crc32(content), len(content), len(content))
    body = b"PK\3\4" + struct.pack("<H", 20) + fixed + struct.pack("<HH", 7, 0) + b"c/1.jpg" + content
    directory = b"".join(
        b"PK\1\2"
        + struct.pack("<HH", 20, 20)
        + fixed
        + struct.pack("<HHHHHII", 7, 0, 0, 0, 0, 0, 0)
        + b"c/%d.jpg" % number
        for number in range(1, 6)
    )
    end = struct.pack("<4s4H2IH", b"PK\5\6", 0, 0, 5, 5, len(directory), len(body), 0)
    (tmp_path / "p.zip").write_bytes(body + directory + end)
    report = images(tmp_path / "p.zip", tmp_path / "out")
    assert report.bad == {"overlaps another member of the archive": 4}
    assert report.records == 1


def test_changed_content_does_not_fit_its_checksum(tmp_path):
    source = zipped(tmp_path / "p.zip", GOOD)
    patched(source, GOOD["cat/1.jpg"][-60:-50], b"0123456789", 1)
    report = images(source, tmp_path / "out")
    assert reasons(report) == {"p.zip/cat/1.jpg": "damaged in the archive"}
    assert report.listed[0].detail.startswith("its checksum is 0x")


def test_hidden_files_and_empty_ones(tmp_path):
    files = GOOD | {"__MACOSX/cat/._1.jpg": b"x", "cat/.DS_Store": b"x", "cat/0.jpg": b"", "labels.txt": b"x"}
    report = images(zipped(tmp_path / "p.zip", files), tmp_path / "out")
    assert report.noted == {"hidden or system file": 3}
    assert report.bad == {"empty file": 1}
    assert labels(tmp_path / "out") == {"cat/1.jpg": 0, "dog/2.jpg": 1}


def test_archive_with_bytes_before_it_and_a_comment(tmp_path):
    source = zipped(tmp_path / "p.zip", GOOD)
    with zipfile.ZipFile(source, "a") as archive:
        archive.comment = b"with a comment"
    source.write_bytes(b"#!/bin/sh\n" * 50 + source.read_bytes())
    images(source, tmp_path / "out")
    assert labels(tmp_path / "out") == {"cat/1.jpg": 0, "dog/2.jpg": 1}


def test_large_archives_have_wide_numbers(tmp_path, monkeypatch):
    monkeypatch.setattr(zipfile, "ZIP64_LIMIT", 100)
    monkeypatch.setattr(zipfile, "ZIP_FILECOUNT_LIMIT", 1)
    source = zipped(tmp_path / "p.zip", GOOD)
    assert b"PK\6\6" in source.read_bytes()
    images(source, tmp_path / "out")
    assert labels(tmp_path / "out") == {"cat/1.jpg": 0, "dog/2.jpg": 1}


def test_backslashes_of_old_programs_separate_folders(tmp_path):
    images(zipped(tmp_path / "p.zip", {"cat\\1.jpg": picture(1), "dog\\2.jpg": picture(2)}), tmp_path / "out")
    assert labels(tmp_path / "out") == {"cat/1.jpg": 0, "dog/2.jpg": 1}


@pytest.mark.parametrize("cut", [10, 30, 80])
def test_cut_archive_is_an_error(tmp_path, cut):
    source = zipped(tmp_path / "p.zip", GOOD)
    source.write_bytes(source.read_bytes()[:-cut])
    with pytest.raises(
        InvalidArgumentError, match="expected a ZIP archive but it has no end of the directory"
    ):
        images(source, tmp_path / "out")


def test_damaged_directories_are_errors_and_nothing_else(tmp_path):
    content = zipped(tmp_path / "p.zip", photos({"cat": 3})).read_bytes()
    start = content.find(b"PK\1\2")
    chance = random.Random(2)
    for _ in range(400):
        damaged = bytearray(content)
        for _ in range(chance.randint(1, 6)):
            damaged[chance.randrange(start, len(damaged))] = chance.choice([0, 255, chance.randrange(256)])
        with contextlib.suppress(InvalidArgumentError):
            list(read_zip_directory(io.BytesIO(damaged), "p.zip"))
