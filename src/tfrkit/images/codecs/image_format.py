"""The format of an image by its first bytes, with the table of these, and the checks that all decoders begin with.

TensorFlow's decoders look at the bytes, not at their own name: decode_jpeg decodes PNG and so on. Nothing is
decoded here.
"""

from __future__ import annotations

from typing import Any, Final, Literal

from tfrkit.codecs.file_kinds import looks_like
from tfrkit.errors import InvalidArgumentError
from tfrkit.values.strings import as_strings

__all__ = ["JPEG_MAGIC", "PNG_MAGIC", "ImageFormat", "check_channels", "image_bytes", "image_format"]

ImageFormat = Literal["JPEG", "PNG", "GIF", "BMP", "WebP", "JPEG XL"]
Buffer = bytes | memoryview

_MAX_BYTES = 2**31 - 1  # TensorFlow's decoders count in int
JPEG_MAGIC: Final = b"\xff\xd8\xff"  # start of image, and the first byte of the next marker
PNG_MAGIC: Final = b"\x89PNG\r\n\x1a\n"
_MAGIC: Final[tuple[tuple[bytes, ImageFormat], ...]] = (
    (JPEG_MAGIC, "JPEG"),
    (PNG_MAGIC, "PNG"),
    (b"GIF8", "GIF"),
    (b"BM", "BMP"),
    (b"WEBP", "WebP"),  # after RIFF and a size
    (b"\xff\x0a", "JPEG XL"),  # a bare code stream
    (b"\0\0\0\x0cJXL \r\n\x87\n", "JPEG XL"),
)


def image_bytes(contents: Any) -> Buffer:
    """Return the single byte string that holds an image; views of buffers are not copied.

    Raises:
        InvalidArgumentError: it is an array of strings, or empty, or larger than an int can say.
    """
    data = _one_string(contents)
    if not len(data):
        raise InvalidArgumentError("Input is empty.")
    if len(data) > _MAX_BYTES:
        raise InvalidArgumentError(f"Input contents are too large for int: {len(data)}")
    return data


def image_format(data: Buffer) -> ImageFormat:
    r"""Return the format whose first bytes these are.

    Raises:
        InvalidArgumentError: TensorFlow knows no format that begins so.

    >>> image_format(b"\xff\xd8\xff\xe0"), image_format(b"BM")
    ('JPEG', 'BMP')
    """
    head = bytes(data[:20])
    is_riff = head.startswith(b"RIFF") and len(data) > 12
    if is_riff:
        head = head[8:]
    for magic, name in _MAGIC:
        # In RIFF, TensorFlow looks for WebP and JPEG XL only, and elsewhere not for WebP.
        if head.startswith(magic) and (name == "JPEG XL" or is_riff == (name == "WebP")):
            return name
    raise InvalidArgumentError(
        "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
        f" This looks like {looks_like(bytes(data[:1024]), len(data))}."
    )


def check_channels(channels: Any) -> int:
    """Return the number of channels requested; None means 0, as stored.

    Raises:
        InvalidArgumentError: it is not 0, 1, 3 or 4, whatever the format.
        TypeError: it is not a number.
    """
    if channels is None:
        return 0
    if isinstance(channels, (str, bytes, list, tuple)):
        raise TypeError(f"Expected int for argument 'channels' not {channels!r}.")
    wanted = int(channels)  # fractions are cut off, as TensorFlow does
    if wanted not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"`channels` must be 0, 1, 3 or 4 but got {wanted}")
    return wanted


def _one_string(contents: Any) -> Buffer:
    if isinstance(contents, bytes):
        return contents
    if isinstance(contents, (bytearray, memoryview)):
        return memoryview(contents).cast("B")
    column = as_strings(contents)
    if column.shape != ():
        raise InvalidArgumentError(
            f"`contents` must be scalar but got shape[{','.join(map(str, column.shape))}]"
        )
    return bytes(column.reshape((1,))[0])
