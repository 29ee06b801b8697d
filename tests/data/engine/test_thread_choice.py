from __future__ import annotations

from tfrkit.data.engine.thread_choice import ThreadChoice
from tfrkit.data.stages.parallel_map import SeenRanges


def timed(choice: ThreadChoice, seconds: float, busy: float, count: int = 50) -> tuple[bool, bool]:
    for _ in range(count):
        choice.timed(seconds, busy)
    return choice.inline, choice.settled


def test_cheap_calls_run_in_the_consumers_thread():
    assert timed(ThreadChoice(4, fixed=False), 1e-6, 1e-6) == (True, True)
    assert timed(ThreadChoice(4, fixed=True), 1e-6, 1e-6) == (True, True)


def test_calls_that_wait_run_in_threads():
    assert timed(ThreadChoice(4, fixed=False), 1e-2, 1e-5) == (False, True)


def test_so_many_threads_as_the_user_says():
    assert timed(ThreadChoice(4, fixed=True), 1e-3, 1e-3) == (False, True)


def test_calls_that_hinder_each_other_go_back():
    choice = ThreadChoice(2, fixed=False)
    assert timed(choice, 1e-3, 1e-3, 9) == (False, False)
    assert timed(choice, 2e-3, 1e-3) == (True, True)


def test_calls_that_do_not_stay_in_threads():
    choice = ThreadChoice(2, fixed=False)
    assert timed(choice, 1e-3, 1e-3, 9) == (False, False)
    assert timed(choice, 1.1e-3, 1e-3) == (False, True)


def test_one_core_is_enough_for_what_only_computes():
    assert timed(ThreadChoice(1, fixed=False), 1e-3, 1e-3) == (True, True)


def test_given_ranges_move_along():
    given = SeenRanges([(2, 4), (5, 6)])
    assert (given.first, bool(given)) == (False, True)
    given.advance(3)
    assert given.ranges() == [[0, 1], [2, 3]]
    assert [given.has(item) for item in range(4)] == [True, False, True, False]
    given.advance(3)
    assert not given
