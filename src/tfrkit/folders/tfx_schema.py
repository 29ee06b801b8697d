"""schema.pbtxt of TFX and TensorFlow Data Validation to a spec, by the rules of TensorFlow Transform. Pure: no I/O.

A feature with a shape, or with the same number of values in every example, has that length if no example may be without
it; every other one has any number of values. Features that are not of the data yet or any more are left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Final

from tfrkit.folders.proto_text import TextMessage, parse_proto_text
from tfrkit.model.specs import FeatureSpec, FixedLenFeature, SparseFeature, VarLenFeature

__all__ = ["TfxSchema", "read_tfx_schema"]

_TYPES: Final = {
    "BYTES": "bytes",
    "INT": "int64",
    "FLOAT": "float32",
    "1": "bytes",
    "2": "int64",
    "3": "float32",
}
_UNUSED: Final = frozenset(
    ["PLANNED", "ALPHA", "DEPRECATED", "DEBUG_ONLY", "DISABLED", "1", "2", "5", "6", "7"]
)
_MOST_VALUES: Final = 1 << 31  # of a feature in an example
_MAX_DIMS: Final = 32


@dataclass(frozen=True, slots=True)
class TfxSchema:
    """What a schema says of the features of Examples.

    Attributes:
        spec: of each.
        domains: the values that a feature of strings may have, by feature, where that is said.
        left_out: features of types that an Example has none of.
    """

    spec: dict[str, FeatureSpec]
    domains: dict[str, tuple[str, ...]]
    left_out: tuple[str, ...]


def read_tfx_schema(data: bytes, path: str) -> TfxSchema:
    """Return what a schema.pbtxt says.

    Raises:
        DataLossError: it is not such a file.

    >>> text = b'feature { name: "x" type: INT presence { min_fraction: 1.0 } shape { dim { size: 1 } } }'
    >>> read_tfx_schema(text, "schema.pbtxt").spec
    {'x': FixedLenFeature(shape=[1], dtype='int64', default_value=None)}
    """
    schema = parse_proto_text(data, path)
    features = {feature.text("name"): feature for feature in schema.messages("feature")}
    if not features or "" in features:
        raise schema.error("expected a schema: features, each with a name")
    sparse = [each for each in schema.messages("sparse_feature") if _is_used(each)]
    spec: dict[str, FeatureSpec] = {each.text("name"): _sparse_spec(each, features) for each in sparse}
    parts = {
        key for each in sparse for key in (*_index_keys(each), each.message("value_feature").text("name"))
    }
    left = {name: each for name, each in features.items() if name not in parts and _is_used(each)}
    spec |= {name: found for name, each in left.items() if (found := _spec(each)) is not None}
    shared = {domain.text("name"): domain for domain in schema.messages("string_domain")}
    domains = {
        name: tuple(shared.get(each.text("domain"), each.message("string_domain")).texts("value"))
        for name, each in left.items()
    }
    return TfxSchema(
        spec,
        {name: values for name, values in domains.items() if values and name in spec},
        tuple(name for name in left if name not in spec),
    )


def _is_used(feature: TextMessage) -> bool:
    return feature.text("deprecated") != "true" and feature.text("lifecycle_stage") not in _UNUSED


def _spec(feature: TextMessage) -> FeatureSpec | None:
    """Return the spec of a feature; None if its type is none of an Example."""
    dtype = _TYPES.get(feature.text("type"))
    if dtype is None:
        return None
    shape = _shape(feature)
    required = feature.message("presence").decimal("min_fraction") == 1
    return VarLenFeature(dtype) if shape is None or not required else FixedLenFeature(shape, dtype)


def _shape(feature: TextMessage) -> list[int] | None:
    """Return the shape that every value has; None if there is none."""
    if "shape" in feature:
        sizes = [dim.number("size") for dim in feature.message("shape").messages("dim")]
    else:
        counts = feature.message("value_count")
        least, most = counts.number("min", -1), counts.number("max", -2)
        sizes = [most if least == most else 0]
    if any(size < 1 for size in sizes):
        return None
    if len(sizes) > _MAX_DIMS or prod(sizes) >= _MOST_VALUES:
        raise feature.error(f"expected a shape of fewer than 2**31 values but got {sizes!r:.60}")
    return sizes


def _sparse_spec(sparse: TextMessage, features: dict[str, TextMessage]) -> SparseFeature:
    keys, value_key = _index_keys(sparse), sparse.message("value_feature").text("name")
    absent = [key for key in (*keys, value_key) if key not in features]
    if absent or not keys:
        raise sparse.error(
            f"expected names of index and value features of the schema but got {absent or keys}"
        )
    sizes = [dim.number("size") for dim in sparse.message("dense_shape").messages("dim")]
    sizes = sizes or [features[key].message("int_domain").number("max") + 1 for key in keys]
    dtype = _TYPES.get(features[value_key].text("type"))
    if dtype is None or len(sizes) != len(keys) or any(not 0 < size < 1 << 62 for size in sizes):
        raise sparse.error("expected the type of its values and the size of each dimension in the schema")
    is_sorted = sparse.text("is_sorted") == "true"
    if len(keys) == 1:
        return SparseFeature(keys[0], value_key, dtype, sizes[0], is_sorted)
    return SparseFeature(keys, value_key, dtype, sizes, is_sorted)


def _index_keys(sparse: TextMessage) -> list[str]:
    return [each.text("name") for each in sparse.messages("index_feature")]
