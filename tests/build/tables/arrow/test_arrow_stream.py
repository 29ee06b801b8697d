"""Tables in memory and streams: pandas, polars, pyarrow."""

from __future__ import annotations

import gc
import os

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tfrkit
from tests.build.support.tables import build, content, one_by_one
from tfrkit.build.tables.arrow.arrow_stream import open_stream
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError

TABLE = pa.table({"n": range(10), "s": [None if n == 3 else str(n) for n in range(10)]})
EXPECTED = [{"n": [n], **({} if n == 3 else {"s": [str(n).encode()]})} for n in range(10)]


def reader(table=TABLE, chunk=3):
    return pa.RecordBatchReader.from_batches(table.schema, table.to_batches(max_chunksize=chunk))


class Stream:
    """Something of another library that can be read once."""

    def __init__(self, table):
        self.table = table

    def __arrow_c_stream__(self, requested_schema=None):
        table, self.table = self.table, None
        return table.__arrow_c_stream__()


SOURCES = {
    "pyarrow": lambda: TABLE,
    "batch": lambda: TABLE.to_batches()[0],
    "chunks": lambda: pa.concat_tables([TABLE.slice(0, 4), TABLE.slice(4)]),
    "reader": reader,
    "stream": lambda: Stream(TABLE),
    "polars": lambda: pl.from_arrow(TABLE),
    "pandas": TABLE.to_pandas,
    "ours": lambda: tfrkit.ArrowStream(
        {"n": np.arange(10), "s": [str(n) for n in range(10)]}, {"s": np.arange(10) != 3}
    ),
}


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("shards", [None, 3])
def test_rows_come_in_order(tmp_path, name, shards):
    assert one_by_one(SOURCES[name](), tmp_path / "out", shards=shards) == EXPECTED


def test_all_sources_give_the_same_bytes(tmp_path):
    made = []
    for number, name in enumerate(["pyarrow", "chunks", "reader", "stream"]):
        build(SOURCES[name](), tmp_path / str(number), shards=2)
        made.append(content(tmp_path / str(number)))
    assert made[0] == made[1] == made[2] == made[3]


def test_stream_leaves_no_file(tmp_path):
    form = open_stream(reader(), str(tmp_path / "spool"))
    assert os.listdir(tmp_path / "spool") == []
    assert [form.batch(number).num_rows for number in range(len(form.rows))] == [3, 3, 3, 1]
    before = set(os.listdir("/dev/fd"))
    del form
    gc.collect()
    assert len(os.listdir("/dev/fd")) < len(before) + 1


def test_huge_batches_of_a_stream_are_cut(tmp_path):
    table = pa.table({"b": [bytes(1 << 20)] * 20})
    form = open_stream(reader(table, 20), str(tmp_path))
    assert max(form.rows) <= 8
    assert sum(form.rows) == 20


def test_index_of_pandas_is_a_column_only_if_it_has_a_name(tmp_path):
    frame = pd.DataFrame({"a": [1.5, None, 2.5]})
    assert one_by_one(frame[frame.a.isna() | (frame.a > 2)], tmp_path / "out") == [{}, {"a": [2.5]}]
    named = frame.set_index(pd.Index([7, 9, 8], name="id"))
    assert one_by_one(named, tmp_path / "named")[0] == {"a": [1.5], "id": [7]}


def test_categories_and_times_of_pandas(tmp_path):
    frame = pd.DataFrame(
        {
            "c": pd.Categorical(["x", "y", "x"]),
            "t": pd.to_datetime(["2024-01-02"] * 3),
            "b": [True, False, True],
        }
    )
    found = one_by_one(frame, tmp_path / "out", column=["t:int64"])
    assert [row["c"] for row in found] == [[b"x"], [b"y"], [b"x"]]
    assert found[0]["b"] == [1]
    assert found[0]["t"][0] % 1_704_153_600 == 0


def test_options_for_columns_hold(tmp_path):
    found = one_by_one(TABLE, tmp_path / "out", columns=["n", "s"], rename={"n": "id"}, null_value={"s": "?"})
    assert found[3] == {"id": [3], "s": [b"?"]}


def test_options_for_files_are_refused(tmp_path):
    with pytest.raises(InvalidArgumentError, match="format: this option is for files"):
        build(TABLE, tmp_path / "out", format="csv")
    with pytest.raises(InvalidArgumentError, match="names: this option is for files"):
        build(TABLE, tmp_path / "out", names=["a"])


def test_empty_table_is_an_error(tmp_path):
    with pytest.raises(InvalidArgumentError, match="No rows in the input"):
        build(TABLE.slice(0, 0), tmp_path / "out")
    with pytest.raises(InvalidArgumentError, match="No rows in the input"):
        build(reader(TABLE.slice(0, 0)), tmp_path / "out")


def test_something_else_is_no_input(tmp_path):
    with pytest.raises(
        TypeError, match=r"expected paths, or a table with the Arrow C stream .* but got dict"
    ):
        build({"a": [1]}, tmp_path / "out")
    with pytest.raises(TypeError, match="expected paths"):
        build(3, tmp_path / "out")


def test_other_rows_are_another_job(tmp_path):
    build(TABLE, tmp_path / "out")
    build(TABLE, tmp_path / "out")  # which is there already
    with pytest.raises(AlreadyExistsError):
        build(TABLE.slice(1), tmp_path / "out")
    build(TABLE.slice(1), tmp_path / "out", overwrite=True)


def test_lists_of_polars(tmp_path):
    frame = pl.DataFrame({"l": [[1, 2], [], None], "s": [{"x": 1.5}, {"x": None}, None]})
    assert one_by_one(frame, tmp_path / "out") == [{"l": [1, 2], "s/x": [1.5]}, {"l": []}, {}]


def test_error_in_a_stream_comes_through(tmp_path):
    def batches():
        yield TABLE.to_batches()[0]
        raise ValueError("the query failed")

    with pytest.raises(ValueError, match="the query failed"):
        build(pa.RecordBatchReader.from_batches(TABLE.schema, batches()), tmp_path / "out")
