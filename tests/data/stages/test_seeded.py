"""map(seeded=True): one seed for a sample and an epoch, wherever and in whatever order it is made."""

from __future__ import annotations

import itertools
import json
import pickle
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tfrkit import Dataset
from tfrkit.data.elements.origin import Origin
from tfrkit.data.stages.sample_names import SampleNames
from tfrkit.data.stages.seeded import sample_seeds
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError


def with_seed(x: Any, seed: Any) -> tuple[Any, Any]:
    return x, seed


def number_and_seed(record: bytes, seed: Any) -> tuple[Any, Any]:
    return np.int64(record), seed


def seeds_of(elements: Any) -> dict[int, tuple[int, int]]:
    """The seed of each sample; no sample may come twice."""
    found = [(int(x), tuple(int(part) for part in seed)) for x, seed in elements]
    assert len(dict(found)) == len(found)
    return dict(found)


def write(folder: Path, counts: tuple[int, ...] = (30, 0, 20)) -> list[Path]:
    folder.mkdir(exist_ok=True)
    number, paths = itertools.count(), []
    for file, count in enumerate(counts):
        paths.append(folder / f"{file}.tfrecord")
        with tfr.TFRecordWriter(paths[-1]) as writer:
            writer.write_many([b"%d" % next(number) for _ in range(count)])
    return paths


@pytest.fixture(params=["files", "range", "slices"])
def source(request: pytest.FixtureRequest, tmp_path: Path) -> Dataset:
    """Fifty numbered samples."""
    if request.param == "files":
        return tfr.TFRecordDataset(write(tmp_path / "a")).map(np.int64)
    return Dataset.range(50) if request.param == "range" else Dataset.from_tensor_slices(np.arange(50))


def test_the_seed_is_two_numbers_of_32_bits(source: Dataset) -> None:
    for x, seed in source.map(with_seed, seeded=True, seed=1):
        assert isinstance(x, np.int64)
        assert (seed.shape, seed.dtype) == ((2,), np.int64)
        assert 0 <= seed.min() <= seed.max() < 2**32
        np.random.default_rng(seed).random()


def test_seeds_are_these() -> None:
    """Golden values: augmentation stays the same from release to release."""
    found = seeds_of(Dataset.range(3).map(with_seed, seeded=True, seed=7))
    assert found == {0: (2145669736, 1016254004), 1: (175746503, 3046522846), 2: (1656848956, 3275545066)}
    paths = ("/some/where/train-1.tfrecord", "s3://b/val.tfrecord")
    files = Origin(paths, np.array([0, 1, 1], np.int32), np.array([0, 0, 9]))
    assert sample_seeds(-1, 3, files, SampleNames(paths)).tolist() == [
        [1771471578, 641702015],
        [2573938528, 3386355525],
        [2066493742, 3491231623],
    ]


def test_every_sample_has_a_seed_of_its_own(source: Dataset) -> None:
    ds = source.map(with_seed, seeded=True, seed=1)
    found = [seeds_of(ds) for _ in range(3)]
    assert len({seed for epoch in found for seed in epoch.values()}) == 150
    assert found == [seeds_of(ds.epoch(epoch)) for epoch in range(3)]
    other = seeds_of(source.map(with_seed, seeded=True, seed=2))
    assert not set(other.values()) & set(found[0].values())


def test_bits_of_the_seeds_are_even() -> None:
    seeds = sample_seeds(3, 0, Origin((None,), np.zeros(20_000, np.int32), np.arange(20_000)), SampleNames())
    bits = np.unpackbits(seeds.astype("<u4").view(np.uint8).reshape(len(seeds), -1), axis=1).mean(0)
    assert bits.shape == (64,)
    assert abs(bits - 0.5).max() < 0.02


def chains(ds: Dataset) -> dict[str, list[Dataset]]:
    """The same samples in other ways; the ranks of each."""

    def seeded(each: Dataset, **options: Any) -> Dataset:
        return each.map(with_seed, seeded=True, seed=5, **options)

    return {
        "threads": [seeded(ds, num_parallel_calls=3)],
        "any order": [seeded(ds, num_parallel_calls=3, deterministic=False)],
        "shuffled": [seeded(ds.global_shuffle(seed=3))],
        "in windows": [seeded(ds.global_shuffle(seed=3, window=100))],
        "shuffled later": [seeded(ds).global_shuffle(seed=3)],
        "buffer": [seeded(ds.shuffle(9))],
        "buffer later": [seeded(ds).shuffle(9)],
        "ranks": [seeded(ds.shard(3, rank)) for rank in range(3)],
        "ranks later": [seeded(ds).shard(3, rank) for rank in range(3)],
        "even ranks": [seeded(ds).shard(5, rank, tail="drop") for rank in range(5)],
        "shuffled ranks": [seeded(ds.global_shuffle(seed=1).shard(4, rank)) for rank in range(4)],
        "parts": [seeded(ds.take(20)), seeded(ds.skip(20))],
        "slices": [seeded(ds[::-2]), seeded(ds[::2])],
        "filter": [seeded(ds.filter(lambda x: x % 2 == 0)), seeded(ds.filter(lambda x: x % 2 == 1))],
        "prefetch": [seeded(ds.prefetch(3)).prefetch(2)],
        "batches": [seeded(ds).batch(7).unbatch()],
    }


def test_a_sample_has_the_same_seed_in_every_order_and_on_every_rank(source: Dataset) -> None:
    ds = source.map(with_seed, seeded=True, seed=5)
    for epoch in range(2):
        wanted = seeds_of(ds.epoch(epoch))
        assert seeds_of(ds.epoch(epoch)[i] for i in range(50)) == wanted
        numbers, seeds = ds.at(range(49, -1, -1), epoch)
        assert seeds_of(zip(numbers, seeds, strict=True)) == wanted
        for name, ranks in chains(source).items():
            found = [seeds_of(rank.epoch(epoch)) for rank in ranks]
            assert {x: seed for each in found for x, seed in each.items()} == wanted, name
            assert sum(map(len, found)) == 50, name


def test_every_time_through_a_repeat_is_an_epoch(source: Dataset) -> None:
    ds = source.map(with_seed, seeded=True, seed=5)
    wanted = [seeds_of(ds.epoch(epoch)) for epoch in range(3)]
    for repeated in (
        ds.repeat(3),
        ds.repeat().take(150),
        ds.shuffle(5, seed=1).take(50).repeat(3),
        ds.shuffle(5, seed=1).repeat(3),
        ds.global_shuffle(seed=3).repeat(3),
        ds.batch(10).repeat(3).unbatch(),
    ):
        elements = list(repeated)
        assert len(elements) == 150
        assert [seeds_of(elements[start : start + 50]) for start in (0, 50, 100)] == wanted


@pytest.mark.parametrize("count", [None, 0, 1, 3])
def test_a_repeat_of_an_endless_source_is_in_the_same_epoch_by_number(count: int | None) -> None:
    ds = Dataset.counter().map(with_seed, seeded=True, seed=1).repeat(count)
    for epoch in range(3 if count != 0 else 0):
        elements = iter(ds.epoch(epoch))
        wanted = seeds_of(next(elements) for _ in range(4))
        numbers, seeds = ds.at(range(4), epoch)
        assert seeds_of(zip(numbers, seeds, strict=True)) == wanted


def test_seeds_stay_when_files_are_moved(tmp_path: Path) -> None:
    paths = write(tmp_path / "a")
    wanted = seeds_of(tfr.TFRecordDataset(paths).map(number_and_seed, seeded=True, seed=1))
    shutil.move(tmp_path / "a", tmp_path / "b")
    moved = [tmp_path / "b" / path.name for path in paths]
    assert seeds_of(tfr.TFRecordDataset(moved).map(number_and_seed, seeded=True, seed=1)) == wanted
    other_way = tfr.TFRecordDataset(moved[::-1]).map(number_and_seed, seeded=True, seed=1)
    assert seeds_of(other_way) == wanted
    in_turn = tfr.TFRecordDataset(moved, num_parallel_reads=3).map(number_and_seed, seeded=True, seed=1)
    assert seeds_of(in_turn) == wanted
    (tmp_path / "b" / "0.tfrecord").rename(tmp_path / "b" / "9.tfrecord")
    renamed = tfr.TFRecordDataset(tmp_path / "b" / "9.tfrecord").map(number_and_seed, seeded=True, seed=1)
    assert not set(seeds_of(renamed).values()) & set(wanted.values())


def only_seeds(ds: Dataset) -> list[tuple[int, int]]:
    return [tuple(seed.tolist()) for _, seed in ds.map(with_seed, seeded=True, seed=1)]


@pytest.mark.parametrize("name", ["range", "slices", "shuffled", "windows", "three", "endless"])
def test_sources_that_are_joined_share_no_seed(name: str) -> None:
    low, high = Dataset.range(3), Dataset.range(3, 6)
    ds = {
        "range": lambda: low.concatenate(high),
        "slices": lambda: Dataset.from_tensor_slices(np.arange(3)).concatenate(high),
        "shuffled": lambda: low.global_shuffle(seed=1).concatenate(high.shuffle(3)),
        "windows": lambda: low.concatenate(high).global_shuffle(seed=1, window=16),
        "three": lambda: low.concatenate(low.concatenate(low)),
        "endless": lambda: Dataset.counter().take(3).concatenate(Dataset.counter()).take(6),
    }[name]()
    found = only_seeds(ds)
    assert len(set(found)) == len(found) == (9 if name == "three" else 6)
    if name in ("range", "slices"):
        assert found == only_seeds(Dataset.range(6))
        assert seeds_of(ds[::-1].map(with_seed, seeded=True, seed=1)) == dict(
            zip(range(6), found, strict=True)
        )
        ranks = [seeds_of(ds.shard(4, rank).map(with_seed, seeded=True, seed=1)) for rank in range(4)]
        assert {x: seed for rank in ranks for x, seed in rank.items()} == dict(
            zip(range(6), found, strict=True)
        )


def write_folders(folder: Path) -> list[Path]:
    """Files of the same name in several folders, one of which has the others."""
    paths = [folder / "train.tfrecord", folder / "a" / "train.tfrecord", folder / "b" / "train.tfrecord"]
    for number, path in enumerate(paths):
        path.parent.mkdir(parents=True, exist_ok=True)
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many([b"%d" % (10 * number + row) for row in range(3)])
    return paths


def test_files_of_the_same_name_share_no_seed(tmp_path: Path) -> None:
    def all_ways(paths: list[Path]) -> list[dict[int, tuple[int, int]]]:
        files = tfr.TFRecordDataset(paths)
        joined = tfr.TFRecordDataset(paths[:2]).concatenate(tfr.TFRecordDataset(paths[2]))
        names = Dataset.from_tensor_slices([str(path) for path in paths])
        ways = [
            files,
            files.global_shuffle(seed=1),
            files.shuffle(5),
            tfr.TFRecordDataset(paths[::-1]),
            tfr.TFRecordDataset(paths, num_parallel_reads=2),
            tfr.TFRecordDataset(names),
            joined,
        ]
        seeded = [ds.map(number_and_seed, seeded=True, seed=1) for ds in ways]
        ranks = [files.shard(2, rank).map(number_and_seed, seeded=True, seed=1) for rank in range(2)]
        by_rank = {x: seed for rank in ranks for x, seed in seeds_of(rank).items()}
        return [*map(seeds_of, seeded), *map(seeds_of, pickle.loads(pickle.dumps(seeded))), by_rank]

    found = all_ways(write_folders(tmp_path / "x"))
    assert len(set(found[0].values())) == 9
    assert all(each == found[0] for each in found)
    assert all(each == found[0] for each in all_ways(write_folders(tmp_path / "y" / "z")))


def test_files_that_only_a_function_knows_count_by_their_paths(tmp_path: Path) -> None:
    paths = write_folders(tmp_path / "x")
    names = Dataset.from_tensor_slices([str(path) for path in paths])
    ds = names.flat_map(tfr.TFRecordDataset).map(number_and_seed, seeded=True, seed=1)
    assert len(set(seeds_of(ds).values())) == 9


def test_rows_of_datasets_that_a_function_makes_have_no_seed() -> None:
    made = Dataset.range(2).flat_map(lambda _: Dataset.range(3))
    groups = Dataset.range(6).group_by_window(lambda x: x % 2, lambda _, part: part, 3)
    for ds in (made, groups, Dataset.range(6).window(2).flat_map(lambda part: part)):
        with pytest.raises(FailedPreconditionError, match="before what makes datasets by a function"):
            only_seeds(ds)
    before = Dataset.range(6).map(with_seed, seeded=True, seed=1)
    assert len(list(before.interleave(lambda x, seed: Dataset.from_tensors(seed)))) == 6


def test_another_signature_is_the_same_file() -> None:
    urls = [f"https://host/a/b.tfrecord?X-Amz-Signature={sign}&X-Amz-Expires=60" for sign in ("1f", "2e")]
    origin = Origin(tuple(urls), np.array([0, 1], np.int32), np.zeros(2, np.int64))
    for known in (urls[:1], []):
        first, second = sample_seeds(1, 0, origin, SampleNames(known))
        assert first.tolist() == second.tolist()


def test_elements_of_several_parts_get_the_seed_last(source: Dataset) -> None:
    pairs = source.map(lambda x: (x, -x)).map(lambda x, y, seed: (x + y, seed), seeded=True, seed=1)
    dicts = source.map(lambda x: {"x": x}).map(lambda x, seed: {**x, "seed": seed}, seeded=True, seed=1)
    wanted = list(seeds_of(source.map(with_seed, seeded=True, seed=1)).values())
    assert [tuple(seed.tolist()) for _, seed in pairs] == wanted
    assert [tuple(each["seed"].tolist()) for each in dicts] == wanted
    assert pairs.element_spec[1] == tfr.TensorSpec((2,), np.int64)


def test_a_drawn_seed_travels(source: Dataset) -> None:
    ds = source.map(with_seed, seeded=True)
    copy = pickle.loads(pickle.dumps(ds))
    assert seeds_of(copy) == seeds_of(ds)
    assert seeds_of(copy) == seeds_of(ds)
    iterator = iter(ds)
    next(iterator)
    state = json.loads(json.dumps(iterator.state()))
    other = source.map(with_seed, seeded=True)
    assert seeds_of(other.epoch(2)) != seeds_of(ds.epoch(2))
    assert seeds_of(other.iter_from(state)) == seeds_of(iterator)
    assert seeds_of(other) == seeds_of(ds.epoch(3))
    position = json.loads(json.dumps(iter(ds.batch(5)).position()))
    another = source.map(with_seed, seeded=True)
    assert seeds_of(another.iter_from(position)) == seeds_of(ds.epoch(0))


def test_without_a_seed_it_has_that_of_the_global_shuffle(source: Dataset) -> None:
    wanted = seeds_of(source.map(with_seed, seeded=True, seed=3))
    for window in (None, 100):
        shuffled = source.global_shuffle(seed=3, window=window)
        assert seeds_of(shuffled.map(with_seed, seeded=True)) == wanted
        later = [shuffled.shard(3, rank).map(with_seed, seeded=True) for rank in range(3)]
        before = [shuffled.map(with_seed, seeded=True).shard(3, rank) for rank in range(3)]
        for ranks in (later, before, pickle.loads(pickle.dumps(before))):
            assert {x: seed for rank in ranks for x, seed in seeds_of(rank.epoch(0)).items()} == wanted
    assert seeds_of(source.global_shuffle(seed=4).map(with_seed, seeded=True, seed=3)) == wanted
    twice = source.global_shuffle(seed=4).global_shuffle(seed=3).global_shuffle()
    assert seeds_of(twice.map(with_seed, seeded=True)) == wanted


def test_a_position_with_a_drawn_seed_resumes_after_a_global_shuffle_with_one(source: Dataset) -> None:
    """Releases that drew it wrote such positions."""
    ds = source.global_shuffle(seed=3)
    position = iter(ds.map(with_seed, seeded=True)).position()
    assert position["seed"] == [3, 3]
    drawn = ds.map(with_seed, seeded=True).iter_from({**position, "seed": [12345, 3]})
    assert seeds_of(drawn) == seeds_of(source.map(with_seed, seeded=True, seed=12345))


def test_a_state_at_every_place_has_the_seeds_of_the_rest(source: Dataset) -> None:
    def make() -> Dataset:
        return source.take(9).map(with_seed, seeded=True, seed=3, num_parallel_calls=2).repeat(2)

    iterator = iter(make())
    states, found = [iterator.state()], []
    for each in iterator:
        found.append(each)
        states.append(json.loads(json.dumps(iterator.state())))
    for place, state in enumerate(states):
        rest = [(int(x), seed.tolist()) for x, seed in make().iter_from(state)]
        assert rest == [(int(x), seed.tolist()) for x, seed in found[place:]]


# ---- where it cannot be


@pytest.mark.parametrize("verb", ["repeat", "repeat endless"])
def test_it_is_refused_after_a_repeat(verb: str) -> None:
    ds = Dataset.range(5).repeat(2 if verb == "repeat" else None)
    with pytest.raises(InvalidArgumentError) as caught:
        ds.map(with_seed, seeded=True)
    label = "repeat(2)" if verb == "repeat" else "repeat()"
    assert str(caught.value) == (
        f"map(seeded=True) after {label} would give a sample the same seed every time. Put repeat() after it."
    )


def test_a_drawn_seed_is_refused_on_several_ranks() -> None:
    def refused(make: Any) -> str:
        with pytest.raises(InvalidArgumentError) as caught:
            make()
        return str(caught.value)

    ds = Dataset.range(9)
    text = (
        ": without a seed every process would draw another, and samples would change with the number of ranks. Give "
        "map() a seed, the same everywhere, or global_shuffle() before it."
    )
    seeded = ds.map(with_seed, seeded=True)
    assert refused(lambda: seeded.shard(2, 1)) == f"shard(2, 1) after map(seeded=True){text}"
    assert refused(lambda: seeded.global_shuffle(seed=1).batch(2).shard(2, 1)).endswith(text)
    assert refused(lambda: ds.concatenate(seeded.map(lambda x, seed: x)).shard(2, 1)).endswith(text)
    for shard in (ds.shard(2, 1), ds.shard(2, 1).global_shuffle(), ds.shard(2, 1).batch(2).unbatch()):
        assert refused(lambda shard=shard: shard.map(with_seed, seeded=True)) == (
            f"map(seeded=True) after shard(2, 1){text}"
        )
    assert len(list(seeded.shard(1, 0))) == len(list(ds.shard(1, 0).map(with_seed, seeded=True))) == 9


@pytest.mark.parametrize("name", ["batch", "zip", "enumerate", "generator", "lines", "window"])
def test_what_is_no_single_sample_has_no_seed(name: str, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("a\nb\n")
    numbers = Dataset.range(6)
    ds = {
        "batch": lambda: numbers.batch(2),
        "zip": lambda: Dataset.zip(numbers, numbers),
        "enumerate": numbers.enumerate,
        "generator": lambda: Dataset.from_generator(range(3).__iter__, "int64", ()),
        "lines": lambda: tfr.TextLineDataset(tmp_path / "lines"),
        "window": lambda: numbers.window(2).flat_map(lambda part: part.batch(2)),
    }[name]()
    seeded = ds.map(lambda *x: x, seeded=True)
    text = (
        r"map\(seeded=True\): it is not known which sample an element is.*Put map\(seeded=True\) before batch\(\), "
        r"zip\(\) and enumerate\(\)"
    )
    with pytest.raises(FailedPreconditionError, match=text):
        list(seeded)
    if seeded.indexable:
        with pytest.raises(FailedPreconditionError, match=text):
            seeded[0]


def test_a_seed_alone_is_refused() -> None:
    with pytest.raises(
        InvalidArgumentError, match=r"seed= is for functions that get one: pass seeded=True too"
    ):
        Dataset.range(3).map(abs, seed=1)
