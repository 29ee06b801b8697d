"""tfr.grain: sources that grain reads from, here by themselves, and under grain in another process."""

from __future__ import annotations

import pickle
import re
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
import tfrkit.tf as tf
from tests.support.apart import run_apart
from tfrkit.errors import InvalidArgumentError
from tfrkit.testing.reference import frames

SPEC = {"label": tfr.FixedLenFeature([], "int64"), "name": tfr.FixedLenFeature([], "string")}


def write(path, count: int, first: int = 0) -> None:
    with tfr.TFRecordWriter(path) as writer:
        for label in range(first, first + count):
            writer.write_example({"label": label, "name": f"n{label}"})


@pytest.fixture
def records(tmp_path):
    write(tmp_path / "a.tfrecord", 7)
    write(tmp_path / "b.tfrecord", 5, 7)
    return tfr.TFRecordDataset([tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"])


def test_elements_are_those_of_iterating(records):
    ds = records.parse(SPEC)
    source = tfr.grain.source(ds)
    assert len(source) == 12
    assert [source[i] for i in range(12)] == list(ds)
    assert tfr.grain.source(records)[3] == next(iter(records.skip(3)))


def test_many_are_looked_up_in_one_go(records, monkeypatch):
    calls = []
    source = tfr.grain.source(records.parse(SPEC))
    at = source._lookup.at
    monkeypatch.setattr(source._lookup, "at", lambda *args: calls.append(args) or at(*args))
    assert [int(item["label"]) for item in source._getitems([11, 0, 5, 5])] == [11, 0, 5, 5]
    assert len(calls) == 1
    assert source._getitems([]) == []


def test_items_belong_to_the_caller():
    source = tfr.grain.source(tfr.Dataset.from_tensor_slices(np.zeros((3, 2))))
    source[0][:] = 1
    assert source[0].tolist() == [0, 0]


def test_numbers_out_of_range_are_index_errors(records):
    with pytest.raises(IndexError, match="element 12 is out of range: there are 12"):
        tfr.grain.source(records)[12]


def test_batch_source_has_whole_batches(records):
    source = tfr.grain.batch_source(records.parse(SPEC), 5)
    assert [item["label"].tolist() for item in map(source.__getitem__, range(len(source)))] == [
        [0, 1, 2, 3, 4],
        [5, 6, 7, 8, 9],
        [10, 11],
    ]
    assert len(tfr.grain.batch_source(records.parse(SPEC), 5, drop_remainder=True)) == 2


def test_text_says_the_content(records, tmp_path):
    shown = repr(tfr.grain.source(records.parse(SPEC)))
    again = tfr.TFRecordDataset([tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"]).parse(SPEC)
    assert repr(tfr.grain.source(again)) == shown
    assert shown.startswith("<tfrkit.grain source: parse(2 features), pipeline=")
    assert repr(tfr.grain.source(records)) != shown
    write(tmp_path / "b.tfrecord", 6, 7)
    changed = tfr.TFRecordDataset([tmp_path / "a.tfrecord", tmp_path / "b.tfrecord"]).parse(SPEC)
    assert repr(tfr.grain.source(changed)) != shown


def test_text_says_seeds_that_were_drawn():
    one, other = (tfr.grain.source(tfr.Dataset.range(9).global_shuffle()) for _ in range(2))
    assert repr(one) != repr(other)
    assert repr(pickle.loads(pickle.dumps(one))) == repr(one)


def test_pickles_and_gives_the_same(records):
    source = tfr.grain.source(records.parse(SPEC).global_shuffle())
    again = pickle.loads(pickle.dumps(source))
    assert [again[i] for i in range(12)] == [source[i] for i in range(12)]


def test_threads_share_it(records):
    source = tfr.grain.source(records.parse(SPEC))
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda i: int(source[i % 12]["label"]), range(480)))
    assert found == [i % 12 for i in range(480)]


def test_damaged_records_that_are_skipped_are_none(tmp_path):
    data = bytearray(frames([b"one", b"two", b"three"]))
    data[12 + 3 + 4 + 12] ^= 1  # the first byte of the second record
    (tmp_path / "a.tfrecord").write_bytes(data)
    source = tfr.grain.source(tfr.TFRecordDataset(tmp_path / "a.tfrecord", on_corrupt="skip"))
    with pytest.warns(UserWarning, match="record 1 of .* is damaged, and left out as None"):
        assert source._getitems([2, 1, 0]) == [b"three", None, b"one"]
    assert source[1] is None


def test_datasets_of_tf_give_values_of_numpy():
    source = tfr.grain.source(tf.data.Dataset.range(4).map(lambda x: x * 2))
    assert [type(item) for item in source._getitems([3])] == [np.int64]
    assert int(source[3]) == 6


def test_what_has_no_numbers_is_refused_with_its_stage():
    with pytest.raises(InvalidArgumentError, match=r"^filter\(.*has no elements by number"):
        tfr.grain.source(tfr.Dataset.range(4).filter(bool))
    for call in (lambda: tfr.grain.source([1]), lambda: tfr.grain.batch_source([1], 1)):
        with pytest.raises(InvalidArgumentError, match="Expected a tfrkit Dataset but got list"):
            call()
    with pytest.raises(InvalidArgumentError, match="needs a dataset with an end"):
        len(tfr.grain.source(tfr.Dataset.range(4).repeat()))


PROGRAM = """
import gc, itertools, json, os, random, threading, time, warnings
import grain
import numpy as np
import tfrkit as tfr
from tests.data.support.topologies import wrong_stretches

found = {}
SPEC = {"label": tfr.FixedLenFeature([], "int64")}

def write(path, count, first):
    with tfr.TFRecordWriter(path) as writer:
        for label in range(first, first + count):
            writer.write_example({"label": label})

def labels(batches):
    return [batch["label"].tolist() for batch in batches]

write("a.tfrecord", 30, 0)
write("b.tfrecord", 13, 30)
ds = tfr.TFRecordDataset(["a.tfrecord", "b.tfrecord"]).parse(SPEC)
source = tfr.grain.source(ds)
found["protocol"] = isinstance(source, grain.sources.RandomAccessDataSource)

def pipeline(source):
    return grain.MapDataset.source(source).seed(1).shuffle().batch(4).to_iter_dataset()

taken = labels(pipeline(source))
found["map dataset"] = [sorted(sum(taken, [])) == list(range(43)), sum(taken, []) != list(range(43)), len(taken)]

run = iter(pipeline(source))
next(run), next(run)
state = run.get_state()
rest = labels(run)
again = iter(pipeline(tfr.grain.source(ds)))
again.set_state(state)
found["restored"] = labels(again) == rest and len(rest) == 9

batches = grain.MapDataset.source(tfr.grain.batch_source(ds.global_shuffle(seed=1), 8)).to_iter_dataset()
found["batches"] = labels(batches) == labels(ds.global_shuffle(seed=1).batch(8))

def loader(source, seed=1):
    sampler = grain.samplers.IndexSampler(len(source), shard_options=grain.sharding.NoSharding(), shuffle=True,
                                          num_epochs=1, seed=seed)
    return grain.DataLoader(data_source=source, sampler=sampler, worker_count=0,
                            operations=[grain.transforms.Batch(4)])

run = iter(loader(source))
first = labels([next(run) for _ in range(3)])
state = run.get_state()
rest = labels(run)
found["loader"] = sorted(sum(first + rest, [])) == list(range(43))
again = iter(loader(tfr.grain.source(ds)))
again.set_state(state)
found["loader restored"] = labels(again) == rest
write("b.tfrecord", 13, 31)
other = tfr.grain.source(tfr.TFRecordDataset(["a.tfrecord", "b.tfrecord"]).parse(SPEC))
try:
    iter(loader(other)).set_state(state)
    found["other data"] = "accepted"
except ValueError as error:
    found["other data"] = "data source" in str(error)

draw = random.Random(1)
found["random"] = []
for _ in range(40):
    size, batch, shards, epochs = (draw.randint(1, limit) for limit in (50, 7, 4, 3))
    numbers = tfr.grain.source(tfr.Dataset.range(size).map(lambda x: {"label": x}))
    taken = []
    for shard in range(shards):
        part = grain.MapDataset.source(numbers).seed(size).shuffle().repeat(epochs)[shard::shards]
        options = grain.ReadOptions(num_threads=draw.randint(0, 4), prefetch_buffer_size=8)
        taken += sum(labels(part.to_iter_dataset(options).batch(batch)), [])
    found["random"].append(sorted(taken) == sorted(list(range(size)) * epochs))

# Of a part of the dataset, by samples or by batches, in two iterators of which the second resumes the first.
def take(stretch, samples, rank):
    draw = stretch.draw
    part = stretch.part(samples.epoch(stretch.epoch), rank)
    kind = draw.choice(["samples", "batches", "loader"])

    def run():
        options = grain.ReadOptions(num_threads=draw.randint(0, 4), prefetch_buffer_size=draw.randint(1, 8))
        if kind == "batches":
            source = tfr.grain.batch_source(part, stretch.batch)
            return iter(grain.MapDataset.source(source).to_iter_dataset(options))
        source = tfr.grain.source(part)
        if kind == "samples":
            return iter(grain.MapDataset.source(source).to_iter_dataset(options).batch(stretch.batch))
        sampler = grain.samplers.SequentialSampler(len(source), shard_options=grain.sharding.NoSharding())
        return iter(grain.DataLoader(data_source=source, sampler=sampler, worker_count=0, read_options=options,
                                     operations=[grain.transforms.Batch(stretch.batch)]))

    if not len(part):
        return []
    pause = draw.randint(0, 3) if stretch.steps is None else draw.randint(0, stretch.steps)
    first, second = run(), run()
    batches = list(itertools.islice(first, pause))
    second.set_state(first.get_state())
    batches += itertools.islice(second, None if stretch.steps is None else stretch.steps - pause)
    return [pair for batch in batches for pair in zip(batch["id"].tolist(), batch["real"].tolist())]

# Damaged records that are skipped: None, which grain leaves out of an IterDataset, but not of its batches before that.
write("damaged.tfrecord", 20, 0)
content = bytearray(open("damaged.tfrecord", "rb").read())
for number in (5, 8, 9, 10, 11):
    content[number * len(content) // 20 + 14] ^= 255
open("damaged.tfrecord", "wb").write(content)
damaged = tfr.TFRecordDataset("damaged.tfrecord", on_corrupt="skip").parse(SPEC)

def told(source, run):
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        try:
            made = run(grain.MapDataset.source(source))
        except ValueError as error:
            made = "structure" in str(error)
    texts = [str(each.message) for each in heard if "tfr repair" in str(each.message)]
    return [made, texts[:1], source.skipped]

found["left out"] = told(tfr.grain.source(damaged), lambda it: sum(labels(it.to_iter_dataset().batch(4)), []))
found["left out of batches"] = told(tfr.grain.batch_source(damaged, 4), lambda it: labels(it.to_iter_dataset()))
found["no room"] = told(tfr.grain.source(damaged), lambda it: labels(it.batch(4).to_iter_dataset()))[:2]

# 50 iterators that are left while grain reads ahead.
def left_behind():
    gc.collect()
    return [len(os.listdir("/proc/self/fd")), sum(each.name == "tfrkit" for each in threading.enumerate())]

def abandon():
    options = grain.ReadOptions(num_threads=2, prefetch_buffer_size=4)
    next(iter(grain.MapDataset.source(tfr.grain.source(ds)).batch(2).to_iter_dataset(options)))

write("b.tfrecord", 13, 30)
ds = tfr.TFRecordDataset(["a.tfrecord", "b.tfrecord"]).parse(SPEC)
abandon()
before = left_behind()
for _ in range(50):
    abandon()
deadline = time.monotonic() + 20
while left_behind() > before and time.monotonic() < deadline:
    time.sleep(0.02)
found["abandoned"] = [before, left_behind()]

found["topologies"] = wrong_stretches(int(os.environ.get("TFRKIT_TOPOLOGIES", "20")), 2, take)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return run_apart(PROGRAM, tmp_path_factory.mktemp("grain"))


def test_grain_takes_it_for_a_source(found):
    assert found["protocol"]


def test_map_dataset_shuffles_and_batches_every_element_once(found):
    assert found["map dataset"] == [True, True, 11]


def test_map_dataset_resumes_from_its_state(found):
    assert found["restored"]


def test_batches_of_a_batch_source_are_those_of_the_dataset(found):
    assert found["batches"]


def test_data_loader_has_every_element_once_and_resumes(found):
    assert found["loader"]
    assert found["loader restored"]


def test_checkpoint_of_a_data_loader_is_refused_for_other_files(found):
    assert found["other data"] is True


def test_any_number_of_shards_threads_and_epochs_has_every_element(found):
    assert found["random"] == [True] * 40


def test_damaged_record_that_is_left_out_is_named_and_counted(found):
    intact = [number for number in range(20) if number not in (5, 8, 9, 10, 11)]
    for name, wanted in (
        ("left out", intact),
        ("left out of batches", [[0, 1, 2, 3], [4, 6, 7], [12, 13, 14, 15], [16, 17, 18, 19]]),
    ):
        made, (text,), skipped = found[name]
        assert (made, skipped) == (wanted, 5)
        assert re.match(r"record (5|8|9|10|11) of 'damaged.tfrecord' is damaged, and left out as None", text)


def test_batch_of_grain_that_has_no_room_for_none_is_warned_of(found):
    refused, (text,) = found["no room"]
    assert refused is True
    assert "batch after it, or use tfr.grain.batch_source" in text


def test_fifty_abandoned_iterators_leave_nothing(found):
    before, after = found["abandoned"]
    assert after <= before


def test_any_change_of_topology_gives_every_sample_once(found):
    assert found["topologies"] == []
