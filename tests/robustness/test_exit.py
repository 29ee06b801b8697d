"""The interpreter ends in the middle of something, whoever holds it: nothing is told, and nothing is lost."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import tfrkit as tfr

HEAD = """
import atexit, builtins, gc, os, sys, threading, time, types
import tfrkit as tfr
from tfrkit import tf

def numbers():
    number = 0
    while True:
        yield number
        number += 1

def slow(x):
    time.sleep(0.001)
    return len(x)

class Held:
    def __init__(self, *things):
        self.things = things

paths, out = [sys.argv[1], sys.argv[1]], sys.argv[2]
source = tfr.TFRecordDataset(paths)
signature = tfr.TensorSpec((), "int64")
"""
# What is begun and left: of each some elements are taken.
MADE = {
    "records": "tfr.read_records(paths)",
    "blocks": "tfr.read_blocks(paths)",
    "dataset": "iter(source)",
    "gzip": "iter(tfr.TFRecordDataset(sys.argv[1] + '.gz'))",
    "prefetch": "iter(source.map(len).prefetch(2))",
    "threads": "iter(source.map(slow, num_parallel_calls=4).batch(2).prefetch(1))",
    "shuffle": "iter(source.shuffle(100).cache().repeat())",
    "interleave": "iter(tfr.Dataset.from_tensor_slices(paths).interleave(tfr.TFRecordDataset, 2, 1, 2))",
    "generator": "iter(tfr.Dataset.from_generator(numbers, output_signature=signature).prefetch(2))",
    "tensorflow": "iter(tf.data.TFRecordDataset(paths).prefetch(2))",
    "random access": "iter(tfr.RecordFile(paths[0]))",
    "lines": "iter(tfr.TextLineDataset(sys.argv[1]))",
}
# Who has it when the interpreter ends. Objects that a module of Python has are there the longest.
KEPT = {
    "a global": "kept = x",
    "a class": "class Owner: kept = x",
    "a cycle": "x = Held(x); x.me = x; gc.disable(); del x",
    "a module": "m = types.ModuleType('m'); m.x, m.me = x, m; sys.modules['m'] = m",
    "builtins": "builtins.kept = x",
    "os": "os.kept = x",
    "sys": "sys.kept = x",
    "threading": "threading.kept = x",
    "the package": "tfr.kept = x",
    "atexit": "atexit.register(lambda y=x: None)",
    "a thread": "threading.Thread(target=lambda y=x: time.sleep(100), daemon=True).start()",
    "a generator": "def wait(y): yield y; yield\nwaiting = wait(x); next(waiting)",
    "an exit": "kept = x; sys.exit(0)",
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    found = str(tmp_path_factory.mktemp("exit") / "a.tfrecord")
    for name in (found, found + ".gz"):
        with tfr.TFRecordWriter(name) as writer:
            writer.write_many([b"x" * 1000 + b"\n"] * 3000)
    return found


def run(code: str, *arguments: str) -> None:
    """Run a program, which ends by itself and says nothing."""
    done = subprocess.run(
        [sys.executable, "-c", HEAD + code, *arguments], capture_output=True, text=True, timeout=300
    )
    assert (done.stderr, done.stdout, done.returncode) == ("", "", 0)


@pytest.mark.parametrize("holder", KEPT)
def test_readers_and_iterators_are_left_in_silence(path: str, holder: str) -> None:
    lines = [
        f"x = Held({', '.join(MADE.values())})",
        "for each in x.things: next(each); next(each)",
        KEPT[holder],
    ]
    run("\n".join(lines), path, "")


@pytest.mark.parametrize("made", MADE)
def test_each_alone_held_to_the_last(path: str, made: str) -> None:
    run(f"os.kept = x = {MADE[made]}\nnext(x); next(x)", path, "")


@pytest.mark.parametrize("suffix", ["", ".gz", ".xz"])
@pytest.mark.parametrize("holder", ["a global", "os", "a cycle", "the package", "atexit"])
def test_writers_that_nobody_closed_write_what_they_have(
    path: str, tmp_path: Path, holder: str, suffix: str
) -> None:
    out = str(tmp_path / "out.tfrecord") + suffix
    run(f"x = tfr.TFRecordWriter(out)\nx.write(b'abc')\nx.write(b'd' * 100)\n{KEPT[holder]}", path, out)
    assert list(tfr.read_records(out)) == [b"abc", b"d" * 100]


@pytest.mark.parametrize("holder", ["a global", "os", "a cycle"])
def test_what_appears_whole_does_not_appear(path: str, tmp_path: Path, holder: str) -> None:
    code = (
        f"x = [tfr.TFRecordWriter(out, atomic=True), tfr.ShardWriter(out + '-s', shards=2)]\n{KEPT[holder]}"
    )
    run(code + "\n", path, str(tmp_path / "out"))
    assert not [each for each in tmp_path.rglob("*") if each.is_file()]


def test_one_that_fails_at_the_end_does_not_keep_the_others_from_it(path: str, tmp_path: Path) -> None:
    lines = [
        "kept = [tfr.TFRecordWriter(f'{out}-{number}') for number in range(5)]",
        "for writer in kept: writer.write(b'abc')",
        "kept[2]._output.write_pieces = kept[2]._output.write = None",
    ]
    done = subprocess.run(
        [sys.executable, "-c", HEAD + "\n".join(lines), path, str(tmp_path / "out")],
        capture_output=True,
        timeout=300,
    )
    assert b"TypeError" in done.stderr
    written = [list(tfr.read_records(tmp_path / f"out-{number}")) for number in (0, 1, 3, 4)]
    assert written == [[b"abc"]] * 4


@pytest.mark.parametrize("suffix", ["", ".gz", ".zlib"])
@pytest.mark.parametrize(
    "form",
    ["writer = open_writer()\nfill(writer)\nfork()", "with open_writer() as writer: fill(writer); fork()"],
)
def test_a_forked_process_that_ends_does_not_write_what_its_parent_writes(suffix, form, tmp_path):
    code = """
import os, signal, sys, tfrkit as tfr
def open_writer():
    return tfr.TFRecordWriter(sys.argv[1])
def fill(writer):
    writer.write_many([b"x" * 40] * 40_000)  # some are written, others wait
    for number in range(1000):
        writer.write(b"%d" % number)
def fork():
    if (pid := os.fork()) == 0:
        signal.alarm(100)
        sys.exit()
    assert os.waitpid(pid, 0)[1] == 0
"""
    path = tmp_path / f"a.tfrecord{suffix}"
    code += f"def main():\n    {form.replace(chr(10), chr(10) + '    ')}\nmain()\n"
    command = [sys.executable, "-W", "ignore", "-c", code, path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    found = list(tfr.read_records(path))
    assert found == [b"x" * 40] * 40_000 + [b"%d" % number for number in range(1000)]


def test_writers_that_end_run_no_callback_in_which_an_interruption_is_lost(tmp_path):
    called: list[str] = []
    writer = tfr.TFRecordWriter(tmp_path / "a.tfrecord")
    writer.close()
    sys.setprofile(lambda frame, event, _: called.append(frame.f_code.co_name) if event == "call" else None)
    try:
        del writer
    finally:
        sys.setprofile(None)
    assert set(called) == {"__del__"}
