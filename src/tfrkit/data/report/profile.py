"""profile: where the time of a pipeline goes, stage by stage, and what would help.

Every iterator is put into one that measures its pulls. The time of a stage is that of its pulls less that of the pulls
it makes of its inputs in the same thread; calls of a function in other threads are measured one by one. Without a
consumer nothing is done but pulling, so that the rate is the highest that the pipeline can give; with one, such as the
step of a training loop, it shows how long that waits.

Whether Python's lock (the GIL) is the limit shows a thread that sleeps for a moment again and again: it wakes up late
if it must wait for the lock.
"""

from __future__ import annotations

import contextlib
import resource
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, TypeAlias

from tfrkit.data.elements.owned import own_elements
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.iterator import new_context
from tfrkit.data.engine.node import Node, NodeIterator, Run
from tfrkit.data.engine.rewrites import optimise
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds
from tfrkit.threads import exiting, spawn

__all__ = ["Profile", "StageTime", "profile"]

# Makes what a consumer gets of elements, before it asks; leaving the context ends that.
WorksAhead: TypeAlias = Callable[[Iterator[Any]], contextlib.AbstractContextManager[Iterator[Any]]]
_MUCH: Final = 0.4  # of the time: worth a hint
_NAP_SECONDS: Final = 0.001  # of the thread that looks for the lock
_LATE_SECONDS: Final = 0.0005  # later than that it has waited for the lock
_MORE_THREADS: Final = "num_parallel_calls"  # in the advice of a stage: no help where the lock is the limit
_LITTLE: Final = 0.05  # of the time: a consumer that waits no longer has nothing to gain


@dataclass(eq=False)
class StageTime:
    """What was measured of one stage.

    Attributes:
        node: the stage.
        depth: how far it is from the end of the pipeline.
        wall: seconds in its own pulls, less those in which other programs had the cores.
        busy: seconds of them that its thread kept a core busy; the rest is waiting.
        called: seconds in calls of its function by other threads.
        elements: how many it returned.
        pulls: the number of runs in which it returned them.
        pauses: how often its thread gave up its core voluntarily; being preempted is no pause.
    """

    node: Node
    depth: int
    wall: float = 0.0
    busy: float = 0.0
    called: float = 0.0
    elements: int = 0
    pulls: int = 0
    pauses: int = 0
    _lock: Any = field(default_factory=threading.Lock, repr=False)

    @property
    def seconds(self) -> float:
        """What the stage itself takes."""
        return self.called + (self.busy if self.node.threaded else self.wall)

    @property
    def waiting(self) -> float:
        """Seconds in which its thread had nothing to do."""
        return max(0.0, self.wall - self.busy)

    @property
    def waits(self) -> bool:
        """Whether most of its time is spent waiting for something, about once an element."""
        return self.waiting > 0.5 * self.wall and 2 * self.pauses > self.elements

    def add(self, wall: float, busy: float, pauses: int, elements: int) -> None:
        """Count one pull."""
        with self._lock:
            self.pauses += pauses
            self.wall += wall
            self.busy += busy
            self.elements += elements
            self.pulls += 1

    def add_call(self, seconds: float) -> None:
        """Count one call of the function."""
        with self._lock:
            self.called += seconds


@dataclass(frozen=True, eq=False)
class Profile:
    """What was measured; printing it shows a table and what would help.

    Attributes:
        seconds: how long the pipeline ran.
        elements: how many it returned.
        errors: how many errors came in the place of elements.
        skipped: how many damages in files were skipped.
        waited: seconds in which the consumer waited for elements; None if there was none.
        locked: the share of the time in which Python's lock was taken, about, by the consumer too.
        stages: the measurements, the last stage first.
        hints: what would help.
    """

    seconds: float
    elements: int
    errors: int
    skipped: int
    waited: float | None
    locked: float
    stages: tuple[StageTime, ...]
    hints: tuple[str, ...]

    def __str__(self) -> str:
        total = sum(stage.seconds for stage in self.stages) or 1.0
        rate = self.elements / self.seconds if self.seconds else 0.0
        lines = [
            f"{self.elements:,} elements in {self.seconds:.2f} s: {rate:,.0f} a second",
            *self._waiting(),
            "",
            f"{'stage':<46} {'time':>9} {'share':>6} {'waiting':>9} {'elements':>12} {'each':>10}",
        ]
        for stage in self.stages:
            name = "  " * stage.depth + stage.node.label
            name = name if len(name) <= 46 else name[:43] + "..."
            each = f"{1e6 * stage.seconds / stage.elements:.2f} us" if stage.elements else ""
            lines.append(
                f"{name:<46} {stage.seconds:>7.3f} s {stage.seconds / total:>5.0%} {stage.waiting:>7.3f} s "
                f"{stage.elements:>12,} {each:>10}"
            )
        if self.hints:
            lines += ["", *(f"- {hint}" for hint in self.hints)]
        return "\n".join(lines)

    __repr__ = __str__

    def _waiting(self) -> Iterator[str]:
        """Say how long the consumer waited, and for which stage."""
        if self.waited is None or not self.seconds:
            return
        share = self.waited / self.seconds
        slowest = max(self.stages, key=lambda stage: stage.seconds)
        limit = "" if share < _LITTLE else f"; {slowest.node.label} is the limit"
        yield f"the consumer waited {share:.0%} of the time{limit}"


def _queued_seconds() -> float:
    """How long this thread has waited for a core so far, as far as the system says: that is not the lock's fault."""
    try:
        return int(Path("/proc/thread-self/schedstat").read_bytes().split()[1]) / 1e9
    except (OSError, IndexError, ValueError):
        return 0.0


class _LockWatch:
    """Measures how much of the time Python's lock is taken, in a thread of its own."""

    def __init__(self) -> None:
        self._stop = False
        self._late = self._slept = 0.0
        self._thread = spawn(self._run)

    def _run(self) -> None:
        while not self._stop and not exiting():
            start, queued = time.perf_counter(), _queued_seconds()
            time.sleep(_NAP_SECONDS)
            took = time.perf_counter() - start - (_queued_seconds() - queued)
            self._late += took - _NAP_SECONDS if took > _NAP_SECONDS + _LATE_SECONDS else 0.0
            self._slept += took

    def share(self) -> float:
        """End, and return the share."""
        self._stop = True
        self._thread.result()
        return self._late / self._slept if self._slept else 0.0


def profile(
    node: Node,
    seconds: float,
    consumer: Callable[[Any], Any] | None = None,
    ahead: WorksAhead | None = None,
) -> Profile:
    """Run a pipeline from its beginning for some seconds, or to its end, and measure every stage.

    It leaves no trace: shuffles stand where they stood, and a cache that was empty stays so.

    Args:
        node: the pipeline.
        seconds: how long, at most.
        consumer: called with every element, such as a step of training.
        ahead: takes elements, and changes them, while the consumer works; it has one.
    """
    measure = _Measure(optimise(node))
    context = new_context(node)
    context.wrap = measure.wrap
    seeds = find_seeds(node)
    before = save_seeds(seeds)
    watch = _LockWatch()
    start = time.perf_counter()
    elements, worked = 0, 0.0  # by the consumer
    try:
        root = Cursor(measure.plan, context)
        pulls = _Pulls(root, start + seconds)
        try:
            elements, worked = _consumed(pulls, consumer, ahead)
        finally:
            context.closed = True
            root.close()
    finally:
        locked = watch.share()
        restore_seeds(seeds, before)
    took = time.perf_counter() - start
    stages = tuple(measure.stages)
    waited = None if consumer is None else max(0.0, took - worked)
    limit = locked if _is_limit(locked, stages, took, waited) else None
    hints = tuple(_hints_for(stages, pulls.errors, context.skipped, limit, is_ahead=ahead is not None))
    return Profile(took, elements, pulls.errors, context.skipped, waited, locked, stages, hints)


class _Pulls:
    """The elements of a pipeline, run by run as an iterator pulls them, until it is time to end."""

    def __init__(self, root: Cursor, deadline: float) -> None:
        self._root = root
        self._deadline = deadline
        self.errors = 0

    def __iter__(self) -> Iterator[list[Any]]:
        root = self._root
        while time.perf_counter() < self._deadline and (run := root.take(root.demand)) is not None:
            self.errors += run.error is not None
            yield run.chunk.objects()

    def one_by_one(self) -> Iterator[Any]:
        """The same for somebody who keeps them; none after the end, whatever is left of a run."""
        for found in self:
            for element in own_elements(found):
                if time.perf_counter() >= self._deadline:
                    return
                yield element


def _consumed(
    pulls: _Pulls, consumer: Callable[[Any], Any] | None, ahead: WorksAhead | None
) -> tuple[int, float]:
    """Pull everything; return how many elements there were, and for how many seconds the consumer worked."""
    elements, worked = 0, 0.0
    if consumer is None:
        return sum(map(len, pulls)), worked
    with contextlib.ExitStack() as stack:
        runs: Iterable[list[Any]] = map(own_elements, pulls)
        if ahead is not None:
            runs = ([element] for element in stack.enter_context(ahead(pulls.one_by_one())))
        for found in runs:
            begun = time.perf_counter()
            for element in found:
                consumer(element)
            worked += time.perf_counter() - begun
            elements += len(found)
    return elements, worked


def _is_limit(locked: float, stages: Sequence[StageTime], took: float, waited: float | None) -> bool:
    """Whether Python's lock holds the pipeline up. Pure: no I/O.

    Args:
        locked: the share of the time in which it is taken; by whom, nobody says.
        stages: if their functions take little time, the consumer has it; if they mostly wait, they do without it.
        took: seconds of the whole run.
        waited: how long the consumer waited; None if there was none. One that does not wait is held up as well if it
            has to share the lock with the functions of the pipeline.
    """
    calling = [stage for stage in stages if stage.node.calls_function]
    # Others' calls are in other threads.
    waiting = [stage for stage in calling if stage.waits and not stage.called]
    if locked < _MUCH or any(stage.seconds >= _MUCH * took for stage in waiting):
        return False
    holding = sum(stage.called + stage.busy for stage in calling)
    return waited is None or waited >= _MUCH * took or holding >= _MUCH * took


def _hints_for(
    stages: Sequence[StageTime], errors: int, skipped: int, locked: float | None, *, is_ahead: bool
) -> Iterator[str]:
    """Say what would help; the last stage comes first here.

    Args:
        stages: what was measured.
        errors: how many came out.
        skipped: how many damages were skipped.
        locked: the share of the time in which Python's lock is taken, if that is the limit.
        is_ahead: elements are made ready while the consumer works.
    """
    total = sum(stage.seconds for stage in stages) or 1.0
    for stage in stages:
        share = stage.seconds / total
        if share >= _MUCH:
            # The time of the CPU: on a busy machine the clock also counts what other processes take.
            advice = stage.node.advice(stage.busy / max(1, stage.elements), waits=stage.waits)
            if advice and (locked is None or _MORE_THREADS not in advice):
                yield f"{stage.node.label} takes {share:.0%} of the time: {advice}"
    ahead = next((number for number, stage in enumerate(stages) if stage.node.prefetches), None)
    if is_ahead:
        ahead = 0
    elif ahead is None:
        yield "nothing is made ready while the consumer works with an element: end with .prefetch(AUTOTUNE)"
    for stage in stages[: ahead or 0]:
        if stage.node.calls_function and stage.seconds >= _MUCH * total:
            yield f"{stage.node.label} comes after the last prefetch: move .prefetch to the end"
    if locked is not None:
        yield (
            f"Python's lock (the GIL) is taken {locked:.0%} of the time, so that more threads do not help: verbs such "
            "as parse, decode_image and normalize leave it alone, and functions after .batch(n) are called less often"
        )
    if errors:
        yield f"{errors:,} errors came out; .ignore_errors() leaves such elements out"
    if skipped:
        yield f"{skipped:,} damages in files were skipped; `iterator.damages` says where"


class _Measure:
    """The stages of a plan, and the iterators that measure them."""

    def __init__(self, plan: Node) -> None:
        self._by_node: dict[int, StageTime] = {}
        self._inner: dict[type[Node], StageTime] = {}
        self._local = _Local()
        self.stages: list[StageTime] = []
        self.plan = self._instrument(plan, 0)

    def _instrument(self, node: Node, depth: int) -> Node:
        """Make a stage for every node, the last one first."""
        stage = StageTime(node, depth)
        self.stages.append(stage)
        inputs = tuple(self._instrument(each, depth + 1) for each in node.inputs)
        made = node.with_inputs(inputs) if inputs else node
        made = made.measured(stage.add_call)
        self._by_node[id(made)] = stage
        return made

    def wrap(self, node: Node, iterator: NodeIterator) -> NodeIterator:
        """Measure an iterator; those of datasets that interleave opens are counted together, by their kind."""
        stage = self._by_node.get(id(node)) or self._inner.get(type(node))
        if stage is None:
            depth = max(stage.depth for stage in self.stages) + 1
            stage = self._inner[type(node)] = StageTime(node, depth)
            self.stages.append(stage)
        return _Timed(iterator, stage, self._local)


class _Local(threading.local):
    """What the pulls took that ended inside the one that is under way, in this thread.

    `queued`: how long the thread has waited for a core, when that was last looked at.
    """

    wall = 0.0
    busy = 0.0
    pauses = 0

    def __init__(self) -> None:
        self.queued = _queued_seconds()

    def newly_queued(self) -> float:
        """How long it has waited for a core since then."""
        before, self.queued = self.queued, _queued_seconds()
        return self.queued - before


def _pauses() -> int:
    """How often this thread has given up its core voluntarily so far."""
    who = getattr(resource, "RUSAGE_THREAD", resource.RUSAGE_SELF)
    return resource.getrusage(who).ru_nvcsw


class _Timed(NodeIterator):
    def __init__(self, iterator: NodeIterator, stage: StageTime, local: _Local) -> None:
        self._iterator = iterator
        self._stage = stage
        self._local = local

    def pull(self, n: int) -> Run | None:
        """Measure a pull, less the pulls inside it."""
        return self._measure(lambda: (self._iterator.pull(n), 0))[0]

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        return self._measure(lambda: self._iterator.pull_every(n, first, step))

    def _measure(self, call: Callable[[], tuple[Run | None, int]]) -> tuple[Run | None, int]:
        local = self._local
        before = local.wall, local.busy, local.pauses
        local.wall = local.busy = local.pauses = 0
        pauses, start, busy = _pauses(), time.perf_counter(), time.thread_time()
        run: Run | None = None
        try:
            run, past = call()
        finally:
            wall, used = time.perf_counter() - start, time.thread_time() - busy
            paused = _pauses() - pauses
            count = 0 if run is None else len(run.chunk)
            own, kept = wall - local.wall, used - local.busy
            if own - kept > _LATE_SECONDS:  # else it is not worth a look
                own -= min(own - kept, local.newly_queued())
            self._stage.add(own, kept, paused - local.pauses, count)
            local.wall, local.busy, local.pauses = before[0] + wall, before[1] + used, before[2] + paused
        return run, past

    def save(self) -> Any:
        return self._iterator.save()

    def close(self) -> None:
        self._iterator.close()
