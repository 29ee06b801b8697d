"""Batches of elements against tf.data's batch: structures, types, ragged and sparse values, and errors."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.oracle.support.oracle import Failure, tensorflow
from tests.oracle.support.parsed import core, plain
from tfrkit import BytesColumn, Ragged, Sparse
from tfrkit.data.batch.collate import collate
from tfrkit.data.elements.structure import map_structure


def _to_tf(leaf: Any) -> Any:
    tf = tensorflow()
    if isinstance(leaf, Ragged):
        return tf.RaggedTensor.from_row_splits(_to_tf(leaf.values), leaf.row_splits)
    if isinstance(leaf, Sparse):
        return tf.SparseTensor(leaf.indices, _to_tf(leaf.values), leaf.dense_shape)
    if isinstance(leaf, BytesColumn):
        return tf.constant(leaf.to_numpy(), tf.string)
    return tf.constant(leaf)


def _spec_of(tensor: Any) -> Any:
    """A spec that leaves open what may differ from element to element."""
    tf = tensorflow()
    if isinstance(tensor, tf.RaggedTensor):
        shape = [None] * len(tensor.shape)
        return tf.RaggedTensorSpec(shape, tensor.dtype, tensor.ragged_rank, tensor.row_splits.dtype)
    if isinstance(tensor, tf.SparseTensor):
        return tf.SparseTensorSpec(None, tensor.dtype)
    return tf.TensorSpec(None, tensor.dtype)


def _theirs(elements: list[Any]) -> Any:
    tf = tensorflow()
    tensors = [map_structure(_to_tf, element) for element in elements]
    signature = map_structure(_spec_of, tensors[0])
    dataset = tf.data.Dataset.from_generator(lambda: iter(tensors), output_signature=signature)
    return _outcome(lambda: next(iter(dataset.batch(len(elements)))))


def _outcome(call: Any) -> Any:
    try:
        return plain(call())
    except Exception as error:
        return Failure(type(error).__name__, core(str(getattr(error, "message", error))))


def _check(elements: list[Any]) -> Any:
    expected = _theirs(elements)
    assert _outcome(lambda: collate(elements)) == expected
    return expected


def _element(a: Any, b: Any, c: Any) -> dict[str, Any]:
    """Components 2, 0 and 1: TensorFlow sorts keys."""
    return {"z": np.zeros(a), "a": (np.zeros(b, np.int32), BytesColumn.from_list(np.full(c, b"t", object)))}


@pytest.mark.parametrize(
    "dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "uint64", "float16", "float32", "float64"]
)
def test_scalars_and_arrays_keep_their_type(dtype):
    kind = np.dtype(dtype).type
    _check([{"s": kind(i), "v": np.full((2, 1), i, dtype)} for i in range(3)])


def test_structures():
    _check([{"b": (np.int64(i), {"z": np.float32(i)}), "a": b"x" * i, "c": ()} for i in range(3)])
    _check([(np.int64(i), b"") for i in range(1)])


def test_bytes_of_several_dimensions():
    _check([BytesColumn.from_list([b"a", b"\0\xff"]), BytesColumn.from_list([b"", b"c"])])
    _check([BytesColumn.from_list(np.array([[b"a"], [b"b"]], object))] * 2)


@pytest.mark.parametrize(
    ("elements", "message"),
    [
        ([_element(1, 2, 2), _element(2, 2, 2)], r"component 2\. .* \[1\] and element 1 had shape \[2\]\."),
        ([_element(1, 2, 2), _element(1, 2, 3)], r"component 1\. .* \[2\] and element 1 had shape \[3\]\."),
        (
            [_element(1, 2, 2), _element(1, 2, 3), _element(1, 3, 2)],
            r"component 0\. .* \[2\] and element 2 had shape \[3\]\.",
        ),
        ([_element((), 2, 2), _element(1, 2, 2)], r"component 2\. .* \[\] and element 1 had shape \[1\]\."),
        (
            [_element((2, 3), 2, 2), _element((3, 2), 2, 2)],
            r"component 2\. .* \[2,3\] and element 1 had shape \[3,2\]\.",
        ),
        (
            [_element(0, 2, 2), _element((0, 0), 2, 2)],
            r"component 2\. .* \[0\] and element 1 had shape \[0,0\]\.",
        ),
    ],
)
def test_different_shapes(elements, message):
    failure = _check(elements)
    assert failure.name == "InvalidArgumentError"
    assert re.fullmatch(f"Cannot batch tensors with different shapes in {message}", failure.message)


def test_ragged():
    _check([Ragged.from_list([[1], [2, 3]]), Ragged.from_list([[4, 5, 6]])])
    _check([Ragged.from_list([[[1], [2, 3]], []]), Ragged.from_list([[[4, 5, 6]]])])
    _check([Ragged.from_list([[b"a"], [b"b", b"c"]]), Ragged.from_list([[], [b""]])])
    _check([Ragged(np.arange(3.0), np.array([0, 2, 3], np.int32))] * 2)
    _check([Ragged(np.arange(6).reshape(3, 2), [0, 2, 3]), Ragged(np.arange(2).reshape(1, 2), [0, 1])])


def test_ragged_values_of_different_shapes():
    parts = [Ragged(np.arange(2).reshape(1, 2), [0, 1]), Ragged(np.arange(3).reshape(1, 3), [0, 1])]
    assert _check(parts).message.startswith("All flat_values must have compatible shapes.")


def test_sparse():
    _check([Sparse([[0], [2]], [1, 2], [4]), Sparse([[1]], [3], [4])])
    _check([Sparse([[0], [2]], [1, 2], [4]), Sparse([[1]], [3], [7])])
    _check([Sparse([[0], [2]], [1, 2], [4]), Sparse([[1]], [3], [2])])
    _check([Sparse([[0, 1]], [1], [2, 3]), Sparse([[1, 0], [1, 1]], [3, 4], [5, 2])])
    _check([Sparse([[2], [0]], [1, 2], [4]), Sparse([[1], [1]], [3, 4], [7])])
    _check([Sparse(np.zeros((0, 1), int), np.zeros(0), [4]), Sparse([[1]], [3.5], [7])])
    _check([Sparse([[1]], BytesColumn.from_list([b"t"]), [2])] * 2)


def test_sparse_of_different_rank():
    failure = _check([Sparse([[2]], [1], [4]), Sparse([[1, 0]], [3], [2, 7])])
    assert failure.message.startswith(
        "Inconsistent shape across SparseTensors: rank prior to SparseTensor[1] was: 1"
    )


def test_ragged_and_sparse_are_one_component_each():
    first = (Ragged.from_list([[1]]), np.zeros(1), Sparse([[0]], [1], [4]), np.zeros(1))
    assert "component 3" in _check([first, (*first[:3], np.zeros(2))]).message
    assert "component 1" in _check([first, (first[0], np.zeros(2), *first[2:])]).message


SHAPES = st.sampled_from([(), (1,), (2,), (2, 1), (0,)])
TYPES = st.sampled_from(["int64", "float32", "bool", "bytes"])
STRUCTURES = st.recursive(
    st.tuples(TYPES, SHAPES).map(list),  # a list is a leaf
    lambda inner: (
        st.dictionaries(st.sampled_from("cab"), inner, min_size=1, max_size=3)
        | st.lists(inner, min_size=1, max_size=3).map(tuple)
    ),
    max_leaves=5,
)


def _make(leaf: list[Any], shape: tuple[int, ...], seed: int) -> Any:
    values = np.random.default_rng(seed).integers(0, 3, shape)
    if leaf[0] == "bytes":
        texts = np.array([b"x" * value for value in values.ravel().tolist()], object)
        return BytesColumn.from_list(texts.reshape(shape)) if shape else texts.item()
    return values.astype(leaf[0])[()]


@settings(max_examples=40)
@given(STRUCTURES, st.integers(1, 4), st.data())
def test_random_structures_with_and_without_an_odd_shape(structure, count, data):
    odd = data.draw(st.integers(0, 2 * count), label="element of other shapes, if there is one")
    other = data.draw(SHAPES)
    elements = [
        map_structure(lambda leaf: _make(leaf, other if number == odd else leaf[1], number), structure)  # noqa: B023
        for number in range(count)
    ]
    _check(elements)
