"""Shards before the stages that they were written after: a rank makes its own elements only, and states stay."""

from __future__ import annotations

import dataclasses
import itertools
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.data.support.calls import END, Failure, ended, outcomes, placeless
from tests.data.support.chains import build
from tests.data.support.image_files import BROKEN, SPEC, image_record
from tests.data.support.random_indexable import make_indexable, write_indexable
from tests.data.support.same import same
from tests.data.support.spaces import tfrkit_space
from tfrkit import Dataset
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.engine.rewrites import optimise
from tfrkit.data.features import decode_image
from tfrkit.data.stages.shard import ShardNode
from tfrkit.testing.plain_engine import plain

NUMBERS = {"n": tfr.FixedLenFeature([], "int64")}


class Calls:
    """A function that notes what it was called with, and fails where it shall."""

    def __init__(self, fails: Any = ()) -> None:
        self.seen: list[int] = []
        self.fails = set(fails)

    def __call__(self, x: Any) -> Any:
        numbers = np.ravel(x["n"] if isinstance(x, dict) else x).tolist()
        self.seen += numbers
        if self.fails & set(numbers):
            raise ValueError(f"told to fail at {numbers}")
        return x


def numbers_of(elements: Any) -> list[Any]:
    """The numbers of elements, and "error" for an error."""
    features = [each["n"] if isinstance(each, dict) else each for each in elements if each is not END]
    return ["error" if isinstance(each, Failure) else np.asarray(each).tolist() for each in features]


def written_out(node: Node) -> Node:
    """The pipeline whose shards stay where they are written, as those of `tfrkit.tf` and of earlier releases."""
    made = node.with_inputs(tuple(map(written_out, node.inputs))) if node.inputs else node
    return dataclasses.replace(made, alone=False) if isinstance(made, ShardNode) else made


def unmoved(ds: Dataset) -> Dataset:
    return Dataset(written_out(ds.node))


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("numbers")
    paths = [folder / f"{name}.tfrecord" for name in ("a", "b", "c")]
    at = itertools.count()
    for path, count in zip(paths, (11, 0, 12), strict=True):
        with tfr.TFRecordWriter(path) as writer:
            for _ in range(count):
                writer.write_example({"n": next(at)})
    return [*map(str, paths)]


# ---- what is made

FORMS: dict[str, Callable[[Dataset, Any], Dataset]] = {
    "map": lambda ds, f: ds.map(f),
    "several maps": lambda ds, f: ds.map(lambda x: x).map(f).map(lambda x: x),
    "parallel": lambda ds, f: ds.map(f, num_parallel_calls=3),
    "AUTOTUNE": lambda ds, f: ds.map(f, num_parallel_calls=tfr.AUTOTUNE),
    "prefetch": lambda ds, f: ds.map(f).prefetch(3),
    "no prefetch": lambda ds, f: ds.map(f).prefetch(0).map(lambda x: x),
    "options": lambda ds, f: ds.map(f).with_options(tfr.Options()).map(lambda x: x),
    "seeded": lambda ds, f: ds.map(lambda x, seed: f(x), seeded=True, seed=3),
    "with_column": lambda ds, f: ds.with_column("m", lambda x: f(x)["n"]),
    "with_source": lambda ds, f: ds.with_source().map(f),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("after", ["", "batch", "prefetch"])
def test_functions_are_called_for_the_elements_of_the_rank_only(
    form: str, after: str, files: list[str]
) -> None:
    every: list[Any] = []
    for rank in range(4):
        calls = Calls()
        ds = FORMS[form](tfr.TFRecordDataset(files).parse(NUMBERS), calls).shard(4, rank)
        ds = {"": ds, "batch": ds.batch(2), "prefetch": ds.prefetch(2)}[after]
        found = [int(n) for each in ds for n in np.ravel(each["n"])]
        assert found == list(range(23))[rank::4]
        assert sorted(set(calls.seen)) == found
        assert len(calls.seen) <= len(found) + 1  # `element_spec` may call it once
        every += found
    assert sorted(every) == list(range(23))


def test_batches_of_other_ranks_are_not_made(files: list[str]) -> None:
    for rank in range(3):
        early, late = Calls(), Calls()
        ds = tfr.TFRecordDataset(files).parse(NUMBERS).map(early).batch(4).map(late).shard(3, rank)
        wanted = [list(range(23))[first : first + 4] for first in range(0, 23, 4)][rank::3]
        assert numbers_of(ds) == wanted
        assert early.seen == late.seen == [n for each in wanted for n in each]


def test_images_of_other_ranks_are_not_decoded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "images.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(image_record(number) for number in range(12))
    decoded = [0]
    for name, count in (("decode_value", lambda value: 1), ("decode_column", len)):
        original = getattr(decode_image, name)

        def counted(value: Any, *args: Any, original: Any = original, count: Any = count) -> Any:
            decoded[0] += count(value)
            return original(value, *args)

        monkeypatch.setattr(decode_image, name, counted)
    images = tfr.TFRecordDataset(path).parse(SPEC).decode_image("image", size=(8, 8))
    for ds in (images.shard(3, 1), images.shard(3, 1).batch(2), images.batch(2).shard(3, 1)):
        decoded[0] = 0
        labels = [int(label) for each in ds for label in np.ravel(each["label"])]
        assert decoded[0] == len(labels) == 4


def test_records_of_other_ranks_are_not_parsed(tmp_path: Path) -> None:
    path = tmp_path / "mixed.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for number in range(12):
            writer.write(
                b"\xff no Example" if number % 3 == 2 else tfr.make_example({"n": number}).SerializeToString()
            )
    parsed = tfr.TFRecordDataset(path).parse(NUMBERS)
    assert [numbers_of(parsed.shard(3, rank)) for rank in (0, 1)] == [[0, 3, 6, 9], [1, 4, 7, 10]]
    assert numbers_of(outcomes(iter(parsed.shard(3, 2)))) == ["error"] * 4


def test_what_is_not_made_of_one_element_stays_before_the_shard() -> None:
    calls = Calls()
    ds = Dataset.range(12).map(calls)
    for verb, wanted in (
        (lambda ds: ds.filter(lambda x: x % 2 == 0), [2, 8]),
        (lambda ds: ds.batch(2).unbatch(), [1, 4, 7, 10]),
        (lambda ds: ds.cache(), [1, 4, 7, 10]),
        (lambda ds: ds.scan(np.int64(0), lambda total, x: (total + x, total)), [0, 6, 21, 45]),
        (lambda ds: ds.map(abs, num_parallel_calls=2, deterministic=False), None),
    ):
        calls.seen.clear()
        found = numbers_of(verb(ds).shard(3, 1))
        assert wanted is None or found == wanted
        assert sorted(calls.seen) == list(range(12))


def test_the_names_of_tensorflow_make_all_elements() -> None:
    from tfrkit import tf

    calls: list[int] = []
    ds = tf.data.Dataset.range(9).map(
        lambda x: tf.py_function(lambda n: calls.append(int(n)) or n, [x], tf.int64)
    )
    assert [int(x) for x in ds.shard(3, 1)] == [1, 4, 7]
    assert sorted(set(calls)) == list(range(9))


def test_explain_says_what_was_moved() -> None:
    text = Dataset.range(9).map(abs).batch(2).shard(2, 1).explain()
    assert "elements of shard(2, 1)" in text
    assert "shard(2, 1), moved before map(abs), batch(2)" in text
    assert "moved" not in Dataset.range(9).map(abs).shard(1, 0).explain()
    assert "moved" not in Dataset.range(9).global_shuffle(seed=1).map(abs).shard(2, 0).explain()


# ---- errors


@pytest.mark.parametrize("fails", [[0], [4], [5], [1, 2, 3], [4, 7], range(12)])
@pytest.mark.parametrize("parallel", [None, 2])
def test_an_element_that_fails_is_an_error_of_its_own_rank(fails: Any, parallel: int | None) -> None:
    for rank in range(3):
        ds = Dataset.range(12).map(Calls(fails), num_parallel_calls=parallel).shard(3, rank)
        wanted = ["error" if number in fails else number for number in range(rank, 12, 3)]
        assert numbers_of(outcomes(iter(ds))) == wanted
        assert numbers_of(outcomes(plain(ds))) == wanted
        for number, expected in enumerate(wanted):
            if expected != "error":
                assert int(ds[number]) == expected


def test_an_error_loses_its_batch_of_the_rank() -> None:
    for fails in range(24):
        for rank in range(3):
            ds = Dataset.range(24).map(Calls([fails])).batch(4).shard(3, rank)
            found = numbers_of(outcomes(iter(ds)))
            assert found == numbers_of(outcomes(plain(ds)))
            own = [number for number in range(24) if number // 4 % 3 == rank]
            lost = own[fails // 12 * 4 : own.index(fails) + 1] if fails in own else []
            given = [n for each in found if each != "error" for n in each]
            assert given == [n for n in own if n not in lost]
            assert found.count("error") == bool(lost)


def test_a_damaged_file_is_an_error_of_all_ranks(tmp_path: Path) -> None:
    paths = [tmp_path / f"{name}.tfrecord" for name in "ab"]
    for path in paths:
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many(tfr.make_example({"n": n}).SerializeToString() for n in range(6))
    data = bytearray(paths[0].read_bytes())
    data[len(data) * 5 // 6 + 14] ^= 1
    paths[0].write_bytes(data)
    for on_corrupt in ("raise", "skip"):
        records = tfr.TFRecordDataset([*map(str, paths)], on_corrupt=on_corrupt)
        for rank in range(3):
            after, before = records.parse(NUMBERS).shard(3, rank), records.shard(3, rank).parse(NUMBERS)
            assert same(placeless(outcomes(iter(after))), placeless(outcomes(iter(before))))


@pytest.mark.parametrize("kind", BROKEN)
def test_a_broken_image_is_an_error_of_its_own_rank(kind: str, tmp_path: Path) -> None:
    path = tmp_path / "images.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for number in range(6):
            data = BROKEN[kind]() if number == 2 else image_record(number)
            writer.write(
                data if number != 2 else tfr.make_example({"image": data, "label": 2}).SerializeToString()
            )
    images = tfr.TFRecordDataset(path).parse(SPEC).decode_image("image")
    assert len(list(images.shard(2, 1))) == 3
    found = outcomes(iter(images.shard(2, 0)))
    assert [isinstance(each, Failure) for each in found[:-1]] == [False, True, False]
    assert "record 2" in found[1].text


# ---- states and positions


def states_of(ds: Dataset) -> list[Any]:
    """The states at every place, and how many outcomes came before each."""
    iterator, found = iter(ds), []
    for seen in range(100):
        found.append((seen, json.loads(json.dumps(iterator.state()))))
        if ended(outcomes(iterator, 1)):
            return found
    raise AssertionError("no end")


PIPELINES: dict[str, Callable[[Any], Dataset]] = {
    **{f"{form}.shard": (lambda ds, form=form: FORMS[form](ds, Calls()).shard(3, 1)) for form in FORMS},
    "parse": lambda ds: ds.shard(3, 2),
    "batch after": lambda ds: ds.cast(n="int32").shard(3, 1).rename(n="m").batch(2).rename(m="n"),
    "prefetched batch after": lambda ds: ds.shard(3, 1).batch(2).prefetch(2),
    "batch before": lambda ds: ds.batch(3).shard(3, 1),
    "batch of maps before": lambda ds: (
        ds.map(Calls()).batch(3).map(Calls()).prefetch(1).shard(2, 1).unbatch()
    ),
    "prefetched batch before": lambda ds: ds.batch(2).rename(n="m").rename(m="n").prefetch(2).shard(3, 0),
    "two": lambda ds: ds.map(Calls()).shard(2, 1).map(Calls()).shard(2, 1).batch(2),
    "batches of batches": lambda ds: ds.batch(2).map(Calls()).batch(2).shard(2, 1),
    "repeat": lambda ds: ds.map(Calls()).shard(3, 1).repeat(3),
    "after repeat": lambda ds: ds.map(Calls()).repeat(2).map(Calls()).shard(3, 1),
    "after shuffle": lambda ds: ds.shuffle(5, seed=1).map(Calls()).shard(3, 1).shuffle(3, seed=2),
    "filter": lambda ds: (
        ds.filter(lambda x: x["n"] % 4 > 0).map(Calls()).shard(3, 1).filter(lambda x: x["n"] > 3)
    ),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_states_are_those_of_the_shard_where_it_was_written(name: str, files: list[str]) -> None:
    ds = PIPELINES[name](tfr.TFRecordDataset(files).parse(NUMBERS))
    old = unmoved(PIPELINES[name](tfr.TFRecordDataset(files).parse(NUMBERS)))
    assert ds.node is not optimise(ds.node)
    wanted = outcomes(iter(ds.epoch(0)))
    assert same(wanted, outcomes(iter(old.epoch(0))))
    for one, other in itertools.product((ds, old), repeat=2):
        one.set_epoch(0)
        for seen, state in states_of(one):
            assert same(outcomes(other.iter_from(state)), wanted[seen:]), state["at"]


@pytest.mark.parametrize("seed", range(30))
def test_states_after_errors(seed: int) -> None:
    rng = random.Random(seed)
    fails = rng.sample(range(40), rng.randint(1, 8))
    ds = Dataset.range(40).map(Calls(fails), num_parallel_calls=rng.choice([None, 2]))
    if rng.random() < 0.5:
        ds = ds.map(Calls(rng.sample(range(40), 2))).prefetch(2)
    if rng.random() < 0.5:
        ds = ds.batch(rng.randint(1, 4), drop_remainder=rng.random() < 0.5).map(
            Calls(rng.sample(range(40), 2))
        )
    ds = ds.shard(rng.randint(2, 4), rng.randint(0, 1))
    if rng.random() < 0.3:
        ds = ds.map(lambda x: x).batch(2)
    wanted = outcomes(iter(ds))
    assert same(placeless(wanted), placeless(outcomes(plain(ds))))
    for seen, state in states_of(ds):
        assert same(outcomes(ds.iter_from(state)), wanted[seen:]), state["at"]


def test_a_position_counts_what_has_failed() -> None:
    ranks = [Dataset.range(12).map(Calls([4])).shard(3, rank) for rank in range(3)]
    iterators = [iter(each) for each in ranks]
    taken = [numbers_of(outcomes(each, 2)) for each in iterators]
    assert taken == [[0, 3], [1, "error"], [2, 5]]
    positions = [each.position() for each in iterators]
    assert [each["samples"] for each in positions] == [6, 6, 6]
    rest = [
        numbers_of(Dataset.range(12).map(Calls([4])).shard(2, rank).iter_from(positions[1]))
        for rank in range(2)
    ]
    assert rest == [[6, 8, 10], [7, 9, 11]]


# ---- any pipeline


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_indexable(tmp_path_factory.mktemp("chains"))


@pytest.mark.parametrize("group", range(10))
def test_random_pipelines_are_divided_as_they_are_without_the_plan(group: int, folder: Path) -> None:
    for seed in range(20_000 + 20 * group, 20_000 + 20 * (group + 1)):
        rng = random.Random(seed)
        ranks = rng.randint(2, 5)
        chain = make_indexable(seed)
        if "global_shuffle" in repr(chain):
            continue
        every = outcomes(iter(build(chain, tfrkit_space(), folder)), 100)
        if not ended(every):
            continue
        for rank in range(ranks):
            ds = build(chain, tfrkit_space(), folder).shard(ranks, rank)
            found = outcomes(iter(ds), 100)
            if not any(isinstance(each, Failure) for each in every):
                assert same(found, [*every[:-1][rank::ranks], END]), (chain, rank)
            assert same(placeless(found), placeless(outcomes(plain(ds), 100))), (chain, rank)


# ---- large records


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("large") / "large.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for number in range(150):
            writer.write_example({"n": number, "data": bytes([number]) * (20_000 + 100 * number)})
    return str(path)


def test_large_records_do_not_keep_those_of_other_ranks_in_memory(large: str) -> None:
    iterator = tfr.TFRecordDataset(large).shard(10, 3).node.begin(Context())
    chunks = []
    while (run := iterator.pull(4)) is not None:
        chunks.append(run.chunk)
    assert sum(len(chunk) for chunk in chunks) == 15
    kept = sum(block.data.nbytes for chunk in chunks for block in chunk.blocks)
    assert kept == sum(chunk.nbytes for chunk in chunks)


@pytest.mark.parametrize(
    "stages",
    [
        lambda ds: ds.with_source("file", "at"),
        lambda ds: ds.shuffle(7, seed=3),
        lambda ds: ds.batch(3),
        lambda ds: ds.with_source("file", "at").batch(2).prefetch(1),
    ],
    ids=["source", "shuffle", "batch", "batches with sources"],
)
def test_large_records_are_the_same_as_in_their_blocks(stages: Any, large: str) -> None:
    spec = {**NUMBERS, "data": tfr.FixedLenFeature([], "bytes")}
    records = tfr.TFRecordDataset(large)
    ds, old = stages(records.shard(10, 3).parse(spec)), stages(unmoved(records.parse(spec).shard(10, 3)))
    wanted = outcomes(iter(ds.epoch(0)))
    assert same(wanted, outcomes(iter(old.epoch(0))))
    ds.set_epoch(0)
    for seen, state in states_of(ds):
        assert same(outcomes(ds.iter_from(state)), wanted[seen:]), state["at"]
