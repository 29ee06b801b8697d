"""profile: where the time of a pipeline goes, stage by stage, and what would help.

Every iterator is put into one that measures its pulls. The time of a stage is that of its pulls less that of the pulls
it makes of its inputs in the same thread; calls of a function in other threads are measured one by one. The consumer
does nothing but pull, so the rate is the highest that the pipeline can give.
"""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.iterator import new_context
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.data.engine.rewrites import optimise
from tfrkit.data.report.profile_hints import hints_for
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds

__all__ = ["Profile", "StageTime", "profile"]


@dataclass(eq=False)
class StageTime:
    """What was measured of one stage.

    Attributes:
        node: the stage.
        depth: how far it is from the end of the pipeline.
        wall: seconds in its own pulls.
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
        stages: the measurements, the last stage first.
        hints: what would help.
    """

    seconds: float
    elements: int
    errors: int
    skipped: int
    stages: tuple[StageTime, ...]
    hints: tuple[str, ...]

    def __str__(self) -> str:
        total = sum(stage.seconds for stage in self.stages) or 1.0
        rate = self.elements / self.seconds if self.seconds else 0.0
        lines = [
            f"{self.elements:,} elements in {self.seconds:.2f} s: {rate:,.0f} a second",
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


def profile(node: Node, seconds: float) -> Profile:
    """Run a pipeline from its beginning for some seconds, or to its end, and measure every stage.

    It leaves no trace: shuffles stand where they stood, and a cache that was empty stays so.
    """
    measure = _Measure(optimise(node))
    context = new_context(node)
    context.wrap = measure.wrap
    seeds = find_seeds(node)
    before = save_seeds(seeds)
    start = time.perf_counter()
    try:
        elements, errors = _run(measure.plan, context, start + seconds)
    finally:
        restore_seeds(seeds, before)
    took = time.perf_counter() - start
    stages = tuple(measure.stages)
    hints = hints_for(stages, took, errors, context.skipped)
    return Profile(took, elements, errors, context.skipped, stages, tuple(hints))


def _run(plan: Node, context: Context, deadline: float) -> tuple[int, int]:
    """Pull as an iterator does; return the numbers of elements and errors."""
    root = Cursor(plan, context)
    elements = errors = 0
    try:
        while time.perf_counter() < deadline and (run := root.take(root.demand)) is not None:
            elements += len(run.chunk.objects())
            errors += run.error is not None
    finally:
        context.closed = True
        root.close()
    return elements, errors


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
    """What the pulls took that ended inside the one that is under way, in this thread."""

    wall = 0.0
    busy = 0.0
    pauses = 0


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
            self._stage.add(wall - local.wall, used - local.busy, paused - local.pauses, count)
            local.wall, local.busy, local.pauses = before[0] + wall, before[1] + used, before[2] + paused
        return run, past

    def save(self) -> Any:
        return self._iterator.save()

    def close(self) -> None:
        self._iterator.close()
