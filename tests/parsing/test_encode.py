"""Columns become Examples: every kind of column, every error, and the same bytes whichever way."""

from __future__ import annotations

import contextlib
import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tfrkit import _core
from tfrkit.parsing.encode import ExampleEncoder


def rows_of(block: tfr.Block) -> list[dict[str, list[object] | None]]:
    return [plain(tfr.to_dict(record)) for record in block]


def plain(features: dict[str, object]) -> dict[str, list[object] | None]:
    return {key: None if value is None else list(value) for key, value in features.items()}


def values_of(column: object) -> list[object]:
    """What one column gives in each row; None where the feature is missing."""
    return [row.get("a") for row in rows_of(tfr.encode_examples({"a": column, "row": range(len(column))}))]


@pytest.mark.parametrize("dtype", ["?", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", ">i2", ">i8", ">u4"])
def test_integers_of_every_width(dtype):
    assert values_of(np.array([0, 1, 1], dtype)) == [[0], [1], [1]]
    assert values_of(np.array([[0, 1], [1, 1]], dtype)) == [[0, 1], [1, 1]]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", ">f4", ">f8", "longdouble"])
def test_floats_of_every_width(dtype):
    assert values_of(np.array([0.5, -1, np.inf], dtype)) == [[0.5], [-1], [np.inf]]


def test_bfloat16():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert values_of(np.array([0.5, 2], ml_dtypes.bfloat16)) == [[0.5], [2]]


def test_limits_of_int64():
    limits = [-(2**63), 2**63 - 1, -1, 0]
    assert values_of(np.array(limits)) == [[value] for value in limits]
    assert values_of(limits) == [[value] for value in limits]


def test_floats_beyond_float32_are_infinite():
    assert values_of(np.array([1e300, -1e300])) == [[np.inf], [-np.inf]]


def test_arrays_need_not_be_contiguous():
    grid = np.arange(24).reshape(4, 6)
    assert values_of(grid[::2, 1]) == [[1], [13]]
    assert values_of(grid[::-1, ::3]) == [[18, 21], [12, 15], [6, 9], [0, 3]]
    assert values_of(np.asfortranarray(grid)[:2]) == [list(range(6)), list(range(6, 12))]


def test_more_dimensions_are_lists_in_row_major_order():
    assert values_of(np.arange(8).reshape(2, 2, 2)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert values_of(np.zeros((2, 0))) == [[], []]


STRINGS = [
    [b"a", b"", b"ccc"],
    ["a", "", "ccc"],
    ("a", b"", "ccc"),
    np.array(["a", "", "ccc"]),
    np.array([b"a", b"", b"ccc"]),
    np.array(["a", b"", "ccc"], object),
    pa.array(["a", "", "ccc"]),
    pa.array([b"a", b"", b"ccc"], pa.large_binary()),
    pa.array(["a", "", "ccc"], pa.string_view()),
    pa.chunked_array([["a"], ["", "ccc"]]),
    pa.array(["a", "", "ccc"]).dictionary_encode(),
    pa.array(["x", "a", "", "ccc"], pa.dictionary(pa.uint64(), pa.large_binary())).slice(1),
    pa.chunked_array([pa.array(["a"]).dictionary_encode(), pa.array(["", "ccc"]).dictionary_encode()]),
    pd.Series(["a", "", "ccc"]),
    pl.Series(["a", "", "ccc"]),
    pl.Series(["a", "", "ccc"], dtype=pl.Categorical),
]


@pytest.mark.parametrize("column", STRINGS, ids=[str(place) for place in range(len(STRINGS))])
def test_strings_of_every_make(column):
    assert values_of(column) == [[b"a"], [b""], [b"ccc"]]


def test_strings_of_a_column():
    assert values_of(tfr.BytesColumn.from_list([b"a", b"", b"ccc"])) == [[b"a"], [b""], [b"ccc"]]


def test_strings_of_numpys_own_type():
    dtypes = getattr(np, "dtypes", None)
    if hasattr(dtypes, "StringDType"):
        assert values_of(np.array(["a", "é"], dtypes.StringDType())) == [[b"a"], ["é".encode()]]


def test_strings_of_two_dimensions():
    assert values_of(np.array([["a", "b"], ["c", "d"]])) == [[b"a", b"b"], [b"c", b"d"]]
    column = tfr.BytesColumn.from_list([b"a", b"b", b"c", b"d"]).reshape((2, 2))
    assert values_of(column) == [[b"a", b"b"], [b"c", b"d"]]
    assert values_of(column[1:]) == [[b"c", b"d"]]


MISSING = [
    [1, None, 3],
    np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    np.ma.array([[1], [2], [3]], mask=[[0], [1], [0]]),
    np.array([1, None, 3], object),
    pa.array([1, None, 3]),
    pa.chunked_array([[1, None], [3]], pa.int32()),
    pd.Series([1, None, 3], dtype="Int64"),
    pl.Series([1, None, 3]),
    [[1], None, [3]],
    pa.array([[1], None, [3]]),
]


@pytest.mark.parametrize("column", MISSING, ids=[str(place) for place in range(len(MISSING))])
def test_missing_entries_leave_the_feature_out(column):
    assert values_of(column) == [[1], None, [3]]


def test_strings_of_a_dictionary_with_nulls():
    column = pa.DictionaryArray.from_arrays([2, None, 0, 1], pa.array(["x", None, "é" * 90]))
    assert values_of(column) == [["é".encode() * 90], None, [b"x"], None]
    assert values_of(column.slice(1, 2)) == [None, [b"x"]]


def test_index_outside_of_its_dictionary_is_an_error():
    column = b"ab", np.array([0, 1, 2]), np.array([0, 1, 2], np.int32)
    with pytest.raises(ValueError, match="column 'a': an index outside of its dictionary"):
        _core.encode_columns(3, [("a", 1, column, None, 1, None, None)], None)
    with pytest.raises(ValueError, match="column 'a': an index outside of its dictionary"):
        _core.encode_columns(
            1, [("a", 1, (*column[:2], np.array([-1], np.int32)), None, 1, None, None)], None
        )


@pytest.mark.parametrize("column", [[None, None], pa.nulls(2), pa.array([None, None], pa.int64())], ids=str)
def test_a_column_without_any_entry_is_left_out(column):
    assert values_of(column) == [None, None]
    assert tfr.encode_examples({"a": column}).to_list() == [b"", b""]


def test_missing_strings():
    assert values_of(["a", None, b"c"]) == [[b"a"], None, [b"c"]]
    assert values_of(pa.array(["a", None, "c"])) == [[b"a"], None, [b"c"]]
    assert values_of(np.ma.array(["a", "b", "c"], mask=[0, 1, 0])) == [[b"a"], None, [b"c"]]


LISTS = [
    tfr.Ragged.from_list([[1, 2], [], [3]]),
    tfr.Ragged(np.array([1, 2, 3], np.int8), np.array([0, 2, 2, 3], np.int32)),
    tfr.Sparse([[0, 0], [0, 1], [2, 0]], np.array([1, 2, 3]), [3, 2]),
    [[1, 2], [], [3]],
    [np.array([1, 2]), np.array([]), (3,)],
    pa.array([[1, 2], [], [3]]),
    pa.array([[1, 2], [], [3]], pa.large_list(pa.int16())),
    pl.Series([[1, 2], [], [3]]),
    pd.Series([[1, 2], [], [3]]),
]


@pytest.mark.parametrize("column", LISTS, ids=[str(place) for place in range(len(LISTS))])
def test_lists_of_any_length(column):
    assert values_of(column) == [[1, 2], [], [3]]


def test_slices_of_ragged_columns():
    ragged = tfr.Ragged.from_list([["a"], [], ["b", "cc"]])
    assert values_of(ragged) == [[b"a"], [], [b"b", b"cc"]]
    assert values_of(ragged[1:]) == [[], [b"b", b"cc"]]
    assert values_of(tfr.Ragged(np.arange(6).reshape(3, 2), [0, 2, 3])) == [[0, 1, 2, 3], [4, 5]]


def test_kinds_of_empty_lists():
    block = tfr.encode_examples(
        {
            "b": [np.zeros(0, "S1"), []],
            "e": [[], ()],
            "f": tfr.Ragged(np.zeros(0, np.float32), [0, 0, 0]),
            "i": np.zeros((2, 0), np.int8),
            "n": [None, []],
            "s": [[], ["x"]],
            "t": [[], np.zeros(0, np.float32)],
        }
    )
    kinds = [
        {
            key: value.WhichOneof("kind")
            for key, value in tfr.Example.FromString(record).features.feature.items()
        }
        for record in block
    ]
    both = {"b": "bytes_list", "f": "float_list", "i": "int64_list", "s": "bytes_list", "t": "float_list"}
    assert kinds == [both | {"e": None}, both | {"e": None, "n": None}]
    assert tfr.encode_examples({"e": [[], []]})[0] == tfr.make_example({"e": []}).SerializeToString()


def test_steps_without_values_have_no_kind_unless_another_tells_it():
    block = tfr.encode_sequence_examples(None, {"e": [[[], []], []], "i": [[[], [1]], [[]]], "z": [[], []]})
    for number, steps in enumerate(({"e": 2, "i": 2, "z": 0}, {"e": 0, "i": 1, "z": 0})):
        lists = tfr.SequenceExample.FromString(block[number]).feature_lists.feature_list
        assert {key: len(lists[key].feature) for key in lists} == steps
        assert {step.WhichOneof("kind") for step in lists["e"].feature} <= {None}
        assert {step.WhichOneof("kind") for step in lists["i"].feature} <= {"int64_list"}


TABLE = {"n": [1, 2, None], "x": [0.5, None, 1.5], "s": ["a", None, "c"], "flag": [True, False, None]}
TABLE_ROWS = [
    {"flag": [1], "n": [1], "s": [b"a"], "x": [0.5]},
    {"flag": [0], "n": [2]},
    {"s": [b"c"], "x": [1.5]},
]
TABLES = {
    "dict": TABLE,
    "pyarrow": pa.table(TABLE),
    "batch": pa.RecordBatch.from_pydict(TABLE),
    "polars": pl.DataFrame(TABLE),
    "pandas": pd.DataFrame({key: pd.array(values) for key, values in TABLE.items()}),
    "stream": tfr.ArrowStream({"n": np.arange(3)}),
}


@pytest.mark.parametrize("name", [name for name in TABLES if name != "stream"])
def test_tables(name):
    assert rows_of(tfr.encode_examples(TABLES[name])) == TABLE_ROWS


def test_own_stream_is_a_table():
    assert rows_of(tfr.encode_examples(TABLES["stream"])) == [{"n": [0]}, {"n": [1]}, {"n": [2]}]


def test_tensors_are_arrays():
    torch = pytest.importorskip("torch")
    assert values_of(torch.arange(4).reshape(2, 2)) == [[0, 1], [2, 3]]


def test_keys_are_sorted_bytewise():
    keys = ["b", "aa", "a", "é", "Z", "", "ab", "z", "\U0001f600", "\uffff"]
    block = tfr.encode_examples({key: [1] for key in keys})
    places = [
        block[0].index(b"\n" + bytes([len(key.encode())]) + key.encode() + b"\x12") for key in keys if key
    ]
    order = sorted((key for key in keys if key), key=str.encode)
    assert [key for _, key in sorted(zip(places, [key for key in keys if key], strict=True))] == order
    assert tfr.encode_examples({key: [1] for key in reversed(keys)}) == block


def test_frames_are_those_of_a_file(tmp_path):
    block = tfr.encode_examples({"a": np.arange(5000), "s": ["x" * (row % 50) for row in range(5000)]})
    (tmp_path / "a.tfrecord").write_bytes(block.data)
    assert list(tfr.read_records(tmp_path / "a.tfrecord")) == block.to_list()
    assert tfr.verify(tmp_path / "a.tfrecord").ok


def test_bytes_do_not_depend_on_threads():
    columns = {
        "a": np.arange(10_000) ** 3,
        "r": tfr.Ragged.from_lengths(np.arange(20_000), np.full(10_000, 2)),
    }
    assert bytes(tfr.encode_examples(columns, threads=1).data) == bytes(
        tfr.encode_examples(columns, threads=4).data
    )


def test_no_rows_is_an_empty_block():
    assert len(tfr.encode_examples({"a": np.zeros(0, np.int64), "b": []})) == 0


def test_values_that_change_during_the_call_do_no_harm():
    values = np.zeros(200_000, np.int64)
    done = threading.Event()

    def change() -> None:
        while not done.is_set():
            values[:] = -1
            values[:] = 1

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(20):
            with contextlib.suppress(ValueError):  # "values changed during the call", if it was seen
                tfr.encode_examples({"a": values, "b": values.reshape(-1, 1)}, threads=1)
    finally:
        done.set()
        thread.join()


REFUSED = [
    ({"a": [1, 2], "b": [1]}, ValueError, "feature 'b': expected 2 rows as in 'a' but got 1. All columns need"),
    ({}, ValueError, "expected at least one column"),
    ({1: [1]}, TypeError, "expected the name of a feature as str but got 1 (int)"),
    ([1], TypeError, "expected a dict of columns by name, or a table, but got [1] (list)"),
    ({"a": 5}, TypeError, "feature 'a': expected an array, a list, a BytesColumn, Ragged or Sparse"),
    ({"a": "text"}, TypeError, "feature 'a': expected an array, a list,"),
    ({"a": np.array(5)}, TypeError, "feature 'a': expected one value for each row but got a single one: np.int64(5)"),
    ({"a": np.array([1, 2**63], np.uint64)}, ValueError, "feature 'a', row 1: expected at most 2**63 - 1 but got 92"),
    ({"a": np.array([[1, 2], [2**63, 1]], np.uint64)}, ValueError, "feature 'a', row 1: expected at most"),
    ({"a": [1, 2**63]}, ValueError, "feature 'a', row 1: expected an integer from -2**63 to 2**63 - 1 but got 92233"),
    ({"a": np.array(["2020-01-01"], "M8[D]")}, TypeError, "feature 'a': expected numbers, bytes or str but got an a"),
    ({"a": np.array([1j])}, TypeError, "feature 'a': expected numbers, bytes or str but got an array of type comple"),
    ({"a": [1, 2.5]}, TypeError, "feature 'a', row 1: expected int64 as before but got float: 2.5 (float)."),
    ({"a": [1, float("nan")]}, TypeError, "feature 'a', row 1: expected int64 as before but got float: nan"),
    ({"a": ["x", 1]}, TypeError, "feature 'a', row 1: expected bytes as before but got int64: 1 (int)."),
    ({"a": ["x", "\ud800"]}, ValueError, "feature 'a', row 1: expected Unicode but got"),
    ({"a": [1, object]}, TypeError, "feature 'a', row 1: expected bool, int, float, str or bytes but got <class 'ob"),
    ({"a": [[1], [[2]]]}, TypeError, "feature 'a', row 1: expected bool, int, float, str or bytes but got [2] (list)"),
    ({"a": tfr.Ragged.from_list([[[1]]])}, TypeError, "feature 'a': expected lists of values but got lists of lists"),
    ({"a": np.ma.array([[1, 2]], mask=[[0, 1]])}, ValueError, "feature 'a', row 0: expected all values or none but"),
    ({"a": pa.array([1, 2]).cast(pa.timestamp("s"))}, TypeError, "feature 'a': "),
    ({"a": pa.table({"x": [1], "y": [2]})}, TypeError, "feature 'a': expected one column but got a table or"),
    ({"a": pa.array([{"x": 1}])}, TypeError, "feature 'a': expected one column but got a table or structs with 'x'"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("columns", "error", "text"), REFUSED, ids=[str(place) for place in range(len(REFUSED))]
)
def test_what_cannot_be_encoded_is_named(columns, error, text):
    with pytest.raises(error) as caught:
        tfr.encode_examples(columns)
    assert str(caught.value).startswith(text)


def test_two_columns_of_one_name():
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    with pytest.raises(ValueError, match="feature 'a': expected names that differ but got this one twice"):
        tfr.encode_examples(table)


# -- feature lists ---------------------------------------------------------------------------------------------------


def steps_of(column: object) -> list[object]:
    block = tfr.encode_sequence_examples({"row": range(len(column))}, {"a": column})
    lists = [tfr.to_dict(record, sequence=True)["feature_lists"].get("a") for record in block]
    return [None if steps is None else [list(step) for step in steps] for steps in lists]


STEPS = [
    tfr.Ragged.from_list([[1, 2], [], [3]]),
    [[1, 2], [], [3]],
    [np.array([1, 2]), [], (3,)],
    pa.array([[1, 2], [], [3]]),
    pl.Series([[1, 2], [], [3]]),
    tfr.Sparse([[0, 0], [0, 1], [2, 0]], np.array([1, 2, 3]), [3, 2]),
]


@pytest.mark.parametrize("column", STEPS, ids=[str(place) for place in range(len(STEPS))])
def test_one_value_for_each_step(column):
    assert steps_of(column) == [[[1], [2]], [], [[3]]]


DEEP = [
    tfr.Ragged.from_list([[[1, 2], []], [], [[3]]]),
    [[[1, 2], []], [], [[3]]],
    pa.array([[[1, 2], []], [], [[3]]]),
]


@pytest.mark.parametrize("column", DEEP, ids=[str(place) for place in range(len(DEEP))])
def test_a_list_for_each_step(column):
    assert steps_of(column) == [[[1, 2], []], [], [[3]]]


def test_sparse_steps_of_three_dimensions():
    column = tfr.Sparse([[0, 0, 0], [0, 0, 1], [2, 1, 0]], np.array([1, 2, 3]), [3, 2, 2])
    assert steps_of(column) == [[[1, 2]], [], [[], [3]]]


def test_steps_of_arrays():
    assert steps_of(np.arange(4).reshape(2, 2)) == [[[0], [1]], [[2], [3]]]
    assert steps_of(np.arange(8.0).reshape(2, 2, 2)) == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    assert steps_of(np.zeros((2, 0))) == [[], []]
    assert steps_of(np.array([["a", "b"]])) == [[[b"a"], [b"b"]]]
    assert steps_of(tfr.BytesColumn.from_list(["a", "b"]).reshape((1, 2))) == [[[b"a"], [b"b"]]]
    assert steps_of(tfr.Ragged(np.arange(6).reshape(3, 2), [0, 2, 3])) == [[[0, 1], [2, 3]], [[4, 5]]]


def test_rows_without_a_feature_list():
    assert steps_of([["a"], None, []]) == [[[b"a"]], None, []]
    assert steps_of([None, None]) == [None, None]
    assert steps_of(pa.array([[1], None, []])) == [[[1]], None, []]


def test_context_or_lists_alone():
    lists = tfr.encode_sequence_examples(None, {"a": [[1]]})
    assert tfr.SequenceExample.FromString(lists[0]) == tfr.make_sequence_example({}, {"a": [1]})
    context = tfr.encode_sequence_examples({"a": [1]})
    assert tfr.SequenceExample.FromString(context[0]) == tfr.make_sequence_example({"a": 1})


@pytest.mark.parametrize(
    ("context", "lists", "error", "text"),
    [
        ({}, {}, ValueError, "expected at least one column"),
        ({"a": [1, 2]}, {"b": [[1]]}, ValueError, "feature list 'b': expected 2 rows as in 'a' but got 1."),
        ({"a": [1j]}, {}, TypeError, "context feature 'a', row 0: expected bool, int"),
        ({}, {"a": [[1], [1, 1j]]}, TypeError, "feature list 'a', row 1, step 1: expected bool, int"),
        ({}, {"a": [[1, None]]}, TypeError, "feature list 'a', row 0, step 1: expected values but got None"),
        ({}, {"a": [5]}, TypeError, "feature list 'a', row 0: expected a list of steps but got 5 (int)"),
        ({}, {"a": ["abc"]}, TypeError, "feature list 'a', row 0: expected a list of steps but got 'abc' (str)"),
        ({}, {"a": np.arange(3)}, TypeError, "feature list 'a': expected steps in each row, so two dimensions"),
    ],
    ids=[str(place) for place in range(8)],
)  # fmt: skip
def test_what_cannot_be_a_feature_list_is_named(context, lists, error, text):
    with pytest.raises(error) as caught:
        tfr.encode_sequence_examples(context, lists)
    assert str(caught.value).startswith(text)


# -- against protobuf ------------------------------------------------------------------------------------------------

INTS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=5)
FLOATS = st.lists(st.floats(width=32, allow_nan=False), max_size=5)
TEXTS = st.lists(st.binary(max_size=20), max_size=5)
KEYS = st.text(st.characters(codec="utf-8"), max_size=70)


@st.composite
def feature_columns(draw: st.DrawFn, rows: int) -> list[object]:
    lists = draw(st.sampled_from([INTS, FLOATS, TEXTS]))
    empty = {INTS: np.zeros(0, np.int64), FLOATS: np.zeros(0, np.float32), TEXTS: []}[lists]
    column = draw(st.lists(st.none() | lists, min_size=rows, max_size=rows))
    filled = any(column)
    return [None if row is None else row if row or filled else empty for row in column]


@given(st.data())
def test_examples_are_what_protobuf_makes_of_the_rows(data):
    rows = data.draw(st.integers(0, 4))
    columns = data.draw(st.dictionaries(KEYS, feature_columns(rows), min_size=1, max_size=5))
    block = tfr.encode_examples(columns)
    assert len(block) == rows
    for row, record in enumerate(block):
        kinds = {key: next((type(item[0]) for item in column if item is not None and len(item)), None)
                 for key, column in columns.items()}  # fmt: skip
        make = {int: tfr.int64_list_feature, float: tfr.float_list_feature, bytes: tfr.bytes_list_feature}
        features = {
            key: tfr.feature(column[row]) if kinds[key] is None else make[kinds[key]](column[row])
            for key, column in columns.items()
            if column[row] is not None
        }
        assert tfr.Example.FromString(record) == tfr.make_example(features)


VALUES = st.one_of(
    st.integers(-(2**63), 2**63 - 1),
    st.floats(width=32, allow_nan=False),
    st.booleans(),
    st.binary(max_size=300),
    st.text(st.characters(codec="utf-8"), max_size=20),
    st.none(),
    INTS,
    FLOATS,
    TEXTS,
    INTS.map(tuple),
    INTS.map(lambda values: np.array(values, np.int64)),
    FLOATS.map(lambda values: np.array(values, np.float32)),
    INTS.map(tfr.int64_list_feature),
    st.sampled_from([np.int8(-3), np.uint64(2**63 - 1), np.float16(0.5), np.str_("é"), np.bytes_(b"x")]),
    st.sampled_from([np.arange(4, dtype=kind)[::2] for kind in ("u1", "i2", ">i4", "u8", "f2", "f8", ">f4")]),
    st.sampled_from([np.array(5), np.array(["a", "b"]), range(3), bytearray(b"x"), np.ma.array([1, 2]), np.zeros(0)]),
)  # fmt: skip


@given(st.lists(st.dictionaries(KEYS, VALUES, max_size=6), min_size=1, max_size=4))
def test_dicts_are_what_protobuf_makes_of_them(dicts):
    encoder = ExampleEncoder()
    for features in [*dicts, dicts[0], dict(reversed(dicts[0].items()))]:
        made = encoder.encode(features)
        assert tfr.Example.FromString(made) == tfr.make_example(features)
        assert made == encoder.encode(dict(sorted(features.items())))


def test_large_values_of_a_dict():
    features = {"image": b"x" * 100_000, "pixels": np.arange(3000, dtype=np.uint8), "text": "é" * 5000}
    assert tfr.Example.FromString(ExampleEncoder().encode(features)) == tfr.make_example(features)


@pytest.mark.parametrize(
    ("features", "error", "text"),
    [
        ({1: 2}, TypeError, "expected the name of a feature as str but got 1 (int)"),
        ({"\ud800": 2}, ValueError, "expected the name of a feature in Unicode but got"),
        ({"a": 2**63}, ValueError, "feature 'a': expected an integer from -2**63 to 2**63 - 1 but got 9223372036854"),
        ({"a": [1, 2.5]}, TypeError, "feature 'a': expected values of one kind but got int64 and float (item 1)"),
        ({"a": np.array([2**63], np.uint64)}, ValueError, "feature 'a': expected at most 2**63 - 1"),
        ({"a": np.datetime64("2020-01-01")}, TypeError, "feature 'a': expected bool, int, float, str or bytes but g"),
        ({"a": np.zeros((2, 2))}, TypeError, "feature 'a': expected bool, int"),
        ({"a": "\ud800"}, ValueError, "feature 'a': expected Unicode"),
        ({"a": [b"x", "\ud800"]}, ValueError, "feature 'a': expected Unicode"),
        ({"a": tfr.Example()}, TypeError, "feature 'a': expected a Feature but got a message of type tensorflow.Exa"),
        ([("a", 1)], TypeError, "expected a dict of features by name, or an Example, but got"),
    ],
    ids=[str(place) for place in range(11)],
)  # fmt: skip
def test_dict_that_cannot_be_encoded(features, error, text):
    encoder = ExampleEncoder()
    good = encoder.encode({"a": 1})
    with pytest.raises(error) as caught:
        encoder.encode(features)
    assert str(caught.value).startswith(text)
    assert encoder.encode({}) == b""
    assert encoder.encode({"a": 1}) == good


def test_lists_that_shrink_during_the_call_do_no_harm():
    words = [b"w" * 40 + bytes([number]) for number in range(100)]

    class Greedy:
        def __array__(self, dtype=None, copy=None):
            words.clear()
            return np.zeros(1)

    made = tfr.to_dict(ExampleEncoder().encode({"a": words, "b": Greedy()}))
    assert len(made["a"]) == 100
    assert made["a"][99] == b"w" * 40 + b"c"


def test_lists_of_arrows_null_type_have_no_kind():
    for column in (pa.array([[], []]), pa.chunked_array([pa.array([[]]), pa.array([[]])])):
        message = tfr.Example.FromString(tfr.encode_examples({"a": column, "n": [1, 2]})[1])
        assert message.features.feature["a"].WhichOneof("kind") is None
