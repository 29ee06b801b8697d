"""Permutations that are computed: which they are, that they are permutations, and that they look random.

Seeds are fixed, so that what passes once passes always. A `deviation` is in standard deviations: of a random
permutation one in 16,000 is beyond LIMIT.
"""

from __future__ import annotations

import dataclasses
import math
import pickle
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit import _core
from tfrkit.values.permutation import MAX_SIZE, VERSION, Permutation

LIMIT = 4.0
SEEDS = st.integers(-(2**63), 2**64 - 1)
EPOCHS = st.integers(0, 2**64 - 1)


def whole(size: int, seed: int = 0, epoch: int = 0) -> np.ndarray:
    return Permutation(size, seed, epoch).run(0, size)


def chi_square_deviation(counts: np.ndarray, expected: float, freedom: int | None = None) -> float:
    """How far counts are from equal ones (Wilson and Hilferty's approximation of the chi-square distribution)."""
    freedom = counts.size - 1 if freedom is None else freedom
    statistic = float(((counts - expected) ** 2 / expected).sum())
    spread = 2 / (9 * freedom)
    return (math.cbrt(statistic / freedom) - (1 - spread)) / math.sqrt(spread)


# What they are


# These must never change while VERSION is 1: states that were saved, and other programs, depend on them.
GOLDEN = [
    (1, 0, 0, 0, [0]),
    (2, 7, 0, 0, [1, 0]),
    (3, 1, 2, 0, [0, 2, 1]),
    (10, 42, 0, 0, [3, 6, 2, 4, 1, 5, 7, 8, 0, 9]),
    (10, 42, 1, 0, [9, 8, 2, 0, 6, 1, 3, 7, 5, 4]),
    (10, 43, 0, 0, [8, 0, 5, 3, 4, 7, 6, 9, 2, 1]),
    (16, -1, 5, 0, [11, 0, 5, 3, 10, 8, 7, 13, 14, 12, 9, 1, 4, 15, 6, 2]),
    (1_000, 0, 0, 0, [577, 907, 691, 767, 584, 385, 344, 315]),
    (1_024, 5, 0, 1_016, [347, 947, 266, 136, 238, 536, 352, 963]),
    (1_025, 5, 0, 1_017, [62, 629, 365, 46, 171, 95, 607, 109]),
    (1_000_000, 0, 0, 0, [253_090, 455_803, 139_915, 625_809, 218_235, 768_273]),
    (1_000_000, 123_456_789, 77, 999_994, [299_143, 6_446, 559_049, 540_501, 278_231, 655_778]),
    (1_000_000_000, 2**63, 3, 500_000_000, [153_857_537, 774_334_617, 319_929_003, 147_287_546]),
    (
        1_000_000_000_000,
        2**64 - 1,
        2**64 - 1,
        123_456_789,
        [878_281_466_891, 69_067_992_226, 440_220_200_206, 642_747_723_154],
    ),
    (
        2**62,
        1,
        1,
        2**62 - 4,
        [
            122_418_721_086_401_164,
            1_727_802_213_408_382_692,
            4_117_414_797_213_723_660,
            3_134_217_861_167_582_315,
        ],
    ),
]


@pytest.mark.parametrize(("size", "seed", "epoch", "start", "expected"), GOLDEN)
def test_values_of_version_1(size, seed, epoch, start, expected):
    assert VERSION == 1
    assert Permutation(size, seed, epoch).run(start, start + len(expected)).tolist() == expected


def mix(word: int) -> int:
    word = (word ^ word >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    word = (word ^ word >> 27) * 0x94D049BB133111EB % 2**64
    return word ^ word >> 31


def plain_value(size: int, seed: int, epoch: int, index: int) -> int:
    """The definition, number by number."""
    step = 0x9E3779B97F4A7C15
    state = 0
    for word in (seed, epoch, size):
        state = mix(((state ^ word) + step) % 2**64)
    keys = [mix((state + step * number) % 2**64) for number in range(1, 9)]
    bits = max(10, (size - 1).bit_length())
    widths = (bits // 2, bits - bits // 2)  # of the halves: high, low
    while True:
        halves = [index >> widths[1], index % 2 ** widths[1]]
        for number, key in enumerate(keys):
            changed = number % 2
            word = (halves[1 - changed] + key) * (key >> 32 | 1) % 2**32
            word = (word ^ word >> 16) * 0xC2B2AE35 % 2**32
            halves[changed] ^= word >> 32 - widths[changed]
        index = halves[0] << widths[1] | halves[1]
        if index < size:
            return index


@given(st.data(), st.integers(100, MAX_SIZE) | st.integers(100, 5000), SEEDS, EPOCHS)
def test_values_are_those_of_the_definition(data, size, seed, epoch):
    indices = data.draw(st.lists(st.integers(0, size - 1), max_size=5))
    found = Permutation(size, seed, epoch).at(np.array(indices, np.int64))
    assert found.tolist() == [plain_value(size, seed % 2**64, epoch, index) for index in indices]


def test_negative_seeds_count_modulo_64_bits():
    assert Permutation(9, -1) == Permutation(9, 2**64 - 1)
    assert Permutation(9, -1).seed == 2**64 - 1


# How they are asked for


def test_a_run_is_a_part_of_the_whole():
    order, expected = Permutation(3000, 5, 6), whole(3000, 5, 6)
    assert len(order) == 3000
    for start, stop in [(0, 0), (3000, 3000), (0, 1), (2999, 3000), (1, 513), (512, 1024), (700, 2900)]:
        found = order.run(start, stop)
        assert found.dtype == np.int64
        assert np.array_equal(found, expected[start:stop])
        assert np.array_equal(order.at(np.arange(start, stop)), found)


def test_indices_may_be_in_any_order_and_repeated():
    order, expected = Permutation(1000, 7), whole(1000, 7)
    indices = np.random.default_rng(0).integers(0, 1000, 5000)
    assert np.array_equal(order.at(indices), expected[indices])
    assert np.array_equal(order.at(indices[::-3]), expected[indices[::-3]])
    assert np.array_equal(order.at(indices.astype(np.int16)), expected[indices])
    assert order.at(np.array([], np.int64)).tolist() == []


@pytest.mark.parametrize("wrong", [-1, 10, -(2**63), 2**63 - 1])
@pytest.mark.parametrize("place", [0, 4, 600])
def test_the_first_index_out_of_range_is_named(wrong, place):
    indices = np.zeros(1000, np.int64)
    indices[place], indices[place + 1 :] = wrong, 77
    with pytest.raises(IndexError, match=f"^index {wrong} is out of range: the permutation has 10 entries$"):
        Permutation(10, 1).at(indices)


def test_nothing_is_at_any_index_of_none():
    order = Permutation(0, 1)
    assert order.run(0, 0).tolist() == order.at(np.array([], np.int64)).tolist() == []
    with pytest.raises(IndexError, match=r"^index 0 is out of range: the permutation has 0 entries$"):
        order.at(np.array([0]))


@pytest.mark.parametrize(("start", "stop"), [(-1, 3), (4, 3), (0, 11), (11, 11), (0, 2**70)])
def test_a_run_out_of_range_is_refused(start, stop):
    with pytest.raises(
        IndexError, match=f"^places {start} up to {stop} are out of range: .* has 10 entries$"
    ):
        Permutation(10, 1).run(start, stop)


@pytest.mark.parametrize("indices", [np.array([1.0]), np.array([1], np.uint64)], ids=["float", "uint64"])
def test_numbers_that_may_not_fit_are_refused(indices):
    with pytest.raises(TypeError, match="Cannot cast"):
        Permutation(10, 1).at(indices)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((-1, 0), r"^Expected a size from 0 to 2\*\*62 but got -1\.$"),
        ((2**62 + 1, 0), r"^Expected a size from 0 to 2\*\*62 but got 4611686018427387905\.$"),
        ((1, 2**64), r"^Expected a seed of 64 bits, .*, but got 18446744073709551616\.$"),
        ((1, -(2**63) - 1), r"^Expected a seed of 64 bits, .*, but got -9223372036854775809\.$"),
        ((1, 0, -1), r"^Expected an epoch from 0 to 2\*\*64 - 1 but got -1\.$"),
        ((1, 0, 2**64), r"^Expected an epoch from 0 to 2\*\*64 - 1 but got 18446744073709551616\.$"),
    ],
)
def test_numbers_outside_their_range_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Permutation(*arguments)


def test_the_native_functions_check_ranges_too():
    with pytest.raises(ValueError, match=r"^expected a size of at most 2\^62$"):
        _core.permute_run(2**62 + 1, 0, 0, 0, 1)
    with pytest.raises(ValueError, match=r"^expected 0 <= start <= stop <= 5 but got start 0 and stop 6$"):
        _core.permute_run(5, 0, 0, 0, 6)


def test_they_are_values():
    order = Permutation(10, 1, 2)
    assert pickle.loads(pickle.dumps(order)) == order == Permutation(10, 1, 2) != Permutation(10, 1)
    with pytest.raises(dataclasses.FrozenInstanceError):
        order.seed = 3


# That they are permutations


def sizes_to_try() -> list[int]:
    near_powers = [2**power + more for power in range(9, 19) for more in (-1, 0, 1)]
    chosen = random.Random(0)
    return [*range(301), *near_powers, *(chosen.randrange(1000, 10**6) for _ in range(8))]


def test_every_index_occurs_once():
    for size in sizes_to_try():
        seen = np.zeros(size, bool)
        seen[whole(size, seed=size, epoch=size % 7)] = True
        assert seen.all(), size


@pytest.mark.parametrize("size", [10**12, 2**40, 2**40 + 1, MAX_SIZE])
def test_windows_of_large_ones_have_no_duplicates(size):
    order = Permutation(size, 11, 1)
    found = [order.run(start, start + 50_000) for start in (0, size // 3, size - 50_000)]
    values = np.sort(np.concatenate(found))
    assert (np.diff(values) > 0).all()
    assert values[0] >= 0
    assert values[-1] < size


# That they look random


def orders(size: int, kind: str, count: int) -> np.ndarray:
    """Whole permutations, one to a row: of as many seeds, or of as many epochs of one seed."""
    pairs = [(number, 0) if kind == "seeds" else (123, number) for number in range(count)]
    return np.array([whole(size, *pair) for pair in pairs])


@pytest.mark.parametrize("kind", ["seeds", "epochs"])
@pytest.mark.parametrize("size", [3, 4, 5])
def test_all_orders_are_equally_frequent(size, kind):
    count = 8000
    found = orders(size, kind, count) @ size ** np.arange(size)
    counts = np.unique(found, return_counts=True)[1]
    assert len(counts) == math.factorial(size)
    assert abs(chi_square_deviation(counts, count / len(counts))) < LIMIT


@pytest.mark.parametrize("kind", ["seeds", "epochs"])
@pytest.mark.parametrize("size", [2, 3, 5, 10, 64, 97])
def test_every_number_is_everywhere_equally_often(size, kind):
    count = 6000
    found = orders(size, kind, count)
    counts = np.bincount((found + size * np.arange(size)).ravel(), minlength=size * size)
    assert abs(chi_square_deviation(counts, count / size, (size - 1) ** 2)) < LIMIT


@pytest.mark.parametrize("kind", ["seeds", "epochs"])
@pytest.mark.parametrize("size", [10, 64, 97, 1000, 1025])
def test_pairs_of_neighbours_are_equally_frequent(size, kind):
    count = 3000
    found = orders(size, kind, count)
    distances = (found[:, 1:] - found[:, :-1]) % size
    counts = np.bincount(distances.ravel(), minlength=size)[1:]
    assert abs(chi_square_deviation(counts, distances.size / (size - 1))) < LIMIT


@pytest.mark.parametrize("kind", ["seeds", "epochs"])
@pytest.mark.parametrize("size", [64, 1000, 1024, 1025])
def test_neighbouring_ones_agree_as_rarely_as_any(size, kind):
    # Two random permutations agree at one place on average, with a variance of 1; so do one and the identity.
    found = orders(size, kind, 3000)
    fixed = (found == np.arange(size)).sum(axis=1)
    agreements = (found[1:] == found[:-1]).sum(axis=1)
    for counts in (fixed, agreements):
        assert abs(counts.mean() - 1) * math.sqrt(len(counts)) < LIMIT
        assert abs(counts.var() - 1) * math.sqrt(len(counts) / 3) < LIMIT  # 3: the variance of (x - 1)^2


@pytest.mark.parametrize("kind", ["seeds", "epochs"])
def test_neighbouring_ones_are_uncorrelated(kind):
    found = orders(1000, kind, 2000)
    scaled = (found - found.mean()) / found.std()
    correlations = (scaled[1:] * scaled[:-1]).mean(axis=1) * math.sqrt(999)
    assert abs(correlations.mean()) * math.sqrt(len(correlations)) < LIMIT
    assert abs(correlations.var() - 1) * math.sqrt(len(correlations) / 2) < LIMIT


def test_neighbouring_sizes_are_unrelated():
    agreements = [(whole(size, 3) == whole(size + 1, 3)[:-1]).sum() for size in range(1000, 3000)]
    assert abs(np.mean(agreements) - 1) * math.sqrt(len(agreements)) < LIMIT


LARGE = [2**18, 10**6, 10**9, 10**12 + 39, MAX_SIZE]


@pytest.mark.parametrize("lag", [1, 2, 63, 512, 1000])
@pytest.mark.parametrize("size", LARGE)
def test_distances_within_large_ones_are_spread(size, lag):
    found = Permutation(size, 21, 4).run(0, 2**18).astype(np.float64)
    distances = (found[lag:] - found[:-lag]) % size
    counts = np.bincount((distances * 256 / size).astype(np.int64), minlength=256)[:256]
    assert abs(chi_square_deviation(counts, len(distances) / 256)) < LIMIT


@pytest.mark.parametrize("size", LARGE)
def test_numbers_of_large_ones_are_uncorrelated_with_what_precedes(size):
    found = Permutation(size, 22, 5).run(0, 2**18) / size - 0.5
    for lag in (1, 2, 3, 64, 4096):
        correlation = (found[lag:] * found[:-lag]).mean() / found.var()
        assert abs(correlation) * math.sqrt(len(found) - lag) < LIMIT
    places = np.arange(len(found)) / len(found) - 0.5
    assert abs((found * places).mean() / (found.std() * places.std())) * math.sqrt(len(found)) < LIMIT


@pytest.mark.parametrize("size", [2**10, 2**11, 2**20, 2**31, MAX_SIZE])
def test_a_changed_bit_of_the_index_changes_half_of_the_bits(size):
    bits = size.bit_length() - 1
    pairs = np.stack([np.zeros(bits, np.int64), 2 ** np.arange(bits)], axis=1).ravel()
    count = 2000
    found = np.array([Permutation(size, seed, 9).at(pairs) for seed in range(count)])
    changes = found[:, 0::2] ^ found[:, 1::2]
    changed = (changes[:, :, None] >> np.arange(bits) & 1).sum(axis=0)
    expected = count / 2 * size / (size - 1)  # no difference is 0
    assert abs(changed - expected).max() / math.sqrt(count / 4) < 5  # the worst of up to 3,844
