"""tfr.torch in one process: the same elements as iterating, as tensors; states at every place; nothing left behind."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import tfrkit as tfr
from tests.integrations.support.torch_samples import SPEC, ids, pipelines, same, write_samples
from tests.support.apart import run_apart
from tfrkit import tf
from tfrkit.errors import InvalidArgumentError


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return write_samples(tmp_path_factory.mktemp("records"))


@pytest.fixture
def ds(files):
    return tfr.TFRecordDataset(files).parse(SPEC).global_shuffle(seed=3).batch(8)


@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("name", pipelines("*"))
def test_loader_gives_the_elements_of_iterating(files, name, device):
    ds = pipelines(files)[name]
    found = list(tfr.torch.loader(ds, device))
    wanted = list(ds.epoch(0))
    assert len(found) == len(wanted) > 0
    assert all(map(same, wanted, found))


@pytest.mark.parametrize("device", [None, "cpu"])
def test_tensors_may_be_written_to(ds, device):
    wanted = ids(ds.epoch(0))
    for batch in tfr.torch.loader(ds, device):
        batch["id"] += 1
        batch["x"].zero_()
        batch["tokens"][0].zero_()
        batch["tokens"][1].zero_()
    assert ids(ds.epoch(0)) == wanted
    cached = tfr.Dataset.range(4).batch(2).cache()
    for _ in range(3):
        for batch in tfr.torch.loader(cached):
            batch += 7
    assert [batch.tolist() for batch in cached] == [[0, 1], [2, 3]]


def test_ragged_as_offsets_or_nested(ds):
    (batch,) = tfr.torch.loader(ds.take(1), ragged="nested")
    (plain,) = ds.epoch(0).take(1)
    assert [row.tolist() for row in batch["tokens"].unbind()] == plain["tokens"].to_list()
    words, offsets = batch["words"]  # bytes cannot be nested
    assert (words, offsets.tolist()) == (plain["words"].values, plain["words"].row_splits.tolist())


def test_epochs_follow_each_other_as_those_of_the_dataset(ds):
    loader = tfr.torch.loader(ds, "cpu")
    passes = [ids(loader) for _ in range(3)]
    assert passes == [ids(ds.epoch(epoch)) for epoch in range(3)]
    assert passes[0] != passes[1]
    loader.set_epoch(7)
    assert ids(loader) == ids(ds.epoch(7))
    assert ids(tfr.torch.loader(ds)) == ids(ds.epoch(8))  # the dataset counts


def test_two_iterators_are_two_epochs(ds):
    loader = tfr.torch.loader(ds)
    pairs = list(zip(loader, loader, strict=True))
    assert ids(first for first, _ in pairs) == ids(ds.epoch(0))
    assert ids(second for _, second in pairs) == ids(ds.epoch(1))


def test_length(ds):
    assert len(tfr.torch.loader(ds)) == len(ds) == 7
    with pytest.raises(TypeError, match="unknown"):
        len(tfr.torch.loader(tfr.Dataset.range(4).filter(lambda x: x > 1)))


@pytest.mark.parametrize("device", [None, "cpu"])
@pytest.mark.parametrize("name", ["shuffled", "filtered", "buffer", "batches"])
def test_state_resumes_at_every_place(files, name, device):
    ds = pipelines(files)[name]
    loader = tfr.torch.loader(ds, device, buffers=3)
    loader.set_epoch(2)
    key: Callable[[Any], Any] = lambda batch: (batch if name == "buffer" else batch["id"]).tolist()  # noqa: E731
    states, found = [loader.state_dict()], []
    for batch in loader:
        found.append(key(batch))
        states.append(json.loads(json.dumps(loader.state_dict())))
    for place, state in enumerate(states):
        again = tfr.torch.loader(ds, device)
        again.load_state_dict(state)
        again.set_epoch(2)  # as a training loop does
        assert [key(batch) for batch in again] == found[place:]
        assert [key(batch) for batch in pipelines(files)[name].iter_from(state)] == found[place:]


def test_state_is_known_after_the_loop_was_left(ds):
    loader = tfr.torch.loader(ds, "cpu")
    taken = []
    for batch in loader:
        taken.append(batch["id"].tolist())
        if len(taken) == 3:
            break
    state, position = loader.state_dict(), loader.position()
    assert position["samples"] == 24
    for resumed in (state, position):
        again = tfr.torch.loader(ds)
        again.load_state_dict(resumed)
        assert again.state_dict() is not None
        assert taken + ids(again) == ids(ds.epoch(0))
        assert ids(again) == ids(ds.epoch(1))


def test_state_after_a_pass_is_the_beginning_of_the_next(ds):
    loader = tfr.torch.loader(ds)
    assert ids(loader) == ids(ds.epoch(0))
    state, position = loader.state_dict(), loader.position()
    assert (position["epoch"], position["samples"]) == (1, 0)
    again = tfr.torch.loader(ds)
    again.load_state_dict(state)
    assert ids(again) == ids(ds.epoch(1))
    assert ids(loader) == ids(ds.epoch(1))


def test_loaded_state_is_dropped_for_another_epoch(ds):
    loader = tfr.torch.loader(ds)
    next(iter(loader))
    state = loader.state_dict()
    loader.load_state_dict(state)
    loader.set_epoch(4)
    assert ids(loader) == ids(ds.epoch(4))


@pytest.mark.parametrize("name", ["batches", "filtered"])
def test_loaded_state_is_dropped_for_another_epoch_of_the_same_order(files, name):
    loader = tfr.torch.loader(pipelines(files)[name])
    whole = [batch["id"].tolist() for batch in loader]
    run = iter(loader)  # epoch 1
    next(run), next(run)
    state = loader.state_dict()
    for epoch, wanted in [(1, whole[2:]), (3, whole), (0, whole)]:
        loader.load_state_dict(state)
        loader.set_epoch(epoch)
        assert [batch["id"].tolist() for batch in loader] == wanted
        assert loader.state_dict()["epoch"] == epoch + 1


def test_iter_twice_after_loading_resumes_both_times(ds):
    loader = tfr.torch.loader(ds)
    next(iter(loader))
    loader.load_state_dict(loader.state_dict())
    iter(loader)
    assert ids(loader) == ids(ds.epoch(0))[1:]


def test_state_of_another_pipeline_is_refused_when_it_is_loaded(ds):
    with pytest.raises(InvalidArgumentError, match="another pipeline"):
        tfr.torch.loader(ds).load_state_dict(iter(tfr.Dataset.range(3)).state())


def test_loader_of_a_tf_dataset_gives_tensors_of_torch():
    ds = tf.data.Dataset.range(5).map(lambda x: x + 1).batch(3)
    assert [batch.tolist() for batch in tfr.torch.loader(ds)] == [[1, 2, 3], [4, 5]]


def test_arguments_are_checked(ds):
    for call, message in [
        (lambda: tfr.torch.loader([1]), "a tfrkit Dataset but got list"),
        (lambda: tfr.torch.loader(ds, buffers=0), "at least 1 buffer but got 0"),
        (lambda: tfr.torch.loader(ds, ragged="padded"), '"offsets" or "nested" but got \'padded\''),
        (lambda: tfr.torch.IterableDataset(ds, rank=1), "rank and world together"),
        (lambda: tfr.torch.MapDataset(ds).set_epoch(-1), "an epoch of at least 0"),
    ]:
        with pytest.raises(InvalidArgumentError, match=message):
            call()


@pytest.mark.parametrize("device", [None, "cpu"])
def test_error_comes_in_its_place_and_the_next_elements_after_it(device):
    def picky(x: Any) -> Any:
        if x == 2:
            raise ValueError("no 2")
        return x

    loader = tfr.torch.loader(tfr.Dataset.range(5).map(picky), device)
    found: list[Any] = []
    iterator = iter(loader)
    for _ in range(5):
        try:
            found.append(int(next(iterator)))
        except ValueError:
            found.append("error")
            state = loader.state_dict()
    assert found == [0, 1, "error", 3, 4]
    again = tfr.torch.loader(tfr.Dataset.range(5).map(picky), device)
    again.load_state_dict(state)
    assert [int(x) for x in again] == [3, 4]


def test_no_more_than_the_buffers_are_made_ahead():
    made: list[int] = []

    def note(x: Any) -> Any:
        made.append(int(x))
        return x

    iterator = iter(tfr.torch.loader(tfr.Dataset.range(100).map(note), "cpu", buffers=3))
    next(iterator)
    deadline = time.monotonic() + 10
    while len(made) < 4 and time.monotonic() < deadline:
        time.sleep(0.01)
    time.sleep(0.05)
    assert made == [0, 1, 2, 3]


def test_device_of_another_kind_is_where_tensors_go(ds):
    batch = next(iter(tfr.torch.loader(ds, "meta")))
    assert batch["x"].device.type == batch["tokens"][0].device.type == "meta"
    assert isinstance(batch["name"], tfr.BytesColumn)


@pytest.mark.parametrize(("pin_memory", "pinned"), [(None, 0), (False, 0), (True, 2)])
def test_memory_is_pinned_for_a_cuda_device_or_on_request(monkeypatch, pin_memory, pinned):
    calls = []

    def pin(tensor: torch.Tensor) -> torch.Tensor:
        calls.append(tensor)
        return tensor

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.Tensor, "pin_memory", pin)
    list(tfr.torch.loader(tfr.Dataset.range(4).batch(2), "cpu", pin_memory))
    assert len(calls) == pinned


def test_columns_can_be_pinned(monkeypatch, ds):
    monkeypatch.setattr(torch.Tensor, "pin_memory", torch.Tensor.clone)
    plain = next(iter(ds))
    sparse = tfr.Sparse([[0, 1]], np.array([5]), [1, 2])
    texts = tfr.Sparse([[0, 1]], tfr.BytesColumn.from_list([b"a"]), [1, 2])
    for column in (plain["name"], plain["name"][2:5], plain["tokens"], plain["words"], sparse, texts):
        pinned = column.pin_memory()
        assert type(pinned) is type(column)
        assert pinned == column
    batch = torch.utils.data._utils.pin_memory.pin_memory(next(iter(tfr.torch.loader(ds))))
    assert isinstance(batch["name"], tfr.BytesColumn)


# ---- nothing is left behind


def threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "tfrkit"]


def wait_until(condition: Callable[[], Any], seconds: float = 20) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


def test_fifty_abandoned_loaders_leave_nothing(ds):
    for _ in tfr.torch.loader(ds, "cpu"):
        break
    gc.collect()
    wait_until(lambda: not threads())
    before = descriptors()
    kept = []
    for number in range(50):
        loader = tfr.torch.loader(ds.prefetch(2), "cpu" if number % 2 else None)
        iterator = iter(loader)
        next(iterator)
        if number % 3 == 0:
            iterator.close()
        if number % 5 == 0:
            kept.append(loader)  # which knows its state, and has no thread
        del iterator, loader
    gc.collect()
    wait_until(lambda: not threads())
    assert descriptors() <= before + 1  # those of the dataset's own files
    assert [loader.position()["samples"] for loader in kept] == [8] * len(kept)


def test_exception_in_the_loop_leaves_no_thread(ds):
    def train() -> None:
        for _ in tfr.torch.loader(ds, "cpu"):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        train()
    gc.collect()
    wait_until(lambda: not threads())


@pytest.mark.parametrize("device", [None, "cpu"])
def test_interrupt_while_waiting_loses_nothing(device):
    ready = threading.Event()

    def slow(x: Any) -> Any:
        if x == 3:
            ready.wait(20)
        return x

    loader = tfr.torch.loader(tfr.Dataset.range(6).map(slow, num_parallel_calls=1), device, buffers=1)
    iterator = iter(loader)
    found = [int(next(iterator)) for _ in range(3)]
    timer = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    timer.join()
    state = loader.state_dict()
    ready.set()
    found += [int(x) for x in iterator]
    assert found == list(range(6))
    again = tfr.torch.loader(tfr.Dataset.range(6).map(slow, num_parallel_calls=1), device)
    again.load_state_dict(state)
    assert [int(x) for x in again] == [3, 4, 5]


def test_program_that_ends_in_the_middle_ends_at_once(tmp_path):
    code = (
        "import tfrkit as tfr\n"
        "batches = iter(tfr.torch.loader(tfr.Dataset.range(10**9).batch(4), 'cpu'))\n"
        "print(next(batches).tolist())\n"
    )
    made = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert (made.stdout, made.stderr) == ("[0, 1, 2, 3]\n", "")


FORKED = """
import json, os
import tfrkit as tfr

def ids(batches):
    return [batch["id"].tolist() for batch in batches]

spec = {"id": tfr.FixedLenFeature((), "int64"), "words": tfr.RaggedFeature(bytes)}
ds = tfr.TFRecordDataset(os.environ["FILES"]).parse(spec).global_shuffle(seed=3).batch(8)
batches = iter(tfr.torch.loader(ds, "cpu"))
first = next(batches)["id"].tolist()
read, write = os.pipe()
child = os.fork()
if not child:
    try:
        os.write(write, json.dumps(ids(batches)).encode())
    finally:
        os._exit(0)
os.close(write)
with open(read) as pipe:
    text = pipe.read()
os.waitpid(child, 0)
print(json.dumps([[first, *rest] == ids(ds.epoch(0)) for rest in (json.loads(text), ids(batches))]))
"""


def test_loader_goes_on_in_a_forked_child(files, tmp_path):
    assert run_apart(FORKED, tmp_path, FILES=files) == [True, True]


EPOCHS_20 = """
import json
import numpy as np
import tfrkit as tfr

SIZE = 8192

def anonymous():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))

with tfr.ShardWriter("a", shards=4) as writer:
    for number in range(SIZE):
        row = {"id": number, "x": np.full(128, number, np.float32)}
        writer.write(tfr.make_example(row).SerializeToString())
spec = {"id": tfr.FixedLenFeature((), np.int64), "x": tfr.FixedLenFeature((128,), np.float32)}
ds = tfr.TFRecordDataset("a*").global_shuffle(seed=1).parse(spec).batch(1024)
found = []
for device in (None, "cpu"):
    batches, used = tfr.torch.loader(ds, device), []
    for _ in range(20):
        assert sum(int(batch["id"].sum()) for batch in batches) == SIZE * (SIZE - 1) // 2
        used.append(anonymous())
    found.append(used)
print(json.dumps(found))
"""


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_memory_is_flat_over_20_epochs(tmp_path):
    # In KiB. Measured: 0.2 to 1.5 MiB in 8 runs, more and more slowly (with similar data 2.5 MiB over 600 epochs), and
    # tracemalloc sees no Python object that stays: probably malloc's. One batch that each epoch kept would be 7.5 MiB.
    for used in run_apart(EPOCHS_20, tmp_path):
        assert used[19] - used[4] < 4 << 10, used


def test_importing_tfrkit_does_not_import_torch():
    code = "import sys, tfrkit; tfrkit.Dataset.range(3); print('torch' in sys.modules)"
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert made.stdout == "False\n"


def test_missing_torch_is_named():
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import tfrkit\n"
        "from tfrkit import *\n"
        "try: tfrkit.torch.loader(tfrkit.Dataset.range(3))\n"
        "except tfrkit.errors.MissingExtraError as error: print(error)"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "tfrkit.torch needs the package torch" in made.stdout
    assert "pip install 'tfrkit[torch]'" in made.stdout


def test_a_loaders_profile_says_how_long_the_step_waited():
    got = []
    report = tfr.torch.loader(tfr.Dataset.range(6).batch(2), device="cpu").profile(got.append)
    assert [tensor.tolist() for tensor in got] == [[0, 1], [2, 3], [4, 5]]
    assert report.waited is not None
    assert "the consumer waited" in str(report)


def test_a_profile_works_ahead_as_the_loader_does():
    def slow(x: Any) -> Any:
        time.sleep(0.02)
        return x

    ds = tfr.Dataset.range(1000).map(slow)
    reports = {
        device: tfr.torch.loader(ds, device).profile(lambda _: time.sleep(0.04), 1.2)
        for device in (None, "cpu")
    }
    shares = {device: report.waited / report.seconds for device, report in reports.items()}
    assert shares["cpu"] < 0.2 < shares[None]
    assert any("prefetch" in hint for hint in reports[None].hints)
    assert not any("prefetch" in hint for hint in reports["cpu"].hints)
    assert [stage.node.verb for stage in reports["cpu"].stages] == ["map", "range"]
    wait_until(lambda: not threads())
    with pytest.raises(ZeroDivisionError):
        tfr.torch.loader(ds, "cpu").profile(lambda _: 1 / 0)
    report = tfr.torch.loader(tfr.Dataset.range(9).map(no_three), "cpu").profile(int)
    assert (report.elements, report.errors) == (8, 1)


def no_three(x: Any) -> Any:
    if x == 3:
        raise InvalidArgumentError("no 3")
    return x


@pytest.mark.parametrize("device", [None, "cpu"])
def test_loaders_that_were_used_can_be_copied(ds, device):
    loader = tfr.torch.loader(ds, device)
    whole = ids(loader)
    next(iter(loader))
    copies = [pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)]
    assert [ids(each) for each in copies] == [whole] * 2
    state = loader.state_dict()
    loader.load_state_dict(state)
    for each in (pickle.loads(pickle.dumps(loader)), copy.deepcopy(loader)):
        each.set_epoch(1)
        assert ids(each) == ids(ds.epoch(1))[1:]
