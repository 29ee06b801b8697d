from __future__ import annotations

import gzip
import io
import tarfile
import zipfile
import zlib

import pytest

import tfrkit as tfr
from tests.records.support.made import GOLDEN, put
from tfrkit.errors import DataLossError
from tfrkit.records.sniff.file_sniffer import sniff_file

LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:4d7a2146\nsize 132\n"


def tar() -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.addfile(tarfile.TarInfo("a"), io.BytesIO())
    return file.getvalue()


def zipped(*names: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        for name in names:
            archive.writestr(name, "content")
    return file.getvalue()


FOREIGN = {
    "git-LFS pointer": (LFS, "a git-LFS pointer. Fetch the file itself with `git lfs pull`"),
    "HTML": (
        b"\n <!DOCTYPE html><html><body>404</body></html>",
        "an HTML page. A download probably gave an error page; fetch the file again",
    ),
    "XML": (
        b"<?xml version='1.0'?><Error><Code>AccessDenied</Code></Error>",
        "an XML document. A download probably gave an error message; fetch the file again",
    ),
    "tar": (tar(), "a tar archive. Unpack it first"),
    "zip": (zipped("a"), "a zip archive (or a .npz file). Unpack it first"),
    "empty zip": (zipped(), "an empty zip archive"),
    "parquet": (b"PAR1" + bytes(range(40)), "a Parquet file. Make records of it with `tfr build table`"),
    "HDF5": (b"\x89HDF\r\n\x1a\n" + bytes(40), "an HDF5 file. Read it with h5py"),
    "npy": (b"\x93NUMPY\x01\0v\0{'descr': '<i8'}", "a NumPy .npy file. Read it with numpy.load"),
    "arrow": (b"ARROW1\0\0" + bytes(40), "an Arrow file. Make records of it with `tfr build table`"),
    "sqlite": (b"SQLite format 3\0" + bytes(40), "an SQLite database"),
    "bzip2": (b"BZh91AY&SY" + bytes(40), "a bzip2 file. Unpack it first"),
    "pickle": (b"\x80\x04\x95\x10\0\0\0\0\0\0\0\x94.", "a Python pickle"),
    "index": (b"TFRKIDX1" + bytes(40), "a tfrkit index file. Name the shard that it belongs to"),
    "JPEG": (b"\xff\xd8\xff\xe0" + bytes(40), "a JPEG image. Make records of images with `tfr build images`"),
    "TIFF": (b"MM\0*" + bytes(40), "a TIFF image. Make records of images with `tfr build images`"),
    "PDF": (b"%PDF-1.7\n" + bytes(40), "a PDF file"),
    "text": (b"id,label\n1,cat\n2,dog\n", "text. TFRecord files are binary; is this the right file?"),
    "text in UTF-8": (
        ("编号,标签\n" * 60).encode(),
        "text. TFRecord files are binary; is this the right file?",
    ),
    "zeros": (
        bytes(4096),
        "zero bytes only. The disk was probably full or the copy was not finished; copy the file again",
    ),
}


@pytest.mark.parametrize("name", FOREIGN)
def test_foreign_file_is_named(name):
    data, text = FOREIGN[name]
    assert sniff_file(data[:1024]) == text


@pytest.mark.parametrize("name", FOREIGN)
def test_reading_a_foreign_file_says_what_it_is(name, tmp_path):
    data, text = FOREIGN[name]
    path = str(put(tmp_path / "a.tfrecord", data))
    with pytest.raises(DataLossError) as caught:
        list(tfr.read_records(path))
    stop = "" if text.endswith("?") else "."
    assert str(caught.value).endswith(f"of {path!r}. The file looks like {text}{stop}")
    assert str(caught.value).startswith(
        "corrupted record at 0 (Is this even a TFRecord file?): length checksum"
    )
    assert (caught.value.path, caught.value.record, caught.value.offset) == (path, 0, 0)


@pytest.mark.parametrize("name", FOREIGN)
def test_verify_says_what_a_foreign_file_is(name, tmp_path):
    data, text = FOREIGN[name]
    report = tfr.verify(put(tmp_path / "a.tfrecord", data))
    assert not report.ok
    assert report.files[0].looks_like == text
    assert f"  looks like {text}" in str(report)


@pytest.mark.parametrize(
    ("data", "given", "text"),
    [
        (gzip.compress(GOLDEN, mtime=0), "", 'a GZIP file. Pass compression="GZIP"'),
        (gzip.compress(GOLDEN, mtime=0), "ZLIB", 'a GZIP file. Pass compression="GZIP"'),
        (zlib.compress(GOLDEN), "", 'perhaps a ZLIB stream. Pass compression="ZLIB"'),
        (
            zlib.compress(GOLDEN),
            "GZIP",
            "no GZIP data. Leave compression out, so that it is found by the content",
        ),
        (GOLDEN, "GZIP", "no GZIP data. Leave compression out, so that it is found by the content"),
        (GOLDEN, "XZ", "no XZ data. Leave compression out, so that it is found by the content"),
    ],
)
def test_wrong_compression_is_named(data, given, text, tmp_path):
    assert sniff_file(data, given) == text
    path = put(tmp_path / "a", data)
    with pytest.raises(DataLossError) as caught:
        list(tfr.read_records(path, compression=given))
    assert str(caught.value).endswith(f"The file looks like {text}.")


@pytest.mark.parametrize(
    ("data", "given"),
    [(GOLDEN, ""), (gzip.compress(GOLDEN, mtime=0), "GZIP"), (zlib.compress(GOLDEN), "ZLIB")],
)
def test_nothing_is_said_of_what_looks_right(data, given):
    assert sniff_file(data, given) == ""


@pytest.mark.parametrize("head", [b"", b"ab", b"\0" * 15, b"\xfe\xfe\xfe\xfe"])
def test_nothing_is_said_of_what_looks_like_nothing(head):
    assert sniff_file(head) == ""
