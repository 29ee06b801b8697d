"""Arrow arrays of other libraries, as columns: type by type, without copying where the layouts agree.

Works on the structures of Arrow's C data interface, which `_core` holds. The interface does not say how large buffers
are, so everything that can be checked is: offsets ascend, children are long enough, indices are in range.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.arrow.arrow_layout import NUMBER_FORMATS
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of

__all__ = ["ArrowSchema", "DecodedColumn", "decode", "decode_indexed", "empty"]

Values: TypeAlias = "npt.NDArray[Any] | BytesColumn | Ragged"
Valid: TypeAlias = npt.NDArray[np.bool_] | None

# Begin of a format -> what Arrow calls it, for those that have no place here.
_NAMES: Final = {
    "+s": "struct",
    "+m": "map",
    "+u": "union",
    "+r": "run_end_encoded",
    "+v": "list_view",
    "d:": "decimal",
    "tdD": "date32",
    "tdm": "date64",
    "tt": "time",
    "ts": "timestamp",
    "tD": "duration",
    "ti": "interval",
}


class DecodedColumn(NamedTuple):
    """A column, and which of its rows are no nulls; None: all. Rows of lists and bytes that are null are empty.

    With `indices`, which only `decode_indexed` returns, row `i` is `values[indices[i]]`; null rows have any index.
    """

    values: Values
    valid: Valid
    indices: npt.NDArray[np.int32] | None = None

    def decoded(self) -> DecodedColumn:
        """Return the same column without indices."""
        if self.indices is None:
            return self
        return DecodedColumn(self.values[self.indices.astype(np.int64)], self.valid)


class ArrowSchema(NamedTuple):
    """The type of an array: Arrow's format string, name, flags, children and dictionary."""

    format: str
    name: str
    flags: int
    children: tuple[ArrowSchema, ...]
    dictionary: ArrowSchema | None

    @classmethod
    def of(cls, tree: tuple[Any, ...]) -> ArrowSchema:
        """What `_core.read_arrow_schema` gives, named."""
        code, name, flags, children, dictionary = tree
        inner = None if dictionary is None else cls.of(dictionary)
        return cls(code, name, flags, tuple(cls.of(child) for child in children), inner)


class _Part(NamedTuple):
    """Entries [begin, begin + length) of an array's buffers, and which of them are no nulls."""

    node: _core.ArrowNode
    begin: int
    length: int
    valid: Valid

    def read(self, buffer: int, dtype: npt.DTypeLike, each: int = 1, more: int = 0) -> npt.NDArray[Any]:
        """The part of a buffer with `each` items of `dtype` an entry, and `more` at the end; aligned."""
        kind = np.dtype(dtype)
        first, last = self.begin * each, (self.begin + self.length) * each + more
        data = self.node.buffer(buffer, last * kind.itemsize)[first * kind.itemsize :].view(kind)
        return np.require(data, requirements="A")


def decode(node: _core.ArrowNode, schema: ArrowSchema, start: int, length: int) -> DecodedColumn:
    """Make a column of the entries [start, start + length) of an array.

    Raises:
        TypeError: the type has no place among columns.
        ValueError: the array is damaged, or has nulls inside its lists.
    """
    part = _part(node, schema, start, length)
    if schema.dictionary is not None:
        values, indices, valid = _dictionary(part, schema)
        return DecodedColumn(values[indices.astype(np.int64)], valid)
    code = schema.format
    if code in NUMBER_FORMATS:
        return DecodedColumn(part.read(1, NUMBER_FORMATS[code]), part.valid)
    if code == "b":
        return DecodedColumn(_bits(node, 1, part.begin, length), part.valid)
    if code == "n":
        return DecodedColumn(np.full(length, None), np.zeros(length, bool))  # objects: nothing tells a type
    if code in ("u", "z", "U", "Z"):
        return _binary(part, np.int32 if code in "uz" else np.int64)
    if code in ("vu", "vz"):
        return _views(part)
    if code.startswith("w:"):
        return _fixed_binary(part, int(code[2:]))
    if code in ("+l", "+L"):
        return _list(part, schema, np.int32 if code == "+l" else np.int64)
    if code.startswith("+w:"):
        return _fixed_list(part, schema, int(code[3:]))
    raise _no_place(code)


def decode_indexed(node: _core.ArrowNode, schema: ArrowSchema, start: int, length: int) -> DecodedColumn:
    """Make a column as `decode` does, but leave a dictionary of byte strings as it is, with its indices.

    Raises:
        TypeError, ValueError: as `decode`.
    """
    if schema.dictionary is None:
        return decode(node, schema, start, length)
    values, indices, valid = _dictionary(_part(node, schema, start, length), schema)
    if isinstance(values, BytesColumn) and values.ndim == 1 and len(values) <= np.iinfo(np.int32).max:
        return DecodedColumn(values, valid, np.ascontiguousarray(indices, np.int32))
    return DecodedColumn(values[indices.astype(np.int64)], valid)


def _part(node: _core.ArrowNode, schema: ArrowSchema, start: int, length: int) -> _Part:
    if start + length > node.length:
        raise ValueError(
            f"expected at least {start + length} entries in an Arrow array but it has {node.length}"
        )
    begin = node.offset + start
    return _Part(node, begin, length, _validity(node, schema, begin, length))


def empty(schema: ArrowSchema) -> Values:
    """A column of this type without rows.

    Raises:
        TypeError: the type has no place among columns.
    """
    code = schema.format
    if schema.dictionary is not None:
        return empty(schema.dictionary)
    if code in NUMBER_FORMATS:
        return np.zeros(0, NUMBER_FORMATS[code])
    if code in ("b", "n"):
        return np.zeros(0, bool if code == "b" else object)
    if code in ("u", "z", "U", "Z", "vu", "vz") or code.startswith("w:"):
        return BytesColumn.from_list([])
    if code in ("+l", "+L"):
        return Ragged(empty(schema.children[0]), np.zeros(1, np.int32 if code == "+l" else np.int64))
    if code.startswith("+w:"):
        return _in_lists(empty(schema.children[0]), 0, int(code[3:]))
    raise _no_place(code)


def _no_place(code: str) -> TypeError:
    name = next((name for begin, name in _NAMES.items() if code.startswith(begin)), f"of format {code!r}")
    return TypeError(
        f"the Arrow type {name} has no counterpart: cast it to numbers, strings, binary or lists"
    )


def _bits(node: _core.ArrowNode, buffer: int, begin: int, length: int) -> npt.NDArray[np.bool_]:
    packed = node.buffer(buffer, (begin + length + 7) // 8)[begin // 8 :]
    return np.unpackbits(packed, bitorder="little")[begin % 8 : begin % 8 + length].view(np.bool_)


def _validity(node: _core.ArrowNode, schema: ArrowSchema, begin: int, length: int) -> Valid:
    if schema.format == "n" or node.null_count == 0 or not node.has_buffer(0):
        return None
    valid = _bits(node, 0, begin, length)
    return None if bool(valid.all()) else valid


def _offsets(part: _Part, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
    if part.length == 0:
        return np.zeros(1, dtype)  # an empty array need not have the buffer
    offsets = part.read(1, dtype, more=1)
    if offsets[0] < 0 or bool((offsets[1:] < offsets[:-1]).any()):
        raise ValueError("expected the offsets of an Arrow array to ascend from 0 on, but they do not")
    return offsets


def _binary(part: _Part, dtype: npt.DTypeLike) -> DecodedColumn:
    offsets = _offsets(part, dtype).astype(np.int64, copy=False)
    column = BytesColumn.unchecked(part.node.buffer(2, int(offsets[-1])), offsets)
    return DecodedColumn(_without_nulls(column, part.valid), part.valid)


def _without_nulls(column: BytesColumn, valid: Valid) -> BytesColumn:
    """The column with nothing in its null entries, whatever their producer left there."""
    if valid is None or not bool(column.lengths[~valid].any()):
        return column
    lengths = np.where(valid, column.lengths, 0)
    data = _core.gather_runs([column.data], None, column.offsets[:-1], lengths)
    return BytesColumn.unchecked(data, splits_of(lengths))


def _views(part: _Part) -> DecodedColumn:
    """Strings of up to 12 bytes inside their views, longer ones in one of several buffers."""
    count = part.node.buffer_count - 3
    sizes = part.node.buffer(part.node.buffer_count - 1, 8 * max(count, 0)).view(np.int64)
    buffers = [part.node.buffer(2 + i, int(size)) for i, size in enumerate(sizes.tolist())]
    views = part.read(1, np.int32, each=4)
    lengths = views[0::4].astype(np.int64)
    if part.valid is not None:
        lengths[~part.valid] = 0
    inline = lengths <= 12
    which = np.where(inline, 0, views[2::4].astype(np.int64) + 1)
    starts = np.where(inline, 16 * np.arange(part.length) + 4, views[3::4])
    data = _core.gather_runs([views, *buffers], which, starts, lengths)
    return DecodedColumn(BytesColumn.unchecked(data, splits_of(lengths)), part.valid)


def _fixed_binary(part: _Part, size: int) -> DecodedColumn:
    data = part.read(1, np.uint8, each=size)
    column = BytesColumn.unchecked(data, np.arange(part.length + 1, dtype=np.int64) * size)
    return DecodedColumn(_without_nulls(column, part.valid), part.valid)


def _list(part: _Part, schema: ArrowSchema, dtype: npt.DTypeLike) -> DecodedColumn:
    offsets = _offsets(part, dtype)
    first, last = int(offsets[0]), int(offsets[-1])
    values, inner_valid, _ = decode(_only_child(part), schema.children[0], first, last - first)
    splits = offsets - offsets[0] if first else offsets
    lengths = np.diff(splits)
    if part.valid is not None and bool(lengths[~part.valid].any()):
        kept = np.repeat(part.valid, lengths)
        values = values[kept]
        inner_valid = None if inner_valid is None else inner_valid[kept]
        splits = splits_of(np.where(part.valid, lengths, 0), splits.dtype)
    if inner_valid is not None and not bool(inner_valid.all()):
        raise _null_inside(int(np.searchsorted(splits, np.argmin(inner_valid), side="right")) - 1)
    return DecodedColumn(Ragged.unchecked(values, splits), part.valid)


def _fixed_list(part: _Part, schema: ArrowSchema, size: int) -> DecodedColumn:
    first, count = part.begin * size, part.length * size
    values, inner_valid, _ = decode(_only_child(part), schema.children[0], first, count)
    if inner_valid is not None:
        wrong = ~inner_valid.reshape(part.length, size).all(axis=1)
        if part.valid is not None:
            wrong &= part.valid
        if bool(wrong.any()):
            raise _null_inside(int(np.argmax(wrong)))
    return DecodedColumn(_in_lists(values, part.length, size), part.valid)


def _in_lists(values: Values, length: int, size: int) -> Values:
    if isinstance(values, Ragged):
        return Ragged.unchecked(values, np.arange(length + 1, dtype=np.int64) * size)
    return values.reshape(length, size, *values.shape[1:])


def _only_child(part: _Part) -> _core.ArrowNode:
    children = part.node.children
    if len(children) != 1:
        raise ValueError(f"expected one child of an Arrow list but got {len(children)}")
    return children[0]


def _dictionary(part: _Part, schema: ArrowSchema) -> tuple[Values, npt.NDArray[Any], Valid]:
    """The values of a dictionary, which of them each row has, and which rows are no nulls."""
    assert schema.dictionary is not None
    if schema.format not in NUMBER_FORMATS or NUMBER_FORMATS[schema.format].kind not in "iu":
        raise ValueError(f"expected integers as indices of an Arrow dictionary but got {schema.format!r}")
    indices = part.read(1, NUMBER_FORMATS[schema.format])
    dictionary = part.node.dictionary
    values, inner_valid, _ = decode(dictionary, schema.dictionary, 0, dictionary.length)
    valid = part.valid
    if valid is not None:
        indices = np.where(valid, indices, 0)
    if not dictionary.length:
        if bool(np.any(valid)) or (valid is None and part.length):
            raise ValueError("expected indices into an Arrow dictionary but it is empty")
        values = _padding(schema.dictionary)
    elif part.length and (indices.min() < 0 or indices.max() >= dictionary.length):
        found = f"{indices.min()} to {indices.max()}"
        raise ValueError(
            f"expected indices below {dictionary.length} into an Arrow dictionary but got {found}"
        )
    if inner_valid is not None:
        valid = inner_valid[indices] if valid is None else valid & inner_valid[indices]
    return values, indices, valid


def _padding(schema: ArrowSchema) -> Values:
    """A column of one row, for a dictionary without values of which every use is null."""
    column = empty(schema)
    if isinstance(column, BytesColumn):
        return BytesColumn.from_list([b""])
    if isinstance(column, Ragged):
        return Ragged(column.values, np.zeros(2, column.row_splits.dtype))
    return np.zeros((1, *column.shape[1:]), column.dtype)


def _null_inside(row: int) -> ValueError:
    return ValueError(f"expected lists without nulls inside but row {row} has one: fill or drop it")
