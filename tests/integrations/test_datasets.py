from __future__ import annotations

import pickle

import numpy as np
import pytest
from datasets import Features, List, Value
from datasets.distributed import split_dataset_by_node
from torch.utils.data import DataLoader

import tfrkit
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.datasets import split_files

pytestmark = pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
ROWS = 100


@pytest.fixture
def files(tmp_path):
    with tfrkit.ShardWriter(str(tmp_path / "a"), shards=4) as writer:
        for number in range(ROWS):
            writer.write_example({"label": number, "name": f"n{number}", "ids": np.full(number % 3, number)})
    return str(tmp_path / "a-*.tfrecord")


def labels(dataset):
    return [row["label"] for row in dataset]


def test_rows_and_features(files):
    found = tfrkit.to_hf(files)
    assert found.num_shards == 4
    assert found.features == Features(
        {"ids": List(Value("int64")), "label": Value("int64"), "name": Value("string")}
    )
    assert next(iter(found)) == {"ids": [], "label": 0, "name": "n0"}
    assert labels(found) == [row["label"][0] for row in tfrkit.read_examples(files)]


def test_columns_and_where_decode_only_what_is_needed(files, decoded):
    assert list(tfrkit.to_hf(files, ["name"], "label >= 98")) == [{"name": "n98"}, {"name": "n99"}]
    assert decoded == {"label": ROWS, "name": 2}


@pytest.mark.parametrize("num_shards", [1, 3, 7, ROWS])
def test_any_number_of_shards(files, num_shards):
    found = tfrkit.to_hf(files, num_shards=num_shards)
    assert found.num_shards == num_shards
    assert labels(found) == labels(tfrkit.to_hf(files))


@pytest.mark.parametrize("num_shards", [None, 6])
def test_ranks_share_the_shards(files, num_shards):
    found = tfrkit.to_hf(files, ["label"], num_shards=num_shards)
    parts = [labels(split_dataset_by_node(found, rank, 2)) for rank in range(2)]
    assert all(parts)
    assert sorted(parts[0] + parts[1]) == list(range(ROWS))


def test_workers_share_the_shards(files):
    found = tfrkit.to_hf(files, ["label"], num_shards=6)
    loader = DataLoader(found, batch_size=None, num_workers=2, multiprocessing_context="spawn")
    assert sorted(int(row["label"]) for row in loader) == list(range(ROWS))


@pytest.mark.parametrize("num_shards", [None, 6])
def test_state_is_restored(files, num_shards):
    found = tfrkit.to_hf(files, ["label"], num_shards=num_shards)
    rows = iter(found)
    first = [next(rows)["label"] for _ in range(40)]
    state = found.state_dict()
    again = tfrkit.to_hf(files, ["label"], num_shards=num_shards)
    again.load_state_dict(state)
    assert first + labels(again) == labels(found)


def test_pickles_and_shuffles(files):
    found = pickle.loads(pickle.dumps(tfrkit.to_hf(files, ["label"], num_shards=5)))
    assert sorted(labels(found.shuffle(seed=1, buffer_size=10))) == list(range(ROWS))
    assert labels(found.shuffle(seed=1, buffer_size=10)) != labels(found)


def test_spec_and_source(files):
    spec = {"label": tfrkit.FixedLenFeature([], "int64"), "none": tfrkit.FixedLenFeature([], "float32")}
    row = next(iter(tfrkit.to_hf(files, spec=spec, with_source=True, text=False, num_shards=2)))
    assert row.pop("_file").endswith("a-00000-of-00004.tfrecord")
    assert row == {"label": 0, "none": None, "_record": 0}


def test_wrong_numbers_of_shards(files):
    with pytest.raises(InvalidArgumentError, match="expected num_shards from 1 to 100"):
        tfrkit.to_hf(files, num_shards=101)
    with pytest.raises(InvalidArgumentError, match="Repair the files"):
        tfrkit.to_hf(files, num_shards=2, on_corrupt="skip")


@pytest.mark.parametrize("num_shards", range(1, 12))
def test_shards_are_all_records_in_order(num_shards):
    counts = {"a": 5, "b": 0, "c": 7, "d": 1}
    shards = split_files(list(counts), list(counts.values()), num_shards)
    assert len(shards) == num_shards
    rows = [(file, row) for shard in shards for file, first, last in shard for row in range(first, last)]
    assert rows == [(file, row) for file, count in counts.items() for row in range(count)]
