"""Arrays that pipelines hand out, to users and to their functions, may be written to: nobody else has them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pytest
import torch

import tfrkit as tfr
import tfrkit.tf as tf
from tests.data.support.changes import arrays_of, assert_changes_stay, change
from tests.data.support.image_files import SPEC as IMAGES
from tests.data.support.image_files import write_images

FROM = tfr.Dataset.from_tensor_slices


class Pair(NamedTuple):
    left: Any
    right: Any


def nested() -> Any:
    """A value of every kind, with four rows."""
    return {
        "numbers": np.arange(12.0).reshape(4, 3),
        "pair": (np.arange(4), np.array([b"a", b"bb", b"", b"cc"])),
        "named": Pair(np.ones((4, 2), np.uint8), np.array([True, False, True, True])),
        "grid": tfr.BytesColumn.from_list([b"a", b"b", b"c", b"d"] * 2).reshape(4, 2),
        "ragged": tfr.Ragged.from_list([[1, 2], [], [3], [4, 5, 6]]),
        "words": tfr.Ragged.from_list([["a", "bb"], [], ["c"], ["d", "e"]]),
        "deep": tfr.Ragged.from_list([[[1], [2, 3]], [], [[4]], [[], [5]]]),
        "sparse": tfr.Sparse([[0, 1], [1, 0], [3, 2]], np.array([5, 6, 7]), [4, 3]),
    }


def numbers() -> Any:
    found = nested()
    return {key: found[key] for key in ("numbers", "ragged", "deep", "sparse")}


def same_array(table: Any) -> Callable[[Any], Any]:
    return lambda _: table


def row_of(table: Any) -> Callable[[Any], Any]:
    return lambda row: {"row": table[row], "all": (table,)}


def one_buffer() -> Iterator[Any]:
    buffer = np.zeros(2)
    for number in range(5):
        buffer[:] = number
        yield buffer


def running(state: Any, x: Any) -> Any:
    total = state + x
    return total, total


def running_in_place(state: Any, x: Any) -> Any:
    state += x
    return state, state


def in_place(x: Any) -> Any:
    for value in x.values() if isinstance(x, dict) else [x]:
        if isinstance(value, np.ndarray):
            torch.from_numpy(value).mul_(2)
        elif isinstance(value, tfr.Ragged):
            value.to_torch()[0].mul_(2)
    return x


def table() -> Any:
    return np.arange(12).reshape(4, 3)


BUFFER = {"output_signature": tfr.TensorSpec([2], "float64")}
CASES: dict[str, Callable[[], tfr.Dataset]] = {
    "tensors": lambda: tfr.Dataset.from_tensors(nested()),
    "tensors repeated": lambda: tfr.Dataset.from_tensors(nested()).repeat(3),
    "tensors batched": lambda: tfr.Dataset.from_tensors({"x": np.arange(3), "y": b"a"}).repeat(5).batch(1),
    "tensors unbatched": lambda: tfr.Dataset.from_tensors(nested()).repeat(2).unbatch(),
    "slices": lambda: FROM(nested()),
    "slices batched": lambda: FROM(nested()).batch(3),
    "slices batched by one": lambda: FROM(nested()).batch(1),
    "slices in batches of batches": lambda: FROM(nested()).batch(1).batch(2),
    "slices unbatched": lambda: FROM(nested()).batch(4).unbatch(),
    "slices shuffled": lambda: FROM(nested()).shuffle(3, seed=1),
    "slices repeated": lambda: FROM(nested()).repeat(2).batch(3),
    "slices padded": lambda: FROM({"x": tfr.Ragged.from_list([[1], [2, 3], [4]])}).padded_batch(2),
    "slices even, padded": lambda: FROM(table()).padded_batch(2),
    "slices ragged": lambda: FROM(table()).ragged_batch(2),
    "slices zipped": lambda: tfr.Dataset.zip(FROM(nested()), FROM(table())),
    "one zipped with itself": lambda: FROM(table()).apply(lambda ds: tfr.Dataset.zip(ds, {"again": ds})),
    "slices joined": lambda: FROM(table()).apply(lambda ds: ds.concatenate(ds)),
    "slices prefetched": lambda: FROM(nested()).prefetch(2),
    "slices enumerated": lambda: FROM(nested()).enumerate(),
    "cache": lambda: FROM(nested()).cache(),
    "cache batched": lambda: FROM(nested()).cache().batch(3),
    "cache of batches": lambda: FROM(nested()).batch(2).cache(),
    "cache of batches unbatched": lambda: FROM(nested()).batch(2).cache().unbatch(),
    "cache of a function's results": lambda: tfr.Dataset.range(4).map(row_of(table())).cache(),
    "cache twice": lambda: (
        tfr.Dataset.range(4).map(lambda i: {"i": i, "x": np.full(2, i)}).cache().cache().repeat(2)
    ),
    "cache shuffled": lambda: tfr.Dataset.range(6).map(lambda i: np.full(2, i)).cache().shuffle(3, seed=1),
    "cache of dicts of numbers": lambda: tfr.Dataset.range(4).map(lambda i: {"i": i}).cache(),
    "cache mapped": lambda: FROM(numbers()).cache().map(in_place),
    "cache mapped by many": lambda: FROM(numbers()).cache().map(in_place, num_parallel_calls=2),
    "cache filtered": lambda: FROM(table()).cache().filter(lambda x: bool((in_place(x) >= 0).all())),
    "cache, more columns": lambda: FROM({"x": table()}).cache().with_column("y", lambda d: in_place(d)["x"]),
    "cache with flat_map": lambda: FROM(table()).cache().flat_map(lambda x: FROM(in_place(x))),
    "cache of windows": lambda: FROM(table()).cache().window(2, 1).flat_map(lambda w: w.repeat(2)),
    "groups": lambda: FROM(table()).group_by_window(lambda x: x[0] % 2, lambda _, w: w.repeat(2), 2),
    "a function's own array": lambda: tfr.Dataset.range(4).map(same_array(table())),
    "a function's own arrays": lambda: tfr.Dataset.range(4).map(same_array({"a": table(), "b": (table(),)})),
    "rows of a function's array": lambda: tfr.Dataset.range(4).map(row_of(table())),
    "one array twice": lambda: FROM(table()).map(lambda x: (x, {"again": x})),
    "a function's own array, batched": lambda: tfr.Dataset.range(4).map(same_array(table())).batch(2),
    "a generator's buffer": lambda: tfr.Dataset.from_generator(one_buffer, **BUFFER),
    "a generator's buffer, batched": lambda: tfr.Dataset.from_generator(one_buffer, **BUFFER).batch(2),
    "a generator's buffer, shuffled": lambda: tfr.Dataset.from_generator(one_buffer, **BUFFER).shuffle(
        3, seed=1
    ),
    "scan": lambda: FROM(table()).scan(np.zeros(3, np.int64), running),
    "scan in place": lambda: FROM(table()).scan(np.zeros(3, np.int64), running_in_place),
    "scan cached": lambda: FROM(table()).scan(np.zeros(3, np.int64), running).cache(),
    "take of a batch": lambda: FROM(nested()).batch(4).take(1).repeat(2),
    "range": lambda: tfr.Dataset.range(10).batch(4),
}


@pytest.mark.parametrize("name", CASES)
def test_writing_in_place_changes_nothing_else(name: str) -> None:
    assert_changes_stay(CASES[name](), CASES[name](), passes=3)


def test_numpy_iterators_give_copies_that_are_read_only_as_those_of_tensorflow() -> None:
    own = table()
    dataset = FROM(own).cache()
    for _ in range(2):
        for row in dataset.as_numpy_iterator():
            assert not row.flags.writeable
            assert not np.shares_memory(row, own)
            row.flags.writeable = True  # it is nobody else's
            row += 1
    assert [row.tolist() for row in dataset.as_numpy_iterator()] == table().tolist()


def test_users_arrays_stay_as_they_are() -> None:
    own = nested()
    for dataset in (
        FROM(own),
        FROM(own).batch(2),
        tfr.Dataset.from_tensors(own),
        FROM(own["numbers"]).map(in_place),
    ):
        for element in dataset:
            change(element)
    assert all(map(np.array_equal, arrays_of(own), arrays_of(nested())))
    assert all(array.flags.writeable for array in arrays_of(own["numbers"]))


def test_columns_as_tensors_are_nobody_elses() -> None:
    dataset = FROM(nested()).cache()
    wanted = list(FROM(nested()))
    for _ in range(3):
        for element, expected in zip(dataset, wanted, strict=True):
            assert element["ragged"].tolist() == expected["ragged"].tolist()
            assert element["words"] == expected["words"]
            assert element["deep"] == expected["deep"]
            assert element["sparse"] == expected["sparse"]
            for tensor in (*element["words"].to_torch(), *element["deep"].to_torch()):
                tensor.add_(1)
            torch.from_dlpack(element["words"]).add_(1)
            element["sparse"].to_torch().mul_(2)


def test_read_only_columns_become_tensors_of_their_own() -> None:
    column = tfr.BytesColumn(b"abc", [0, 1, 3])
    data, _ = column.to_torch()
    data.zero_()
    torch.from_dlpack(column).zero_()
    assert column.to_list() == [b"a", b"bc"]
    with pytest.raises(BufferError, match="copy only"):
        column.__dlpack__(copy=False)


INPUTS: dict[str, Callable[[], tfr.Dataset]] = {
    "slices": lambda: FROM(table().astype(np.float64)),
    "cache": lambda: FROM(table().astype(np.float64)).cache(),
    "elements of their own": lambda: FROM(table().astype(np.float64)).batch(2).unbatch(),
    "columns of their own": lambda: tfr.Dataset.range(12, output_type=np.float64).batch(3),
    "large": lambda: tfr.Dataset.range(4096, output_type=np.float64).batch(1024),
    "a function's": lambda: tfr.Dataset.range(4).map(lambda i: np.full(3, i, np.float64)),
}


@pytest.mark.parametrize("size", [None, 1, 3, 4])
@pytest.mark.parametrize("at", [1, 2, 3, 4])
@pytest.mark.parametrize("name", INPUTS)
def test_a_function_that_writes_is_called_again_with_the_same(name: str, at: int, size: int | None) -> None:
    """An interrupt leaves elements for the next call, of which some were written to."""
    calls = []

    def double(x: Any) -> Any:
        x *= 2
        calls.append(x.copy())
        if len(calls) == at:
            raise KeyboardInterrupt
        return x

    def batched(dataset: tfr.Dataset) -> tfr.Dataset:
        return dataset if size is None else dataset.batch(size)

    wanted = list(batched(INPUTS[name]().map(lambda x: x * 2)))
    dataset = batched(INPUTS[name]().map(double))
    for resumed in (False, True):
        calls.clear()
        found: list[Any] = []
        iterator = iter(dataset)
        with pytest.raises(KeyboardInterrupt):
            found.extend(iterator)
        if resumed:
            iterator = dataset.iter_from(iterator.state())
        found += iterator
        assert len(found) == len(wanted)
        assert all(map(np.array_equal, found, wanted))


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("photos") / "good.tfrecord"
    write_images(path, 7)
    return str(path)


@pytest.mark.parametrize("count", [1, 4])
@pytest.mark.parametrize("mapped", [False, True])
def test_parsed_batches_are_not_copied(photos: str, count: int, mapped: bool) -> None:
    """What is given is on the memory that the parser filled, also if a function had it."""
    dataset = tfr.TFRecordDataset(photos).parse(IMAGES).batch(count)
    for batch in dataset.map(dict) if mapped else dataset:
        for array in arrays_of(batch):
            assert array.flags.writeable
            assert type(array.base).__name__ == "Buffer"


def test_arrays_that_a_function_got_and_gives_back_are_not_copied() -> None:
    got = []

    def note(x: Any) -> Any:
        got.append((id(x), x.ctypes.data))
        return x

    kept = list(FROM(np.arange(400.0).reshape(100, 4)).map(note))
    assert [(id(x), x.ctypes.data) for x in kept] == got


def test_columns_that_a_function_parses_are_not_copied() -> None:
    spec = {"a": tfr.FixedLenFeature([], "int64"), "b": tfr.FixedLenFeature([2], "float32")}
    records = tfr.encode_examples({"a": np.arange(4), "b": np.ones((4, 2), np.float32)})
    got = []

    def parse(batch: Any) -> Any:
        made = tfr.parse_example(batch, spec)
        got.append({key: value.ctypes.data for key, value in made.items()})
        return made

    found = list(FROM(list(records)).batch(2).map(parse))
    assert [{key: value.ctypes.data for key, value in batch.items()} for batch in found] == got


def test_single_rows_do_not_keep_others_alive() -> None:
    for row in FROM(table()):
        assert row.base is None


@pytest.mark.parametrize("size", [None, (4, 5)])
def test_images_may_be_written_to(photos: str, size: Any) -> None:
    def make() -> tfr.Dataset:
        found = tfr.TFRecordDataset(photos).parse(IMAGES).decode_image("image", size=size)
        return found.normalize("image", mean=0.5).cache()

    assert_changes_stay(make(), make(), passes=3)


def test_tensorflows_numpy_iterators_are_read_only_as_there() -> None:
    dataset = tf.data.Dataset.from_tensor_slices(table()).cache().batch(2)
    for _ in range(2):
        for batch in dataset.as_numpy_iterator():
            assert not batch.flags.writeable
    for _ in range(2):
        for batch in dataset:
            array = batch.numpy()
            array += 1
            torch.from_dlpack(batch).add_(1)
    assert [batch.tolist() for batch in dataset.as_numpy_iterator()] == [
        table()[:2].tolist(),
        table()[2:].tolist(),
    ]
