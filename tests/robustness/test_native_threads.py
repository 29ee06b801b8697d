"""Native code beside Python threads: what it holds, what it waits for, and which signals its workers get."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.parsing.support.made import example
from tfrkit import _core


def run_python(code: str) -> str:
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, (done.returncode, done.stderr[-2000:])
    return done.stdout.strip()


COLLATE_WHILE_CLEARED = """
import sys, threading
import numpy as np
from tfrkit import _core

sys.setswitchinterval(1e-6)
cleared = rounds = 0
while cleared < 5 and rounds < 40:
    rounds += 1
    elements = [np.full(1 << 21, i, np.int64) for i in range(4)]  # of 16 MB: freed, they are unmapped
    ready = threading.Event()
    thread = threading.Thread(target=lambda: (ready.wait(), elements.clear()))
    thread.start()
    ready.set()
    try:
        batch = _core.collate(elements, list, list)
        assert [int(row[0]) for row in batch] == [int(row[-1]) for row in batch] == [0, 1, 2, 3]
        cleared += not elements
    except (ValueError, IndexError):
        pass  # cleared before it was read
    thread.join()
"""


def test_collate_holds_the_arrays_that_it_copies_without_the_gil() -> None:
    run_python(COLLATE_WHILE_CLEARED)


def busy_calls(add: Callable[[], None], ask: Callable[[], Any]) -> list[tuple[float, int]]:
    """Ask while another thread adds: how long each answer took, and how often a third thread ran meanwhile."""
    done, ticks = threading.Event(), [0]

    def tick() -> None:
        while not done.is_set():
            ticks[0] += 1
            time.sleep(0.001)

    def add_for_long() -> None:
        for _ in range(3):
            add()
        done.set()

    threads = [threading.Thread(target=work) for work in (tick, add_for_long)]
    calls = []
    for thread in threads:
        thread.start()
    while not done.is_set():
        before, begun = ticks[0], time.monotonic()
        ask()
        calls.append((time.monotonic() - begun, ticks[0] - before))
        time.sleep(0.001)
    for thread in threads:
        thread.join()
    return calls


@pytest.mark.parametrize("outline_only", [False, True])
def test_whoever_asks_for_statistics_lets_other_threads_run_meanwhile(outline_only: bool) -> None:
    made = _core.Statistics(None, outline_only)
    record = example(a=list(range(2000)))
    pieces = [[record] * 2000]

    def add() -> None:
        made.add(pieces, 1)

    def ask() -> Any:
        return made.names(False)

    ran: list[int] = []  # meanwhile, in calls that had to wait
    while len(ran) < 20 and max(ran, default=0) < 2:
        if not ran:
            pieces = [2 * pieces[0]]
        ran += [ticks for seconds, ticks in busy_calls(add, ask) if seconds > 0.05]
    assert max(ran) >= 2


WORKER_SIGNALS = """
import os
from pathlib import Path
import numpy as np
from tfrkit import _core

def threads():
    return {path.name for path in Path("/proc/self/task").iterdir()}

before = threads()
splits = np.arange(200_001, dtype=np.int64)
_core.pad_rows(np.arange(200_000), splits, 3, b"12345678")
_core.Statistics(None).add([[b"x" * 1000] * 50_000], 4)
started = threads() - before
assert started, "no worker has started"
for thread in started:
    status = Path("/proc/self/task", thread, "status").read_text()
    print(next(line for line in status.splitlines() if line.startswith("SigBlk")).split()[1])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_workers_block_no_signals_that_are_faults_of_their_own() -> None:
    for mask in run_python(WORKER_SIGNALS).split():
        blocked = {number for number in range(1, 65) if int(mask, 16) >> (number - 1) & 1}
        faults = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP}
        assert not blocked & faults
        assert {signal.SIGINT, signal.SIGTERM, signal.SIGCHLD, signal.SIGUSR1} <= blocked
