"""Failures of the SequenceExample kernel as exceptions, in TensorFlow's words: the same for one example and many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import op_name
from tfrkit.parsing.expected_features import ExpectedFeature
from tfrkit.parsing.failure import UNKNOWN, located
from tfrkit.parsing.serialized_input import SerializedInput

__all__ = ["sequence_failure"]

# By the kernel's code: TensorFlow's text, with the example's `name`, the `feature` that was expected, its `type`, and
# the `failure`.
_CONTEXT_TEXTS: Final = {
    _core.CONTEXT_KIND: "Name: {name}, Context feature: {feature.key}.  Data types don't match. Expected type: {type}",
    _core.CONTEXT_MAXIMUM: "Inconsistent max number of elements for feature {feature.key}: "
    "expected {feature.size}, but found {failure.count}",
    _core.CONTEXT_MISSING: "Feature: {feature.key} (data type: {type}) is required but could not be found.",
    _core.CONTEXT_COUNT: "Unexpected number of elements in example {name}",
    _core.CONTEXT_TOTAL: "Unexpected total number of elements in feature {feature.key}",
    _core.MALFORMED_CONTEXT: "Error in context feature {feature.key} in example {name}",
}
_LIST_TEXTS: Final = {
    _core.LIST_KIND: "Name: {name}, Feature list: {feature.key}, Index: {failure.index}.  "
    "Data types don't match. Expected type: {type}",
    _core.LIST_MISSING: "Name: {name}, Feature list '{feature.key}' is required but could not be found.  "
    "Did you mean to include it in feature_list_dense_missing_assumed_empty or feature_list_dense_defaults?",
    _core.LIST_TOTAL: "Feature list '{feature.key}' has an unexpected number of values.  "
    "Total values size: {failure.count} is not consistent with output shape: {feature.shown_shape}",
    _core.STEP_COUNT: "Name: {name}, Key: {feature.key}, Index: {failure.index}.  Number of values != expected.  "
    "values size: {failure.count} but output shape: {feature.value_shape}",
    _core.LIST_ELEMENTS: "Unexpected number of elements for feature {feature.key}",
    _core.MALFORMED_FEATURE_LIST: "Error in sequence feature {feature.key} in example {name}",
}


def sequence_failure(
    failure: Any,
    context: Sequence[ExpectedFeature],
    lists: Sequence[ExpectedFeature],
    records: SerializedInput,
    names: Sequence[str] | None,
) -> InvalidArgumentError:
    """Return the exception for a failure.

    Args:
        failure: what the native plan returned.
        context: the context features of the plan.
        lists: its feature lists.
        records: the input.
        names: of the examples, or None.
    """
    name = names[failure.row] if names and failure.row >= 0 else UNKNOWN
    note = ""
    if failure.code == _core.MALFORMED_SEQUENCE:
        text = f"Invalid protocol message input, example id: {name}"
    else:
        in_context = failure.code in _CONTEXT_TEXTS
        feature = (context if in_context else lists)[failure.slot]
        template = (_CONTEXT_TEXTS if in_context else _LIST_TEXTS)[failure.code]
        text = template.format(name=name, feature=feature, type=op_name(feature.type), failure=failure)
        if failure.code == _core.CONTEXT_COUNT:  # TensorFlow's text does not name the feature
            note = f"Expected {feature.size} values of the context feature {feature.key!r} but got {failure.count}."
    return InvalidArgumentError(text) if failure.row < 0 else located(text, records, failure.row, note)
