"""Image files opened with Pillow, of the extra `images`, for the formats that it decodes as TensorFlow does."""

from __future__ import annotations

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tfrkit.optional import require

__all__ = ["opened_by_pillow"]


@contextmanager
def opened_by_pillow(data: bytes | memoryview, kind: str) -> Iterator[Any]:
    """Open a file; errors that Pillow raises until the block ends become ValueErrors.

    Args:
        data: the file.
        kind: the format, such as "GIF".

    Yields:
        Pillow's image, whose pixels are not decoded yet.

    Raises:
        MissingExtraError: Pillow is not installed.
        ValueError: the file is damaged, or claims more pixels than Pillow accepts.
    """
    pillow = require("PIL.Image", f"Decoding {kind}")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", pillow.DecompressionBombWarning)
        try:
            yield pillow.open(io.BytesIO(data), formats=(kind.upper(),))
        except pillow.UnidentifiedImageError:  # its text is the address of a buffer
            raise ValueError("the header cannot be read") from None
        except (
            pillow.DecompressionBombError,
            OSError,
            SyntaxError,
            EOFError,
            LookupError,
            struct.error,
        ) as error:
            raise ValueError(str(error)) from None
