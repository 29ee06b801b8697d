"""What files are called by their first bytes."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import random
import zipfile

import numpy as np
import pytest

from tfrkit.codecs.file_kinds import file_kind, looks_like


def zipped(name: str, content: bytes = b"x") -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive:
        archive.writestr(name, content)
    return file.getvalue()


def saved(**arrays: np.ndarray) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


@pytest.mark.parametrize(
    ("head", "kind"),
    [
        (b"\xff\xd8\xff\xe0\0\x10JFIF", "a JPEG image"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "a PNG image"),
        (b"GIF89a", "a GIF image"),
        (b"RIFF\x1e\0\0\0WEBPVP8 ", "a WebP image"),
        (b"II*\0\x08\0\0\0", "a TIFF image"),
        (b"MM\0*\0\0\0\x08", "a TIFF image"),
        (b"II+\0\x08\0\0\0", "a TIFF image"),
        (b"II*\0\x10\0\0\0CR\2\0", "a raw camera image"),
        (b"\0\0\0\x18ftypcrx \0\0\0\1", "a raw camera image"),
        (b"FUJIFILMCCD-RAW 0201", "a raw camera image"),
        (b"\0\0\0\x18ftypheic\0\0\0\0", "a HEIC image"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0", "a HEIF image"),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "an AVIF image"),
        (b"\0\0\0\x18ftypisom\0\0\2\0", "an MP4 video"),
        (b"\0\0\0\x14ftypqt  \0\0\2\0", "a QuickTime video"),
        (b"\0\0\0\x0cJXL \r\n\x87\n", "a JPEG XL image"),
        (b"\0\0\0\x0cjP  \r\n\x87\n", "a JPEG 2000 image"),
        (b"8BPS\0\1\0\0", "a Photoshop document"),
        (bytes.fromhex("00000100 0100 2020 0000 0100"), "a Windows icon"),
        (b"P6\n640 480\n255\n", "a Netpbm image"),
        (bytes(128) + b"DICM", "a DICOM image"),
        (b'<svg width="10">', "an SVG image"),
        (b'\xef\xbb\xbf<?xml version="1.0"?>\n<!-- made by hand -->\n<svg>', "an SVG image"),
        (b"<!DOCTYPE html><html>", "an HTML page"),
        (b"<?xml version='1.0'?><Error>", "an XML document"),
        (b"%PDF-1.7", "a PDF file"),
        (
            bytes.fromhex("83af70d10d884a3f 0000000000000000 4000000000000000"),
            "a Riegeli or ArrayRecord file",
        ),
        (bytes.fromhex("d0cf11e0a1b11ae1"), "an old Office document (.doc, .xls, .ppt)"),
        (zipped("[Content_Types].xml"), "an Office document"),
        (zipped("word/document.xml"), "an Office document"),
        (zipped("mimetype", b"application/vnd.oasis.opendocument.text"), "an OpenDocument file"),
        (zipped("a.txt"), "a zip archive (or a .npz file)"),
        (saved(a=np.arange(3)), "a zip archive (or a .npz file)"),
        (b"7z\xbc\xaf\x27\x1c\0\4", "a 7z archive"),
        (b"Rar!\x1a\x07\1\0", "a RAR archive"),
        (gzip.compress(b"x", mtime=0), "a GZIP file"),
        (lzma.compress(b"x"), "an XZ file"),
        (bz2.compress(b"x"), "a bzip2 file"),
        (b"RIFF\0\0\0\0WAVEfmt ", "WAV audio"),
        (b"\x1aE\xdf\xa3\x9fB\x86", "a Matroska or WebM video"),
    ],
)
def test_files_are_named(head, kind):
    assert file_kind(head) == kind
    assert looks_like(head) == kind


@pytest.mark.parametrize(
    "data", [b"", b"hello, world", bytes(64), b"orc and elf", b"P6", b"id3", b"\1\2\3\4" * 9]
)
def test_other_bytes_are_no_known_file(data):
    assert file_kind(data) == ""


def test_the_length_proves_a_bmp_image():
    head = b"BM" + (99).to_bytes(4, "little") + bytes(20)
    assert file_kind(head, 99) == "a BMP image"
    assert file_kind(head, 98) == ""


def test_small_integers_are_no_icons_and_no_videos():
    for dtype in ("<i2", "<i4", "<i8", "<f4"):
        for values in (range(256, 300), range(100), [1, 1, 1, 1, 1]):
            assert file_kind(np.array(values, dtype).tobytes()) == ""


def test_any_bytes_are_taken_in_no_time():
    noise = random.Random(3)
    for begin in (b"<?xml ", b"<!-- ", b"<!--" * 200, b" " * 900, b"<?xml" * 200):
        assert isinstance(file_kind((begin + noise.randbytes(1000))[:1024]), str)
