"""Pairs of digests against plain lists."""

from __future__ import annotations

import random
from collections import Counter
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tfrkit.records.compare import match_records
from tfrkit.records.compare.match_records import Digests, align_rest, count_moved, pair_equal, repeated

# High halves that are equal while low ones are not, and in all parts of the range.
_digest = st.tuples(st.sampled_from([0, 1, 2**62, 2**63, 2**64 - 1]), st.integers(0, 2))
_lists = st.lists(_digest, max_size=20)


def digests(pairs):
    high, low = zip(*pairs, strict=True) if pairs else ((), ())
    return Digests(np.array(high, np.uint64), np.array(low, np.uint32))


@pytest.fixture(params=[1 << 22, 3], ids=["whole", "parts"], autouse=True)
def part(request):
    with mock.patch.object(match_records, "_PART", request.param):
        yield


@given(_lists, _lists)
def test_as_many_pairs_as_possible_of_equals(a, b):
    partners = pair_equal(digests(a), digests(b)).tolist()
    pairs = [(i, j) for i, j in enumerate(partners) if j >= 0]
    assert all(a[i] == b[j] for i, j in pairs)
    assert len({j for _, j in pairs}) == len(pairs) == (Counter(a) & Counter(b)).total()


@given(_lists, st.integers(0, 20), _lists)
def test_what_is_inserted_moves_nothing(a, at, inserted):
    at = min(at, len(a))
    partners = pair_equal(digests(a), digests(a[:at] + inserted + a[at:]))
    assert (partners >= 0).all()
    assert count_moved(partners) == 0


@given(_lists)
def test_repeated_are_all_but_the_first(a):
    assert repeated(digests(a)).tolist() == [i for i, one in enumerate(a) if one in a[:i]]


@given(st.permutations(range(7)))
def test_moved_is_the_least_number(numbers):
    def ascending(left, last):
        return max((1 + ascending(left[i + 1 :], n) for i, n in enumerate(left) if n > last), default=0)

    assert count_moved(np.array(numbers)) == len(numbers) - ascending(numbers, -1)


def test_moved_of_many():
    numbers = list(range(200_000))
    numbers.append(numbers.pop(5))
    assert count_moved(np.array(numbers)) == 1
    random.Random(1).shuffle(numbers)
    assert count_moved(np.array(numbers)) > 190_000


@given(_lists, _lists)
def test_the_rest_stands_as_far_after_partners(a, b):
    partners = pair_equal(digests(a), digests(b)).tolist()
    taken = set(partners) - {-1}
    expected = []
    for i, partner in enumerate(partners):
        before = i
        while before >= 0 and partners[before] < 0:
            before -= 1
        start = partners[before] if before >= 0 else -1
        place = start + i - before
        if partner < 0 and place < len(b) and not taken.intersection(range(start + 1, place + 1)):
            expected.append((i, place))
    rows, places = align_rest(np.array(partners, np.int64), len(b))
    assert list(zip(rows.tolist(), places.tolist(), strict=True)) == expected
