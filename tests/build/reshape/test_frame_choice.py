from __future__ import annotations

import numpy as np
import pytest

from tfrkit.build.reshape.frame_choice import EveryChoice, RandomChoice, in_range, mix64, random_edges
from tfrkit.model.block import Block


def chosen(seed: int, counts: list[int], total: int) -> list[list[int]]:
    mixed = mix64(np.arange(total, dtype=np.uint64), seed)
    return [np.flatnonzero(in_range(mixed, *edge)).tolist() for edge in random_edges(counts, total, seed)]


@pytest.mark.parametrize("total", [0, 1, 2, 5, 1000, 300_000])
@pytest.mark.parametrize("seed", [0, 1, 2**63 + 5, -1])
def test_shares_have_exactly_their_counts_and_nothing_in_common(total, seed):
    counts = [total // 2, 0, total // 3]
    parts = chosen(seed, counts, total)
    assert [len(part) for part in parts] == counts
    together = [number for part in parts for number in part]
    assert len(set(together)) == len(together)


def test_larger_sample_holds_a_smaller_one():
    small, large = chosen(7, [10], 1000)[0], chosen(7, [200], 1000)[0]
    assert set(small) < set(large)


def test_seeds_choose_differently():
    assert len({tuple(chosen(seed, [5], 100)[0]) for seed in range(20)}) == 20


def test_every_record_is_as_likely_as_any_other():
    times = np.zeros(20)
    for seed in range(800):
        times[chosen(seed, [5], 20)[0]] += 1
    assert times.sum() == 4000
    assert np.abs(times - 200).max() < 65  # over five standard deviations


def test_pairs_are_as_likely_as_they_should_be():
    both = sum({3, 4} <= set(chosen(seed, [10], 20)[0]) for seed in range(800))
    assert abs(both - 800 * 10 * 9 / (20 * 19)) < 60


def test_choice_does_not_depend_on_how_records_are_cut_into_blocks():
    block = Block.from_records([b"x"] * 100)
    (edge,) = random_edges([30], 100, 5)
    whole = RandomChoice(5, *edge).mask(0, block)
    parts = [RandomChoice(5, *edge).mask(first, block[first : first + 7]) for first in range(0, 100, 7)]
    assert np.array_equal(whole, np.concatenate(parts))
    assert whole.sum() == 30


def test_every_third():
    block = Block.from_records([b"x"] * 7)
    assert np.flatnonzero(EveryChoice(3).mask(0, block)).tolist() == [2, 5]
    assert np.flatnonzero(EveryChoice(3, others=True).mask(1, block)).tolist() == [0, 2, 3, 5, 6]
