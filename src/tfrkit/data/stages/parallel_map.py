"""map with calls in several threads: results in order, unless the user leaves it free.

A thread claims the next element of the input, one thread at a time, and calls the function with it while others do
the same. At most as many elements are in flight as calls may run at once, or as the consumer asks for. Within a claim
results come in order, so what was returned of it is a number. The state is the position of the oldest claim that was
not completely returned, how much of it was, and (without order) which later elements were.

Threads cost more than they gain if the function only computes in Python, since only one computes at a time. A
`ThreadChoice` finds out: calls then run in the consumer's thread.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from tfrkit.data.elements.chunk import ObjectChunk, concat
from tfrkit.data.elements.origin import Origin
from tfrkit.data.engine.background import BackgroundInput, BackgroundIterator
from tfrkit.data.engine.call_each import call_each, call_with_one
from tfrkit.data.engine.cursor import Segment, place, read_place
from tfrkit.data.engine.node import Context, Node, Run
from tfrkit.data.engine.seen_ranges import SeenRanges
from tfrkit.data.engine.thread_choice import ThreadChoice
from tfrkit.values.stateful import watch

__all__ = ["ParallelMapIterator"]

_CLAIM_SECONDS: Final = 0.02  # of work that a thread claims at once, if a consumer waits for that many
_MOST_CLAIMED: Final = 32
_PATIENCE_SECONDS: Final = (
    0.05  # a consumer waits so long for the rest of a claim, before it takes what is ready
)
_SLACK: Final = 64  # results that may be ready before the consumer asks, if the user leaves that open
_SLACK_BYTES: Final = 16 << 20


class _Claim:
    """An element that one thread works on, or an error of the input, or both; and what has become of them so far.

    Attributes:
        place: of the first one.
        count: of all items, which are elements and the input's error after them.
        made: results and failures.
        given: how many of them the consumer has got.
        error_given: the consumer got the error after the elements before, in an earlier life of the iterator.
    """

    __slots__ = (
        "_error",
        "_finished",
        "_origin",
        "count",
        "elements",
        "error_given",
        "given",
        "made",
        "place",
    )

    def __init__(self, place: dict[str, Any], run: Run, given: SeenRanges, *, origin: bool) -> None:
        self.place = place
        self.elements = run.chunk.objects()
        self._origin: Origin | None = run.chunk.origin if origin else None
        self._error = run.error
        self._finished = False
        size = len(self.elements)
        self.count = size + (run.error is not None)
        self.given = size if given.first else 0
        self.made: list[Any] = [None] * self.given
        self.error_given = run.error is not None and given.has(size)
        given.advance(self.count)

    @property
    def single(self) -> bool:
        """Whether it is of one element at most."""
        return len(self.elements) <= 1

    @property
    def waiting(self) -> bool:
        """Whether there is something to be given."""
        return self.given < len(self.made)

    @property
    def finished(self) -> bool:
        """Whether all calls are done."""
        return self._finished

    @property
    def over(self) -> bool:
        """Whether everything was given."""
        return self._finished and not self.waiting

    def give(self, n: int) -> BaseException | None:
        """Return at most n results, as far as the first failure, which is returned and counts as returned."""
        made = self.made
        end = min(len(made), self.given + n)
        while self.given < end:
            self.given += 1
            item = made[self.given - 1]
            if type(item) is _Failure:
                return item.error
        return None

    def chunk(self, first: int, count: int) -> ObjectChunk:
        """Some results."""
        origin = None if self._origin is None else self._origin.slice(first, first + count)
        return ObjectChunk(self.made[first : first + count], origin)

    def finish(self) -> None:
        """All calls are done: what follows is the input's error."""
        if self._error is not None and not self.error_given:
            self.made.append(_Failure(self._error))
        self._finished = True


class _Failure:
    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class ParallelMapIterator(BackgroundIterator):
    """Results of a function that is called in threads, `parallel` calls at once (AUTOTUNE finds out).

    `watched`: calls run one after another as soon as one of them notes that order counts; see `values.stateful`.
    """

    def __init__(self, node: Node, context: Context, state: Any, *calls: Any, **options: Any) -> None:
        """Take the function and the number of calls, and the options of `_Calls`."""
        self._interrupted = False
        self._shared = _Calls(node, context, state, *calls, **options)

    def pull(self, n: int) -> Run | None:
        """Return what is ready; wait if nothing is."""
        calls: _Calls = self._shared
        if self._interrupted:
            calls.recover()
        self._interrupted = True  # until it is known not to be
        calls.want(n)
        try:
            run = calls.take_ready(n)
            while run is None and not calls.over():
                run = calls.call_here(n) if calls.inline() else calls.wait_for(n)
        finally:
            calls.want(0)
        if run is not None:
            calls.push()
        self._interrupted = False
        return run


class _Calls(BackgroundInput):
    """What the consumer and the threads share."""

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
        self._ordered = ordered
        self._watched = watched
        self._origin = context.origin
        self._choice = ThreadChoice(parallel if fixed else context.threads, fixed=fixed)
        self._given = SeenRanges(state.get("given") if state else None)  # of what the input gives next
        self._claims: deque[_Claim] = deque()
        self._here = False  # the consumer pulls
        self._under_way = 0  # elements and errors that were claimed and not given
        self._wanted = 0  # elements that the consumer waits for
        self._pure = node.pure
        self._result_bytes = 0  # of one, once it is known
        self._since = 0.0  # when the consumer began to wait

    # ---- the consumer

    def want(self, n: int) -> None:
        """The consumer asks for n elements, or no longer asks."""
        self._wanted = n

    def over(self) -> bool:
        """Whether nothing more will come."""
        return self.closed or (self.ended and not self._open_claims())

    def inline(self) -> bool:
        """Whether the next call runs in the consumer's thread."""
        busy = self.pulling or self._given or self.closed
        return self._choice.inline and not busy and not self._open_claims()

    def take_ready(self, n: int) -> Run | None:
        """Return at most n results that are ready, as far as the first error; None if none is."""
        chunks: list[ObjectChunk] = []
        error: BaseException | None = None
        with self.lock:
            for claim in self._open_claims():
                first, error = claim.given, claim.give(n)
                count = claim.given - first
                self._under_way -= count
                count -= error is not None
                if count:
                    chunks.append(claim.chunk(first, count))
                n -= count
                if chunks and not isinstance(error, Exception | None):  # what is raised here, alone
                    claim.given, self._under_way, error = claim.given - 1, self._under_way + 1, None
                    break
                if n == 0 or error is not None or (self._ordered and not claim.over):
                    break
        if error is not None and not isinstance(error, Exception):
            raise error
        return Run(concat(chunks), error) if chunks or error is not None else None

    def wait_for(self, n: int) -> Run | None:
        """Wait until a result is ready, or the end is reached."""
        self._since = time.perf_counter()
        self.wait(self._ready, self.push)
        return self.take_ready(n)

    def call_here(self, n: int) -> Run | None:
        """Pull and call in this thread, until it is known whether threads are better."""
        ended = False
        try:
            with self.lock:
                self._here = True
                self.reserve()
            run: Segment | None = self.take(n if self._choice.settled else 1)
            if run is None:
                ended = True
                return None
            elements = run.chunk.objects()
            try:
                made, error = self._call(elements)
            except BaseException:
                self.put_back(run, 0)
                raise
            if error is not None:
                self.put_back(run, len(made) + 1)
        finally:
            with self.lock:
                self.release(ended=ended)
                self._here = False
        origin = run.chunk.slice(0, len(made)).origin if self._origin else None
        return Run(ObjectChunk(made, origin), run.error if error is None else error)

    def recover(self) -> None:
        """Put right what a pull may have left half done that was interrupted."""
        with self.lock:
            self._under_way = sum(each.count - each.given - each.error_given for each in self._claims)
            if self._here:
                self.release()
                self._here = False

    def push(self) -> None:
        """See to it that there are threads for what may be claimed."""
        with self.lock:
            wanted = self._room() > 0 and self.active < self._choice.threads
        if wanted:
            self.begin(self._work)

    def save(self) -> dict[str, Any]:
        """Where the oldest element stands that was not given, and which later ones were."""
        with self.lock:
            given, at = SeenRanges(), 0
            where = self.now()
            for number, claim in enumerate(self._open_claims()):
                if number == 0:
                    oldest, skip = read_place(claim.place)
                    where = place(oldest, skip + claim.given)
                    at = -claim.given
                else:
                    given.add(at, at + claim.given)
                at += claim.count
                if claim.error_given:
                    given.add(at - 1, at)
            for begin, end in self._given.ranges():
                given.add(at + begin, at + end)
            return {**where, "given": given.ranges()}

    def close(self) -> None:
        super().close()
        with self.lock:
            self._claims.clear()

    def _open_claims(self) -> deque[_Claim]:
        """The claims from the first one on that is not over: one may end after its last result was given."""
        with self.lock:
            while self._claims and self._claims[0].over:
                self._claims.popleft()
            return self._claims

    def _ready(self) -> bool:
        if self.over() or self.inline():
            return True
        with self.lock:
            patient = time.perf_counter() - self._since < _PATIENCE_SECONDS
            for claim in self._open_claims():
                if claim.waiting and (claim.finished or claim.single or not patient):
                    return True
                if self._ordered and not claim.over:
                    return False
            return False

    def _call(self, elements: list[Any]) -> tuple[list[Any], Exception | None]:
        if self._choice.settled:
            return call_each(self._function, elements)
        start, busy = time.perf_counter(), time.thread_time()
        result: tuple[list[Any], Exception | None]
        result, noted = watch(call_each, self._function, elements)
        with self.lock:
            if noted and self._watched:
                self._choice.stay_inline()
            self._choice.timed(time.perf_counter() - start, time.thread_time() - busy)
        return result

    # ---- threads

    def _room(self) -> int:
        """How many elements may be claimed now; with the lock held."""
        if self.closed or self.ended or self.pulling or (self._choice.inline and not self._given):
            return 0
        return self._wanted + self._slack() - self._under_way

    def _slack(self) -> int:
        """How many elements may be claimed ahead of demand: the threads work while the consumer is busy."""
        choice = self._choice
        if choice.fixed or not choice.settled:
            return choice.threads
        return max(choice.threads, min(_SLACK, _SLACK_BYTES // max(1, self._result_bytes)))

    def _share(self) -> int:
        """How many elements a thread may claim at once; with the lock held.

        One, unless more calls are wanted than threads have begun and pulling ahead cannot be observed: each claim is a
        hand-over, and wakes the consumer.
        """
        choice = self._choice
        if not self._pure or not choice.settled or self._given:
            return 1
        most = int(_CLAIM_SECONDS / max(choice.seconds, 1e-9))
        return max(1, min(_MOST_CLAIMED, most, self._room() // choice.threads))

    def _work(self, ticket: object) -> None:
        first, last = True, False
        while True:
            with self.lock:
                if self._room() <= 0 or (self.stopped and not first):
                    last = self.leave(ticket)
                    break
                share = self._share()
                self.reserve()
            first = False
            claim = self._claim(share)
            if claim is not None:
                self._work_on(claim)
        if last:
            self.finish()
        self.ring()

    def _claim(self, count: int) -> _Claim | None:
        """Claim elements: a function so cheap that this costs much is called in the consumer's thread."""
        run: Run | None = None
        failure: BaseException | None = None
        try:
            run = self.take(count)
        except BaseException as error:  # the consumer gets it
            failure = error
        with self.lock:
            before = self.now()
            self.release(ended=run is None and failure is None)
            if failure is not None:
                run = Run(ObjectChunk([]), failure)  # type: ignore[arg-type]  # raised as it is
            claim = None if run is None else _Claim(before, run, self._given, origin=self._origin)
            if claim is not None and not self.closed:
                self._claims.append(claim)
                self._under_way += claim.count - claim.given - claim.error_given
        self.push()
        return claim

    def _work_on(self, claim: _Claim) -> None:
        choice = self._choice
        for element in claim.elements[claim.given :]:
            if self.closed:
                return
            start, busy = (0.0, 0.0) if choice.settled else (time.perf_counter(), time.thread_time())
            try:
                claim.made.append(call_with_one(self._function, element))
            except BaseException as error:  # the consumer gets it
                claim.made.append(_Failure(error))
            if not choice.settled:
                seconds, busy = time.perf_counter() - start, time.thread_time() - busy
                with self.lock:
                    choice.timed(seconds, busy)
        claim.finish()
        if not self._result_bytes:
            self._result_bytes = claim.chunk(0, 1).nbytes
        self.ring()
