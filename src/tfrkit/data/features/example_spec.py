"""Element specs of parsed records: what a spec for Examples, or fields of messages, say about types and shapes.

Pure: no I/O.
"""

from __future__ import annotations

from typing import Any

from tfrkit.data.elements.structure_specs import batched
from tfrkit.model.dtypes import type_name
from tfrkit.model.element_spec import RaggedTensorSpec, SparseTensorSpec, TensorSpec
from tfrkit.model.shapes import as_dims
from tfrkit.model.specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    SparseFeature,
    Spec,
)
from tfrkit.parsing.parse import plan_of
from tfrkit.parsing.parse_sequence import sequence_plan_of
from tfrkit.parsing.payloads.parse_proto import ProtoSpec, fields_of
from tfrkit.parsing.payloads.proto_fields import ProtoColumn

__all__ = ["example_spec", "feature_spec", "list_spec", "proto_spec", "sequence_spec"]


def example_spec(features: Spec, records: Any) -> Any:
    """Return the element spec of parsed Examples.

    Args:
        features: the spec of the Examples.
        records: the element spec of the records: of single ones, or of batches.

    >>> from tfrkit.model.specs import VarLenFeature
    >>> example_spec({"a": VarLenFeature("int64")}, TensorSpec([8], "string"))
    {'a': RaggedTensorSpec(TensorShape([8, None]), tf.int64, 1, tf.int64)}
    """
    plan = plan_of(features)
    keys = plan.given or plan.keys
    single = {key: feature_spec(feature) for key, feature in zip(keys, plan.features.values(), strict=True)}
    size = _batch_size_of(records)
    return single if size == () else batched(single, *size)


def sequence_spec(context: Spec | None, sequence: Spec | None, records: Any) -> Any:
    """Return the element spec of parsed SequenceExamples: context and lists, of batches also lengths."""
    size = _batch_size_of(records)
    plan = sequence_plan_of(context, sequence)
    first, second = plan.rename(
        {key: feature_spec(feature) for key, feature in plan.features.items()},
        {key: list_spec(feature) for key, feature in plan.list_features.items()},
    )
    if size == ():
        return first, second
    lengths = {
        key: TensorSpec(size, "int64")
        for key, feature in zip(second, plan.list_features.values(), strict=True)
        if isinstance(feature, FixedLenSequenceFeature)
    }
    return batched(first, *size), batched(second, *size), lengths


def proto_spec(spec: ProtoSpec, records: Any) -> Any:
    """Return the element spec of parsed messages: each repeated field on a path is a dimension of any size."""
    single = {name: _proto_field(column) for name, column in fields_of(spec).columns.items()}
    size = _batch_size_of(records)
    return single if size == () else batched(single, *size)


def _proto_field(column: ProtoColumn) -> Any:
    levels = column.levels
    return (
        RaggedTensorSpec((None,) * levels, column.dtype, levels - 1)
        if levels
        else TensorSpec((), column.dtype)
    )


def list_spec(feature: FeatureSpec) -> Any:
    """That of a feature list: steps, each of which is what the feature is in a context."""
    if isinstance(feature, FixedLenSequenceFeature):
        return TensorSpec((None, *(as_dims(feature.shape) or ())), type_name(feature.dtype))
    return feature_spec(feature).batched(None)


def _batch_size_of(records: Any) -> tuple[()] | tuple[int | None]:
    """The first dimension of batches of records; () if they are single ones, or it is not known."""
    shape = getattr(records, "shape", None)
    return (shape[0],) if shape else ()


def feature_spec(feature: FeatureSpec) -> Any:
    """Return the element spec of a feature of one record."""
    dtype = type_name(feature.dtype)
    if isinstance(feature, FixedLenFeature | FixedLenSequenceFeature):
        return TensorSpec(feature.shape, dtype)  # of steps: compiled, it begins with None for their number
    if isinstance(feature, SparseFeature):
        sizes = [feature.size] if isinstance(feature.index_key, str) else feature.size
        return SparseTensorSpec(sizes, dtype)
    if isinstance(feature, RaggedFeature):
        return _ragged_spec(feature, dtype)
    return RaggedTensorSpec((None,), dtype, 0)


def _ragged_spec(feature: RaggedFeature, dtype: str) -> RaggedTensorSpec:
    shape: tuple[int | None, ...] = (None,)
    rank = 0
    for partition in reversed(feature.partitions):
        if isinstance(partition, RaggedFeature.UniformRowLength):
            shape = (None, int(partition.length), *shape[1:])
            rank += 1 if rank else 0
        else:
            shape = (None, *shape)
            rank += 1
    return RaggedTensorSpec(shape, dtype, rank, feature.row_splits_dtype)
