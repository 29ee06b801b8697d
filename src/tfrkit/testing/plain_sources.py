"""Sources of the plain engine: numbers, arrays, generators, records and lines."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tfrkit.data.elements import columns
from tfrkit.data.elements.columns import Padded
from tfrkit.data.elements.structure import map_structure
from tfrkit.data.sources.file_names import FilesNode
from tfrkit.data.sources.generator import GeneratorNode
from tfrkit.data.sources.generator_check import checker
from tfrkit.data.sources.numbers import RangeNode
from tfrkit.data.sources.records_source import RecordsNode
from tfrkit.data.sources.slices import SlicesNode, TensorsNode
from tfrkit.data.sources.text_lines import TextLinesNode
from tfrkit.errors import (
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)
from tfrkit.model.block import Block
from tfrkit.model.ragged import Ragged
from tfrkit.records.read.reader import BlockReader
from tfrkit.testing.plain_stage import Item, Row, Stage, runs

_BLOCK_BYTES = 1 << 16


@runs(RangeNode)
class PlainRange(Stage):
    """Numbers in even steps."""

    def __init__(self, node: RangeNode) -> None:
        self.node = node
        self.number = 0

    def __next__(self) -> Item:
        if self.number == self.node.count:
            raise StopIteration
        value = self.node.first + self.number * self.node.step
        place = (None, self.node.first_row + self.number)
        self.number += 1
        return Item(np.array(value, np.int64).astype(self.node.dtype)[()], place)


@runs(SlicesNode)
class PlainSlices(Stage):
    """Rows of arrays."""

    def __init__(self, node: SlicesNode) -> None:
        self.node = node
        self.number = 0

    def __next__(self) -> Item:
        if self.number == self.node.count:
            raise StopIteration
        number = self.number
        self.number += 1
        row = map_structure(lambda column: row_of(column, number), self.node.columns)
        return Item(row, (None, self.node.first_row + number))


def row_of(column: Any, number: int) -> Any:
    """One row of a column; rows of ragged ones know it."""
    if isinstance(column, Padded):
        return Row(column.ragged[number], True, column.default)
    row = columns.rows(columns.cut(column, number, number + 1))[0]
    if isinstance(column, Ragged) and not isinstance(row, Ragged):
        return Row(row, splits=column.row_splits.dtype.name)
    return row


@runs(TensorsNode)
class PlainTensors(Stage):
    """One element."""

    def __init__(self, node: TensorsNode) -> None:
        self.left = [node.element]

    def __next__(self) -> Item:
        if not self.left:
            raise StopIteration
        return Item(self.left.pop())


@runs(FilesNode)
class PlainFiles(Stage):
    """Names of files."""

    def __init__(self, node: FilesNode) -> None:
        self.names = iter(node.files)

    def __next__(self) -> Item:
        return Item(os.fsencode(next(self.names)))


@runs(RecordsNode)
class PlainRecords(Stage):
    """Records of files."""

    def __init__(self, node: RecordsNode) -> None:
        self.blocks = BlockReader(list(node.files), node.policy, 1, _BLOCK_BYTES)
        self.block: Block = Block.from_records([])
        self.number = 0

    def __next__(self) -> Item:
        while self.number == len(self.block):
            self.block, self.number = Block.from_records([]), 0
            self.block = next(self.blocks)
        record, place = self.block[self.number], self.block.place(self.number)
        self.number += 1
        return Item(record, (self.block.path, place[0]))


@runs(GeneratorNode)
class PlainGenerator(Stage):
    """What a generator yields; it is called at the first element. After an error of its own it has ended."""

    def __init__(self, node: GeneratorNode) -> None:
        self.node = node
        self.check = checker(node.spec)
        self.values: Iterator[Any] | None = None

    def __next__(self) -> Item:
        try:
            if self.values is None:
                self.values = iter(self.node.function(*self.node.args))
            value = next(self.values)
        except StopIteration:
            raise
        except Exception as failure:
            self.values = iter(())
            raise translated(failure) from failure
        try:
            return Item(self.check(value))
        except TypeError as refusal:
            raise InvalidArgumentError(f"TypeError: {refusal}") from None


def translated(failure: Exception) -> OpError:
    """TensorFlow's error for one of Python's."""
    text = f"{type(failure).__name__}: {failure}"
    if isinstance(failure, TypeError | ValueError):
        return InvalidArgumentError(text)
    if isinstance(failure, MemoryError):
        return ResourceExhaustedError(text)
    if isinstance(failure, NotImplementedError):
        return UnimplementedError(text)
    return UnknownError(text)


@runs(TextLinesNode)
class PlainTextLines(Stage):
    """Lines of files: cut at line feeds, without carriage returns."""

    def __init__(self, node: TextLinesNode) -> None:
        self.files = list(node.files)
        self.lines: list[bytes] = []

    def __next__(self) -> Item:
        while not self.lines:
            if not self.files:
                raise StopIteration
            data = Path(self.files.pop(0)).read_bytes()
            if data.startswith(b"\x1f\x8b"):
                data = gzip.decompress(data)
            self.lines = data.replace(b"\r", b"").split(b"\n")
            if not self.lines[-1]:
                self.lines.pop()
        return Item(self.lines.pop(0))
