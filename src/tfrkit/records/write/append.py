"""Appending to an existing file: where its intact part ends, and whether it can be continued in place."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tfrkit import _core
from tfrkit.codecs.table import codec, open_decoder
from tfrkit.errors import DataLossError, DataLossWarning, FailedPreconditionError, UnimplementedError
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.file_reader import FileReader, open_file_reader
from tfrkit.records.read.frame_splitter import HEADER_BYTES, check_block
from tfrkit.records.read.reader import read_blocks
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression, starts_with_frame
from tfrkit.records.sniff.file_sniffer import sniff_file
from tfrkit.stores.files import open_source, traits_of
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import display_name

__all__ = ["AppendPlan", "kept_blocks", "plan_append"]

_LENGTH_BYTES: Final = 8


@dataclass(frozen=True, slots=True)
class AppendPlan:
    """How to append to a file.

    Attributes:
        end: size to truncate the file to before appending in place.
        records: how many there are already.
        rewrite: it cannot be appended to in place; its records are copied into a new file first.
    """

    end: int
    records: int
    rewrite: bool


def plan_append(path: str, compression: str) -> AppendPlan | None:
    """Look at an existing file; None if there is none, or nothing in it.

    Args:
        path: the file.
        compression: what the writer is about to use; the file's own must be the same.

    Raises:
        FailedPreconditionError: the file is no TFRecord file, has another compression, or is damaged before its end.
        UnimplementedError: the store cannot append.
    """
    if not traits_of(path).appends:
        name = display_name(path)
        raise UnimplementedError(
            f"{name}; nothing can be appended there: what an object store holds is written whole. Write the new "
            "records to a file of their own beside it, as another shard; or write all again: "
            f"with tfrkit.TFRecordWriter(new) as w: w.write_many(tfrkit.read_records({name!r})).",
            path=name,
        )
    if not os.path.lexists(path) or os.path.getsize(path) == 0:
        return None
    source = open_source(path)
    found = sniff_compression(source.peek(HEAD_BYTES))
    if found != compression:
        raise FailedPreconditionError(
            f"{path}; cannot append {compression or 'uncompressed'} records to a file that is "
            f"{found or 'uncompressed'}. Pass compression={found or 'none'!r}.",
            path=path,
        )
    reader = open_file_reader(source, TFRKIT.with_options(compression=compression, crc=False))
    damage, end, records = _walk(reader)
    size = source.size() or 0
    if damage is not None:
        _check_torn(source, path, damage, plain=not compression)
        if not records:
            _check_begins(source, path, compression)
        warnings.warn(
            DataLossWarning(
                f"{path}: a torn record at byte {damage.start} was cut off before appending ({damage.kind})."
            ),
            stacklevel=4,
        )
    if not records and damage is None:
        return AppendPlan(0, 0, False)  # an empty container; TensorFlow would not look past it
    in_place = codec(compression).appends and (damage is None or not compression)
    return AppendPlan(end if not compression else size, records, not in_place)


def kept_blocks(path: str, compression: str, plan: AppendPlan) -> Iterator[Block]:
    """Read the records that are copied before new ones follow them: all that the plan counts, each checked.

    Raises:
        DataLossError: one of them is damaged: it would be lost without a word.
    """
    left = plan.records
    blocks = read_blocks(path, compression=compression, on_corrupt="raise")
    try:
        while left:
            block = next(blocks)[:left]
            left -= len(block)
            yield block
    except StopIteration:
        raise DataLossError(
            f"{path}; expected {plan.records} records to copy but got {plan.records - left}: the file has changed "
            "meanwhile. Append again when no other process writes to it.",
            path=path,
        ) from None
    except DataLossError as error:
        raise DataLossError(
            f"{path}; cannot append to a damaged file: {error.message} Repair it first with tfrkit.repair.",
            path=path,
            record=error.record,
            offset=error.offset,
        ) from error


def _walk(reader: FileReader) -> tuple[Damage | None, int, int]:
    """Go through the frames: the first damage, where the intact part ends in the stream, and the number of records.

    Only the last record's data is checked: it is the one that a crash may have left half written.
    """
    last: Block | None = None
    while (step := reader.plan()) is not None:
        for event in reader.run(step):
            if isinstance(event, Damage):
                return event, event.start, event.record
            last = event
    if last is not None and isinstance(damage := check_block(last[-1:])[-1], Damage):
        return damage, damage.start, reader.splitter.records - 1
    return None, reader.splitter.position, reader.splitter.records


def _check_begins(source: ByteSource, path: str, compression: str) -> None:
    """Refuse a file without a whole record that cannot be seen to be a TFRecord file: it would be emptied."""
    decoder = open_decoder(open_source(path), compression)
    head = b""
    try:
        while len(head) < HEADER_BYTES and (more := decoder.read()):
            head += more
    except DataLossError:
        pass
    if starts_with_frame(head) or (decoder.truncated and _may_become_header(head)):
        return
    hint = sniff_file(source.read_at(0, 1024), compression)
    hint = hint and f" It looks like {hint}" + ("" if hint.endswith("?") else ".")
    raise FailedPreconditionError(
        f"{path}; cannot append to a file that is not a TFRecord file: its {source.size()} bytes do not begin with a "
        f"frame's header.{hint} Choose another name, or delete the file if it is not needed.",
        path=path,
    )


def _may_become_header(head: bytes) -> bool:
    """Whether so few bytes, all that is left of a torn container, can be the beginning of a frame's header."""
    if len(head) < _LENGTH_BYTES:
        return int.from_bytes(head, "little") <= TFRKIT.max_record_bytes
    crc = _core.crc32c_masked(head[:_LENGTH_BYTES]).to_bytes(4, "little")
    return crc.startswith(head[_LENGTH_BYTES:])


def _check_torn(source: ByteSource, path: str, damage: Damage, *, plain: bool) -> None:
    """Refuse damage that is not just the end of an interrupted write."""
    if damage.kind == "truncated":
        return
    size = source.size() or 0
    if plain and damage.kind == "bad data CRC" and damage.end >= size:
        return
    if plain and damage.kind == "bad length CRC" and _only_zeros(source, damage.start, size):
        return  # a crash of the machine can leave a file longer than what was written into it
    error = damage.to_error(path)
    raise FailedPreconditionError(
        f"{path}; cannot append to a damaged file: {error.message} Repair it first with tfrkit.repair.",
        path=path,
        record=damage.record,
        offset=damage.start,
    )


def _only_zeros(source: ByteSource, start: int, end: int) -> bool:
    pieces = (source.read_at(at, min(1 << 20, end - at)) for at in range(start, end, 1 << 20))
    return not any(piece.strip(b"\0") for piece in pieces)
