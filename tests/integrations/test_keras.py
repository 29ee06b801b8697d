"""tfr.keras.PyDataset: what `model.fit` gets, on the torch and the JAX backend, each in a process of its own."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import pytest

from tests.support.apart import run_apart
from tfrkit.errors import MissingExtraError

PROGRAM = """
import gc, json, os, pickle, random, threading, time, warnings
import keras, numpy as np
import tfrkit as tfr
import tfrkit.tf as tf
from tests.data.support.topologies import wrong_stretches

found = {"backend": keras.backend.backend()}
asked = []  # (epoch, number, targets)

class Watched(tfr.keras.PyDataset):
    def __getitem__(self, index):
        batch = super().__getitem__(index)
        asked.append((self.epoch, index, np.asarray(batch[-1]).tolist()))
        return batch

def message(function):
    try:
        function()
    except Exception as error:
        return f"{type(error).__name__}: {error}"

def model(*names):
    inputs = [keras.Input((2,), name=name) for name in names]
    merged = keras.layers.add(inputs) if len(inputs) > 1 else inputs[0]
    last = keras.layers.Dense(1, kernel_initializer="ones")
    made = keras.Model(inputs if len(inputs) > 1 else inputs[0], last(merged))
    made.compile(optimizer=keras.optimizers.SGD(1e-4), loss="mse")
    return made

def fit(net, data, **options):
    asked.clear()
    history = net.fit(data, verbose=0, **({"shuffle": False} | options))
    return [float(loss) for loss in history.history["loss"]]

SIZE = 37
x = np.arange(2 * SIZE, dtype=np.float32).reshape(SIZE, 2)
columns = {"x": x, "z": -x, "y": np.arange(SIZE, dtype=np.float32), "label": np.arange(SIZE)}
slices = tfr.Dataset.from_tensor_slices(columns).global_shuffle(seed=3)
ds = slices.batch(4)

# Two epochs: every sample once in each, in the orders of the dataset.
net = keras.Sequential([keras.layers.Dense(1)])  # not built: Keras looks at a batch first
net.compile(optimizer=keras.optimizers.SGD(1e-4), loss="mse")
data = Watched(ds, inputs="x", targets="y")
found["length"] = [len(data), data.num_batches]
fit(net, data, epochs=2)
passes = {epoch: {} for epoch in (0, 1)}
for epoch, number, targets in asked:
    passes[epoch][number] = targets
wanted = {epoch: [batch["y"].tolist() for batch in ds.epoch(epoch)] for epoch in (0, 1, 2)}
found["orders"] = [list(passes[epoch].values()) == wanted[epoch] for epoch in (0, 1)]
found["each once"] = [sorted(sum(passes[epoch].values(), [])) == list(range(SIZE)) for epoch in (0, 1)]
found["asked"] = len(asked) - 20  # to build the model
found["reshuffled"] = wanted[0] != wanted[1]
found["next epoch"] = data.epoch

# The same with Keras's own shuffle of batches: the contents stay.
fit(net, data, epochs=1, shuffle=True)
found["shuffled"] = [sorted(each[2] for each in asked) == sorted(wanted[2]), {each[0] for each in asked} == {2}]

# Every way to say what goes where.
found["fits"] = [
    fit(model("x"), tfr.keras.PyDataset(ds, inputs="x", targets="y", workers=workers), epochs=2)
    for workers in (0, 1, 3)
]
pair = fit(model("x", "z"), tfr.keras.PyDataset(ds, inputs=["x", "z"], targets="y"), epochs=1)
named = fit(model("x", "z"), tfr.keras.PyDataset(ds, inputs={"z": "z", "x": "x"}, targets="y"), epochs=1)
found["names"] = pair == named
tuples = ds.map(lambda batch: (batch["x"], batch["y"]))
by_number = fit(model("x"), tfr.keras.PyDataset(ds.map(lambda batch: (batch["y"], batch["x"])), 1, 0), epochs=1)
found["tuples"] = fit(model("x"), tfr.keras.PyDataset(tuples), epochs=1) == by_number
tensors = tf.data.Dataset.from_tensor_slices(columns).map(lambda row: row).batch(4)
plain = tfr.Dataset.from_tensor_slices(columns).batch(4)
found["tf"] = fit(model("x"), tfr.keras.PyDataset(tensors, "x", "y"), epochs=1) == fit(
    model("x"), tfr.keras.PyDataset(plain, "x", "y"), epochs=1)
predicted = model("x").predict(tfr.keras.PyDataset(plain, inputs="x"), verbose=0)
found["predict"] = list(predicted.shape)

# Weights: those of a mask count samples that fill up a shard not at all.
halves = [slices.shard(2, rank, tail="repeat", mask="real").batch(4) for rank in (0, 1)]
found["weights"] = [sum(int(batch[2].sum()) for batch in tfr.keras.PyDataset(half, "x", "y", "real"))
                    for half in halves]
found["weighted"] = len(fit(model("x"), tfr.keras.PyDataset(halves[1], "x", "y", "real"), epochs=1))

# Resuming: with the number of the epoch, or with Keras's.
resumed = Watched(ds, "x", "y", epoch=1)
fit(model("x"), resumed, epochs=2, initial_epoch=1)
found["resumed"] = [each[2] for each in asked][-10:] == wanted[1]
told = Watched(ds, "x", "y")
fit(model("x"), told, epochs=3, initial_epoch=2, callbacks=[told.callback])
found["told"] = [each[2] for each in asked][-10:] == wanted[2]

# Fewer steps than batches: one pass goes on over several of Keras's epochs.
steps = Watched(ds, "x", "y")
built = model("x")
fit(built, steps, epochs=4, steps_per_epoch=5)
taken = [each[:2] for each in asked]
found["steps"] = taken[taken.index((0, 0), 1) if taken.count((0, 0)) > 1 else 0 :] == [
    (epoch, number) for epoch in (0, 1) for number in range(10)]
told = Watched(ds, "x", "y")
fit(built, told, epochs=5, steps_per_epoch=5, callbacks=[told.callback])
found["told steps"] = [each[:2] for each in asked]
again = Watched(ds, "x", "y")
fit(built, again, initial_epoch=3, epochs=5, steps_per_epoch=5, callbacks=[again.callback])
found["told steps again"] = [each[:2] for each in asked]
three = Watched(ds, "x", "y")
with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # Keras's own, of a last epoch with fewer steps
    fit(built, three, epochs=16, steps_per_epoch=4, callbacks=[three.callback])
found["told few steps"] = [each[:2] for each in asked]
endless = Watched(ds.repeat(), "x", "y")
fit(built, endless, epochs=2, steps_per_epoch=10)
found["endless"] = [endless.num_batches, [each[2] for each in asked][-20:] == wanted[0] + wanted[1]]

# One batch: the one that Keras looks at before it trains is no pass. Nor is it a part of one that Keras shuffles.
one = Watched(slices.batch(SIZE), "x", "y")
unbuilt = keras.Sequential([keras.layers.Dense(1)])
unbuilt.compile(optimizer="sgd", loss="mse")
fit(unbuilt, one, epochs=2)
found["one batch"] = [[each[:2] for each in asked], one.epoch]
mixed = []
for attempt in range(8):
    keras.utils.set_random_seed(attempt)
    unbuilt = keras.Sequential([keras.layers.Dense(1)])
    unbuilt.compile(optimizer="sgd", loss="mse")
    nine = Watched(ds, "x", "y")
    fit(unbuilt, nine, epochs=1, steps_per_epoch=9, shuffle=True)
    mixed.append(nine.epoch)
found["look is no part"] = mixed

# 40 random sizes, batches, ranks and epochs.
draw = random.Random(1)
found["random"] = []
for _ in range(40):
    size, batch, ranks, epoch = (draw.randint(1, limit) for limit in (60, 9, 5, 9))
    ranks = min(ranks, size)
    taken = []
    for rank in range(ranks):
        part = tfr.Dataset.range(size).global_shuffle(seed=size).shard(ranks, rank).batch(batch)
        each = tfr.keras.PyDataset(part, workers=draw.randint(0, 3), epoch=epoch)
        numbers = list(range(len(each)))
        if draw.random() < 0.5:
            draw.shuffle(numbers)
        taken += [value for number in numbers for value in each[number][0].tolist()]
        for _ in range(2):
            each.on_epoch_end()
        assert each.epoch == epoch + 1
    found["random"].append(sorted(taken) == list(range(size)))

# Random changes of the topology, as a model that repeats its input sees them.
echo = keras.Sequential([keras.layers.Identity()])
echo.compile(run_eagerly=True)

def pair(sample):
    return {"pair": np.stack([sample["id"], sample["real"]]).astype(np.float32)}

def take(stretch, samples, rank):
    batches = stretch.part(samples, rank).map(pair).batch(stretch.batch)
    data = tfr.keras.PyDataset(batches, "pair", workers=stretch.draw.randint(0, 3), epoch=stretch.epoch)
    steps = len(data) if stretch.steps is None else min(stretch.steps, len(data))
    return [(int(number), bool(real)) for number, real in echo.predict(data, steps=steps, verbose=0)] if steps else []

found["topologies"] = wrong_stretches(int(os.environ.get("TFRKIT_TOPOLOGIES", "20")), 3, take)

# 50 that are left after a batch, while others are made ahead.
def left_behind():
    gc.collect()
    return [len(os.listdir("/proc/self/fd")), sum(each.name == "tfrkit" for each in threading.enumerate())]

with tfr.TFRecordWriter("many.tfrecord") as writer:
    for number in range(100):
        writer.write_example({"id": number})
many = tfr.TFRecordDataset("many.tfrecord").global_shuffle(seed=1).parse({"id": tfr.FixedLenFeature([], "int64")})
tfr.keras.PyDataset(many.batch(4), "id")[0]
while left_behind()[1]:
    time.sleep(0.02)
before = left_behind()
for _ in range(50):
    tfr.keras.PyDataset(many.batch(4), "id", workers=3)[0]
deadline = time.monotonic() + 20
while left_behind() > before and time.monotonic() < deadline:
    time.sleep(0.02)
found["abandoned"] = [before, left_behind()]

copy = pickle.loads(pickle.dumps(data))
found["pickled"] = [copy.epoch == data.epoch, copy[1][1].tolist() == data[1][1].tolist()]
with tfr.TFRecordWriter("damaged.tfrecord") as writer:
    for number in range(20):
        writer.write_example({"id": number})
content = bytearray(open("damaged.tfrecord", "rb").read())
for number in (5, 8, 9, 10, 11):
    content[number * len(content) // 20 + 14] ^= 255
open("damaged.tfrecord", "wb").write(content)
records = tfr.TFRecordDataset("damaged.tfrecord", on_corrupt="skip").parse({"id": tfr.FixedLenFeature([], "int64")})
left = tfr.keras.PyDataset(records.batch(4), "id", workers=0)
found["left"] = [[left[number][0].tolist() for number in (0, 1, 3)], left.skipped, left.damages[0][1].record]
found["nothing left"] = message(lambda: left[2])
texts = tfr.Dataset.from_tensor_slices({"t": [b"a", b"b"], "n": [1, 2]})
ragged = tfr.Dataset.range(1, 4).map(lambda n: {"r": np.arange(n)}).ragged_batch(3)
empty = tfr.keras.PyDataset(slices.take(3).batch(4, drop_remainder=True), "x", "y")
found["errors"] = {
    "empty fit": message(lambda: model("x").fit(empty, verbose=0)),
    "empty evaluate": message(lambda: model("x").evaluate(empty, verbose=0)),
    "empty predict": message(lambda: model("x").predict(empty, verbose=0)),
    "nothing": message(lambda: model("x").fit(tfr.keras.PyDataset(tfr.Dataset.range(0).batch(4)), verbose=0)),
    "bytes": message(lambda: tfr.keras.PyDataset(texts.batch(2), inputs="t")[0]),
    "ragged": message(lambda: tfr.keras.PyDataset(ragged, inputs="r")[0]),
    "single": message(lambda: tfr.keras.PyDataset(texts, inputs="n")[0]),
    "list": message(lambda: tfr.keras.PyDataset([1])),
    "missing": message(lambda: tfr.keras.PyDataset(ds, inputs="lable")[0]),
    "no inputs": message(lambda: tfr.keras.PyDataset(ds, targets="y")),
    "range": message(lambda: data[10]),
    "filter": message(lambda: tfr.keras.PyDataset(ds.filter(bool))),
}
print(json.dumps(found))
"""


@pytest.fixture(scope="module", params=["torch", "jax"])
def found(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Any:
    made = run_apart(
        PROGRAM, tmp_path_factory.mktemp("keras"), KERAS_BACKEND=request.param, JAX_PLATFORMS="cpu"
    )
    assert made["backend"] == request.param
    return made


def test_fit_sees_every_sample_once_an_epoch_in_the_order_of_the_dataset(found):
    assert found["length"] == [10, 10]
    assert found["orders"] == [True, True]
    assert found["each once"] == [True, True]
    assert found["asked"] == 1
    assert found["reshuffled"]
    assert found["next epoch"] == 2


def test_shuffle_of_keras_moves_whole_batches_only(found):
    assert found["shuffled"] == [True, True]


def test_batches_that_are_made_ahead_change_nothing(found):
    without, one, three = found["fits"]
    assert without == one == three
    assert len(one) == 2


def test_inputs_by_order_and_by_name(found):
    assert found["names"]


def test_elements_that_are_tuples_need_no_names(found):
    assert found["tuples"]


def test_datasets_of_tf_work_too(found):
    assert found["tf"]


def test_predict_needs_inputs_only(found):
    assert found["predict"] == [37, 1]


def test_mask_of_a_shard_is_weights(found):
    assert found["weights"] == [19, 18]
    assert found["weighted"] == 1


def test_epoch_can_be_given_or_told_by_keras(found):
    assert found["resumed"]
    assert found["told"]


def test_pass_goes_on_over_epochs_of_fewer_steps(found):
    assert found["steps"]


def test_pass_keeps_its_epoch_where_keras_tells_its_own(found):
    assert found["told steps"] == [[epoch, number] for epoch in range(3) for number in range(10)][:25]
    assert found["told steps again"] == [[1, number] for number in range(10)]
    assert found["told few steps"] == [[epoch, number] for epoch in range(6) for number in range(10)][:54]


def test_look_of_keras_is_no_pass(found):
    assert found["one batch"] == [[[0, 0], [0, 0], [1, 0]], 2]
    assert found["look is no part"] == [0] * 8


def test_endless_dataset_needs_steps_and_keeps_its_epochs(found):
    assert found["endless"] == [None, True]


def test_ranks_see_every_sample_once_an_epoch(found):
    assert found["random"] == [True] * 40


def test_any_change_of_topology_gives_every_sample_once(found):
    assert found["topologies"] == []


def test_damaged_records_are_left_out_of_batches_and_counted(found):
    assert found["left"] == [[[0, 1, 2, 3], [4, 6, 7], [12, 13, 14, 15]], 1, 5]
    assert found["nothing left"] == (
        "DataLossError: record 8 of 'damaged.tfrecord' is damaged, and 3 more of the same request: on_corrupt=\"skip\" "
        "leaves nothing to return. Keras cannot leave a batch out: make batches larger, so that an intact record is in "
        "each (global_shuffle spreads damage that stands together), or take the damage out of the files with `tfr "
        "repair`."
    )


def test_fifty_that_are_abandoned_leave_nothing(found):
    before, after = found["abandoned"]
    assert after <= before


def test_pickles(found):
    assert found["pickled"] == [True, True]


def test_errors_say_what_to_do(found):
    errors = found["errors"]
    assert errors["bytes"] == (
        "InvalidArgumentError: PyDataset: batch['t'] is a BytesColumn, of which Keras has no tensors. Decode it "
        "(decode_image, decode_raw), or leave it out: inputs= and targets= choose."
    )
    assert errors["ragged"] == (
        "InvalidArgumentError: PyDataset: batch['r'] is a Ragged, with rows of different lengths. Pad them "
        "(padded_batch, or to_padded in a map), or leave it out: inputs= and targets= choose."
    )
    assert errors["single"] == (
        "InvalidArgumentError: PyDataset: batch['n'] is one value of type int32. Elements have to be batches: put "
        "batch() last."
    )
    assert errors["list"] == "InvalidArgumentError: Expected a tfrkit Dataset but got list."
    assert errors["missing"] == (
        "InvalidArgumentError: PyDataset: a batch has no 'lable'. Did you mean 'label'?"
    )
    assert "targets need inputs, and weights need targets" in errors["no inputs"]
    assert errors["range"] == "IndexError: element 10 is out of range: there are 10"
    assert "has no elements by number" in errors["filter"]
    for name in ("fit", "evaluate", "predict"):
        assert errors[f"empty {name}"] == (
            "InvalidArgumentError: PyDataset has no batches: batch(4, drop_remainder=True) leaves nothing of 3 "
            "elements."
        )
    assert (
        errors["nothing"]
        == "InvalidArgumentError: PyDataset has no batches: there is nothing in range(0, 0, 1)."
    )


def test_without_keras_the_error_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "keras", None)
    module = importlib.import_module("tfrkit.integrations.keras")
    monkeypatch.delitem(vars(module), "PyDataset", raising=False)
    with pytest.raises(MissingExtraError) as caught:
        module.PyDataset  # noqa: B018  # asking for it is the test
    assert str(caught.value) == (
        "tfrkit.keras.PyDataset needs the package keras, which is not installed. Install it with: pip install "
        "'tfrkit[keras]'"
    )
    with pytest.raises(AttributeError, match="Did you mean 'PyDataset'"):
        module.PyDatset  # noqa: B018  # as above
