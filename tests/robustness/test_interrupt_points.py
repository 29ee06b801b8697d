"""KeyboardInterrupt at every single place of tfrkit's code where Python can raise it: nothing hangs.

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


@pytest.mark.parametrize("kind", ["atomic", "atomic.gz", "shards", "shards.gz"])
def test_no_place_leaves_a_writer_that_hangs(tmp_path, kind):
    result = run(WRITE, str(tmp_path), kind, str(STEP))
    assert result["wrong"] == []
    assert result["tried"] > 20


@pytest.mark.parametrize("folder", ["", "memory://locks"])
def test_no_place_leaves_a_lock_that_its_own_clean_up_waits_for(tmp_path, folder):
    result = run(LOCK, folder or str(tmp_path))
    assert result["tried"] > 20
