"""A compressed file that cannot be read from the middle: inflated once into a temporary file."""

from __future__ import annotations

import os
import tempfile

from tfrkit.codecs.codec import Decoder
from tfrkit.codecs.table import open_decoder
from tfrkit.errors import DataLossError, ResourceExhaustedError
from tfrkit.records.access.index import rewrite_advice
from tfrkit.stores.source import ByteSource

__all__ = ["spill"]


def spill(source: ByteSource, kind: str, limit: int) -> ByteSource:
    """Inflate a file into a temporary one that vanishes with its last reader.

    Args:
        source: the file, at its beginning.
        kind: its compression.
        limit: the most bytes that the temporary file may have.

    Raises:
        ResourceExhaustedError: it would be larger.
        DataLossError: the file is damaged.
    """
    decoder = open_decoder(source, kind)
    with tempfile.TemporaryFile(prefix="tfrkit-") as spilled:
        size = 0
        while chunk := _read(decoder, source.name):
            size += len(chunk)
            if size > limit:
                raise ResourceExhaustedError(
                    f"{source.name}; inflating it for random access takes more than spill_bytes={limit}. "
                    f"Pass a larger spill_bytes. {rewrite_advice(source.name)}",
                    path=source.name,
                )
            spilled.write(chunk)
        spilled.flush()
        if decoder.truncated:
            raise DataLossError(
                f"truncated record at {size}' failed with EOF reached: the {kind} container of {source.name!r} has no "
                "end. Copy it again, or repair it with tfrkit.repair.",
                path=source.name,
                offset=size,
            )
        return ByteSource(source.name, os.dup(spilled.fileno()), None, owned=True)


def _read(decoder: Decoder, path: str) -> bytes:
    try:
        return decoder.read()
    except DataLossError as error:
        raise DataLossError(
            f"{error.message} in {path!r}. Copy it again, or repair it with tfrkit.repair.", path=path
        ) from error
