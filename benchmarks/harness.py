"""Timing: contenders run in turns, the best run of each, and ratios held against a requirement.

Knows nothing of TFRecord files; each script says what its contenders do. A ratio below its requirement prints
FAIL and changes no exit code: time depends on the machine, so it is reported and never asserted.

The idea: contenders of one group alternate inside one process (`measure`), so that a slow moment of the
machine hits all of them, and the group runs in a process of its own (`in_child`), pinned to as many cores as
the claim names before anything that counts cores is imported.
"""

from __future__ import annotations

import gc
import json
import os
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

Unit = Literal["records", "bytes"]

_kept_alive: list[object] = []


def keep_alive(thing: object) -> None:
    """Hold `thing` until the process ends: dropping a tf.data iterator can block for seconds."""
    _kept_alive.append(thing)


def count(items: Iterable[object]) -> int:
    """Count `items` one by one: the same loop for every contender that gives single records."""
    number = 0
    for number, _ in enumerate(items, 1):  # noqa: B007 - the last one is the count
        pass
    return number


@dataclass(frozen=True, slots=True)
class Settings:
    """What the command line asked for.

    scale: factor on the size of all data. repeat: turns that every contender gets.
    """

    scale: float = 1.0
    repeat: int = 5


@dataclass(frozen=True, slots=True)
class Contender:
    """One way to do the work of a group.

    Args:
        name: How tables and ratios call it.
        fn: Does the work once and returns how many `unit` it went through, which is checked after the clock.
        unit: What `fn` counts.
        records: Records that one run goes through; 0 if it knows no records.
        bytes: Bytes that one run goes through, counted alike for all contenders of a group.
        output: File or folder that `fn` makes; removed before every run, its size noted after, both outside the clock.
        at_most: Number of turns, for one that is slow and steady.
    """

    name: str
    fn: Callable[[], int]
    unit: Unit
    records: int
    bytes: int
    output: Path | None = None
    at_most: int | None = None


@dataclass(frozen=True, slots=True)
class Result:
    """All runs of one contender, in seconds."""

    name: str
    seconds: list[float]
    records: int
    bytes: int
    output_bytes: int | None = None

    @property
    def best(self) -> float:
        """The fastest run: the others met more of the machine's other work."""
        return min(self.seconds)

    @property
    def rate(self) -> float:
        """Bytes per second in the best run."""
        return self.bytes / self.best


def _run_once(contender: Contender) -> float:
    if contender.output is not None:
        _remove(contender.output)
    gc.collect()
    start = time.perf_counter()
    done = contender.fn()
    seconds = time.perf_counter() - start
    expected = contender.records if contender.unit == "records" else contender.bytes
    if done != expected:
        raise RuntimeError(f"{contender.name}: expected {expected} {contender.unit} but got {done}")
    return seconds


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _size(path: Path) -> int:
    files = [path] if path.is_file() else [each for each in path.rglob("*") if each.is_file()]
    return sum(each.stat().st_size for each in files)


def measure(contenders: Sequence[Contender], repeat: int) -> list[Result]:
    """Run the contenders in turns, each round starting one further on, and return all their times."""
    seconds: dict[str, list[float]] = {contender.name: [] for contender in contenders}
    sizes: dict[str, int] = {}
    for turn in range(repeat):
        first = turn % len(contenders)
        for contender in [*contenders[first:], *contenders[:first]]:
            if turn >= (contender.at_most or repeat):
                continue
            seconds[contender.name].append(_run_once(contender))
            if contender.output is not None:
                sizes[contender.name] = _size(contender.output)
                _remove(contender.output)
    return [Result(c.name, seconds[c.name], c.records, c.bytes, sizes.get(c.name)) for c in contenders]


def in_child(module: str, function: str, settings: Settings, *, cores: int | None, **arguments: Any) -> Any:
    """Call `benchmarks.<module>.<function>(settings, **arguments)` in a new process on `cores` cores.

    The function returns contenders, which the child measures (then this gives their results), or anything
    JSON can say.
    """
    request = {"module": module, "function": function, "cores": cores, "arguments": arguments}
    request["settings"] = asdict(settings)
    print(f"# {module}.{function} {arguments} on {cores or 'all'} core(s)", file=sys.stderr, flush=True)
    command = [sys.executable, "-m", "benchmarks.child", json.dumps(request)]
    # Whole commands start as installed ones do, from compiled modules: some environments forbid to write them.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True, env=environment)
    if done.returncode:
        raise RuntimeError(f"{module}.{function} failed with exit code {done.returncode}; its error is above")
    answer = json.loads(done.stdout.splitlines()[-1])
    return [Result(**row) for row in answer["results"]] if "results" in answer else answer["value"]


def pin(cores: int | None) -> None:
    """Keep this process on `cores` CPUs, of different physical cores where there are enough."""
    if cores is None or not hasattr(os, "sched_setaffinity"):
        return
    usable = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, sorted(usable, key=lambda cpu: (not _is_first_thread(cpu), cpu))[:cores])


def _is_first_thread(cpu: int) -> bool:
    """Whether `cpu` is the first hardware thread of its core; True where the system does not say."""
    try:
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list").read_text()
    except OSError:
        return True
    return int(siblings.replace("-", ",").split(",")[0]) == cpu


@dataclass(frozen=True, slots=True)
class Claim:
    """A measured value beside what is required of it; `required` None is for information only."""

    text: str
    measured: float
    required: float | None
    unit: str = "x"
    sense: Literal["at least", "at most"] = "at least"

    @property
    def verdict(self) -> str:
        """PASS, FAIL, or a dash where nothing is required."""
        if self.required is None:
            return "-"
        holds = self.measured >= self.required if self.sense == "at least" else self.measured <= self.required
        return "PASS" if holds else "FAIL"

    def __str__(self) -> str:
        if self.required is None:
            return f"{self.text}: measured {self.measured:.3g} {self.unit}"
        required = f"required {self.sense} {self.required:g} {self.unit}"
        return f"{self.text}: {required}, measured {self.measured:.3g} {self.unit}  {self.verdict}"


@dataclass(slots=True)
class Report:
    """What one script found: tables of runs and claims, printed as they come and kept for the JSON file."""

    name: str
    tables: list[dict[str, Any]] = field(default_factory=list)
    claims: list[Claim] = field(default_factory=list)

    def add_results(self, title: str, results: Sequence[Result]) -> None:
        """Print and keep the runs of one group."""
        sized = any(result.output_bytes is not None for result in results)
        heads = ["contender", "best s", "median s", "GB/s", "M records/s", *(["file MB"] if sized else [])]
        rows = []
        for result in results:
            records = f"{result.records / result.best / 1e6:.3f}" if result.records else ""
            row = [result.name, f"{result.best:.4f}", f"{statistics.median(result.seconds):.4f}"]
            row += [f"{result.rate / 1e9:.3f}", records]
            if sized:
                row.append("" if result.output_bytes is None else f"{result.output_bytes / 1e6:.1f}")
            rows.append(row)
        print_table(title, heads, rows)
        self.tables.append({"title": title, "results": [asdict(result) for result in results]})

    def add_table(self, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """Print and keep a table that is not a list of runs."""
        print_table(title, heads, rows)
        self.tables.append({"title": title, "heads": list(heads), "rows": [list(row) for row in rows]})

    def add_claim(self, claim: Claim) -> None:
        """Print and keep a claim."""
        print(claim, flush=True)
        self.claims.append(claim)

    def ratio(self, where: str, ours: Result, rivals: Sequence[Result], required: float | None) -> None:
        """Claim that `ours` has at least `required` times the byte rate of the fastest of `rivals`."""
        rival = max(rivals, key=lambda result: result.rate)
        text = f"{where}: {ours.name} / {rival.name}"
        self.add_claim(Claim(text, ours.rate / rival.rate, required))


def print_table(title: str, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print an aligned Markdown table; all columns but the first are numbers."""
    widths = [max(len(row[column]) for row in [heads, *rows]) for column in range(len(heads))]
    rule = ["-" * width + (":" if column else "-") for column, width in enumerate(widths)]
    print(f"\n### {title}\n")
    for row in [heads, None, *rows]:
        if row is None:
            print(f"|-{'|-'.join(rule)}|")
            continue
        cells = [cell.rjust(width) if column else cell.ljust(width)
                 for column, (cell, width) in enumerate(zip(row, widths, strict=True))]  # fmt: skip
        print(f"| {' | '.join(cells)} |")
    print(flush=True)


def by_name(results: Sequence[Result]) -> dict[str, Result]:
    """Results by the name of their contender."""
    return {result.name: result for result in results}
