from __future__ import annotations

import json

import pytest

from tests.data.support.outcomes import advance, outcomes
from tfrkit import set_seed
from tfrkit.data.dataset import Dataset


@pytest.mark.parametrize("at", range(13))
def test_seeds_that_the_input_shares_are_restored(at):
    def make():
        set_seed(7)
        source = Dataset.range(3).shuffle(8, seed=43)
        numbers = source.concatenate(source).map(lambda x: x * 10, num_parallel_calls=3)
        return numbers.flat_map(lambda x: Dataset.range(2).map(lambda y: x + y))

    try:
        expected = outcomes(make())
        iterator = iter(make())
        advance(iterator, at)
        state = json.loads(json.dumps(iterator.state()))
        assert outcomes(make().iter_from(state)) == expected[at:]
    finally:
        set_seed(None)
