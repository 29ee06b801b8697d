"""What a file that is not a TFRecord file looks like. Pure: no I/O."""

from __future__ import annotations

from typing import Final

from tfrkit.codecs.codec import Codec
from tfrkit.codecs.table import record_codecs, sniff

__all__ = ["sniff_file"]

_MAGIC: Final[tuple[tuple[int, bytes, str], ...]] = (
    (
        0,
        b"version https://git-lfs.github.com/spec",
        "a git-LFS pointer. Fetch the file itself with `git lfs pull`",
    ),
    (0, b"PK\x03\x04", "a zip archive (or a .npz file). Unpack it first"),
    (0, b"PK\x05\x06", "an empty zip archive"),
    (257, b"ustar", "a tar archive. Unpack it first"),
    (0, b"PAR1", "a Parquet file. Make records of it with `tfr build table`"),
    (0, b"ARROW1", "an Arrow file. Make records of it with `tfr build table`"),
    (0, b"\x89HDF\r\n\x1a\n", "an HDF5 file. Read it with h5py"),
    (0, b"\x93NUMPY", "a NumPy .npy file. Read it with numpy.load"),
    (0, b"ORC", "an ORC file. Read it with pyarrow"),
    (0, b"SQLite format 3\x00", "an SQLite database"),
    (0, b"\x80\x04\x95", "a Python pickle"),
    (0, b"\xff\xd8\xff", "a JPEG image. tfrkit reads records, not single images"),
    (0, b"\x89PNG\r\n\x1a\n", "a PNG image. tfrkit reads records, not single images"),
    (0, b"%PDF", "a PDF file"),
    (0, b"TFRKIDX1", "a tfrkit index file. Name the shard that it belongs to"),
)
_SPOKEN_WITH_A_VOWEL: Final = "AEFHILMNORSX"  # capitals that are spelt: an XZ file


def sniff_file(head: bytes, compression: str = "") -> str:
    """Say what the first bytes of a file look like, and what to do, or "" if there is nothing to say.

    Args:
        head: the first bytes (some hundreds suffice), as stored on disk.
        compression: with which the file was read.

    >>> sniff_file(b"<!DOCTYPE html><html><head>")
    'an HTML page. A download probably gave an error page; fetch the file again'
    """
    if (packed := sniff(head)).name:
        return "" if packed.name == compression else _packed_text(packed)
    for offset, magic, text in _MAGIC:
        if head[offset : offset + len(magic)] == magic:
            return text
    if len(head) >= 16 and not head.strip(b"\0"):
        return "zero bytes only. The disk was probably full or the copy was not finished; copy the file again"
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")[:64].lower()
    if start.startswith((b"<!doctype html", b"<html", b"<head", b"<script")):
        return "an HTML page. A download probably gave an error page; fetch the file again"
    if start.startswith((b"<?xml", b"<error")):
        return "an XML document. A download probably gave an error message; fetch the file again"
    if _is_text(head):
        return "text. TFRecord files are binary; is this the right file?"
    perhaps = next((each.name for each in record_codecs() if each.may_begin(head)), "")
    if compression == "":
        return f'perhaps a {perhaps} stream. Pass compression="{perhaps}"' if perhaps else ""
    if compression == perhaps:
        return ""
    return f"no {compression} data. Leave compression out, so that it is found by the content"


def _packed_text(codec: Codec) -> str:
    article = "an" if codec.title[0] in _SPOKEN_WITH_A_VOWEL and codec.title.isupper() else "a"
    remedy = "Unpack it first" if codec.encoder is None else f'Pass compression="{codec.name}"'
    return f"{article} {codec.title} file. {remedy}"


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
