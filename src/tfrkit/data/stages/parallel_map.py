"""map with calls in several threads: results in order, unless the user leaves it free.

A thread takes the next element of the input and calls the function with it while others do the same. At most as many
elements are in flight as calls may run at once, or as the consumer asks for. The state is the position of the oldest
element that was not returned, and (without order) which later ones were.

Threads cost more than they gain if the function only computes in Python, since only one computes at a time. A
`ThreadChoice` finds out: calls then run in the consumer's thread.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any, Final

from tfrkit.data.elements.chunk import Chunk, ObjectChunk
from tfrkit.data.engine.background import Background, Slot
from tfrkit.data.engine.call_each import call_each, call_with_one
from tfrkit.data.engine.node import Context, Node, Run
from tfrkit.data.engine.thread_choice import ThreadChoice
from tfrkit.values.stateful import watch

__all__ = ["ParallelMapIterator", "SeenRanges"]

_CLAIM_SECONDS: Final = 0.02  # of work that a thread takes at once, if a consumer waits for that many
_MOST_CLAIMED: Final = 32
_PATIENCE_SECONDS: Final = 0.05  # that a consumer waits for the rest of a slot, before it takes what is ready
_SLACK: Final = 64  # results that may be ready before the consumer asks, if the user leaves that open
_SLACK_BYTES: Final = 16 << 20


class ParallelMapIterator(Background):
    """Results of a function that is called in threads, `parallel` calls at once (AUTOTUNE finds out).

    `watched`: calls run one after another as soon as one of them notes that order counts; see `values.stateful`.
    """

    def __init__(
        self,
        node: Node,
        context: Context,
        state: Any,
        function: Callable[..., Any],
        parallel: int,
        *,
        ordered: bool,
        watched: bool = False,
    ) -> None:
        super().__init__(node, context, state)
        fixed = parallel > 0
        self._function = function
        self._watched = watched
        self._choice = ThreadChoice(parallel if fixed else context.threads, fixed=fixed)
        self._given = SeenRanges(state.get("given") if state else None)  # of what the input gives next
        self._result_bytes = 0  # of one, once it is known
        self._since = 0.0  # when the consumer began to wait
        self.ordered = ordered
        self.whole = bool(self._given)  # one thing at a time, as long as some were given

    # ---- how much is taken

    def workers(self) -> int:
        return self._choice.threads

    def room(self) -> int:
        """How many elements may be taken: one, unless more calls are wanted than threads have begun.

        And only if pulling ahead cannot be observed: each slot is a hand-over, and wakes the consumer.
        """
        choice = self._choice
        if choice.inline and not self._given:
            return 0
        room = self.wanted + self._slack() - self._left
        if room <= 0 or not self._pure or not choice.settled or self._given:
            return min(room, 1)
        most = int(_CLAIM_SECONDS / max(choice.seconds, 1e-9))
        return max(1, min(_MOST_CLAIMED, most, room // choice.threads))

    def _slack(self) -> int:
        """How many elements may be taken ahead of demand: the threads work while the consumer is busy."""
        choice = self._choice
        if choice.fixed or not choice.settled:
            return choice.threads
        return max(choice.threads, min(_SLACK, _SLACK_BYTES // max(1, self._result_bytes)))

    def taken(self, slot: Slot) -> None:
        if self._given:
            if self._given.first:  # in an earlier life of the iterator
                slot.given, slot.done, slot.over = slot.count, True, True
            self._given.advance(slot.count)
            self.whole = bool(self._given)

    # ---- calls

    def _helps(self) -> bool:
        """If calls run in the consumer's thread, and none is under way in another."""
        if not self._choice.inline or self._given or self.closed or self.ended:
            return False
        with self.lock:
            return self._before is None and not self._open_slots()

    def help(self, n: int) -> Run | bool:
        """Take and call in this thread, until it is known whether threads are better."""
        if not self._helps():
            return False
        self._before = self._cursor.position()
        try:
            segment = self._cursor.take(n if self._choice.settled else 1)
            if segment is None:
                self.ended = True
                return True
            try:
                made, error = self._timed(segment.chunk.objects())
                if error is not None:
                    self._cursor.put_back(segment, len(made) + 1)
                return Run(self.results(segment.chunk, made), segment.error if error is None else error)
            except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
                self._cursor.undo((segment,))
                raise
        finally:
            self._before = None

    def work(self, slot: Slot, kept: type[BaseException]) -> None:
        rest: Slot | None = slot
        while rest is not None and not rest.done:
            rest = self._call_all(rest)
            self.ring()

    def _timed(self, elements: list[Any]) -> tuple[list[Any], Exception | None]:
        if self._choice.settled:
            return call_each(self._function, elements)
        start, busy = time.perf_counter(), time.thread_time()
        result: tuple[list[Any], Exception | None]
        result, noted = watch(call_each, self._function, elements)
        with self.lock:
            if noted and self._watched:  # calls must run one after another, however long they take
                self._choice.inline = self._choice.settled = True
            self._choice.timed(time.perf_counter() - start, time.thread_time() - busy)
        return result

    def _call_all(self, slot: Slot) -> Slot | None:
        """Call in a thread; return the slot of what follows an element that fails."""
        (segment,) = slot.segments
        made: list[Any] = []
        slot.made = _GrowingChunk(made, segment.chunk, self.results)
        error = self._calls(slot, segment.chunk.objects(), made)
        with self.lock:
            rest = None if error is None else self._split(slot, len(made) + 1)
            slot.finish(self.results(segment.chunk, made), segment.error if error is None else error)
        if not self._result_bytes:
            self._result_bytes = ObjectChunk(made[:1]).nbytes
        return rest

    def _calls(self, slot: Slot, elements: list[Any], made: list[Any]) -> BaseException | None:
        """Add results to what was made, as far as the first error, which the consumer gets."""
        choice = self._choice
        error: BaseException | None = None
        for element in elements:
            if self.closed or error is not None:
                break
            start, busy = (0.0, 0.0) if choice.settled else (time.perf_counter(), time.thread_time())
            try:
                made.append(call_with_one(self._function, element))
            except BaseException as failure:
                error = failure
            if not choice.settled:
                seconds, busy = time.perf_counter() - start, time.thread_time() - busy
                with self.lock:
                    choice.timed(seconds, busy)
        return error

    def _split(self, slot: Slot, used: int) -> Slot | None:
        """Make a slot of its own of what follows the first elements; with the lock held."""
        if used == slot.count or slot not in self._slots:
            return None
        rest = Slot([slot.segments[0].after(used)], own=False)
        slot.count = used
        self._slots.insert(self._slots.index(slot) + 1, rest)
        return rest

    def results(self, chunk: Chunk, made: list[Any]) -> Chunk:
        """What the function made of the first elements of a chunk."""
        return ObjectChunk.made_of(chunk, made, located=self._context.origin)

    # ---- the consumer

    def ready(self) -> bool:
        if self._helps():
            return True
        with self.lock:
            patient = time.perf_counter() - self._since < _PATIENCE_SECONDS
            slots = self._open_slots()
            for slot in slots:
                waiting = len(slot.made) > slot.given or (slot.done and not slot.over)
                if waiting and (slot.done or slot.count <= 1 or not patient):
                    return True
                if self.ordered and not slot.over:
                    return False
            return self.exhausted and not slots

    def _wait(self) -> None:
        self._since = time.perf_counter()
        super()._wait()

    def save(self) -> dict[str, Any]:
        """Where the oldest element stands that was not given, and which later ones were."""
        with self.lock:
            where = super().save()
            given, at = SeenRanges(), 0
            for number, slot in enumerate(self._slots):
                if number == 0:
                    at = -slot.given
                else:
                    given.add(at, at + slot.given)
                at += slot.count
            for begin, end in self._given.ranges():
                given.add(at + begin, at + end)
            return {**where, "given": given.ranges()}


class _GrowingChunk(ObjectChunk):
    """Results while more of them are made."""

    __slots__ = ("_chunk", "_results")

    def __init__(self, made: list[Any], chunk: Chunk, results: Callable[[Chunk, list[Any]], Chunk]) -> None:
        super().__init__(made)
        self._chunk = chunk
        self._results = results

    def slice(self, start: int, stop: int) -> Chunk:  # type: ignore[override]  # what the stage makes of them
        return self._results(self._chunk.slice(start, stop), self.items[start:stop])


class SeenRanges:
    """Which of the next elements a consumer has already seen, where they came out of order.

    Ranges [begin, end) of the items that come next, counted from here; items are elements and errors.

    >>> given = SeenRanges([(1, 3), (3, 4), (6, 7)])
    >>> given.ranges()
    [[1, 4], [6, 7]]
    >>> given.first, given.advance(2), given.ranges()
    (False, None, [[0, 2], [4, 5]])
    """

    __slots__ = ("_ranges",)

    def __init__(self, ranges: Iterable[tuple[int, int]] | None = None) -> None:
        self._ranges: list[list[int]] = []
        for begin, end in ranges or ():
            self.add(begin, end)

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def add(self, begin: int, end: int) -> None:
        """Add a range after all others; nothing if it is empty."""
        if begin >= end:
            return
        if self._ranges and self._ranges[-1][1] == begin:
            self._ranges[-1][1] = end
        else:
            self._ranges.append([begin, end])

    def ranges(self) -> list[list[int]]:
        """All ranges, for a state."""
        return [list(each) for each in self._ranges]

    @property
    def first(self) -> bool:
        """Whether the next item was given."""
        return self.has(0)

    def has(self, item: int) -> bool:
        """Whether an item was given."""
        return any(begin <= item < end for begin, end in self._ranges)

    def advance(self, count: int) -> None:
        """Advance by a number of items."""
        left = [[max(0, begin - count), end - count] for begin, end in self._ranges]
        self._ranges = [each for each in left if each[1] > 0]
