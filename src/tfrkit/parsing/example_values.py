"""One example between Python values and messages: make_example, make_sequence_example, to_dict.

Uses protobuf's classes, one example at a time. Many examples go through `encode.py` and `parse.py`, which do not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
from google.protobuf.message import DecodeError

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.features import check_name, feature_values, make_feature, shown
from tfrkit.model.messages import (
    Example,
    Feature,
    FeatureList,
    SequenceExample,
    is_message,
    message_bytes,
    message_name,
)
from tfrkit.model.no_bytes import NoBytes
from tfrkit.parsing.encode import bytes_of_kind

__all__ = ["make_example", "make_sequence_example", "to_dict"]

Value: TypeAlias = npt.NDArray[np.int64] | npt.NDArray[np.float32] | list[bytes] | None
_Made = TypeVar("_Made", Example, SequenceExample)


def make_example(features: Mapping[str, Any]) -> Example:
    """Make an Example from a dict.

    Args:
        features: values by name, each whatever `feature` takes, or a Feature message. None and a list without values
            become a feature without a kind, which every parser treats as missing.

    Returns:
        The message; without features it is `Example()`. `make_example(to_dict(example)) == example`.

    Raises:
        TypeError, ValueError: no feature can hold a value; the text names the feature and the value.

    >>> to_dict(make_example({"label": 3, "name": "Ada"}))
    {'label': array([3]), 'name': [b'Ada']}
    """
    example = Example()
    for key, value in _items(features):
        _put(example.features.feature[key], value, f"feature {key!r}: ")
    return example


def make_sequence_example(
    context: Mapping[str, Any] | None = None, feature_lists: Mapping[str, Any] | None = None
) -> SequenceExample:
    """Make a SequenceExample from two dicts.

    Args:
        context: features of the whole, as in `make_example`.
        feature_lists: by name a list or array with one item for each step; an item is whatever `feature` takes (the
            rows of a 2-D array are lists), or a Feature message. A list without values is of the kind of the other
            steps. Or a FeatureList message.

    Returns:
        The message; `make_sequence_example(**to_dict(example)) == example`.

    Raises:
        TypeError, ValueError: no feature can hold a value; the text names the feature, the step and the value.

    >>> example = make_sequence_example({"user": 7}, {"ratings": [4.5, 3.0], "movies": [["a"], ["b", "c"]]})
    >>> to_dict(example)["feature_lists"]["movies"]
    [[b'a'], [b'b', b'c']]
    """
    example = SequenceExample()
    for key, value in _items(context or {}):
        _put(example.context.feature[key], value, f"context feature {key!r}: ")
    for key, steps in _items(feature_lists or {}):
        _put_list(example.feature_lists.feature_list[key], steps, f"feature list {key!r}")
    return example


def to_dict(example: Any, *, sequence: bool = False) -> dict[str, Any]:
    r"""Return the content of an Example or SequenceExample as numpy arrays and lists of bytes.

    Args:
        example: a message of any pool, or a serialised one.
        sequence: serialised ones are SequenceExamples, not Examples.

    Returns:
        For an Example a dict by name, in the order of the names, of int64 arrays, float32 arrays, lists of bytes, or
        None for a feature without a kind. For a SequenceExample the dict `{"context": ..., "feature_lists": ...}`,
        where a feature list is a list with one such value for each step.

    Raises:
        InvalidArgumentError: the bytes are not such a message.
        TypeError: it is neither a message nor bytes.

    >>> to_dict(b'\n\x0e\n\x0c\n\x03age\x12\x05\x1a\x03\n\x01*')
    {'age': array([42])}
    """
    if is_message(example):
        name = message_name(example)
        if name not in ("tensorflow.Example", "tensorflow.SequenceExample"):
            raise TypeError(f"expected an Example or a SequenceExample but got a message of type {name}")
        sequence = name == "tensorflow.SequenceExample"
        if not isinstance(example, (Example, SequenceExample)):
            example = message_bytes(example)
    if not sequence:
        return _feature_dict(_parsed(example, Example).features.feature)
    message = _parsed(example, SequenceExample)
    lists = message.feature_lists.feature_list
    return {
        "context": _feature_dict(message.context.feature),
        "feature_lists": {key: [_value(step) for step in lists[key].feature] for key in sorted(lists)},
    }


def _items(features: Mapping[str, Any]) -> list[tuple[str, Any]]:
    if not isinstance(features, Mapping):
        raise TypeError(f"expected a dict of features by name but got {shown(features)}")
    for key in features:
        check_name(key)
    return list(features.items())


def _put(target: Feature, value: Any, where: str) -> None:
    """Set `target`, which is empty, to the value."""
    if not is_message(value):
        target.CopyFrom(make_feature(*feature_values(value, where)))
        return
    target.ParseFromString(bytes_of_kind(value, "Feature", where))


def _put_list(target: FeatureList, steps: Any, where: str) -> None:
    if is_message(steps):
        target.ParseFromString(bytes_of_kind(steps, "FeatureList", f"{where}: "))
        return
    if isinstance(steps, (str, bytes, bytearray, memoryview, Mapping)) or not hasattr(
        type(steps), "__iter__"
    ):
        raise TypeError(f"{where}: expected a list or array of steps but got {shown(steps)}")
    without_kind = []
    for number, step in enumerate(steps):
        added = target.feature.add()
        _put(added, step, f"{where}, step {number}: ")
        if step is not None and not is_message(step) and added.WhichOneof("kind") is None:
            without_kind.append(added)
    common = next((kind for step in target.feature if (kind := step.WhichOneof("kind"))), None)
    if common is not None:  # a list without values is of the kind of the other steps
        for added in without_kind:
            getattr(added, common).SetInParent()


def _parsed(example: Any, cls: type[_Made]) -> _Made:
    if isinstance(example, cls):
        return example
    if not isinstance(example, (bytes, bytearray, memoryview)):
        raise TypeError(f"expected a message or bytes but got {shown(example)}")
    try:
        return cls.FromString(bytes(example))
    except DecodeError as error:
        name = cls.__name__
        raise InvalidArgumentError(
            f"expected a serialised {name} but these {len(example)} bytes are not one: {error}"
        ) from error


def _feature_dict(features: Mapping[str, Feature]) -> dict[str, Value]:
    return {key: _value(features[key]) for key in sorted(features)}


def _value(feature: Feature) -> Value:
    kind = feature.WhichOneof("kind")
    if kind is None:
        return None
    if kind == "bytes_list":
        return list(feature.bytes_list.value) or NoBytes()
    if kind == "float_list":
        return np.array(feature.float_list.value, np.float32)
    return np.array(feature.int64_list.value, np.int64)
