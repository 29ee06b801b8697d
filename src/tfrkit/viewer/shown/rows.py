"""Rows: some records in brief, of the data set or of those that a job has found."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.records.read.decoded_message import MessageType
from tfrkit.records.read.decoded_record import DecodedRecord, decode_records
from tfrkit.records.read.frame_splitter import HEADER_BYTES
from tfrkit.viewer.asked import Asked
from tfrkit.viewer.frames import RawFrame
from tfrkit.viewer.outline import Outline
from tfrkit.viewer.record_set import NumberedFrame, RecordSet
from tfrkit.viewer.session import Session, ViewedSet
from tfrkit.viewer.shown.cells import boxes_of, cell_of, steps_cell

__all__ = ["Matched", "MatchedRecord", "decode_frames", "rows_json"]

_MOST_ROWS: Final = 500
_COLUMNS: Final = 60  # unless others are asked for
_MOST_COLUMNS: Final = 500
_ROWS_BYTES: Final = 3 << 20  # of an answer: what is left of it is asked for again
_Row: TypeAlias = dict[str, Any]


class MatchedRecord(NamedTuple):
    """A record that a job has found: its file, its number there, itself if the job still has it, its key if sorted."""

    file: int
    record: int
    data: bytes | None
    key: float | int | str | None = None


class Matched(NamedTuple):
    """Some of the records that a job has found, and how many there are; None while it looks for more."""

    records: Sequence[MatchedRecord]
    total: int | None


def rows_json(session: Session, asked: Asked, matches: Callable[[str, int, int], Matched]) -> dict[str, Any]:
    """Return what /api/rows answers.

    Args:
        session: the data sets.
        asked: set, start, count, columns, job; others: of records with none of the columns what they have.
        matches: returns some of the records that a job has found.

    Raises:
        OpError: there is no such set or job, or the records are not reached yet.
    """
    viewed = session.get(asked.text("set", "a"))
    start, count = asked.number("start", 0), asked.number("count", 100, most=_MOST_ROWS)
    names = _columns(viewed.outline, asked.names("columns"))
    job, others = asked.maybe("job"), asked.flag("others")
    if job is None:
        total = viewed.data.total
        rows = _rows_of_runs(viewed, viewed.data.page(start, count), names, others)
    else:
        records, total = matches(job, start, count)
        runs = _runs_of_matches(viewed.data, sorted(records, key=lambda each: each[:2]))
        rows = _in_order(
            _rows_of_runs(viewed, runs, names, others),
            {(each.file, each.record): each.key for each in records},
        )
    return {"rows": list(_fitting(rows)), "total": total, "start": start}


def _rows_of_runs(
    viewed: ViewedSet, runs: Iterable[Sequence[NumberedFrame]], names: Sequence[str], others: bool
) -> Iterator[_Row]:
    return (row for run in runs for row in _rows(viewed, run, names, others))


def _in_order(rows: Iterable[_Row], wanted: Mapping[tuple[int, int], Any]) -> Iterator[_Row]:
    """Yield rows that come by file and number in another order, with their keys, each as soon as it is there."""
    waiting: dict[tuple[int, int], _Row] = {}
    rows = iter(rows)
    for place, key in wanted.items():
        while place not in waiting and (row := next(rows, None)) is not None:
            waiting[row["file"], row["record"]] = row
        if place in waiting:
            yield {**waiting.pop(place), "key": key}


def _fitting(rows: Iterable[_Row]) -> Iterator[_Row]:
    """Yield the rows that an answer has room for, at least one."""
    size = 0
    for row in rows:
        yield row
        size += len(json.dumps(row))
        if size > _ROWS_BYTES:
            return


def decode_frames(
    frames: Sequence[RawFrame], names: Sequence[str] | None, message: MessageType | None = None
) -> list[DecodedRecord]:
    """Return what is in frames, of their features only some; what cannot be decoded is bytes."""
    block = _block_of(frames)
    if message is not None:
        return list(message.decode(block, names))
    try:
        return list(decode_records(block, names))
    except OpError:  # one of them: each for itself
        return [_decoded_alone(block[place : place + 1], names) for place in range(len(block))]


def _block_of(frames: Sequence[RawFrame]) -> Block:
    """Return the records of frames as a block; one alone, which may be large, is not copied."""
    size = len(frames[0].view)
    if len(frames) == 1 and size:
        return Block(frames[0].data, np.array([HEADER_BYTES]), np.array([size]))
    return Block.from_records([frame.view for frame in frames])


def _decoded_alone(block: Block, names: Sequence[str] | None) -> DecodedRecord:
    try:
        return next(decode_records(block, names))
    except OpError:
        return DecodedRecord("", 0, len(block[0]), {}, data=block[0])


def _columns(outline: Outline, asked: Sequence[str] | None) -> list[str]:
    """Return the features of rows: with one side of boxes all the others."""
    if asked is None:
        chosen = [feature.name for feature in outline.features[:_COLUMNS]]
    else:
        chosen = list(dict.fromkeys(asked))[:_MOST_COLUMNS]
    return chosen


def _rows(
    viewed: ViewedSet, run: Sequence[NumberedFrame], names: Sequence[str], others: bool
) -> Iterator[dict[str, Any]]:
    outline = viewed.outline
    boxed = {feature.name: feature for name in names if (feature := outline.get(name)) and feature.boxes}
    sides = {side for feature in boxed.values() for side in (feature.boxes or {}).values()}
    whole = [each.frame for each in run if each.frame.data]
    wanted = [*names, *sides.difference(names)]
    decoded = iter(decode_frames(whole, wanted, viewed.message) if whole else ())
    for each in run:
        row: dict[str, Any] = {"n": each.number, "file": each.file, "record": each.frame.record}
        cells: dict[str, Any] = {}
        if each.frame.data:
            record = next(decoded)
            if record.data is not None:
                row["kind"] = "bytes"
                cells["record"] = cell_of("record", [record.data], None)
            else:
                row["kind"] = "example" if record.lists is None else "sequence"
                if others and not record.names:  # it has none of them, such as in another file: its own
                    record = decode_frames([each.frame], None, viewed.message)[0]
                    cells = _cells(record, sorted(record.names)[:_COLUMNS], outline)
                else:
                    cells = _cells(record, names, outline)
        yield {**row, "cells": cells, "error": each.frame.error or None}


def _cells(record: DecodedRecord, names: Sequence[str], outline: Outline) -> dict[str, Any]:
    cells: dict[str, Any] = {}
    lists = record.lists or {}
    for name in names:
        feature = outline.get(name)
        if name in record.features:
            cells[name] = cell_of(name, record.features[name], feature)
            if feature is not None and (boxes := boxes_of(feature, record.features)) is not None:
                cells[name]["boxes"] = boxes
        elif name in lists:
            cells[name] = steps_cell(name, lists[name], feature)
    return cells


def _runs_of_matches(data: RecordSet, records: Sequence[MatchedRecord]) -> Iterator[list[NumberedFrame]]:
    """Yield matches: those that the job still has without reading a file."""
    waiting: list[MatchedRecord] = []
    for each in records:
        if each.data is None:
            waiting.append(each)
            continue
        yield from _read(data, waiting)
        waiting, number = [], data.number_of(each.file, each.record)
        yield [
            NumberedFrame(
                number, each.file, RawFrame(each.record, -1, len(each.data) + 16, _framed(each.data))
            )
        ]
    yield from _read(data, waiting)


def _read(data: RecordSet, records: Sequence[MatchedRecord]) -> Iterator[list[NumberedFrame]]:
    begin = 0
    while begin < len(records):
        file = records[begin].file
        end = next((at for at in range(begin, len(records)) if records[at].file != file), len(records))
        yield from data.runs_of(file, [each.record for each in records[begin:end]])
        begin = end


def _framed(data: bytes) -> bytes:
    """Return a record with room for what a frame has around it, which nobody looks at."""
    return b"\0" * 12 + data + b"\0" * 4
