"""Lists of elements become one batch."""

from __future__ import annotations

import gc
import sys
import threading
import tracemalloc
from collections import OrderedDict, namedtuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit.data.batch import collate as module
from tfrkit.data.batch.collate import collate
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse

NUMBERS = [
    *("bool", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"),
    *("float16", "float32", "float64", "complex64", "complex128"),
]
Pair = namedtuple("Pair", ["x", "y"])  # noqa: PYI024


def _alike(found, expected):
    assert type(found) is type(expected)
    if isinstance(found, np.ndarray):
        assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
        assert found.tobytes() == expected.tobytes()
    else:
        assert found == expected


@pytest.mark.parametrize("name", NUMBERS)
def test_scalars_become_an_array_of_their_type(name):
    values = np.random.default_rng(1).integers(0, 256, 7 * 16, dtype=np.uint8)
    if name == "bool":
        values &= 1
    array = values.view(name)
    with np.errstate(invalid="ignore"):
        scalars = list(array)
    assert type(scalars[0]) is np.dtype(name).type
    _alike(collate(scalars), array)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([np.longlong(3), np.longlong(4)], np.array([3, 4])),
        ([1, 2], np.array([1, 2], np.int32)),
        ([1.5, np.float32(2)], np.array([1.5, 2], np.float32)),
        ([True, np.bool_(False)], np.array([True, False])),
        (["a", b"b"], BytesColumn.from_list([b"a", b"b"])),
        ([[1, 2], [3, 4]], np.array([[1, 2], [3, 4]], np.int32)),
    ],
)
def test_what_was_not_converted_is(values, expected):
    _alike(collate(values), expected)


def test_nothing_stays_nothing():
    batch = collate([(np.int64(i), None) for i in range(2)])
    assert (batch[0].tolist(), batch[1]) == ([0, 1], None)
    with pytest.raises(
        InvalidArgumentError, match="First element had type None and element 1 had type int64"
    ):
        collate([None, np.int64(1)])


def test_structure_is_that_of_the_first():
    elements = [{"b": (np.int64(i), {"z": np.float32(i)}), "a": b"x" * i} for i in range(3)]
    batch = collate(elements)
    assert list(batch) == ["b", "a"]
    _alike(batch["b"][0], np.arange(3))
    _alike(batch["b"][1]["z"], np.arange(3, dtype=np.float32))
    _alike(batch["a"], BytesColumn.from_list([b"", b"x", b"xx"]))


def test_results_may_be_written_to_and_keep_their_memory():
    elements = [(np.int64(i), np.arange(3) + i) for i in range(5)]
    batch = collate(elements)
    del elements
    gc.collect()
    assert [column.flags.writeable for column in batch] == [True, True]
    assert batch[0].tolist() == [0, 1, 2, 3, 4]
    assert batch[1][4].tolist() == [4, 5, 6]


def test_keys_in_another_order_are_the_same_keys():
    batch = collate([{"a": np.int64(1), "b": np.int64(2)}, {"b": np.int64(20), "a": np.int64(10)}])
    assert {key: value.tolist() for key, value in batch.items()} == {"a": [1, 10], "b": [2, 20]}
    assert list(batch) == ["a", "b"]


def test_keys_may_be_equal_without_being_the_same_object():
    elements = [{str(1000): np.int64(i), i * 0 + 1000.0: b""} for i in range(2)]
    with pytest.raises(TypeError, match="sortable keys"):
        collate(elements)
    assert collate([{str(1000): np.int64(i)} for i in range(2)])["1000"].tolist() == [0, 1]


def test_named_tuples_and_other_mappings_keep_their_kind():
    batch = collate([Pair(np.int64(i), b"") for i in range(2)])
    assert type(batch) is Pair
    assert batch.x.tolist() == [0, 1]
    ordered = collate([OrderedDict(a=np.int64(i)) for i in range(2)])
    assert ordered["a"].tolist() == [0, 1]


@pytest.mark.parametrize("empty", [{}, (), ({}, ())])
def test_empty_structures_stay(empty):
    assert collate([empty, empty]) == empty


def test_arrays_are_stacked():
    arrays = [np.arange(6, dtype=np.int16).reshape(2, 3) * i for i in range(4)]
    _alike(collate(arrays), np.stack(arrays))
    _alike(collate([np.array(1.5), np.array(2.5)]), np.array([1.5, 2.5]))
    _alike(collate([np.zeros((0, 2)), np.zeros((0, 2))]), np.zeros((2, 0, 2)))
    _alike(collate([array.T for array in arrays]), np.stack([array.T for array in arrays]))


@pytest.mark.parametrize("dtype", [*NUMBERS, ">i4", "S3", "M8[s]"])
@pytest.mark.parametrize("shape", [(1,), (3, 2), (1, 0, 2), (1000, 2), (1,) * 12])
def test_arrays_of_any_type_and_size(dtype, shape):
    bits = np.random.default_rng(2).integers(0, 2, (3, *shape))
    arrays = list(bits.astype(dtype))
    found = module._stack_alike(arrays) if dtype in ("S3", "M8[s]") else collate(arrays)
    assert found.shape == (3, *shape)
    assert found.dtype == np.dtype(dtype).newbyteorder("=")
    assert found.flags.writeable
    assert found.tolist() == np.stack(arrays).tolist()


def test_arrays_need_not_be_contiguous():
    wide = np.arange(24).reshape(4, 6)
    for arrays in [
        [wide[:, ::2], wide[:, 1::2]],
        [np.arange(12).reshape(4, 3), wide[:, ::2]],
        [wide[:, ::-2], np.arange(12).reshape(4, 3)],
        [np.broadcast_to(np.int64(3), (2, 2)), np.arange(4).reshape(2, 2)],
    ]:
        _alike(collate(arrays), np.stack(arrays))


def test_subclasses_of_arrays_are_arrays():
    masked = np.ma.masked_array([1, 2], [False, True])
    assert collate([masked, masked]).tolist() == [[1, 2], [1, 2]]


@given(
    st.lists(st.integers(0, 3), min_size=1, max_size=3), st.lists(st.integers(0, 3), min_size=1, max_size=3)
)
def test_arrays_of_other_shapes_are_refused(one, other):
    arrays = [np.zeros(one), np.zeros(one), np.zeros(other)]
    if one == other:
        assert collate(arrays).shape == (3, *one)
    else:
        with pytest.raises(InvalidArgumentError, match="element 2 had shape"):
            collate(arrays)


def test_object_arrays_are_bytes():
    arrays = [np.array([b"a", b"bc"], object), np.array([b"", b"d"], object)]
    assert collate(arrays) == BytesColumn.from_list(np.array([[b"a", b"bc"], [b"", b"d"]], object))


def test_bytes_columns_get_a_dimension_more():
    columns = [BytesColumn.from_list([b"a", b"bc"]), BytesColumn.from_list([b"", b"d"])]
    assert collate(columns) == BytesColumn.from_list(np.array([[b"a", b"bc"], [b"", b"d"]], object))
    slices = [columns[0][1:], columns[1][:1]]
    assert collate(slices) == BytesColumn.from_list(np.array([[b"bc"], [b""]], object))


def test_ragged_get_a_dimension_more():
    parts = [Ragged.from_list([[1], [2, 3]]), Ragged.from_list([[4, 5, 6]])]
    assert collate(parts) == Ragged.from_list([[[1], [2, 3]], [[4, 5, 6]]])
    narrow = Ragged(np.arange(2), np.array([0, 2], np.int32))
    assert [splits.dtype for splits in collate([narrow, narrow]).nested_row_splits] == [np.int32, np.int32]


def test_sparse_get_a_dimension_more():
    parts = [Sparse([[0, 1]], [1], [2, 3]), Sparse([[1, 0], [1, 1]], [3, 4], [5, 2])]
    assert collate(parts) == Sparse([[0, 0, 1], [1, 1, 0], [1, 1, 1]], [1, 3, 4], [2, 5, 3])
    texts = Sparse([[1]], BytesColumn.from_list([b"t"]), [2])
    assert collate([texts]).values.to_list() == [b"t"]


def test_components_are_counted_by_sorted_keys():
    elements = [{"b": np.zeros(1), "a": (np.zeros(2), b"")}, {"b": np.zeros(2), "a": (np.zeros(2), b"")}]
    with pytest.raises(InvalidArgumentError) as caught:
        collate(elements)
    assert str(caught.value) == (
        "Cannot batch tensors with different shapes in component 2. First element had shape [1] and element 1 had "
        "shape [2]."
    )


def test_the_first_component_is_reported_before_the_first_element():
    def element(a, b):
        return {"a": np.zeros(a), "b": np.zeros(b)}

    with pytest.raises(InvalidArgumentError, match=r"component 0\. .* \[1\] and element 2 had shape \[2\]"):
        collate([element(1, 1), element(1, 2), element(2, 1)])


@pytest.mark.parametrize(
    ("first", "second", "shapes"),
    [
        (np.int64(1), np.zeros(1), r"\[\] and element 1 had shape \[1\]"),
        (b"", BytesColumn.from_list([b""]), r"\[\] and element 1 had shape \[1\]"),
        (np.zeros((2, 3)), np.zeros((3, 2)), r"\[2,3\] and element 1 had shape \[3,2\]"),
    ],
)
def test_shapes_must_be_equal(first, second, shapes):
    with pytest.raises(InvalidArgumentError, match=f"in component 0. First element had shape {shapes}"):
        collate([first, second])


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (np.int64(1), np.int32(1)),
        (np.int64(1), b"a"),
        (np.zeros(1), np.zeros(1, np.float32)),
        (Ragged.from_list([[1]]), Ragged.from_list([[1.5]])),
        (Ragged.from_list([[1]]), Sparse([[0]], [1], [1])),
    ],
)
def test_types_must_be_equal(first, second):
    with pytest.raises(InvalidArgumentError, match="different types in component 0"):
        collate([first, second])


def test_ragged_and_sparse_must_fit():
    with pytest.raises(
        InvalidArgumentError, match=r"compatible shapes.  Shape at index 0: \[2\].  Shape at index 1: \[3\]"
    ):
        collate([Ragged(np.zeros((1, 2)), [0, 1]), Ragged(np.zeros((1, 3)), [0, 1])])
    with pytest.raises(InvalidArgumentError, match="expected elements of ragged rank 1"):
        collate([Ragged.from_list([[1]]), Ragged.from_list([[[1]]])])
    with pytest.raises(
        InvalidArgumentError,
        match=r"rank prior to SparseTensor\[1\] was: 1 but rank of SparseTensor\[1\] is: 2",
    ):
        collate([Sparse([[0]], [1], [1]), Sparse([[0, 0]], [1], [1, 1])])


@pytest.mark.parametrize(
    ("first", "second", "error"),
    [
        ((np.int64(1),), (np.int64(1), np.int64(2)), ValueError),
        ({"a": np.int64(1)}, {"b": np.int64(1)}, ValueError),
        ((np.int64(1),), {"a": np.int64(1)}, TypeError),
        ((np.int64(1),), np.int64(1), ValueError),
    ],
)
def test_structures_must_be_equal(first, second, error):
    with pytest.raises(error, match="The two"):
        collate([first, second])


def test_no_elements_are_an_error():
    with pytest.raises(ValueError, match="at least one element"):
        collate([])


def test_depth_has_no_end():
    def nested(depth, value):
        return value if not depth else (nested(depth - 1, value),)

    batch = collate([nested(40, np.int64(i)) for i in range(3)])
    assert flatten(batch)[0].tolist() == [0, 1, 2]


LEAVES = st.sampled_from(
    [np.int64(-5), np.float32(0.5), np.bool_(True), b"", b"abc", np.arange(3), np.zeros((2, 1))]
)
STRUCTURES = st.recursive(
    LEAVES,
    lambda inner: (
        st.dictionaries(st.sampled_from("abc"), inner, max_size=3) | st.lists(inner, max_size=3).map(tuple)
    ),
    max_leaves=6,
)


@given(STRUCTURES, st.integers(1, 5))
def test_native_is_as_leaf_by_leaf(structure, count):
    elements = [map_structure(lambda leaf: leaf, structure) for _ in range(count)]
    found, expected = collate(elements), module._collate_leaves(elements)
    for ours, theirs in zip(flatten(found), flatten(expected), strict=True):
        _alike(ours, theirs)
    assert str(found) == str(expected)


@given(st.lists(st.binary(max_size=20), min_size=1, max_size=20))
def test_bytes_are_kept(values):
    assert collate(values).to_list() == values


def test_references_are_counted():
    number, text, array, name = np.int64(10**6), bytes(30), np.arange(3), str(10**9)
    tracked = [number, text, array, name]
    before = [sys.getrefcount(value) for value in tracked]
    elements = [{name: number, "t": (text, array)}] * 50
    batch = collate(elements)
    with pytest.raises(InvalidArgumentError):
        collate([*elements, {name: number, "t": (text, np.arange(4))}])
    del batch, elements
    gc.collect()
    assert [sys.getrefcount(value) for value in tracked] == before


def test_many_calls_leave_no_memory_behind():
    elements = [{"a": np.int64(i), "b": b"text", "c": np.arange(2)} for i in range(10)]

    def work(count):
        for _ in range(count):
            collate(elements)
        with pytest.raises(InvalidArgumentError):
            collate([*elements, {"a": np.int64(1), "b": b"", "c": np.arange(3)}])

    work(100)
    tracemalloc.start()
    try:
        work(100)
        before = tracemalloc.get_traced_memory()[0]
        work(3000)
        after = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert after - before < 20_000


def test_threads_collate_at_once():
    wrong = []

    def work(number):
        elements = [{"a": np.int64(number), "b": bytes([number])} for _ in range(20)]
        for _ in range(300):
            batch = collate(elements)
            if set(batch["a"].tolist()) != {number} or set(batch["b"].to_list()) != {bytes([number])}:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []
