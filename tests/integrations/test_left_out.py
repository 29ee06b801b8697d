"""Damaged records under on_corrupt="skip": what loaders of torch give, count, and say."""

from __future__ import annotations

from typing import Any

import pytest
from torch.utils.data import DataLoader

import tfrkit as tfr
from tfrkit.errors import DataLossError

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),  # more workers than cores
]

DAMAGED = (5, 8, 9, 10, 11)  # of 20: all of the third batch of four
INTACT = [number for number in range(20) if number not in DAMAGED]
SPEC = {"id": tfr.FixedLenFeature([], "int64")}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        for number in range(20):
            writer.write_example({"id": number})
    data = bytearray(path.read_bytes())
    for number in DAMAGED:
        data[number * len(data) // 20 + 14] ^= 255
    path.write_bytes(data)
    return str(path)


@pytest.fixture
def samples(path):
    return tfr.TFRecordDataset(path, on_corrupt="skip").parse(SPEC)


def ids(batches: Any) -> list[list[int]]:
    return [batch["id"].tolist() for batch in batches]


def flat(batches: list[list[int]]) -> list[int]:
    return [number for batch in batches for number in batch]


@pytest.mark.parametrize("workers", [0, 2])
def test_batch_of_a_map_dataset_is_smaller_and_what_is_missing_is_counted(samples, workers):
    dataset = tfr.torch.MapDataset(samples)
    loader = DataLoader(dataset, batch_size=10, num_workers=workers)
    assert ids(loader) == [[0, 1, 2, 3, 4, 6, 7], [*range(12, 20)]]
    assert dataset.skipped == 5
    if not workers:
        assert [damage.record for _, damage in dataset.damages] == list(DAMAGED)


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("wrap", [tfr.torch.MapDataset, lambda ds: ds])
def test_batch_of_which_nothing_is_left_names_the_record_and_what_to_do(samples, path, wrap, workers):
    batches = iter(DataLoader(wrap(samples), batch_size=4, num_workers=workers))
    assert ids([next(batches), next(batches)]) == [[0, 1, 2, 3], [4, 6, 7]]
    with pytest.raises(DataLossError) as caught:
        next(batches)
    assert f"record 8 of {path!r} is damaged, and 3 more of the same request" in str(caught.value)
    assert "iterate (tfr.torch.loader, tfr.torch.IterableDataset)" in str(caught.value)
    assert "`tfr repair`" in str(caught.value)
    if workers:
        batches._shutdown_workers()
    else:
        assert (caught.value.path, caught.value.record) == (path, 8)


def test_single_element_that_is_left_out_is_the_same_error(samples):
    with pytest.raises(DataLossError, match=r"record 5 of .* is damaged: .*`tfr repair`"):
        tfr.torch.MapDataset(samples)[5]
    with pytest.raises(IndexError, match="element 20 is out of range"):
        tfr.torch.MapDataset(samples)[20]


@pytest.mark.parametrize("workers", [0, 2])
def test_iterable_dataset_leaves_them_out_and_counts_them(samples, workers):
    dataset = tfr.torch.IterableDataset(samples.batch(4))
    loader = DataLoader(dataset, batch_size=None, num_workers=workers)
    assert sorted(flat(ids(loader))) == INTACT
    assert dataset.skipped == 5


@pytest.mark.parametrize("device", [None, "cpu"])
def test_loader_leaves_them_out_and_counts_them(samples, path, device):
    loader = tfr.torch.loader(samples.batch(4), device)
    assert (loader.skipped, loader.damages) == (0, [])
    batches = iter(loader)
    assert flat(ids(batches)) == INTACT
    for each in (batches, loader):
        assert each.skipped == 5
        assert [(name, damage.record) for name, damage in each.damages][:1] == [(path, 5)]
