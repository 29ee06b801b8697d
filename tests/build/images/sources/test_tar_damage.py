"""Damaged tar archives: never fewer photos without an error or a count.

Every byte of every header is changed and every length is cut, in archives with all kinds of names; also zeros in the
middle, joined archives, and headers that would fill the memory.
"""

from __future__ import annotations

import gzip
import io
import os
import random
import tarfile
import tracemalloc
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.build.support.image_samples import examples, picture, tarred
from tfrkit.build.images.build_images import images
from tfrkit.build.images.image_items import Findings, ImageItems
from tfrkit.build.images.sources.image_tar import list_tar, list_tar_stream
from tfrkit.errors import InvalidArgumentError

FORMATS = {"ustar": tarfile.USTAR_FORMAT, "gnu": tarfile.GNU_FORMAT, "pax": tarfile.PAX_FORMAT}
NAMES = ["猫/二.jpg", f"狗/{'长' * 40}.jpg", "zebra/5.jpg"]
DAMAGED = "expected a tar archive but it is damaged, cut, or something else"
Photo = tuple[bytes, int, int]


def archive(path: Path, kind: str = "gnu") -> bytes:
    """A small archive of photos in a folder; ustar has no room for the long name."""
    with tarfile.open(path, "w", format=FORMATS[kind]) as tar:
        folder = tarfile.TarInfo("猫")
        folder.type = tarfile.DIRTYPE
        tar.addfile(folder)
        for number, name in enumerate(NAMES):
            info = tarfile.TarInfo(name if kind != "ustar" else name[:20])
            info.size = 400 + 100 * number
            tar.addfile(info, io.BytesIO(bytes([65 + number]) * info.size))
    data = path.read_bytes()
    return data[: -(-len(data.rstrip(b"\0")) // 512) * 512 + 1024]  # without the padding behind the end


def photos_of(items: ImageItems) -> list[Photo]:
    return sorted(
        zip(items.paths(), items.sizes.tolist(), items.places["offset"].tolist(), strict=True),
        key=lambda photo: photo[2],
    )


def listed(path: Path, *, packed: bool = False) -> tuple[list[Photo], int]:
    """What is in an archive, and how much was counted as bad or worth noting."""
    found = Findings()
    limit = {"max_bytes": 1000} if packed else {}
    items = (list_tar_stream if packed else list_tar)(str(path), found, **limit)
    return photos_of(items), sum(found.bad.counts.values()) + sum(found.noted.counts.values())


def written(path: Path, data: bytes, *, packed: bool = False) -> Path:
    path.write_bytes(gzip.compress(data, 0) if packed else data)
    return path


def is_told(path: Path, whole: list[Photo], *, names: bool = True, packed: bool = False) -> bool:
    """Whether damage is an error or a count, or has changed nothing: not even names, or only them."""
    try:
        found, counted = listed(path, packed=packed)
    except InvalidArgumentError:
        return True
    if counted:
        return True
    return found == whole if names else [photo[1:] for photo in found] == [photo[1:] for photo in whole]


def header_bytes(data: bytes, whole: list[Photo]) -> Iterator[tuple[int, bool]]:
    """The places of all bytes that are not of photos, and whether a header's checksum covers them."""
    content = {at for _, size, offset in whole for at in range(offset, offset + -(-size // 512) * 512)}
    for block in range(0, len(data), 512):
        if block not in content:
            is_header = data[block + 257 : block + 262] == b"ustar"
            yield from ((at, is_header) for at in range(block, block + 512))


@pytest.mark.parametrize("kind", FORMATS)
def test_every_byte_of_every_header_is_guarded(tmp_path, kind):
    data = archive(tmp_path / "p", kind)
    path = written(tmp_path / "p", data)
    whole, counted = listed(path)
    assert (len(whole), counted) == (len(NAMES), 0)
    chance = random.Random(4)
    silent = []
    with open(path, "r+b", buffering=0) as file:
        for at, is_header in header_bytes(data, whole):
            for flip in (1 << at % 8, chance.randrange(1, 256)):
                os.pwrite(file.fileno(), bytes([data[at] ^ flip]), at)
                # Nothing guards the bytes of a long name: it may become another name, but its photo stays.
                if not is_told(path, whole, names=is_header):
                    silent.append((at, flip))
            os.pwrite(file.fileno(), data[at : at + 1], at)
    assert silent == []


def test_bytes_of_headers_are_guarded_in_gzipped_archives_too(tmp_path):
    data = archive(tmp_path / "p", "pax")
    whole, _ = listed(written(tmp_path / "p", data, packed=True), packed=True)
    for at, is_header in list(header_bytes(data, whole))[::11]:
        damaged = data[:at] + bytes([data[at] ^ 1 << at % 7]) + data[at + 1 :]
        assert is_told(written(tmp_path / "p", damaged, packed=True), whole, names=is_header, packed=True)


@pytest.mark.parametrize("kind", FORMATS)
def test_every_cut_is_told(tmp_path, kind):
    data = archive(tmp_path / "p", kind)
    path = written(tmp_path / "p", data)
    whole, _ = listed(path)
    silent = []
    for size in reversed(range(len(data))):
        os.truncate(path, size)
        if not is_told(path, whole):
            silent.append(size)
    assert silent == []
    with pytest.raises(InvalidArgumentError, match="it has no end marker, so it was cut at byte"):
        listed(written(path, data[:-1024]))
    assert listed(written(path, data[:-512])) == (whole, 0)


def test_every_cut_before_it_was_gzipped_is_told(tmp_path):
    data = archive(tmp_path / "p")
    whole, _ = listed(written(tmp_path / "p", data))
    cuts = [*range(0, len(data), 512), *range(0, len(data), 37)]
    silent = [
        cut
        for cut in cuts
        if not is_told(written(tmp_path / "p", data[:cut], packed=True), whole, packed=True)
    ]
    assert silent == []


@pytest.mark.parametrize("members", [1, 3], ids=["one stream", "several streams"])
def test_every_cut_and_flip_of_a_gzip_file_is_told(tmp_path, members):
    data = archive(tmp_path / "p", "pax")
    whole, _ = listed(written(tmp_path / "p", data))
    step = -(-len(data) // members // 512) * 512  # at headers or photos, as it comes
    packed = b"".join(gzip.compress(data[at : at + step]) for at in range(0, len(data), step))
    path = written(tmp_path / "p", packed)
    for cut in reversed(range(len(packed))):
        os.truncate(path, cut)
        assert is_told(path, whole, packed=True)
    for at in range(len(packed)):
        written(path, packed[:at] + bytes([packed[at] ^ 1 << at % 8]) + packed[at + 1 :])
        assert is_told(path, whole, packed=True)


@pytest.mark.parametrize("blocks", [1, 2, 3, 20])
def test_zero_blocks_at_every_place_are_told(tmp_path, blocks):
    path = tmp_path / "p"
    data = archive(path, "pax")
    whole, _ = listed(written(path, data))
    for at in range(0, len(data) - 1024, 512):
        wiped = data[:at] + bytes(512 * blocks) + data[at + 512 * blocks :]
        # Zeros in photos are found when they are read, and zeros up to the end are an end.
        in_photo = any(begin <= at < begin + size and blocks == 1 for _, size, begin in whole)
        assert in_photo or not wiped[at:].strip(b"\0") or is_told(written(path, wiped), whole)
        assert is_told(written(path, data[:at] + bytes(512 * blocks) + data[at:]), whole)


@pytest.mark.parametrize("packed", [False, True], ids=["tar", "tar.gz"])
def test_joined_archives_are_read_to_the_end(tmp_path, packed):
    parts = [tarred(tmp_path / f"{n}.tar", {f"{n}/{n}.jpg": picture(n)}).read_bytes() for n in range(3)]
    path = tmp_path / ("p.tar.gz" if packed else "p.tar")
    path.write_bytes(b"".join(gzip.compress(part) if packed else part for part in parts))
    report = images(path, tmp_path / "out")
    assert {one["image/filename"] for one in examples(tmp_path / "out")} == {
        b"0/0.jpg",
        b"1/1.jpg",
        b"2/2.jpg",
    }
    ((reason, count),) = report.noted.items()
    assert ("zero blocks inside of the archive" in reason, count) == (True, 2)


def test_something_else_behind_the_end_is_an_error(tmp_path):
    data = tarred(tmp_path / "p.tar", {"cat/1.jpg": picture(1)}).read_bytes()
    (tmp_path / "p.tar").write_bytes(data + b"something else" * 100)
    with pytest.raises(InvalidArgumentError, match=f"there is no valid header at byte {len(data)}"):
        images(tmp_path / "p.tar", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_tail_of_zeros_is_counted(tmp_path):
    data = tarred(tmp_path / "p.tar", {f"cat/{n}.jpg": picture(n) for n in range(3)}).read_bytes()
    assert images(tmp_path / "p.tar", tmp_path / "whole").noted == {}
    (tmp_path / "p.tar").write_bytes(data[:1536] + bytes(20_480))
    report = images(tmp_path / "p.tar", tmp_path / "out")
    assert report.records == 1
    assert report.noted == {
        "more zeros at the end of the archive than tar puts there: members may be missing": 1
    }


def test_the_error_says_file_place_and_remedy(tmp_path):
    data = bytearray(archive(tmp_path / "p.tar", "ustar"))
    second = 512
    data[second + 5] ^= 1
    (tmp_path / "p.tar").write_bytes(data)
    with pytest.raises(InvalidArgumentError) as caught:
        images(tmp_path / "p.tar", tmp_path / "out")
    assert str(caught.value) == (
        f"{tmp_path}/p.tar: {DAMAGED}: there is no valid header at byte {second}: its checksum is wrong. Nothing was "
        "built, as images would be missing. Copy it again; or unpack what `tar` can still read, and build from that "
        "folder."
    )
    assert caught.value.path == f"{tmp_path}/p.tar"


@pytest.mark.parametrize("kind", ["gnu", "pax"])
def test_a_long_name_does_not_fill_the_memory(tmp_path, kind):
    path = tmp_path / "p.tar.gz"
    with tarfile.open(path, "w:gz", format=FORMATS[kind], compresslevel=1) as tar:
        info = tarfile.TarInfo("cat/" + "n" * (30 << 20))
        tar.addfile(info)
    tracemalloc.start()
    try:
        with pytest.raises(InvalidArgumentError, match="the long header at byte 0 has 314572"):
            images(path, tmp_path / "out")
        assert tracemalloc.get_traced_memory()[1] < 8 << 20
    finally:
        tracemalloc.stop()


def with_pax(path: Path, headers: dict[str, str], size: int) -> Path:
    with tarfile.open(path, "w", format=tarfile.PAX_FORMAT) as tar:
        info = tarfile.TarInfo("cat/1.jpg")
        info.size = size
        info.pax_headers = headers
        tar.addfile(info, io.BytesIO(bytes(size)))
        second = tarfile.TarInfo("cat/2.jpg")
        second.size = 600
        tar.addfile(second, io.BytesIO(bytes(600)))
    return path


def test_a_size_in_pax_that_would_jump_over_members_is_an_error(tmp_path):
    path = with_pax(tmp_path / "p.tar", {"size": str(512 + 512 + 600)}, 512)
    with pytest.raises(InvalidArgumentError, match="the member at byte 0 has two sizes, 512 and"):
        list_tar(str(path), Findings())


@pytest.mark.parametrize("name", ["", ".", "./", "cat/.."])
def test_members_without_a_name_are_counted(tmp_path, name):
    path = tmp_path / "p.tar"
    tarred(path, {"cat/1.jpg": picture(1), name: picture(2)})
    found = Findings()
    try:
        list_tar(str(path), found)
    except InvalidArgumentError:
        assert name == "cat/.."
    else:
        assert found.bad.counts == {"file without a name": 1}


def test_headers_of_all_programs_are_understood(tmp_path):
    """What tarfile finds in an archive with all kinds of members is what is found here."""
    path = tmp_path / "p.tar"
    kinds: list[Any] = [tarfile.REGTYPE, tarfile.AREGTYPE, tarfile.CONTTYPE, tarfile.SYMTYPE, tarfile.LNKTYPE]
    for form in FORMATS.values():
        with tarfile.open(path, "w", format=form) as tar:
            for number, kind in enumerate(
                [*kinds, tarfile.CHRTYPE, tarfile.FIFOTYPE, tarfile.DIRTYPE, b"V", b"D"]
            ):
                info = tarfile.TarInfo(f"cat/{number}")
                info.type, info.linkname = kind, "x" * (150 if form != tarfile.USTAR_FORMAT else 10)
                info.size = 700 if kind in (*kinds[:3], b"V", b"D") else 0
                tar.addfile(info, io.BytesIO(bytes(700)))
        with tarfile.open(path) as tar:
            expected = [(info.name.encode(), info.size, info.offset_data) for info in tar if info.isreg()]
        found = Findings()
        assert photos_of(list_tar(str(path), found)) == expected
        assert found.bad.counts == {"link in an archive": 2, "not a regular file": 4}


def test_times_in_old_gnu_headers_are_no_folders(tmp_path):
    """`tar -g` puts them where POSIX has the first part of a long name; tarfile takes them for it."""
    path = tmp_path / "p.tar"
    data = bytearray(archive(path, "gnu"))
    data[512 + 345 : 512 + 357] = b"15276740644\0"
    data[512 + 148 : 512 + 156] = b"        "
    data[512 + 148 : 512 + 156] = b"%06o\0 " % sum(data[512:1024])
    path.write_bytes(data)
    assert [name.decode() for name, _, _ in listed(path)[0]] == NAMES
