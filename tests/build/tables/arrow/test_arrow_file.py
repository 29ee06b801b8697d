"""Arrow IPC files, of the file format and the stream format."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import feather, ipc, parquet

from tests.build.support.tables import build, one_by_one, rows
from tfrkit.errors import DataLossError, InvalidArgumentError

TABLE = {
    "n": list(range(20)),
    "s": [None if n % 5 == 0 else f"text {n}" for n in range(20)],
    "l": [[n] * (n % 3) for n in range(20)],
}
EXPECTED = [
    {"n": [n], **({} if n % 5 == 0 else {"s": [f"text {n}".encode()]}), "l": [n] * (n % 3)} for n in range(20)
]


def write(path, table, form="file", chunk=7, **options):
    table = table if isinstance(table, pa.Table) else pa.table(table)
    make = ipc.new_file if form == "file" else ipc.new_stream
    with make(str(path), table.schema, options=ipc.IpcWriteOptions(**options)) as writer:
        writer.write_table(table, max_chunksize=chunk)
    return path


@pytest.mark.parametrize("form", ["file", "stream"])
@pytest.mark.parametrize("compression", [None, "lz4", "zstd"])
@pytest.mark.parametrize("shards", [1, 3])
def test_rows_come_in_order(tmp_path, form, compression, shards):
    path = write(tmp_path / "a.arrow", TABLE, form, compression=compression)
    assert one_by_one(path, tmp_path / "out", shards=shards) == EXPECTED


@pytest.mark.parametrize("form", ["file", "stream"])
def test_some_columns(tmp_path, form):
    path = write(tmp_path / "a.arrow", {**TABLE, "o": [{"p": n, "q": str(n)} for n in range(20)]}, form)
    found = one_by_one(path, tmp_path / "out", columns=["o/q", "n"], rename={"o/q": "text"})
    assert found == [{"n": [n], "text": [str(n).encode()]} for n in range(20)]


@pytest.mark.parametrize("form", ["file", "stream"])
def test_dictionaries_are_decoded(tmp_path, form):
    column = pa.array([str(n % 3) for n in range(20)]).dictionary_encode()
    path = write(tmp_path / "a.arrow", {"d": column, "n": range(20)}, form)
    assert one_by_one(path, tmp_path / "out", shards=3) == [
        {"d": [str(n % 3).encode()], "n": [n]} for n in range(20)
    ]


def test_dictionaries_that_grow_in_a_stream(tmp_path):
    first = pa.record_batch({"d": pa.array(["a", "b"]).dictionary_encode()})
    second = pa.record_batch({"d": pa.array(["c", "b", "c"]).dictionary_encode()})
    with ipc.new_stream(str(tmp_path / "a.arrow"), first.schema) as writer:
        writer.write_batch(first)
        writer.write_batch(second)
    found = one_by_one(tmp_path / "a.arrow", tmp_path / "out", shards=2)
    assert [row["d"] for row in found] == [[b"a"], [b"b"], [b"c"], [b"b"], [b"c"]]


def test_feather(tmp_path):
    feather.write_feather(pa.table(TABLE), str(tmp_path / "a.feather"))
    assert one_by_one(tmp_path / "a.feather", tmp_path / "out") == EXPECTED


def test_feather_1_says_what_to_do(tmp_path):
    (tmp_path / "a.feather").write_bytes(b"FEA1" + bytes(100))
    with pytest.raises(InvalidArgumentError, match=r"Feather version 1\. Write it again"):
        build(tmp_path / "a.feather", tmp_path / "out")


@pytest.mark.parametrize("form", ["file", "stream"])
def test_views_and_large_types(tmp_path, form):
    table = pa.table(
        {
            "v": pa.array(["x", "a longer text than twelve", None], pa.string_view()),
            "l": pa.array([[1], [], None], pa.large_list(pa.int32())),
            "w": pa.array([[1, 2], [3], None], pa.list_view(pa.int64())),
            "f": pa.array([[1.0, 2.0], None, [3.0, 4.0]], pa.list_(pa.float64(), 2)),
        }
    )
    path = write(tmp_path / "a.arrow", table, form)
    assert one_by_one(path, tmp_path / "out") == [
        {"v": [b"x"], "l": [1], "w": [1, 2], "f": [1.0, 2.0]},
        {"v": [b"a longer text than twelve"], "l": [], "w": [3]},
        {"f": [3.0, 4.0]},
    ]


def test_rows_without_columns_that_are_narrow(tmp_path):
    path = write(tmp_path / "a.arrow", {"s": ["x", "y"]})
    assert one_by_one(path, tmp_path / "out") == [{"s": [b"x"]}, {"s": [b"y"]}]


@pytest.mark.parametrize("form", ["file", "stream"])
@pytest.mark.parametrize("keep", [0.3, 0.6, 0.95])
def test_cut_file_is_named(tmp_path, form, keep):
    path = write(tmp_path / "a.arrow", {"s": ["some text"] * 2000}, form, chunk=500)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * keep)])
    with pytest.raises(DataLossError, match=r"a.arrow: this is not a whole Arrow file.*Copy it again"):
        build(path, tmp_path / "out")


@pytest.mark.parametrize("form", ["file", "stream", "parquet"])
def test_damaged_bytes_are_errors_and_never_end_the_process(tmp_path, form):
    table = pa.table({**TABLE, "d": pa.array([str(n % 5) for n in range(20)]).dictionary_encode()})
    path = tmp_path / "a"
    parquet.write_table(table, path) if form == "parquet" else write(path, table, form)
    whole = path.read_bytes()
    random = np.random.default_rng(7)
    for number in range(40):
        data = bytearray(whole)
        for place in random.integers(0, len(data), 3).tolist():
            data[place] = int(random.integers(0, 256))
        path.write_bytes(data)
        try:
            build(path, tmp_path / str(number), format="parquet" if form == "parquet" else "arrow", shards=2)
        except (DataLossError, InvalidArgumentError) as error:
            assert "/a: " in str(error)  # noqa: PT017  either is right


def test_file_of_something_else_is_named(tmp_path):
    (tmp_path / "a.arrow").write_bytes(b"hello world, this is text")
    with pytest.raises(DataLossError, match=r"a.arrow: this is not a whole Arrow file"):
        build(tmp_path / "a.arrow", tmp_path / "out")


def test_per_input_keeps_names(tmp_path):
    for name in ("x.arrow", "y.arrow"):
        write(tmp_path / name, TABLE)
    build([tmp_path / "x.arrow", tmp_path / "y.arrow"], tmp_path / "out", shards="per-input")
    assert sorted(path.name for path in (tmp_path / "out").glob("*.tfrecord")) == ["x.tfrecord", "y.tfrecord"]
    assert rows(tmp_path / "out") == EXPECTED * 2
