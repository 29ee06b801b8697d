"""tfr.torch.MapDataset and IterableDataset in one process: finished batches, ranks, states as torchdata has them."""

from __future__ import annotations

import json
import pickle
from typing import Any

import numpy as np
import pytest
import torch

import tfrkit as tfr
from tests.integrations.support.torch_samples import COUNT, SPEC, ids, pipelines, same, write_samples
from tfrkit.errors import InvalidArgumentError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_samples(tmp_path_factory.mktemp("records"))


@pytest.fixture
def ds(files):
    return tfr.TFRecordDataset(files).parse(SPEC).global_shuffle(seed=3).batch(8)


def test_map_dataset_gives_elements_and_finished_batches(ds, files):
    plain = tfr.TFRecordDataset(files).parse(SPEC).global_shuffle(seed=3)
    found = tfr.torch.MapDataset(plain)
    assert len(found) == COUNT
    assert same(plain[4], found[4])
    for indices in ([3, 0, 9], np.array([3, 0, 9]), torch.tensor([3, 0, 9]), (3, 0, 9)):
        assert same(plain.at([3, 0, 9]), found[indices])
    assert same(plain.at([1, 2]), tfr.torch.collate(found.__getitems__([1, 2])))
    with pytest.raises(TypeError, match=r"slice the Dataset, MapDataset\(ds\[a:b\]\)"):
        found[2:4]
    found.set_epoch(5)
    assert same(plain.at([3, 0], 5), found[[3, 0]])
    assert same(plain.epoch(5)[2], found[2])
    assert same(plain.at([3, 0], 5), pickle.loads(pickle.dumps(found))[[3, 0]])
    batch = found[[3, 0]]
    batch["x"].zero_()
    assert same(plain.at([3, 0], 5), found[[3, 0]])


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("collate", [None, tfr.torch.collate])
def test_finished_batches_need_no_collate(files, workers, collate):
    large = 2**24 + 1  # which float32 has not
    pairs = tfr.Dataset.from_tensor_slices((np.ones(4, np.float32), np.array([large] * 4)))
    numbers = tfr.Dataset.range(4)
    rows = tfr.TFRecordDataset(files).parse(SPEC).take(4)
    for plain in (pairs, numbers, rows, pairs.map(lambda x, y: {"x": x, "y": (y, y)})):
        dataset = tfr.torch.MapDataset(plain)
        for made in (dataset, torch.utils.data.Subset(dataset, range(4))):
            found = list(
                torch.utils.data.DataLoader(made, batch_size=2, num_workers=workers, collate_fn=collate)
            )
            assert [type(batch) for batch in found] == [type(dataset[[0, 1]])] * 2
            assert same(plain.at([0, 1]), found[0])
            assert same(plain.at([2, 3]), found[1])


@pytest.mark.parametrize("workers", [0, 2])
def test_stacked_datasets_give_finished_batches_side_by_side(workers):
    numbers = tfr.torch.MapDataset(tfr.Dataset.range(5).map(lambda x: {"id": x}))
    squares = tfr.torch.MapDataset(tfr.Dataset.range(5).map(lambda x: x * x))
    pairs = torch.utils.data.StackDataset(numbers, squares)
    for left, right in torch.utils.data.DataLoader(pairs, batch_size=2, num_workers=workers):
        assert torch.equal(left["id"] ** 2, right)
    named = torch.utils.data.StackDataset(a=numbers, b=squares)
    batches = list(torch.utils.data.DataLoader(named, batch_size=3, num_workers=workers))
    assert [batch["b"].tolist() for batch in batches] == [[0, 1, 4], [9, 16]]


def test_loader_of_torch_over_a_dataset_without_numbers_names_the_stage():
    for ds in (tfr.Dataset.range(4).filter(bool), tfr.Dataset.range(4).filter(bool).batch(2)):
        with pytest.raises(TypeError) as caught:
            list(torch.utils.data.DataLoader(ds))
        assert str(caught.value).startswith(
            "The dataset length is unknown. filter(bool) has no elements by number, so that the dataset can only be "
            "iterated. "
        )
        assert str(caught.value).endswith("For a DataLoader use tfr.torch.IterableDataset(ds).")


def test_epoch_that_is_run_again_in_this_process_is_a_warning():
    shuffled = tfr.Dataset.range(10).global_shuffle(seed=1)

    def loader(dataset: Any, drop_last: bool = False) -> Any:
        return torch.utils.data.DataLoader(dataset, batch_size=3, drop_last=drop_last)

    for drop_last in (False, True):
        dataset = tfr.torch.MapDataset(shuffled)
        next(iter(loader(dataset)))  # a look
        for epoch in (0, 1, 1):
            dataset.set_epoch(epoch)
            list(loader(dataset, drop_last))
        with pytest.warns(UserWarning, match=r"epoch 1 is run again(.|\n)*set_epoch\(epoch\)"):
            list(loader(dataset, drop_last))
    for plain in (tfr.Dataset.range(10), shuffled.repeat()):
        dataset = tfr.torch.MapDataset(plain)
        for _ in range(2):
            for _ in range(3):
                dataset[[0, 1, 2]]


def test_map_dataset_names_the_stage_that_has_no_numbers():
    with pytest.raises(InvalidArgumentError, match=r"filter\(.*\) has no elements by number"):
        tfr.torch.MapDataset(tfr.Dataset.range(4).filter(bool).batch(2))


def test_loaders_of_torch_without_workers(ds, files):
    plain = tfr.TFRecordDataset(files).parse(SPEC).global_shuffle(seed=3)
    loader = torch.utils.data.DataLoader(
        tfr.torch.MapDataset(plain), batch_size=8, collate_fn=tfr.torch.collate
    )
    assert ids(loader) == ids(ds.epoch(0))
    sampler = torch.utils.data.BatchSampler(range(COUNT), 8, drop_last=False)
    assert ids(
        torch.utils.data.DataLoader(tfr.torch.MapDataset(plain), batch_size=None, sampler=sampler)
    ) == ids(ds.epoch(0))
    iterable = torch.utils.data.DataLoader(tfr.torch.IterableDataset(ds), batch_size=None)
    assert [ids(iterable), ids(iterable)] == [ids(ds.epoch(0)), ids(ds.epoch(1))]
    assert len(iterable) == len(ds)
    numbers = tfr.TFRecordDataset(files).parse({"id": SPEC["id"], "name": SPEC["name"]})
    for dataset in (numbers, tfr.torch.IterableDataset(numbers), tfr.torch.MapDataset(numbers)):
        (batch,) = torch.utils.data.DataLoader(dataset, batch_size=COUNT, collate_fn=tfr.torch.collate)
        assert sorted(batch["id"].tolist()) == list(range(COUNT))
        assert set(batch["name"]) == {b"n%d" % number for number in range(COUNT)}


def test_iterable_dataset_is_divided_by_rank_only_when_told(ds):
    parts = [tfr.torch.IterableDataset(ds, rank, 3, tail="drop") for rank in range(3)]
    assert [len(part) for part in parts] == [2, 2, 2]
    found = [ids(part) for part in parts]
    assert [batch for step in zip(*found, strict=True) for batch in step] == ids(ds.epoch(0))[:6]


def restored(dataset: Any, saved: tuple[Any, Any]) -> Any:
    """Restore as torchdata's StatefulDataLoader does it in a worker, which may make its iterator twice."""
    dataset.load_state_dict(saved[0])
    iter(dataset)
    iterator = iter(dataset)
    if saved[1] is not None:
        iterator.load_state_dict(saved[1])
    return iterator


@pytest.mark.parametrize("name", ["shuffled", "filtered", "batches"])
@pytest.mark.parametrize("both", [False, True])
def test_protocol_of_torchdata(files, name, both):
    dataset = tfr.torch.IterableDataset(pipelines(files)[name])
    dataset.set_epoch(1)
    iterator = iter(dataset)
    saved, found = [], []
    while True:
        states = json.loads(json.dumps([dataset.state_dict(), iterator.state_dict() if both else None]))
        saved.append(states)
        try:
            found.append(next(iterator)["id"].tolist())
        except StopIteration:
            break
    for place, states in enumerate(saved):
        again = tfr.torch.IterableDataset(pipelines(files)[name])
        again.set_epoch(1)
        assert ids(restored(again, states)) == found[place:]
        again.set_epoch(2)
        wanted = pipelines(files)[name].epoch(2)
        assert ids(again) == ids(wanted)  # what was resumed is over


def test_loaded_state_is_the_state_and_outlives_the_pass_before(ds):
    first = tfr.torch.IterableDataset(ds)
    iterator = iter(first)
    next(iterator), next(iterator)
    state = first.state_dict()
    for make in (tfr.torch.IterableDataset, tfr.torch.loader):
        dataset = make(ds)
        dataset.set_epoch(0)
        list(dataset)
        dataset.load_state_dict(state)
        assert dataset.state_dict()["taken"] == 2
        dataset.set_epoch(0)
        older = iter(dataset)
        next(older)
        dataset.load_state_dict(state)
        list(older)  # ends when the state waits
        assert ids(dataset) == ids(ds.epoch(0))[2:]


def test_position_counts_from_where_a_pass_was_resumed(ds):
    dataset = tfr.torch.IterableDataset(ds)
    found = []

    def run(steps: int) -> dict[str, Any]:
        position = dataset.position(0)
        for step, batch in enumerate(dataset, 1):
            found.append(batch["id"].tolist())
            position = dataset.position(step)
            if step == steps:
                break
        return position

    position = run(2)
    assert (position["epoch"], position["samples"]) == (0, 16)
    dataset = tfr.torch.IterableDataset(ds)
    dataset.load_state_dict(position)
    assert dataset.position(0) == position
    assert run(3)["samples"] == 40
    state = dataset.state_dict()
    dataset = tfr.torch.IterableDataset(ds)
    dataset.load_state_dict(state)
    assert run(9)["samples"] == COUNT
    assert found == ids(ds.epoch(0))
    found.clear()
    position = run(1)  # the next pass
    assert (position["epoch"], position["samples"]) == (1, 8)
    assert found == ids(ds.epoch(1))[:1]
