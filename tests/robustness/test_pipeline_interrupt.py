"""Ctrl-C while a pipeline runs: KeyboardInterrupt comes out soon, the process ends cleanly, and nothing hangs."""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import time

import pytest

import tfrkit as tfr

HEAD = """
import sys, threading, time
import tfrkit as tfr
from tests.robustness.test_pipelines import *
files = sys.argv[1:5]
"""
# Runs until it is told to stop: says that it has begun, then goes on for ever.
LOOP = """
print("begun", flush=True)
while True:
    iterator = iter(dataset)
    for element in iterator:
        pass
    iterator.close()  # not in __del__, where Python would swallow an interruption
"""
SLEEPS = """
def sleeping():
    yield 1
    time.sleep(600)
    yield 2
"""
CASES = {f"pipeline {number}": f"dataset = pipelines(files)[{number}]" for number in range(18)} | {
    "sleeping generator": SLEEPS + "dataset = tfr.Dataset.from_generator(sleeping, output_signature=NUMBER)",
    "sleeping generator, prefetched": SLEEPS
    + "dataset = tfr.Dataset.from_generator(sleeping, output_signature=NUMBER).prefetch(2).prefetch(1)",
    "sleeping function": "dataset = tfr.Dataset.range(9).map(lambda x: time.sleep(600), num_parallel_calls=3)",
    "waiting function": "dataset = tfr.Dataset.range(9).map(lambda x: threading.Event().wait()).prefetch(1)",
    "sleeping interleave": SLEEPS
    + "sleeper = tfr.Dataset.from_generator(sleeping, output_signature=NUMBER)\n"
    + "dataset = tfr.Dataset.range(9).interleave(lambda x: sleeper, 3, 1, 3).shuffle(10)",
}


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> list[str]:
    folder = tmp_path_factory.mktemp("files")
    paths = [str(folder / f"{number}.tfrecord{'.gz' if number % 2 else ''}") for number in range(4)]
    for path in paths:
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many([b"%d:" % number + bytes(number % 200) for number in range(2000)])
    return paths


@pytest.mark.parametrize("name", CASES)
def test_sigint_ends_a_process_soon_and_quietly(files, name):
    command = [sys.executable, "-c", HEAD + CASES[name] + "\n" + LOOP, *files]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    time.sleep(random.Random(name).random() * 0.3)
    process.send_signal(signal.SIGINT)
    start = time.monotonic()
    output, errors = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT, errors
    assert errors.rstrip().endswith("KeyboardInterrupt"), errors
    assert (output, errors.count("Traceback"), "Exception ignored" in errors) == ("", 1, False), errors
    assert time.monotonic() - start < 60


# Many interruptions of one process at random moments. Not inside Python's own locks, which an interruption can leave
# locked for ever, nor inside __del__, where it is swallowed.
ROUNDS = """
import json, os, random, signal
rng = random.Random(int(sys.argv[5]))
result = {"interrupted": 0, "wrong": [], "slow": []}

def interrupt(number, frame):
    places = []
    while frame is not None:
        places.append((os.path.basename(frame.f_code.co_filename), frame.f_code.co_name))
        frame = frame.f_back
    names = [name for _, name in places]
    if places[0][0] in ("threading.py", "_base.py", "weakref.py", "_weakrefset.py") or "__del__" in names:
        signal.setitimer(signal.ITIMER_REAL, 0.0003)
    else:
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)
datasets = [dataset for number, dataset in enumerate(pipelines(files)) if number != 3]  # that one has no order
expected = [sorted(map(str, outcomes(dataset, 30))) for dataset in datasets]
for turn in range(60):
    dataset, wanted = datasets[turn % len(datasets)], expected[turn % len(datasets)]
    iterator = None
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0005 + rng.random() * 0.02)
        while True:
            iterator = iter(dataset)
            outcomes(iterator, 200)
    except KeyboardInterrupt:
        result["interrupted"] += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    start = time.monotonic()
    if iterator is not None:
        outcomes(iterator, 3)  # it can be gone on with
    del iterator
    if sorted(map(str, outcomes(dataset, 30))) != wanted and turn % len(datasets) != 2:
        result["wrong"].append(turn)
    if time.monotonic() - start > 30:
        result["slow"].append(turn)
import gc
gc.collect()
result["ended"] = wait_for(lambda: not ours(), 10)
print(json.dumps(result))
"""


@pytest.mark.parametrize("seed", range(4))
def test_interrupted_iterators_leave_nothing_and_hinder_nobody(files, seed):
    process = subprocess.run(
        [sys.executable, "-c", HEAD + ROUNDS, *files, str(seed)], capture_output=True, text=True, timeout=400
    )
    assert process.returncode == 0, process.stderr[-3000:]
    assert "Exception ignored" not in process.stderr, process.stderr[-3000:]
    result = json.loads(process.stdout)
    assert (result["wrong"], result["slow"], result["ended"]) == ([], [], True)
    assert result["interrupted"] == 60
