"""global_shuffle: the order of every epoch, wherever it is asked for; windows, seeds, and damaged records."""

from __future__ import annotations

import gc
import itertools
import json
import pickle
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.calls import Failure, outcomes
from tests.oracle.support.frames import flip, frames
from tfrkit import Dataset
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.values.permutation import Permutation


def numbers(ds: Any) -> list[int]:
    return [int(x) for x in ds]


def chained(parts: Any) -> list[int]:
    return list(itertools.chain.from_iterable(parts))


def number_of(record: bytes) -> np.int64:
    return np.int64(record.split()[0])


def records_of(count: int) -> list[bytes]:
    return [b"%d " % number + b"x" * (number * 7 % 23) for number in range(count)]


def written(folder: Path, counts: tuple[int, ...] = (40, 0, 25, 35)) -> list[Path]:
    """Files whose records are numbered through."""
    records, paths = iter(records_of(sum(counts))), []
    for number, count in enumerate(counts):
        paths.append(folder / f"{number}.tfrecord")
        with tfr.TFRecordWriter(paths[-1]) as writer:
            writer.write_many(list(itertools.islice(records, count)))
    return paths


def damaged(folder: Path, *which: int, count: int = 60) -> Path:
    """A file whose records with these numbers have other bytes than their checksums say."""
    records = records_of(count)
    data = frames(records)
    for number in which:
        data = flip(data, len(frames(records[:number])) + 12)
    path = folder / "damaged.tfrecord"
    path.write_bytes(data)
    return path


# ---- epochs


def test_the_order_is_the_permutation_of_seed_and_epoch() -> None:
    ds = Dataset.range(50).global_shuffle(seed=7)
    for epoch in range(4):
        assert numbers(ds) == Permutation(50, 7, epoch).run(0, 50).tolist()


@pytest.mark.parametrize("window", [None, 100])
def test_the_nth_pass_is_epoch_n(window: int | None) -> None:
    ds = Dataset.range(30).global_shuffle(seed=1, window=window)
    passes = [numbers(ds) for _ in range(4)]
    assert len({tuple(each) for each in passes}) == 4
    assert all(sorted(each) == list(range(30)) for each in passes)
    assert passes == [numbers(ds.epoch(number)) for number in range(4)]
    assert passes == [[int(ds.epoch(number)[i]) for i in range(30)] for number in range(4)]
    assert passes == [ds.at(range(30), number).tolist() for number in range(4)]
    assert [int(ds[i]) for i in range(30)] == passes[0]


def test_a_fixed_epoch_is_the_same_in_every_pass() -> None:
    ds = Dataset.range(30).global_shuffle(seed=1).epoch(3)
    assert numbers(ds) == numbers(ds) == numbers(ds.epoch(9))


def test_an_epoch_of_stages_after_it_is_that_of_the_shuffle() -> None:
    plain = Dataset.range(40).global_shuffle(seed=3)
    ds = plain.map(lambda x: x).batch(8).prefetch(2)
    for epoch in range(3):
        assert np.concatenate(list(ds)).tolist() == numbers(plain.epoch(epoch))


@pytest.mark.parametrize("window", [None, 64])
def test_without_reshuffling_every_epoch_has_the_order_of_the_first(window: int | None) -> None:
    ds = Dataset.range(30).global_shuffle(seed=1, reshuffle_each_iteration=False, window=window)
    first = numbers(ds)
    assert numbers(ds) == first == numbers(ds.epoch(5)) == ds.at(range(30), epoch=2).tolist()
    assert numbers(ds.repeat(3)) == first * 3
    assert first == numbers(Dataset.range(30).global_shuffle(seed=1, window=window).epoch(0))


@pytest.mark.parametrize("window", [None, 64])
def test_under_repeat_the_epoch_is_the_number_of_the_time(window: int | None) -> None:
    ds = Dataset.range(12).global_shuffle(seed=5, window=window)
    wanted = [numbers(ds.epoch(epoch)) for epoch in range(6)]
    three = ds.repeat(3)
    assert numbers(three) == chained(wanted[:3])
    assert numbers(three) == chained(wanted[3:])
    endless = ds.repeat()
    assert numbers(itertools.islice(endless, 60)) == chained(wanted[:5])
    assert [int(endless[i]) for i in range(60)] == chained(wanted[:5])
    assert endless.at([0, 13, 50]).tolist() == [wanted[0][0], wanted[1][1], wanted[4][2]]


def test_under_repeat_a_rank_and_batches_see_the_epochs() -> None:
    ds = Dataset.range(10).global_shuffle(seed=5)
    wanted = [numbers(ds.epoch(epoch)) for epoch in range(3)]
    batches = [each.tolist() for each in ds.batch(4).repeat(3)]
    assert batches == [epoch[i : i + 4] for epoch in wanted for i in (0, 4, 8)]
    assert numbers(ds.repeat(3).shard(4, 1)) == chained(wanted)[1::4]
    assert numbers(ds.shard(4, 1).repeat(3)) == chained(epoch[1::4] for epoch in wanted)


def test_two_shuffles_side_by_side_have_orders_of_their_own() -> None:
    one, other = (Dataset.range(20).global_shuffle(seed=seed) for seed in (1, 2))
    both = Dataset.zip(one, other)
    for epoch in range(2):
        pairs = [(int(a), int(b)) for a, b in both]
        assert pairs == list(zip(numbers(one.epoch(epoch)), numbers(other.epoch(epoch)), strict=True))


def test_a_shuffle_of_a_shuffle() -> None:
    ds = Dataset.range(20).global_shuffle(seed=1).global_shuffle(seed=2)
    for epoch in range(2):
        first, second = (Permutation(20, seed, epoch).run(0, 20) for seed in (1, 2))
        assert numbers(ds) == first[second].tolist()


def test_resuming_continues_with_the_epoch_after() -> None:
    ds = Dataset.range(20).global_shuffle(seed=1)
    numbers(ds), numbers(ds)
    iterator = iter(ds)
    next(iterator)
    state = json.loads(json.dumps(iterator.state()))
    other = Dataset.range(20).global_shuffle(seed=1)
    assert numbers(other.iter_from(state)) == numbers(ds.epoch(2))[1:]
    assert numbers(other) == numbers(ds.epoch(3))


def test_an_epoch_below_zero_is_refused() -> None:
    ds = Dataset.range(3).global_shuffle(seed=1)
    with pytest.raises(InvalidArgumentError, match="Expected an epoch of at least 0 but got -1"):
        ds.epoch(-1)
    with pytest.raises(InvalidArgumentError, match="Expected an epoch of at least 0 but got -2"):
        ds.at([0], epoch=-2)


# ---- seeds


def test_a_drawn_seed_travels_in_the_pickle() -> None:
    ds = Dataset.range(40).global_shuffle()
    copy = pickle.loads(pickle.dumps(ds))
    assert numbers(copy) == numbers(ds) != list(range(40))
    assert numbers(copy) == numbers(ds)
    assert numbers(Dataset.range(40).global_shuffle()) != numbers(ds.epoch(0))


@pytest.mark.parametrize("stages", ["", "batch", "repeat", "window", "concatenate"])
def test_a_drawn_seed_travels_in_the_state(stages: str) -> None:
    def make() -> Dataset:
        ds = Dataset.range(40).global_shuffle(window=100 if stages == "window" else None)
        if stages == "batch":
            return ds.batch(3)
        if stages == "concatenate":
            return ds.concatenate(Dataset.range(4).global_shuffle())
        return ds.repeat(2) if stages == "repeat" else ds

    ds = make()
    list(ds)
    iterator = iter(ds)
    for _ in range(9):
        next(iterator)
    state = json.loads(json.dumps(iterator.state()))
    other = make()
    assert [np.ravel(x).tolist() for x in other.iter_from(state)] == [np.ravel(x).tolist() for x in iterator]
    assert [np.ravel(x).tolist() for x in other] == [np.ravel(x).tolist() for x in ds.epoch(2)]


def test_a_drawn_seed_travels_in_the_position() -> None:
    ds = Dataset.range(40).global_shuffle().batch(4)
    iterator = iter(ds)
    next(iterator)
    position = json.loads(json.dumps(iterator.position()))
    other = Dataset.range(40).global_shuffle().batch(6)
    assert np.concatenate([*other.iter_from(position)]).tolist() == np.concatenate([*iterator]).tolist()


def test_ranks_need_a_seed_that_all_of_them_have() -> None:
    ds = Dataset.range(10).global_shuffle()
    with pytest.raises(InvalidArgumentError) as caught:
        ds.batch(2).shard(2, 1)
    assert str(caught.value) == (
        "shard(2, 1) after global_shuffle(): without a seed every process would draw another order, and elements would "
        "come twice or never. Give global_shuffle() a seed, the same everywhere."
    )
    assert numbers(ds.shard(1, 0)) == numbers(ds.epoch(0))
    assert sorted(numbers(Dataset.range(10).shard(2, 1).global_shuffle())) == [1, 3, 5, 7, 9]


@pytest.mark.parametrize("seed", [0, -1, -(2**63), 2**63, 2**64 - 1, np.int32(7)])
@pytest.mark.parametrize("window", [None, 40])
def test_a_seed_has_64_bits(seed: int, window: int | None) -> None:
    ds = Dataset.range(20).global_shuffle(seed=seed, window=window)
    assert sorted(numbers(ds)) == list(range(20))
    assert numbers(pickle.loads(pickle.dumps(ds))) == numbers(ds.epoch(0))


@pytest.mark.parametrize("seed", [2**64, -(2**63) - 1])
def test_a_larger_seed_is_refused_at_once(seed: int) -> None:
    text = f"Expected a seed of 64 bits, from -2\\*\\*63 to 2\\*\\*64 - 1, but got {seed}"
    with pytest.raises(InvalidArgumentError, match=text):
        Dataset.range(20).global_shuffle(seed=seed)
    with pytest.raises(InvalidArgumentError, match=text):
        Dataset.range(20).map(lambda x, s: x, seeded=True, seed=seed)


def test_elements_keep_their_types() -> None:
    for ds in (Dataset.range(5), Dataset.range(5).map(lambda x: x), Dataset.range(5).enumerate()):
        shuffled = ds.global_shuffle(seed=1)
        for element in itertools.chain(shuffled, [shuffled[0]]):
            for leaf in element if isinstance(element, tuple) else (element,):
                assert type(leaf) is np.int64


def test_a_dataset_without_an_end_is_refused() -> None:
    ds = Dataset.range(3).repeat().global_shuffle(seed=1)
    with pytest.raises(
        InvalidArgumentError, match=r"expected a dataset with an end. Shuffle before repeat\(\)"
    ):
        list(ds)


@pytest.mark.parametrize("window", [0, -5])
def test_a_window_of_nothing_is_refused(window: int) -> None:
    with pytest.raises(InvalidArgumentError, match=f"Expected a window of at least 1 byte but got {window}"):
        Dataset.range(3).global_shuffle(window=window)


# ---- windows


@pytest.mark.parametrize("size", [0, 1, 2, 3, 7, 16, 17, 33, 100, 257])
def test_the_order_of_a_window_is_a_permutation(size: int) -> None:
    for window in (1, 8, 9, 64, 130, 1000, 2056, 10**9):
        ds = Dataset.range(size).global_shuffle(seed=window, window=window)
        for epoch in range(2):
            found = numbers(ds)
            assert sorted(found) == list(range(size)), window
            assert [int(ds.epoch(epoch)[i]) for i in range(size)] == found, window
            backwards = list(range(size))[::-1]
            assert not size or ds.at(backwards, epoch).tolist() == found[::-1]


def test_golden_orders_with_a_window(tmp_path: Path) -> None:
    """Frozen, as FORMAT.md defines them: they must never change."""
    ds = Dataset.range(40).global_shuffle(seed=42, window=256)  # runs of 2, 16 of them in a window
    assert numbers(ds.epoch(0)) == [
        33,
        35,
        11,
        0,
        30,
        16,
        23,
        10,
        24,
        18,
        34,
        15,
        28,
        29,
        6,
        31,
        22,
        3,
        5,
        4,
        13,
        17,
        12,
        19,
        38,
        1,
        2,
        14,
        39,
        7,
        32,
        25,
        37,
        27,
        9,
        20,
        26,
        36,
        21,
        8,
    ]
    assert numbers(ds.epoch(5)) == [
        14,
        12,
        23,
        15,
        20,
        16,
        38,
        8,
        13,
        25,
        32,
        4,
        33,
        3,
        6,
        27,
        39,
        10,
        1,
        2,
        0,
        35,
        24,
        22,
        5,
        11,
        7,
        34,
        17,
        9,
        26,
        21,
        36,
        37,
        30,
        29,
        18,
        31,
        19,
        28,
    ]
    negative = Dataset.range(7).global_shuffle(seed=-1, window=1)
    assert numbers(negative.epoch(2)) == [4, 1, 6, 2, 3, 5, 0]
    files = tfr.TFRecordDataset(written(tmp_path)).global_shuffle(seed=9, window=2000).map(number_of)
    assert numbers(files.epoch(1))[:24] == [
        57,
        93,
        12,
        30,
        58,
        60,
        68,
        8,
        67,
        61,
        32,
        22,
        16,
        89,
        35,
        34,
        63,
        47,
        29,
        95,
        80,
        14,
        94,
        2,
    ]


def test_a_window_has_an_order_in_the_last_epoch() -> None:
    ds = Dataset.range(40).global_shuffle(seed=42, window=256).epoch(2**63 - 1)
    assert sorted(numbers(ds)) == list(range(40))
    assert numbers(ds) == [int(ds[i]) for i in range(40)]


def test_elements_of_a_window_are_of_neighbouring_runs() -> None:
    ds = Dataset.range(8000).global_shuffle(seed=3, window=800 * 8)  # 16 runs of 50 elements
    found = np.array(numbers(ds))
    for first in range(0, 8000, 800):
        assert len(np.unique(found[first : first + 800] // 50)) == 16
    assert len({*(found[:800] // 50).tolist()} - set(range(16))) > 5  # of everywhere


@pytest.mark.parametrize("window", [1, 300, 2000, 1 << 20])
def test_a_window_over_files_is_read_by_number_too(tmp_path: Path, window: int) -> None:
    paths = written(tmp_path)
    ds = tfr.TFRecordDataset(paths).global_shuffle(seed=2, window=window).map(number_of)
    for epoch in range(2):
        found = numbers(ds)
        assert sorted(found) == list(range(100))
        assert [int(ds.epoch(epoch)[i]) for i in range(100)] == found
        assert numbers(ds.epoch(epoch).batch(7).unbatch()) == found
    assert numbers(ds.epoch(0).shard(3, 1)) == numbers(ds.epoch(0))[1::3]


@pytest.mark.parametrize("window", [None, 1, 300, 1 << 20])
def test_a_state_at_every_place_resumes_there(tmp_path: Path, window: int | None) -> None:
    paths = written(tmp_path, (20, 11))

    def make() -> Dataset:
        return tfr.TFRecordDataset(paths).global_shuffle(seed=2, window=window).map(number_of).repeat(2)

    iterator = iter(make())
    states, found = [iterator.state()], []
    for each in iterator:
        found.append(int(each))
        states.append(json.loads(json.dumps(iterator.state())))
    assert len(found) == 62
    for place, state in enumerate(states):
        assert numbers(make().iter_from(state)) == found[place:], place


def test_the_window_of_remote_files_is_that_of_all_bytes(tmp_path: Path) -> None:
    ds = tfr.TFRecordDataset(written(tmp_path)).global_shuffle(seed=2, window=500)
    assert "reads an epoch" in ds.explain()


# ---- damaged records


def outcomes_of(iterator: Any) -> list[Any]:
    found: list[Any] = []
    while True:
        try:
            found.append(int(next(iterator)))
        except StopIteration:
            return found
        except DataLossError as error:
            found.append((error.record, error.path))


@pytest.mark.parametrize("window", [None, 1, 200, 1 << 20])
@pytest.mark.parametrize("bad", [(0,), (17,), (59,), (3, 4, 40), tuple(range(60))])
def test_a_damaged_record_is_an_error_in_its_place(
    tmp_path: Path, window: int | None, bad: tuple[int, ...]
) -> None:
    path = damaged(tmp_path, *bad)
    ds = tfr.TFRecordDataset(path).global_shuffle(seed=4, window=window).map(number_of)
    for epoch in range(2):
        whole = order_of(path, 60, window, epoch)
        wanted = [(number, str(path)) if number in bad else number for number in whole]
        assert outcomes_of(iter(ds)) == wanted


def order_of(path: Path, count: int, window: int | None, epoch: int) -> list[int]:
    """The order of a file of the same size without damage."""
    whole = path.parent / "whole.tfrecord"
    whole.write_bytes(frames(records_of(count)))
    return numbers(
        tfr.TFRecordDataset(whole).global_shuffle(seed=4, window=window).map(number_of).epoch(epoch)
    )


@pytest.mark.parametrize("window", [None, 1, 200, 1 << 20])
@pytest.mark.parametrize("bad", [(0,), (17,), (59,), (3, 4, 40), tuple(range(60))])
def test_damaged_records_are_left_out_and_counted(
    tmp_path: Path, window: int | None, bad: tuple[int, ...]
) -> None:
    path = damaged(tmp_path, *bad)
    ds = tfr.TFRecordDataset(path, on_corrupt="skip").global_shuffle(seed=4, window=window).map(number_of)
    for epoch in range(2):
        iterator = iter(ds)
        wanted = [number for number in order_of(path, 60, window, epoch) if number not in bad]
        assert numbers(iterator) == wanted
        assert iterator.skipped == len(bad)
        assert sorted(damage.record for _, damage in iterator.damages) == list(bad)
        assert {name for name, _ in iterator.damages} == {str(path)}
    assert len(ds) == 60  # what is damaged has a number too


@pytest.mark.parametrize("window", [None, 200])
def test_damaged_records_of_one_rank_do_not_shift_those_of_another(
    tmp_path: Path, window: int | None
) -> None:
    path = damaged(tmp_path, 5, 6, 30)
    whole = order_of(path, 60, window, 0)
    for rank in range(4):
        ds = tfr.TFRecordDataset(path, on_corrupt="skip").global_shuffle(seed=4, window=window)
        iterator = iter(ds.shard(4, rank).map(number_of))
        mine = whole[rank::4]
        assert numbers(iterator) == [number for number in mine if number not in (5, 6, 30)]
        assert iterator.skipped == len({5, 6, 30} & set(mine))


@pytest.mark.parametrize("window", [None, 200])
@pytest.mark.parametrize("ranks", [1, 3])
def test_batches_have_the_same_elements_whether_or_not_some_are_left_out(
    tmp_path: Path, window: int | None, ranks: int
) -> None:
    bad = (0, 5, 6, 30, 31, 59)
    path = damaged(tmp_path, *bad)
    source = tfr.TFRecordDataset(path, on_corrupt="skip").global_shuffle(seed=4, window=window)
    for epoch in range(2):
        whole = order_of(path, 60, window, epoch)
        for rank in range(ranks):
            ds = source.shard(ranks, rank).map(number_of).batch(4, drop_remainder=True)
            mine = whole[rank::ranks]
            batches = [mine[start : start + 4] for start in range(0, len(mine), 4)]
            wanted = [[number for number in batch if number not in bad] for batch in batches]
            iterator = iter(ds.epoch(epoch))
            assert [batch.tolist() for batch in iterator] == wanted
            assert iterator.skipped == len(set(bad) & set(mine))
            assert [ds.epoch(epoch)[i].tolist() for i in range(len(ds))] == wanted


@pytest.mark.parametrize("window", [None, 300])
def test_a_damaged_record_counts_once_although_others_fail(tmp_path: Path, window: int | None) -> None:
    def fails(record: bytes) -> np.int64:
        if number_of(record) % 10 in (2, 7):
            raise KeyError("two or seven")
        return number_of(record)

    source = tfr.TFRecordDataset(damaged(tmp_path, 3, 20, 41), on_corrupt="skip").map(fails)
    for ds in (source.global_shuffle(seed=1, window=window), source.shard(1, 0, tail="drop").repeat(2)):
        iterator = iter(ds)
        found = outcomes(iterator)[:-1]
        times = 2 if ds.node.verb == "repeat" else 1
        assert len(found) == 57 * times
        assert sum(isinstance(one, Failure) for one in found) == 12 * times
        assert sorted(damage.record for _, damage in iterator.damages) == sorted([3, 20, 41] * times)


def test_a_damaged_record_that_is_asked_for_by_its_number(tmp_path: Path) -> None:
    path = damaged(tmp_path, 5)
    with pytest.raises(DataLossError, match=r"record 5 .*of '.*damaged.tfrecord'"):
        tfr.TFRecordDataset(path)[5]
    with pytest.raises(DataLossError, match=r"record 5 .*of '.*damaged.tfrecord'"):
        tfr.TFRecordDataset(path).at([4, 5, 6])
    ds = tfr.TFRecordDataset(path, on_corrupt="skip")
    with pytest.raises(IndexError, match="element 5 is damaged, and was left out"):
        ds[5]
    assert ds.at([6, 5, 4]).to_list() == [records_of(60)[6], records_of(60)[4]]


# ---- threads


@pytest.mark.parametrize("end", ["close", "drop", "stop"])
def test_a_window_that_nobody_finishes_leaves_no_thread(tmp_path: Path, end: str) -> None:
    paths = written(tmp_path)
    for _ in range(10):
        iterator = iter(tfr.TFRecordDataset(paths).global_shuffle(seed=2, window=300).batch(4).prefetch(2))
        next(iterator)
        if end == "close":
            iterator.close()
        elif end == "stop":
            list(iterator)
        del iterator
    gc.collect()
    deadline = time.monotonic() + 5
    while time.monotonic() < deadline and any("tfrkit" in each.name for each in threading.enumerate()):
        time.sleep(0.02)
    assert not [each for each in threading.enumerate() if "tfrkit" in each.name]


def test_a_window_calls_no_function_to_find_out_how_large_elements_are() -> None:
    calls: list[int] = []

    def noted(x: Any) -> Any:
        calls.append(int(x))
        return {"x": x}

    ds = Dataset.zip(Dataset.range(20).map(noted), Dataset.range(20)).map(lambda x, y: x)
    ds = ds.shard(2, 0, tail="repeat", mask="real").global_shuffle(seed=1, window=100)
    assert len(list(ds)) == 10
    assert sorted(calls) == list(range(0, 20, 2))
