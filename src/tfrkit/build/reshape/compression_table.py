"""What each compression would achieve: sizes and rates, measured on a sample of the records."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from tfrkit.build.reshape.frame_input import FrameInput
from tfrkit.build.reshape.frame_read import FrameReader
from tfrkit.codecs.codec import Codec
from tfrkit.codecs.none import NONE
from tfrkit.codecs.table import record_codecs
from tfrkit.errors import InvalidArgumentError, MissingExtraError
from tfrkit.model.block import Block
from tfrkit.records.read.reader import read_blocks
from tfrkit.records.write.writer import TFRecordWriter

__all__ = ["CompressionRow", "measure_compressions"]


@dataclass(frozen=True, slots=True)
class CompressionRow:
    """What one compression achieves.

    Attributes:
        compression: its name, "none" for none.
        level: None for the level that is used unless one is given.
        bytes: of the sample afterwards.
        ratio: bytes of the plain sample for each of those.
        write_rate: bytes of plain frames written in a second.
        read_rate: and read, all checksums checked.
        tensorflow: whether TensorFlow reads it.
    """

    compression: str
    level: int | None
    bytes: int
    ratio: float
    write_rate: float
    read_rate: float
    tensorflow: bool

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return asdict(self)


def measure_compressions(
    given: FrameInput, sample_bytes: int, started: Callable[[str], None] | None = None
) -> tuple[int, int, list[CompressionRow]]:
    """Write and read the first records of some files in every way, in temporary files.

    Args:
        given: the files.
        sample_bytes: about how many bytes of frames to take.
        started: called with the name of each way before it is measured.

    Returns:
        How many records and bytes of frames were taken, and the rows. Compressions that are not installed are left out.

    Raises:
        InvalidArgumentError: there are no records.
    """
    blocks: list[Block] = []
    taken = 0
    for block in FrameReader(given.paths, given.on_corrupt, None):
        blocks.append(block)
        taken += block.nbytes + 16 * len(block)
        if taken >= sample_bytes:
            break
    if not taken:
        raise InvalidArgumentError("Expected some records to measure with but the inputs have none.")
    rows = []
    with tempfile.TemporaryDirectory(prefix="tfrkit-") as folder:
        path = os.path.join(folder, "sample")
        _measure(path, blocks[:1], taken, NONE, None)  # what is only slow once is not measured
        for codec in record_codecs():
            for level in codec.sample_levels:
                if started is not None:
                    started(codec.name.lower() or "none")
                with contextlib.suppress(MissingExtraError):
                    rows.append(_measure(path, blocks, taken, codec, level))
    return sum(len(block) for block in blocks), taken, rows


def _measure(path: str, blocks: list[Block], taken: int, codec: Codec, level: int | None) -> CompressionRow:
    begin = time.perf_counter()
    with TFRecordWriter(path, compression=codec.name, level=level) as writer:
        for block in blocks:
            writer.write_frames(block)
    written = time.perf_counter()
    for _ in read_blocks(path, compression=codec.name):
        pass
    read = time.perf_counter()
    size = os.path.getsize(path)
    return CompressionRow(
        codec.name.lower() or "none",
        level,
        size,
        taken / size,
        taken / (written - begin),
        taken / (read - written),
        codec.tensorflow,
    )
