"""Rows are chosen while a table is built, with the meaning that `select` has on the built records."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import tfrkit
from tests.build.support.tables import build, content, rows, write_lines
from tests.build.tables.test_table import write_jsonl
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.spec_json import spec_from_data

TEXTS = ["", "a", "b", "ä", "de", "fr", "long text"]


def random_table(seed: int, count: int, *, lists: bool) -> pa.Table:
    """A table with nulls, NaN, bytes and lists."""
    rng = random.Random(seed)

    def cells(make, nulls: float = 0.2):
        return [None if rng.random() < nulls else make() for _ in range(count)]

    columns = {
        "label": pa.array(cells(lambda: rng.randint(-3, 6), 0), pa.int64()),
        "n": pa.array(cells(lambda: rng.choice([0, 1, 5, 2**62, -(2**63)])), pa.int64()),
        "x": pa.array(cells(lambda: rng.choice([0.0, 0.1, -1.5, 1e30, float("nan")])), pa.float64()),
        "s": pa.array(cells(lambda: rng.choice(TEXTS)), pa.string()),
    }
    if lists:
        columns["ids"] = pa.array(cells(lambda: [rng.randint(0, 4) for _ in range(rng.randint(0, 3))]))
        columns["tags"] = pa.array(cells(lambda: [rng.choice(TEXTS) for _ in range(rng.randint(0, 3))]))
    return pa.table(columns)


def expressions(seed: int, *, lists: bool) -> list[str]:
    rng = random.Random(seed)
    numbers = ["label", "n", "x", *(["ids"] if lists else [])]
    texts = ["s", *(["tags"] if lists else [])]

    def one(depth: int) -> str:
        kind = rng.randint(0, 5 if depth else 3)
        if kind == 0:
            return rng.choice(numbers + texts)
        if kind in (1, 2):
            operator = rng.choice(["==", "!=", "<", "<=", ">", ">="])
            if rng.random() < 0.7:
                return f"{rng.choice(numbers)} {operator} {rng.choice(['0', '0.1', '2', '-1.5', '5', '1e30', '2.5'])}"
            return f"{rng.choice(texts)} {operator} {rng.choice(TEXTS)!r}"
        if kind == 3:
            return f"{rng.choice(texts)} in ('a', 'de')"
        if kind == 4:
            return f"not ({one(depth - 1)})"
        return f"({one(depth - 1)} {rng.choice(['and', 'or'])} {one(depth - 1)})"

    return [one(3) for _ in range(6)]


def write_text(path, table, separator, null):
    lines = [] if separator == "\x01" else [separator.join(table.column_names)]
    for row in table.to_pylist():
        lines.append(separator.join(null if value is None else str(value) for value in row.values()))
    path.write_text("\n".join(lines) + "\n")


def write_arrow(path, table):
    with ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=17)


WRITERS = {
    "csv": (".csv", lambda path, table: write_text(path, table, ",", "NULL"), {"nulls": ["NULL"]}),
    "tsv": (".tsv", lambda path, table: write_text(path, table, "\t", "NULL"), {"nulls": ["NULL"]}),
    "hive": ("", lambda path, table: write_text(path, table, "\x01", "\\N"), {}),
    "jsonl": (".jsonl", write_jsonl, {}),
    "parquet": (".parquet", lambda path, table: parquet.write_table(table, path, row_group_size=23), {}),
    "arrow": (".arrow", write_arrow, {}),
}
FRAMES = {
    "pandas": lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
}
BINARY = ("jsonl", "parquet", "arrow", *FRAMES)


@pytest.fixture(params=[*WRITERS, *FRAMES])
def source(request, tmp_path):
    """Inputs of one format, of which the second file lacks a column; the options that they need; with lists or not."""
    kind, lists = request.param, request.param in BINARY
    first, second = random_table(1, 60, lists=lists), random_table(2, 40, lists=lists)
    if kind in FRAMES:
        return FRAMES[kind](first), {}, lists
    suffix, write, options = WRITERS[kind]
    (tmp_path / "in" / "part=3").mkdir(parents=True)
    (tmp_path / "in" / "part=4").mkdir(parents=True)
    write(tmp_path / "in" / "part=3" / f"a{suffix}", first)
    options = {"format": kind, **options}
    if kind == "hive":
        options["names"] = first.column_names
    else:
        second = second.drop_columns(["n"])
    write(tmp_path / "in" / "part=4" / f"b{suffix}", second)
    return tmp_path / "in", options, lists


def selected(folder, out, **options):
    tfrkit.select(f"{folder}/*.tfrecord", out, **options)
    return rows(out)


def test_every_format_chooses_as_select_does_on_the_built_records(source, tmp_path):
    inputs, options, lists = source
    whole, _ = build(inputs, tmp_path / "all", **options)
    columns = len(whole)
    for number in range(3):
        for place, where in enumerate(expressions(number, lists=lists)):
            name = f"{number}-{place}"
            try:
                expected = selected(tmp_path / "all", tmp_path / f"select-{name}", where=where)
            except InvalidArgumentError as error:
                raise AssertionError(where) from error
            found, report = build(inputs, tmp_path / f"build-{name}", where=where, shards=3, **options)
            assert str(found) == str(expected), where  # as text, in which NaN is equal to itself
            assert (report.records, report.passed, report.bad) == (len(found), columns - len(found), {}), (
                where
            )


def test_columns_of_the_expression_need_not_be_written(source, tmp_path):
    inputs, options, _ = source
    build(inputs, tmp_path / "all", **options)
    where = "label >= 2 or s in ('a', 'de')"
    expected = selected(tmp_path / "all", tmp_path / "few", where=where, drop=["label", "s"])
    for number, choice in enumerate(
        ({"drop": ["label", "s"]}, {"drop": ["label", "s"], "rename": {"n": "s"}})
    ):
        found, report = build(inputs, tmp_path / f"out{number}", where=where, **choice, **options)
        if "rename" in choice:
            found = [{"n" if key == "s" else key: value for key, value in row.items()} for row in found]
        assert [repr(sorted(row.items())) for row in found] == [repr(sorted(row.items())) for row in expected]
        assert [column.feature for column in report.columns if column.feature == "label"] == []


def test_workers_do_not_change_the_bytes(source, tmp_path):
    inputs, options, _ = source
    for workers in (1, 2, 5):
        build(
            inputs,
            tmp_path / str(workers),
            where="label > 0 and not s == 'a'",
            shards=4,
            workers=workers,
            **options,
        )
    assert content(tmp_path / "1") == content(tmp_path / "2") == content(tmp_path / "5")


def test_partition_columns_choose_rows(tmp_path):
    for day in (1, 2, 10):
        write_lines(tmp_path / "t" / f"day={day}" / "a.jsonl", {"n": day}, {"n": 0})
    found, report = build(tmp_path / "t", tmp_path / "out", where="day > 1 and n", drop=["day"], shards=2)
    assert found == [{"n": [10]}, {"n": [0]}, {"n": [2]}, {"n": [0]}]
    assert [shard.records for shard in report.shards] == [2, 2]
    assert report.passed == 2


def test_shards_have_about_the_same_number_of_chosen_rows(tmp_path):
    # Only the last tenth is chosen: without counting, all of it would be in the last shard.
    table = pa.table({"n": range(20_000), "s": ["text"] * 20_000})
    parquet.write_table(table, tmp_path / "a.parquet", row_group_size=500)
    report = tfrkit.build.table(tmp_path / "a.parquet", tmp_path / "out", where="n >= 18000", shards=4)
    assert [shard.records for shard in report.shards] == [500] * 4
    assert report.passed == 18_000


def test_number_of_shards_follows_from_chosen_rows(tmp_path):
    table = pa.table({"n": range(4000), "s": ["x" * 1000] * 4000})
    report = tfrkit.build.table(table, tmp_path / "out", where="n < 40", shard_bytes=200_000)
    assert (report.records, len(report.shards)) == (40, 1)
    report = tfrkit.build.table(
        table, tmp_path / "shuffled", where="n < 400", shard_bytes=110_000, shuffle=True
    )
    assert (report.records, len(report.shards)) == (400, 4)


def test_shards_per_input_and_shuffled_rows_are_chosen(tmp_path):
    for name in "ab":
        write_lines(tmp_path / "in" / f"{name}.jsonl", *({"n": n} for n in range(10)))
    found, report = build(tmp_path / "in", tmp_path / "each", where="n < 3", shards="per-input")
    assert ([shard.records for shard in report.shards], report.passed) == ([3, 3], 14)
    found, report = build(tmp_path / "in", tmp_path / "mixed", where="n < 3", shuffle=True, shards=2)
    assert (sorted(row["n"][0] for row in found), report.passed) == ([0, 0, 1, 1, 2, 2], 14)


def test_expression_that_no_row_meets_gives_empty_shards(tmp_path):
    found, report = build(pa.table({"n": [1, 2, 3]}), tmp_path / "out", where="n > 5", shards=2)
    assert (found, report.passed, [shard.records for shard in report.shards]) == ([], 3, [0, 0])


def test_values_for_nulls_and_lists_of_text_count(tmp_path):
    write_lines(tmp_path / "a.jsonl", {"n": None, "t": "a|b"}, {"n": 3, "t": ""}, {"t": "b|c"})
    options = {"column": ["t:bytes[|]"], "null_value": {"n": 7}}
    assert len(build(tmp_path / "a.jsonl", tmp_path / "1", where="n == 7", **options)[0]) == 2
    assert len(build(tmp_path / "a.jsonl", tmp_path / "2", where="t == 'b'", **options)[0]) == 2
    assert len(build(tmp_path / "a.jsonl", tmp_path / "3", where="t == 'b'", drop=["t"], **options)[0]) == 2


def test_bad_rows_are_bad_even_if_they_would_be_left_out(tmp_path):
    write_lines(tmp_path / "a.jsonl", {"n": 1, "m": 5}, {"n": 2, "m": "x"}, b"{", {"n": 9, "m": 5})
    found, report = build(tmp_path / "a.jsonl", tmp_path / "out", where="n > 5", column=["m:int64"], shards=2)
    assert (len(found), report.passed, sum(report.bad.values())) == (1, 1, 2)


def test_rows_with_views_are_chosen(tmp_path):
    table = pa.table({"n": [1, 2, 3], "s": pa.array(["a", "b", "c"], pa.string_view())})
    assert build(table, tmp_path / "out", where="n != 2")[0] == [
        {"n": [1], "s": [b"a"]},
        {"n": [3], "s": [b"c"]},
    ]


def test_views_beside_a_bad_row_stay(tmp_path):
    views = {
        "s": pa.array(["a", "b"], pa.string_view()),
        "t": pa.array([["c"], []], pa.list_(pa.string_view())),
    }
    found, report = build(pa.table({"n": pa.array([1, 2**63], pa.uint64()), **views}), tmp_path / "out")
    assert (found, sum(report.bad.values())) == ([{"n": [1], "s": [b"a"], "t": [b"c"]}], 1)


def test_report_and_manifest_count_rows_that_were_left_out(tmp_path):
    report = tfrkit.build.table(pa.table({"n": [1, 2, 3]}), tmp_path / "out", where="n > 2", drop=[])
    again = tfrkit.build.table(pa.table({"n": [1, 2, 3]}), tmp_path / "out", where="n > 2")
    assert (report.passed, again.passed, again.resumed) == (2, 2, 1)
    [said] = json.loads((tmp_path / "out" / "report.json").read_bytes())["jobs"].values()
    [made] = json.loads((tmp_path / "out" / "manifest.json").read_bytes())["jobs"].values()
    assert (said["passed"], made["passed"], made["made_by"]["where"]) == (2, 2, "n > 2")


def test_manifest_names_columns_that_are_only_read(tmp_path):
    tfrkit.build.table(pa.table({"n": [1, 2], "m": [3, 4]}), tmp_path / "out", where="n > 1", columns=["m"])
    [made] = json.loads((tmp_path / "out" / "manifest.json").read_bytes())["jobs"].values()
    assert made["made_by"]["columns"] == [
        {"name": "m", "feature": "m", "kind": "int64"},
        {"name": "n", "feature": "n", "kind": "int64", "written": False},
    ]
    assert spec_from_data(made["spec"]) == {"m": tfrkit.FixedLenFeature([], "int64")}


def test_killed_build_resumes(tmp_path):
    write_lines(tmp_path / "a.jsonl", *({"n": n % 7, "s": "text" * 50} for n in range(40_000)))
    script = (
        "import sys, tfrkit; tfrkit.build.table(sys.argv[1], sys.argv[2], where='n in (1, 5)', drop=['n'], shards=8, "
        "workers=1)"
    )
    tfrkit.build.table(tmp_path / "a.jsonl", tmp_path / "whole", where="n in (1, 5)", drop=["n"], shards=8)
    process = subprocess.Popen([sys.executable, "-c", script, tmp_path / "a.jsonl", tmp_path / "out"])
    while process.poll() is None and len(list((tmp_path / "out").glob("*.tfrecord"))) < 2:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    process.wait()
    report = tfrkit.build.table(
        tmp_path / "a.jsonl", tmp_path / "out", where="n in (1, 5)", drop=["n"], shards=8
    )
    assert 1 <= report.resumed <= 8  # the last one may not be in the journal yet
    assert report.passed + report.records == 40_000
    assert content(tmp_path / "out") == content(tmp_path / "whole")


@pytest.mark.parametrize(
    ("where", "text"),
    [
        ("lable > 3", "where (--where): no input has a column 'lable'. Did you mean 'label'?"),
        (
            "label == 'x'",
            "where (--where): expected to compare 'label' with a number but got text: the column is int64. Text ",
        ),
        (
            "not (x or s > 3)",
            "where (--where): expected to compare 's' with text but got the number 3: the column is bytes. Text ",
        ),
        (3, "Expected a text for where (--where) but got 3."),
        ("label >", "Expected a number, or text in quotes at character 8 of 'label >' but got the end. "),
    ],
)
def test_expression_that_does_not_fit_is_an_error(where, text, tmp_path):
    table = pa.table({"label": [1], "x": [0.5], "s": ["a"]})
    with pytest.raises(InvalidArgumentError) as caught:
        tfrkit.build.table(table, tmp_path / "out", where=where)
    assert str(caught.value).startswith(text)
    assert not (tmp_path / "out").exists()


def test_column_that_no_feature_holds_cannot_be_compared(tmp_path):
    table = pa.table({"n": [1], "m": pa.array([[[1]]])})
    with pytest.raises(InvalidArgumentError) as caught:
        tfrkit.build.table(table, tmp_path / "out", where="m", drop=["m"])
    assert str(caught.value) == (
        "table: where (--where): column 'm' cannot be compared: values of the Arrow type "
        f"{table.schema.field('m').type} have no place in a feature. Make one list of each."
    )


def test_feature_list_cannot_be_compared(tmp_path):
    write_lines(tmp_path / "a.jsonl", {"n": 1, "$feature_lists": {"f": [[1], [2]]}})
    with pytest.raises(InvalidArgumentError) as caught:
        tfrkit.build.table(tmp_path / "a.jsonl", tmp_path / "out", where="`$feature_lists/f` > 1")
    assert str(caught.value) == (
        "where (--where): '$feature_lists/f' is a feature list of SequenceExamples, which cannot be compared. "
        "Compare a feature."
    )
    found = tfrkit.build.table(tmp_path / "a.jsonl", tmp_path / "out", where="n > 1")
    assert (found.records, found.passed) == (0, 1)
