"""Failures of the Example kernel as exceptions, in TensorFlow's words.

TensorFlow has two kernels for Examples with different texts: one for a single example, one for a batch. The origin of
the example follows the text where it is known; further help is a note of the exception.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, Final, TypeVar

from tfrkit import _core
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.near_names import near_names
from tfrkit.parsing.expected_features import ExpectedFeature
from tfrkit.parsing.serialized_input import SerializedInput

__all__ = [
    "UNKNOWN",
    "batch_failure",
    "damaged",
    "located",
    "single_failure",
    "unlike_example",
    "warn_of_others",
]

_Error = TypeVar("_Error", InvalidArgumentError, DataLossError)

UNKNOWN: Final = "<unknown>"  # TensorFlow's name of an example without one
_TYPES: Final = {0: "invalid", 1: "string", 2: "float", 3: "int64"}
_LISTS: Final = {1: "bytes", 2: "float", 3: "int64"}
_LOOK_BYTES: Final = 512  # by which a file is known
_DUMPED_BYTES: Final = 1024  # of bytes that are not an Example; TensorFlow prints them all


def located(text: str, records: SerializedInput, row: int, note: str = "") -> InvalidArgumentError:
    """Make the exception: TensorFlow's text, then file, record number and byte offset where they are known."""
    return _located(InvalidArgumentError, text, records, row, note)


def damaged(text: str, records: SerializedInput, row: int) -> DataLossError:
    """Make the exception for a message whose bytes are damaged, with its place as in `located`."""
    return _located(DataLossError, text, records, row, "")


def _located(kind: type[_Error], text: str, records: SerializedInput, row: int, note: str) -> _Error:
    place = records.place(row)
    if place.path is not None:
        number = "" if place.record is None else f" record {place.record}"
        offset = "" if place.offset is None else f" (frame at byte {place.offset})"
        text += f"; in{number}{offset} of {place.path!r}" if number or offset else f"; in {place.path!r}"
    error = kind(text, path=place.path, record=place.record, offset=place.offset)
    if not records.scalar and records.count > 1:
        error.add_note(f"It is example {row} of {records.count}, counted from 0.")
    if note:
        error.add_note(note)
    return error


def single_failure(
    failure: Any, slots: Sequence[ExpectedFeature], records: SerializedInput
) -> InvalidArgumentError:
    """Return the exception of TensorFlow's kernel for one example."""
    if failure.slot < 0 or failure.code in (_core.UNSUPPORTED_KIND, _core.MISSING):
        return _general(failure, slots, records, "")
    slot = slots[failure.slot]
    if failure.code == _core.WRONG_STRIDE:
        text = (
            f"Error while parsing feature with key {slot.key}: number of elements should be divisible by "
            f"{slot.size}, found {failure.count} instead"
        )
        return located(text, records, failure.row)
    if failure.code == _core.WRONG_KIND:
        text = _wrong_kind(slot, failure)
    else:
        text = f"Can't parse serialized Example: {_single_list(slot, failure)}"
    return located(f"Key: {slot.key}.  {text}", records, failure.row)


def batch_failure(
    failure: Any,
    slots: Sequence[ExpectedFeature],
    records: SerializedInput,
    names: Sequence[str] | None,
) -> InvalidArgumentError:
    """Return the exception of TensorFlow's kernel for a batch.

    Args:
        failure: what the native plan returned.
        slots: what the plan expects.
        records: the input.
        names: of the examples, or None.
    """
    name = names[failure.row] if names else UNKNOWN
    if failure.slot < 0 or failure.code in (_core.UNSUPPORTED_KIND, _core.MISSING):
        return _general(failure, slots, records, f"Name: {name}, ")
    slot = slots[failure.slot]
    if failure.code == _core.WRONG_KIND:
        text = _wrong_kind(slot, failure)
    elif failure.code == _core.WRONG_STRIDE:
        # In TensorFlow's dialect this is what its worker has counted, which may be more than this example's values.
        text = (
            f"Number of {_LISTS[slot.kind]} values is not a multiple of stride length. "
            f"Saw {failure.count} values but output shape is: {slot.shown_shape}"
        )
    elif failure.code == _core.WRONG_COUNT and not (slot.type == "string" and failure.count > slot.size):
        text = (
            f"Number of {_LISTS[slot.kind]} values != expected.  "
            f"Values size: {failure.count} but output shape: {slot.shown_shape}"
        )
    else:
        text = "Can't parse serialized Example."
    return located(f"Name: {name}, Key: {slot.key}, Index: {failure.row}.  {text}", records, failure.row)


def _general(
    failure: Any, slots: Sequence[ExpectedFeature], records: SerializedInput, name: str
) -> InvalidArgumentError:
    """Return the exceptions that both kernels have: not an Example, an unsupported kind, a missing feature."""
    if failure.slot < 0:
        record = records[failure.row]
        shown = record[:_DUMPED_BYTES].decode(errors="backslashreplace")
        more = f"... ({len(record)} bytes)" if len(record) > _DUMPED_BYTES else ""
        text = f"Could not parse example input, value: '{shown}{more}'"
        look = unlike_example(record)
        return located(text, records, failure.row, f"It looks like {look}." if look else "")
    if failure.code == _core.UNSUPPORTED_KIND:
        return located("Unsupported datatype.", records, failure.row)
    slot = slots[failure.slot]
    text = f"{name}Feature: {slot.key} (data type: {_TYPES[slot.kind]}) is required but could not be found."
    note = f"{_near(slot.key, records[failure.row])}Give {slot.key!r} a default_value, or read it with a VarLenFeature."
    return located(text, records, failure.row, note)


def _near(key: str, record: bytes) -> str:
    """Name the features of a record that may have been meant."""
    from google.protobuf.message import DecodeError  # only here: a kernel does without protobuf

    from tfrkit.model.messages import Example

    try:
        known = sorted(Example.FromString(record).features.feature)
    except (DecodeError, ValueError):  # what protobuf refuses and the kernel does not
        return ""
    return f"{near_names(key, known)} " if known else ""


def unlike_example(record: bytes) -> str:
    r"""Say what a record looks like, with an article, if it is evidently not an Example; else return "".

    >>> unlike_example(b"\x08\x96\xff\xff\x01\x12\x05hello"), unlike_example(b"\xff\xd8\xff\xe0"), unlike_example(b"")
    ('a serialised protobuf message with fields 1, 2', 'a JPEG image', '')
    """
    from tfrkit.codecs.file_kinds import UNKNOWN, looks_like  # only here: Examples do without them
    from tfrkit.parsing.payloads.message_sniffer import EXAMPLES, sniff_message

    message = sniff_message(record, len(record))
    if message in EXAMPLES:
        return ""
    look = looks_like(record[:_LOOK_BYTES], len(record))
    if not look.startswith(UNKNOWN):
        return look
    return f"a {message}" if message else ""


def warn_of_others(records: SerializedInput) -> None:
    """Warn if the first record is evidently not an Example, and which other function reads such records."""
    look = unlike_example(records[0]) if records.count else ""
    if look:
        place = records.place(0)
        where = "record 0" if place.path is None else f"record {place.record} of {place.path!r}"
        advice = "Parse messages of other types with parse_proto. " if "protobuf message" in look else ""
        warnings.warn(
            f"{where} is parsed as an Example, but looks like {look}. {advice}inspect() shows what records are.",
            stacklevel=3,
        )


def _wrong_kind(slot: ExpectedFeature, failure: Any) -> str:
    found, expected = _TYPES[failure.kind], _TYPES[slot.kind]
    if slot.form in ("dense", "sequence"):
        return f"Data types don't match. Data type: {found} but expected type: {expected}"
    return f"Data types don't match. Expected type: {expected}, Actual type: {found}"


def _single_list(slot: ExpectedFeature, failure: Any) -> str:
    name = f"{_LISTS[slot.kind]}_list"
    if failure.code == _core.WRONG_COUNT and not (slot.type == "string" and failure.count > slot.size):
        return f"Some {name} slice was not parsed."
    if slot.type == "string" and slot.form != "dense":
        return f"Could not get num elements in {name}."
    return f"Parsing {name} failed."
