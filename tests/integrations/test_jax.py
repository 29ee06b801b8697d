"""tfr.jax.loader: the same elements as iterating, as JAX arrays; on four made-up devices, in another process."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

import tfrkit as tfr
from tests.support.apart import run_apart
from tfrkit.errors import MissingExtraError

PROGRAM = """
import copy, gc, json, pickle, random, threading, time
import jax, numpy as np
import tfrkit as tfr
import tfrkit.tf as tf
from jax.sharding import Mesh, NamedSharding, PartitionSpec

found = {}
devices = jax.devices()
sharding = NamedSharding(Mesh(np.array(devices), ("data",)), PartitionSpec("data"))

def message(function):
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def numbers(batches):
    return [batch["y"].tolist() for batch in batches]

columns = {"x": np.arange(80, dtype=np.float32).reshape(40, 2), "y": np.arange(40)}
ds = tfr.Dataset.from_tensor_slices(columns).global_shuffle(seed=1).batch(8)

batches = tfr.jax.loader(ds, sharding)
found["length"] = len(batches)
first = next(iter(batches))
found["kinds"] = {name: [isinstance(value, jax.Array), str(value.dtype), len(value.sharding.device_set)]
                  for name, value in first.items()}
found["rows"] = [piece.data.tolist() for piece in first["y"].addressable_shards]
found["epochs"] = [numbers(batches) == numbers(ds.epoch(epoch)) for epoch in (1, 2)]

# 40 random numbers of ranks, sizes of batches and epochs.
def part(size, batch, ranks, rank):
    slices = tfr.Dataset.from_tensor_slices({"y": np.arange(size)}).global_shuffle(seed=size)
    return slices.shard(ranks, rank, tail="repeat", mask="real").batch(batch)

draw = random.Random(1)
found["random"] = []
for _ in range(40):
    size, batch, ranks, epoch = (draw.randint(1, limit) for limit in (60, 9, 5, 3))
    ranks = min(ranks, size)
    taken = []
    for rank in range(ranks):
        local = tfr.jax.loader(part(size, batch, ranks, rank))
        for _ in range(epoch):
            list(local)
        taken += [y for each in local for y, real in zip(each["y"].tolist(), each["real"].tolist()) if real]
    found["random"].append(sorted(taken) == list(range(size)))

# Resuming: the state is that of what was taken, not of what was made ahead.
batches = tfr.jax.loader(ds)
found["fresh"] = [batches.position()["samples"], numbers(batches) == numbers(ds.epoch(3))]
run = iter(batches)
next(run), next(run)
state, position = json.loads(json.dumps(batches.state_dict())), batches.position()
found["position"] = [position["epoch"], position["samples"], run.position() == position, run.state_dict() == state]
rest = numbers(run)
again = tfr.jax.loader(ds)
again.load_state_dict(state)
found["resumed"] = [again.position() == position, numbers(again) == rest, numbers(again) == numbers(ds.epoch(5))]
again.load_state_dict(state)
again.set_epoch(position["epoch"])  # as a loop over epochs does
found["resumed"].append(numbers(again) == rest)
halves = [tfr.jax.loader(tfr.Dataset.from_tensor_slices(columns).global_shuffle(seed=1).shard(2, rank).batch(3))
          for rank in (0, 1)]
left = []
for half in halves:
    half.load_state_dict(position)
    left += [y for batch in numbers(half) for y in batch]
found["elastic"] = sorted(left) == sorted(y for batch in rest for y in batch)

again.set_epoch(7)
found["set epoch"] = [again.position()["epoch"], numbers(again) == numbers(ds.epoch(7))]
steps = []
found["profile"] = "batch(8)" in str(again.profile(lambda batch: steps.append(isinstance(batch["y"], jax.Array)), 1))
found["steps"] = [len(steps) >= 5, all(steps)]

# What is no array.
texts = tfr.Dataset.from_tensor_slices([b"a", b"bc"]).batch(2)
found["bytes"] = repr(next(iter(tfr.jax.loader(texts))))
ragged = tfr.Dataset.range(1, 4).map(lambda n: np.arange(n)).ragged_batch(3)
rows = next(iter(tfr.jax.loader(ragged)))
found["ragged"] = [type(rows).__name__, rows.values.tolist(), rows.row_splits.tolist(), len(jax.tree.leaves(rows))]
found["ragged with sharding"] = message(lambda: list(tfr.jax.loader(ragged, sharding)))
found["remainder"] = message(lambda: list(tfr.jax.loader(tfr.Dataset.range(10).batch(4), sharding)))
large = tfr.Dataset.from_tensor_slices({"id": np.array([1, 2**40])})
found["large"] = message(lambda: list(tfr.jax.loader(large.batch(2))))
two_axes = NamedSharding(Mesh(np.array(devices), ("data",)), PartitionSpec(None, "data"))
found["wrong sharding"] = message(lambda: list(tfr.jax.loader(tfr.Dataset.range(8).batch(4), two_axes)))
found["no dataset"] = message(lambda: tfr.jax.loader([1]))

# Contexts of the thread that begins a pass.
places = tfr.jax.loader(large.batch(1))
with jax.default_device(devices[2]), jax.enable_x64(True):
    run = iter(places)
    found["contexts"] = [[batch["id"].tolist(), [device.id for device in batch["id"].devices()]] for batch in run]
    found["contexts in profiles"] = []
    places.profile(lambda batch: found["contexts in profiles"].append([device.id for device in batch["id"].devices()]))
small = tfr.jax.loader(tfr.Dataset.range(1).batch(1))
found["contexts after"] = [[str(batch.dtype), [device.id for device in batch.devices()]] for batch in small]
copies = [pickle.loads(pickle.dumps(small)), copy.deepcopy(small)]
found["copies"] = [[batch.tolist() for batch in each] for each in copies]
tensors = tf.data.Dataset.range(3).map(lambda x: x + 1).batch(2)
found["tf"] = [batch.tolist() for batch in tfr.jax.loader(tensors)]

# An error in the middle comes in its place.
def picky(x):
    if x == 3:
        raise ValueError("no 3")
    return x
run = iter(tfr.jax.loader(tfr.Dataset.range(6).map(picky)))
found["errors"] = [message(lambda: next(run)) for _ in range(7)]

# Loops that are left early leave nothing behind.
for _ in range(50):
    for batch in tfr.jax.loader(ds.prefetch(2)):
        break
del batch
gc.collect()
time.sleep(0.6)
found["threads"] = [each.name for each in threading.enumerate() if each.name == "tfrkit"]

jax.config.update("jax_enable_x64", True)
found["64 bits"] = [batch["id"].tolist() for batch in tfr.jax.loader(large.batch(2))]
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def found(tmp_path_factory: pytest.TempPathFactory) -> Any:
    flags = "--xla_force_host_platform_device_count=4"
    return run_apart(PROGRAM, tmp_path_factory.mktemp("jax"), XLA_FLAGS=flags, JAX_PLATFORMS="cpu")


def test_batches_are_divided_among_devices(found):
    assert found["length"] == 5
    assert found["kinds"] == {"x": [True, "float32", 4], "y": [True, "int32", 4]}
    assert [len(rows) for rows in found["rows"]] == [2, 2, 2, 2]


def test_every_pass_is_the_next_epoch_of_the_dataset(found):
    assert found["epochs"] == [True, True]


def test_ranks_see_every_sample_once_an_epoch(found):
    assert found["random"] == [True] * 40


def test_state_is_that_of_what_was_taken(found):
    assert found["fresh"] == [0, True]
    assert found["position"] == [4, 16, True, True]
    assert found["resumed"] == [True] * 4


def test_epoch_can_be_chosen(found):
    assert found["set epoch"] == [7, True]


def test_profile_steps_through_arrays(found):
    assert found["profile"]
    assert found["steps"] == [True, True]


def test_position_continues_on_two_ranks_with_other_batches(found):
    assert found["elastic"]


def test_bytes_stay_and_ragged_becomes_values_and_splits(found):
    assert found["bytes"] == "BytesColumn(shape=(2,), [b'a', b'bc'])"
    assert found["ragged"] == ["RaggedArrays", [0, 0, 1, 0, 1, 2], [0, 1, 3, 6], 2]


def test_what_no_sharding_divides_is_refused(found):
    assert found["ragged with sharding"] == (
        "InvalidArgumentError: tfrkit.jax.loader: element is ragged, which no sharding divides. Pad it (padded_batch, "
        "to_padded)."
    )
    assert found["remainder"].startswith(
        "InvalidArgumentError: tfrkit.jax.loader: element of shape (2,) cannot be divided: "
    )
    assert found["remainder"].endswith("with drop_remainder=True.")


def test_integers_beyond_32_bits_are_refused_unless_jax_has_64(found):
    assert found["large"] == (
        "InvalidArgumentError: tfrkit.jax.loader: element['id'] has numbers beyond int32, to which JAX would cut them. "
        "Set jax_enable_x64, or hash or drop it."
    )
    assert found["64 bits"] == [[1, 2**40]]


def test_sharding_that_is_wrong_is_not_the_batches_fault(found):
    assert found["wrong sharding"].startswith(
        "InvalidArgumentError: tfrkit.jax.loader: element of shape (4,) cannot have the sharding NamedSharding("
    )
    assert "drop_remainder" not in found["wrong sharding"]
    assert found["no dataset"] == "InvalidArgumentError: Expected a tfrkit Dataset but got list."


def test_contexts_are_those_where_a_pass_begins(found):
    assert found["contexts"] == [[[1], [2]], [[2**40], [2]]]
    assert found["contexts in profiles"] == [[2], [2]]
    assert found["contexts after"] == [["int32", [0]]]


def test_loaders_that_were_used_can_be_copied(found):
    assert found["copies"] == [[[0]], [[0]]]


def test_datasets_of_tf_give_arrays(found):
    assert found["tf"] == [[1, 2], [3]]


def test_error_comes_in_its_place_and_the_rest_follows(found):
    errors = found["errors"]
    assert [error is None for error in errors] == [True, True, True, False, True, True, False]
    assert "no 3" in errors[3]
    assert errors[6].startswith("StopIteration")


def test_loops_that_are_left_leave_no_threads(found):
    assert found["threads"] == []


def test_without_jax_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "jax", None)
    module = importlib.import_module("tfrkit.integrations.jax")
    with pytest.raises(MissingExtraError) as caught:
        module.loader(tfr.Dataset.range(3))
    assert str(caught.value) == (
        "tfrkit.jax.loader needs the package jax, which is not installed. Install it with: pip install 'tfrkit[jax]'"
    )
