from __future__ import annotations

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.image_files import png
from tests.data.support.outcomes import outcomes, resumed
from tests.data.support.runs_node import RunsNode, pull_all
from tests.data.support.same import same
from tfrkit import Block, Dataset
from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.engine.node import Context
from tfrkit.data.stages.zip import ZipNode

ERROR = ValueError("told")
OTHER = ValueError("other")


def numbers(*values: int) -> ColumnChunk:
    return ColumnChunk(np.array(values), len(values))


def zipped(*parts: tuple[object, ...], n: int = 100) -> list[object]:
    nodes = tuple(RunsNode(each) for each in parts)  # type: ignore[arg-type]
    return pull_all(ZipNode(nodes, tuple(range(len(nodes)))), n)


def test_until_the_shortest_ends():
    assert outcomes(Dataset.zip(Dataset.range(3), Dataset.range(5))) == [(0, 0), (1, 1), (2, 2)]
    assert outcomes(Dataset.zip(Dataset.range(3), Dataset.range(0))) == []


def test_structures_are_kept():
    dataset = Dataset.zip({"b": Dataset.range(2), "a": (Dataset.from_tensor_slices(["x", "y"]),)})
    assert outcomes(dataset) == [{"b": 0, "a": (b"x",)}, {"b": 1, "a": (b"y",)}]
    mapped = Dataset.zip({"b": Dataset.range(2).map(lambda x: x), "a": (Dataset.range(9),)})
    assert outcomes(mapped) == [{"b": 0, "a": (0,)}, {"b": 1, "a": (1,)}]
    assert outcomes(Dataset.zip(Dataset.range(2))) == [0, 1]


def test_columns_stay_columns_and_records_a_column_of_them():
    records = RecordChunk([Block.from_records([b"a", b"b", b"c"])])
    node = ZipNode((RunsNode((records,)), RunsNode((numbers(1, 2),))), (0, 1))
    run = node.begin(Context()).pull(5)
    assert run is not None
    assert isinstance(run.chunk, ColumnChunk)
    assert run.chunk.objects() == [(b"a", 1), (b"b", 2)]


@pytest.mark.parametrize("n", [1, 2, 100])
def test_an_error_takes_the_place_of_the_element_and_the_others_go_on(n):
    assert zipped((numbers(0, 1, 2),), (numbers(0), ERROR, numbers(2)), n=n) == [(0, 0), ERROR, (2, 2)]
    first, second = (numbers(0, 1), ERROR, numbers(3)), (numbers(0), OTHER, numbers(2, 3))
    assert zipped(first, second, n=n) == [(0, 0), OTHER, ERROR, (3, 3)]
    assert zipped((ERROR, numbers(1)), (OTHER, numbers(1)), n=n) == [ERROR, (1, 1)]
    assert zipped((numbers(0), ERROR, numbers(1)), (numbers(0),), n=n) == [(0, 0), ERROR]
    assert zipped((numbers(0),), (numbers(0), ERROR, numbers(1)), n=n) == [(0, 0)]
    assert zipped((numbers(0), ERROR, ERROR, ERROR), (numbers(0),), n=n) == [(0, 0), ERROR]


def test_runs_of_different_lengths_are_put_back():
    first = (numbers(0, 1, 2), numbers(3), numbers(4, 5))
    second = (numbers(0), ObjectChunk([np.int64(1), np.int64(2), np.int64(3), np.int64(4)]))
    assert zipped(first, second) == [(i, i) for i in range(5)]


def test_no_function_is_called_more_often_than_there_are_elements():
    first: list[int] = []
    second: list[int] = []
    one = Dataset.range(10).map(lambda x: first.append(int(x)) or x)
    other = Dataset.range(10).map(lambda x: second.append(int(x)) or x)
    iterator = iter(Dataset.zip(one, other, Dataset.range(2)))
    next(iterator)
    assert (first, second) == ([0], [0])
    assert len(list(iterator)) == 1
    assert (len(first), len(second)) == (3, 3)  # TensorFlow asks them once more, too, before the third ends
    alone: list[int] = []
    assert (
        len(list(Dataset.zip(Dataset.range(2), Dataset.range(10).map(lambda x: alone.append(int(x)) or x))))
        == 2
    )
    assert alone == [0, 1]


def test_what_is_no_dataset_is_refused():
    with pytest.raises(
        TypeError, match=r"Python `list` is not supported and you should use `tuple` instead\.$"
    ):
        Dataset.zip([Dataset.range(2)])
    with pytest.raises(TypeError, match=r"but encountered object of type <class 'int'>\.$"):
        Dataset.zip(Dataset.range(2), 3)
    with pytest.raises(TypeError, match=r"^Must pass at least one dataset to `zip`\.$"):
        Dataset.zip()


def test_cardinality_is_the_smallest():
    five, endless = Dataset.range(5), Dataset.range(1).repeat()
    assert Dataset.zip(five, endless, Dataset.range(3)).cardinality() == 3
    assert Dataset.zip(endless, endless).cardinality() == -1
    assert Dataset.zip(five, five.filter(lambda x: x > 2)).cardinality() == -2


@pytest.mark.parametrize("at", range(6))
def test_states(at):
    def make() -> Dataset:
        failing = Dataset.range(6).map(lambda x: 1 // (x - 2) and x)
        return Dataset.zip(Dataset.range(5), failing, Dataset.from_tensor_slices(list("abcde")))

    def ending() -> Dataset:
        return Dataset.zip(Dataset.range(6).map(lambda x: 1 // (x > 2) and x), Dataset.range(2))

    with np.errstate(all="raise"):
        assert resumed(ending, at) == outcomes(ending())[at:]
        assert resumed(make, at) == outcomes(make())[at:]


@pytest.mark.parametrize("options", [{}, {"size": (6, 7)}, {"on_corrupt": "skip"}], ids=str)
def test_ragged_features_beside_decoded_images_stay_ragged(tmp_path, options):
    spec = {"image": tfr.FixedLenFeature([], "bytes"), "words": tfr.RaggedFeature("int64")}
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        for number in range(9):
            example = tfr.make_example({"image": png(4), "words": np.arange(number % 4)})
            writer.write(example.SerializeToString())
    images = tfr.TFRecordDataset(tmp_path / "a.tfrecord").parse(spec).decode_image("image", **options)
    zipped = Dataset.zip(images, Dataset.range(9))
    found = list(zipped.batch(4))
    assert [batch[0]["words"].to_list() for batch in found] == [
        [[], [0], [0, 1], [0, 1, 2]],
        [[], [0], [0, 1], [0, 1, 2]],
        [[]],
    ]
    assert same(found, [zipped.batch(4)[number] for number in range(3)])
    for each in images.take(7), images.repeat(2), images.concatenate(images), images.prefetch(2):
        batches = each.batch(4)
        assert same(list(batches), [batches[number] for number in range(len(batches))])
