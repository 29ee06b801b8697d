"""Values in memory as elements, and elements put together and taken apart: tfrkit against tf.data, live.

The stages before and after them (map, shuffle and so on) have their own files.
"""

from __future__ import annotations

from collections import OrderedDict, namedtuple
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.spaces import Space
from tests.oracle.support.data_scenarios import agree, agree_on, fails, ours, theirs
from tests.oracle.support.oracle import tensorflow
from tests.support.rules import tf_rule

Point = namedtuple("Point", "x y")  # noqa: PYI024


def ragged(lib: Space, rows: list[Any], dtype: str = "int64") -> Any:
    """Rows of different lengths in the library's own class."""
    if lib.name == "TensorFlow":
        return tensorflow().ragged.constant(rows, dtype)
    return tfr.Ragged.from_list(rows, None if dtype == "string" else dtype)


def sparse(lib: Space, dense: list[Any]) -> Any:
    """A sparse array in the library's own class."""
    array = np.array(dense)
    indices, values, shape = np.argwhere(array), array[array != 0], array.shape
    if lib.name == "TensorFlow":
        return tensorflow().SparseTensor(indices, values, shape)
    return tfr.Sparse(indices, values, shape)


VALUES = {
    "ints": [1, 2],
    "matrix": [[1, 2], [3, 4]],
    "floats": [1.5, 2],
    "an int before a float": [1, 2.5],
    "strings": ["a", b"\xff"],
    "large ints": [2**40, 1],
    "too large ints": [2**70],
    "bools": [True, False],
    "an int before a bool": [1, True],
    "a bool before an int": [True, 1],
    "numpy ints in a list": [np.int64(1), np.int64(2)],
    "numpy doubles in a list": [np.float64(1.5)],
    "complex": [1 + 2j],
    "arrays in a list": [np.arange(2), np.arange(2)],
    "tuples in a list": [(1, 2), (3, 4)],
    "dicts in a list": [{"a": 1}],
    "range": range(3),
    "empty list": [],
    "uneven": [[1], [2, 3]],
    "int64 array": np.arange(3),
    "float32 array": np.float32([1, 2]),
    "uint16 array": np.arange(3, dtype=np.uint16),
    "big endian array": np.arange(3, dtype=">i4"),
    "array of str": np.array(["a", "bc"]),
    "array of S": np.array([b"a", b"bc"]),
    "array of objects": np.array([[b"a"], ["\u00fc"]], object),
    "array of mixed objects": np.array([1, "a"], object),
    "array of dates": np.array([1], "M8[s]"),
    "no columns": np.zeros((2, 0)),
    "tuple": ([1, 2], ["a", "b"]),
    "dict": {"b": [1, 2], "a": [3.5, 4]},
    "ordered dict": OrderedDict(b=[1], a=[2]),
    "named tuple": Point([1], [2]),
    "nested": {"a": [1], "b": ([2], {"c": ["x"]})},
    "different lengths": ([1, 2], [3]),
    "int": 5,
    "large int": 2**40,
    "huge int": 2**64,
    "float": 1.5,
    "huge float": 1e300,
    "nan": float("nan"),
    "bool": True,
    "str": "\u00fc",
    "bytes": b"\x00\xff",
    "numpy scalar": np.uint8(3),
    "0-d array": np.array(2.5),
    "scalars in a tuple": (1, [2]),
    "none": None,
    "none in a tuple": ([1, 2], None),
    "set": {1, 2},
    "empty dict": {},
    "empty tuple": (),
}


@tf_rule("5 from_tensor_slices")
@tf_rule("5 from_tensor_slices types")
@pytest.mark.parametrize("name", VALUES)
def test_from_tensor_slices_converts_as_tensorflow(name):
    agree(lambda lib: lib.Dataset.from_tensor_slices(VALUES[name]))


@tf_rule("5 from_tensors")
@pytest.mark.parametrize(
    "name", [name for name in VALUES if name not in {"none", "empty dict", "empty tuple"}]
)
def test_from_tensors_converts_as_tensorflow(name):
    agree(lambda lib: lib.Dataset.from_tensors(VALUES[name]))


@tf_rule("5 from_tensors")
@pytest.mark.parametrize("value", [None, (), {}], ids=str)
def test_from_tensors_needs_a_value(value):
    for lib in (theirs(), ours()):  # which attribute TensorFlow names is not always the same
        with pytest.raises(
            Exception, match=r"Length for attr '\w+' of 0 must be at least minimum 1"
        ) as caught:
            lib.Dataset.from_tensors(value)
        assert type(caught.value).__name__ == "InvalidArgumentError"


@tf_rule("5 from_tensor_slices")
@tf_rule("5 from_tensor_slices sizes")
@tf_rule("5 from_tensor_slices scalar")
def test_from_tensor_slices_errors():
    agree(
        lambda lib: lib.Dataset.from_tensor_slices(([1, 2], [3])),
        fails("ValueError", "Dimensions 2 and 1 are not compatible"),
    )
    agree(
        lambda lib: lib.Dataset.from_tensor_slices((5, [3])),
        fails("ValueError", "Unbatching a tensor is only supported for rank >= 1"),
    )
    agree(
        lambda lib: lib.Dataset.from_tensor_slices(sparse(lib, [1, 0, 2])),
        fails("InvalidArgumentError", "Rank of input SparseTensor should be > 1, but saw rank: 1"),
    )


@tf_rule("5 from_tensor_slices")
@tf_rule("5 from_tensor_slices ragged")
def test_ragged_and_sparse_are_sliced_by_rows():
    agree(lambda lib: lib.Dataset.from_tensor_slices(ragged(lib, [[1, 2], [], [3]])), [[1, 2], [], [3]])
    agree(lambda lib: lib.Dataset.from_tensor_slices(ragged(lib, [["a", "b"], []], "string")))
    agree(lambda lib: lib.Dataset.from_tensor_slices(ragged(lib, [[[1], [2, 3]], [[4]], []])))
    agree(lambda lib: lib.Dataset.from_tensor_slices(sparse(lib, [[1, 0], [0, 2], [0, 0]])))
    agree(
        lambda lib: lib.Dataset.from_tensor_slices(
            {"r": ragged(lib, [[1], []]), "s": sparse(lib, [[0], [7]])}
        )
    )


@tf_rule("5 from_tensors")
def test_ragged_and_sparse_are_elements():
    agree(lambda lib: lib.Dataset.from_tensors((ragged(lib, [[1, 2], []]), sparse(lib, [[1, 0]]))))


SOURCES = {
    "numbers": lambda lib: lib.Dataset.range(7),
    "strings": lambda lib: lib.Dataset.from_tensor_slices(["a", "", "ccc", "dd", "e"]),
    "arrays": lambda lib: lib.Dataset.from_tensor_slices(np.arange(10.0).reshape(5, 2)),
    "matrices of strings": lambda lib: lib.Dataset.from_tensor_slices(
        [[["a", "b"]], [["c", "d"]], [["e", "f"]]]
    ),
    "ragged": lambda lib: lib.Dataset.from_tensor_slices(ragged(lib, [[1, 2], [], [3], [4, 5, 6], [7]])),
    "ragged strings": lambda lib: lib.Dataset.from_tensor_slices(
        ragged(lib, [["a"], ["b", "c"], []], "string")
    ),
    "deep ragged": lambda lib: lib.Dataset.from_tensor_slices(ragged(lib, [[[1], [2, 3]], [], [[4]]])),
    "sparse": lambda lib: lib.Dataset.from_tensor_slices(sparse(lib, [[1, 0], [0, 2], [0, 0], [5, 6]])),
    "dict": lambda lib: lib.Dataset.from_tensor_slices({"b": [1, 2, 3], "a": ([4.5, 5, 6], ["x", "y", "z"])}),
    "one": lambda lib: lib.Dataset.from_tensors((1, "a")),
    "one ragged": lambda lib: lib.Dataset.from_tensors(ragged(lib, [[1, 2], [3]])).repeat(3),
    "one sparse": lambda lib: lib.Dataset.from_tensors(sparse(lib, [[0, 2], [3, 0]])).repeat(3),
    "empty": lambda lib: lib.Dataset.from_tensor_slices([]),
    "batches": lambda lib: lib.Dataset.range(7).batch(2),
}


@tf_rule("5 batch")
@tf_rule("5 batch spec")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("size", [1, 2, 3, 100])
@pytest.mark.parametrize("source", [name for name in SOURCES if name != "batches"])
def test_batch(source, size, drop):
    agree(lambda lib: SOURCES[source](lib).batch(size, drop_remainder=drop))


@tf_rule("5 batch")
@tf_rule("5 batch size")
@tf_rule("5 batch shapes")
def test_batch_errors():
    text = "Cannot batch tensors with different shapes in component 0. First element had shape [1] and element 1 had "
    case = lambda lib: lib.Dataset.from_tensors([1]).concatenate(lib.Dataset.from_tensors([1, 2]))  # noqa: E731
    agree(lambda lib: case(lib).repeat(2).batch(2), [fails("InvalidArgumentError", f"{text}shape [2].")] * 2)
    agree(
        lambda lib: lib.Dataset.range(5).batch(2).batch(2),
        [[[0, 1], [2, 3]], [[4]]],
    )
    agree(
        lambda lib: lib.Dataset.range(3).batch(2).batch(2),
        [fails("InvalidArgumentError", text.replace("[1]", "[2]") + "shape [1].")],
    )
    for size in (0, -1):
        agree(
            lambda lib, size=size: lib.Dataset.range(5).batch(size),
            fails("InvalidArgumentError", "Batch size must be greater than zero."),
        )


@tf_rule("5 padded_batch")
@tf_rule("5 padded_batch default")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize(
    "source", ["numbers", "strings", "arrays", "matrices of strings", "dict", "one", "empty", "batches"]
)
def test_padded_batch_without_arguments(source, drop):
    agree(lambda lib: SOURCES[source](lib).padded_batch(2, drop_remainder=drop))


def lists(lib: Space) -> Any:
    """Vectors of 1 to 3 numbers."""
    return (
        lib.Dataset.range(6)
        .batch(3)
        .concatenate(lib.Dataset.range(4).batch(2))
        .concatenate(lib.Dataset.range(1).batch(1))
    )


def grids(lib: Space) -> Any:
    """Matrices of several shapes, with a name."""
    parts = [
        lib.Dataset.from_tensors((np.ones((n, 3 - n), np.float32), np.array(["x"] * n, object)))
        for n in range(4)
    ]
    return parts[0].concatenate(parts[1]).concatenate(parts[2]).concatenate(parts[3])


@tf_rule("5 padded_batch")
@pytest.mark.parametrize(
    "shape",
    [None, [None], [-1], [3], [5], 5, (5,), np.array([4]), [2], [], [5, 5], ["a"], ([5],), {"a": [5]}, [1.5]],
    ids=str,
)
def test_padded_shapes_of_one_component(shape):
    agree(lambda lib: lists(lib).padded_batch(2, padded_shapes=shape))


@tf_rule("5 padded_batch")
@pytest.mark.parametrize(
    "value",
    [None, np.int64(-1), -1, 1.5, "x", [1], np.int64([1]), (np.int64(1),), True],
    ids=["none", "int64", "int", "float", "str", "list", "array", "tuple", "bool"],
)
def test_padding_values_of_one_component(value):
    agree(lambda lib: lists(lib).padded_batch(2, padding_values=value))


@tf_rule("5 padded_batch")
@pytest.mark.parametrize(
    ("shapes", "values"),
    [
        (None, None),
        (([None, None], [None]), (-1.0, "z")),
        (([3, 4], [3]), (None, b"z")),
        (([None, 5], [None]), None),
        (([None, 1], [None]), None),
        (([None], [None]), None),
        (([None, None],), None),
        (([None, None], None), None),
        ([[None, None], [None]], None),
        ({"a": [None, None], "b": [None]}, None),
        (None, (0.5,)),
        (None, ("z", -1.0)),
        (None, 0),
    ],
    ids=str,
)
def test_padded_batch_of_two_components(shapes, values):
    agree(lambda lib: grids(lib).padded_batch(3, padded_shapes=shapes, padding_values=values))


@tf_rule("5 padded_batch")
@tf_rule("5 padded_batch too small")
@tf_rule("5 padded_batch types")
@tf_rule("5 padded_batch rank")
def test_padded_batch_errors():
    agree(
        lambda lib: lists(lib).padded_batch(2, padded_shapes=[2]),
        [
            fails("DataLossError", "Attempted to pad to a smaller size than the input element."),
            [[0, 1], [2, 3]],
            [[0, 0]],
        ],
    )
    agree(
        lambda lib: lists(lib).padded_batch(2, padding_values=1.0),
        fails(
            "TypeError",
            "Invalid `padding_values`. `padding_values` values type <dtype: 'float32'> does not match type "
            "<dtype: 'int64'> of the corresponding input component.",
        ),
    )
    agree(
        lambda lib: lib.Dataset.from_tensors(sparse(lib, [[1]])).padded_batch(2),
        fails("TypeError", "`padded_batch` is only supported for datasets that produce tensor elements"),
    )
    unranked = lambda lib: lib.Dataset.from_tensors([1]).concatenate(lib.Dataset.from_tensors([[1]]))  # noqa: E731
    agree(
        lambda lib: unranked(lib).padded_batch(2),
        fails(
            "ValueError", "You must provide `padded_shapes` argument because component 0 has unknown rank."
        ),
    )
    agree(lambda lib: unranked(lib).padded_batch(1, padded_shapes=[None]))
    agree(lambda lib: unranked(lib).padded_batch(2, padded_shapes=[None, None]))
    agree(
        lambda lib: lib.Dataset.range(5).padded_batch(0),
        fails("InvalidArgumentError", "Batch size must be greater than zero."),
    )


@tf_rule("5 ragged_batch")
@pytest.mark.parametrize("drop", [False, True])
@pytest.mark.parametrize("source", SOURCES)
def test_ragged_batch(source, drop):
    agree(lambda lib: SOURCES[source](lib).ragged_batch(2, drop_remainder=drop))


@tf_rule("5 ragged_batch")
@tf_rule("5 ragged_batch splits")
def test_ragged_batch_of_more_dimensions():
    agree(lambda lib: grids(lib).ragged_batch(2))
    agree(lambda lib: lists(lib).ragged_batch(3, row_splits_dtype=np.int32))
    agree(lambda lib: lib.Dataset.range(4).batch(2).batch(2).ragged_batch(2))
    agree(lambda lib: lib.Dataset.from_tensor_slices(np.zeros((5, 2, 3))).batch(2).ragged_batch(2))
    agree(
        lambda lib: lib.Dataset.range(5).ragged_batch(0),
        fails("InvalidArgumentError", "Batch size must be greater than zero."),
    )


@tf_rule("5 unbatch")
@pytest.mark.parametrize("source", SOURCES)
def test_unbatch_undoes_batch(source):
    agree(
        lambda lib: (
            SOURCES[source](lib).batch(2).unbatch() if source != "batches" else SOURCES[source](lib).unbatch()
        )
    )


@tf_rule("5 unbatch")
def test_unbatch_of_what_was_never_a_batch():
    agree(lambda lib: lib.Dataset.from_tensors(ragged(lib, [[1, 2], [3]])).unbatch(), [[1, 2], [3]])
    agree(
        lambda lib: lib.Dataset.from_tensors(
            ([1, 2], ragged(lib, [[1, 2], [3]]), sparse(lib, [[0, 1], [2, 0]]))
        ).unbatch()
    )
    agree(lambda lib: lib.Dataset.range(6).batch(2, drop_remainder=True).unbatch())
    agree(lambda lib: lib.Dataset.from_tensors(np.zeros((0, 2))).repeat(2).unbatch(), [])
    agree(lambda lib: lib.Dataset.range(6).batch(2).repeat().unbatch(), limit=20)


@tf_rule("5 unbatch")
@tf_rule("5 unbatch static")
@tf_rule("5 unbatch dynamic")
def test_unbatch_errors():
    agree(
        lambda lib: lib.Dataset.range(3).unbatch(),
        fails("ValueError", "Cannot unbatch an input with scalar components."),
    )
    agree(
        lambda lib: lib.Dataset.from_tensors(([1, 2], [3])).unbatch(),
        fails(
            "ValueError",
            "`unbatch()` is only supported for datasets of elements whose components have a matching",
        ),
    )
    one = lambda lib: lib.Dataset.zip(lib.Dataset.range(6).batch(2), lib.Dataset.range(5).batch(2))  # noqa: E731
    agree(
        lambda lib: one(lib).unbatch(),
        [
            *[(number, number) for number in range(4)],
            fails(
                "InvalidArgumentError",
                "Input element must have the same batch size in each component. "
                "Component 0 had size 2 but component 1 had size, 1.",
            ),
        ],
    )


@tf_rule("5 reduce")
def test_reduce_refuses_a_state_of_another_type():
    agree_on(lambda lib: lib.Dataset.range(3).reduce(np.int64(5), lambda s, x: s + x), 8)
    agree_on(
        lambda lib: lib.Dataset.range(3).reduce(np.int64(0), lambda s, x: lib.cast(s + x, "float32")),
        fails(
            "TypeError",
            "The element types for the new state must match the initial state. Expected <dtype: 'int64'>",
        ),
    )
    agree_on(
        lambda lib: lib.Dataset.range(3).reduce(np.int64(0), lambda s, x: (s, x)),
        fails(
            "InvalidArgumentError",
            "The number of components of the initial state and the reduce function output",
        ),
    )


@tf_rule("5 map unsupported result")
@pytest.mark.parametrize("value", [{1, 2}, len, {"a": {3}}], ids=repr)
def test_a_result_that_is_no_tensor(value):
    found = [refused(lib, value) for lib in (theirs(), ours())]
    assert [name for name, _ in found] == ["TypeError", "TypeError"]
    assert all(
        "Unsupported return value from function passed to Dataset.map(): " in text for _, text in found
    )


@tf_rule("5 map unsupported result")
def test_a_function_that_returns_nothing():
    found = [refused(lib, None) for lib in (theirs(), ours())]
    assert [name for name, _ in found] == ["InvalidArgumentError", "InvalidArgumentError"]
    assert all("of 0 must be at least minimum 1" in text for _, text in found)


def refused(lib, value):
    try:
        list(lib.Dataset.range(1).map(lambda _: value))
    except Exception as error:
        return type(error).__name__, str(error)
    return None, ""
