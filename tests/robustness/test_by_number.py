"""Datasets by number under strain: more files than descriptors, Ctrl-C, loops that are left."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr

HEAD = """
import gc, itertools, json, os, random, resource, signal, sys, threading, time
import tfrkit as tfr
from tests.data.support.outcomes import wait_for
from tests.robustness.test_by_number import PIPELINES, number_of
files = sorted(os.path.join(sys.argv[1], name) for name in os.listdir(sys.argv[1]) if name.endswith(".tfrecord"))

def ours():
    return [each for each in threading.enumerate() if "tfrkit" in each.name]
"""


def number_of(record: bytes) -> int:
    return int(record[:7])


PIPELINES: dict[str, Any] = {
    "shuffled": lambda files: tfr.TFRecordDataset(files).global_shuffle(seed=1).map(number_of),
    "windows": lambda files: tfr.TFRecordDataset(files).global_shuffle(seed=1, window=100_000).map(number_of),
    "batches": lambda files: (
        tfr.TFRecordDataset(files).global_shuffle(seed=1).batch(64).prefetch(2).unbatch().map(number_of)
    ),
    "windows of a rank": lambda files: (
        tfr.TFRecordDataset(files)
        .global_shuffle(seed=1, window=50_000)
        .map(number_of, num_parallel_calls=3)
        .shard(2, 1)
        .prefetch(3)
    ),
    "epochs": lambda files: (
        tfr.TFRecordDataset(files).global_shuffle(seed=1, window=100_000).repeat(2).map(number_of)[::3]
    ),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("files")
    number = 0
    for file in range(4):
        with tfr.TFRecordWriter(folder / f"{file}.tfrecord") as writer:
            for _ in range(1000):
                writer.write(b"%07d" % number + bytes(number % 300))
                number += 1
    return folder


def run(code: str, *arguments: Any, timeout: float = 200) -> Any:
    """What a process prints, as JSON."""
    process = subprocess.run(
        [sys.executable, "-c", HEAD + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    assert "Exception ignored" not in process.stderr, process.stderr[-3000:]
    return json.loads(process.stdout)


MANY_FILES = """
resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 1024))
number = 0
for file in range(3000):
    with tfr.TFRecordWriter(os.path.join(sys.argv[1], f"{file:04}.tfrecord")) as writer:
        writer.write_many([b"%07d" % (3 * file + record) for record in range(3)])
files = sorted(os.path.join(sys.argv[1], name) for name in os.listdir(sys.argv[1]))
ds = tfr.TFRecordDataset(files)
some = [number_of(x) for x in ds.at([8999, 0, 4500]).to_list()]
result = {"length": len(ds), "last": number_of(ds[-1]), "some": some}
for window in (None, 5000):
    shuffled = ds.global_shuffle(seed=1, window=window).map(number_of)
    result[str(window)] = sorted(map(int, shuffled)) == list(range(9000))
iterator = iter(shuffled.shard(3, 1).batch(100))
next(iterator)
position = iterator.position()
result["rest"] = sum(1 for _ in shuffled.iter_from(position))
result["open"] = len(os.listdir("/proc/self/fd")) < 900
print(json.dumps(result))
"""


def test_more_files_than_descriptors(tmp_path: Path) -> None:
    assert run(MANY_FILES, tmp_path) == {
        "length": 9000,
        "last": 8999,
        "some": [8999, 0, 4500],
        "None": True,
        "5000": True,
        "rest": 8700,
        "open": True,
    }


LEFT = """
before = len(os.listdir("/proc/self/fd"))
for turn in range(50):
    for make in PIPELINES.values():
        for element in make(files):
            break
gc.collect()
threads = wait_for(lambda: not ours(), 10)
print(json.dumps({"threads": threads, "descriptors": len(os.listdir("/proc/self/fd")) - before}))
"""


def test_loops_that_are_left_leave_nothing_behind(folder: Path) -> None:
    assert run(LEFT, folder) == {"threads": True, "descriptors": 0}


LOOP = """
dataset = PIPELINES[sys.argv[2]](files)
print("begun", flush=True)
while True:
    for element in dataset:
        pass
"""


@pytest.mark.parametrize("name", PIPELINES)
def test_sigint_ends_a_process_soon_and_quietly(folder: Path, name: str) -> None:
    command = [sys.executable, "-c", HEAD + LOOP, str(folder), name]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(random.Random(name).random() * 0.2)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == -signal.SIGINT, errors
    assert errors.rstrip().endswith("KeyboardInterrupt"), errors
    assert (output, errors.count("Traceback"), "Exception ignored" in errors) == ("", 1, False), errors


# Interrupted again and again, an iterator can be gone on with, and the next pass is as if nothing had happened.
GO_ON = """
rng = random.Random(int(sys.argv[2]))

def interrupt(number, frame):
    places = []
    while frame is not None:
        places.append((os.path.basename(frame.f_code.co_filename), frame.f_code.co_name))
        frame = frame.f_back
    names = [name for _, name in places]
    safe = places[0][0] not in ("threading.py", "_base.py", "weakref.py", "_weakrefset.py") and "__del__" not in names
    if safe:
        raise KeyboardInterrupt
    signal.setitimer(signal.ITIMER_REAL, 0.0002)

signal.signal(signal.SIGALRM, interrupt)
result = {}
for name, make in PIPELINES.items():
    wanted, found, interrupted = [int(x) for x in make(files)], [], 0
    iterator = iter(make(files))
    while True:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0003 + rng.random() * 0.004 if interrupted < 40 else 0)
            for element in iterator:
                found.append(int(element))
            break
        except KeyboardInterrupt:
            interrupted += 1
    signal.setitimer(signal.ITIMER_REAL, 0)
    del iterator
    result[name] = [set(found) <= set(wanted), [int(x) for x in make(files)] == wanted, interrupted > 0]
gc.collect()
result["threads"] = [wait_for(lambda: not ours(), 10)]
print(json.dumps(result))
"""


@pytest.mark.parametrize("seed", range(2))
def test_an_interrupted_iterator_goes_on_and_hinders_nobody(folder: Path, seed: int) -> None:
    wanted = {name: [True, True, True] for name in PIPELINES} | {"threads": [True]}
    assert run(GO_ON, folder, seed) == wanted
