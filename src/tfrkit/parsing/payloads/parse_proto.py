"""Parsing messages of any type: records, a descriptor set and paths of fields in, columns out.

The reading itself is the kernel's; the paths are compiled in `proto_fields.py`. Examples have parsers of their own.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tfrkit import _core
from tfrkit.errors import DataLossError, DataLossWarning, InvalidArgumentError
from tfrkit.model.near_names import did_you_mean
from tfrkit.parsing.failure import damaged
from tfrkit.parsing.parse import native_threads
from tfrkit.parsing.payloads.descriptor_set import message_descriptor, read_descriptors
from tfrkit.parsing.payloads.proto_fields import Enums, ProtoFields, compile_fields
from tfrkit.parsing.serialized_input import SerializedInput, as_records

__all__ = [
    "ProtoSpec",
    "fields_of",
    "parse_messages",
    "parse_proto",
    "proto_failure",
    "warn_of_examples",
    "warn_of_skipped",
]

_ENUMS: Final = ("number", "name")
_EXAMPLE_TAG: Final = 0x0A  # of the features of an Example, and of the context of a SequenceExample


@dataclass(frozen=True, slots=True)
class ProtoSpec:
    """Which fields of which messages are parsed.

    Attributes:
        descriptors: a serialised FileDescriptorSet.
        message: the full name of the message.
        paths: of the fields, each after the name of its column.
        enums: whether values of enums are numbers or names.
    """

    descriptors: bytes
    message: str
    paths: tuple[tuple[str, str], ...]
    enums: Enums

    @classmethod
    def of(cls, descriptor_set: Any, message: str, fields: Any, enums: Enums) -> ProtoSpec:
        """Make it of the arguments of `parse_proto`."""
        if enums not in _ENUMS:
            raise ValueError(
                f"expected enums to be 'number' or 'name' but got {enums!r}{did_you_mean(enums, _ENUMS)}"
            )
        if not isinstance(message, str):
            raise TypeError(f"expected the full name of a message but got {type(message).__name__}")
        spec = cls(read_descriptors(descriptor_set), message.removeprefix("."), _paths(fields), enums)
        fields_of(spec)
        return spec


def parse_proto(
    records: Any,
    descriptor_set: Any,
    message: str,
    fields: Sequence[str] | Mapping[str, str],
    *,
    enums: Enums = "number",
    threads: int | None = None,
) -> dict[str, Any]:
    r"""Parse serialised messages of any type into columns.

    Values are those that protobuf's own parser finds: defaults where a field is not set, the last value of a singular
    field, messages that occur twice merged, numbers packed or not, unknown fields left out.

    Args:
        records: a list or array of bytes, a Block, a list or iterator of Blocks, a BytesColumn, an Arrow array of
            binary, or a list of messages. A single one gives single values.
        descriptor_set: what the messages look like: a serialised FileDescriptorSet as bytes, its path, the path of a
            `.proto` file, which grpcio-tools or protoc compiles, or a module that protoc has generated for Python.
        message: the full name of their type, such as "pkg.Frame".
        fields: paths of fields, such as "id" or "camera.lens.name"; or a dict of the names of the columns to paths. The
            entries of a map have the fields "key" and "value", an extension is "[pkg.its_name]", and the name of a
            oneof stands for the name of the field that is set, b"" if none is. A message itself is its bytes.
        enums: whether values of enums are numbers, or names. A number without a name stays one, in decimal.
        threads: the most cores to use; None uses all. Small batches take one.

    Returns:
        A dict in the order of the fields. A path on which nothing is repeated becomes an array, of strings, bytes,
        messages and names a BytesColumn; each repeated field on it makes the rows ragged, one level deeper.

    Raises:
        DataLossError: a record is no such message: it ends early, or a string is not UTF-8 although its type says so.
            Path, record and offset are attributes where the input knows them.
        InvalidArgumentError: the set has no such message, or the message no such field.
        MissingExtraError: there is nothing to compile a `.proto` file with.
        OSError: the file of the descriptors cannot be read.

    Warns:
        UserWarning: the first record is an Example, and the message is not.
        DataLossWarning: values were left out, as protobuf does, because their wire type is not that of their field.

    >>> from google.protobuf import descriptor_pb2
    >>> files = descriptor_pb2.FileDescriptorSet()
    >>> file = files.file.add(name="frame.proto", package="pkg", syntax="proto3")
    >>> frame = file.message_type.add(name="Frame")
    >>> _ = frame.field.add(name="id", number=1, type=5, label=1)
    >>> _ = frame.field.add(name="points", number=2, type=2, label=3)
    >>> records = [b"\x08\x07", b"\x08\x09\x12\x04\x00\x00\x80\x3f"]
    >>> found = parse_proto(records, files, "pkg.Frame", ["id", "points"])
    >>> found["id"], found["points"].to_list()
    (array([7, 9], dtype=int32), [[], [1.0]])
    """
    plan = fields_of(ProtoSpec.of(descriptor_set, message, fields, enums))
    found = as_records(records)
    columns, skipped = parse_messages(plan, found, native_threads(threads))
    if not warn_of_examples(plan, found) and skipped is not None:
        warn_of_skipped(plan, found, skipped)
    return {name: column[0] for name, column in columns.items()} if found.scalar else columns


@functools.lru_cache(maxsize=64)
def fields_of(spec: ProtoSpec) -> ProtoFields:
    """Return a spec, compiled."""
    return compile_fields(message_descriptor(spec.descriptors, spec.message), dict(spec.paths), spec.enums)


def parse_messages(
    plan: ProtoFields, records: SerializedInput, threads: int
) -> tuple[dict[str, Any], tuple[int, int, int] | None]:
    """Parse records.

    Returns:
        The columns; and how many values were left out for their wire type, the field of the first in the plan, and its
        record, or None.

    Raises:
        DataLossError: a record is no such message.
    """
    columns, scopes, skipped, failure = plan.native.parse(records.pieces, threads)
    if failure is not None:
        raise proto_failure(plan, records, failure)
    return {name: column.make(columns, scopes) for name, column in plan.columns.items()}, skipped


def proto_failure(plan: ProtoFields, records: SerializedInput, failure: Any) -> DataLossError:
    """Return the exception for what the kernel found."""
    field = f" in field {plan.labels[failure.field]!r}" if failure.field >= 0 else ""
    what = (
        "a string is not UTF-8" if failure.code == _core.NOT_UTF8 else "no message, or one that ends early,"
    )
    text = f"Unable to parse binary protobuf: as {plan.message}, {what}{field} at byte {failure.offset} of the record"
    return damaged(text, records, failure.row)


def warn_of_examples(plan: ProtoFields, records: SerializedInput) -> bool:
    """Warn if the first record is an Example and the message is not; return whether it is so."""
    if not records.count or plan.is_example or not _is_example(records[0]):
        return False
    warnings.warn(
        f"{_where(records, 0)} is an Example, but is parsed as {plan.message}, whose fields do not fit one. "
        "Parse Examples with parse_example, or parse() of a dataset.",
        stacklevel=3,
    )
    return True


def warn_of_skipped(plan: ProtoFields, records: SerializedInput, skipped: tuple[int, int, int]) -> None:
    """Warn of values that were left out."""
    count, field, row = skipped
    warnings.warn(
        DataLossWarning(
            f"{count} value{' was' if count == 1 else 's were'} left out, as protobuf does, for a wire type that is "
            f"not that of the field: first of {plan.labels[field]!r} ({plan.kinds[field]}) in {_where(records, row)}. "
            f"Are the records of the type {plan.message}?"
        ),
        stacklevel=3,
    )


def _where(records: SerializedInput, row: int) -> str:
    place = records.place(row)
    return f"record {row}" if place.path is None else f"record {place.record} of {place.path!r}"


def _is_example(record: bytes) -> bool:
    if record[:1] != bytes([_EXAMPLE_TAG]):
        return False
    scan = _core.Statistics(None, outline_only=True)
    scan.add([[record]], 1)
    found = scan.outline()
    examples, sequences, _ = (count for count, _ in found["records"])
    return bool((examples and found["features"]) or sequences)


def _paths(fields: Any) -> tuple[tuple[str, str], ...]:
    if isinstance(fields, (str, bytes)) or not isinstance(fields, (Mapping, Sequence)):
        raise TypeError(
            "expected fields to be a list of paths, such as ['camera.name'], or a dict of names to paths, "
            f"but got {fields!r:.100}"
        )
    pairs = tuple(fields.items()) if isinstance(fields, Mapping) else tuple((path, path) for path in fields)
    for pair in pairs:
        if not all(isinstance(each, str) for each in pair):
            raise TypeError(f"expected names and paths of fields to be str but got {pair!r:.100}")
    if not pairs:
        raise InvalidArgumentError("expected at least one field to parse")
    if len(dict(pairs)) < len(pairs):
        twice = next(path for place, path in enumerate(fields) if path in fields[:place])
        raise InvalidArgumentError(f"the field {twice!r} is named twice")
    return pairs
