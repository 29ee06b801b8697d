"""Pipelines that are abandoned, interrupted, forked, shared by threads, or alive at the interpreter's exit."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import tfrkit as tfr
from tests.data.support.outcomes import outcomes, wait_for
from tests.robustness.test_abandoned import open_files
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.node import NodeIterator

RECORDS = [b"%d:" % number + bytes(number % 200) for number in range(2000)]
NUMBER = tfr.TensorSpec([], "int64")


def ours() -> list[threading.Thread]:
    return [thread for thread in threading.enumerate() if thread.name == "tfrkit"]


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    paths = [str(folder / f"{number}.tfrecord{'.gz' if number % 2 else ''}") for number in range(4)]
    for path in paths:
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many(RECORDS)
    return paths


def numbers():
    yield from range(100_000)


def fails_now_and_then(x):
    if int(x) % 7 == 3:
        raise KeyError(int(x))
    return x


def pipelines(files: list[str]) -> list[tfr.Dataset]:
    """All kinds of stages that read ahead or hold something."""
    count, records = tfr.Dataset.range(100_000), tfr.TFRecordDataset(files)
    generated = tfr.Dataset.from_generator(numbers, output_signature=NUMBER)
    names = tfr.Dataset.from_tensor_slices(files)
    return [
        count.prefetch(10),
        count.map(lambda x: x + 1).prefetch(-1).prefetch(2),
        count.map(lambda x: time.sleep(0.0005) or x, num_parallel_calls=4),
        count.map(lambda x: time.sleep(0.0005) or x, num_parallel_calls=4, deterministic=False).batch(3),
        count.map(fails_now_and_then, num_parallel_calls=-1).prefetch(3).ignore_errors(),
        count.interleave(lambda x: tfr.Dataset.range(50).map(lambda y: y + x), 4, 2, 4).prefetch(1),
        generated.prefetch(5).batch(4),
        generated.map(lambda x: x * 2, num_parallel_calls=3),
        generated.shuffle(100, seed=1, reshuffle_each_iteration=False).prefetch(1),
        records.prefetch(2),
        records.shuffle(500, seed=1, reshuffle_each_iteration=False).batch(32).prefetch(-1),
        records.map(len, num_parallel_calls=2).batch(10).prefetch(1),
        tfr.TFRecordDataset(files, num_parallel_reads=3).batch(16).prefetch(2),
        names.interleave(tfr.TFRecordDataset, 4, num_parallel_calls=-1).prefetch(4),
        names.flat_map(tfr.TFRecordDataset).repeat(3).take(5000).prefetch(2),
        tfr.Dataset.zip(records, count.prefetch(1)).prefetch(3),
        tfr.TFRecordDataset(files)
        .global_shuffle(1, False)
        .map(len, num_parallel_calls=2)
        .shard(2, 1)
        .batch(4),
        tfr.TFRecordDataset(files).global_shuffle(1, False, window=100_000).batch(8).prefetch(2),
    ]


def take_some(dataset: tfr.Dataset, count: int) -> tfr.DatasetIterator:
    iterator = iter(dataset)
    found = outcomes(iterator, count)
    assert len(found) == count
    return iterator


def left_over() -> list[object]:
    """Iterators that are still alive, whoever holds them."""
    kinds = (NodeIterator, Cursor)
    # By its type: `isinstance` asks some objects of other packages for their class, which warns.
    return [each for each in gc.get_objects() if issubclass(type(each), kinds)]


def collect_everything() -> None:
    """Collect garbage, also among what was frozen when TensorFlow was imported, and freeze what stays."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()


def memory_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_a_thousand_abandoned_iterators_leave_nothing(files):
    collect_everything()
    assert left_over() == []  # nor have other tests left any
    made = pipelines(files)
    for dataset in made:  # what is allocated once is
        take_some(dataset, 3)
    gc.collect()
    before = memory_bytes() if Path("/proc/self/statm").exists() else 0
    for number in range(1000):
        iterator = take_some(made[number % len(made)], number % 5)
        if number % 3 == 0:
            iterator.close()
        del iterator
    assert wait_for(lambda: not ours(), 20), ours()
    gc.collect()
    assert left_over() == []
    del made, dataset  # those whose elements have numbers keep their files
    assert open_files(Path(files[0]).parent) == []
    if before:
        assert memory_bytes() - before < 60 << 20


def test_references_alone_end_an_iterator(files):
    collect_everything()
    assert left_over() == []  # nor have other tests left any
    gc.disable()
    try:
        for dataset in pipelines(files):
            take_some(dataset, 2)
            assert wait_for(lambda: not ours(), 10), dataset
            assert wait_for(lambda: left_over() == [], 2), (dataset, left_over())
    finally:
        gc.enable()
    del dataset
    assert open_files(Path(files[0]).parent) == []


def test_idle_iterators_hold_no_threads(files):
    iterators = [take_some(dataset, 2) for dataset in pipelines(files)]
    assert wait_for(lambda: not ours(), 10), ours()
    for iterator in iterators:
        next(iterator)
        iterator.close()


@pytest.mark.parametrize("number", range(16))
def test_several_threads_share_an_iterator(files, number):
    dataset = pipelines(files)[number].take(200)
    expected = sorted(map(str, outcomes(dataset)))
    iterator, found, lock = iter(dataset), [], threading.Lock()

    def work() -> None:
        mine = outcomes(iterator)
        with lock:
            found.extend(mine)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    if number != 3:  # batches of elements in any order
        assert sorted(map(str, found)) == expected
    assert len(found) == len(expected)


def test_an_iterator_goes_on_in_another_thread(files):
    for dataset in pipelines(files)[:3]:
        iterator, found = iter(dataset.take(20)), []
        found += outcomes(iterator, 5)
        thread = threading.Thread(target=lambda: found.extend(outcomes(iterator, 5)))  # noqa: B023
        thread.start()
        thread.join(30)
        found += outcomes(iterator)
        assert found == outcomes(dataset.take(20))


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
@pytest.mark.parametrize("number", range(16))
def test_a_forked_child_goes_on(files, number):
    dataset = pipelines(files)[number].take(40)
    iterator = take_some(dataset, 5)
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.write(writing, repr(sorted(map(str, outcomes(iterator)))).encode())
            code = 0
        finally:
            os._exit(code)
    os.close(writing)
    mine = repr(sorted(map(str, outcomes(iterator)))).encode()
    with open(reading, "rb") as pipe:
        theirs = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    if number != 3:
        assert theirs == mine


@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_a_forked_child_drops_the_iterators_of_its_parent(files):
    iterators = [take_some(dataset, 3) for dataset in pipelines(files)]
    pid = os.fork()
    if pid == 0:
        iterators.clear()
        gc.collect()
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    for iterator in iterators:
        next(iterator)


HEAD = """
import sys, threading, time
import numpy as np
import tfrkit as tfr
from tests.robustness.test_pipelines import *
files = sys.argv[1:]
"""
EXITS = {
    "live iterators": "kept = [take_some(dataset, 2) for dataset in pipelines(files)]",
    "live iterators in a cycle": "kept = [take_some(d, 1) for d in pipelines(files)]; kept.append(kept)",
    "a generator that blocks": """
def endless():
    yield 1
    threading.Event().wait()
kept = iter(tfr.Dataset.from_generator(endless, output_signature=NUMBER).prefetch(2).prefetch(1))
next(kept)
""",
    "a function that sleeps": """
kept = iter(tfr.Dataset.range(10).map(lambda x: time.sleep(60 * int(x)) or x, num_parallel_calls=2))
next(kept)
""",
    "a function that computes": """
def endless(x):
    while x > 0:
        pass
    return x
kept = iter(tfr.Dataset.range(10).map(endless).prefetch(2))
next(kept)
""",
    "a generator that cleans up": """
def careful():  # it cleans up
    try:
        yield from range(10)
    finally:
        open(files[0] + '.closed', 'w').close()
kept = iter(tfr.Dataset.from_generator(careful, output_signature=NUMBER).prefetch(2))
next(kept)
""",
    "an iterator used in a hook": """
import atexit
atexit.register(lambda: print(len(outcomes(tfr.Dataset.range(50).map(abs, num_parallel_calls=2).prefetch(3)))))
kept = take_some(tfr.Dataset.range(50).map(abs, num_parallel_calls=2).prefetch(3), 1)
""",
}


@pytest.mark.parametrize("code", EXITS.values(), ids=EXITS.keys())
def test_the_interpreter_ends_quietly_with_live_iterators(files, code):
    command = [sys.executable, "-c", HEAD + code, *files]
    start = time.monotonic()
    process = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert (process.returncode, process.stderr) == (0, "")
    assert process.stdout in ("", "50\n")
    assert time.monotonic() - start < 20
    assert Path(files[0] + ".closed").exists() == ("cleans up" in code)
    Path(files[0] + ".closed").unlink(missing_ok=True)
