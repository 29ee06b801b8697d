"""Where a shuffle stands, written down and taken up again."""

from __future__ import annotations

import itertools
import json
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tfrkit as tfr
from tests.data.shuffle.test_shuffle import events, make_parts, pipelines
from tests.data.support.runs_node import RunsNode
from tfrkit.data.engine.node import Context, Node, to_json
from tfrkit.data.shuffle import shuffle, shuffle_state
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.shuffle.shuffle import ShuffleNode
from tfrkit.data.shuffle.shuffle_state import pack, unpack
from tfrkit.testing.shuffle_reference import PlainSeeds, plain_shuffle_repeat


@pytest.fixture
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take snapshots after a few outputs."""
    monkeypatch.setattr(shuffle, "_SNAPSHOT_OUTPUTS", 5)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder = tmp_path_factory.mktemp("shuffle")
    paths = []
    for number, count in enumerate([40, 0, 1, 300, 77]):
        path = str(folder / f"{number}.tfrecord")
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many([b"%d-%d" % (number, i) + b"x" * (i % 50) for i in range(count)])
        paths.append(path)
    return paths


def fresh(node: ShuffleNode) -> ShuffleNode:
    """The same stage in another process: its seeds know nothing of earlier draws."""
    return ShuffleNode(
        node.input, node.size, SeedGenerator(0, 0, reshuffle=node.seeds.signature()[2]), node.repeats
    )


def saved(state: Any) -> Any:
    """A state as it comes back from a file."""
    return json.loads(json.dumps(to_json(state)))


@given(pipelines(), st.booleans(), st.integers(0, 300), st.sampled_from([3, 20, 1 << 14]))
def test_goes_on_with_what_would_have_come_next(pipeline, reshuffle, seen, apart):
    with (
        mock.patch.object(shuffle, "_SNAPSHOT_OUTPUTS", apart),
        mock.patch.object(shuffle_state, "_APART", 4),
    ):
        goes_on(pipeline, reshuffle, seen)


def goes_on(pipeline: Any, reshuffle: bool, seen: int) -> None:
    items, size, repeats, pulls, cuts, form = pipeline
    if repeats < 0 and not any(isinstance(item, int) for item in items):
        repeats = 1
    source = RunsNode(make_parts(form, items, cuts))
    node = ShuffleNode(source, size, SeedGenerator(3, 4, reshuffle=reshuffle), repeats)
    iterator = node.begin(Context())
    before = events(iterator, itertools.cycle(pulls), seen)
    state = saved(iterator.save())
    again = fresh(node).begin(Context(), state)
    assert saved(again.save()) == state
    epochs = itertools.repeat(items) if repeats < 0 else itertools.repeat(items, repeats)
    expected = plain_shuffle_repeat(epochs, size, PlainSeeds(3, 4, reshuffle=reshuffle))
    rest = list(itertools.islice(expected, len(before), len(before) + 200))
    assert events(again, itertools.cycle(pulls), 200)[:200] == rest


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("size", [1, 3, 50, 1000, -2])
@pytest.mark.parametrize("repeats", [1, 3, -1])
def test_records_are_read_again(files, size, repeats):
    source: Node = tfr.TFRecordDataset(files).node
    node = ShuffleNode(source, size, SeedGenerator(3, 4, reshuffle=True), repeats)
    assert node.seeks
    expected = ShuffleNode(source, size, SeedGenerator(3, 4, reshuffle=True), repeats).begin(Context())
    order: list[bytes] = []
    while len(order) < 1500 and (run := expected.pull(100)) is not None:
        order += run.chunk.objects()
    iterator = node.begin(Context())
    count = 0
    for n in itertools.cycle([1, 2, 40]):
        state = saved(iterator.save())
        again = fresh(node).begin(Context(), state)
        assert saved(again.save()) == state
        found: list[bytes] = []
        while len(found) < 60 and (run := again.pull(13)) is not None:
            found += run.chunk.objects()
        assert found == order[count : count + len(found)]
        assert len(found) >= min(60, len(order) - count)
        run = iterator.pull(n)
        if run is None or count > 1300:
            break
        count += len(run.chunk)


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("named", [False, True])
def test_records_of_files_in_turn_are_read_again(files, named):
    def make() -> tfr.Dataset:
        names = tfr.Dataset.list_files(files, seed=1) if named else files
        return (
            tfr.TFRecordDataset(names, num_parallel_reads=3)
            .filter(lambda x: x[0] != b"0")
            .shuffle(50, seed=3)
        )

    expected = list(make())
    for seen in (0, 1, 49, 200, 377, 378):
        iterator = iter(make())
        assert [next(iterator) for _ in range(seen)] == expected[:seen]
        state = json.loads(json.dumps(iterator.state()))
        if 50 < seen < 378:
            assert '"columns"' in json.dumps(state)
        assert list(make().iter_from(state)) == expected[seen:]


def test_snapshots_are_small_and_taken_now_and_then(files, monkeypatch):
    monkeypatch.setattr(shuffle, "_SNAPSHOT_OUTPUTS", 20)
    node = ShuffleNode(tfr.TFRecordDataset(files).node, 200, SeedGenerator(3, 4, reshuffle=True), -1)
    iterator = node.begin(Context())
    bases: list[Any] = []  # kept alive: the address of a snapshot that is gone would be given to another
    for _ in range(100):
        iterator.pull(10)
        state = iterator.save()
        if not any(state["base"] is base for base in bases):
            bases.append(state["base"])
        text = json.dumps(to_json(state))
        assert len(text) < 1000 + 16 * 200
        assert state["outputs"] < 200 + 10
    assert 3 <= len(bases) <= 8


def test_a_state_does_not_change_any_more(files):
    iterator = ShuffleNode(tfr.TFRecordDataset(files).node, 50, SeedGenerator(3, 4, reshuffle=True)).begin(
        Context()
    )
    iterator.pull(10)
    state = iterator.save()
    before = saved(state)
    iterator.pull(300)
    assert saved(state) == before


@pytest.mark.usefixtures("often")
@pytest.mark.parametrize("repeat_first", [False, True])
def test_what_functions_made_is_made_again_from_the_oldest_element_on(repeat_first, monkeypatch):
    monkeypatch.setattr(shuffle_state, "_APART", 4)
    calls: list[int] = []

    def make() -> tfr.Dataset:
        made = tfr.Dataset.range(1000).map(lambda x: calls.append(int(x)) or x)
        return made.repeat(3).shuffle(20, seed=3) if repeat_first else made.shuffle(20, seed=3).repeat(3)

    expected = [int(x) for x in make()]
    iterator = iter(make())
    for seen in range(2900):
        if seen % 97 == 0:
            state = json.loads(json.dumps(iterator.state()))
            calls.clear()
            again = make().iter_from(state)
            assert len(calls) < 400  # about 20 * log(20), and some outputs since
            assert [int(next(again)) for _ in range(30)] == expected[seen : seen + 30]
        assert int(next(iterator)) == expected[seen]


def test_the_end_is_a_place_too():
    dataset = tfr.Dataset.range(10).shuffle(4, seed=1)
    iterator = iter(dataset)
    first = [int(x) for x in iterator]
    state = json.loads(json.dumps(iterator.state()))
    other = tfr.Dataset.range(10).shuffle(4, seed=1)
    assert list(other.iter_from(state)) == []
    # The seeds of the next epoch are those that come after, there as here.
    assert [int(x) for x in other] == [int(x) for x in dataset] != first


def test_two_shuffles_in_a_row():
    def make() -> tfr.Dataset:
        return tfr.Dataset.range(100).shuffle(10, seed=1).shuffle(30, seed=2).repeat(3)

    expected = [int(x) for x in make()]
    for seen in (0, 1, 50, 99, 100, 101, 250, 299, 300):
        iterator = iter(make())
        assert [int(next(iterator)) for _ in range(seen)] == expected[:seen]
        state = json.loads(json.dumps(iterator.state()))
        assert [int(x) for x in make().iter_from(state)] == expected[seen:]


def test_random_seeds_are_part_of_a_state():
    iterator = iter(tfr.Dataset.range(100).shuffle(30).repeat(2))
    for _ in range(40):
        next(iterator)
    state = json.loads(json.dumps(iterator.state()))
    expected = [int(x) for x in iterator]
    assert [int(x) for x in tfr.Dataset.range(100).shuffle(30).repeat(2).iter_from(state)] == expected


def test_sources_are_found_behind_stages_that_only_choose(files):
    records = tfr.TFRecordDataset(files)
    assert records.node.record_source is records.node
    assert records.take(5).skip(2).node.record_source is records.node
    assert records.filter(bool).shard(2, 1).prefetch(3).repeat(2).node.record_source is records.node
    assert records.map(len).node.record_source is None
    in_turn = tfr.TFRecordDataset(files, num_parallel_reads=2).node.record_source
    assert in_turn is not None
    assert list(in_turn.files) == files
    names = tfr.Dataset.list_files(files, seed=1)
    assert tfr.TFRecordDataset(names, num_parallel_reads=2).node.record_source is not None
    assert tfr.Dataset.range(3).node.record_source is None


@given(st.lists(st.integers(0, 2**62), max_size=20))
def test_packed_numbers(numbers):
    packed = pack(np.array(numbers, np.int64))
    assert unpack(json.loads(json.dumps(packed)), len(numbers)).tolist() == numbers
