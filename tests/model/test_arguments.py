"""Arguments that must be integers or booleans are refused by name, wherever they are given."""

from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit.model.arguments import as_integer, check_bools


def test_integers_of_numpy_are_integers():
    assert as_integer("threads", np.int64(3)) == 3


def test_booleans_of_numpy_and_0_and_1_are_booleans():
    check_bools(a=True, b=np.bool_(False), c=0, d=1, e=None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda path: tfr.read_blocks(path, threads="2"),
            "expected threads to be an integer but got '2' (str)",
        ),
        (
            lambda path: tfr.read_blocks(path, block_bytes=1e6),
            "expected block_bytes to be an integer but got 1000000.0 (float)",
        ),
        (
            lambda path: tfr.read_blocks(path, max_record_bytes="1GB"),
            "expected max_record_bytes to be an integer but got '1GB' (str)",
        ),
        (
            lambda path: tfr.TFRecordWriter(path, compression="GZIP", level="9"),
            "expected level to be an integer but got '9' (str)",
        ),
        (
            lambda path: tfr.ShardWriter(path, shards="4"),
            "expected shards to be an integer but got '4' (str)",
        ),
        (
            lambda path: tfr.read_blocks(path, compression=3),
            "expected the name of a compression but got 3 (int)",
        ),
        (
            lambda path: tfr.TFRecordWriter(path).write_many("abc"),
            "expected records but got one str: use write() for one",
        ),
    ],
)
def test_arguments_of_another_type_are_named(call, message, tmp_path):
    with pytest.raises(TypeError) as caught:
        call(str(tmp_path / "a.tfrecord"))
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("call", "name", "given"),
    [
        pytest.param(lambda path: tfr.read_records(path, crc="no"), "crc", "'no' (str)", id="read_records"),
        pytest.param(lambda path: tfr.read_examples(path, crc=2), "crc", "2 (int)", id="read_examples"),
        pytest.param(lambda path: tfr.read_table(path, cache=""), "cache", "'' (str)", id="read_table"),
        pytest.param(lambda path: tfr.stats(path, crc="no"), "crc", "'no' (str)", id="stats"),
        pytest.param(lambda path: tfr.inspect(path, crc="no"), "crc", "'no' (str)", id="inspect"),
        pytest.param(
            lambda path: tfr.TFRecordDataset(path, crc="no"), "crc", "'no' (str)", id="TFRecordDataset"
        ),
        pytest.param(lambda path: tfr.RecordFile(path, crc="no"), "crc", "'no' (str)", id="RecordFile"),
        pytest.param(lambda path: tfr.RecordFiles(path, cache=[]), "cache", "[] (list)", id="RecordFiles"),
        pytest.param(
            lambda path: tfr.TFRecordWriter(path, append="no"), "append", "'no' (str)", id="TFRecordWriter"
        ),
        pytest.param(
            lambda path: tfr.ShardWriter(path, shards=1, overwrite="no"),
            "overwrite",
            "'no' (str)",
            id="ShardWriter",
        ),
        pytest.param(
            lambda path: tfr.repair_files(path, overwrite="no"), "overwrite", "'no' (str)", id="repair_files"
        ),
        pytest.param(
            lambda _: tfr.configure_store("s3://bools", anonymous="no"),
            "anonymous",
            "'no' (str)",
            id="configure_store",
        ),
    ],
)
def test_texts_for_booleans_are_refused_where_they_would_count_as_true(call, name, given, tmp_path):
    with pytest.raises(TypeError) as caught:
        call(str(tmp_path / "a.tfrecord"))
    assert str(caught.value) == f"expected {name} to be True or False but got {given}"
