"""Finite numbers that float32 does not hold are counted, with column and first place; uint64 never wraps."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest

import tfrkit
from tests.build.support.image_samples import photos, write_files
from tests.build.support.tables import rows
from tfrkit import build
from tfrkit.build.job.job import BadInput
from tfrkit.build.tables.float_range import BEYOND, Beyond, beyond_in_array, beyond_in_cell
from tfrkit.errors import InvalidArgumentError
from tfrkit.parsing.encode import encode_examples, encode_sequence_examples

pa = pytest.importorskip("pyarrow")

A = f"{BEYOND}: column 'a'"
HUGE = 2**63 + 5
LARGEST = float(np.finfo(np.float32).max)
ROUNDED_DOWN = float(np.nextafter((2 - 2**-24) * 2.0**127, 0))  # the last that is not infinite


def put(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


def noted(report) -> tuple[dict[str, int], list[BadInput]]:
    return dict(report.noted), list(report.noted_listed)


# -- float32 -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("shuffle", [False, True])
def test_csv_numbers_that_become_infinite_are_counted(shuffle, tmp_path):
    path = put(tmp_path / "in.csv", 't,a\n"x\ny",1\nx,1e38\nx,1e39\nx,inf\nx,-1e300\nbad\nx,2e39\n')
    report = build.table(path, tmp_path / "out", shuffle=shuffle)
    assert noted(report) == ({A: 3}, [BadInput("in.csv", 5, A, "got 1e+39")])
    (entry,) = json.loads((tmp_path / "out" / "report.json").read_text())["jobs"].values()
    assert entry["noted"] == {A: 3}
    assert entry["noted_listed"] == [{"source": "in.csv", "line": 5, "reason": A, "detail": "got 1e+39"}]
    assert noted(build.table(path, tmp_path / "out", shuffle=shuffle)) == noted(report)  # it is complete
    values = np.concatenate([row["a"] for row in rows(tmp_path / "out")])
    assert np.isinf(values).sum() == 4


def test_places_and_counts_do_not_depend_on_shards_and_workers(tmp_path):
    lines = [f"{number},0.5" for number in range(3000)]
    for place in (700, 701, 2999):
        lines[place] = f"{place},1e60"
    path = put(tmp_path / "in.csv", "n,a\n" + "\n".join(lines) + "\n")
    for shards, workers in ((1, 1), (7, 3)):
        report = build.table(path, tmp_path / f"out{shards}", shards=shards, workers=workers)
        assert noted(report) == ({A: 3}, [BadInput("in.csv", 702, A, "got 1e+60")])


def test_lists_of_text_are_looked_into(tmp_path):
    path = put(tmp_path / "in.csv", "a\n1|2\n\n3|1e39|-1e39|4\n")
    report = build.table(path, tmp_path / "out", column=["a:float[|]"])
    assert noted(report) == ({A: 2}, [BadInput("in.csv", 4, A, "got 1e+39")])


@pytest.mark.parametrize(
    "text",
    [
        '{"a": 1.5}\n\n{"a": 1e39}\n{"a": 2e39}\n',
        '{"a": 1.5}\n{"b": 2}\n{"a": [1, 1e39, 2e39]}\n',
        '{"a": 1.5}\n{"a": \n{"a": [1, 1e39, 2e39]}\n',
        '{"a": [1.5]}\n{"a": []}\n{"a": [1, 1e39, 2e39]}\n',
    ],
)
def test_json_numbers_that_become_infinite_are_counted(text, tmp_path):
    report = build.table(put(tmp_path / "in.jsonl", text), tmp_path / "out")
    assert noted(report) == ({A: 2}, [BadInput("in.jsonl", 3, A, "got 1e+39")])


@pytest.mark.parametrize(
    "column",
    [
        pa.array([1.0, 2.0, 1e39, -2e39, None, np.inf, np.nan]),
        pa.array([[1.0], [], [3.0, 1e39, 2e39], None, [4.0], [np.inf], []]),
        pa.array([[1.0], [], [3.0, 1e39, 2e39], None, [4.0], [np.inf], []], pa.large_list(pa.float64())),
        pa.array([[1.0], [], [3.0, 1e39, 2e39], None, [4.0], [np.inf], []], pa.list_view(pa.float64())),
        pa.array([1.0, 2.0, 1e39, 1e39, None, np.inf, np.nan]).dictionary_encode(),
        pa.array([1, 2, Decimal(10**39), -Decimal(10**39), None, 4, 5], pa.decimal256(45, 1)),
    ],
    ids=["plain", "list", "large_list", "list_view", "dictionary", "decimal"],
)
@pytest.mark.parametrize("null_value", [None, 7])
def test_arrow_numbers_that_become_infinite_are_counted(column, null_value, tmp_path):
    report = build.table(pa.table({"a": column}), tmp_path / "out", null_value=null_value)
    assert dict(report.noted) == {A: 2}
    [first] = report.noted_listed
    assert first.source == "table"
    assert first.detail in ("row 2 (from 0 on), got 1e+39", "row 2 (from 0 on), got 1.0000000000000001e+39")
    assert (report.bad, report.records) == ({}, 7)


def test_rows_that_are_left_out_do_not_count(tmp_path):
    table = pa.table({"a": [1e39, 1.0, 1e39, 1e39], "n": ["1", "2", "x", "4"]})
    report = build.table(table, tmp_path / "out", column=["n:int64"])
    assert (report.records, dict(report.noted)) == (3, {A: 2})


def test_parquet_says_the_row_of_the_file(tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    values = np.arange(5000, dtype=np.float64)
    values[4321] = 1e300
    parquet.write_table(pa.table({"a": values}), tmp_path / "in.parquet", row_group_size=1000)
    report = build.table(tmp_path / "in.parquet", tmp_path / "out", shards=3)
    detail = "row 4321 (from 0 on), got 1e+300"
    assert noted(report) == ({A: 1}, [BadInput("in.parquet", None, A, detail)])


def test_values_of_folders_count_for_all_rows(tmp_path):
    (tmp_path / "in" / "a=1.5e39").mkdir(parents=True)
    put(tmp_path / "in" / "a=1.5e39" / "x.csv", "n\n1\n2\n3\n")
    report = build.table(tmp_path / "in", tmp_path / "out")
    assert dict(report.noted) == {A: 3}


def test_a_value_for_nulls_that_would_be_infinite_is_refused(tmp_path):
    path = put(tmp_path / "in.csv", "a,b\n1.5,1\n,2\n")
    with pytest.raises(InvalidArgumentError, match="'1e39' is not a valid float"):
        build.table(path, tmp_path / "out", null_value="1e39")


def test_lists_of_images_say_it_too(tmp_path):
    write_files(tmp_path / "photos", photos({"cat": 2}))
    put(tmp_path / "list.csv", "path,a\nphotos/cat/0.jpg,1.5\nphotos/cat/1.jpg,1e39\n")
    report = build.images(tmp_path / "list.csv", tmp_path / "out")
    assert dict(report.noted) == {A: 1}
    assert [(found.line, found.detail) for found in report.noted_listed] == [(3, "got 1e+39")]


@pytest.mark.parametrize("value", [LARGEST, ROUNDED_DOWN, -LARGEST, np.inf, -np.inf, np.nan])
def test_what_float32_holds_is_not_counted(value):
    assert beyond_in_cell(value) is None
    assert beyond_in_array(pa.array([value])) is None
    with np.errstate(over="ignore"):
        assert np.isfinite(np.float32(value)) == np.isfinite(value)


def test_the_first_number_beyond_it_is():
    value = float(np.nextafter(ROUNDED_DOWN, np.inf))
    assert beyond_in_cell(value) is not None
    assert beyond_in_array(pa.array([1.0, -value])) == Beyond(1, 1, -value)
    with np.errstate(over="ignore"):
        assert np.isinf(np.float32(value))


# -- uint64 ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "kind",
    [pa.list_(pa.uint64()), pa.large_list(pa.uint64()), pa.list_(pa.uint64(), 2), pa.list_view(pa.uint64())],
    ids=str,
)
def test_lists_of_uint64_that_do_not_fit_are_bad_rows(kind, tmp_path):
    table = pa.table({"a": pa.array([[1, 2], [3, HUGE], [2**63 - 1, 5]], kind)})
    report = build.table(table, tmp_path / "out")
    assert (report.records, sum(report.bad.values())) == (2, 1)
    assert report.listed[0].detail == f"row 1 (from 0 on), column 'a': {HUGE} is not an int64"
    assert [row["a"] for row in rows(tmp_path / "out")] == [[1, 2], [2**63 - 1, 5]]
    with pytest.raises(
        InvalidArgumentError, match=rf"row 1 \(from 0 on\), column 'a': {HUGE} is not an int64"
    ):
        build.table(table, tmp_path / "strict", on_bad="raise")


@pytest.mark.parametrize("nested", [False, True])
def test_feature_lists_of_uint64_that_do_not_fit_are_bad_rows(nested, tmp_path):
    kind = pa.list_(pa.list_(pa.uint64()) if nested else pa.uint64())
    steps = [[1, 2], [3, HUGE], None, [5]]
    if nested:
        steps = [None if row is None else [[value] for value in row] for row in steps]
    field = pa.field("a", kind, metadata={"tfrkit:feature_list": "a"})
    columns = [pa.array(steps, kind), pa.array([0, 1, 2, 3])]
    table = pa.Table.from_arrays(columns, schema=pa.schema([field, pa.field("n", pa.int64())]))
    report = build.table(table, tmp_path / "out")
    assert (report.records, sum(report.bad.values())) == (3, 1)
    assert report.listed[0].detail == f"row 1 (from 0 on), column 'a': {HUGE} is not an int64"
    [path] = (tmp_path / "out").glob("*.tfrecord")
    found = [tfrkit.SequenceExample.FromString(record) for record in tfrkit.read_records(path)]
    values = [
        [value for step in record.feature_lists.feature_list["a"].feature for value in step.int64_list.value]
        for record in found
    ]
    assert values == [[1, 2], [], [5]]


def test_feature_lists_of_float64_that_become_infinite_are_counted(tmp_path):
    kind = pa.list_(pa.list_(pa.float64()))
    field = pa.field("a", kind, metadata={"tfrkit:feature_list": "a"})
    table = pa.Table.from_arrays(
        [pa.array([[[1.0]], [[2.0, 1e39], [-1e39]]], kind)], schema=pa.schema([field])
    )
    report = build.table(table, tmp_path / "out")
    assert dict(report.noted) == {A: 2}
    assert report.noted_listed[0].detail == "row 1 (from 0 on), got 1e+39"


RAGGED = tfrkit.Ragged(np.array([1, 2, 3, HUGE], np.uint64), np.array([0, 3, 4]))


@pytest.mark.parametrize(
    "column",
    [
        RAGGED,
        pa.array([[1, 2, 3], [HUGE]], pa.list_(pa.uint64())),
        [[1, 2, 3], [HUGE]],
        [np.array([1, 2, 3], np.uint64), np.array([HUGE], np.uint64)],
        np.array([[1, 2], [3, HUGE]], np.uint64),
        np.array([1, HUGE], np.uint64),
        np.array([[1], [HUGE]], ">u8"),
    ],
    ids=["ragged", "arrow", "lists", "arrays", "two dimensions", "one dimension", "big-endian"],
)
def test_columns_of_uint64_name_feature_and_row(column, tmp_path):
    with pytest.raises(ValueError, match=rf"feature 'a', row 1: .* {HUGE}"):
        encode_examples({"a": column})
    with (
        tfrkit.TFRecordWriter(tmp_path / "a.tfrecord") as writer,
        pytest.raises(ValueError, match=rf"feature 'a', row 1: .* {HUGE}"),
    ):
        writer.write_batch({"a": column})


@pytest.mark.parametrize(
    ("column", "place"),
    [
        (RAGGED, "row 1, step 0"),
        (tfrkit.Ragged(RAGGED, np.array([0, 2])), "row 0, step 1"),
        (np.array([[1, 2], [3, HUGE]], np.uint64), "row 1, step 1"),
        (np.array([[[1], [2]], [[HUGE], [3]]], np.uint64), "row 1, step 0"),
        (pa.array([[[1], [2, 3]], [], [[4], [HUGE]]], pa.list_(pa.list_(pa.uint64()))), "row 2, step 1"),
        ([[[1]], [[2], [3, HUGE]]], "row 1, step 1"),
    ],
)
def test_feature_lists_of_uint64_name_row_and_step(column, place):
    with pytest.raises(ValueError, match=rf"feature list 'a', {place}: .* {HUGE}"):
        encode_sequence_examples({}, {"a": column})


def test_json_integers_beyond_int64_never_wrap(tmp_path):
    path = put(tmp_path / "in.jsonl", f'{{"a": [1]}}\n{{"a": [{HUGE}]}}\n')
    build.table(path, tmp_path / "out")
    assert [row["a"] for row in rows(tmp_path / "out")] == [[b"1"], [str(HUGE).encode()]]
    report = build.table(path, tmp_path / "typed", column=["a:int64"])
    assert (report.records, report.listed[0].line) == (1, 2)
