from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.sources.test_records_source import three_files
from tests.records.support.made import frames, put
from tfrkit import Dataset, TFRecordDataset
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError


def example_files(folder) -> list[str]:
    """Two files of Examples with x = 0, 1, 2, ... all through."""
    paths = []
    for number, values in enumerate([range(4), range(4, 7)]):
        records = [
            tfr.make_example({"x": value, "y": b"y%d" % value}).SerializeToString() for value in values
        ]
        paths.append(str(put(folder / f"{number}.tfrecord", frames(records))))
    return paths


SPEC = {"x": tfr.FixedLenFeature([], "int64"), "y": tfr.FixedLenFeature([], "bytes")}


def where(paths: list[str], value: int) -> tuple[bytes, int]:
    """File and record number of an x."""
    return (paths[0].encode(), value) if value < 4 else (paths[1].encode(), value - 4)


def test_raw_records_become_dicts(tmp_path):
    files = three_files(tmp_path)
    dataset = TFRecordDataset(files).with_source()
    assert list(dataset)[5] == {"data": b"c0", "file": files[2].encode(), "record": np.int64(0)}
    assert repr(dataset.element_spec) == (
        "{'data': TensorSpec(shape=(), dtype=tf.string, name=None), "
        "'file': TensorSpec(shape=(), dtype=tf.string, name=None), "
        "'record': TensorSpec(shape=(), dtype=tf.int64, name=None)}"
    )
    assert dataset.node.label == "with_source('file', 'record')"
    assert dataset.cardinality() == tfr.UNKNOWN_CARDINALITY


def test_batches_have_columns(tmp_path):
    files = three_files(tmp_path)
    (batch,) = TFRecordDataset(files).with_source("path", "number").batch(100)
    assert batch["data"].to_list()[4:6] == [b"a4", b"c0"]
    assert batch["path"].to_list() == [files[0].encode()] * 5 + [files[2].encode()] * 4
    assert batch["number"].tolist() == [0, 1, 2, 3, 4, 0, 1, 2, 3]


@pytest.mark.parametrize(
    "verbs",
    [
        lambda dataset: dataset,
        lambda dataset: dataset.shuffle(5, seed=1),
        lambda dataset: dataset.filter(lambda element: element["x"] % 2 == 1),
        lambda dataset: dataset.select("x").rename(x="z").rename(z="x").cast(x="int32"),
        lambda dataset: dataset.skip(1).take(4).prefetch(2),
        lambda dataset: dataset.shard(2, 1).repeat(2),
        lambda dataset: (
            dataset.shuffle(3, seed=2).filter(lambda element: element["x"] > 1).shuffle(2, seed=3)
        ),
    ],
    ids=["parse", "shuffle", "filter", "columns", "take", "shard", "many"],
)
def test_it_is_known_after_stages_that_only_choose(verbs, tmp_path):
    paths = example_files(tmp_path)
    elements = list(verbs(TFRecordDataset(paths).parse(SPEC)).with_source())
    assert elements
    for element in elements:
        assert (element["file"], int(element["record"])) == where(paths, int(element["x"]))


def test_it_is_known_after_a_shuffle_of_records(tmp_path):
    paths = example_files(tmp_path)
    for element in TFRecordDataset(paths).shuffle(4, seed=1).parse(SPEC).with_source():
        assert (element["file"], int(element["record"])) == where(paths, int(element["x"]))


def test_state_goes_on_with_the_source(tmp_path):
    dataset = TFRecordDataset(example_files(tmp_path)).shuffle(4, seed=1).parse(SPEC).with_source()
    expected = list(dataset)
    fresh = TFRecordDataset(example_files(tmp_path)).shuffle(4, seed=1).parse(SPEC).with_source()
    iterator = iter(fresh)
    assert [next(iterator) for _ in range(3)] == expected[:3]
    assert list(fresh.iter_from(iterator.state())) == expected[3:]


@pytest.mark.parametrize("calls", [None, 2])
def test_it_is_known_after_a_function(calls, tmp_path):
    files = three_files(tmp_path)
    dataset = TFRecordDataset(files).map(lambda record: record + b"!", num_parallel_calls=calls).with_source()
    assert list(dataset)[6] == {"data": b"c1!", "file": files[2].encode(), "record": np.int64(1)}


def test_after_a_batch_nobody_knows(tmp_path):
    dataset = TFRecordDataset(three_files(tmp_path)).batch(2).with_source()
    with pytest.raises(FailedPreconditionError, match=r"Put with_source\(\) before batch\(\) and zip\(\)"):
        next(iter(dataset))


def test_what_was_in_no_file_has_no_source():
    with pytest.raises(FailedPreconditionError, match="it is not known which record"):
        next(iter(Dataset.range(3).with_source()))


def test_name_that_is_taken_is_refused(tmp_path):
    dataset = TFRecordDataset(example_files(tmp_path)).parse(SPEC).with_source("x")
    with pytest.raises(InvalidArgumentError, match=r"has a feature 'x' already\. Give another name"):
        next(iter(dataset))
    with pytest.raises(InvalidArgumentError, match="has a feature 'x' already"):
        dataset.element_spec  # noqa: B018


def test_context_of_a_sequence_gets_it(tmp_path):
    records = [
        tfr.make_sequence_example({"id": number}, {"v": [[1.0], [2.0]]}).SerializeToString()
        for number in range(3)
    ]
    path = str(put(tmp_path / "a", frames(records)))
    dataset = TFRecordDataset(path).parse_sequence(
        {"id": tfr.FixedLenFeature([], "int64")}, {"v": tfr.FixedLenSequenceFeature([], "float32")}
    )
    found = [element[0] for element in dataset.with_source()]
    assert [(int(each["id"]), each["file"], int(each["record"])) for each in found] == [
        (number, path.encode(), number) for number in range(3)
    ]
