"""tf.io's parsers: those of `tfrkit.examples`, with Tensors, and SparseTensors for lists of any length.

Nothing is copied. One example of a few features costs some microseconds, so there is no detour here.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.examples import parse, parse_sequence
from tfrkit.model.policy import TENSORFLOW
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.model.specs import Spec
from tfrkit.tf.lift import unwrap, wrap
from tfrkit.tf.sparse_tensor import SparseTensor
from tfrkit.tf.tensor import Tensor

__all__ = [
    "parse_example",
    "parse_sequence_example",
    "parse_single_example",
    "parse_single_sequence_example",
]


def parse_single_example(
    serialized: Any,
    features: Spec,
    example_names: Any = None,
    name: str | None = None,  # noqa: ARG001
) -> dict[str, Any]:
    """Parse one serialised Example; see `tfrkit.parse_single_example`.

    Returns:
        A dict of Tensors; VarLenFeature and SparseFeature give SparseTensors, RaggedFeature with partitions
        RaggedTensors.
    """
    if type(serialized) is Tensor:
        serialized = serialized.value
    row = parse.parse_single_example(serialized, features, unwrap(example_names), policy=TENSORFLOW)
    return _wrapped(row, features)


def parse_example(
    serialized: Any,
    features: Spec,
    example_names: Any = None,
    name: str | None = None,  # noqa: ARG001
) -> dict[str, Any]:
    """Parse a batch of serialised Examples; see `tfrkit.parse_example`.

    Returns:
        As of `parse_single_example`, with the examples as first dimension.
    """
    batch = parse.parse_example(unwrap(serialized), features, unwrap(example_names), policy=TENSORFLOW)
    return _wrapped(batch, features)


def parse_single_sequence_example(
    serialized: Any,
    context_features: Spec | None = None,
    sequence_features: Spec | None = None,
    example_name: Any = None,
    name: str | None = None,  # noqa: ARG001
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parse one serialised SequenceExample; see `tfrkit.parse_single_sequence_example`."""
    context, lists = parse_sequence.parse_single_sequence_example(
        unwrap(serialized), context_features, sequence_features, unwrap(example_name), policy=TENSORFLOW
    )
    return _wrapped(context, context_features), _wrapped(lists, sequence_features)


def parse_sequence_example(
    serialized: Any,
    context_features: Spec | None = None,
    sequence_features: Spec | None = None,
    example_names: Any = None,
    name: str | None = None,  # noqa: ARG001
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Parse a batch of serialised SequenceExamples; see `tfrkit.parse_sequence_example`."""
    context, lists, lengths = parse_sequence.parse_sequence_example(
        unwrap(serialized), context_features, sequence_features, unwrap(example_names), policy=TENSORFLOW
    )
    return _wrapped(context, context_features), _wrapped(lists, sequence_features), wrap(lengths)


def _wrapped(found: dict[str, Any], features: Spec | None) -> dict[str, Any]:
    """Make Tensors of what was parsed, in place."""
    for key, value in found.items():
        kind = type(value)
        if kind is np.ndarray or kind is bytes or isinstance(value, np.generic):
            found[key] = Tensor(value)
        else:
            found[key] = wrap(value)
    if features is not None:
        for key, feature in features.items():
            if type(feature).__name__ == "VarLenFeature":
                found[key] = SparseTensor.of(_as_sparse(unwrap(found[key])))
    return found


def _as_sparse(value: Any) -> Sparse:
    """Values of one example, or rows of them, with their places."""
    if isinstance(value, Ragged):
        return value.to_sparse()
    count = len(value)
    return Sparse.unchecked(np.arange(count).reshape(count, 1), value, np.array([count]))
