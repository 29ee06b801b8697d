from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, contents, files_in, put_records, tree
from tests.records.support.made import CONTAINERS
from tfrkit.build.reshape.compression_table import measure_compressions
from tfrkit.build.reshape.frame_input import frame_input
from tfrkit.codecs.table import from_suffix
from tfrkit.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("compression", "suffix"),
    [("none", ""), ("GZIP", ".gz"), ("ZLIB", ".zlib"), ("XZ", ".xz"), ("ZSTD", ".zst")],
)
def test_each_file_is_written_again_under_its_name(compression, suffix, tmp_path):
    for at, kind in enumerate(CONTAINERS):
        put_records(tmp_path / "in" / f"a-{at}.tfrecord", RECORDS[at : at + 20], kind)
    report = tfr.compress(tmp_path / "in" / "*", tmp_path / "out", compression=compression)
    assert [shard.name for shard in report.shards] == [f"a-{at}.tfrecord{suffix}" for at in range(6)]
    assert contents(*files_in(tmp_path / "out")) == [RECORDS[at : at + 20] for at in range(6)]


SUFFIXES = {"none": "", "GZIP": ".gz", "ZLIB": ".zlib", "XZ": ".xz", "ZSTD": ".zst"}


@pytest.mark.parametrize("output", [None, *SUFFIXES])
@pytest.mark.parametrize(
    "given",
    [
        ".tfrecord",
        ".tfrecord.gz",
        ".gz",
        ".tfrecords",
        ".tfrecords.zst",
        ".TFRecord.GZ",
        ".zlib",
        ".tfrec.xz",
        ".zz",
        "",
    ],
)
def test_suffixes_of_inputs_are_replaced(given, output, tmp_path):
    kind = from_suffix(given)
    name = f"data.v1-00000-of-00001{given}"
    records = list(tfr.encode_examples({"x": [1, 2, 3]}))
    path = put_records(tmp_path / "in" / name, records, kind)
    expected = "data.v1-00000-of-00001.tfrecord" + SUFFIXES[output or kind or "none"]
    assert [
        shard.name for shard in tfr.select(path, tmp_path / "out", where="x > 0", compression=output).shards
    ] == [expected]
    assert contents(tmp_path / "out" / expected) == [records]
    if output is not None:
        report = tfr.compress(path, tmp_path / "small", compression=output)
        assert [shard.name for shard in report.shards] == [expected]


def test_compressing_twice_gives_the_plain_file_back(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    tfr.compress(path, tmp_path / "x", compression="GZIP", level=9)
    tfr.compress(tmp_path / "x" / "a.tfrecord.gz", tmp_path / "y", compression="none")
    assert (tmp_path / "y" / "a.tfrecord").read_bytes() == path.read_bytes()


def test_one_file_is_written_where_it_was_asked_for(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    tfr.compress(path, tmp_path / "out" / "b.tfrecord.xz", level=1)
    assert contents(tmp_path / "out" / "b.tfrecord.xz") == [RECORDS]


def test_bytes_do_not_depend_on_workers(tmp_path):
    for at in range(3):
        put_records(tmp_path / "in" / f"{at}.tfrecord", RECORDS)
    for workers in (1, 3):
        tfr.compress(tmp_path / "in" / "*", tmp_path / str(workers), workers=workers)
    assert tree(tmp_path / "1") == tree(tmp_path / "3")


def test_inputs_of_one_name_are_refused(tmp_path):
    paths = [put_records(tmp_path / folder / "a.tfrecord", RECORDS[:3]) for folder in "xy"]
    with pytest.raises(InvalidArgumentError, match=r"would be called 'a\.tfrecord\.gz'"):
        tfr.compress(paths, tmp_path / "out")


def test_inputs_are_not_replaced_in_their_folder(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS[:3])
    with pytest.raises(InvalidArgumentError, match="it is an input"):
        tfr.compress(path, tmp_path, overwrite=True)
    assert contents(path) == [RECORDS[:3]]


def test_level_out_of_range_is_refused(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS[:3])
    with pytest.raises(InvalidArgumentError, match="Expected a level of GZIP from -1 to 9 but got 99"):
        tfr.compress(path, tmp_path / "out", level=99)


def test_table_measures_every_compression_on_a_sample(tmp_path):
    path = put_records(tmp_path / "a.tfrecord", RECORDS)
    with frame_input(path) as given:
        records, size, rows = measure_compressions(given, 10**9)
        assert measure_compressions(given, 1)[0] == 300  # at least one block
    assert (records, size) == (300, path.stat().st_size)
    assert {row.compression for row in rows} == {"none", "gzip", "zlib", "xz", "zstd"}
    assert (rows[0].bytes, rows[0].ratio) == (size, 1.0)
    assert all(row.bytes < size for row in rows[1:])
    assert all(row.write_rate > 0 and row.read_rate > 0 for row in rows)
    assert [row.compression for row in rows if row.tensorflow] == ["none", "gzip", "gzip", "gzip", "zlib"]


def test_table_of_nothing_is_refused(tmp_path):
    with (
        frame_input(put_records(tmp_path / "a", [])) as given,
        pytest.raises(InvalidArgumentError, match="Expected some records to measure with"),
    ):
        measure_compressions(given, 100)
