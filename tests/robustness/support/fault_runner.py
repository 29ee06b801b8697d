"""Runs commands in forked processes whose disk fails at a chosen call; the other end of `faults.c`.

`python -m tests.robustness.support.fault_runner` reads requests from standard input, one JSON object a line, and
answers each with one. It is started with the library of faults preloaded, imports once, and forks for every request.
"""

from __future__ import annotations

import contextlib
import ctypes
import gc
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tfrkit as tfr
from tests.robustness.support.fault_scenarios import SCENARIOS

SOURCE = Path(__file__).with_name("faults.c")
SECONDS = 120  # a command that takes longer hangs
KILL, FULL_DISK, IO_ERROR, INTERRUPT, NONE = "kfei-"


@dataclass(frozen=True, slots=True)
class Ending:
    """How a command ended: "done", "failed", "interrupted", "killed" or "hung"; the calls it made; what it said."""

    how: str
    calls: int
    text: str


class Runner:
    """A process that runs commands of `fault_scenarios` under faults; one for a session of tests."""

    def __init__(self, folder: Path) -> None:
        library = folder / "faults.so"
        compiler = os.environ.get("CC", "cc")
        subprocess.run([compiler, "-shared", "-fPIC", "-O1", "-o", library, SOURCE, "-ldl"], check=True)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.robustness.support.fault_runner", str(library)],
            env=os.environ | {"LD_PRELOAD": str(library), "TFRKIT_CACHE": str(folder / "cache")},
            cwd=SOURCE.parents[3],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def run(self, scenario: str, step: str, folder: Path, fault: str = NONE, at: int = 0) -> Ending:
        """Run a step ("prepare" or "work") of a scenario in `folder`, with a fault at a call below `folder/out`."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        request = {"scenario": scenario, "step": step, "folder": str(folder), "fault": fault, "at": at}
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        return Ending(**json.loads(self._process.stdout.readline()))

    def close(self) -> None:
        self._process.communicate()


def run_step(library: Any, request: dict[str, Any], answer: int) -> None:
    """In the forked process: run the step, report how it ended."""
    folder = Path(request["folder"])
    step: Callable[[Path], object] = getattr(SCENARIOS[request["scenario"]], request["step"])
    said = os.open(folder / "said", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 2)
    os.dup2(said, 1)
    signal.alarm(SECONDS)
    library.faults_arm(str(folder / "out").encode(), request["fault"].encode(), request["at"])
    try:
        code = step(folder)
        how = {0: "done", 130: "interrupted"}.get(code or 0, "failed")
    except KeyboardInterrupt:
        how = "interrupted"
    except (OSError, tfr.errors.OpError) as error:
        how = "failed"
        os.write(2, f"error: {type(error).__name__}: {error}\n".encode())
    except BaseException:
        how = "failed"
        os.write(2, traceback.format_exc().encode())
    calls = library.faults_count()
    library.faults_arm(b"/", b"\0", 0)
    os.write(answer, json.dumps({"how": how, "calls": calls}).encode())


def warm_up(scenario: str) -> None:
    """Run a scenario once here, so that forked processes need not import what it uses: 20 x as fast."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        SCENARIOS[scenario].prepare(Path(folder))
        SCENARIOS[scenario].work(Path(folder))
    gc.collect()
    gc.freeze()  # a collection in a forked process would touch, and so copy, all that was imported


def main() -> None:
    """Answer requests until the input ends."""
    library = ctypes.CDLL(sys.argv[1])
    library.faults_arm.argtypes = [ctypes.c_char_p, ctypes.c_char, ctypes.c_long]
    library.faults_count.restype = ctypes.c_long
    signal.signal(signal.SIGINT, signal.default_int_handler)
    known = set()
    for line in sys.stdin:
        request = json.loads(line)
        if request["scenario"] not in known:
            known.add(request["scenario"])
            warm_up(request["scenario"])
        receive, send = os.pipe()
        pid = os.fork()
        if pid == 0:
            try:
                run_step(library, request, send)
            finally:
                os._exit(0)
        os.close(send)
        with os.fdopen(receive, "rb") as file:
            answered = file.read()
        status = os.waitpid(pid, 0)[1]
        number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
        ended = {"how": {signal.SIGKILL: "killed", signal.SIGALRM: "hung"}.get(number, "failed"), "calls": 0}
        ended |= json.loads(answered or b"{}")
        ended["text"] = Path(request["folder"], "said").read_text(errors="replace")
        print(json.dumps(ended), flush=True)


if __name__ == "__main__":
    main()
