"""Specs as JSON: for manifests, for programs in other languages, and for people to read.

Every feature becomes an object with its class under "feature", its fields, and types by their names. Fields that have
their default are left out. Bytes are `{"base64": ...}`; floats that JSON has no form for are `{"float": "nan"}`.
"""

from __future__ import annotations

import base64
import json
import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tfrkit.model.dtypes import public_name, type_name
from tfrkit.model.shapes import as_dims
from tfrkit.model.specs import (
    PARTITIONS,
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    Spec,
    VarLenFeature,
    as_feature,
)

__all__ = ["spec_from_data", "spec_from_json", "spec_to_data", "spec_to_json"]

_FEATURES: Final[dict[str, type[Any]]] = {
    "FixedLen": FixedLenFeature,
    "VarLen": VarLenFeature,
    "Sparse": SparseFeature,
    "FixedLenSequence": FixedLenSequenceFeature,
    "Ragged": RaggedFeature,
}
_NAMES: Final = {cls: name for name, cls in _FEATURES.items()}
_DEFAULTS: Final[dict[str, Any]] = {
    "default_value": None,
    "already_sorted": False,
    "allow_missing": False,
    "value_key": None,
    "partitions": [],
    "row_splits_dtype": "int32",
    "validate": False,
}


def spec_to_json(spec: Spec) -> str:
    """Write a spec as JSON.

    Args:
        spec: feature names and what is expected of them.

    Returns:
        The text, one line a feature. `spec_from_json` gives an equal spec, with types as names and shapes as lists.

    Raises:
        TypeError: a value of the dict is not a feature, or a type or default cannot be written.

    >>> print(spec_to_json({"label": FixedLenFeature([], "int64", 0), "ids": VarLenFeature("int64")}))
    {
      "label": {"feature": "FixedLen", "shape": [], "dtype": "int64", "default_value": 0},
      "ids": {"feature": "VarLen", "dtype": "int64"}
    }
    """
    lines = [f"  {json.dumps(key)}: {json.dumps(data)}" for key, data in spec_to_data(spec).items()]
    return "{\n" + ",\n".join(lines) + "\n}" if lines else "{}"


def spec_from_json(text: str | bytes) -> dict[str, FeatureSpec]:
    """Read a spec that `spec_to_json` wrote.

    Args:
        text: the JSON.

    Returns:
        The spec, in the order of the text.

    Raises:
        ValueError: it is not JSON, or not a spec.

    >>> spec_from_json('{"a": {"feature": "FixedLen", "shape": [2], "dtype": "float32"}}')
    {'a': FixedLenFeature(shape=[2], dtype='float32', default_value=None)}
    """
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(f"expected a spec as JSON but got {text!r:.60}: {error}") from error
    except RecursionError:
        raise ValueError(
            "expected the JSON form of a spec but got lists inside each other without end"
        ) from None
    return spec_from_data(data)


def spec_to_data(spec: Spec) -> dict[str, dict[str, Any]]:
    """Return a spec as dicts, lists, strings and numbers that `json` can write."""
    return {key: _feature_to_data(key, given) for key, given in spec.items()}


def spec_from_data(data: Mapping[str, Any]) -> dict[str, FeatureSpec]:
    """Make a spec of what `spec_to_data` gave."""
    if not isinstance(data, Mapping):
        raise ValueError(f"expected a JSON object of features but got {type(data).__name__}")
    return {key: _feature_from_data(key, given) for key, given in data.items()}


def _feature_to_data(key: str, given: Any) -> dict[str, Any]:
    feature = as_feature(given)
    if feature is None:
        raise TypeError(f"expected a feature for key {key!r} but got {type(given).__name__}")
    data: dict[str, Any] = {"feature": _NAMES[type(feature)]}
    for name, value in feature._asdict().items():
        try:
            plain = _field_to_data(name, value)
        except TypeError as error:
            raise TypeError(f"{name} of the feature {key!r}: {error}") from error
        if name not in _DEFAULTS or plain != _DEFAULTS[name]:
            data[name] = plain
    return data


def _field_to_data(name: str, value: Any) -> Any:
    if name in ("dtype", "row_splits_dtype"):
        return public_name(type_name(value))
    if name == "shape":
        dims = as_dims(value)
        return None if dims is None else list(dims)
    if name == "partitions":
        return [{"partition": type(part).__name__, **part._asdict()} for part in value]
    return _value_to_data(value)


def _value_to_data(value: Any) -> Any:
    if isinstance(value, bytes):
        return {"base64": base64.b64encode(value).decode()}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(float(value))}
    if value is None or isinstance(value, (str, int, float)):
        return value if value is None or type(value) in (bool, int) else _builtin(value)
    if isinstance(value, (list, tuple)):
        return [_value_to_data(item) for item in value]
    if isinstance(value, (np.ndarray, np.generic)):
        return _value_to_data(value.tolist())
    if hasattr(value, "numpy"):  # TensorFlow's tensors, torch's
        return _value_to_data(np.asarray(value.numpy()).tolist())
    raise TypeError(f"expected numbers, strings, bytes or lists of them but got {type(value).__name__}")


def _builtin(value: str | float) -> str | float:
    """Take off a subclass, such as numpy's float64 or an enum."""
    return str(value) if isinstance(value, str) else int(value) if isinstance(value, int) else float(value)


def _feature_from_data(key: str, data: Any) -> FeatureSpec:
    try:
        fields = dict(data) if isinstance(data, Mapping) else {}
        kind = fields.pop("feature", None)
        if kind not in _FEATURES or "dtype" not in fields:
            raise ValueError(f"it needs a dtype, and a feature that is one of {', '.join(_FEATURES)}")
        cls = _FEATURES[kind]
        if "partitions" in fields:
            fields["partitions"] = [_partition_from_data(part) for part in fields["partitions"]]
        if "default_value" in fields:
            fields["default_value"] = _value_from_data(fields["default_value"])
        as_dims(fields.get("shape"))
        type_name(fields["dtype"])
        feature: FeatureSpec = cls(**fields)
    except (TypeError, KeyError, AttributeError, ValueError) as error:
        raise ValueError(
            f"expected the JSON form of a feature for key {key!r} but got {data!r:.200}: {error}"
        ) from error
    return feature


def _partition_from_data(data: Any) -> Any:
    fields = dict(data)
    return PARTITIONS[fields.pop("partition")](**fields)


def _value_from_data(data: Any) -> Any:
    if isinstance(data, list):
        return [_value_from_data(item) for item in data]
    if isinstance(data, dict) and "base64" in data:
        return base64.b64decode(data["base64"], validate=True)
    if isinstance(data, dict):
        return float(data["float"])
    return data
