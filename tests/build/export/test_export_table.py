"""Exports to tables: nothing is lost where nothing may be, and the rest is said."""

from __future__ import annotations

import csv
import dataclasses
import errno
import io
import json
import os
import sys

import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given, settings

import tfrkit
from tests.build.support.export_samples import EXAMPLES, NO_BYTES, any_examples, records_of, sequences, write
from tfrkit.build.export.export_options import FORMATS
from tfrkit.build.export.export_paths import plan_targets
from tfrkit.build.export.export_table import export
from tfrkit.errors import (
    AlreadyExistsError,
    DataLossError,
    InvalidArgumentError,
    MissingExtraError,
    NotFoundError,
    OpError,
)
from tfrkit.scanning.columns import settle_columns

LOSSLESS = ["parquet", "arrow", "jsonl"]


def canonical(record: bytes, kind: type) -> bytes:
    return kind.FromString(record).SerializeToString(deterministic=True)


@pytest.mark.parametrize("form", LOSSLESS)
def test_examples_come_back_byte_by_byte(tmp_path, form):
    source = write(tmp_path / "a.tfrecord", EXAMPLES)
    report = export(source, tmp_path / f"a.{form}")
    assert report.records == 4
    assert report.dropped == {}
    assert records_of(tmp_path / f"a.{form}") == list(tfrkit.read_records(source))


@pytest.mark.parametrize("form", LOSSLESS)
def test_chunks_of_one_file_come_back(tmp_path, form, monkeypatch):
    monkeypatch.setitem(FORMATS, form, FORMATS[form]._replace(chunk_bytes=1))
    sources = [
        write(tmp_path / f"{number}.tfrecord", {"one": [b"x"], str(number): [[1, 2]], "e": [NO_BYTES]})
        for number in range(3)
    ]
    export(sources, tmp_path / f"a.{form}")
    assert records_of(tmp_path / f"a.{form}") == list(tfrkit.read_records(sources))


@pytest.mark.parametrize("form", LOSSLESS)
def test_sequence_examples_come_back(tmp_path, form):
    source = write(tmp_path / "a.tfrecord", sequences())
    export(source, tmp_path / f"a.{form}")
    kind = tfrkit.SequenceExample
    before = [canonical(record, kind) for record in tfrkit.read_records(source)]
    assert [canonical(record, kind) for record in records_of(tmp_path / f"a.{form}")] == before


@pytest.mark.parametrize("form", LOSSLESS)
def test_records_that_are_not_canonical_come_back_as_equal_messages(tmp_path, form):
    unpacked = b"\x0a\x0e\x0a\x0c\x0a\x01a\x12\x07\x1a\x05\x08\x01\x08\x80\x01"  # a list value by value
    seven = b"\x0a\x0c\x0a\x0a\x0a\x01a\x12\x05\x1a\x03\x0a\x01\x07"
    twice = seven + seven[:-1] + b"\x08"
    source = write(tmp_path / "a.tfrecord", [unpacked, twice])
    export(source, tmp_path / f"a.{form}")
    before = [tfrkit.Example.FromString(record) for record in (unpacked, twice)]
    assert [tfrkit.Example.FromString(record) for record in records_of(tmp_path / f"a.{form}")] == before


@settings(max_examples=25)
@given(any_examples())
def test_any_examples_come_back(tmp_path_factory, messages):
    folder = tmp_path_factory.mktemp("any")
    source = write(folder / "a.tfrecord", messages)
    for form in LOSSLESS:
        export(source, folder / f"a.{form}")
        found = records_of(folder / f"a.{form}")
        assert [canonical(record, tfrkit.Example) for record in found] == messages


def test_bytes_do_not_depend_on_the_number_of_workers(tmp_path):
    for number in range(3):
        write(tmp_path / f"a{number}.tfrecord", EXAMPLES)
    for form in (*LOSSLESS, "csv"):
        for workers in (1, 3):
            export(f"{tmp_path}/*.tfrecord", tmp_path / f"{form}{workers}", form, workers=workers)
        for number in range(3):
            name = f"a{number}.{form}"
            assert (tmp_path / f"{form}1" / name).read_bytes() == (tmp_path / f"{form}3" / name).read_bytes()


def test_columns_are_settled_over_all_files(tmp_path):
    write(tmp_path / "a.tfrecord", {"x": [1], "only a": ["t"]})
    write(tmp_path / "b.tfrecord", {"x": [[1, 2]]})
    report = export(f"{tmp_path}/*.tfrecord", tmp_path / "out", "parquet")
    assert report.columns == {"only a": "bytes", "x": "list of int64"}
    tables = [pyarrow.parquet.read_table(file.path) for file in report.files]
    assert tables[0].schema == tables[1].schema
    assert tables[1].to_pylist() == [{"only a": None, "x": [1, 2]}]


def test_one_file_holds_all_inputs_in_order(tmp_path):
    sources = [write(tmp_path / f"{name}.tfrecord", {"x": [name]}) for name in ("b", "a")]
    report = export(sources, tmp_path / "all.jsonl")
    assert (tmp_path / "all.jsonl").read_text() == '{"x": "b"}\n{"x": "a"}\n'
    assert [file.records for file in report.files] == [2]
    assert report.bytes == os.path.getsize(tmp_path / "all.jsonl")


def test_keys_choose_columns_and_their_order(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"a": [1], "b": [2], "c": [3]})
    export(source, tmp_path / "a.jsonl", columns=["c", "a"])
    assert (tmp_path / "a.jsonl").read_text() == '{"c": 3, "a": 1}\n'
    with pytest.raises(InvalidArgumentError, match=r"no record has a feature 'd'. There are 'a', 'b', 'c'"):
        export(source, tmp_path / "b.jsonl", columns=["d"])


def test_too_many_features_are_refused_unless_some_are_chosen(tmp_path):
    schema = tfrkit.inspect(write(tmp_path / "a.tfrecord", {"a": [1], "b": [2]}))
    schema = dataclasses.replace(schema, not_followed=7)
    with pytest.raises(
        InvalidArgumentError, match=r"too many different features for one table: 7 more than 2\. Choose"
    ):
        settle_columns(schema)
    assert [column.name for column in settle_columns(schema, ["b"])] == ["b"]
    with pytest.raises(InvalidArgumentError, match=r"'a', 'b'. 7 more were not noted: too many"):
        settle_columns(schema, ["c"])


def test_record_that_is_no_example_is_refused_and_named(tmp_path):
    source = write(tmp_path / "a.tfrecord", [b"\x0a\x00", b"no example"])
    with pytest.raises(
        InvalidArgumentError, match=r"neither an Example nor a SequenceExample is record 1 of"
    ) as caught:
        export(source, tmp_path / "a.parquet")
    assert caught.value.record == 1
    assert not (tmp_path / "a.parquet").exists()


def test_conflicting_kinds_are_refused_unless_left_out(tmp_path):
    block = (
        tfrkit.encode_examples({"x": [1], "y": [1]}).to_list()
        + tfrkit.encode_examples({"x": ["a"]}).to_list()
    )
    source = write(tmp_path / "a.tfrecord", block)
    with pytest.raises(InvalidArgumentError, match=r"'x' is int64 in 1 .* and bytes in 1 .*--key"):
        export(source, tmp_path / "a.arrow")
    export(source, tmp_path / "a.jsonl", columns=["y"])
    assert (tmp_path / "a.jsonl").read_text() == '{"y": 1}\n{}\n'


def test_feature_without_a_kind_is_absent_and_counted_unless_it_is_refused(tmp_path):
    message = tfrkit.make_example({"y": 1})
    message.features.feature["x"].SetInParent()
    source = write(tmp_path / "a.tfrecord", [message.SerializeToString()])
    with pytest.raises(
        InvalidArgumentError, match=r"in 1 records the feature 'x' has no kind.*--unset absent"
    ):
        export(source, tmp_path / "a.jsonl", unset="raise")
    counted = {"features without a kind, which are written as absent": 1}
    assert export(source, tmp_path / "a.jsonl").dropped == counted
    assert (tmp_path / "a.jsonl").read_text() == '{"y": 1}\n'
    for name in ("a.parquet", "a.arrow", "a.csv"):
        assert export(source, tmp_path / name).dropped == counted
    assert export(source, tmp_path / "y.parquet", columns=["y"]).dropped == {}


@pytest.mark.parametrize("form", LOSSLESS)
def test_only_steps_without_a_kind_are_empty_too(form, tmp_path):
    path = write(tmp_path / "a", tfrkit.encode_sequence_examples({"n": [1, 2]}, {"s": [[[]], [[], []]]}))
    assert export(path, tmp_path / f"out.{form}", form).records == 2


def test_steps_without_a_kind_are_empty_and_counted(tmp_path):
    message = tfrkit.SequenceExample()
    message.context.feature["y"].int64_list.value.append(1)
    message.feature_lists.feature_list["x"].feature.add().int64_list.value.append(7)
    message.feature_lists.feature_list["x"].feature.add()
    source = write(tmp_path / "a.tfrecord", [message.SerializeToString()])
    report = export(source, tmp_path / "a.jsonl")
    assert report.dropped == {"steps of feature lists without a kind, which are written as empty lists": 1}
    assert json.loads((tmp_path / "a.jsonl").read_text()) == {"y": 1, "$feature_lists": {"x": [[7], []]}}


def test_records_without_any_feature_have_no_columns(tmp_path):
    source = write(tmp_path / "a.tfrecord", [b"", b"\x0a\x00"])
    with pytest.raises(InvalidArgumentError, match="none of the 2 records has any"):
        export(source, tmp_path / "a.parquet")


@pytest.mark.parametrize("form", [*LOSSLESS, "csv"])
def test_file_without_records_is_an_export_without_rows(tmp_path, form):
    source = write(tmp_path / "a.tfrecord", [])
    assert export(source, tmp_path / f"a.{form}").records == 0
    assert (tmp_path / f"a.{form}").exists()


def test_feature_that_is_called_like_the_place_of_lists_is_refused_in_json(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"$feature_lists": [1]})
    with pytest.raises(InvalidArgumentError, match="cannot stand in JSON lines"):
        export(source, tmp_path / "a.jsonl")
    assert records_of(export_to(source, tmp_path / "a.parquet")) == list(tfrkit.read_records(source))


def export_to(source, target):
    export(source, target)
    return target


# -- CSV ---------------------------------------------------------------------------------------------------------------


def test_csv_says_what_it_drops(tmp_path):
    source = write(tmp_path / "a.tfrecord", EXAMPLES)
    report = export(source, tmp_path / "a.csv")
    assert report.dropped == {
        "NaNs with unusual bits": 2,
        "absent features, empty lists and empty texts, which are all empty fields": 21,
        "byte strings that are not UTF-8, as base64": 2,
        "texts with the separator of lists in them, in lists": 1,
    }
    rows = list(csv.DictReader(io.StringIO((tmp_path / "a.csv").read_text("utf-8"), newline="")))
    assert rows[0]["lists"] == "1|2"
    assert rows[2][""] == '中文 \u2028 \x00 "quoted"'
    assert rows[3][""] == "//4="
    assert rows[2]["x.y"] == "-inf|1e-45|3.4028235e+38|0.1"


TEXTS = [
    "a\rb",
    "a\nb",
    "a\r\nb",
    "\r",
    'say "hi"',
    '"',
    "a,b",
    "a\tb",
    " x ",
    "\ufeffx",
    "'",
    "\\",
    "\x1c",
    "\u2028",
    "\x85",
]


@pytest.mark.parametrize("suffix", ["csv", "tsv"])
@pytest.mark.parametrize("name", ["x", " x ", "\ufeffx", "a\rb", 'a"b', "a\tb,"])
def test_texts_come_back_from_csv(tmp_path, suffix, name):
    source = write(tmp_path / "a.tfrecord", {name: TEXTS, "n": list(range(len(TEXTS)))})
    export(source, tmp_path / f"a.{suffix}", columns=[name, "n"])
    with open(tmp_path / f"a.{suffix}", encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file, delimiter="\t" if suffix == "tsv" else ","))
    assert rows == [[name, "n"], *([text, str(number)] for number, text in enumerate(TEXTS))]
    quote = '"' if suffix == "tsv" else None  # which tab-separated text has not as a rule
    tfrkit.build.table(tmp_path / f"a.{suffix}", tmp_path / "out", quote=quote)
    back = [tfrkit.to_dict(record) for record in tfrkit.read_records(f"{tmp_path}/out/*.tfrecord")]
    assert [(example[name][0].decode(), example["n"][0]) for example in back] == list(
        zip(TEXTS, range(99), strict=False)
    )


def test_texts_that_are_empty_come_back_as_absent_and_are_counted(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"x": ["a", "", None]})
    report = export(source, tmp_path / "a.csv")
    assert report.dropped == {"absent features, empty lists and empty texts, which are all empty fields": 2}
    assert (tmp_path / "a.csv").read_bytes() == b'x\na\n""\n""\n'
    assert tfrkit.build.table(tmp_path / "a.csv", tmp_path / "out").records == 3


def test_csv_leaves_feature_lists_out(tmp_path):
    source = write(tmp_path / "a.tfrecord", sequences())
    report = export(source, tmp_path / "a.tsv")
    assert report.dropped["feature lists, which are left out"] == 10
    assert (tmp_path / "a.tsv").read_text() == "ratings\tuser\n1\tu1\n2\t\n\tu3\n4\tu4\n"


def test_csv_marks_must_differ(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"x": [1]})
    with pytest.raises(InvalidArgumentError, match=r"but got '\|' and '\|'"):
        export(source, tmp_path / "a.csv", delimiter="|")


# -- options and files -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("compression", ["zstd", "snappy", "gzip", "lz4", "brotli", "none"])
def test_parquet_is_compressed_as_asked(tmp_path, compression):
    source = write(tmp_path / "a.tfrecord", {"x": [1]})
    export(source, tmp_path / "a.parquet", compression=compression)
    column = pyarrow.parquet.ParquetFile(tmp_path / "a.parquet").metadata.row_group(0).column(0)
    assert column.compression.lower() == {"none": "uncompressed"}.get(compression, compression)


@pytest.mark.parametrize("compression", ["none", "lz4", "zstd"])
def test_arrow_is_compressed_as_asked(tmp_path, compression):
    source = write(tmp_path / "a.tfrecord", {"x": np.zeros(10_000, np.int64)})
    export(source, tmp_path / "a.arrow", compression=compression)
    assert (os.path.getsize(tmp_path / "a.arrow") < 20_000) == (compression != "none")
    assert records_of(tmp_path / "a.arrow") == list(tfrkit.read_records(source))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"compression": "xz"}, r"expected a compression of parquet \(zstd, .*\) but got 'xz'"),
        ({"compression": "none", "level": 3}, "the compression 'none' has no levels"),
        ({"format": "csv"}, r"expected an output for csv but '.*a\.parquet' ends like a file of parquet"),
        ({"format": "orc"}, "expected a format, parquet, arrow, jsonl, csv, but got 'orc'"),
    ],
)
def test_options_that_do_not_fit_are_refused(tmp_path, options, message):
    source = write(tmp_path / "a.tfrecord", {"x": [1]})
    with pytest.raises(InvalidArgumentError, match=message):
        export(source, tmp_path / "a.parquet", **options)
    assert os.listdir(tmp_path) == ["a.tfrecord"]


@pytest.mark.parametrize("form", ["parquet", "arrow"])
def test_without_pyarrow_the_extra_is_named_at_once(tmp_path, form, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingExtraError, match=r"export to .* needs the package pyarrow.*tfrkit\[arrow\]"):
        export(tmp_path / "is not even looked for", tmp_path / f"a.{form}")
    source = write(tmp_path / "a.tfrecord", {"x": [1]})
    export(source, tmp_path / "a.jsonl")
    export(source, tmp_path / "a.csv")


def test_folder_needs_a_format(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"x": [1]})
    with pytest.raises(InvalidArgumentError, match=r"or an output that ends with one, such as data.parquet"):
        export(source, tmp_path / "out")


def test_existing_output_is_kept_unless_overwritten(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"x": [1]})
    target = tmp_path / "a.jsonl"
    target.write_text("old")
    with pytest.raises(AlreadyExistsError, match="the file exists already"):
        export(source, target)
    assert target.read_text() == "old"
    export(source, target, overwrite=True)
    assert target.read_text() == '{"x": 1}\n'


def test_input_is_never_the_output(tmp_path):
    source = write(tmp_path / "a.csv", {"x": [1]})
    before = source.read_bytes()
    with pytest.raises(
        InvalidArgumentError,
        match=r"the output is an input\. Choose another one\.",
    ):
        export(source, source, overwrite=True)
    assert source.read_bytes() == before


def test_stream_cannot_be_exported(tmp_path):
    with pytest.raises(InvalidArgumentError, match="the records are read twice"):
        export(io.BytesIO(b""), tmp_path / "a.jsonl")


def test_missing_file_is_named(tmp_path):
    with pytest.raises(NotFoundError, match=r"nothing\.tfrecord"):
        export(tmp_path / "nothing.tfrecord", tmp_path / "a.jsonl")


def test_damage_ends_an_export_or_is_passed_over(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"x": list(range(100))})
    content = bytearray(source.read_bytes())
    content[1000] ^= 1
    source.write_bytes(content)
    with pytest.raises(DataLossError, match="corrupted record"):
        export(source, tmp_path / "a.parquet")
    assert os.listdir(tmp_path) == ["a.tfrecord"]
    report = export(source, tmp_path / "a.parquet", on_corrupt="skip")
    assert (report.records, report.skipped) == (99, 1)


@pytest.mark.parametrize("form", [*LOSSLESS, "csv"])
def test_full_disk_leaves_nothing(tmp_path, form, monkeypatch):
    source = write(tmp_path / "a.tfrecord", {"x": [b"x" * 1000] * 100})

    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tfrkit.stores.output.os.write", full)
    monkeypatch.setattr("tfrkit.stores.output.os.writev", full)
    with pytest.raises(OSError, match="No space left on device"):
        export(source, tmp_path / f"a.{form}")
    assert os.listdir(tmp_path) == ["a.tfrecord"]


@pytest.mark.parametrize("form", [*LOSSLESS, "csv"])
def test_interruption_leaves_nothing_half(tmp_path, form):
    for number in range(4):
        write(tmp_path / f"{number}.tfrecord", {"x": [b"x" * 100] * 1000})

    def interrupt(now):
        if now.shards_done == 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        export(f"{tmp_path}/*.tfrecord", tmp_path / "out", form, workers=2, progress=interrupt)
    assert os.listdir(tmp_path / "out") == []
    assert export(f"{tmp_path}/*.tfrecord", tmp_path / "out", form).records == 4000
    before = {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()}
    write(tmp_path / "0.tfrecord", {"x": [b"y"]})
    with pytest.raises(KeyboardInterrupt):
        export(f"{tmp_path}/*.tfrecord", tmp_path / "out", form, overwrite=True, progress=interrupt)
    assert {path.name: path.read_bytes() for path in (tmp_path / "out").iterdir()} == before


def test_names_that_cannot_be_given_leave_nothing(tmp_path, monkeypatch):
    for number in range(3):
        write(tmp_path / f"{number}.tfrecord", {"x": [1]})
    replace = os.replace

    def failing(old, new):
        if new.endswith("1.jsonl"):
            raise OSError(errno.EIO, "Input/output error")
        replace(old, new)

    monkeypatch.setattr(os, "replace", failing)
    with pytest.raises(OpError, match="Input/output error"):
        export(f"{tmp_path}/*.tfrecord", tmp_path / "out", "jsonl")
    assert os.listdir(tmp_path / "out") == []


def test_names_of_all_kinds(tmp_path):
    folder = os.fsencode(tmp_path / "数据 集")
    os.mkdir(folder)
    name = os.fsdecode(folder + b"/\xff \xe5\x90\x8d.tfrecord")
    write(name, {"x": [1]})
    report = export(name, tmp_path / "aus gabe", "parquet")
    assert os.listdir(os.fsencode(tmp_path / "aus gabe")) == [b"\xff \xe5\x90\x8d.parquet"]
    assert report.files[0].records == 1
    export(name, tmp_path / "aus gabe", "arrow")


def test_outputs_are_named_after_inputs():
    def names(*files):
        return [target.path for target in plan_targets(files, "out", (".csv",))]

    assert names("x/a-00000-of-00002.tfrecord.gz", "x/b.tfrec", "c") == [
        "out/a-00000-of-00002.csv",
        "out/b.csv",
        "out/c.csv",
    ]
    assert names("x/y/a.tfrecord", "x/z/a.tfrecord", "x/b") == ["out/y/a.csv", "out/z/a.csv", "out/b.csv"]
    assert names("a.tfrecord", "A.tfrecord") == ["out/a.csv", "out/A-2.csv"]
    assert names("a.tfrecord", "a.tfrecord.gz", "a-2") == ["out/a.csv", "out/a-3.csv", "out/a-2.csv"]


def test_progress_ends_at_the_whole(tmp_path):
    for number in range(3):
        write(tmp_path / f"a{number}.tfrecord", {"x": list(range(1000))})
    seen = []
    export(f"{tmp_path}/*.tfrecord", tmp_path / "out", "jsonl", progress=seen.append)
    assert seen[-1].done_bytes == seen[-1].total_bytes
    assert (seen[-1].records, seen[-1].shards_done, seen[-1].shards) == (3000, 3, 3)
    assert [now.done_bytes for now in seen] == sorted(now.done_bytes for now in seen)


def test_report_is_json(tmp_path):
    source = write(tmp_path / "a.tfrecord", {"x": [1]})
    report = json.loads(json.dumps(export(source, tmp_path / "a.jsonl").to_dict()))
    assert (report["records"], report["files"][0]["records"], report["columns"]) == (1, 1, {"x": "int64"})
