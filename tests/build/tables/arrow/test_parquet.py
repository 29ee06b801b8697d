"""Parquet: types, row groups, nested columns, damaged files."""

from __future__ import annotations

import datetime as dt
import os
import subprocess
import sys
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

import tfrkit as tfr
from tests.build.support.tables import build, one_by_one, rows
from tfrkit.build.job.job import TaskReporter
from tfrkit.build.tables.arrow.parquet import ParquetFormat
from tfrkit.build.tables.table_format import InputFile, TableColumn
from tfrkit.engines.local import Stop
from tfrkit.errors import DataLossError, InvalidArgumentError, NotFoundError


def write(path, columns, **options):
    table = columns if isinstance(columns, pa.Table) else pa.table(columns)
    parquet.write_table(table, path, **options)
    return path


def values(tmp_path, array, **options):
    """What a column of this array becomes."""
    path = write(tmp_path / "a.parquet", {"a": array})
    return [row.get("a") for row in one_by_one(path, tmp_path / "out", **options)]


DAY = dt.date(2024, 1, 2)
TIME = dt.datetime(2024, 1, 2, 3, 4, 5)  # noqa: DTZ001  times of tables have none either


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (pa.array([1, None, 2**63 - 1]), [[1], None, [2**63 - 1]]),
        (pa.array([1, -2], pa.int8()), [[1], [-2]]),
        (pa.array([1, 2**63 - 1], pa.uint64()), [[1], [2**63 - 1]]),
        (pa.array([True, False, None]), [[1], [0], None]),
        (pa.array([1.5, None]), [[1.5], None]),
        (pa.array(np.array([1.5], np.float16)), [[1.5]]),
        (pa.array([1e300, 0.1]), [[np.inf], [np.float32(0.1)]]),
        (pa.array(["x", "", None]), [[b"x"], [b""], None]),
        (pa.array([b"\xff"], pa.large_binary()), [[b"\xff"]]),
        (pa.array([b"ab"], pa.binary(2)), [[b"ab"]]),
        (pa.array(["x", "y", "x"]).dictionary_encode(), [[b"x"], [b"y"], [b"x"]]),
        (pa.array([DAY]), [[b"2024-01-02"]]),
        (pa.array([TIME], pa.timestamp("ms")), [[b"2024-01-02 03:04:05.000"]]),
        (pa.array([TIME], pa.timestamp("us", "Asia/Shanghai")), [[b"2024-01-02 03:04:05.000000Z"]]),
        (pa.array([dt.time(3, 4)], pa.time32("ms")), [[b"03:04:00.000"]]),
        (pa.array([7], pa.duration("s")), [[7]]),
        (pa.array([Decimal(12)], pa.decimal128(5, 0)), [[12]]),
        (pa.array([Decimal("1.25")]), [[1.25]]),
        (pa.nulls(2), [None, None]),
        (pa.array([[1, 2], [], None]), [[1, 2], [], None]),
        (pa.array([["a"], ["b", "c"]]), [[b"a"], [b"b", b"c"]]),
        (pa.array([[1.5, 2.5]], pa.list_(pa.float32(), 2)), [[1.5, 2.5]]),
        (pa.array([[DAY], None]), [[b"2024-01-02"], None]),
        (pa.array([[], None], pa.list_(pa.int32())), [[], None]),
    ],
)
def test_types_become_kinds(tmp_path, array, expected):
    assert values(tmp_path, array) == expected


@pytest.mark.parametrize(
    ("array", "kind", "expected"),
    [
        (pa.array([1, None]), "float", [[1.0], None]),
        (pa.array([1, None]), "bytes", [[b"1"], None]),
        (pa.array([1.0, 2.0]), "int64", [[1], [2]]),
        (pa.array([1.5, 0.1]), "bytes", [[b"1.5"], [b"0.1"]]),
        (pa.array(["1", "-2"]), "int64", [[1], [-2]]),
        (pa.array(["1", "2e3", "nan"]), "float", None),
        (pa.array([True]), "bytes", [[b"true"]]),
        (pa.array([TIME], pa.timestamp("s")), "int64", None),
        (pa.array([DAY]), "int64", [[19724]]),
        (pa.array([Decimal("1.50")]), "bytes", [[b"1.50"]]),
        (pa.array([["1"], ["2", "3"]]), "int64", [[1], [2, 3]]),
        (pa.array([[1], None]), "bytes", [[b"1"], None]),
    ],
)
def test_given_kind_converts(tmp_path, array, kind, expected):
    found = values(tmp_path, array, column={"a": kind})
    if expected is not None:
        assert found == expected
    elif kind == "int64":
        assert found == [[1704164645000]]  # Parquet has no seconds
    else:
        assert found[:2] == [[1.0], [2000.0]]
        assert np.isnan(found[2][0])


@pytest.mark.parametrize(
    ("array", "column", "good", "details"),
    [
        (
            pa.array([1, 2**64 - 1], pa.uint64()),
            (),
            [[1]],
            ["18446744073709551615 is not an int64"],
        ),
        (
            pa.array(["1", "x", "0x10"]),
            ["a:int64"],
            [[1]],
            ["'x' is not an int64", "'0x10' is not an int64"],
        ),
        (pa.array([1.5, 2.0]), ["a:int64"], [[2]], ["1.5 is not an int64"]),
        (pa.array(["1", "1_0"]), ["a:float"], [[1.0]], ["'1_0' is not a float"]),
        (
            pa.array([[1], [None]]),
            (),
            [[1]],
            ["a null inside a list; give a value for nulls (--null-value)"],
        ),
    ],
)
def test_value_that_does_not_fit_is_a_bad_row(tmp_path, array, column, good, details):
    path = write(tmp_path / "a.parquet", {"a": array})
    found, report = build(path, tmp_path / "out", column=column)
    assert [row["a"] for row in found] == good
    assert [bad.detail.split(", column 'a': ")[1] for bad in report.listed] == details
    assert {bad.reason for bad in report.listed} == {"a value does not fit its column"}
    assert report.listed[0].source == "a.parquet"
    assert report.listed[0].detail.startswith("row ")


def test_bad_row_names_its_number_in_the_file(tmp_path):
    path = write(
        tmp_path / "a.parquet", {"a": [str(n) for n in range(25)] + ["x"] + ["1"] * 4}, row_group_size=10
    )
    found, report = build(path, tmp_path / "out", column=["a:int64"], shards=4)
    assert len(found) == 29
    assert report.listed[0].detail == "row 25 (from 0 on), column 'a': 'x' is not an int64"


def test_structs_are_columns_joined_with_slashes(tmp_path):
    array = pa.array([{"x": 1, "y": {"z": "a"}}, {"x": None, "y": None}, None])
    path = write(tmp_path / "a.parquet", {"s": array, "t": [1, 2, 3]})
    assert one_by_one(path, tmp_path / "out") == [
        {"s/x": [1], "s/y/z": [b"a"], "t": [1]},
        {"t": [2]},
        {"t": [3]},
    ]
    assert one_by_one(path, tmp_path / "one", columns=["s/y/z"]) == [{"s/y/z": [b"a"]}, {}, {}]


def test_maps_are_two_columns_of_lists(tmp_path):
    maps = [[("a", 1), ("b", 2)], None, [], [("c", None)], [("d", 4)]] * 3
    kind = pa.map_(pa.string(), pa.int64())
    path = write(tmp_path / "a.parquet", {"m": pa.array(maps, kind), "n": list(range(15))})
    wanted = [
        {"m/key": [b"a", b"b"], "m/value": [1, 2]},
        {"m/value": [-1]},
        {},
        {"m/key": [b"c"], "m/value": [-1]},
        {"m/key": [b"d"], "m/value": [4]},
    ] * 3
    for shards in (1, 4):  # of which some begin inside of a batch
        found = one_by_one(
            path, tmp_path / str(shards), shards=shards, drop=["n"], null_value={"m/value": -1}
        )
        assert [{key: value for key, value in row.items() if value} for row in found] == wanted
    table = pa.table({"m": pa.array(maps, kind)}).slice(3, 7)
    tfr.build.table(table, tmp_path / "slice", columns=["m/key"])
    keys = tfr.read_table(str(tmp_path / "slice/*.tfrecord")).column("m/key").to_pylist()
    assert keys == [[b"c"], [b"d"], [b"a", b"b"], None, [], [b"c"], [b"d"]]


def test_map_whose_values_are_lists_is_refused_by_its_part(tmp_path):
    array = pa.array([[("a", [1])]], pa.map_(pa.string(), pa.list_(pa.int64())))
    path = write(tmp_path / "a.parquet", {"m": array, "a": [1]})
    with pytest.raises(
        InvalidArgumentError, match=r"column 'm/value': values of the Arrow type .*--drop m/value"
    ):
        build(path, tmp_path / "out")
    assert one_by_one(path, tmp_path / "out", drop=["m/value"]) == [{"m/key": [b"a"], "a": [1]}]


@pytest.mark.parametrize(
    "array",
    [
        pa.array([[[1]]]),
        pa.array([[{"x": 1}]]),
    ],
)
def test_type_without_place_is_refused_unless_dropped(tmp_path, array):
    path = write(tmp_path / "a.parquet", {"m": array, "a": [1]})
    with pytest.raises(
        InvalidArgumentError, match=r"a.parquet: column 'm': values of the Arrow type .*--drop m"
    ):
        build(path, tmp_path / "out")
    assert one_by_one(path, tmp_path / "out", drop=["m"]) == [{"a": [1]}]


def test_any_name_is_a_column(tmp_path):
    names = ["", "a.b", "a", "中 文", 'q"', "n\0ul", "a/b"]
    path = write(tmp_path / "a.parquet", pa.table([[n] for n in range(len(names))], names))
    assert one_by_one(path, tmp_path / "out") == [{name: [n] for n, name in enumerate(names)}]
    assert one_by_one(path, tmp_path / "one", columns=["a"]) == [{"a": [2]}]


def test_same_name_twice_is_an_error(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table([[1], [2]], ["a", "a"]))
    with pytest.raises(InvalidArgumentError, match="'a' is there twice"):
        build(path, tmp_path / "out")


def test_kinds_are_settled_over_files(tmp_path):
    write(tmp_path / "in1.parquet", {"a": [1], "b": [1]})
    write(tmp_path / "in2.parquet", {"a": ["x"], "c": [2.5]})
    found = one_by_one([tmp_path / "in1.parquet", tmp_path / "in2.parquet"], tmp_path / "out")
    assert found == [{"a": [b"1"], "b": [1]}, {"a": [b"x"], "c": [2.5]}]


@pytest.mark.parametrize("group", [1, 7, 1000])
@pytest.mark.parametrize("shards", [1, 3, 8])
def test_rows_are_cut_evenly_whatever_the_row_groups(tmp_path, group, shards):
    path = write(tmp_path / "a.parquet", {"n": range(20)}, row_group_size=group)
    _, report = build(path, tmp_path / "out", shards=shards)
    assert [row["n"] for row in rows(tmp_path / "out")] == [[n] for n in range(20)]
    counts = [shard.records for shard in report.shards]
    assert max(counts) - min(counts) <= 1


def test_null_value_fills_every_kind(tmp_path):
    columns = {"i": [1, None], "f": [None, 1.5], "s": ["x", None], "l": [[1], None], "n": pa.nulls(2)}
    path = write(tmp_path / "a.parquet", columns)
    assert one_by_one(path, tmp_path / "out", null_value=-1) == [
        {"i": [1], "f": [-1.0], "s": [b"x"], "l": [1], "n": [b"-1"]},
        {"i": [-1], "f": [1.5], "s": [b"-1"], "l": [-1], "n": [b"-1"]},
    ]


def test_empty_file_among_others_is_fine(tmp_path):
    write(tmp_path / "in1.parquet", pa.table({"a": pa.array([], pa.int64())}))
    write(tmp_path / "in2.parquet", {"a": [1]})
    assert one_by_one([tmp_path / "in1.parquet", tmp_path / "in2.parquet"], tmp_path / "out") == [{"a": [1]}]


def test_no_rows_at_all_are_an_error(tmp_path):
    path = write(tmp_path / "a.parquet", pa.table({"a": pa.array([], pa.int64())}))
    with pytest.raises(InvalidArgumentError, match=r"No rows in the input: .*a.parquet. Check"):
        build(path, tmp_path / "out")


@pytest.mark.parametrize("size", [0, 3, 8, 200, -1, -9])
def test_damaged_file_is_named(tmp_path, size):
    path = write(tmp_path / "a.parquet", {"a": range(1000)})
    path.write_bytes(path.read_bytes()[:size])
    with pytest.raises(DataLossError, match=r"a.parquet: this is not a whole Parquet file.*Copy it again"):
        build(path, tmp_path / "out")


def test_a_file_that_was_just_modified_is_called_one_that_is_still_being_written(tmp_path):
    path = write(tmp_path / "a.parquet", {"a": range(1000)})
    path.write_bytes(path.read_bytes()[:200])
    still = (
        r"\. The file is probably still being written: it was modified within the last 30 seconds\. Copy it"
    )
    with pytest.raises(DataLossError, match=still):
        build(path, tmp_path / "out")
    os.utime(path, (1, 1))
    with pytest.raises(DataLossError, match=r"is not a parquet file\. Copy it again, or leave it out\.$"):
        build(path, tmp_path / "out")


def test_damaged_pages_are_an_error_without_a_shard(tmp_path):
    path = write(tmp_path / "a.parquet", {"a": [f"text {n}" for n in range(5000)]}, compression="zstd")
    data = bytearray(path.read_bytes())
    data[100:2000] = bytes(1900)
    path.write_bytes(data)
    with pytest.raises(DataLossError, match=r"a.parquet"):
        build(path, tmp_path / "out", shards=1)
    assert not list((tmp_path / "out").glob("*.tfrecord"))


WORDS = [f"word {n % 7}" if n % 11 else None for n in range(3000)]


@pytest.mark.parametrize(
    "options",
    [{}, {"null_value": 7}, {"where": "text == 'word 3'"}, {"column": ["text:bytes[ ]"]}],
    ids=["as it is", "null", "where", "list"],
)
def test_strings_of_a_dictionary_become_the_same_records(tmp_path, options):
    table = pa.table({"n": range(len(WORDS)), "text": WORDS})
    found = []
    for use_dictionary in (True, False):
        path = tmp_path / str(use_dictionary) / "a.parquet"
        path.parent.mkdir()
        write(path, table, use_dictionary=use_dictionary, row_group_size=1000)
        build(path, path.parent / "out", shards=2, **options)
        found.append(rows(path.parent / "out"))
    assert found[0] == found[1]
    if not options:
        assert [row.get("text", [None])[0] for row in found[0]] == [text and text.encode() for text in WORDS]


def indexed_columns(tmp_path, table, **options):
    """The columns of a file that are read as dictionaries, and how many strings each dictionary has."""
    path = write(tmp_path / "a.parquet", table, **options)
    reporter = TaskReporter(Stop(), "skip", lambda *_: None)
    survey = ParquetFormat().survey(InputFile(str(path), "a.parquet", {}, path.stat().st_size), reporter)
    columns = tuple(TableColumn(name, name, "bytes") for name in table.column_names)
    batch = next(ParquetFormat().read(survey.pieces[0], range(survey.pieces[0].rows), columns, reporter))
    return {
        name: len(array.dictionary) for name, array in batch.items() if pa.types.is_dictionary(array.type)
    }


def test_only_strings_of_small_dictionaries_stay_indices(tmp_path):
    noise = np.random.default_rng(1)
    table = pa.table(
        {
            "few": WORDS,
            "all differ": [f"{n}" for n in range(3000)],
            "long": [noise.bytes(90_000 // 7) for _ in range(7)] * 428 + [b"x"] * 4,
            "large": pa.array(WORDS, pa.large_string()),
            "in lists": [[word] for word in WORDS],
        }
    )
    assert indexed_columns(tmp_path, table) == {"few": 7}
    assert indexed_columns(tmp_path, table, use_dictionary=False) == {}
    assert indexed_columns(tmp_path, table, write_statistics=False) == {}


def test_index_outside_of_its_dictionary_is_a_damaged_file(tmp_path):
    path = write(tmp_path / "a.parquet", {"a": ["x", "yy", "zzz"] * 1000}, compression="none")
    chunk = parquet.ParquetFile(path).metadata.row_group(0).column(0)
    data = bytearray(path.read_bytes())
    end = chunk.dictionary_page_offset + chunk.total_compressed_size
    data[end - 100 : end] = b"\xff" * 100
    path.write_bytes(data)
    os.utime(path, (1, 1))
    with pytest.raises(
        DataLossError, match=r"a\.parquet: this is not a whole Parquet file: .*Index 3 out of bounds"
    ):
        build(path, tmp_path / "out", shards=1)


def test_file_that_goes_away_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"gone\.parquet"):
        build(tmp_path / "gone.parquet", tmp_path / "out")


def test_spec_knows_which_columns_have_no_nulls(tmp_path):
    path = write(tmp_path / "a.parquet", {"a": [1, 2], "b": [1, None], "l": [[1], [2]]})
    build(path, tmp_path / "out")
    text = (tmp_path / "out" / "manifest.json").read_text()
    assert text.count('"FixedLen"') == 1
    assert text.count('"VarLen"') == 2


def test_row_group_of_any_size_is_read_in_parts(tmp_path):
    noise = np.random.default_rng(1).bytes(24 << 20)
    array = pa.array([noise[at : at + 4096] for at in range(0, len(noise), 4096)])
    path = write(tmp_path / "a.parquet", {"a": array}, row_group_size=len(array), use_dictionary=False)
    del array
    file = InputFile(str(path), "a.parquet", {}, path.stat().st_size)
    reporter = TaskReporter(Stop(), "skip", lambda *_: None)
    [piece] = ParquetFormat().survey(file, reporter).pieces
    before = pa.total_allocated_bytes()
    batches = ParquetFormat().read(piece, range(piece.rows), (TableColumn("a", "a", "bytes"),), reporter)
    assert len(next(batches)["a"]) < piece.rows
    assert pa.total_allocated_bytes() - before < len(noise) // 2
    batches.close()


def test_usual_columns_need_neither_functions_of_arrow_nor_masked_arrays(tmp_path):
    path = write(
        tmp_path / "a.parquet",
        {"x": np.arange(5, dtype=np.float32), "text": ["a"] * 5, "label": np.arange(5)},
    )
    code = (
        "import sys; from tfrkit.cli.main import main\n"
        "try: main()\n"
        "finally: print(sorted({'pyarrow.compute', 'numpy.ma'} & sys.modules.keys()),"
        " sys.modules['pyarrow'].default_memory_pool().backend_name)"
    )
    command = [sys.executable, "-c", code, "build", "table", str(path), str(tmp_path / "out"), "--quiet"]
    done = subprocess.run(command, check=True, text=True, stdout=subprocess.PIPE)
    assert done.stdout.splitlines()[-1] == "[] system"
