"""A process that runs runs of cases, and its master, which survives its death.

TensorFlow may die of a case. The worker keeps the number of the case it is at in shared memory, so that the master can
report it and go on behind it.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import resource
import signal
import time
from collections import Counter
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from fuzz.differential.cases import CASES_PER_SPEC, make_case, make_plan
from fuzz.differential.check import Checker
from fuzz.differential.shrink import reproducer, shape_of, shrink

RUN = 1_000  # cases that are handed out at once
MAX_SHRUNK = 3  # of one shape, in one process: the rest is counted only
MAX_RUNS = 25  # of one process: TensorFlow keeps some kilobytes of every spec it has met
MEMORY = 1 << 30  # bytes of address space beyond what TensorFlow has at the start


def run_cases(seed: int, first: int, last: int, checker: Checker, at: Any = None) -> list[dict[str, Any]]:
    """Run the cases from first up to last; give the disagreements.

    Args:
        seed: chooses all cases.
        first: number of the first case.
        last: number behind the last one.
        checker: counts how they end.
        at: where to put the number of the current case, if anywhere.
    """
    found: list[dict[str, Any]] = []
    plan = None
    for number in range(first, last):
        if at is not None:
            at.value = number
        if plan is None or number % CASES_PER_SPEC == 0:
            plan = make_plan(seed, number)
        case = make_case(seed, number, plan)
        checker.counts["cases"] += 1
        for complaint in checker.check(case):
            shape = shape_of(complaint)
            checker.shapes[shape] += 1
            small, says = case, complaint
            if checker.shapes[shape] <= MAX_SHRUNK:
                small = shrink(case, complaint, checker.quietly)
                says = next((one for one in checker.quietly(small) if shape_of(one) == shape), complaint)
            found.append({"shape": shape, "says": says, "code": reproducer(small, seed, number)})
    return found


def _serve(seed: int, pipe: Connection, at: Any) -> None:
    """Answer each (first, last) with the counts and findings of these cases, until None comes."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # warnings about duplicate keys come in thousands
    from tests.oracle.support.oracle import tensorflow

    tensorflow()
    resource.setrlimit(resource.RLIMIT_AS, (_address_space() + MEMORY,) * 2)
    while (task := pipe.recv()) is not None:
        checker = Checker()
        first, last = task
        found = run_cases(seed, first, last, checker, at)
        pipe.send((dict(checker.counts), found))


def _address_space() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmSize:"):
            return int(line.split()[1]) * 1024
    return 1 << 40


class Worker:
    """One process, which is started again whenever it dies."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._context = multiprocessing.get_context("spawn")
        self.task: tuple[int, int] | None = None
        self._runs = 0
        self.since = 0.0
        self._start()

    def _start(self) -> None:
        self.pipe, theirs = self._context.Pipe()
        self._at = self._context.Value("q", -1, lock=False)
        self._process = self._context.Process(target=_serve, args=(self._seed, theirs, self._at), daemon=True)
        self._process.start()
        theirs.close()

    def give(self, task: tuple[int, int]) -> None:
        """Hand over cases to run, to a new process where the old one has run many."""
        if self._runs == MAX_RUNS:
            self.stop()
            self._start()
            self._runs = 0
        self._runs += 1
        self.task = task
        self.since = time.monotonic()
        self.pipe.send(task)

    def answer(self) -> tuple[dict[str, int], list[dict[str, Any]], tuple[int, int] | None]:
        """Take the answer; if the process died, the report of that and the cases that are left."""
        assert self.task is not None
        first, last = self.task
        try:
            counts, found = self.pipe.recv()
        except (EOFError, ConnectionResetError):
            self._process.join()
            at = self._at.value
            code = self._process.exitcode or 0
            self._start()
            says = f"the process died ({signal.Signals(-code).name if code < 0 else code})"
            case = make_case(self._seed, at) if at >= 0 else None
            report = {"shape": says, "says": says, "code": reproducer(case, self._seed, at) if case else ""}
            rest = (at + 1, last) if at + 1 < last else None
            return {"cases": max(at + 1 - first, 1)}, [report], rest
        return counts, found, None

    def stop(self) -> None:
        """End the process."""
        if self._process.is_alive():
            self._process.terminate()
        self._process.join()


def is_complete(journal: Path, cases: int) -> bool:
    """Whether the journal has all cases, so that there is nothing to go on with."""
    lines = journal.read_text().splitlines() if journal.exists() else []
    return len(lines) == (cases + RUN - 1) // RUN


def run_all(
    seed: int, cases: int, processes: int, journal: Path
) -> Iterator[tuple[dict[str, int], list[dict[str, Any]]]]:
    """Run the cases that the journal does not have yet; give counts and findings as they come, the old ones first."""
    done = set()
    if journal.exists():
        for line in journal.read_text().splitlines():
            entry = json.loads(line)
            done.add(tuple(entry["run"]))
            yield entry["counts"], entry["found"]
    tasks = [(first, min(first + RUN, cases)) for first in range(0, cases, RUN)]
    tasks = [task for task in reversed(tasks) if task not in done]
    workers = [Worker(seed) for _ in range(min(processes, len(tasks)))]
    whole: dict[int, tuple[tuple[int, int], Counter[str], list[dict[str, Any]]]] = {}
    try:
        for number, worker in enumerate(workers):
            task = tasks.pop()
            whole[number] = (task, Counter(), [])
            worker.give(task)
        while whole:
            for pipe in wait([workers[number].pipe for number in whole]):
                number = next(index for index in whole if workers[index].pipe is pipe)
                counts, found, rest = workers[number].answer()
                task, total, all_found = whole[number]
                total.update(counts)
                all_found += found
                if rest:
                    workers[number].give(rest)
                    continue
                with journal.open("a") as file:
                    file.write(json.dumps({"run": task, "counts": total, "found": all_found}) + "\n")
                yield dict(total), all_found
                del whole[number]
                if tasks:
                    task = tasks.pop()
                    whole[number] = (task, Counter(), [])
                    workers[number].give(task)
    finally:
        for worker in workers:
            worker.stop()
