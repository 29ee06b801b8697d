from __future__ import annotations

import functools
import random
import threading
import time

import pytest

from tests.data.stages.test_map import fail_at
from tests.data.support.outcomes import advance, outcomes, resumed, wait_for
from tfrkit import TensorSpec
from tfrkit.data.dataset import Dataset
from tfrkit.data.engine.background import Slot
from tfrkit.data.engine.thread_choice import ThreadChoice
from tfrkit.data.stages import parallel_map
from tfrkit.data.stages.parallel_map import ParallelMapIterator


def slowly(function, seconds=0.001):
    def slow(x):
        time.sleep(seconds * (int(x) * 7 % 3))
        return function(x)

    return slow


@pytest.mark.parametrize("parallel", [1, 2, 5, -1])
@pytest.mark.parametrize("batch", [None, 1, 4, 100])
def test_order_is_kept(parallel, batch):
    def build(calls):
        ds = Dataset.range(50).map(slowly(fail_at(7, 8, 30)), num_parallel_calls=calls)
        return outcomes(ds if batch is None else ds.batch(batch))

    assert build(parallel) == build(None)


def test_cheap_functions_settle_in_the_consumers_thread(monkeypatch):
    timed = ThreadChoice.timed  # what a call takes on a busy machine is not what it takes
    monkeypatch.setattr(ThreadChoice, "timed", lambda self, *_: timed(self, 1e-6, 1e-6))
    where = []

    def function(x):
        where.append(threading.current_thread())
        return x

    for parallel in (3, -1):
        where.clear()
        ds = Dataset.range(2000).map(function, num_parallel_calls=parallel).batch(50)
        assert [int(x) for batch in ds for x in batch] == list(range(2000))
        assert set(where[-1000:]) == {threading.current_thread()}


def test_functions_that_wait_run_at_once():
    running, most = [], [0]

    def function(x, together):
        running.append(x)
        most.append(len(running))
        wait_for(
            lambda: max(most) == together, 0.05
        )  # the others may take a while to begin on a busy machine
        running.pop()
        return x

    ds = Dataset.range(30).map(functools.partial(function, together=4), num_parallel_calls=4)
    assert outcomes(ds) == list(range(30))
    assert max(most) == 4
    most[:] = [0]
    options = Dataset.range(1).options()
    options.threads = 3
    ds = Dataset.range(40).map(functools.partial(function, together=3), num_parallel_calls=-1)
    assert outcomes(ds.with_options(options)) == list(range(40))
    assert max(most) == 3


def test_no_more_calls_are_begun_than_may_run_at_once():
    calls = []

    def function(x):
        calls.append(int(x))
        time.sleep(0.002)
        return x

    iterator = iter(Dataset.range(100).map(function, num_parallel_calls=3))
    next(iterator)
    wait_for(lambda: len(calls) >= 4)
    time.sleep(0.05)
    assert len(calls) == 4
    iterator.close()


def test_without_order_what_is_ready_comes_first():
    door = threading.Event()

    def function(x):
        if x == 0:
            door.wait(10)
        return x

    ds = Dataset.range(6).map(function, num_parallel_calls=2, deterministic=False)
    iterator = iter(ds)
    assert [int(next(iterator)) for _ in range(5)] == [1, 2, 3, 4, 5]
    state = iterator.state()
    assert state["at"]["given"] == [[1, 6]]
    door.set()
    assert outcomes(iterator) == [0]
    assert outcomes(ds.iter_from(state)) == [0]


def test_an_input_that_blocks_does_not_hold_back_what_came_before():
    door = threading.Event()

    def numbers():
        yield from (1, 2, 3)
        door.wait(20)
        yield 4

    source = Dataset.from_generator(numbers, output_signature=TensorSpec([], "int64"))
    iterator = iter(source.map(lambda x: x * 2, num_parallel_calls=2))
    assert [int(next(iterator)) for _ in range(3)] == [2, 4, 6]
    door.set()
    assert outcomes(iterator) == [8]


def test_a_function_that_blocks_does_not_hold_back_what_came_before():
    door = threading.Event()

    def function(x):
        if x == 40:
            door.wait(20)
        return x

    iterator = iter(Dataset.range(50).map(function, num_parallel_calls=4))
    assert [int(next(iterator)) for _ in range(40)] == list(range(40))
    door.set()
    assert outcomes(iterator) == list(range(40, 50))


def test_errors_of_the_input_keep_their_place():
    ds = Dataset.range(9).map(fail_at(2, 5)).map(slowly(lambda x: x + 1), num_parallel_calls=3)
    assert outcomes(ds) == [1, 11, "KeyError: 2", 31, 41, "KeyError: 5", 61, 71, 81]
    free = (
        Dataset.range(9)
        .map(fail_at(2, 5))
        .map(slowly(lambda x: x + 1), num_parallel_calls=3, deterministic=False)
    )
    assert sorted(map(str, outcomes(free))) == sorted(map(str, outcomes(ds)))


def test_system_exit_comes_out():
    def function(x):
        if x == 3:
            raise SystemExit(7)
        return x

    iterator = iter(Dataset.range(5).map(function, num_parallel_calls=2))
    assert [int(next(iterator)) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(SystemExit):
        next(iterator)


@pytest.mark.parametrize("parallel", [1, 2, -1])
@pytest.mark.parametrize("at", [0, 1, 3, 4, 8, 11, 12])
def test_state(parallel, at):
    def make():
        source = Dataset.range(12).map(fail_at(2, 6))
        return source.map(slowly(fail_at(70)), num_parallel_calls=parallel)

    assert resumed(make, at) == outcomes(make())[at:]


@pytest.mark.parametrize("seed", range(12))
def test_state_without_order_gives_exactly_the_rest(seed):
    def make():
        source = Dataset.range(20).map(fail_at(3, 11))
        function = slowly(fail_at(50, 120), 0.0003 * (1 + seed % 3))
        return source.map(function, num_parallel_calls=2 + seed % 3, deterministic=False)

    iterator = iter(make())
    seen = outcomes(iterator, seed * 2)
    state = iterator.state()
    again = make().iter_from(state)
    seen += outcomes(again, 2)
    state = again.state()
    rest = outcomes(make().iter_from(state))
    assert sorted(map(str, seen + rest)) == sorted(map(str, outcomes(make())))
    advance(iterator, 100)


def test_a_slot_that_ends_after_its_result_was_given_holds_nobody_back(monkeypatch):
    calls = ParallelMapIterator._calls

    def gated(self, slot, elements, made):
        error = calls(self, slot, elements, made)
        wait_for(lambda: slot.given == len(made), 2)
        return error

    monkeypatch.setattr(ParallelMapIterator, "_calls", gated)
    found = []
    ds = Dataset.range(6).map(slowly(lambda x: x + 1), num_parallel_calls=2)
    thread = threading.Thread(target=lambda: found.extend(outcomes(ds)), daemon=True)
    thread.start()
    thread.join(60)
    assert found == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("seed", range(30))
def test_random_timings(seed):
    rng = random.Random(seed)
    parallel, fails = rng.choice([1, 2, 3, 8, -1]), rng.sample(range(60), 5)
    pauses = [rng.choice([0, 0, 0.0001, 0.002]) for _ in range(60)]

    def function(x):
        if pauses[int(x)]:
            time.sleep(pauses[int(x)])
        return fail_at(*fails)(x)

    def make(parallel=parallel):
        return Dataset.range(60).map(function, num_parallel_calls=parallel)

    expected = outcomes(make(None))
    assert outcomes(make()) == expected
    at = rng.randrange(60)
    assert resumed(make, at) == expected[at:]


def test_a_thread_claims_several_elements_that_a_consumer_waits_for(monkeypatch):
    sizes = []
    made = Slot.__init__

    def noted(self, segments, *, own) -> None:
        sizes.append(sum(len(each.chunk) for each in segments))
        made(self, segments, own=own)

    monkeypatch.setattr(Slot, "__init__", noted)
    ds = Dataset.range(400).map(slowly(lambda x: x + 1, 0.0003), num_parallel_calls=2).batch(64)
    assert [int(x) for batch in ds for x in batch] == list(range(1, 401))
    assert 1 < max(sizes) <= parallel_map._MOST_CLAIMED
    single = Dataset.range(60).map(slowly(lambda x: x + 1, 0.0003), num_parallel_calls=2)
    sizes.clear()
    assert outcomes(single) == list(range(1, 61))
    assert max(sizes) == 1


def test_errors_within_a_claim_keep_their_places():
    fails = [30, 31, 100, 256]
    ds = Dataset.range(300).map(slowly(fail_at(*fails), 0.0003), num_parallel_calls=2)
    expected = outcomes(Dataset.range(300).map(fail_at(*fails)).batch(16))
    assert outcomes(ds.batch(16)) == expected


def test_a_function_that_blocks_holds_back_nothing_of_its_claim_that_came_before():
    door = threading.Event()

    def function(x):
        time.sleep(0.0005)
        if x == 70:
            door.wait(20)
        return x

    iterator = iter(Dataset.range(100).map(function, num_parallel_calls=2).batch(7))
    assert [int(x) for _ in range(10) for x in next(iterator)] == list(range(70))
    door.set()
    assert [int(x) for batch in iterator for x in batch] == list(range(70, 100))


def test_results_are_made_while_the_consumer_is_busy():
    calls = []

    def function(x):
        calls.append(int(x))
        time.sleep(0.001)
        return x

    ds = Dataset.range(400).map(function, num_parallel_calls=-1).batch(8)
    iterator = iter(ds)
    for _ in range(8):
        next(iterator)
    begun = len(calls)
    wait_for(lambda: len(calls) > begun, 2)
    time.sleep(0.1)
    assert len(calls) <= 8 * 8 + parallel_map._SLACK + 8
    iterator.close()
