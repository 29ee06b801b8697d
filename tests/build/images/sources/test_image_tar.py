"""Tar archives of images, plain and gzipped: links, names that lead out, damage, order."""

from __future__ import annotations

import contextlib
import gzip
import io
import pickle
import random
import tarfile
from pathlib import Path

import pytest

from tests.build.support.image_samples import examples, labels, photos, picture, tarred, write_files
from tfrkit.build.images.build_images import images
from tfrkit.build.images.image_items import Findings
from tfrkit.build.images.sources.image_tar import list_tar, list_tar_stream, tar_stream
from tfrkit.errors import InvalidArgumentError, OpError

GOOD = {"cat/1.jpg": picture(1), "dog/2.jpg": picture(2)}
KINDS = {"tar": "w", "tar.gz": "w:gz"}


def with_member(path: Path, mode: str, **fields: object) -> Path:
    """An archive with one member more, of which everything can be said."""
    with tarfile.open(path, mode) as archive:  # type: ignore[call-overload]
        info = tarfile.TarInfo()
        for name, value in fields.items():
            setattr(info, name, value)
        archive.addfile(info)
        for name, content in GOOD.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return path


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["../evil.jpg", "cat/../../evil.jpg", "/etc/evil.jpg", "C:\\evil.jpg"])
def test_names_that_lead_out_are_refused(tmp_path, kind, name):
    write_files(tmp_path, {"evil.jpg": picture(3)})
    source = tarred(tmp_path / f"p.{kind}", GOOD | {name: picture(3)}, KINDS[kind])
    with pytest.raises(InvalidArgumentError, match="expected names inside the archive but got"):
        images(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("type_", [tarfile.SYMTYPE, tarfile.LNKTYPE], ids=["symbolic", "hard"])
@pytest.mark.parametrize("target", ["../../etc/passwd", "/etc/passwd", "cat/1.jpg"])
def test_links_are_bad_and_never_followed(tmp_path, kind, type_, target):
    source = with_member(
        tmp_path / f"p.{kind}", KINDS[kind], name="cat/link.jpg", type=type_, linkname=target
    )
    report = images(source, tmp_path / "out")
    assert [(bad.source, bad.reason, bad.detail) for bad in report.listed] == [
        (f"p.{kind}/cat/link.jpg", "link in an archive", f"to {target}")
    ]
    assert labels(tmp_path / "out") == {"cat/1.jpg": 0, "dog/2.jpg": 1}


@pytest.mark.parametrize("kind", KINDS)
def test_special_empty_hidden_and_repeated_members(tmp_path, kind):
    source = with_member(tmp_path / f"p.{kind}", KINDS[kind], name="cat/pipe.jpg", type=tarfile.FIFOTYPE)
    assert images(source, tmp_path / "out").bad == {"not a regular file": 1}
    path = tmp_path / f"q.{kind}"
    with tarfile.open(path, KINDS[kind]) as archive:
        for name, content in [*GOOD.items(), ("cat/1.jpg", picture(9)), ("cat/0.jpg", b""), ("cat/.x", b"x")]:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    report = images(path, tmp_path / "again")
    assert report.bad == {"duplicate name": 1, "empty file": 1}
    assert report.noted == {"hidden or system file": 1}
    found = {one["image/filename"]: one["image/encoded"] for one in examples(tmp_path / "again")}
    assert found[b"cat/1.jpg"] == GOOD["cat/1.jpg"]


@pytest.mark.parametrize("kind", KINDS)
def test_names_in_chinese_long_and_in_no_encoding(tmp_path, kind):
    long = "长" * 90
    names = [f"猫/{long}.jpg", "狗/二.jpg", b"\xb9\xb7/1.jpg".decode("utf-8", "surrogateescape")]
    source = tmp_path / f"p.{kind}"
    with tarfile.open(source, KINDS[kind], format=tarfile.GNU_FORMAT, errors="surrogateescape") as archive:
        for number, name in enumerate(names):
            info = tarfile.TarInfo(name)
            info.size = len(picture(number))
            archive.addfile(info, io.BytesIO(picture(number)))
    images(source, tmp_path / "out")
    found = {one["image/filename"] for one in examples(tmp_path / "out")}
    assert found == {name.encode("utf-8", "surrogateescape") for name in names}


@pytest.mark.parametrize("cut", [0.1, 0.5, 0.8])
@pytest.mark.parametrize("kind", KINDS)
def test_cut_archives_are_errors(tmp_path, kind, cut):
    source = tarred(tmp_path / f"p.{kind}", photos({"cat": 40}), KINDS[kind])
    content = source.read_bytes()
    source.write_bytes(content[: int(len(content) * cut) | 1])
    with pytest.raises(
        InvalidArgumentError, match="expected a tar archive but it is damaged, cut, or something else"
    ):
        images(source, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_damaged_gzip_is_an_error(tmp_path):
    source = tarred(tmp_path / "p.tar.gz", photos({"cat": 8}), "w:gz")
    content = bytearray(source.read_bytes())
    content[len(content) // 2] ^= 0xFF
    source.write_bytes(content)
    with pytest.raises(InvalidArgumentError, match="expected a tar archive but it is damaged"):
        images(source, tmp_path / "out")


def test_gzip_of_something_else_is_an_error(tmp_path):
    (tmp_path / "p.tar.gz").write_bytes(gzip.compress(b"hello " * 200))
    with pytest.raises(
        InvalidArgumentError, match="expected a tar archive but it is damaged, cut, or something"
    ):
        images(tmp_path / "p.tar.gz", tmp_path / "out")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [-1, -(2**20), 2**40, 2**62, 2**70], ids=str)
def test_absurd_sizes_are_errors_or_bad(tmp_path, kind, size):
    source = tarred(tmp_path / "p.tar", GOOD)
    content = bytearray(source.read_bytes())
    content[124:136] = (size % 2**88 | (0xFF if size < 0 else 0x80) << 88).to_bytes(12, "big")
    content[148:156] = b"%06o\0 " % (sum(content[:148]) + 8 * 32 + sum(content[156:512]))
    path = tmp_path / f"absurd.{kind}"
    path.write_bytes(gzip.compress(content) if kind == "tar.gz" else content)
    with pytest.raises(InvalidArgumentError, match="expected a tar archive but it is damaged"):
        images(path, tmp_path / "out")


@pytest.mark.parametrize("kind", KINDS)
def test_damaged_headers_give_errors_of_ours_alone(tmp_path, kind):
    content = tarred(tmp_path / "p.tar", GOOD).read_bytes()
    chance = random.Random(3)
    path = tmp_path / f"damaged.{kind}"
    for _ in range(60):
        damaged = bytearray(content)
        for _ in range(chance.randint(1, 4)):
            damaged[chance.randrange(512)] = chance.choice([0, 0x80, 255, chance.randrange(256)])
        damaged[148:156] = b"%06o\0 " % (sum(damaged[:148]) + 8 * 32 + sum(damaged[156:512]))
        path.write_bytes(gzip.compress(damaged, 1) if kind == "tar.gz" else damaged)
        with contextlib.suppress(OpError):
            listed = list_tar_stream if kind == "tar.gz" else list_tar
            limit = {"max_bytes": 1000} if kind == "tar.gz" else {}
            listed(str(path), Findings(), **limit)


def test_larger_members_than_the_limit_are_bad(tmp_path):
    source = tarred(tmp_path / "p.tgz", GOOD | {"cat/big.jpg": picture(3) + bytes(100_000)}, "w:gz")
    assert images(source, tmp_path / "out", max_image=50_000).bad == {"larger than the limit": 1}


def test_readers_of_a_gzipped_archive_go_on_where_another_has_stopped(tmp_path, monkeypatch):
    source = tarred(tmp_path / "p.tgz", photos({"cat": 12}), "w:gz")
    opened = []
    from tfrkit.build.images.sources import image_tar

    plain = image_tar._gzip.open
    monkeypatch.setattr(image_tar._gzip, "open", lambda path: opened.append(path) or plain(path))
    images(source, tmp_path / "out", shards=6, shuffle=False, workers=1)
    assert len(opened) == 2  # once to list it, once to read all shards
    assert [one["image/filename"].decode() for one in examples(tmp_path / "out")] == list(photos({"cat": 12}))


def test_sources_pickle():
    source = pickle.loads(pickle.dumps(tar_stream("p.tgz", 100)))
    assert (source.path, source.max_bytes, source.streams) == ("p.tgz", 100, True)
