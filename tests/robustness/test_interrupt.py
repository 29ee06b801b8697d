"""Ctrl-C at random moments: KeyboardInterrupt comes out, and what is left is clean."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

import tfrkit as tfr

# A timer raises KeyboardInterrupt in the main thread just as Ctrl-C does, many times at random moments. Not inside
# Python's own locks, which an interruption can leave locked for ever, nor inside __del__, where it is swallowed.
ROUNDS = """
import gc, json, os, random, re, signal, sys, threading, time
import tfrkit as tfr
from tfrkit import *  # all at once: numpy does not recover from an interrupted import
from tfrkit.stores.source import ByteSource

folder, rounds = sys.argv[1], int(sys.argv[2])
rng = random.Random(7)

def interrupt(number, frame):
    places = []
    while frame is not None:
        places.append((os.path.basename(frame.f_code.co_filename), frame.f_code.co_name))
        frame = frame.f_back
    if places[0][0] in ("threading.py", "_base.py", "thread.py") or "__del__" in [name for _, name in places]:
        signal.setitimer(signal.ITIMER_REAL, 0.0003)
    else:
        raise KeyboardInterrupt

signal.signal(signal.SIGALRM, interrupt)

def record(number):
    return b"%d:" % number + b"abcdefgh" * (number * 7919 % 100)

RECORDS = [record(number) for number in range(20_000)]

def interrupt_soon(work, *args):
    try:
        try:
            signal.setitimer(signal.ITIMER_REAL, 0.0005 + rng.random() * 0.03)
            work(*args)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        result["interrupted"] += 1

result = {"interrupted": 0, "problems": []}
"""

READ = """
paths = [os.path.join(folder, name) for name in ("a.tfrecord", "b.tfrecord.gz")]
for path in paths:
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(RECORDS)
def read():
    for _ in range(300):
        for block in tfr.read_blocks(paths, block_bytes=1 << 16):
            pass

for number in range(rounds):
    interrupt_soon(read)
    if list(tfr.read_records(paths)) != RECORDS * 2:
        result["problems"].append(number)
for _ in range(100):
    gc.collect()  # tracebacks of interruptions refer to the readers
    # Objects, not descriptors: Python may be interrupted just when open() has given one and before it is kept.
    result["left"] = [source.name for source in gc.get_objects() if isinstance(source, ByteSource)]
    if not result["left"]:
        break
    time.sleep(0.05)
print(json.dumps(result))
"""

WRITE = """
def write(path, number):
    with tfr.TFRecordWriter(path) as writer:
        for _ in range(100):
            if number % 2:
                writer.write_many(RECORDS)
            else:
                for item in RECORDS:
                    writer.write(item)

for number in range(rounds):
    path = os.path.join(folder, f"{number}.tfrecord" + (".gz" if number % 3 == 2 else ""))
    interrupt_soon(write, path, number)
    if not os.path.exists(path):
        continue
    report = tfr.verify(path)
    if [damage.kind for damage in report.damages] not in ([], ["truncated"]):
        result["problems"].append([number, str(report)[:500]])
    found = 0
    for item in tfr.read_records(path, on_corrupt="skip"):
        if item != RECORDS[found % len(RECORDS)]:
            result["problems"].append([number, "not a prefix"])
            break
        found += 1
    os.unlink(path)
print(json.dumps(result))
"""

ATOMIC = """
def write(path, number):
    for _ in range(100):
        if number % 2:
            with tfr.TFRecordWriter(path, atomic=True) as writer:
                writer.write_many(RECORDS)
        else:
            with tfr.ShardWriter(path, shards=2, overwrite=True, index=False) as shards:
                shards.write_many(RECORDS)

for number in range(rounds):
    interrupt_soon(write, os.path.join(folder, f"{number}.tfrecord"), number)
    names = [name for name in os.listdir(folder) if name.endswith(".tfrecord")]
    for name in names:
        shard = re.search("-0000([01])-of-00002", name)
        expected = RECORDS[int(shard[1]) :: 2] if shard else RECORDS
        found = list(tfr.read_records(os.path.join(folder, name)))
        if found != expected:
            wrong = next((i for i, pair in enumerate(zip(found, expected)) if pair[0] != pair[1]), None)
            result["problems"].append([number, name, len(found), wrong])
        os.unlink(os.path.join(folder, name))
print(json.dumps(result))
"""


BURN = """
import time
end = time.monotonic() + 100
while time.monotonic() < end:
    sum(range(10_000))
"""


@pytest.fixture
def load() -> Iterator[None]:
    """Two processes that need all the time they can get: other threads then run at unlikely moments."""
    burning = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(2)]
    yield
    for process in burning:
        process.kill()
        process.wait()


def run(code: str, folder, rounds: int) -> dict[str, object]:
    process = subprocess.run(
        [sys.executable, "-c", ROUNDS + code, folder, str(rounds)],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert process.returncode == 0, process.stderr[-3000:]
    assert "Exception ignored" not in process.stderr.replace("KeyboardInterrupt", ""), process.stderr
    result: dict[str, object] = json.loads(process.stdout)
    return result


def test_interrupted_readers_leave_nothing_behind(tmp_path):
    result = run(READ, tmp_path, 30)
    assert (result["problems"], result["left"]) == ([], [])
    assert result["interrupted"] == 30


@pytest.mark.usefixtures("load")
def test_interrupted_writers_leave_a_file_that_is_whole_up_to_its_tail(tmp_path):
    result = run(WRITE, tmp_path, 40)
    assert result["problems"] == []
    assert isinstance(result["interrupted"], int)
    assert result["interrupted"] > 10


@pytest.mark.usefixtures("load")
def test_interrupted_atomic_writers_leave_whole_files_only(tmp_path):
    result = run(ATOMIC, tmp_path, 30)
    assert result["problems"] == []
    assert result["interrupted"] == 30


@pytest.mark.parametrize("pause", [0.0, 0.03])
def test_sigint_ends_a_process_at_once(pause, tmp_path):
    path = tmp_path / "a.tfrecord.gz"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([bytes(1000)] * 50_000)
    code = (
        "import sys, tfrkit\n"
        "while True:\n"
        "    for block in tfrkit.read_blocks(sys.argv[1]):\n"
        "        print(len(block), flush=True)\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, path], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    process.stdout.readline()
    time.sleep(pause)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert process.returncode == -signal.SIGINT
    assert errors.rstrip().endswith("KeyboardInterrupt")
