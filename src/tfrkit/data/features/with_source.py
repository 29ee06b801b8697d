"""with_source: the file and the record number that each element came from, as features.

Chunks carry their origin as long as each element is a record, or was made of one: by parse, map, filter, shuffle and so
on. What was put together of several, such as a batch, has none.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.elements.origin import Origin
from tfrkit.data.elements.structure import is_nested
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode
from tfrkit.data.engine.node import Context
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import TensorSpec

__all__ = ["DATA", "WithSourceNode"]

DATA: Final = "data"  # the name that an element gets which has no names itself
_NO_ORIGIN: Final = (
    "with_source: it is not known which record an element came from: it was never in a file of records, or was "
    "put together of several. Put with_source() before batch() and zip(), right after parse() or the source."
)


@dataclass(frozen=True, eq=False)
class WithSourceNode(ChunkNode):
    """File name and record number as features of these names.

    A dict gets them as two more entries, a tuple in its first dict (that of the context, after `parse_sequence`). An
    element that is neither, such as a raw record, becomes a dict, in which it is called "data".
    """

    file: str
    record: str

    verb = "with_source"
    wants_origin = True  # that is what it gives
    chunkwise = False

    def chunk_function(self, context: Context) -> ChunkFunction:
        return self._with_source

    def _with_source(self, chunk: Chunk) -> tuple[Chunk, Exception | None]:
        """Add the columns, up to the first element that has no origin or no place for it."""
        origin = chunk.origin
        known = _known(origin)
        error: Exception | None = None if known == len(chunk) else FailedPreconditionError(_NO_ORIGIN)
        if origin is None or not known:
            return ObjectChunk([]), error
        try:
            return _add(chunk.slice(0, known), origin.slice(0, known), (self.file, self.record)), error
        except InvalidArgumentError as wrong:
            return ObjectChunk([]), wrong

    def element_spec(self) -> Any:
        """As the input's, with two more features."""
        source = {
            self.file: TensorSpec((), np.dtype(object)),
            self.record: TensorSpec((), np.dtype(np.int64)),
        }
        return _joined(self.input.element_spec(), source)


def _known(origin: Origin | None) -> int:
    """How many of the first elements have an origin."""
    if origin is None:
        return 0
    if None not in origin.paths:
        return len(origin)
    unknown = np.flatnonzero(origin.files == origin.paths.index(None))
    return int(unknown[0]) if len(unknown) else len(origin)


def _add(chunk: Chunk, origin: Origin, names: tuple[str, str]) -> Chunk:
    files = BytesColumn.from_list([os.fsencode(path or "") for path in origin.paths])[origin.files]
    source = dict(zip(names, (files, origin.records), strict=True))
    if isinstance(chunk, (RecordChunk, ColumnChunk)):
        return ColumnChunk(_joined(chunk.columns, source), len(chunk), origin)
    rows = ColumnChunk(source, len(chunk)).objects()
    return ObjectChunk([_joined(item, row) for item, row in zip(chunk.objects(), rows, strict=True)], origin)


def _joined(value: Any, source: dict[str, Any]) -> Any:
    """Put the source into a structure of values, columns or specs."""
    if isinstance(value, dict):
        taken = [name for name in source if name in value]
        if taken:
            raise InvalidArgumentError(
                f"with_source: the element has a feature {taken[0]!r} already. Give another name: "
                f"with_source(file=..., record=...)."
            )
        return {**value, **source}
    if isinstance(value, tuple):
        for place, part in enumerate(value):
            if isinstance(part, dict):
                changed = [*value[:place], _joined(part, source), *value[place + 1 :]]
                return type(value)(*changed) if hasattr(value, "_fields") else tuple(changed)
    if is_nested(value):
        raise InvalidArgumentError(
            "with_source: expected elements that are dicts, single values, or tuples with a dict in them."
        )
    return _joined({DATA: value}, source)
