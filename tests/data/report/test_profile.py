from __future__ import annotations

import time

import numpy as np

import tfrkit as tfr
from tfrkit.data.dataset import Dataset


def decode(x):
    time.sleep(0.002)
    return x


def crunch(x):
    return np.linalg.svd(np.ones((40, 40)) * float(x))[1].sum()


def shares(report):
    total = sum(stage.seconds for stage in report.stages)
    return {stage.node.label: stage.seconds / total for stage in report.stages}


def test_it_shows_which_stage_takes_the_time():
    report = Dataset.range(100).map(decode).batch(10).prefetch(2).profile(5)
    assert (report.elements, report.errors) == (10, 0)
    assert shares(report)["map(decode)"] > 0.8
    assert [stage.elements for stage in report.stages] == [10, 10, 100, 100]
    assert any(hint.startswith("map(decode) takes") and "waits" in hint for hint in report.hints)
    assert not any("prefetch" in hint for hint in report.hints)


def test_calls_in_threads_are_measured():
    report = Dataset.range(100).map(decode, num_parallel_calls=4).batch(10).profile(5)
    assert shares(report)["map(decode, num_parallel_calls=4)"] > 0.8
    assert report.seconds < 0.2


def test_it_stops_after_the_time_that_was_given():
    report = Dataset.range(10**9).map(lambda x: x).batch(100).profile(0.2)
    assert 0.15 < report.seconds < 2
    assert report.elements > 10


def test_cheap_functions_shall_work_on_batches():
    report = Dataset.range(200_000).map(lambda x: x * 2 + 1).batch(1000).profile(2)
    assert any("after .batch(n)" in hint for hint in report.hints)
    assert any(".prefetch(AUTOTUNE)" in hint for hint in report.hints)


def test_costly_functions_shall_run_in_threads():
    report = Dataset.range(200).map(crunch).profile(2)
    assert any("num_parallel_calls=AUTOTUNE" in hint for hint in report.hints)


def test_errors_and_damage_are_told(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        writer.write_many([b"abcdef"] * 10)
    data = bytearray((tmp_path / "a").read_bytes())
    data[15] ^= 1
    (tmp_path / "a").write_bytes(data)
    report = tfr.TFRecordDataset(tmp_path / "a", on_corrupt="skip").map(lambda x: 1 // 0).profile(1)
    assert (report.elements, report.errors, report.skipped) == (0, 9, 1)
    assert any("9 errors came out" in hint for hint in report.hints)
    assert any("1 damages in files were skipped" in hint for hint in report.hints)


def test_inner_datasets_are_counted_together(tmp_path):
    for name in "ab":
        with tfr.TFRecordWriter(tmp_path / name) as writer:
            writer.write_many([b"abcdef"] * 10)
    names = Dataset.from_tensor_slices([str(tmp_path / "a"), str(tmp_path / "b")])
    report = names.interleave(tfr.TFRecordDataset, 2, num_parallel_calls=2).profile(1)
    assert report.elements == 20
    assert any(stage.elements == 20 and "TFRecordDataset" in stage.node.label for stage in report.stages)


def test_it_prints():
    text = str(Dataset.range(100).map(decode).batch(10).profile(0.1))
    assert text.splitlines()[0].endswith("a second")
    assert "map(decode)" in text
    assert "\n- " in text


def test_prefetch_is_not_advised_where_there_is_one(tmp_path):
    with tfr.TFRecordWriter(tmp_path / "a") as writer:
        for number in range(2000):
            writer.write_example({"a": number})
    spec = {"a": tfr.FixedLenFeature([], "int64")}
    batches = tfr.TFRecordDataset(tmp_path / "a").parse(spec).batch(10)
    work = Dataset.range(200).map(crunch)
    for dataset in (
        batches.prefetch(tfr.AUTOTUNE),
        batches.prefetch(2).take(150),
        batches.prefetch(2).with_options(tfr.Options(threads=1)),
        work.prefetch(2).take(150),
        work.prefetch(1).repeat(2),
        work.batch(4).prefetch(2).enumerate(),
    ):
        assert not [hint for hint in dataset.profile(1).hints if "prefetch" in hint]
    for dataset in (batches, batches.prefetch(0), work.prefetch(0)):
        assert [hint for hint in dataset.profile(1).hints if "end with .prefetch" in hint]
    hints = Dataset.range(200).prefetch(2).map(crunch).profile(1).hints
    assert [hint for hint in hints if hint.startswith("map(crunch) comes after the last prefetch")]


def test_it_uses_up_no_epoch_and_fills_no_cache():
    def make():
        calls.clear()
        mixed = Dataset.range(20).shuffle(20, seed=3).map(lambda x: calls.append(x) or x)
        return mixed.cache().shuffle(5, seed=4).batch(5)

    def epochs(dataset):
        return [[batch.tolist() for batch in dataset] for _ in range(3)]

    calls = []
    wanted = epochs(make())
    dataset = make()
    assert dataset.profile(1).elements == 4
    assert len(calls) == 20
    dataset.take(1).profile(1)
    calls.clear()
    assert epochs(dataset) == wanted
    assert len(calls) == 20  # once more: the cache was empty

    found = Dataset.sample_from_datasets([Dataset.range(9), Dataset.random(seed=1).take(9)], seed=2)
    same = Dataset.sample_from_datasets([Dataset.range(9), Dataset.random(seed=1).take(9)], seed=2)
    found.profile(1)
    assert [list(found), list(found)] == [list(same), list(same)]


def test_an_iterator_that_is_at_work_notices_nothing():
    dataset = Dataset.range(20).shuffle(20, seed=3).repeat(3)
    wanted = list(Dataset.range(20).shuffle(20, seed=3).repeat(3))
    iterator = iter(dataset)
    found = [next(iterator) for _ in range(10)]
    dataset.profile(1)
    assert [*found, *iterator] == wanted


def test_how_long_the_consumer_waited_is_shown_with_the_stage_that_it_waited_for():
    got = []
    report = Dataset.range(20).map(decode).prefetch(2).profile(5, got.append)
    assert [int(x) for x in got] == list(range(20))
    assert report.waited is not None
    assert report.waited > 0.5 * report.seconds
    assert "the consumer waited" in str(report)
    assert "map(decode) is the limit" in str(report)


def test_stage_before_a_batch_is_named_if_it_is_the_limit():
    def large(x):
        time.sleep(0.0005)
        return np.zeros(100_000, np.float32)  # putting them together takes a while, too

    report = Dataset.range(10_000).map(large).batch(32).profile(0.5, lambda batch: None)
    batch, mapped, _ = report.stages
    assert batch.seconds / batch.elements > mapped.seconds / mapped.elements
    assert "map(" in str(report).splitlines()[1]


def test_a_busy_consumer_does_not_wait():
    report = Dataset.range(20).prefetch(2).profile(5, lambda x: time.sleep(0.02))
    assert report.waited is not None
    assert report.waited < 0.5 * report.seconds
    assert Dataset.range(20).profile(1).waited is None


def spin(x, seconds=0.1):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return x


def test_pythons_lock_is_named_if_it_is_the_limit():
    report = Dataset.range(5).map(spin).profile(5)
    assert report.locked > 0.4
    assert "Python's lock (the GIL)" in str(report)
    assert Dataset.range(100).map(decode).profile(5).locked < 0.4


def test_more_threads_are_not_advised_where_the_lock_is_the_limit():
    for calls in (None, 2):
        report = Dataset.range(6).map(spin, num_parallel_calls=calls).profile(5)
        assert report.locked > 0.4
        assert "more threads do not help" in str(report)
        assert not any("num_parallel_calls=AUTOTUNE" in hint for hint in report.hints)


def test_lock_that_the_consumer_holds_is_not_the_limit_of_the_pipeline():
    report = Dataset.range(5).prefetch(2).profile(5, spin)
    assert report.locked > 0.4
    assert "Python's lock" not in str(report)


def test_lock_is_not_named_beside_a_stage_that_waits():
    report = Dataset.range(200).map(decode).prefetch(2).profile(1, lambda x: spin(x, 0.002))
    assert any("it mostly waits" in hint for hint in report.hints)
    assert "Python's lock" not in str(report)
