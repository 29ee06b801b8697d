"""What a file that is not a TFRecord file looks like, and what to do about it. Pure: no I/O."""

from __future__ import annotations

from typing import Final

from tfrkit.codecs.file_kinds import UNKNOWN, looks_like
from tfrkit.codecs.table import record_codecs, sniff

__all__ = ["sniff_file"]

_TABLE: Final = "Make records of it with `tfr build table`"
_IMAGE: Final = "Make records of images with `tfr build images`"
_UNPACK: Final = "Unpack it first"
# By the words of `codecs/file_kinds.py`, or their end.
_REMEDIES: Final[dict[str, str]] = {
    "a git-LFS pointer": "Fetch the file itself with `git lfs pull`",
    "a Parquet file": _TABLE,
    "an Arrow file": _TABLE,
    "an ORC file": "Read it with pyarrow",
    "an HDF5 file": "Read it with h5py",
    "a Riegeli or ArrayRecord file": "Read it with the package array_record",
    "a NumPy .npy file": "Read it with numpy.load",
    "a tfrkit index file": "Name the shard that it belongs to",
    "an HTML page": "A download probably gave an error page; fetch the file again",
    "an XML document": "A download probably gave an error message; fetch the file again",
    "zero bytes only": "The disk was probably full or the copy was not finished; copy the file again",
    "text": "TFRecord files are binary; is this the right file?",
    "an empty zip archive": "",
    "archive (or a .npz file)": _UNPACK,
    "archive": _UNPACK,
    "image": _IMAGE,
}


def sniff_file(head: bytes, compression: str = "") -> str:
    """Say what the first bytes of a file look like, and what to do, or "" if there is nothing to say.

    Args:
        head: the first bytes (some hundreds suffice), as stored on disk.
        compression: with which the file was read.

    >>> sniff_file(b"<!DOCTYPE html><html><head>")
    'an HTML page. A download probably gave an error page; fetch the file again'
    """
    packed = sniff(head)
    if packed.name and packed.name == compression:
        return ""
    look = looks_like(head)
    if packed.name:
        return f"{look}. " + (_UNPACK if packed.encoder is None else f'Pass compression="{packed.name}"')
    if not look.startswith(UNKNOWN):
        remedy = next((text for end, text in _REMEDIES.items() if look.endswith(end)), "")
        return f"{look}. {remedy}" if remedy else look
    perhaps = next((each.name for each in record_codecs() if each.may_begin(head)), "")
    if compression == "":
        return f'perhaps a {perhaps} stream. Pass compression="{perhaps}"' if perhaps else ""
    if compression == perhaps:
        return ""
    return f"no {compression} data. Leave compression out, so that it is found by the content"
