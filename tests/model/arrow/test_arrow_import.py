"""Arrow dictionaries as columns: their indices stay if they are asked for, and the values are the same."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from tfrkit.model.arrow.arrow_exchange import import_stream

STRINGS = {
    "strings": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "with null": pa.DictionaryArray.from_arrays([0, 1, 2, 0], pa.array(["x", None, "y"])),
    "of nulls": pa.DictionaryArray.from_arrays(pa.array([None, None], pa.int8()), pa.array([], pa.string())),
    "wide indices": pa.array(["a", "b", "a"], pa.dictionary(pa.uint64(), pa.large_binary())),
}
OTHERS = {
    "numbers": pa.array([1.5, None, 2.5, 1.5]).dictionary_encode(),
    "lists": pa.DictionaryArray.from_arrays([0, None, 1, 0], pa.array([[1], [2, 3]])),
    "fixed lists": pa.DictionaryArray.from_arrays(
        [0, 1, 0], pa.array([["a", "b"], ["c", "d"]], pa.list_(pa.string(), 2))
    ),
    "no dictionary": pa.array(["a", None, "b"]),
}
PARTS = {"whole": slice(None), "middle": slice(1, 3), "no rows": slice(0, 0)}


def shown(column):
    values = column.values.tolist() if isinstance(column.values, np.ndarray) else column.values.to_list()
    valid = [True] * len(values) if column.valid is None else column.valid.tolist()
    return [value if good else None for value, good in zip(values, valid, strict=True)]


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", [*STRINGS, *OTHERS])
def test_columns_with_indices_have_the_same_values(name, part):
    array = (STRINGS | OTHERS)[name][PARTS[part]]
    [column] = import_stream(array, indexed=True).columns
    [expected] = import_stream(array).columns
    assert expected.indices is None
    assert (column.indices is not None) == (name in STRINGS)
    assert shown(column.decoded()) == shown(expected)


def test_a_dictionary_of_strings_stays_one_if_indices_are_wanted():
    array = pa.array(["a", None, "b", "a"], pa.dictionary(pa.uint8(), pa.string())).slice(1)
    [(values, valid, indices)] = import_stream(array, indexed=True).columns
    assert values.to_list() == [b"a", b"b"]
    assert (indices.dtype, indices[1:].tolist()) == (np.int32, [1, 0])
    assert valid.tolist() == [False, True, True]


def test_dictionaries_of_several_batches_are_decoded():
    array = pa.chunked_array([pa.array(["a", "b"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()])
    [(values, _, indices)] = import_stream(array, indexed=True).columns
    assert (values.to_list(), indices) == ([b"a", b"b", b"c"], None)
