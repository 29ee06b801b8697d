"""Background: what its threads do when something fails that is nobody's function, and when it is closed."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.data.support.outcomes import wait_for
from tests.data.support.runs_node import RunsNode
from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.background import Slot
from tfrkit.data.engine.node import Context
from tfrkit.data.stages.map import MapNode
from tfrkit.data.stages.prefetch import PrefetchIterator


class _Broken(ObjectChunk):
    """Elements that cannot be looked at."""

    def slice(self, start: int, stop: int) -> ObjectChunk:
        return self

    def objects(self) -> list[Any]:
        raise MemoryError("no room")


def test_a_thread_that_fails_does_not_let_the_consumer_wait_for_ever() -> None:
    node = MapNode(RunsNode((_Broken([1]),)), lambda x: x, 2, None)
    iterator = node.start(Context())
    for _ in range(2):
        with pytest.raises(MemoryError, match="no room"):
            iterator.pull(1)
    iterator.close()


def test_the_input_is_closed_after_a_failure() -> None:
    door = threading.Event()

    class Failing(PrefetchIterator):
        def work(self, slot: Slot, kept: type[BaseException]) -> None:
            door.wait(20)
            raise ZeroDivisionError

    ahead = Failing(RunsNode((ObjectChunk([1]),)), Context(), None, 1)
    ahead.push()
    ahead.close()
    source: Any = ahead._cursor.input
    assert not source.closed  # the thread might be using it
    door.set()
    assert wait_for(lambda: source.closed)
    assert not ahead.active


def slowly(x: Any) -> Any:
    time.sleep(0.002)
    return x


@pytest.mark.parametrize("moment", range(6))
def test_stages_that_begin_when_all_is_closed_leave_no_thread(moment: int) -> None:
    def inner(x: Any) -> Dataset:
        return Dataset.range(x, x + 5).map(slowly, num_parallel_calls=2).prefetch(2)

    iterator = iter(Dataset.range(100).flat_map(inner).batch(50).prefetch(1))
    next(iterator)
    time.sleep(0.005 * moment)
    iterator.close()
    assert wait_for(lambda: not any(thread.name == "tfrkit" for thread in threading.enumerate()))


@pytest.mark.parametrize("moment", range(6))
def test_closing_is_no_end(moment: int) -> None:
    """A cache behind calls in threads must not take it for one."""
    door = threading.Event()

    def late(x: Any) -> Any:
        door.wait(0.01 * moment)
        return x

    cached = Dataset.range(50).map(late, num_parallel_calls=2).filter(lambda x: True).prefetch(1).cache()
    iterator = iter(cached.prefetch(2))
    next(iterator)
    iterator.close()
    door.set()
    assert len(list(cached)) == 50


def test_many_rings_wake_once() -> None:
    looks: list[bool] = []

    class Ringing(PrefetchIterator):
        def ready(self) -> bool:
            self.ring()
            self.ring()
            looks.append(True)
            return len(looks) > 4

    ahead = Ringing(RunsNode(()), Context(), None, 1)
    ahead.ended = True
    ahead._wait()
    assert len(looks) == 5
