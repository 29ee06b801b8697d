"""Failures of the SequenceExample kernel as exceptions, in TensorFlow's words: the same for one example and many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import op_name
from tfrkit.parsing.expected_features import ExpectedFeature
from tfrkit.parsing.failure import UNKNOWN, located
from tfrkit.parsing.serialized_input import SerializedInput

__all__ = ["sequence_failure"]


def sequence_failure(
    failure: Any,
    context: Sequence[ExpectedFeature],
    lists: Sequence[ExpectedFeature],
    records: SerializedInput,
    names: Sequence[str] | None,
) -> InvalidArgumentError:
    """Give the exception for a failure.

    Args:
        failure: what the native plan gave.
        context: its slots.
        lists: its feature lists.
        records: the input.
        names: of the examples, or None.
    """
    name = names[failure.row] if names and failure.row >= 0 else UNKNOWN
    if failure.code == _core.MALFORMED_SEQUENCE:
        text = f"Invalid protocol message input, example id: {name}"
    elif failure.code in _CONTEXT_TEXTS:
        text = _CONTEXT_TEXTS[failure.code](context[failure.slot], failure, name)
    else:
        text = _LIST_TEXTS[failure.code](lists[failure.slot], failure, name)
    if failure.row < 0:
        return InvalidArgumentError(text)
    note = ""
    if failure.code == _core.CONTEXT_COUNT:  # TensorFlow's text does not say of what
        slot = context[failure.slot]
        note = f"Expected {slot.size} values of the context feature {slot.key!r} but got {failure.count}."
    return located(text, records, failure.row, note)


def _context_kind(slot: ExpectedFeature, _: Any, name: str) -> str:
    return f"Name: {name}, Context feature: {slot.key}.  Data types don't match. Expected type: {op_name(slot.type)}"


def _context_maximum(slot: ExpectedFeature, failure: Any, _: str) -> str:
    return (
        f"Inconsistent max number of elements for feature {slot.key}: "
        f"expected {slot.size}, but found {failure.count}"
    )


def _context_missing(slot: ExpectedFeature, _: Any, __: str) -> str:
    return f"Feature: {slot.key} (data type: {op_name(slot.type)}) is required but could not be found."


def _list_kind(slot: ExpectedFeature, failure: Any, name: str) -> str:
    return (
        f"Name: {name}, Feature list: {slot.key}, Index: {failure.index}.  "
        f"Data types don't match. Expected type: {op_name(slot.type)}"
    )


def _list_missing(slot: ExpectedFeature, _: Any, name: str) -> str:
    return (
        f"Name: {name}, Feature list '{slot.key}' is required but could not be found.  "
        "Did you mean to include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?"
    )


def _list_total(slot: ExpectedFeature, failure: Any, _: str) -> str:
    return (
        f"Feature list '{slot.key}' has an unexpected number of values.  "
        f"Total values size: {failure.count} is not consistent with output shape: {slot.shown_shape}"
    )


def _step_count(slot: ExpectedFeature, failure: Any, name: str) -> str:
    return (
        f"Name: {name}, Key: {slot.key}, Index: {failure.index}.  Number of values != expected.  "
        f"values size: {failure.count} but output shape: {slot.value_shape}"
    )


_Text = Callable[[ExpectedFeature, Any, str], str]
_CONTEXT_TEXTS: Final[dict[int, _Text]] = {
    _core.CONTEXT_KIND: _context_kind,
    _core.CONTEXT_MAXIMUM: _context_maximum,
    _core.CONTEXT_MISSING: _context_missing,
    _core.CONTEXT_COUNT: lambda _slot, _failure, name: f"Unexpected number of elements in example {name}",
    _core.CONTEXT_TOTAL: lambda slot, _, __: f"Unexpected total number of elements in feature {slot.key}",
    _core.MALFORMED_CONTEXT: lambda slot, _, name: f"Error in context feature {slot.key} in example {name}",
}
_LIST_TEXTS: Final[dict[int, _Text]] = {
    _core.LIST_KIND: _list_kind,
    _core.LIST_MISSING: _list_missing,
    _core.LIST_TOTAL: _list_total,
    _core.STEP_COUNT: _step_count,
    _core.LIST_ELEMENTS: lambda slot, _, __: f"Unexpected number of elements for feature {slot.key}",
    _core.MALFORMED_FEATURE_LIST: lambda slot, _, name: (
        f"Error in sequence feature {slot.key} in example {name}"
    ),
}
