"""KeyboardInterrupt at every single place of tfrkit's code where Python can raise it: nothing hangs, or is lost.

Python looks for signals when a function begins, after a call and when a loop jumps back. A trace function raises at the
first such place that a pipeline or a writer passes, then at the second, and so on: 300 to 6,000 for each. That takes
minutes, so that a run of all tests takes every eleventh of them; `TFRKIT_POINTS=all` takes all.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr

POINTS = """
import contextlib, dis, faulthandler, glob, json, os, sys
import tfrkit as tfr

HOME = os.path.dirname(tfr.__file__)
ours_by_code = {}

def checks_of(code):
    # The offsets where an interruption shows: after a look for signals, and before a jump that looks. None: not ours.
    if code not in ours_by_code:
        known = None
        if code.co_filename.startswith((HOME, contextlib.__file__)) and code.co_name != "__del__":
            known, before, handlers = set(), "", dis.Bytecode(code).exception_entries
            def handler(offset):
                return [entry.target for entry in handlers if entry.start <= offset < entry.end]
            for each in dis.get_instructions(code):
                # An interruption after a call counts as raised by the call: what handles that must handle this.
                looked = before in ("RESUME", "CALL", "CALL_FUNCTION_EX", "CALL_KW")
                if looked and handler(each.offset) == handler(each.offset - 2):
                    known.add(each.offset)
                if each.opname == "JUMP_BACKWARD":
                    known.add(each.offset)
                if each.opname != "CACHE":
                    before = each.opname
        ours_by_code[code] = known
    return ours_by_code[code]

class Points:
    def __init__(self, number):
        self.left, self.where = number, None
    def __call__(self, frame, event, argument):
        if frame.f_code.co_name == "__del__" or (checks := checks_of(frame.f_code)) is None:
            return None
        frame.f_trace_opcodes = True
        if event == "opcode" and frame.f_lasti in checks and self.where is None:
            self.left -= 1
            if self.left < 0:
                name = os.path.relpath(frame.f_code.co_filename, HOME)
                self.where = f"{name}:{frame.f_lineno} {frame.f_code.co_name}"
                raise KeyboardInterrupt
        return self

"""

ITERATE = """
from tests.robustness.test_pipelines import *

files, number, first, step = sys.argv[1:5], int(sys.argv[5]), int(sys.argv[6]), int(sys.argv[7])
dataset = pipelines(files)[number].take(300)
wanted = sorted(map(str, outcomes(dataset)))
tried, wrong = 0, []
point = first
while True:
    points = Points(point)
    iterator = None
    sys.settrace(points)
    try:
        iterator = iter(dataset)
        found = outcomes(iterator, 12)
        del found
        del iterator
        iterator = None
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    if points.where is None:
        break
    print("interrupted at", points.where, file=sys.stderr, flush=True)
    faulthandler.dump_traceback_later(20, exit=True)
    if iterator is not None:
        rest = outcomes(iterator, 40)
    del iterator
    if tried % 20 == 0 and sorted(map(str, outcomes(dataset))) != wanted:
        wrong.append(points.where)
    faulthandler.cancel_dump_traceback_later()
    tried += 1
    point += step
ended = wait_for(lambda: not ours(), 10)
print(json.dumps({"tried": tried, "wrong": wrong, "ended": ended}))
"""

CONTINUE = """
import numpy as np
from tests.robustness.test_interrupt_points import continued

dataset, first, step = continued(*sys.argv[1:3]), int(sys.argv[3]), int(sys.argv[4])

class RealPoints(Points):
    # Not where a function in Python has just returned: no signal is looked for there.
    returned = None
    def __call__(self, frame, event, argument):
        if event == "return":
            self.returned = frame.f_back
        elif event == "opcode":
            came, self.returned = self.returned is frame, None
            if came:
                return self
        return super().__call__(frame, event, argument)

def shown(elements):
    return [np.asarray(element).tolist() for element in elements]

wanted = shown(dataset)
tried, wrong, point = 0, {}, first
while True:
    faulthandler.dump_traceback_later(20, exit=True)
    iterator = iter(dataset)
    found = [next(iterator), next(iterator)]
    points = RealPoints(point)
    sys.settrace(points)
    try:
        for element in iterator:
            found.append(element)
            if len(found) == 8:
                break
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    if points.where is None:
        break
    state = iterator.state()
    before = shown(found)
    rest = shown(iterator)
    if before + rest != wanted:
        wrong[points.where] = [before, rest]
    resumed = shown(dataset.iter_from(state))
    if before + resumed != wanted:
        wrong[points.where] = ["state", before, resumed]
    tried += 1
    point += step
    faulthandler.cancel_dump_traceback_later()
print(json.dumps({"tried": tried, "wrong": wrong}))
"""

WRITE = """
folder, kind, step = sys.argv[1], sys.argv[2], int(sys.argv[3])
RECORDS = sorted(b"%d:" % n + b"abcdefgh" * (n * 7919 % 100) for n in range(8_000))

def write():
    if kind.startswith("atomic"):
        writer = tfr.TFRecordWriter(f"{folder}/a.tfrecord{kind[6:]}", atomic=True)
    else:
        compression = "GZIP" if kind.endswith(".gz") else None
        writer = tfr.ShardWriter(f"{folder}/a", shards=2, overwrite=True, compression=compression)
    with writer:
        writer.write_many(RECORDS)

def written():
    return sorted(tfr.read_records(glob.glob(f"{folder}/*.tfrecord*")))

write()
tried, wrong = 0, []
while True:
    points = Points(tried * step)
    faulthandler.dump_traceback_later(20, exit=True)
    sys.settrace(points)
    try:
        write()
    except KeyboardInterrupt:
        pass
    finally:
        sys.settrace(None)
    if points.where is None:
        break
    print("interrupted at", points.where, file=sys.stderr, flush=True)
    if tried % 5 == 0:
        write()
        if written() != RECORDS:
            wrong.append(points.where)
    faulthandler.cancel_dump_traceback_later()
    tried += 1
print(json.dumps({"tried": tried, "wrong": wrong}))
"""

LOCK = """
from tfrkit.records.manifest import folder_lock

folder = sys.argv[1]

def lock():
    with folder_lock(folder, "jobs.lock") as check:
        check()

lock()
tried = 0
while True:
    points = Points(tried)
    faulthandler.dump_traceback_later(20, exit=True)
    sys.settrace(points)
    try:
        lock()
    except KeyboardInterrupt:
        sys.settrace(None)
        print("interrupted at", points.where, file=sys.stderr, flush=True)
        lock()  # as a clean-up does, while the traceback refers to all that was there
    finally:
        sys.settrace(None)
    if points.where is None:
        break
    faulthandler.cancel_dump_traceback_later()
    tried += 1
print(json.dumps({"tried": tried}))
"""
STEP = 1 if os.environ.get("TFRKIT_POINTS") == "all" else 11
# Every pipeline of `pipelines` whose elements come in a fixed order. The third sleeps in the user's function.
NUMBERS = [0, 1, 2, *range(4, 16), 17]


class Counter:
    """An iterator that is no generator: those end if they are interrupted."""

    def __init__(self) -> None:
        self.next = 0

    def __iter__(self) -> Counter:
        return self

    def __next__(self) -> int:
        if self.next == 40:
            raise StopIteration
        self.next += 1
        return self.next - 1


def continued(name: str, path: str) -> tfr.Dataset:
    """A pipeline whose iterators go on after an interruption as if there had been none."""
    numbers = tfr.Dataset.range(40)
    mapped = numbers.map(lambda x: x)
    counted = tfr.Dataset.from_generator(Counter, output_signature=tfr.TensorSpec((), "int64"))
    records = tfr.TFRecordDataset(path)
    made: dict[str, tfr.Dataset] = {
        "numbers": numbers,
        "records": records,
        "records, batch": records.batch(3).prefetch(2),
        "records, shuffle, batch": records.shuffle(9, seed=1, reshuffle_each_iteration=False).batch(3),
        "records, global_shuffle": records.global_shuffle(1, False).batch(3),
        "map": mapped,
        "map, filter": mapped.filter(lambda x: x % 3 != 0),
        "map, batch, unbatch": mapped.batch(4).unbatch(),
        "map, batch": mapped.batch(4),
        "map, take, skip, shard": mapped.skip(1).take(30).shard(2, 1),
        "map, prefetch": mapped.prefetch(3),
        "parallel map": numbers.map(lambda x: x, num_parallel_calls=2),
        "map, shuffle": mapped.shuffle(5, seed=1, reshuffle_each_iteration=False),
        "map, repeat, concatenate": mapped.repeat(2).concatenate(mapped),
        "zip": tfr.Dataset.zip(mapped, mapped).map(lambda a, b: 100 * a + b),
        "interleave": tfr.Dataset.range(4).interleave(lambda x: numbers.map(lambda y: y + 100 * x), 2),
        "flat_map": tfr.Dataset.range(4).flat_map(lambda x: numbers.map(lambda y: y + 100 * x)),
        "take_while": mapped.take_while(lambda x: x < 35),
        "scan": mapped.scan(np.int64(0), lambda total, x: (total + x, total)),
        "ignore_errors": numbers.map(lambda x: 12 // (x % 4)).ignore_errors(),
        "generator": counted,
        "generator, map, filter": counted.map(lambda x: x).filter(lambda x: True),
        "generator, batch, unbatch": counted.batch(4).unbatch(),
        "generator, prefetch": counted.prefetch(3),
        "generator, interleave": tfr.Dataset.range(4).interleave(
            lambda x: counted.map(lambda y: y + 100 * x), 2
        ),
        "generator, cache": counted.cache(),
        "generator, scan": counted.scan(np.int64(0), lambda total, x: (total + x, total)),
    }
    return made[name]


CONTINUED = [
    "numbers",
    "records",
    "records, batch",
    "records, shuffle, batch",
    "records, global_shuffle",
    "map",
    "map, filter",
    "map, batch, unbatch",
    "map, batch",
    "map, take, skip, shard",
    "map, prefetch",
    "parallel map",
    "map, shuffle",
    "map, repeat, concatenate",
    "zip",
    "interleave",
    "flat_map",
    "take_while",
    "scan",
    "ignore_errors",
    "generator",
    "generator, map, filter",
    "generator, batch, unbatch",
    "generator, prefetch",
    "generator, interleave",
    "generator, cache",
    "generator, scan",
]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    folder: Path = tmp_path_factory.mktemp("files")
    paths = [str(folder / f"{number}.tfrecord{'.gz' if number % 2 else ''}") for number in range(4)]
    for path in paths:
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many([b"%d:" % number + bytes(number % 200) for number in range(2000)])
    return paths


def run(code: str, *args: str) -> dict[str, object]:
    command = [sys.executable, "-c", POINTS + code, *args]
    process = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert process.returncode == 0, process.stderr[-3000:]
    result: dict[str, object] = json.loads(process.stdout)
    return result


@pytest.mark.parametrize("number", NUMBERS)
def test_no_place_leaves_an_iterator_that_hangs(files, number):
    result = run(ITERATE, *files, str(number), str(number % STEP), str(STEP))
    assert (result["wrong"], result["ended"]) == ([], True)
    assert result["tried"] > 100


@pytest.mark.parametrize("name", CONTINUED)
def test_no_place_loses_an_element_or_gives_one_twice(tmp_path, name):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many([b"%d" % number for number in range(40)])
    result = run(CONTINUE, name, str(path), str(len(name) % STEP), str(STEP))
    assert result["wrong"] == {}
    assert result["tried"] > 5


@pytest.mark.parametrize("kind", ["atomic", "atomic.gz", "shards", "shards.gz"])
def test_no_place_leaves_a_writer_that_hangs(tmp_path, kind):
    result = run(WRITE, str(tmp_path), kind, str(STEP))
    assert result["wrong"] == []
    assert result["tried"] > 20


@pytest.mark.parametrize("folder", ["", "memory://locks"])
def test_no_place_leaves_a_lock_that_its_own_clean_up_waits_for(tmp_path, folder):
    result = run(LOCK, folder or str(tmp_path))
    assert result["tried"] > 20
