"""tfrkit.scan: what it gives is what is in the records, whatever is asked for and however it is read."""

from __future__ import annotations

import io
import os
import random
import subprocess
import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import tfrkit as tfr
from tests.records.support.examples import example, sequence, write
from tests.records.support.made import flip
from tfrkit.errors import DataLossError, InvalidArgumentError, NotFoundError
from tfrkit.records.access.zones import build_zones
from tfrkit.records.where import parse_where
from tfrkit.scanning import chunks as engine
from tfrkit.scanning.columns import ScanParser

WORDS = ["", "a", "b", "ab", "标签", "a" * 20, "\x00", "b\x00"]


def random_row(rng: random.Random) -> dict[str, Any]:
    row: dict[str, Any] = {}
    if rng.random() < 0.9:
        row["n"] = rng.choice([-(2**63), -1, 0, 1, 2, 2**63 - 1])
    if rng.random() < 0.7:
        row["f"] = rng.choice([float("nan"), float("inf"), -float("inf"), 0.0, -0.0, 0.1, 1.5])
    if rng.random() < 0.8:
        row["词"] = rng.choice(WORDS)
    if rng.random() < 0.6:
        row["ids"] = np.array([rng.randrange(4) for _ in range(rng.randrange(4))], np.int64)
    if rng.random() < 0.5:
        row["tags"] = [rng.choice(WORDS) for _ in range(rng.randrange(1, 3))]
    if rng.random() < 0.2:
        row["none"] = None
    return row


def random_where(rng: random.Random, depth: int = 2) -> str:
    if depth and rng.random() < 0.5:
        parts = [random_where(rng, depth - 1) for _ in range(rng.randrange(1, 3))]
        joined = f" {rng.choice(['and', 'or'])} ".join(f"({part})" for part in parts)
        return f"not ({joined})" if rng.random() < 0.3 else joined
    key = rng.choice(["n", "f", "词", "ids", "tags"])
    if rng.random() < 0.15:
        return key
    literal = str(rng.choice([-1, 0, 1, 0.1, 1.5, 2, 2**63, -0.0]))
    if key in ("词", "tags"):
        literal = repr(rng.choice(WORDS))
    if rng.random() < 0.2:
        return f"{key} {rng.choice(['in', 'not in'])} ({literal}, {literal})"
    return f"{key} {rng.choice(['==', '!=', '<', '<=', '>', '>='])} {literal}"


def holds(where: str, row: dict[str, Any]) -> bool:
    """Say the same for one record, by the select command's own way."""
    block = tfr.Block.from_records([example(**row)])
    return bool(parse_where(where).mask(0, block)[0])


def expected(rows: list[dict[str, Any]], key: str) -> list[Any]:
    """Return a column as the documentation says."""
    lists = [row.get(key) for row in rows]
    lists = [
        None
        if value is None
        else [
            item.encode() if isinstance(item, str) else np.float32(item).item() if key == "f" else int(item)
            for item in (value if isinstance(value, (list, np.ndarray)) else [value])
        ]
        for value in lists
    ]
    if all(value is None or len(value) == 1 for value in lists):
        return [None if value is None else value[0] for value in lists]
    return lists


def same(one: Any, other: Any) -> bool:
    return repr(one) == repr(other)  # NaN is NaN, and -0.0 is not 0.0


@pytest.fixture(params=[1, 4 << 20], ids=["chunk a block", "one chunk"])
def size(request, monkeypatch):
    monkeypatch.setitem(engine.scan_chunks.__kwdefaults__, "size", request.param)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("threads", [1, 3])
def test_columns_and_rows_are_those_of_the_records(seed, threads, size, tmp_path):
    rng = random.Random(seed)
    rows = [random_row(rng) for _ in range(rng.randrange(1, 60))]
    path = write(tmp_path / "a", *[example(**row) for row in rows])
    keys = sorted({key for row in rows for key in row})
    found = tfr.scan(path, threads=threads, block_bytes=100)
    table = found.to_table()
    table.validate(full=True)
    assert table.schema == found.schema
    assert table.column_names == keys
    for key in keys:
        assert same(table[key].to_pylist(), expected(rows, key)), key
    for _ in range(10):
        where = random_where(rng)
        if not set(parse_where(where).keys) <= set(keys):
            continue
        names = rng.sample(keys, rng.randrange(len(keys) + 1))
        limit = rng.choice([None, 0, 1, 5])
        chosen = tfr.scan(
            path,
            names,
            where,
            limit=limit,
            with_source=True,
            threads=threads,
            block_bytes=rng.choice([1, 100]),
        )
        numbers = [number for number, row in enumerate(rows) if holds(where, row)][:limit]
        got = chosen.to_table()
        assert got.column_names == [*names, "_file", "_record"]
        assert got["_record"].to_pylist() == numbers, where
        assert set(got["_file"].to_pylist()) <= {str(path)}
        for name in names:
            column = expected(rows, name)
            assert same(got[name].to_pylist(), [column[number] for number in numbers]), (where, name)
        assert chosen.count() == len(numbers)


def test_a_spec_says_what_the_columns_are_without_a_look(tmp_path, monkeypatch):
    path = write(tmp_path / "a", example(n=1, ids=[1, 2], w="x"), example(ids=[3, 4]))
    monkeypatch.setattr("tfrkit.scanning.scan.inspect", None)
    spec = {
        "w": tfr.VarLenFeature("bytes"),
        "ids": tfr.FixedLenFeature([2], "int64"),
        "n": tfr.FixedLenFeature([], "int64", default_value=-7),
    }
    found = tfr.scan(path, spec=spec)
    assert found.schema == pa.schema(
        {"w": pa.list_(pa.binary()), "ids": pa.list_(pa.int64(), 2), "n": pa.int64()}
    )
    assert found.to_table().to_pydict() == {"w": [[b"x"], None], "ids": [[1, 2], [3, 4]], "n": [1, -7]}
    assert tfr.scan(path, ["n"], "ids == 4", spec=spec).to_table().to_pydict() == {"n": [-7]}


@pytest.mark.parametrize(
    ("spec", "text"),
    [
        (
            {"n": tfr.FixedLenFeature([], "float32")},
            "expected one float32 value .* record 0 of .* has int64 there",
        ),
        (
            {"ids": tfr.FixedLenFeature([], "int64")},
            "expected one int64 value .* record 0 of .* has 2 values of it",
        ),
        (
            {"ids": tfr.FixedLenFeature([3], "int64")},
            "expected 3 int64 values .* record 0 of .* has 2 values",
        ),
    ],
)
def test_a_record_that_is_not_as_the_spec_says_is_named(spec, text, tmp_path):
    path = write(tmp_path / "a", example(n=1, ids=[1, 2]))
    with pytest.raises(InvalidArgumentError, match=text) as caught:
        tfr.scan(path, spec=spec).to_table()
    assert (caught.value.path, caught.value.record, caught.value.offset) == (str(path), 0, 0)


def test_what_inspect_returned_is_a_spec(tmp_path):
    path = write(tmp_path / "a", *[example(n=number) for number in range(9)], example(n=[1, 2]))
    assert tfr.scan(path, spec=tfr.inspect(path)).to_table()["n"].to_pylist()[-1] == [1, 2]
    with pytest.raises(InvalidArgumentError, match=r"as the spec says, but record 9 of .* has 2 values"):
        tfr.scan(path, spec=tfr.inspect(path, 3)).to_table()


def test_only_what_is_asked_for_is_parsed(tmp_path, monkeypatch):
    parsed: list[tuple[list[str], int]] = []
    parse = ScanParser.parse

    def watch(self, blocks, threads):
        parsed.append(([column.name for column in self.columns], sum(map(len, blocks))))
        return parse(self, blocks, threads)

    path = write(tmp_path / "a", *[example(n=number, w="x", big="y" * 100) for number in range(50)])
    monkeypatch.setattr(ScanParser, "parse", watch)
    assert tfr.scan(path, ["w"], "n >= 48").to_table().num_rows == 2
    assert parsed == [(["n"], 50), (["w"], 2)]


def test_sequence_examples_are_lists_of_lists(tmp_path):
    path = write(
        tmp_path / "a",
        sequence({"user": 7}, {"movies": [["a"], ["b", "c"]]}),
        sequence({"user": 8}, {}),
    )
    table = tfr.scan(path, where="user > 7").to_table()
    assert table.to_pydict() == {"movies": [None], "user": [8]}
    assert tfr.scan(path, ["movies"]).to_table().to_pydict() == {"movies": [[[b"a"], [b"b", b"c"]], None]}
    with pytest.raises(InvalidArgumentError, match="'movies' is a feature list"):
        tfr.scan(path, where="movies == 'a'").count()


def test_kinds_that_change_are_an_error_or_nulls(tmp_path):
    path = write(tmp_path / "a", example(x=1), example(x=2), example(x="two", y=1), example(x=4))
    with pytest.raises(InvalidArgumentError, match=r"'x' is int64 in 3 .* and bytes in 1"):
        tfr.scan(path).to_table()
    found = tfr.scan(path, on_kind="null", with_source=True).to_table()
    assert found["x"].to_pylist() == [1, 2, None, 4]
    assert found["_record"].to_pylist() == [0, 1, 2, 3]
    assert tfr.scan(path, ["y"], "not x", on_kind="null").to_table().to_pydict() == {"y": [1]}


def test_a_column_that_is_nowhere_is_an_error_with_the_closest(tmp_path):
    path = write(tmp_path / "a", example(label=1, image="x"))
    for asked in ({"columns": ["lable"]}, {"where": "lable > 3"}):
        with pytest.raises(
            InvalidArgumentError, match=r"no record has a feature 'lable'. Did you mean 'label'\?"
        ):
            tfr.scan(path, **asked).schema  # noqa: B018
    with pytest.raises(
        InvalidArgumentError, match=r"the spec has no feature 'lable'. Did you mean 'label'\?"
    ):
        tfr.scan(path, ["lable"], spec={"label": tfr.FixedLenFeature([], "int64")}).schema  # noqa: B018


def test_a_condition_that_does_not_parse_says_where():
    with pytest.raises(InvalidArgumentError, match="at character 7 of 'label = 3'"):
        tfr.scan("a.tfrecord", where="label = 3")


def test_bytes_are_text_where_that_is_asked_for(tmp_path):
    path = write(tmp_path / "a", example(w="标签", b=b"\xff\xfe\x00"), example(w="x", b=b"y"))
    assert tfr.scan(path, text=["w"]).to_table()["w"].to_pylist() == ["标签", "x"]
    assert tfr.scan(path, text=True).schema.field("w").type == pa.string()
    with pytest.raises(InvalidArgumentError, match="column 'b': the values are not all UTF-8 text"):
        tfr.scan(path, text=["b"]).to_table()


def test_damage_is_treated_as_asked(tmp_path):
    records = [example(n=number) for number in range(5)]
    path = write(tmp_path / "a", *records)
    path.write_bytes(flip(path.read_bytes(), 2 * (len(records[0]) + 16) + 13))
    with pytest.raises(DataLossError):
        tfr.scan(path).to_table()
    spec = {"n": tfr.FixedLenFeature([], "int64")}
    batches = tfr.scan(path, spec=spec, on_corrupt="skip").to_batches()
    assert [row for batch in batches for row in batch["n"].to_pylist()] == [0, 1, 3, 4]
    assert batches.skipped == 1
    assert tfr.scan(path, spec=spec, on_corrupt="skip").count() == 4


def test_pipes_and_open_files_are_read_once_and_kept(tmp_path):
    path = write(tmp_path / "a", example(n=1), example(n=2))
    found = tfr.scan(io.BytesIO(path.read_bytes()), where="n == 2")
    assert found.to_table().to_pydict() == {"n": [2]}
    assert (found.count(), found.to_table().num_rows) == (1, 1)


def test_a_limit_stops_reading(tmp_path, monkeypatch):
    paths = [write(tmp_path / f"{number}", *[example(n=number)] * 10) for number in range(20)]
    paths[5].write_bytes(b"broken")
    spec = {"n": tfr.FixedLenFeature([], "int64")}
    assert tfr.scan(paths, spec=spec, limit=11, threads=1).to_table()["n"].to_pylist() == [0] * 10 + [1]
    assert tfr.scan(paths, spec=spec).limit(3).count() == 3


def test_arrow_streams_of_a_scan_can_be_taken_again(tmp_path):
    path = write(tmp_path / "a", example(n=1), example(n=2))
    found = tfr.scan(path)
    assert pa.table(found) == pa.table(found) == found.to_table()
    assert [batch.num_rows for batch in found] == [2]
    assert repr(tfr.scan(path, ["n"], "n > 1", limit=4)) == (
        "<Scan: 1 file, columns ['n'], where 'n > 1', at most 4 rows>"
    )


def test_a_file_that_changes_between_survey_and_scan_is_noticed(tmp_path):
    path = write(tmp_path / "a", example(n=1))
    found = tfr.scan(path)
    assert found.schema == pa.schema({"n": pa.int64()})
    write(path, example(n=[1, 2]))
    with pytest.raises(tfr.errors.FailedPreconditionError, match="Did the file change meanwhile"):
        found.to_table()
    path.unlink()
    with pytest.raises(NotFoundError):
        found.to_table()


def test_an_iterator_that_is_left_ends_its_work(tmp_path):
    code = """
import sys, tfrkit as tfr
batches = tfr.scan(sys.argv[1], block_bytes=100).to_batches()
next(batches)
batches.close()
print("left")
"""
    path = write(tmp_path / "a", *[example(n=number) for number in range(5000)])
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, timeout=60, env=os.environ
    )
    assert (done.stdout, done.stderr) == ("left\n", "")


def test_many_features_and_a_large_record(tmp_path):
    wide = example(**{f"f{number}": number for number in range(10_000)})
    path = write(tmp_path / "a", wide, example(f5="x" * 0, big="y" * 10_000_000, f7=1))
    assert tfr.scan(path, ["f9999"], "f7 == 7").to_table().to_pydict() == {"f9999": [9999]}
    assert len(tfr.scan(path, ["big"], "f7 == 1").to_table()["big"][0].as_py()) == 10_000_000


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"limit": -1}, "limit to be at least 0"),
        ({"on_kind": "skip"}, "on_kind to be 'raise' or 'null'"),
        ({"columns": "n"}, "expected a list of names for columns"),
    ],
)
def test_arguments_are_checked(arguments, text, tmp_path):
    with pytest.raises((ValueError, TypeError), match=text):
        tfr.scan(write(tmp_path / "a", example(n=1)), **arguments)


def sorted_rows(rng: random.Random, count: int) -> list[dict[str, Any]]:
    rows = [random_row(rng) | {"at": number, "name": f"{number:05}"} for number in range(count)]
    for number in range(0, count, 7):
        rows[number].pop("at")
    return rows


@pytest.mark.parametrize("suffix", ["", ".gz", ".zst"])
@pytest.mark.parametrize("seed", range(3))
def test_zones_leave_out_only_what_cannot_match(suffix, seed, tmp_path, monkeypatch):
    rng = random.Random(seed)
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_RECORDS", 10)
    monkeypatch.setattr("tfrkit.records.access.zone_maker.RUN_BYTES", 1)
    rows = sorted_rows(rng, 200)
    path = tmp_path / f"a.tfrecord{suffix}"
    with tfr.TFRecordWriter(path) as writer:
        for row in rows:
            writer.write(example(**row))
    plain = tfr.scan(path, with_source=True)
    conditions = [random_where(rng) for _ in range(40)]
    conditions += [
        "at > 190",
        "at == 50 or at == 150",
        "name >= '00180'",
        "at < 5 and name > '00150'",
        "not at",
    ]
    conditions += ["at > 10 and at <= 20", "at != 7", "name == '00099'", "at > 1e30", "at == 12.5"]
    want = {}
    for where in conditions:
        if set(parse_where(where).keys) <= set(plain.schema.names):
            want[where] = tfr.scan(path, where=where, with_source=True).to_table()
    build_zones(path, save=True)
    with monkeypatch.context() as patch:
        patch.setattr("tfrkit.scanning.scan.inspect", None)
        assert tfr.scan(path, with_source=True).schema == plain.schema  # by the zones, without a survey
    left_out = 0
    for where, table in want.items():
        batches = tfr.scan(path, where=where, with_source=True).to_batches()
        assert same(pa.Table.from_batches(batches, schema=batches.schema).to_pylist(), table.to_pylist()), (
            where
        )
        left_out += batches.runs_left_out
    assert (left_out > 0) == (suffix != ".zst")
    path.write_bytes(path.read_bytes() + path.read_bytes())  # stale
    where = "at == 50"
    if set(parse_where(where).keys) <= set(plain.schema.names):
        assert tfr.scan(path, where=where).count() == 2


@pytest.mark.parametrize(("kept", "passes"), [(64 << 20, 1), (10, 2)])
def test_small_remote_files_are_fetched_once_without_a_spec(kept, passes, monkeypatch):
    names = [f"memory://scan-once-{passes}/{name}.tfrecord" for name in "ab"]
    for number, name in enumerate(names):
        with tfr.TFRecordWriter(name) as writer:
            writer.write_batch({"n": np.arange(100) + 100 * number})
    monkeypatch.setattr("tfrkit.scanning.scan._KEPT_BYTES", kept)
    calls = []
    read = tfr.read_blocks
    monkeypatch.setattr(
        "tfrkit.scanning.scan.read_blocks", lambda *args, **options: calls.append(1) or read(*args, **options)
    )
    scan = tfr.scan(names, with_source=True)
    table = scan.to_table()
    assert table["n"].to_pylist() == list(range(200))
    assert set(table["_file"].to_pylist()) == set(names)
    assert len(calls) == passes
    assert scan.to_table() == table


def test_remote_files_with_zones_need_no_survey(monkeypatch):
    names = [f"memory://scan-zones/{name}.tfrecord" for name in "ab"]
    for number, name in enumerate(names):
        with tfr.TFRecordWriter(name) as writer:
            writer.write_batch({"n": np.arange(100) + 100 * number})
        build_zones(name, save=True)
    monkeypatch.setattr("tfrkit.scanning.scan.inspect_blocks", None)
    assert tfr.scan(names).schema == pa.schema({"n": pa.int64()})
    assert tfr.scan(names, where="n >= 150").to_table()["n"].to_pylist() == list(range(150, 200))


def test_a_folder_means_its_shards(tmp_path):
    with tfr.ShardWriter(str(tmp_path / "train"), shards=2) as writer:
        for number in range(5):
            writer.write_example({"n": number})
    assert sorted(tfr.scan(str(tmp_path)).to_table()["n"].to_pylist()) == list(range(5))
    assert tfr.scan(f"{tmp_path}/", ["n"], "n > 2").count() == 2
    os.remove(tmp_path / "train-00001-of-00002.tfrecord")
    with pytest.raises(NotFoundError, match=r"train-00001-of-00002\.tfrecord: MISSING"):
        tfr.scan(tmp_path)
    (tmp_path / "empty").mkdir()
    with pytest.raises(NotFoundError, match="no shards in this folder"):
        tfr.scan(tmp_path / "empty")


def test_a_folder_of_a_store_ends_in_a_slash():
    with tfr.TFRecordWriter("memory://scanned/set/a.tfrecord") as writer:
        writer.write_example({"n": 1})
    assert tfr.scan("memory://scanned/set/").count() == 1
