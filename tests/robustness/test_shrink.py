"""A file shrinks, grows or changes while a RecordFile maps it: an error, never a dead process."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

import tfrkit as tfr
from tests.records.support.made import contain, flip, frames, put
from tfrkit import _core
from tfrkit.errors import DataLossError, FailedPreconditionError

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forks with threads
RECORDS = [b"%d:" % number * (number % 100 + 1) for number in range(1000)]
STREAM = frames(RECORDS)
STARTS = np.cumsum([0] + [len(record) + 16 for record in RECORDS])
LARGE = [bytes([number]) * 300_000 for number in range(1, 6)]
MIDDLE = int(STARTS[500])
PAGE = 4096
SIZES = [
    0,
    1,
    PAGE - 1,
    PAGE,
    PAGE + 1,
    5 * PAGE,
    MIDDLE,
    MIDDLE + 5,
    MIDDLE + 12,
    MIDDLE + 100,
    len(STREAM) - 1,
]


def intact(size: int) -> int:
    """How many records lie in the first `size` bytes."""
    return int(np.searchsorted(STARTS, size, side="right")) - 1


@pytest.mark.parametrize("crc", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_what_is_left_is_read_and_the_rest_is_data_loss(size, crc, tmp_path):
    path = put(tmp_path / "a", STREAM)
    file = tfr.RecordFile(path, crc=crc)
    assert file._frames.frame_map is not None
    assert file[999] == RECORDS[999]
    os.truncate(path, size)
    left = intact(size)
    for number in range(left):
        assert file[number] == RECORDS[number]
    for number in range(left, 1000):
        with pytest.raises(DataLossError, match=rf"in record {number} \(frame at byte {STARTS[number]}\)"):
            file[number]


@pytest.mark.parametrize("crc", [True, False])
@pytest.mark.parametrize("size", SIZES)
def test_take_names_the_first_record_that_is_gone(size, crc, tmp_path):
    path = put(tmp_path / "a", STREAM)
    file = tfr.RecordFile(path, crc=crc)
    os.truncate(path, size)
    left = intact(size)
    assert file[:left].to_list() == RECORDS[:left]
    with pytest.raises(DataLossError) as caught:
        file[:]
    assert (caught.value.record, caught.value.offset) == (left, STARTS[left])


@pytest.mark.parametrize("size", [0, PAGE, 300_016 + 100_000, 4 * 300_016 + 12])
def test_large_records(size, tmp_path):
    path = put(tmp_path / "a", frames(LARGE))
    file = tfr.RecordFile(path)
    os.truncate(path, size)
    left = size // 300_016
    assert [file[number] for number in range(left)] == LARGE[:left]
    for use in (lambda: file[left], lambda: file.take([4, 3]), lambda: file[-1]):
        with pytest.raises(DataLossError):
            use()


@pytest.mark.parametrize("crc", [True, False])
def test_records_whose_checksum_ends_in_a_zero_are_no_exception(crc, tmp_path):
    some = [b"%d" % number for number in range(5000)]
    zeros = [record for record in some if frames([record])[-1] == 0]
    assert len(zeros) > 5
    file = tfr.RecordFile(put(tmp_path / "a", frames(zeros)), crc=crc)
    assert [file[number] for number in range(len(zeros))] == file[:].to_list() == zeros


def test_many_threads_read_while_the_file_shrinks_and_comes_back(tmp_path):
    path = put(tmp_path / "a", STREAM)
    file = tfr.RecordFile(path)
    wrong: list[object] = []
    counts = {"read": 0, "lost": 0}
    stop = threading.Event()

    def work(seed: int) -> None:
        order = np.random.default_rng(seed).permutation(1000)
        try:
            while not stop.is_set():
                for number in order[:300].tolist():
                    try:
                        if file[number] != RECORDS[number]:
                            wrong.append(number)
                        counts["read"] += 1
                    except DataLossError:
                        counts["lost"] += 1
                try:
                    if file.take(order).to_list() != [RECORDS[number] for number in order]:
                        wrong.append("take")
                except DataLossError:
                    counts["lost"] += 1
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    end = time.monotonic() + 20
    rounds = 0
    while time.monotonic() < end and not wrong and (rounds < 40 or not all(counts.values())):
        os.truncate(path, SIZES[rounds % len(SIZES)])
        time.sleep(0.01)
        path.write_bytes(STREAM)
        time.sleep(0.01)
        rounds += 1
    stop.set()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive(), "a thread hangs"
    assert wrong == []
    assert all(counts.values())
    assert list(file) == RECORDS


def test_closing_while_others_read_unmaps_nothing_in_use(tmp_path):
    path = put(tmp_path / "a", frames(LARGE))
    wrong: list[object] = []

    def work(file: tfr.RecordFile) -> None:
        try:
            while True:
                if file[2] != LARGE[2] or file.take([1, 3]).to_list() != [LARGE[1], LARGE[3]]:
                    wrong.append("content")
        except FailedPreconditionError:
            pass
        except BaseException as error:
            wrong.append(error)

    for _ in range(10):
        file = tfr.RecordFile(path)
        threads = [threading.Thread(target=work, args=(file,)) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.005)
        file.close()
        for thread in threads:
            thread.join(60)
            assert not thread.is_alive(), "a thread hangs"
    assert wrong == []


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_closing_unmaps(tmp_path):
    path = put(tmp_path / "mapped-file", STREAM)
    file = tfr.RecordFile(path)
    assert str(path) in Path("/proc/self/maps").read_text()
    file.close()
    assert str(path) not in Path("/proc/self/maps").read_text()
    gc.disable()
    try:
        file = tfr.RecordFile(path)
        del file
        assert str(path) not in Path("/proc/self/maps").read_text(), "a circle of references"
    finally:
        gc.enable()


def test_a_file_rewritten_in_place_is_noticed(tmp_path):
    path = put(tmp_path / "a", STREAM)
    file = tfr.RecordFile(path)
    assert file[700] == RECORDS[700]
    with open(path, "r+b") as target:
        target.write(flip(STREAM, int(STARTS[700]) + 12))
    assert file[699] == RECORDS[699]
    for use in (lambda: file[700], lambda: file[690:710]):
        with pytest.raises(DataLossError, match="in record 700 "):
            use()


def test_a_file_may_grow(tmp_path):
    path = put(tmp_path / "a", STREAM)
    file = tfr.RecordFile(path)
    with open(path, "ab") as target:
        target.write(STREAM)
    assert (len(file), list(file), file[999]) == (1000, RECORDS, RECORDS[999])
    assert len(tfr.RecordFile(path)) == 2000


def test_an_empty_file_has_nothing_to_map(tmp_path):
    file = tfr.RecordFile(put(tmp_path / "a", b""))
    assert file._frames.frame_map is None
    assert (len(file), list(file), file.take([]).to_list()) == (0, [], [])
    with pytest.raises(IndexError):
        file[0]


def test_the_inflated_copy_is_mapped(tmp_path):
    path = put(tmp_path / "a", contain(STREAM, "GZIP"))
    file = tfr.RecordFile(path)
    assert file._frames.frame_map is not None
    os.truncate(path, 0)
    assert (file[3], list(file)) == (RECORDS[3], RECORDS)


def test_a_forked_child_reads_and_survives_too(tmp_path):
    path = put(tmp_path / "a", STREAM)
    file = tfr.RecordFile(path)
    assert file[1] == RECORDS[1]
    child = os.fork()
    if child == 0:
        try:
            good = file[999] == RECORDS[999] and file.take([5, 2]).to_list() == [RECORDS[5], RECORDS[2]]
            os.truncate(path, PAGE)
            try:
                file[999]
            except DataLossError:
                os._exit(0 if good else 1)
        finally:
            os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    with pytest.raises(DataLossError):
        file[999]


# -- signals that are not ours --------------------------------------------------------------------------------------

PRELUDE = """
import faulthandler, mmap, os, signal, sys
faulthandler.disable()
import tfrkit as tfr
path, other = sys.argv[1:]

def use():
    file = tfr.RecordFile(path)
    assert file[999] and len(file[:]) == 1000
    return file

def lose(file):
    try:
        file[999]
    except tfr.errors.DataLossError:
        print("lost", flush=True)

def fault():
    with open(other, "r+b") as target:
        target.write(bytes(100_000))
        target.flush()
        view = mmap.mmap(target.fileno(), 0)
        target.truncate(0)
        return view[50_000]
"""


def run(tmp_path: Path, code: str) -> tuple[int, str, str]:
    path = put(tmp_path / "a", STREAM)
    other = put(tmp_path / "other", b"")
    arguments = [sys.executable, "-c", PRELUDE + code, str(path), str(other)]
    done = subprocess.run(arguments, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("foreign", ["fault()", "os.kill(os.getpid(), signal.SIGBUS)"])
@pytest.mark.parametrize("before", ["use()", "os.truncate(path, lose(use()) or 0)"])
def test_another_bus_error_still_kills(before, foreign, tmp_path):
    assert run(tmp_path, f"{before}\n{foreign}\n")[0] == -signal.SIGBUS


@pytest.mark.parametrize("late", [False, True])
def test_a_handler_of_the_program_gets_what_is_not_ours(late, tmp_path):
    install = "signal.signal(signal.SIGBUS, lambda number, frame: print('handled', number, flush=True))\n"
    kill = "os.kill(os.getpid(), signal.SIGBUS)\n"
    opened = "file = use()\n"
    first = opened + install + "again = use()\n" if late else install + opened
    code, out, _ = run(tmp_path, first + kill + kill + "os.truncate(path, 0)\nlose(file)\n" + kill)
    assert (code, out.split("\n")) == (
        0,
        [f"handled {signal.SIGBUS:d}"] * 2 + ["lost"] + [f"handled {signal.SIGBUS:d}"] + [""],
    )


@pytest.mark.parametrize(
    "order",
    ["faulthandler.enable()\nuse()", "use()\nfaulthandler.enable()", "use()\nfaulthandler.enable()\nuse()"],
)
def test_faulthandler_reports_what_is_not_ours(order, tmp_path):
    code, _, err = run(tmp_path, order + "\nfault()\n")
    assert code == -signal.SIGBUS
    assert err.count("Fatal Python error: Bus error") == 1


def test_faulthandler_is_silent_about_ours(tmp_path):
    code, out, err = run(tmp_path, "faulthandler.enable()\nfile = use()\nos.truncate(path, 0)\nlose(file)\n")
    assert (code, out, err) == (0, "lost\n", "")


def test_a_handler_that_takes_our_place_loses_it_in_a_child_and_after_some_records(tmp_path):
    code, out, _ = run(
        tmp_path,
        """
file = use()
signal.signal(signal.SIGBUS, signal.SIG_DFL)
child = os.fork()
if child == 0:
    signal.signal(signal.SIGBUS, signal.SIG_DFL)
    file[0]
    os.truncate(path, 0)
    lose(file)
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
""",
    )
    assert (code, out) == (0, "lost\n")
    code, out, _ = run(
        tmp_path,
        """
file = use()
signal.signal(signal.SIGBUS, signal.SIG_DFL)
for number in range(256):
    file[number]
os.truncate(path, 0)
lose(file)
""",
    )
    assert (code, out) == (0, "lost\n")


# -- the native part ------------------------------------------------------------------------------------------------


@pytest.fixture
def frame_map(tmp_path):
    fd = os.open(put(tmp_path / "a", STREAM), os.O_RDONLY)
    yield lambda positions: _core.FrameMap(fd, np.asarray(positions, np.int64), True)
    os.close(fd)


@pytest.mark.parametrize("index", [1000, -1, 2**70, -(2**70), slice(3), "a", None, 1.0])
def test_get_of_what_is_no_number_of_a_frame_is_a_code(index, frame_map):
    assert isinstance(frame_map(STARTS).get(index), int)


@pytest.mark.parametrize(
    "positions",
    [
        [5, 3],
        [-20, 5],
        [0, 15],
        [0, 10**15],
        [-(2**63), 2**63 - 1],
        [2**63 - 1, -(2**63), 20],
        [10**9, 40],
        [0, 40],
    ],
)
def test_positions_of_no_frame_are_codes(positions, frame_map):
    positions.append(len(STREAM))
    found = frame_map(positions)
    assert found.get(0) in (_core.NEED_MORE, _core.BAD_LENGTH)
    place, code = found.take(np.array([0]), _core.Buffer(1000), np.array([0]))
    assert (place, code) == (0, found.get(0))


def test_take_refuses_what_lies_outside(frame_map):
    found = frame_map(STARTS)
    buffer = _core.Buffer(int(STARTS[2]))
    assert found.take(np.array([0, 1]), buffer, STARTS[:2]) == (-1, 0)
    assert bytes(memoryview(buffer)) == STREAM[: STARTS[2]]
    for numbers, outs in (
        ([0, 1], [0, STARTS[2]]),
        ([0, 5], STARTS[:2]),
        ([0, 1000], [0, 0]),
        ([0, -1], [0, 0]),
        (
            [0, 1],
            [0, -1],
        ),
    ):
        with pytest.raises(IndexError, match="entry 1"):
            found.take(np.array(numbers), buffer, np.array(outs))
    with pytest.raises(ValueError, match="numbers"):
        found.take(np.array([0, 1]), buffer, np.array([0]))


def test_lay_out_is_the_plan_of_a_take(frame_map):
    found = frame_map(STARTS)
    outs, offsets, lengths, size = found.lay_out(np.array([7, 2, 7]))
    sizes = [len(RECORDS[number]) for number in (7, 2, 7)]
    assert (lengths.tolist(), size) == (sizes, sum(sizes) + 48)
    assert outs.tolist() == [0, sizes[0] + 16, sizes[0] + sizes[1] + 32]
    assert (offsets == outs + 12).all()
    for numbers in ([0, 1000], [-1], [2**62]):
        assert found.lay_out(np.array(numbers)) is None
    assert frame_map([0, 10**15]).lay_out(np.array([0])) is None


def test_a_map_needs_positions_and_bytes(frame_map, tmp_path):
    with pytest.raises(ValueError, match="expected the start of a frame"):
        frame_map([])
    with pytest.raises(OSError, match="Invalid argument"):
        frame_map([0])
    with pytest.raises(OSError, match="Bad file descriptor"):
        _core.FrameMap(-1, STARTS, True)
