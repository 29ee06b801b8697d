"""The walk of a batch through the house stays as long as it is; `tools/count_walk.py --list` shows it."""

from __future__ import annotations

from tools.count_walk import walk

MOST_FUNCTIONS, MOST_FILES = 79, 23  # threads that begin or end meanwhile count; without them 65 in 20


def test_a_batch_goes_through_no_more_functions_than_it_did():
    found = walk()
    assert ("data/engine/background.py", "Background.pull") in found
    assert len(found) <= MOST_FUNCTIONS
    assert len({file for file, _ in found}) <= MOST_FILES
