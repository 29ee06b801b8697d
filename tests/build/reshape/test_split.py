from __future__ import annotations

from collections import Counter

import pytest

import tfrkit as tfr
from tests.build.support.frame_files import RECORDS, contents, files_in, put_records, tree
from tests.records.support.made import CONTAINERS
from tfrkit.errors import InvalidArgumentError

PARTS = {"train": 0.8, "validation": 0.1, "test": 0.1}


def parts_in(folder) -> dict[str, list[bytes]]:
    """Records by part."""
    found: dict[str, list[bytes]] = {}
    for path in files_in(folder):
        found.setdefault(path.name.split(".")[0].split("-")[0], []).extend(contents(path)[0])
    return found


def people(path, count: int = 200):
    """Examples with a key that comes about four times."""
    with tfr.TFRecordWriter(path) as writer:
        writer.write_batch({"user": [f"u{n % (count // 4)}" for n in range(count)], "n": list(range(count))})
    return path


@pytest.mark.parametrize("kind", CONTAINERS)
def test_random_parts_have_exact_shares_and_keep_the_order(kind, tmp_path):
    path = put_records(tmp_path / "a", RECORDS, kind)
    tfr.split(path, tmp_path / "out", PARTS, seed=3)
    parts = parts_in(tmp_path / "out")
    assert {name: len(records) for name, records in parts.items()} == {
        "train": 240,
        "validation": 30,
        "test": 30,
    }
    assert Counter(record for records in parts.values() for record in records) == Counter(RECORDS)
    for records in parts.values():
        places = [RECORDS.index(record) for record in records]
        assert places == sorted(places)


def test_seed_decides_and_workers_and_shards_do_not(tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    tfr.split(path, tmp_path / "x", PARTS, seed=3, workers=1)
    tfr.split(path, tmp_path / "y", PARTS, seed=3, workers=4)
    tfr.split(path, tmp_path / "z", PARTS, seed=3, shards={"train": 5, "test": 2})
    tfr.split(path, tmp_path / "other", PARTS, seed=4)
    assert tree(tmp_path / "x") == tree(tmp_path / "y")
    assert parts_in(tmp_path / "x") == parts_in(tmp_path / "z")
    assert parts_in(tmp_path / "x") != parts_in(tmp_path / "other")
    assert len(files_in(tmp_path / "z")) == 5 + 1 + 2


def test_in_order_cuts_the_run_of_records(tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    tfr.split(path, tmp_path / "out", PARTS, in_order=True, shards=2)
    assert parts_in(tmp_path / "out") == {
        "train": RECORDS[:240],
        "validation": RECORDS[240:270],
        "test": RECORDS[270:],
    }
    assert [len(records) for records in contents(*files_in(tmp_path / "out"))] == [15, 15, 120, 120, 15, 15]


def test_every_tenth_goes_to_the_second_part(tmp_path):
    path = put_records(tmp_path / "a", RECORDS[:25])
    tfr.split(path, tmp_path / "out", ["most", "few"], every=10)
    parts = parts_in(tmp_path / "out")
    assert parts["few"] == [RECORDS[9], RECORDS[19]]
    assert len(parts["most"]) == 23


def test_equal_keys_stay_together(tmp_path):
    path = people(tmp_path / "a.tfrecord")
    tfr.split(path, tmp_path / "out", {"train": 0.5, "test": 0.5}, by="user", seed=1)
    users = {
        name: {str(tfr.to_dict(tfr.Example.FromString(record))["user"]) for record in records}
        for name, records in parts_in(tmp_path / "out").items()
    }
    assert not set(users["train"]) & set(users["test"])
    assert len(users["train"]) + len(users["test"]) == 50
    assert 12 < len(users["train"]) < 38


def test_integer_and_list_keys_stay_together_too(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for number in range(100):
            writer.write_example(
                {"one": number % 10, "many": [number % 10, 7], "some": [1, 2, 3][: number % 3 + 1]}
            )
    for key in ("one", "many", "some"):
        tfr.split(tmp_path / "a.tfrecord", tmp_path / key, {"x": 0.5, "y": 0.5}, by=key)
        values = [
            {str(example.get(key)) for example in tfr.read_examples(path)}
            for path in files_in(tmp_path / key)
        ]
        assert not values[0] & values[1]


@pytest.mark.parametrize(
    ("key", "expected"),
    [
        ("nobody", "expected the feature 'nobody' in every record but record 0 of"),
        ("half", "expected the feature 'half' in every record but record 1 of"),
        ("real", "expected a key of integers or of bytes but the feature 'real' is float"),
        ("mixed", "the feature 'mixed' is bytes and int64"),
    ],
)
def test_feature_that_is_no_key_is_refused(key, expected, tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example({"half": 1, "real": 0.5, "mixed": 1})
        writer.write_example({"real": 0.5, "mixed": "x"})
    with pytest.raises(InvalidArgumentError, match=expected):
        tfr.split(tmp_path / "a.tfrecord", tmp_path / "out", {"x": 0.5, "y": 0.5}, by=key)


@pytest.mark.parametrize(
    ("parts", "options", "expected"),
    [
        ({"a": 0.5, "b": 0.4}, {}, r"add up to 1 but got a=0\.5, b=0\.4: 0\.9 in all"),
        ({"a": 1.5, "b": -0.5}, {}, "Expected shares from 0 on"),
        ({}, {}, "Expected names of parts with their shares"),
        (["a", "b"], {}, "Expected names of parts with their shares"),
        ({"a": 0.5, "b": 0.5}, {"every": 2}, "Expected two names without shares"),
        (["a", "b"], {"every": 2, "by": "x"}, "Expected at most one of"),
        (["a", "b"], {"every": 0}, r"Expected a whole number of at least 1 for every \(--every\) but got 0"),
        ({"a": 1.0}, {"shards": {"c": 2}}, "but got one for 'c'"),
        ({"a/b": 1.0}, {}, "cannot begin the name of a file"),
    ],
)
def test_wrong_arguments_are_refused(parts, options, expected, tmp_path):
    path = put_records(tmp_path / "a", RECORDS[:3])
    with pytest.raises(InvalidArgumentError, match=expected):
        tfr.split(path, tmp_path / "out", parts, **options)


def test_few_records_leave_parts_empty(tmp_path):
    path = put_records(tmp_path / "a", RECORDS[:1])
    report = tfr.split(path, tmp_path / "out", PARTS)
    assert sum(shard.records for shard in report.shards) == 1
    assert len(report.shards) == 3
    assert tfr.split(put_records(tmp_path / "b", []), tmp_path / "none", PARTS, shards=2).records == 0


def test_shard_size_is_of_each_part(tmp_path):
    path = put_records(tmp_path / "a", RECORDS)
    report = tfr.split(path, tmp_path / "out", {"train": 0.9, "test": 0.1}, shard_bytes=100_000)
    wanted = -(-path.stat().st_size * 9 // 10 // 100_000)
    assert sum(shard.name.startswith("train-") for shard in report.shards) == wanted
    assert sum(shard.name.startswith("test-") for shard in report.shards) == 1
