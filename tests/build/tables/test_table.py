"""build.table as a whole: shards, names, partitions, bytes that depend on nothing but input and options."""

from __future__ import annotations

import bz2
import gzip
import json
import os

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet

import tfrkit
from tests.build.support.tables import build, content, one_by_one, rows, write_lines
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, NotFoundError

COLUMNS = {
    "n": list(range(50)),
    "x": [n / 4 for n in range(50)],
    "s": [None if n % 7 == 0 else f"text {n}" for n in range(50)],
}
EXPECTED = [
    {"n": [n], "x": [n / 4], **({} if n % 7 == 0 else {"s": [f"text {n}".encode()]})} for n in range(50)
]


def write_jsonl(path, table):
    write_lines(path, *({k: v for k, v in row.items() if v is not None} for row in table.to_pylist()))


def write_arrow(path, table):
    with ipc.new_file(str(path), table.schema) as writer:
        writer.write_table(table, max_chunksize=9)


def write_text(path, table):
    tab, null = ("\x01", "\\N") if path.suffix == "" else ("\t" if path.suffix == ".tsv" else ",", "NULL")
    lines = [] if path.suffix == "" else [tab.join(table.column_names)]
    lines += [
        tab.join(null if value is None else str(value) for value in row.values()) for row in table.to_pylist()
    ]
    path.write_text("\n".join(lines) + "\n")


FORMATS = {
    "csv": (".csv", write_text, {"nulls": ["NULL"]}),
    "tsv": (".tsv", write_text, {"nulls": ["NULL"]}),
    "hive": ("", write_text, {"names": ["n", "x", "s"]}),
    "jsonl": (".jsonl", write_jsonl, {}),
    "parquet": (".parquet", lambda path, table: parquet.write_table(table, path, row_group_size=13), {}),
    "arrow": (".arrow", write_arrow, {}),
}


@pytest.fixture(params=FORMATS)
def table_files(request, tmp_path):
    """A folder with two files of one format, and the options that it needs."""
    suffix, write, options = FORMATS[request.param]
    (tmp_path / "in").mkdir()
    table = pa.table(COLUMNS)
    write(tmp_path / "in" / f"a{suffix}", table.slice(0, 30))
    write(tmp_path / "in" / f"b{suffix}", table.slice(30))
    (tmp_path / "in" / "_SUCCESS").write_bytes(b"")
    return tmp_path / "in", {"format": request.param, **options}


class TestEveryFormat:
    def test_gives_the_same_rows(self, table_files, tmp_path):
        source, options = table_files
        assert one_by_one(source, tmp_path / "out", **options) == EXPECTED

    def test_gives_the_same_bytes_with_any_number_of_workers(self, table_files, tmp_path):
        source, options = table_files
        for workers in (1, 2, 5):
            build(source, tmp_path / str(workers), shards=4, workers=workers, **options)
        assert content(tmp_path / "1") == content(tmp_path / "2") == content(tmp_path / "5")

    def test_cuts_rows_evenly(self, table_files, tmp_path):
        source, options = table_files
        _, report = build(source, tmp_path / "out", shards=4, **options)
        assert [shard.records for shard in report.shards] == [12, 13, 12, 13]
        assert report.shards[0].name == "data-00000-of-00004.tfrecord"
        assert rows(tmp_path / "out") == EXPECTED

    def test_writes_a_file_for_each_input(self, table_files, tmp_path):
        source, options = table_files
        _, report = build(source, tmp_path / "out", shards="per-input", **options)
        assert [(shard.name, shard.records) for shard in report.shards] == [
            ("a.tfrecord", 30),
            ("b.tfrecord", 20),
        ]
        assert rows(tmp_path / "out") == EXPECTED

    def test_shuffles_all_rows_by_the_seed(self, table_files, tmp_path):
        source, options = table_files
        found = {}
        for name, workers, seed in (("a", 1, 1), ("b", 3, 1), ("c", 1, 2)):
            found[name], _ = build(
                source, tmp_path / name, shards=3, shuffle=True, seed=seed, workers=workers, **options
            )
        assert found["a"] == found["b"] != found["c"]
        assert found["a"] != EXPECTED
        assert sorted(found["a"], key=lambda row: row["n"][0]) == EXPECTED
        assert sorted(found["c"], key=lambda row: row["n"][0]) == EXPECTED

    def test_takes_options_for_columns(self, table_files, tmp_path):
        source, options = table_files
        found = one_by_one(
            source,
            tmp_path / "out",
            columns=["s", "n"],
            rename={"n": "id"},
            null_value={"s": "?"},
            column=["n:float", "s:bytes[ ]"],
            **options,
        )
        assert found[:2] == [{"id": [0.0], "s": [b"?"]}, {"id": [1.0], "s": [b"text", b"1"]}]

    def test_counts_what_does_not_fit(self, table_files, tmp_path):
        source, options = table_files
        found, report = build(source, tmp_path / "out", drop=["x"], column=["s:int64"], shards=3, **options)
        assert [row["n"] for row in found] == [[n] for n in range(0, 50, 7)]
        assert sum(report.bad.values()) == 42
        assert {bad.source for bad in report.listed} == {path.name for path in source.iterdir()} - {
            "_SUCCESS"
        }

    def test_raises_at_the_first_bad_row(self, table_files, tmp_path):
        source, options = table_files
        with pytest.raises(InvalidArgumentError, match=r"a(\.\w+)?(, line [123]:|: ).*--on-bad skip"):
            build(
                source, tmp_path / "out", column=["s:int64"], on_bad="raise", workers=2, shards=4, **options
            )
        assert not list((tmp_path / "out").glob("*.tfrecord"))

    def test_is_done_once(self, table_files, tmp_path):
        source, options = table_files
        build(source, tmp_path / "out", **options)
        before = content(tmp_path / "out")
        _, report = build(source, tmp_path / "out", **options)
        assert report.resumed == len(report.shards)
        with pytest.raises(AlreadyExistsError):
            build(source, tmp_path / "out", **{**options, "drop": ["x"]})
        assert content(tmp_path / "out") == before
        build(source, tmp_path / "out", overwrite=True, **{**options, "drop": ["x"]})
        assert "x" not in rows(tmp_path / "out")[0]

    def test_changed_input_is_another_job(self, table_files, tmp_path):
        source, options = table_files
        build(source, tmp_path / "out", **options)
        [last] = source.glob("b*")
        [first] = source.glob("a*")
        last.write_bytes(first.read_bytes())
        with pytest.raises(AlreadyExistsError):
            build(source, tmp_path / "out", **options)

    def test_stops_when_progress_says_so(self, table_files, tmp_path):
        source, options = table_files

        def stop(_):
            raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build(source, tmp_path / "out", progress=stop, shards=3, **options)
        assert one_by_one(source, tmp_path / "out", shards=3, **options) == EXPECTED

    def test_writes_what_the_manifest_says(self, table_files, tmp_path):
        source, options = table_files
        build(source, tmp_path / "out", compression="GZIP", **options)
        text = (tmp_path / "out" / "manifest.json").read_text()
        assert str(tmp_path) not in text
        [job] = json.loads(text)["jobs"].values()
        spec = tfrkit.spec_from_json(json.dumps(job["spec"]))
        assert sorted(spec) == ["n", "s", "x"]
        assert job["made_by"]["source"]["files"] == 2
        batch = tfrkit.parse_example(list(tfrkit.read_records(f"{tmp_path}/out/*.tfrecord.gz")), spec)
        assert len(batch["n"]) == 50


# -- partitions --------------------------------------------------------------------------------------------------------


def test_folders_become_columns(tmp_path):
    write_lines(tmp_path / "t" / "dt=2024-01-01" / "hour=3" / "0", {"a": 1}, {"a": 2})
    write_lines(tmp_path / "t" / "dt=2024-01-02" / "hour=__HIVE_DEFAULT_PARTITION__" / "0", {"a": 3})
    found = one_by_one(tmp_path / "t", tmp_path / "out")
    day = {"dt": [b"2024-01-01"], "hour": [3]}
    assert found == [{"a": [1], **day}, {"a": [2], **day}, {"a": [3], "dt": [b"2024-01-02"]}]
    assert one_by_one(tmp_path / "t", tmp_path / "plain", partitions=False) == [{"a": [n]} for n in (1, 2, 3)]


def test_columns_of_folders_take_options(tmp_path):
    write_lines(tmp_path / "t" / "k=1" / "0", {"a": 1})
    write_lines(tmp_path / "t" / "k=__HIVE_DEFAULT_PARTITION__" / "0", {"a": 2})
    options = {"column": ["k:float"], "rename": {"k": "key"}, "null_value": {"k": -1}}
    found = one_by_one(tmp_path / "t", tmp_path / "out", **options)
    assert found == [{"a": [1], "key": [1.0]}, {"a": [2], "key": [-1.0]}]


def test_only_columns_of_folders(tmp_path):
    write_lines(tmp_path / "t" / "k=1" / "0", {"a": 1}, {"a": "x"})
    write_lines(tmp_path / "t" / "k=2" / "0", {"b": [1]})
    assert one_by_one(tmp_path / "t", tmp_path / "out", columns=["k"]) == [{"k": [1]}, {"k": [1]}, {"k": [2]}]


def test_folder_that_does_not_fit_its_column_is_an_error(tmp_path):
    write_lines(tmp_path / "t" / "k=x" / "0", {"a": 1})
    with pytest.raises(
        InvalidArgumentError, match=r"partition column 'k': 'x' is not an int64.*--column k:bytes"
    ):
        build(tmp_path / "t", tmp_path / "out", column=["k:int64"])


def test_per_input_joins_folders_into_the_name(tmp_path):
    write_lines(tmp_path / "t" / "k=1" / "0", {"a": 1})
    write_lines(tmp_path / "t" / "k=2" / "0", b"")
    write_lines(tmp_path / "t" / "sub" / "b.jsonl", {"a": 2})
    _, report = build(tmp_path / "t", tmp_path / "out", shards="per-input", format="jsonl")
    assert [(shard.name, shard.records) for shard in report.shards] == [
        ("k=1__0.tfrecord", 1),
        ("k=2__0.tfrecord", 0),
        ("sub__b.tfrecord", 1),
    ]


def test_per_input_with_two_files_of_one_name_is_an_error(tmp_path):
    write_lines(tmp_path / "t" / "a.jsonl", {"a": 1})
    write_lines(tmp_path / "t" / "a.json", {"a": 1})
    with pytest.raises(InvalidArgumentError, match=r"Two files of the output would be called 'a\.tfrecord'"):
        build(tmp_path / "t", tmp_path / "out", shards="per-input")


def test_names_in_any_bytes(tmp_path):
    name = os.fsdecode("数据 \udcff".encode("utf-8", "surrogateescape"))
    for suffix, write, options in FORMATS.values():
        folder = tmp_path / f"in{suffix}"
        folder.mkdir()
        write(folder / f"x{suffix}", pa.table(COLUMNS))
        [path] = folder.iterdir()
        os.rename(path, folder / f"{name}{suffix}")
        form = suffix[1:] or "hive"
        out = tmp_path / f"{name}{suffix} out"
        assert one_by_one(folder, out, format=form, shards="per-input", **options) == EXPECTED


# -- shards ------------------------------------------------------------------------------------------------------------


def test_more_shards_than_rows_leave_some_empty(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"a": 1}, {"a": 2})
    _, report = build(path, tmp_path / "out", shards=5)
    assert [shard.records for shard in report.shards] == [0, 0, 1, 0, 1]


def test_number_of_shards_comes_from_their_size(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", *({"a": "x" * 1000} for _ in range(100)))
    _, report = build(path, tmp_path / "out", shard_bytes=30_000)
    assert len(report.shards) == 4
    assert max(shard.bytes for shard in report.shards) <= 30_000


def test_prefix_and_compression_are_in_the_names(tmp_path):
    path = write_lines(tmp_path / "a.jsonl", {"a": 1})
    _, report = build(path, tmp_path / "out", prefix="train", compression="gzip", shards=1)
    assert [shard.name for shard in report.shards] == ["train-00000-of-00001.tfrecord.gz"]


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"shards": 0}, "at least 1"),
        ({"shards": "each"}, "Expected 'per-input' or a whole number of at least 1 for shards"),
        ({"shards": 2, "shard_bytes": 10}, "not both"),
        ({"shards": "per-input", "shard_bytes": 10}, "not both"),
        ({"shards": "per-input", "shuffle": True}, "Leave out one of them"),
        ({"max_field": 0}, "max_field"),
        (
            {"format": "xml"},
            "Expected one of 'csv', 'tsv', 'hive', 'jsonl', 'json', 'parquet', 'arrow' for format",
        ),
        ({"prefix": "a/b"}, "'a/b'"),
        ({"column": ["a"]}, "NAME:KIND"),
    ],
)
def test_wrong_options_are_errors(tmp_path, options, text):
    path = write_lines(tmp_path / "a.jsonl", {"a": 1})
    with pytest.raises(InvalidArgumentError, match=text):
        build(path, tmp_path / "out", **options)
    assert not list(tmp_path.glob("out/*.tfrecord"))


def test_columns_that_a_file_lacks_are_absent(tmp_path):
    write_lines(tmp_path / "in" / "a.jsonl", {"a": 1})
    write_lines(tmp_path / "in" / "b.jsonl", {"b": 2})
    assert one_by_one(tmp_path / "in", tmp_path / "out") == [{"a": [1]}, {"b": [2]}]
    assert one_by_one(tmp_path / "in", tmp_path / "some", columns=["a"]) == [{"a": [1]}, {}]
    found = one_by_one(tmp_path / "in", tmp_path / "filled", null_value=0)
    assert found == [{"a": [1], "b": [0]}, {"a": [0], "b": [2]}]


def test_no_rows_in_any_file_is_an_error(tmp_path):
    for name in ("a", "b"):
        write_lines(tmp_path / "in" / f"{name}.jsonl")
    with pytest.raises(
        InvalidArgumentError, match=r"No rows in the input: .*a\.jsonl and 1 more files\. Check"
    ):
        build(tmp_path / "in", tmp_path / "out")
    with pytest.raises(NotFoundError, match="No input files were given"):
        build([], tmp_path / "out")


def test_later_misfit_is_a_bad_line_and_never_another_kind(tmp_path):
    lines = [{"a": n} for n in range(2000)]
    path = write_lines(tmp_path / "a.jsonl", *lines, {"a": "late"})
    found, _ = build(path, tmp_path / "out")  # settled over all lines
    assert found[0] == {"a": [b"0"]}
    found, report = build(path, tmp_path / "given", column={"a": "int64"})
    assert found[-1] == {"a": [1999]}
    assert [(bad.line, bad.detail) for bad in report.listed] == [(2001, "column 'a': 'late' is not an int64")]


def test_error_of_a_survey_ends_the_others(tmp_path):
    (tmp_path / "in").mkdir()
    parquet.write_table(pa.table(COLUMNS), tmp_path / "in" / "a.parquet")
    (tmp_path / "in" / "b.parquet").write_bytes(b"PAR1")
    with pytest.raises(ValueError, match=r"b\.parquet: this is not a whole Parquet file"):
        build(tmp_path / "in", tmp_path / "out", workers=2)


def test_text_that_changed_far_from_its_end_is_another_source(tmp_path):
    source = tmp_path / "a.tsv"
    source.write_text("n\tx\n" + "1\tsome text\n" * 20_000)  # the tail alone, 64 kB, would say the same
    tfrkit.build.table(source, tmp_path / "out")
    data = bytearray(source.read_bytes())
    data[4:5] = b"2"
    source.write_bytes(data)
    with pytest.raises(AlreadyExistsError, match="Its source was another"):
        tfrkit.build.table(source, tmp_path / "out")


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".CSV.GZ", ".tsv.bz2"])
def test_a_file_for_each_input_has_no_suffix_of_the_input(tmp_path, suffix):
    text = b"x\n1\n"
    pack = {"gz": gzip.compress, "bz2": bz2.compress}.get(suffix.lower().rpartition(".")[2], bytes)
    (tmp_path / f"a.b{suffix}").write_bytes(pack(text))
    report = tfrkit.build.table(tmp_path / f"a.b{suffix}", tmp_path / "out", shards="per-input")
    assert [shard.name for shard in report.shards] == ["a.b.tfrecord"]
