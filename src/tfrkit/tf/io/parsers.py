"""tf.io's parsers: those of `tfrkit.parsing`, with Tensors, and SparseTensors for lists of any length.

Nothing is copied. One example of a few features takes some microseconds, so that the path here is short.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np

from tfrkit.model import specs
from tfrkit.model.policy import TENSORFLOW
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.model.specs import Spec
from tfrkit.parsing import parse, parse_sequence
from tfrkit.parsing.parse_plan import ExamplesPlan, tensorflow_order
from tfrkit.parsing.payloads import decode_raw
from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.tf.tensors.dtype import as_dtype
from tfrkit.tf.tensors.tensor import Tensor

__all__ = [
    "RaggedFeature",
    "decode_raw_v1",
    "parse_example",
    "parse_example_v1",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_example_v1",
    "parse_single_sequence_example",
]


class RaggedFeature(specs.RaggedFeature):
    """`tfrkit.RaggedFeature` whose types are objects, as in TensorFlow; the parsers take either."""

    __slots__ = ()

    def __new__(
        cls,
        dtype: Any,
        value_key: str | None = None,
        partitions: Sequence[Any] = (),
        row_splits_dtype: Any = "int32",
        validate: bool = False,
    ) -> Self:
        """Check and keep the arguments.

        Raises:
            TypeError, ValueError: one is not possible; the text is TensorFlow's.
        """
        made = super().__new__(cls, dtype, value_key, partitions, row_splits_dtype, validate)
        return made._replace(dtype=as_dtype(dtype), row_splits_dtype=as_dtype(row_splits_dtype))


def parse_single_example(
    serialized: Any,
    features: Spec,
    example_names: Any = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Parse one serialised Example; see `tfrkit.parse_single_example`.

    Returns:
        A dict of Tensors; VarLenFeature and SparseFeature become SparseTensors, RaggedFeature with partitions
        RaggedTensors.
    """
    if type(serialized) is Tensor:
        serialized = serialized.value
    plan = parse.single_plan_of(features)
    names = None if example_names is None else unwrap(example_names)
    return _wrapped(parse.parse_one(plan, serialized, names, TENSORFLOW), plan)


def parse_example(
    serialized: Any,
    features: Spec,
    example_names: Any = None,
    name: str | None = None,
) -> dict[str, Any]:
    """Parse a batch of serialised Examples; see `tfrkit.parse_example`.

    Returns:
        As of `parse_single_example`, with the examples as first dimension.
    """
    batch = parse.parse_example(unwrap(serialized), features, unwrap(example_names), policy=TENSORFLOW)
    return _wrapped(batch, parse.plan_of(features))


def parse_single_sequence_example(
    serialized: Any,
    context_features: Spec | None = None,
    sequence_features: Spec | None = None,
    example_name: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse one serialised SequenceExample; see `tfrkit.parse_single_sequence_example`."""
    context, lists = parse_sequence.parse_single_sequence_example(
        unwrap(serialized), context_features, sequence_features, unwrap(example_name), policy=TENSORFLOW
    )
    return _sparse(context, context_features), _sparse(lists, sequence_features)


def parse_sequence_example(
    serialized: Any,
    context_features: Spec | None = None,
    sequence_features: Spec | None = None,
    example_names: Any = None,
    name: str | None = None,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parse a batch of serialised SequenceExamples; see `tfrkit.parse_sequence_example`."""
    context, lists, lengths = parse_sequence.parse_sequence_example(
        unwrap(serialized), context_features, sequence_features, unwrap(example_names), policy=TENSORFLOW
    )
    return _sparse(context, context_features), _sparse(lists, sequence_features), _in_order(lengths)


def parse_single_example_v1(
    serialized: Any, features: Spec, name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """The same with the arguments of TensorFlow 1."""
    return parse_single_example(serialized, features, example_names, name)


def parse_example_v1(
    serialized: Any, features: Spec, name: str | None = None, example_names: Any = None
) -> dict[str, Any]:
    """The same with the arguments of TensorFlow 1."""
    return parse_example(serialized, features, example_names, name)


def decode_raw_v1(
    input_bytes: Any = None,
    out_type: Any = None,
    little_endian: Any = True,
    name: str | None = None,
    bytes: Any = None,
) -> Tensor:
    """Numbers in strings, with the arguments of TensorFlow 1."""
    given = bytes if input_bytes is None else input_bytes
    return Tensor(decode_raw.decode_raw(unwrap(given), out_type, little_endian, None, name))


def _wrapped(found: dict[Any, Any], plan: ExamplesPlan) -> dict[str, Any]:
    """Make Tensors of what was parsed, in TensorFlow's order."""
    order = plan.tensorflow_order
    if not plan.dense:
        for key in plan.variable:
            found[key] = _as_sparse(found[key])
        return {key: wrap(found[key]) for key in order or found}
    if order is None:  # one pass in C: 0.1 us for each
        return dict(zip(found, map(Tensor, found.values()), strict=True))
    return dict(zip(order, map(Tensor, map(found.__getitem__, order)), strict=True))


def _sparse(found: dict[Any, Any], features: Spec | None) -> dict[str, Any]:
    """Make Tensors of what was parsed, SparseTensors for features of any length, in TensorFlow's order."""
    for key, feature in (features or {}).items():
        if type(feature).__name__ == "VarLenFeature":
            found[key] = _as_sparse(found[key])
    return {key: wrap(found[key]) for key in tensorflow_order(features or {})}


def _in_order(lengths: dict[str, Any]) -> dict[str, Any]:
    return {key: wrap(lengths[key]) for key in sorted(lengths)}


def _as_sparse(value: Any) -> Sparse:
    """Values of one example, or rows of them, with their places."""
    if isinstance(value, Ragged):
        return value.to_sparse()
    count = len(value)
    return Sparse.unchecked(np.arange(count).reshape(count, 1), value, np.array([count]))
