"""Stages behind a source read as the source does: what odd bytes mean is said once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
import tfrkit.tf as tf
from tests.oracle.support.frames import frames

# One Feature with two int64_lists: protobuf merges them, TensorFlow takes the first. It may stand in an Example and in
# the context of a SequenceExample.
FEATURE = bytes.fromhex("1a030a0101") + bytes.fromhex("1a030a0102")
ENTRY = b"\x0a\x01a\x12" + bytes([len(FEATURE)]) + FEATURE
RECORD = b"\x0a" + bytes([len(ENTRY) + 2]) + b"\x0a" + bytes([len(ENTRY)]) + ENTRY
SPEC = {"a": tfr.VarLenFeature("int64")}
READINGS = {tfr.TFRKIT: [1, 2], tfr.TENSORFLOW: [1]}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    found: Path = tmp_path_factory.mktemp("odd") / "odd.tfrecord"
    found.write_bytes(frames([RECORD] * 2))
    return str(found)


def first(dataset: Any) -> list[int]:
    """The feature of the first element, which may be a batch."""
    (element, *_) = dataset
    found = (element[0] if isinstance(element, tuple) else element)["a"]
    return (found[0] if isinstance(found, tfr.Ragged) else found).tolist()  # type: ignore[no-any-return]


@pytest.mark.parametrize("policy", READINGS, ids=["tfrkit", "tensorflow"])
class TestPolicies:
    def test_parsing_is_that_of_the_source(self, path: str, policy: Any) -> None:
        wanted = READINGS[policy]
        source = tfr.TFRecordDataset(path, policy=policy)
        assert first(source.parse(SPEC)) == wanted
        assert first(source.parse(SPEC).batch(2)) == wanted
        assert first(source.batch(2).parse(SPEC)) == wanted
        assert first(source.parse_sequence(SPEC)) == wanted
        assert first(source.batch(2).parse_sequence(SPEC)) == wanted

    def test_stages_between_do_not_matter(self, path: str, policy: Any) -> None:
        source = tfr.TFRecordDataset(path, policy=policy)
        changed = source.shuffle(2, seed=1).repeat(2).take(3).cache().map(lambda x: x).prefetch(1)
        assert first(changed.parse(SPEC)) == READINGS[policy]
        joined = source.concatenate(source)
        assert first(joined.parse(SPEC)) == READINGS[policy]

    def test_files_read_in_turn(self, path: str, policy: Any) -> None:
        source = tfr.TFRecordDataset([path, path], num_parallel_reads=2, policy=policy)
        assert first(source.parse(SPEC)) == READINGS[policy]
        names = tfr.Dataset.from_tensor_slices([path, path])
        assert first(tfr.TFRecordDataset(names, policy=policy).parse(SPEC)) == READINGS[policy]

    def test_another_one_can_be_given(self, path: str, policy: Any) -> None:
        other = tfr.TFRKIT if policy is tfr.TENSORFLOW else tfr.TENSORFLOW
        source = tfr.TFRecordDataset(path, policy=policy)
        assert first(source.parse(SPEC, policy=other)) == READINGS[other]
        assert first(source.parse_sequence(SPEC, policy=other)) == READINGS[other]


def test_tensorflows_names_parse_as_tensorflow(path: str) -> None:
    names = tf.data.Dataset.from_tensor_slices([path])
    for source in (
        tf.data.TFRecordDataset(path),
        names.flat_map(tf.data.TFRecordDataset),
        tf.data.Dataset.from_tensors(RECORD),
    ):
        (element, *_) = source.parse(SPEC)
        assert element["a"].numpy().tolist() == [1]


def test_records_from_nowhere_are_parsed_as_protobuf_says() -> None:
    assert first(tfr.Dataset.from_tensors(RECORD).parse(SPEC)) == [1, 2]
