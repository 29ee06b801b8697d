"""Elements by number are those of iterating, for random pipelines; and what has none says so."""

from __future__ import annotations

import functools
import itertools
import os
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.calls import Failure, difference, outcomes
from tests.data.support.chains import build
from tests.data.support.random_indexable import make_indexable, write_indexable
from tests.data.support.same import same
from tests.data.support.spaces import tfrkit_space
from tests.oracle.support.frames import flip, frames
from tfrkit import Dataset, tf
from tfrkit.errors import DataLossError, InvalidArgumentError

PIPELINES = int(os.environ.get("TFRKIT_PIPELINES", "200"))
GROUPS = 20


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_indexable(tmp_path_factory.mktemp("indexable"))


def attempt(function: Any) -> Any:
    """What a call gives, or its error."""
    try:
        return function()
    except Exception as error:
        return Failure(type(error).__name__, str(error))


def joined(ds: tfr.Dataset, numbers: list[int]) -> tfr.Dataset:
    """The elements with these numbers as one batch, by iterating alone."""
    parts = [ds.skip(number).take(1) for number in numbers]
    return functools.reduce(lambda first, second: first.concatenate(second), parts).batch(len(numbers))


def check_epoch(ds: tfr.Dataset, wanted: list[Any], epoch: int, rng: random.Random) -> None:
    """One element, lists and slices of an epoch are those that iterating gave."""
    fixed = ds.epoch(epoch) if epoch else ds
    size = len(wanted)
    if size or ds.cardinality() <= 0:  # as in TensorFlow, nothing repeated for ever counts as endless
        assert len(fixed) == size
    found = [fixed[number] for number in range(size)]
    assert not (where := difference(found, wanted)), where
    if not size:
        assert attempt(lambda: fixed[0]) == Failure("IndexError", "element 0 is out of range: there are 0")
        return
    number = rng.randrange(size)
    assert same(fixed[number - size], wanted[number])
    for wrong in (size, -size - 1):
        text = f"element {wrong} is out of range: there are {size}"
        assert attempt(lambda wrong=wrong: fixed[wrong]) == Failure("IndexError", text)
        assert attempt(lambda wrong=wrong: ds.at([0, wrong], epoch)) == Failure("IndexError", text)
    numbers = [rng.randrange(size) for _ in range(rng.randint(1, 4))]
    asked = [each - size if rng.random() < 0.3 else each for each in numbers]
    together = attempt(lambda: next(iter(joined(fixed, numbers))))
    if not (isinstance(together, Failure) and "Cannot batch" in together.text):
        assert same(attempt(lambda: ds.at(asked, epoch)), together), asked
    cut = slice(*(rng.choice([None, 0, 1, 3, 9, -1, -4]) for _ in range(2)), rng.choice([None, 2, -1, -3]))
    part = fixed[cut]
    assert len(part) == len(wanted[cut])
    assert not (where := difference(list(part), wanted[cut])), f"{cut}: {where}"


def check(seed: int, folder: Path) -> None:
    chain = make_indexable(seed)
    rng = random.Random(~seed)
    ds = attempt(lambda: build(chain, tfrkit_space(), folder))
    if isinstance(ds, Failure):
        raise AssertionError(f"{seed}: {chain}: {ds}")
    assert ds.indexable, chain
    for epoch in range(2):
        wanted = attempt(lambda: list(itertools.islice(ds, 1000)))
        if isinstance(wanted, Failure) and "Cannot batch" in wanted.text:  # elements of different shapes
            return
        assert isinstance(wanted, list), f"seed {seed}: {chain}: {wanted}"
        try:
            check_epoch(ds, wanted, epoch, rng)
        except Exception as error:
            raise AssertionError(f"seed {seed}, epoch {epoch}: {chain}") from error


@pytest.mark.parametrize("group", range(GROUPS))
def test_random_pipelines_by_number_equal_iterating(group: int, folder: Path) -> None:
    for seed in range(group, PIPELINES, GROUPS):
        check(seed, folder)


def numbers(ds: Any) -> list[int]:
    return [int(x) for x in ds]


def write(path: Path, count: int = 20) -> Path:
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([b"%d" % number for number in range(count)])
    return path


# ---- what is asked for


def test_numbers_may_be_of_any_kind() -> None:
    ds = Dataset.range(10)
    assert int(ds[np.int8(-1)]) == 9
    assert ds.at(np.array([1, -1], np.int16)).tolist() == ds[[1, -1]].tolist() == [1, 9]
    assert ds.at(range(3, 6)).tolist() == [3, 4, 5]
    assert ds.at([True, False] * 5).tolist() == [0, 2, 4, 6, 8]
    assert ds.at((4, 4)).tolist() == [4, 4]
    for wrong in (1.5, "1", None, [0.5], {1}):
        with pytest.raises((TypeError, IndexError, ValueError)):
            ds[wrong]
    with pytest.raises(IndexError, match="element 10 is out of range: there are 10"):
        ds.at([0, 10, 11])


def test_no_numbers_are_an_empty_batch(tmp_path: Path) -> None:
    assert Dataset.range(5).at([]).shape == (0,)
    assert Dataset.from_tensor_slices(np.zeros((4, 3), np.float32)).at([]).shape == (0, 3)
    assert len(tfr.TFRecordDataset(write(tmp_path / "a.tfrecord")).at([])) == 0
    numbers = Dataset.range(5)
    assert numbers.batch(3).at([]).shape == (0, 0)
    assert numbers.batch(3, drop_remainder=True).at([]).shape == (0, 3)
    assert same(Dataset.zip(numbers, numbers).at([]), (np.arange(0), np.arange(0)))
    named = numbers.map(lambda x: {"x": x})
    assert same(named.at([]), {"x": np.arange(0)})
    masked = named.shard(2, 0, tail="repeat", mask="real")
    assert same(masked.at([]), {"x": np.arange(0), "real": np.zeros(0, np.bool_)})


SPEC: dict[str, Any] = {
    "n": tfr.FixedLenFeature([], "int64"),
    "text": tfr.FixedLenFeature([2], "string"),
    "list": tfr.RaggedFeature("float32"),
    "row": tfr.FixedLenSequenceFeature([], "int64", allow_missing=True),
}


def test_what_is_all_damaged_is_an_empty_batch(tmp_path: Path) -> None:
    example = {"n": 1, "text": [b"a", b"b"], "list": [1.0], "row": [1, 2]}
    with tfr.TFRecordWriter(tmp_path / "a.tfrecord") as writer:
        writer.write_example(example)
        writer.write_example(example)
    path = tmp_path / "a.tfrecord"
    path.write_bytes(flip(path.read_bytes(), 12))
    ds = tfr.TFRecordDataset(path, on_corrupt="skip").parse(SPEC)
    whole = ds.at([1])
    for empty in (ds.at([]), ds.at([0]), Dataset.zip(ds, ds).at([0])[1], ds.batch(1).at([0])):
        assert [(key, type(value), value.dtype, len(value)) for key, value in empty.items()] == [
            (key, type(value), value.dtype, 0) for key, value in whole.items()
        ]
    assert ds.at([0])["text"].shape == (0, 2)


def test_a_number_beyond_64_bits_is_named_as_it_was_given() -> None:
    for ds, why in (
        (Dataset.range(5), "there are 5"),
        (Dataset.range(5).repeat(), f"expected numbers below {2**63 - 1}"),
    ):
        with pytest.raises(IndexError) as caught:
            ds.at([10**19])
        assert str(caught.value) == f"element {10**19} is out of range: {why}"
    assert list(Dataset.range(5)[3:3]) == []


def test_elements_belong_to_whoever_asks() -> None:
    rows = np.arange(12).reshape(4, 3)
    for ds in (
        Dataset.from_tensor_slices(rows),
        Dataset.from_tensors(rows[0]).repeat(4),
        Dataset.from_tensor_slices(rows).batch(2),
        Dataset.from_tensor_slices({"a": rows}).map(lambda x: x).global_shuffle(seed=1),
        Dataset.from_tensor_slices(rows)[1:],
    ):
        before = [np.array(x["a"] if isinstance(x, dict) else x) for x in ds.epoch(0)]
        for each in (ds[0], ds[1], ds.at([0, 1]), *ds.epoch(0)):
            array = each["a"] if isinstance(each, dict) else each
            assert array.flags.writeable
            array[...] = -1
        after = [x["a"] if isinstance(x, dict) else x for x in ds.epoch(0)]
        assert all(map(np.array_equal, before, after))


def test_a_dataset_without_an_end_has_numbers_but_no_length() -> None:
    ds = Dataset.range(3).repeat()
    assert numbers(ds[i] for i in range(7)) == [0, 1, 2, 0, 1, 2, 0]
    assert ds.at([10**12 * 3 + 1]).tolist() == [1]
    with pytest.raises(TypeError, match="The dataset is infinite"):
        len(ds)
    text = "element -1 is out of range: the dataset has no end to count from"
    with pytest.raises(IndexError, match=text):
        ds[-1]
    with pytest.raises(IndexError, match=text):
        ds.at([0, -1])
    assert numbers(ds[1:6:2]) == [1, 0, 2]
    assert numbers(ds[:4]) == [0, 1, 2, 0]
    assert len(ds[5:3]) == 0
    for wrong in (slice(None), slice(2, None), slice(-3, 3), slice(0, -1), slice(4, 0, -1)):
        with pytest.raises(
            InvalidArgumentError, match=r"A slice of a dataset without an end needs an end of its own"
        ):
            ds[wrong]
    assert int(Dataset.counter(5, 2)[4]) == 13
    assert [int(x) for _, x in Dataset.range(4).enumerate()[2:]] == [2, 3]


def test_slices_are_datasets_that_can_be_sliced_again() -> None:
    ds = Dataset.range(20)[2:18:3]
    assert numbers(ds) == list(range(20))[2:18:3]
    assert numbers(ds[::-1][1:4]) == list(range(20))[2:18:3][::-1][1:4]
    assert len(ds[1:]) == 5
    assert numbers(ds.batch(4)[1]) == [14, 17]
    assert numbers(reversed(ds)) == numbers(ds)[::-1]
    with pytest.raises(ValueError, match="slice step cannot be zero"):
        ds[::0]


def test_a_function_that_fails_says_so_by_number_too() -> None:
    def fails(x: Any) -> Any:
        if x % 7 == 3:
            raise KeyError(f"number {x}")
        return x

    for parallel in (None, 2):
        ds = Dataset.range(30).map(fails, num_parallel_calls=parallel)
        for shuffled in (ds, ds.global_shuffle(seed=1), ds.global_shuffle(seed=1, window=64)):
            found = outcomes(iter(shuffled))[:-1]
            by_number = [attempt(lambda i=i, ds=shuffled: ds[i]) for i in range(30)]
            assert sum(isinstance(one, Failure) for one in found) == 4
            assert not difference(by_number, found)
        with pytest.raises(KeyError, match="number 3"):
            ds.at([1, 2, 3, 4])


# ---- what has no numbers


def some_rows() -> Any:
    yield from range(3)


NOT_INDEXABLE = {
    "shuffle(5)": (lambda ds, path: ds.shuffle(5), r"Use global_shuffle\(\) instead of shuffle\(\)"),
    "filter(bool)": (
        lambda ds, path: ds.filter(bool).batch(2),
        r"Put filter\(\) after what needs the numbers",
    ),
    "cache()": (lambda ds, path: ds.cache().take(3), r"Leave cache\(\) out"),
    "interleave(": (
        lambda ds, path: ds.interleave(Dataset.range, 2),
        r"Put interleave\(\) after what needs.*give TFRecordDataset a list",
    ),
    "flat_map(": (
        lambda ds, path: ds.flat_map(Dataset.range).enumerate(),
        r"Put flat_map\(\) after.*use concatenate",
    ),
    "from_generator": (
        lambda ds, path: Dataset.from_generator(some_rows, output_signature=tfr.TensorSpec((), "int64")),
        r"Give arrays to from_tensor_slices\(\), or write",
    ),
    "unbatch()": (lambda ds, path: ds.batch(2).unbatch(), r"Leave batch\(\) and unbatch\(\) out"),
    "rebatch(": (lambda ds, path: ds.batch(2).rebatch([1, 2]), r"Use one batch\(\)"),
    "take_while(bool)": (lambda ds, path: ds.take_while(bool), r"Use take\(\)"),
    "scan(": (lambda ds, path: ds.scan(np.int64(0), divmod), r"Put scan\(\) after"),
    "unique()": (lambda ds, path: ds.unique(), r"Put unique\(\) after"),
    "ignore_errors()": (lambda ds, path: ds.ignore_errors(), r"Put ignore_errors\(\) after"),
    "assert_cardinality(10)": (lambda ds, path: ds.assert_cardinality(10), r"len\(\) tells"),
    "group_by_window(": (
        lambda ds, path: ds.group_by_window(lambda x: x % 2, lambda _, part: part.batch(2), 2),
        r"Put group_by_window\(\) after",
    ),
    "choose_from_datasets(": (
        lambda ds, path: Dataset.choose_from_datasets([ds, ds], Dataset.range(2)),
        r"Use concatenate\(\), and global_shuffle\(\)",
    ),
    "window(": (lambda ds, path: ds.window(2), r"Use batch\(\) for groups"),
    "random(": (lambda ds, path: Dataset.random(1).take(3), r"Draw random numbers in map\(seeded=True\)"),
    "TextLineDataset(": (lambda ds, path: tfr.TextLineDataset(path), r"Give the lines to from_tensor_slices"),
    "TFRecordDataset(files(2), 2 in turn)": (
        lambda ds, path: tfr.TFRecordDataset([path, path], num_parallel_reads=2),
        "Leave num_parallel_reads out",
    ),
    "TFRecordDataset(": (
        lambda ds, path: tfr.TFRecordDataset(path, on_corrupt="stop").batch(2),
        'Pass on_corrupt="raise" or "skip"',
    ),
    "decode_image(": (
        lambda ds, path: Dataset.from_tensors({"i": b""}).decode_image("i", on_corrupt="stop"),
        'Pass on_corrupt="raise" or "skip"',
    ),
}


@pytest.mark.parametrize("label", NOT_INDEXABLE)
def test_a_stage_without_numbers_says_so_and_what_to_do(label: str, tmp_path: Path) -> None:
    make, remedy = NOT_INDEXABLE[label]
    ds = make(Dataset.range(10), write(tmp_path / "a.tfrecord"))
    assert not ds.indexable
    calls = [lambda: ds[0], lambda: ds.at([0]), lambda: ds[:2], lambda: ds.map(lambda *x: x)[0]]
    calls += [lambda: ds.global_shuffle(seed=1), lambda: ds.shard(2, 0, tail="drop")]
    for call in calls:
        found = attempt(call)
        assert found.name == "InvalidArgumentError"
        assert found.text.startswith(label)
        assert " has no elements by number, so that the dataset can only be iterated. " in found.text
        with pytest.raises(InvalidArgumentError, match=remedy):
            call()
    assert os.listdir(tmp_path) == ["a.tfrecord"]


def test_a_pipe_has_no_numbers(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    ds = tfr.TFRecordDataset(tmp_path / "pipe")
    assert not ds.indexable
    with pytest.raises(
        InvalidArgumentError, match="Pipes are read once, in order: keep the records in a file"
    ):
        ds[0]
    with pytest.raises(TypeError, match="The dataset length is unknown"):
        len(ds)


# ---- indexes


def test_iterating_makes_no_index_and_the_length_makes_one_that_is_kept(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord")
    ds = tfr.TFRecordDataset(path).batch(3).prefetch(1)
    assert ds.indexable
    iterator = iter(ds)
    assert sum(len(batch) for batch in iterator) == 20
    iterator.state()
    repr(ds), ds.element_spec, ds.cardinality(), ds.explain()
    assert os.listdir(tmp_path) == ["a.tfrecord"]
    assert len(ds) == 7
    assert len(os.listdir(tmp_path)) == 2
    (index,) = {*tmp_path.iterdir()} - {path}
    made = index.stat().st_mtime_ns
    assert len(tfr.TFRecordDataset(path)) == 20
    assert tfr.TFRecordDataset(path)[-1] == b"19"
    assert index.stat().st_mtime_ns == made


def test_making_a_shuffle_or_a_rank_makes_no_index(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord")
    ds = tfr.TFRecordDataset(path).global_shuffle(seed=1).shard(2, 0, tail="drop").batch(2)
    assert ds.indexable
    repr(ds.epoch(3)), ds.element_spec, ds.cardinality()
    assert os.listdir(tmp_path) == ["a.tfrecord"]
    assert sum(len(batch) for batch in ds) == 10
    assert len(os.listdir(tmp_path)) == 2


def test_the_length_of_many_files_is_that_of_their_records(tmp_path: Path) -> None:
    paths = [write(tmp_path / f"{number}.tfrecord", number) for number in range(12)]
    ds = tfr.TFRecordDataset(paths)
    assert len(ds) == 66
    assert len(ds.shard(7, 6)) == 9
    assert len(ds.repeat(2).batch(50, drop_remainder=True)) == 2


@pytest.mark.parametrize("damage", ["data", "length", "cut", "missing"])
def test_list_gives_the_error_of_a_damaged_file_in_its_place(tmp_path: Path, damage: str) -> None:
    records = [b"%d" % number for number in range(20)]
    at = len(frames(records[:12]))
    data = frames(records)
    data = {"data": flip(data, at + 12), "length": flip(data, at), "cut": data[: at + 5]}.get(damage, b"")
    path = tmp_path / "a.tfrecord"
    if damage != "missing":
        path.write_bytes(data)
    ds = tfr.TFRecordDataset(path)
    found: list[bytes] = []
    error = tfr.errors.NotFoundError if damage == "missing" else DataLossError
    with pytest.raises(error) as caught:
        found.extend(ds)
    assert found == ([] if damage == "missing" else records[:12])
    with pytest.raises(error) as again:
        list(ds)
    assert str(again.value) == str(caught.value)
    if damage != "data":  # of which the index knows nothing
        with pytest.raises(TypeError, match="The dataset length is unknown: "):
            len(ds)
        with pytest.raises(error):
            ds[0]


def test_a_file_that_has_changed_is_indexed_anew(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", 20)
    assert len(tfr.TFRecordDataset(path)) == 20
    write(path, 5)
    assert len(tfr.TFRecordDataset(path)) == 5
    assert tfr.TFRecordDataset(path)[-1] == b"4"


def test_a_file_that_changes_while_it_is_used_is_an_error(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord", 2000)
    ds = tfr.TFRecordDataset(path).global_shuffle(seed=1)
    iterator = iter(ds)
    next(iterator)
    with open(path, "r+b") as file:
        file.truncate(10_000)
    with pytest.raises((DataLossError, tfr.errors.FailedPreconditionError), match=r"a\.tfrecord"):
        list(iterator)
    with pytest.raises((DataLossError, tfr.errors.FailedPreconditionError), match=r"a\.tfrecord"):
        ds.at(range(2000))


# ---- datasets of tfrkit.tf


def test_datasets_of_tensorflow_have_its_lengths(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tfrecord")
    ds = tf.data.TFRecordDataset([str(path)])
    with pytest.raises(TypeError, match="The dataset length is unknown"):
        len(ds)
    with pytest.raises(TypeError, match="The dataset length is unknown"):
        len(ds.batch(3))
    assert [x.numpy() for x in list(ds)][-1] == b"19"
    assert os.listdir(tmp_path) == ["a.tfrecord"]
    assert len(tf.data.Dataset.range(7).batch(3)) == 3
