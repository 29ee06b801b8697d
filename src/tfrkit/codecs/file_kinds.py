"""What a file is by its first bytes, in words for messages: the table of files that tfrkit does not read as records.

Pure: no I/O. Never used to decide how data is read. Compressions have their own table (`table.py`), and pictures whose
size can be told are known to the core (`read_image_header`).
"""

from __future__ import annotations

import re
from functools import cache
from typing import Final

from tfrkit import _core
from tfrkit.codecs.table import all_codecs

__all__ = ["UNKNOWN", "file_kind", "looks_like"]

UNKNOWN: Final = "unknown data that begins with"
_SPELT_WITH_A_VOWEL: Final = "AEFHILMNORSX"  # capitals: an XZ file

# With an article each. The first that fits is it, so that special files stand before the general.
_KINDS: Final[tuple[tuple[bytes, str], ...]] = (
    (rb"version https://git-lfs\.github\.com/spec", "a git-LFS pointer"),
    (rb"II\*\0\x10\0\0\0CR|....ftypcrx |FUJIFILMCCD-RAW|IIR[OS]|MMOR|IIU\0|\0MRM|FOVb", "a raw camera image"),
    (rb"II[*+]\0|MM\0[*+]", "a TIFF image"),
    (rb"....ftyp(avif|avis)", "an AVIF image"),
    (rb"....ftyp(hei[cxms]|hev[cxms])", "a HEIC image"),
    (rb"....ftyp(mif[12]|msf1)", "a HEIF image"),
    (rb"....ftypqt  |....(moov|mdat|wide)[\0-\x7f]", "a QuickTime video"),
    (rb"....ftypM4A", "M4A audio"),
    (rb"....ftyp", "an MP4 video"),
    (rb"\0\0\0\x0cJXL \r\n\x87\n", "a JPEG XL image"),
    (rb"\0\0\0\x0cjP  \r\n\x87\n|\xff\x4f\xff\x51", "a JPEG 2000 image"),
    (rb"8BPS\0[\x01\x02]", "a Photoshop document"),
    (rb"\0\0[\x01\x02]\0[\x01-\xff]\0...\0[\0\x01]\0", "a Windows icon"),
    (rb"\x76\x2f\x31\x01", "an OpenEXR image"),
    (rb"#\?(RADIANCE|RGBE)", "a Radiance HDR image"),
    (rb"DDS \x7c\0\0\0", "a DirectDraw texture"),
    (rb"qoif", "a QOI image"),
    (rb"P[4-7]\n[#0-9W]", "a Netpbm image"),
    (rb".{128}DICM", "a DICOM image"),
    (rb"SIMPLE  = ", "a FITS image"),
    (rb"(?i)\s*(<\?xml.{0,200}?\?>\s*)?(<!--.{0,400}?-->\s*)*(<!DOCTYPE svg|<svg[\s>])", "an SVG image"),
    (rb"(?i)\s*(<!doctype html|<html|<head|<script)", "an HTML page"),
    (rb"(?i)\s*(<\?xml|<error)", "an XML document"),
    (rb"%PDF", "a PDF file"),
    (rb"%!PS", "a PostScript file"),
    (rb"\{\\rtf", "an RTF document"),
    (rb"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "an old Office document (.doc, .xls, .ppt)"),
    (rb"PK\x03\x04.{22}....(\[Content_Types\]\.xml|_rels/|word/|xl/|ppt/|docProps/)", "an Office document"),
    (rb"PK\x03\x04.{26}mimetypeapplication/vnd\.oasis\.opendocument", "an OpenDocument file"),
    (rb"PK\x03\x04.{26}mimetypeapplication/epub", "an EPUB book"),
    (rb"PK\x03\x04", "a zip archive (or a .npz file)"),
    (rb"PK\x05\x06", "an empty zip archive"),
    (rb".{257}ustar", "a tar archive"),
    (rb"7z\xbc\xaf\x27\x1c", "a 7z archive"),
    (rb"Rar!\x1a\x07", "a RAR archive"),
    (rb"PAR1", "a Parquet file"),
    (rb"ARROW1", "an Arrow file"),
    (rb"FEA1", "an old Feather file"),
    (rb"Obj\x01", "an Avro file"),
    (rb"ORC", "an ORC file"),
    (rb"\x89HDF\r\n\x1a\n", "an HDF5 file"),
    (rb"\x93NUMPY", "a NumPy .npy file"),
    (rb"MATLAB 5\.0 MAT-file", "a MATLAB file"),
    (rb"SQLite format 3\0", "an SQLite database"),
    (rb"\x80[\x02-\x05]\x95|\x80\x02[\]}c(]", "a Python pickle"),
    (rb"\x83\xaf\x70\xd1\x0d\x88\x4a\x3f\0{8}\x40\0{7}", "a Riegeli or ArrayRecord file"),
    (rb"TFRKIDX1", "a tfrkit index file"),
    (rb"RIFF....WAVE", "WAV audio"),
    (rb"RIFF....AVI ", "an AVI video"),
    (rb"\x1aE\xdf\xa3", "a Matroska or WebM video"),
    (rb"fLaC", "FLAC audio"),
    (rb"OggS", "Ogg audio"),
    (rb"ID3[\x02-\x04]", "MP3 audio"),
)


def file_kind(head: bytes, size: int = 0) -> str:
    r"""Say what a file is, with an article, or "" if its first bytes prove nothing.

    Args:
        head: the first bytes; some hundreds suffice.
        size: of the file, which proves a BMP image; 0 if it is not known.

    >>> file_kind(b"II*\0 and more"), file_kind(b"\0\0\0\x18ftypheic"), file_kind(b"hello")
    ('a TIFF image', 'a HEIC image', '')
    """
    if picture := _core.read_image_header(head, size):
        return f"a {picture[0]} image"
    text = head.removeprefix(b"\xef\xbb\xbf")
    found = next((name for pattern, name in _patterns() if pattern.match(text)), "")
    packed = next((each for each in all_codecs() if each.magic and head.startswith(each.magic)), None)
    if found or packed is None:
        return found
    article = "an" if packed.title[0] in _SPELT_WITH_A_VOWEL and packed.title.isupper() else "a"
    return f"{article} {packed.title} file"


@cache
def _patterns() -> list[tuple[re.Pattern[bytes], str]]:
    """Compile the table when it is first needed: that takes milliseconds, and most programs meet no such file."""
    return [(re.compile(pattern, re.DOTALL), name) for pattern, name in _KINDS]


def looks_like(head: bytes, size: int = 0) -> str:
    r"""Say what a file looks like: what it is, else zeros or text, else how it begins.

    >>> looks_like(b"id,label\n1,cat\n"), looks_like(bytes(16)), looks_like(b"\1\2\3\4")
    ('text', 'zero bytes only', 'unknown data that begins with 01020304')
    """
    if kind := file_kind(head, size):
        return kind
    if len(head) >= 16 and not head.strip(b"\0"):
        return "zero bytes only"
    return "text" if _is_text(head) else f"{UNKNOWN} {head[:8].hex()}"


def _is_text(head: bytes) -> bool:
    sample = head[:512]
    if len(sample) < 4 or any(byte < 32 and byte not in (9, 10, 12, 13, 27) for byte in sample):
        return False
    for dropped in range(4):  # the sample may end inside a character
        try:
            sample[: len(sample) - dropped].decode("utf-8")
        except UnicodeDecodeError:
            continue
        return True
    return False
