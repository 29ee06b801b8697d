"""Columns to Arrow, DLPack and torch, and tables of other libraries to columns."""

from __future__ import annotations

import datetime as dt
import decimal
import gc
import subprocess
import sys
import threading
import weakref
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from tests.model.support.columns import bytes_columns, ragged_columns
from tfrkit import ArrowStream, BytesColumn, Ragged, Sparse
from tfrkit.model.arrow.arrow_exchange import Imported, export_array, import_stream

NUMBERS = [
    "int8",
    "uint8",
    "int16",
    "uint16",
    "int32",
    "uint32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
]


class Capsules:
    """An array with its schema, for those who ask by protocol."""

    def __init__(self, column: Any, valid: Any = None) -> None:
        self.column, self.valid = column, valid

    def __arrow_c_array__(self, requested_schema: object = None) -> tuple[object, object]:
        return export_array(self.column, self.valid)


def address(array: np.ndarray) -> int:
    return int(array.__array_interface__["data"][0])


def to_list(imported: Imported, index: int = 0) -> list[Any]:
    """A column with None for nulls."""
    values, valid, _ = imported.columns[index]
    items = values.tolist() if isinstance(values, np.ndarray) else values.to_list()
    return (
        items if valid is None else [item if good else None for item, good in zip(items, valid, strict=True)]
    )


def in_bytes(value: Any) -> Any:
    """Strings as what a column holds."""
    if isinstance(value, list):
        return [in_bytes(item) for item in value]
    return value.encode() if isinstance(value, str) else value


# -- export ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", NUMBERS)
def test_numbers_are_exported_without_copying(dtype):
    array = np.arange(5).astype(dtype)
    exported = pa.array(Capsules(array))
    assert exported.type == pa.from_numpy_dtype(array.dtype)
    assert exported.to_pylist() == array.tolist()
    assert exported.buffers()[1].address == address(array)


def test_booleans_are_packed():
    array = np.array([True, False, True] * 7)
    assert pa.array(Capsules(array)).to_pylist() == array.tolist()


def test_further_dimensions_are_lists_of_fixed_size():
    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    exported = pa.array(Capsules(array))
    assert exported.type == pa.list_(pa.list_(pa.float32(), 4), 3)
    assert exported.to_pylist() == array.tolist()
    assert pa.array(Capsules(np.zeros((2, 0)))).to_pylist() == [[], []]


def test_arrays_of_any_order_are_exported():
    assert pa.array(Capsules(np.arange(6)[::2])).to_pylist() == [0, 2, 4]
    assert pa.array(Capsules(np.arange(6).reshape(2, 3).T)).to_pylist() == [[0, 3], [1, 4], [2, 5]]
    assert pa.array(Capsules(np.arange(3, dtype=">i4"))).to_pylist() == [0, 1, 2]


@given(bytes_columns())
def test_bytes_are_exported_without_copying(made):
    column, values = made
    exported = column.to_arrow()
    exported.validate(full=True)
    assert exported.type == pa.large_binary()
    assert exported.to_pylist() == values
    if values:
        assert exported.buffers()[1].address == address(column.offsets)
        assert exported.buffers()[2].address == address(column.data)


def test_bytes_of_several_dimensions():
    column = BytesColumn.from_list([b"a", b"b", b"c", b"d"]).reshape(2, 2)
    assert column.to_arrow().type == pa.list_(pa.large_binary(), 2)
    assert column.to_arrow().to_pylist() == [[b"a", b"b"], [b"c", b"d"]]


@given(ragged_columns())
def test_rows_are_exported_without_copying(made):
    column, rows = made
    exported = column.to_arrow()
    exported.validate(full=True)
    assert exported.to_pylist() == rows
    large = column.row_splits.dtype == np.int64
    assert pa.types.is_large_list(exported.type) if large else pa.types.is_list(exported.type)
    if rows:
        assert exported.buffers()[1].address == address(column.row_splits)
    flat = column.flat_values
    if len(flat):
        assert exported.buffers()[-1].address == address(flat.data if isinstance(flat, BytesColumn) else flat)


@pytest.mark.parametrize("wanted", [pa.binary(), pa.large_binary(), pa.string(), pa.large_string()], ids=str)
def test_requested_type_of_bytes_is_given(wanted):
    column = BytesColumn.from_list(["x", "ü", "yz"])
    assert pa.array(column[1:], wanted).type == wanted
    assert pa.array(column[1:], wanted).cast(pa.large_string()).to_pylist() == ["ü", "yz"]


@pytest.mark.parametrize(
    "values", [[b"\xff"], [b"\xc3", b"\xbc"]], ids=["no UTF-8", "a character in two entries"]
)
def test_requested_strings_are_not_given_where_they_are_none(values):
    schema, _ = BytesColumn.from_list(values).__arrow_c_array__(pa.string().__arrow_c_schema__())
    assert pa.DataType._import_from_c_capsule(schema) == pa.large_binary()


def test_requested_kind_of_list_is_given():
    ragged = Ragged.from_list([["a"], [], ["b", "c"]])
    for wanted in (pa.list_(pa.string()), pa.large_list(pa.large_string())):
        schema, _ = ragged.__arrow_c_array__(wanted.__arrow_c_schema__())
        assert pa.DataType._import_from_c_capsule(schema) == wanted
    assert pa.array(ragged, pa.list_(pa.string())).to_pylist() == [["a"], [], ["b", "c"]]


def test_request_that_cannot_be_met_is_left_alone():
    column = BytesColumn.from_list([b"a"])
    schema, _ = column.__arrow_c_array__(pa.int32().__arrow_c_schema__())
    assert pa.DataType._import_from_c_capsule(schema) == pa.large_binary()


def test_schema_alone():
    assert pa.field(Ragged.from_list([[1]]).values.dtype.name, pa.int64()).type == pa.int64()
    assert pa.DataType._import_from_c_capsule(Ragged.from_list([[1]]).__arrow_c_schema__()) == pa.large_list(
        pa.int64()
    )
    assert pa.schema(ArrowStream({"x": np.zeros(2)})).names == ["x"]


def test_nulls_are_exported():
    exported = pa.array(Capsules(np.arange(9), np.arange(9) % 2 == 0))
    assert exported.null_count == 4
    assert exported.to_pylist() == [0, None, 2, None, 4, None, 6, None, 8]
    rows = pa.array(Capsules(Ragged.from_list([[1], []]), np.array([True, False])))
    assert rows.to_pylist() == [[1], None]


def test_stream_of_a_dict_of_columns():
    columns = {
        "n": np.arange(3),
        "m": np.ma.masked_array([1.0, 2.0, 3.0], [False, True, False]),
        "f": np.ones((3, 2), np.float32),
        "b": BytesColumn.from_list([b"x", b"", b"z"]),
        "s": ["p", b"q", "r"],
        "o": np.array([b"1", "2", b"3"], object),
        "r": Ragged.from_list([[1], [], [2, 3]]),
        "t": np.array([True, False, True]),
    }
    stream = ArrowStream(columns, {"n": np.array([True, True, False])})
    expected = {
        "n": [0, 1, None],
        "m": [1.0, None, 3.0],
        "f": [[1.0, 1.0]] * 3,
        "b": [b"x", b"", b"z"],
        "s": [b"p", b"q", b"r"],
        "o": [b"1", b"2", b"3"],
        "r": [[1], [], [2, 3]],
        "t": [True, False, True],
    }
    assert len(stream) == 3
    assert pa.table(stream).to_pydict() == expected
    assert pa.record_batch(stream).to_pydict() == expected
    assert pl.DataFrame(stream).to_dict(as_series=False) == expected
    frame = pd.DataFrame.from_arrow(stream)
    assert frame["b"].tolist() == [b"x", b"", b"z"]


def test_table_of_a_stream_shares_memory():
    array = np.arange(1000)
    table = pa.table(ArrowStream({"x": array}))
    assert table["x"].chunk(0).buffers()[1].address == address(array)


def test_empty_stream():
    assert pa.table(ArrowStream({})).num_columns == 0
    assert pa.table(ArrowStream({"x": np.zeros(0), "r": Ragged.from_list([])})).num_rows == 0


@pytest.mark.parametrize(
    ("column", "error", "message"),
    [
        (
            Sparse([[0]], [1], [3]),
            TypeError,
            r"^column 'x': a Sparse has no counterpart in Arrow: use to_ragged",
        ),
        (
            np.zeros(3, complex),
            TypeError,
            r"^column 'x': expected numbers, booleans or bytes .* got complex128$",
        ),
        (np.float64(3), TypeError, r"^column 'x': expected an array, BytesColumn or Ragged but got float64$"),
        (np.zeros(2), ValueError, r"^expected columns of one length but got \{'x': 2, 'y': 3\}$"),
        ([b"a", 3, b""], TypeError, r"^column 'x': expected bytes or str but got int at index 1$"),
    ],
    ids=["sparse", "complex", "scalar", "length", "list"],
)
def test_stream_refuses_what_it_cannot_take(column, error, message):
    with pytest.raises(error, match=message):
        ArrowStream({"x": column, "y": np.zeros(3)})


def test_mask_of_another_length_is_refused():
    with pytest.raises(
        ValueError, match=r"^column 'x': expected a mask of 3 entries but got the shape \(2,\)$"
    ):
        ArrowStream({"x": np.zeros(3)}, {"x": np.ones(2, bool)})


# -- who keeps what alive -------------------------------------------------------------------------------------------


def test_memory_lives_as_long_as_its_consumers():
    array = np.arange(100_000)
    expected = array.tolist()
    owner = weakref.ref(array)
    exported = pa.array(Capsules(array))
    del array
    gc.collect()
    assert exported.to_pylist() == expected
    del exported
    gc.collect()
    assert owner() is None


@pytest.mark.parametrize(
    "make",
    [export_array, lambda array: ArrowStream({"x": array}).__arrow_c_stream__()],
    ids=["array", "stream"],
)
def test_capsules_that_nobody_takes_let_go(make):
    array = np.arange(10)
    owner = weakref.ref(array)
    capsules = make(array)
    del array
    assert owner() is not None
    del capsules
    gc.collect()
    assert owner() is None


def test_another_thread_may_let_go():
    array = np.arange(10)
    owner = weakref.ref(array)
    held = [pa.array(Capsules(array))]
    del array
    thread = threading.Thread(target=held.clear)
    thread.start()
    thread.join()
    gc.collect()
    assert owner() is None


def test_consumers_may_outlive_the_interpreter():
    code = """
import sys, threading, numpy as np, pyarrow as pa
from tfrkit import ArrowStream, BytesColumn, VarLenFeature, encode_examples, parse_example
parsed = parse_example(encode_examples({"a": [b"x"]}), {"a": VarLenFeature("bytes")})
pa.parsed, np.parsed = parsed["a"].to_arrow(), np.from_dlpack(parsed["a"].values)
sys.kept = pa.table(ArrowStream({"x": np.arange(1000), "b": [b"a"] * 1000}))
pa.kept = BytesColumn.from_list([b"x"] * 10).to_arrow()
sys.capsules = BytesColumn.from_list([b"x"]).__arrow_c_array__()
"""
    run = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert (run.returncode, run.stderr) == (0, "")


def test_imported_columns_keep_their_source_alive():
    imported = import_stream(pa.table({"x": np.arange(100_000), "s": ["text"] * 100_000}))
    gc.collect()
    junk = [np.full(100_000, 7) for _ in range(5)]
    assert np.array_equal(imported.columns[0].values, np.arange(100_000))
    assert imported.columns[1].values[99_999] == b"text"
    del junk


# -- import ---------------------------------------------------------------------------------------------------------

COLUMNS = {
    **{dtype: pa.array([1, None, 3, 100], getattr(pa, dtype)()) for dtype in NUMBERS if "float" not in dtype},
    **{dtype: pa.array([0.5, None, -2, 8], pa.from_numpy_dtype(np.dtype(dtype))) for dtype in NUMBERS[-2:]},
    "float16": pa.array(np.array([0.5, 1, -2, 8], np.float16)),
    "bool": pa.array([True, None, False, True]),
    "string": pa.array(["a", None, "", "ü" * 20]),
    "large_string": pa.array(["a", None, "", "ü" * 20], pa.large_string()),
    "string_view": pa.array(["a", None, "exactly 12 b", "thirteen byte"], pa.string_view()),
    "binary": pa.array([b"a", None, b"", b"\xff" * 20], pa.binary()),
    "large_binary": pa.array([b"a", None, b"", b"\xff" * 20], pa.large_binary()),
    "binary_view": pa.array([b"a", None, b"", b"\xff" * 20], pa.binary_view()),
    "fixed_binary": pa.array([b"abc", None, b"def", b"ghi"], pa.binary(3)),
    "list": pa.array([[1, 2], None, [], [3]]),
    "large_list": pa.array([[0.5], None, [], [1.5, 2.5]], pa.large_list(pa.float32())),
    "list_of_strings": pa.array([["a"], None, [], ["b", "c"]]),
    "list_of_views": pa.array([["a"], None, [], ["b", "a longer string here"]], pa.list_(pa.string_view())),
    "list_of_lists": pa.array([[[1], []], None, [], [[2, 3]]]),
    "list_of_bools": pa.array([[True], None, [], [False, True]]),
    "list_of_dictionaries": pa.array(
        [["a"], None, [], ["b", "a"]], pa.list_(pa.dictionary(pa.int8(), pa.string()))
    ),
    "fixed_list": pa.array([[1, 2], None, [3, 4], [5, 6]], pa.list_(pa.int32(), 2)),
    "fixed_list_of_strings": pa.array([["a", "b"], None, ["c", "d"], ["", "e"]], pa.list_(pa.string(), 2)),
    "fixed_list_of_lists": pa.array(
        [[[1], []], None, [[2], [3]], [[], []]], pa.list_(pa.list_(pa.int64()), 2)
    ),
    "dictionary": pa.array(["a", None, "b", "a"]).dictionary_encode(),
    "dictionary_of_numbers": pa.array([1.5, None, 2.5, 1.5]).dictionary_encode(),
    "dictionary_of_lists": pa.DictionaryArray.from_arrays([0, None, 1, 0], pa.array([[1], [2, 3]])),
    "dictionary_with_null": pa.DictionaryArray.from_arrays([0, 1, 2, 0], pa.array(["x", None, "y"])),
    "null": pa.nulls(4),
}
PARTS = {
    "whole": lambda table: table,
    "slice": lambda table: table.slice(1, 2),
    "tail": lambda table: table.slice(3),
    "batches": lambda table: pa.concat_tables([table, table.slice(1), table.slice(2, 1), table.slice(0, 0)]),
    "no rows": lambda table: table.slice(0, 0),
    "no batches": lambda table: pa.Table.from_batches([], table.schema),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("name", COLUMNS)
def test_every_type_is_imported(name, part):
    table = PARTS[part](pa.table({name: COLUMNS[name]}))
    imported = import_stream(table)
    assert (imported.names, imported.rows) == ([name], table.num_rows)
    assert to_list(imported) == in_bytes(table[name].to_pylist())


@pytest.mark.parametrize("name", COLUMNS)
def test_single_arrays_are_imported(name):
    for array in (
        COLUMNS[name],
        COLUMNS[name].slice(1, 2),
        pa.chunked_array([COLUMNS[name], COLUMNS[name].slice(1)]),
    ):
        imported = import_stream(array)
        assert imported.names == [""]
        assert to_list(imported) == in_bytes(array.to_pylist())


@pytest.mark.parametrize("name", [name for name in NUMBERS if name != "bool"])
def test_numbers_are_imported_without_copying(name):
    array = COLUMNS[name].slice(1)
    values = import_stream(array).columns[0].values
    assert isinstance(values, np.ndarray)
    assert address(values) == array.buffers()[1].address + values.itemsize
    assert not values.flags.writeable


def test_bytes_and_lists_are_imported_without_copying():
    text = import_stream(COLUMNS["large_binary"]).columns[0].values
    assert isinstance(text, BytesColumn)
    assert address(text.data) == COLUMNS["large_binary"].buffers()[2].address
    array = pa.array([[1], [2, 3]], pa.large_list(pa.int64()))
    rows = import_stream(array).columns[0].values
    assert isinstance(rows, Ragged)
    assert address(rows.values) == array.buffers()[3].address
    assert address(rows.row_splits) == array.buffers()[1].address


def test_type_of_splits_is_kept():
    assert import_stream(COLUMNS["list"]).columns[0].values.row_splits.dtype == np.int32
    assert import_stream(COLUMNS["large_list"]).columns[0].values.row_splits.dtype == np.int64


def test_column_without_nulls_has_no_mask():
    assert import_stream(pa.table({"x": [1, 2]})).columns[0].valid is None
    assert import_stream(pa.array([1, None, 2]).slice(2)).columns[0].valid is None


def test_null_rows_are_empty_whatever_lies_there():
    lists = pa.ListArray.from_arrays(
        pa.array([0, 2, 4]), pa.array([1, 2, None, 4]), mask=pa.array([False, True])
    )
    assert to_list(import_stream(lists)) == [[1, 2], None]
    assert import_stream(lists).columns[0].values.values.tolist() == [1, 2]
    buffers = pa.array([b"ab", b"cd"], pa.binary()).buffers()
    texts = pa.Array.from_buffers(pa.binary(), 2, [pa.py_buffer(b"\x01"), *buffers[1:]])
    assert import_stream(texts).columns[0].values.to_list() == [b"ab", b""]


def test_sliced_structs_are_sliced_tables():
    structs = pa.StructArray.from_arrays([pa.array([1, 2, 3]), pa.array(["a", "b", "c"])], ["n", "s"]).slice(
        1
    )
    imported = import_stream(structs)
    assert (imported.names, imported.rows) == (["n", "s"], 2)
    assert [to_list(imported, 0), to_list(imported, 1)] == [[2, 3], [b"b", b"c"]]


def test_null_structs_are_no_rows():
    structs = pa.array([{"n": 1}, None])
    with pytest.raises(
        ValueError, match=r"^expected rows of a table but got null structs \(1\): drop or fill them$"
    ):
        import_stream(structs)


@pytest.mark.parametrize(
    ("array", "name"),
    [
        (pa.array([dt.datetime(2020, 1, 1, tzinfo=dt.UTC)]), "timestamp"),
        (pa.array([dt.date(2020, 1, 1)]), "date32"),
        (pa.array([dt.date(2020, 1, 1)], pa.date64()), "date64"),
        (pa.array([dt.time(1)]), "time"),
        (pa.array([dt.timedelta(1)]), "duration"),
        (pa.array([decimal.Decimal(1)]), "decimal"),
        (pa.array([{"a": 1}]), "struct"),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int64())), "map"),
        (pa.array([[1]], pa.list_view(pa.int64())), "list_view"),
        (pa.array([[dt.date(2020, 1, 1)]]), "date32"),
    ],
    ids=lambda value: value if isinstance(value, str) else str(value.type),
)
def test_type_without_counterpart_is_named(array, name):
    message = rf"^column 'when': the Arrow type {name} has no counterpart: cast it to numbers, strings"
    table = pa.table({"x": pa.nulls(1), "when": array})
    with pytest.raises(TypeError, match=message):
        import_stream(table)
    with pytest.raises(TypeError, match=message):
        import_stream(pa.Table.from_batches([], table.schema))


def test_nulls_inside_lists_are_refused_with_the_row():
    for array in (pa.array([[1], [2, None]]), pa.array([[1, 2], [2, None]], pa.list_(pa.int8(), 2))):
        with pytest.raises(
            ValueError, match=r"^column 'x': expected lists without nulls inside but row 1 has one"
        ):
            import_stream(pa.table({"x": array}))


def test_what_is_no_arrow_is_refused():
    with pytest.raises(TypeError, match=r"__arrow_c_stream__ or __arrow_c_array__.* but got dict$"):
        import_stream({"x": 1})


def test_tables_of_pandas_and_polars_are_imported():
    data = {"n": [1, 2], "f": [0.5, 1.5], "s": ["a", "a string that is longer"], "b": [True, False]}
    for table in (pd.DataFrame(data), pl.DataFrame(data), pl.DataFrame(data).lazy().collect()):
        imported = import_stream(table)
        assert imported.names == list(data)
        assert [to_list(imported, i) for i in range(4)] == [in_bytes(values) for values in data.values()]
    frame = pl.DataFrame({"l": [[1], [], [2, 3]], "c": pl.Series(["u", "v", "u"], dtype=pl.Categorical)})
    assert [to_list(import_stream(frame), i) for i in range(2)] == [[[1], [], [2, 3]], [b"u", b"v", b"u"]]
    assert to_list(import_stream(pl.Series("s", ["x", None]))) == [b"x", None]
    assert import_stream(pl.Series("s", ["x", None])).names == ["s"]


def test_failure_of_a_stream_is_told():
    def batches():
        yield pa.record_batch({"x": [1]})
        raise OSError("the disk is gone")

    reader = pa.RecordBatchReader.from_batches(pa.schema({"x": pa.int64()}), batches())
    with pytest.raises(RuntimeError, match=r"^the Arrow stream failed: .*the disk is gone"):
        import_stream(reader)


def test_capsule_is_taken_once():
    class Twice:
        def __init__(self) -> None:
            self.capsules = export_array(np.arange(3))

        def __arrow_c_array__(self) -> tuple[object, object]:
            return self.capsules

    source = Twice()
    assert to_list(import_stream(source)) == [0, 1, 2]
    with pytest.raises(ValueError, match=r"^the Arrow capsule is used up"):
        import_stream(source)


def test_capsule_of_another_kind_is_refused():
    class Wrong:
        def __arrow_c_array__(self) -> tuple[object, object]:
            return export_array(np.arange(3))[::-1]

    with pytest.raises(ValueError, match="PyCapsule_GetPointer"):
        import_stream(Wrong())


@given(ragged_columns(), st.booleans())
def test_our_own_columns_come_back(made, masked):
    column, rows = made
    valid = np.arange(len(rows)) % 2 == 0 if masked else None
    values, found, _ = import_stream(ArrowStream({"x": column}, {"x": valid})).columns[0]
    if not masked or len(rows) < 2:
        assert found is None
        assert values == column
    else:
        assert found.tolist() == valid.tolist()


# -- torch and DLPack -----------------------------------------------------------------------------------------------


def test_columns_as_tensors_share_memory():
    ragged = Ragged.from_list([[1, 2], [], [3]])
    values, splits = ragged.to_torch()
    assert (values.tolist(), splits.tolist()) == ([1, 2, 3], [0, 2, 2, 3])
    assert (values.data_ptr(), splits.data_ptr()) == (address(ragged.values), address(ragged.row_splits))
    column = BytesColumn.from_list([b"abc", b"de"])
    data, offsets = column.to_torch()
    assert (bytes(data.tolist()), offsets.tolist()) == (b"abcde", [0, 3, 5])
    assert data.data_ptr() == address(column.data)
    data, offsets = column[1:].to_torch()
    assert (bytes(data.tolist()), offsets.tolist()) == (b"de", [0, 2])
    nested = Ragged.from_list([[["a"], []], []]).to_torch()
    assert [tensor.tolist() for tensor in nested] == [[97], [0, 1], [0, 1, 1], [0, 2, 2]]


def test_sparse_as_tensor():
    sparse = Ragged.from_list([[1.5, 2.5], [], [3.5]]).to_sparse()
    tensor = sparse.to_torch()
    assert tensor.to_dense().tolist() == sparse.to_dense().tolist()
    with pytest.raises(TypeError, match="torch has no tensors of bytes: expected a Sparse of numbers"):
        Ragged.from_list([["a"]]).to_sparse().to_torch()
    with pytest.raises(RuntimeError, match="size is inconsistent with indices"):
        Sparse([[5, 0]], [1], [2, 2]).to_torch()


def test_dlpack_shares_memory():
    ragged = Ragged.from_list([[1, 2], [], [3]])
    tensor = torch.from_dlpack(ragged)
    assert (tensor.tolist(), tensor.data_ptr()) == ([1, 2, 3], address(ragged.values))
    column = BytesColumn.from_list([b"abc", b"de"])
    assert address(np.from_dlpack(column[1:])) == address(column.data) + 3
    assert bytes(torch.from_dlpack(column).tolist()) == b"abcde"
    assert torch.from_dlpack(Ragged.from_list([["x"]])).tolist() == [120]


def test_tensors_keep_memory_alive():
    tensor = torch.from_dlpack(BytesColumn.from_list([b"x" * 1000] * 100).take(list(range(100))))
    gc.collect()
    assert BytesColumn.from_list([b"y" * 1000] * 100).take(list(range(100))).nbytes == 100_000
    assert set(tensor.tolist()) == {ord("x")}
