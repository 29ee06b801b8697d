"""The memory of buffers serves again, whatever their sizes: in processes of their own, which have used none before."""

from __future__ import annotations

import sys

import pytest

from tests.support.apart import run_apart

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="elsewhere malloc decides what is mapped")

ADDRESSES = """
import numpy as np
from tfrkit import _core

MB = 1 << 20

def addresses(*sizes):
    buffers = [_core.Buffer(size) for size in sizes]
    arrays = [np.frombuffer(buffer, np.uint8) for buffer in buffers]
    for array in arrays:
        array[::4096] = 1  # all of it is writable
    return {array.ctypes.data for array in arrays}

"""


def check_apart(tmp_path, code: str) -> None:
    assert run_apart(f"{ADDRESSES}{code}\nprint('true')\n", tmp_path) is True


def test_buffers_on_both_sides_of_a_size_class_share_memory(tmp_path):
    check_apart(
        tmp_path, "first = addresses(*[10 * MB + 1] * 4)\nassert addresses(*[10 * MB - 1] * 4) == first"
    )


def test_a_buffer_that_took_a_larger_block_gives_all_of_it_back(tmp_path):
    check_apart(
        tmp_path,
        """
first = addresses(*[12 * MB] * 4)
for size in (9 * MB, 12 * MB, 10 * MB, 11 * MB, 8 * MB + 1, 12 * MB):
    assert addresses(*[size] * 4) == first
""",
    )


def test_a_much_smaller_buffer_takes_no_large_block(tmp_path):
    check_apart(tmp_path, "first = addresses(*[12 * MB] * 4)\nassert not addresses(*[4 * MB] * 4) & first")


def test_memory_that_is_no_longer_asked_for_keeps_out_none_that_is(tmp_path):
    check_apart(
        tmp_path,
        """
for size in range(1, 9):  # 144 MB of sizes that are used once
    addresses(*[size * MB] * 4)

def work():
    return addresses(*[14 * MB] * 4, *[3 * MB] * 8, *[9 * MB // 2] * 4)

work()
first = work()
assert all(work() == first for _ in range(5))
""",
    )
