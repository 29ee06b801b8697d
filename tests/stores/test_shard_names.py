from __future__ import annotations

import pytest

from tfrkit.stores.shard_names import numbered_prefix, shard_sets


def missing(*names: str) -> list[str]:
    return [name for part in shard_sets(names) for name in part.missing()]


@pytest.mark.parametrize(
    "name", ["train-{}-of-00004.tfrecord.gz", "x.tfrecord-{}-of-00004", "train-{}-of-00004"]
)
def test_missing_shards_are_named_as_the_others_are(name):
    assert missing(name.format("00002"), name.format("00000")) == [name.format("00001"), name.format("00003")]


def test_a_whole_set_misses_nothing():
    assert (
        missing(*(f"a-{number:05d}-of-00003.tfrecord" for number in range(3)), "manifest.json", "x.tfrecord")
        == []
    )


def test_sets_are_told_apart():
    names = ["a-0-of-2", "b-0-of-2", "b-1-of-2", "a-0-of-3"]
    assert missing(*names) == ["a-1-of-2", "a-1-of-3", "a-2-of-3"]


def test_counting_from_one_is_a_whole_set():
    assert missing("a-00001-of-00002", "a-00002-of-00002") == []
    assert missing("a-00002-of-00002") == ["a-00001-of-00002"]


def test_shards_that_were_compressed_later_are_of_the_same_set():
    assert missing("a-0-of-2.tfrecord", "a-1-of-2.tfrecord.gz") == []
    both = missing("a-0-of-2.tfrecord", "a-1-of-2.tfrecord", "a-1-of-2.tfrecord.gz")
    assert both == ["a-0-of-2.tfrecord.gz"]


def test_what_is_on_its_way_or_beside_a_shard_is_none():
    assert missing("a-0-of-2.tfrecord.part", "a-0-of-2.tfrecord.idx", "a-0-of-2.md5") == []


def test_numbers_beyond_the_count_are_stray():
    [part] = shard_sets(["a-00000-of-00002", "a-00001-of-00002", "a-00007-of-00002"])
    assert (part.stray(), part.missing_count) == (["a-00007-of-00002"], 0)


def test_a_count_without_end_takes_no_time():
    [part] = shard_sets(["a-0-of-999999999999999999"])
    assert part.missing_count == 999999999999999998
    assert next(part.missing()) == "a-1-of-999999999999999999"
    assert shard_sets(["a-0-of-0", "a-0-of-" + "9" * 30]) == []


def test_prefix_of_a_numbered_name():
    assert numbered_prefix("a-b-00000-of-00001.tfrecord.zst") == "a-b"
    assert numbered_prefix("a-b.tfrecord") is None
