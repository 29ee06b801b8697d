from __future__ import annotations

from dataclasses import replace

import pytest

from tests.build.support.made import Numbers, job, mixed, train
from tfrkit.build.job.job_plan import ShardGroup, belongs_to, check_plan, job_digest, plan_shards, shard_names
from tfrkit.build.job.progress import BadInput
from tfrkit.errors import InvalidArgumentError


@pytest.mark.parametrize(
    ("size", "options", "expected"),
    [
        (0, {}, 1),
        (60_000_000, {}, 1),
        (65_000_000, {}, 4),
        (1_100_000_000, {}, 8),
        (1_000, {"shard_bytes": 300}, 4),
        (1_000, {"shard_bytes": 1}, 1000),
        (10**12, {"shards": 7}, 7),
        (10**12, {"most": 3}, 3),
        (10**12, {"most": 0}, 1),
    ],
)
def test_number_of_shards(size, options, expected):
    assert plan_shards(size, **options) == expected


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"shards": 0}, "Expected the shards to be at least 1 but got 0"),
        ({"shard_bytes": -5}, "Expected the shard size to be at least 1 but got -5"),
        ({"shards": 2, "shard_bytes": 5}, "either a number of shards or a size"),
    ],
)
def test_number_of_shards_that_makes_no_sense_is_refused(options, message):
    with pytest.raises(InvalidArgumentError, match=message):
        plan_shards(1, **options)


def test_names_have_the_suffix_of_the_compression(tmp_path):
    made = job(tmp_path, compression="ZSTD")
    assert shard_names(made, ShardGroup("a b", (), None)) == ["a b.tfrecord.zst"]
    assert shard_names(made, ShardGroup("中", (), 100_001))[-1] == "中-100000-of-100001.tfrecord.zst"


@pytest.mark.parametrize(
    ("name", "mine"),
    [
        ("a-00000-of-00002.tfrecord", True),
        ("a-00000-of-123456.tfrecord.gz", True),
        ("a-0000-of-00002.tfrecord", False),
        ("ab-00000-of-00002.tfrecord", False),
        ("a.tfrecord", False),
        ("alone.tfrecord", True),
        ("alone.tfrecord.zst", True),
        ("alone-00000-of-00001.tfrecord", True),
        ("x-00001-of-00002.tfrecord", True),
        ("x-00000-of-00002.tfrecord", False),
        ("a-00000-of-00002.tfrecord.idx", False),
        ("a\nb-00000-of-00002.tfrecord", False),
    ],
)
def test_shards_belong_to_their_prefix(name, mine):
    assert belongs_to(name, {"a": False, "alone": True, "x-00001-of-00002": True}) is mine


@pytest.mark.parametrize(
    ("groups", "changes", "message"),
    [
        ((ShardGroup("a/b", (), 0),), {}, "'a/b' cannot begin the name of a file"),
        ((ShardGroup("", (), 0),), {}, "'' cannot begin the name of a file"),
        ((train(2), train(2)), {}, "would be called 'train-00000-of-00002.tfrecord'"),
        ((train(2),), {"files": {"report.json": b""}}, "would be called 'report.json'"),
        ((mixed(shards=0),), {}, "Expected at least 1 shard of 'train' but got 0"),
        ((ShardGroup("a", (Numbers(0, 1),), 2),), {}, "a recipe for each of the 2 shards of 'a' but got 1"),
        ((train(),), {"compression": "LZ4"}, "as compression but got 'LZ4'"),
    ],
)
def test_plan_that_cannot_be_run_is_refused(groups, changes, message, tmp_path):
    with pytest.raises(InvalidArgumentError, match=message):
        check_plan(job(tmp_path, *groups, **changes))


def test_digest_does_not_depend_on_the_folder_or_the_times_of_sources(tmp_path):
    made = job(tmp_path)
    moved = replace(made, folder="elsewhere", transient={"times": [1, 2]})
    assert job_digest(made) == job_digest(moved) == "7ca49b6425e4b64a"


@pytest.mark.parametrize(
    "changes",
    [
        {"made_by": {"source": "two", "size": 3}},
        {"compression": "GZIP"},
        {"level": 3},
        {"spec": {"x": 1}},
        {"files": {"labels.txt": b"a"}},
        {"groups": (train(3),)},
        {"groups": (train(prefix="test"),)},
        {"groups": (train(count=301),)},
        {"bad": (BadInput("x", None, "y"),)},
    ],
)
def test_digest_depends_on_everything_that_decides_the_bytes(changes, tmp_path):
    made = job(tmp_path)
    assert job_digest(replace(made, **changes)) != job_digest(made)
