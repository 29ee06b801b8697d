"""tfr.torch under torchdata's StatefulDataLoader: what comes after a checkpoint is what would have come without it."""

from __future__ import annotations

import json
from typing import Any

import pytest
from torchdata.stateful_dataloader import StatefulDataLoader

import tfrkit as tfr
from tfrkit.errors import InvalidArgumentError

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),  # more workers than cores
    pytest.mark.filterwarnings("ignore:'set_vital' is deprecated:UserWarning"),  # torchdata 0.11 calls it
]

ORDERS = {
    "global": lambda: tfr.Dataset.range(12).global_shuffle(seed=3),
    "buffer": lambda: tfr.Dataset.range(12).shuffle(12, seed=3),
    "filter": lambda: tfr.Dataset.range(24).global_shuffle(seed=3).filter(lambda x: x % 2 == 0),
}


def iterable(order: str = "global", workers: int = 0, **options: Any) -> tuple[Any, StatefulDataLoader]:
    dataset = tfr.torch.IterableDataset(ORDERS[order]().batch(4))
    return dataset, StatefulDataLoader(dataset, batch_size=None, num_workers=workers, **options)


def values(loader: Any) -> list[list[int]]:
    return [batch.tolist() for batch in loader]


@pytest.mark.parametrize("order", ORDERS)
def test_state_after_an_epoch_begins_the_next_one(order):
    _, loader = iterable(order)
    epochs = [values(loader) for _ in range(4)]
    assert [len(epoch) for epoch in epochs] == [3] * 4
    _, loader = iterable(order)
    for epoch in range(3):
        assert values(loader) == epochs[epoch]
        state = loader.state_dict()
        _, resumed = iterable(order)
        resumed.load_state_dict(state)
        assert resumed.state_dict()["_iterator_finished"]
        assert [values(resumed) for _ in range(3 - epoch)] == epochs[epoch + 1 :]


@pytest.mark.parametrize(("workers", "persistent"), [(0, False), (2, False), (2, True)])
def test_state_of_any_step_is_followed_by_the_rest_and_the_next_epoch(workers, persistent):
    options = {"workers": workers, "persistent_workers": persistent}
    shuffled = ORDERS["global"]().batch(4)
    wanted = [values(shuffled.epoch(epoch)) for epoch in range(3)]
    dataset, loader = iterable(**options)
    dataset.set_epoch(1)
    states = [loader.state_dict() for _ in loader]
    states.append(loader.state_dict())
    for step, state in enumerate(states, 1):
        dataset, loader = iterable(**options)
        loader.load_state_dict(state)
        if step <= 3:
            assert values(loader) == wanted[1][step:]
        dataset.set_epoch(2)
        assert values(loader) == wanted[2]


def test_asking_for_the_state_begins_nothing():
    for order in ORDERS.values():
        untouched, asked = (tfr.torch.IterableDataset(order().batch(4)) for _ in range(2))
        first = asked.state_dict()
        resumed = tfr.torch.IterableDataset(order().batch(4))
        resumed.load_state_dict(first)
        epochs = [values(untouched) for _ in range(2)]
        assert [values(asked), values(asked)] == epochs
        assert [values(resumed), values(resumed)] == epochs


def mapped(seed: int | None = 3, workers: int = 0) -> tuple[Any, StatefulDataLoader]:
    dataset = tfr.torch.MapDataset(tfr.Dataset.range(12).global_shuffle(seed=seed))
    return dataset, StatefulDataLoader(dataset, batch_size=4, num_workers=workers)


@pytest.mark.parametrize("workers", [0, 2])
def test_map_dataset_resumes_within_its_epoch(workers):
    dataset, loader = mapped(workers=workers)
    shuffled = tfr.Dataset.range(12).global_shuffle(seed=3).batch(4)
    dataset.set_epoch(1)
    states = [loader.state_dict() for _ in loader]
    for step, state in enumerate(states, 1):
        dataset, loader = mapped(workers=workers)
        loader.load_state_dict(state)
        assert values(loader) == values(shuffled.epoch(1))[step:]
        dataset.set_epoch(2)
        assert values(loader) == values(shuffled.epoch(2))


def test_state_of_a_map_dataset_carries_a_seed_that_was_drawn_and_is_checked():
    dataset, _ = mapped(seed=None)
    dataset.set_epoch(4)
    state = json.loads(json.dumps(dataset.state_dict()))
    other, _ = mapped(seed=None)
    other.load_state_dict(state)
    assert other[range(12)].tolist() == dataset[range(12)].tolist()
    with pytest.raises(InvalidArgumentError, match="the state is of another pipeline"):
        tfr.torch.MapDataset(tfr.Dataset.range(13)).load_state_dict(state)
    with pytest.raises(InvalidArgumentError, match="the state is not as it was written"):
        other.load_state_dict({**state, "epoch": 5})
    with pytest.raises(InvalidArgumentError, match=r"expected a state, .*, but got dict without"):
        other.load_state_dict({"epoch": 5})


@pytest.mark.parametrize("workers", [0, 2])
def test_epoch_that_was_told_counts_more_than_that_of_a_state(workers):
    dataset, loader = mapped(workers=workers)
    shuffled = tfr.Dataset.range(12).global_shuffle(seed=3).batch(4)
    dataset.set_epoch(1)
    list(loader)
    finished = loader.state_dict()
    dataset, loader = mapped(workers=workers)
    loader.load_state_dict(finished)
    for epoch in (2, 3):
        dataset.set_epoch(epoch)
        assert values(loader) == values(shuffled.epoch(epoch))


def test_state_of_quite_another_epoch_is_a_warning():
    dataset, _ = mapped()
    state = dataset.state_dict()
    dataset.set_epoch(5)
    with pytest.warns(UserWarning, match=r"a state of epoch 0 is loaded.*epoch 5.*set_epoch\(0\)"):
        dataset.load_state_dict(state)
    again, _ = mapped()
    again.load_state_dict(dataset.state_dict())
    again.load_state_dict(state)
    assert again.state_dict()["epoch"] == 0
