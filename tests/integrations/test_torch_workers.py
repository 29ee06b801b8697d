"""tfr.torch with worker processes: forked, spawned or of a server; which are told the epoch, die, or are abandoned."""

from __future__ import annotations

import contextlib
import gc
import itertools
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.utils.data import DataLoader, get_worker_info
from torch.utils.data._utils import worker as worker_module

import tfrkit as tfr
from tests.support.apart import run_apart
from tfrkit.errors import DataLossError, FailedPreconditionError, InvalidArgumentError

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:This DataLoader will create:UserWarning"),  # more workers than cores
]

SPEC = {"id": tfr.FixedLenFeature((), np.int64), "name": tfr.FixedLenFeature((), bytes)}
COUNT = 60
TOPOLOGIES = int(os.environ.get("TFRKIT_TOPOLOGIES", "40"))
SECONDS = (
    120  # for a batch of workers that are not forked; those that are have an alarm (tests/support/forks.py)
)


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    folder = tmp_path_factory.mktemp("records")
    with tfr.ShardWriter(str(folder / "a"), shards=2) as writer:
        for number in range(COUNT):
            row = tfr.make_example({"id": number, "name": f"n{number}"})
            writer.write(row.SerializeToString())
    return str(folder / "a*")


@pytest.fixture
def samples(files):
    return tfr.TFRecordDataset(files).parse(SPEC)


def ids(batches: Any) -> list[int]:
    return [number for batch in batches for number in batch["id"].tolist()]


def order(samples: tfr.Dataset, epoch: int) -> list[int]:
    return [int(sample["id"]) for sample in samples.epoch(epoch)]


def map_loader(samples: tfr.Dataset, **options: Any) -> tuple[tfr.torch.MapDataset, DataLoader]:
    dataset = tfr.torch.MapDataset(samples)
    options |= {"collate_fn": tfr.torch.collate, "timeout": SECONDS}
    return dataset, DataLoader(dataset, batch_size=7, **options)


def iterable_loader(samples: tfr.Dataset, **options: Any) -> tuple[tfr.torch.IterableDataset, DataLoader]:
    dataset = tfr.torch.IterableDataset(samples.batch(7))
    return dataset, DataLoader(dataset, batch_size=None, timeout=SECONDS, **options)


def fails(loader: DataLoader, error: type[BaseException], match: str) -> None:
    """Run a loader whose workers fail; one that the garbage collector ends takes torch five seconds a worker."""
    batches = iter(loader)
    with pytest.raises(error, match=match):
        list(batches)
    batches._shutdown_workers()


# ---- the same elements


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("make", [map_loader, iterable_loader])
def test_forked_workers_give_every_epoch_that_they_are_told(samples, make, persistent):
    shuffled = samples.global_shuffle(seed=5)
    dataset, loader = make(shuffled, num_workers=2, persistent_workers=persistent)
    for epoch in (0, 1, 5):
        dataset.set_epoch(epoch)
        assert ids(loader) == order(shuffled, epoch)


def test_spawned_workers_of_a_map_dataset_are_told_the_epoch(samples):
    shuffled = samples.global_shuffle()  # a seed that is drawn travels along
    options = {"num_workers": 2, "multiprocessing_context": "spawn", "persistent_workers": True}
    dataset, loader = map_loader(shuffled, **options)
    for epoch in (0, 4):
        dataset.set_epoch(epoch)
        found = list(loader)
        assert ids(found) == order(shuffled, epoch)
        assert [name for batch in found for name in batch["name"].to_list()] == [
            b"n%d" % number for number in ids(found)
        ]


def test_workers_of_a_server_of_an_iterable_dataset_are_told_the_epoch(samples):
    shuffled = samples.global_shuffle()
    options = {"num_workers": 2, "multiprocessing_context": "forkserver", "persistent_workers": True}
    dataset, loader = iterable_loader(shuffled, **options)
    for epoch in (0, 4):
        dataset.set_epoch(epoch)
        assert ids(loader) == order(shuffled, epoch)


def test_plain_loader_of_an_indexable_dataset(samples):
    loader = DataLoader(samples, batch_size=7, num_workers=2, shuffle=True)
    found = list(loader)
    assert sorted(ids(found)) == list(range(COUNT))
    assert {name for batch in found for name in batch["name"]} == {b"n%d" % number for number in range(COUNT)}


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize(
    "name", ["indexable", "shuffled", "filtered", "buffer", "generator", "endless", "ragged", "few"]
)
def test_no_element_comes_twice_with_workers(samples, name, workers):
    ds = {
        "indexable": samples.batch(4),
        "shuffled": samples.global_shuffle().batch(4),
        "filtered": samples.filter(lambda sample: sample["id"] % 3 != 0).batch(4),
        "buffer": samples.shuffle(20).batch(4),
        "generator": tfr.Dataset.from_generator(
            lambda: iter(range(9)), output_signature=tfr.TensorSpec((), "int64")
        )
        .map(lambda x: {"id": x})
        .batch(2),
        "endless": samples.repeat().batch(4).take(15),
        "ragged": samples.map(lambda sample: {"id": np.arange(sample["id"] % 3)}).ragged_batch(4),
        "few": samples.take(2).batch(4),
    }[name]
    dataset = tfr.torch.IterableDataset(ds)
    dataset.set_epoch(0)
    found = list(DataLoader(dataset, batch_size=None, num_workers=workers))

    def values(batch: Any) -> Any:
        return [part.tolist() for part in batch["id"]] if name == "ragged" else batch["id"].tolist()

    wanted = list(tfr.torch.loader(ds.epoch(0))) if name != "buffer" else None
    if wanted is not None:
        assert [values(batch) for batch in found] == [values(batch) for batch in wanted]
    else:
        assert sorted(ids(found)) == list(range(COUNT))


def test_buffers_of_workers_are_told_the_epoch(samples):
    dataset = tfr.torch.IterableDataset(samples.shuffle(COUNT).batch(4))
    loader = DataLoader(dataset, batch_size=None, num_workers=2)
    orders = []
    for epoch in (0, 1, 0):
        dataset.set_epoch(epoch)
        orders.append(ids(loader))
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(COUNT))
    assert orders[0] == orders[2] != orders[1]


@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("make", [map_loader, iterable_loader])
def test_epoch_that_is_run_again_untold_is_a_warning(samples, make, persistent):
    _, loader = make(samples.global_shuffle(seed=5), num_workers=2, persistent_workers=persistent)
    ids(loader)  # the first one is epoch 0
    fails(loader, UserWarning, r"epoch 0 is run again(.|\n)*set_epoch\(epoch\)")


@pytest.mark.parametrize("make", [map_loader, iterable_loader])
def test_epochs_that_are_alike_need_not_be_told(samples, make):
    _, loader = make(samples, num_workers=2)
    assert ids(loader) == ids(loader) == order(samples, 0)


def test_ranks_and_workers_divide_a_pass(samples):
    shuffled = samples.global_shuffle(seed=5).batch(3)
    parts = [tfr.torch.IterableDataset(shuffled, rank, 3) for rank in range(3)]
    found = [
        [batch["id"].tolist() for batch in DataLoader(part, batch_size=None, num_workers=2)] for part in parts
    ]
    assert [len(part) for part in parts] == [len(part) for part in found]
    steps = [batch for step in range(len(found[0])) for part in found for batch in part[step : step + 1]]
    assert [number for batch in steps for number in batch] == order(samples.global_shuffle(seed=5), 0)
    with pytest.raises(InvalidArgumentError, match="Give global_shuffle\\(\\) a seed"):
        tfr.torch.IterableDataset(samples.global_shuffle(), 0, 2)


# ---- states of workers, as torchdata has them


class AsWorker:
    """This process as a worker of a DataLoader."""

    def __init__(self, number: int, workers: int, monkeypatch: pytest.MonkeyPatch) -> None:
        info = worker_module.WorkerInfo(id=number, num_workers=workers, seed=100 + number, dataset=None)
        monkeypatch.setattr(worker_module, "_worker_info", info)
        assert get_worker_info() is info


@pytest.mark.parametrize("name", ["shuffled", "plain", "filtered"])
def test_state_of_a_worker_resumes_its_part(samples, name, monkeypatch):
    ds = {
        "shuffled": samples.global_shuffle(seed=1).batch(4),
        "plain": samples.batch(4),
        "filtered": samples.filter(bool_of_id).batch(4),
    }[name]
    for number in range(2):
        AsWorker(number, 2, monkeypatch)
        dataset = tfr.torch.IterableDataset(ds)
        dataset.set_epoch(1)
        iterator = iter(dataset)
        saved, found = [], []
        for batch in iterator:
            found.append(batch["id"].tolist())
            saved.append(json.loads(json.dumps([dataset.state_dict(), iterator.state_dict()])))
        for place, (of_dataset, of_iterator) in enumerate(saved, 1):
            again = tfr.torch.IterableDataset(ds)
            again.set_epoch(1)
            again.load_state_dict(of_dataset)
            iter(again)
            resumed = iter(again)
            resumed.load_state_dict(of_iterator)
            assert [batch["id"].tolist() for batch in resumed] == found[place:]
        AsWorker(number, 3, monkeypatch)
        other = tfr.torch.IterableDataset(ds)
        other.load_state_dict(saved[0][0])
        with pytest.raises(InvalidArgumentError, match="the state is of another pipeline"):
            next(iter(other))


def test_persistent_workers_that_have_run_refuse_a_state_that_they_cannot_get(samples):
    shuffled = samples.global_shuffle(seed=5)
    dataset, loader = iterable_loader(shuffled, num_workers=2, persistent_workers=True)
    state = tfr.torch.IterableDataset(shuffled.batch(7)).position(3)
    for epoch in (0, 1):
        dataset.set_epoch(epoch)
        list(loader)
    dataset.load_state_dict(state)
    dataset.set_epoch(2)  # which drops the state, as it is of another epoch
    assert ids(loader) == order(shuffled, 2)
    dataset.load_state_dict(state)
    fails(loader, FailedPreconditionError, "make a new DataLoader after load_state_dict")
    again = DataLoader(dataset, batch_size=None, num_workers=2, timeout=SECONDS, persistent_workers=True)
    assert ids(again) == order(shuffled, 0)[21:]
    dataset.set_epoch(3)
    assert ids(again) == order(shuffled, 3)


@pytest.mark.parametrize("elastic", [False, True])
@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize("options", [{}, {"persistent_workers": True}, {"multiprocessing_context": "spawn"}])
def test_workers_resume_in_the_next_pass_only(samples, options, again, elastic):
    dataset, loader = iterable_loader(samples, num_workers=1, **options)
    whole = order(samples, 0)
    first = iter(tfr.torch.IterableDataset(samples.batch(7)))
    next(first), next(first)
    state = first.position() if elastic else first.state_dict()
    if again:  # torch seeds every pass alike
        loader.generator = torch.Generator()
    dataset.load_state_dict(state)
    found = []
    for _ in range(2 if options.get("multiprocessing_context") else 3):
        if again:
            loader.generator.manual_seed(1)
        found.append(ids(loader))
        if elastic:
            begun = 14 if len(found) == 1 else 0
            assert dataset.position(2)["samples"] == begun + 14
    assert found == [whole[14:], whole, whole][: len(found)]
    assert ids(DataLoader(dataset, batch_size=None)) == whole


@pytest.mark.parametrize("varies", [False, True])
def test_state_that_is_loaded_later_is_no_epoch_that_is_run_again(samples, varies):
    ds = samples.global_shuffle(seed=5) if varies else samples
    dataset, loader = iterable_loader(ds, num_workers=2)
    first = iter(tfr.torch.IterableDataset(ds.batch(7)))
    next(first)
    assert ids(loader) == order(ds, 0)
    dataset.load_state_dict(first.position())
    assert ids(loader) == order(ds, 0)[7:]  # a warning would be an error here
    if varies:
        fails(loader, UserWarning, "epoch 0 is run again")


def bool_of_id(sample: Any) -> Any:
    return sample["id"] % 7 != 0


# ---- errors, and what is left behind


def test_damaged_record_is_named_by_the_worker(tmp_path):
    path = tmp_path / "a.tfrecord"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_batch({"id": np.arange(8), "name": [b"n"] * 8})
    ds = tfr.TFRecordDataset(path).parse(SPEC)
    len(ds)
    data, stat = bytearray(path.read_bytes()), path.stat()
    data[len(data) // 2] ^= 255
    path.write_bytes(data)  # damage that the time does not show: else the file has changed
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    _, loader = iterable_loader(ds, num_workers=2)
    fails(loader, DataLossError, re.escape("a.tfrecord"))


def test_lambda_that_does_not_pickle_names_the_stage(samples):
    odd = samples.map(lambda sample: sample)
    for dataset in (odd, tfr.torch.MapDataset(odd), tfr.torch.IterableDataset(odd)):
        with pytest.raises(InvalidArgumentError, match=r"map\(<lambda>\): its function cannot be sent"):
            list(DataLoader(dataset, num_workers=1, multiprocessing_context="spawn"))


KILLED = """
import json, os, signal, sys, time
import tfrkit as tfr
from torch.utils.data import DataLoader

def slow(x):  # so that there is nothing of the worker's on the way when it ends
    time.sleep(0.05)
    return x

samples = tfr.Dataset.range(100).repeat(50).map(slow)
found = []
for loader in (
    DataLoader(tfr.torch.MapDataset(samples), batch_size=4, num_workers=2, collate_fn=tfr.torch.collate),
    DataLoader(tfr.torch.IterableDataset(samples.batch(4)), batch_size=None, num_workers=2),
    DataLoader(samples, batch_size=4, num_workers=2),
):
    batches = iter(loader)
    next(batches)
    victim = batches._workers[0].pid
    try:
        os.kill(victim, signal.SIGKILL)  # torch hears of it at once, or when it waits for the worker
        list(batches)
        found.append("nothing")
    except RuntimeError as error:
        found.append(str(error).replace(str(victim), "PID"))
print(json.dumps(found))
sys.stdout.flush()
os._exit(0)  # torch raises once more for each that it hears of late
"""


def test_worker_that_is_killed_is_named(tmp_path):
    for message in run_apart(KILLED, tmp_path):
        assert re.match(r"DataLoader worker \(pid(\(s\))? PID\)", message)


def children() -> set[int]:
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the thread has ended: its children are another's
            found.update(map(int, (task / "children").read_text().split()))
    return found


def tfrkit_threads() -> list[str]:
    return [each.name for each in threading.enumerate() if each.name == "tfrkit"]


def shared_memory() -> int:
    """Pieces of it that this process has: torch takes their names away at once, so that /dev/shm does not show them."""
    return sum("/torch_" in line for line in Path("/proc/self/maps").read_text().splitlines())


def settled(before: tuple[set[int], int], seconds: float = 20) -> None:
    """Wait until there are no more processes, threads and descriptors than before."""
    deadline = time.monotonic() + seconds
    while True:
        gc.collect()
        more = children() - before[0], tfrkit_threads(), len(os.listdir("/proc/self/fd")) - before[1]
        if not more[0] and not more[1] and more[2] <= 0:
            return
        assert time.monotonic() < deadline, f"left behind: {more}"
        time.sleep(0.05)


def test_abandoned_loaders_of_torch_leave_nothing(samples):
    shuffled = samples.global_shuffle(seed=1)
    ids(map_loader(shuffled, num_workers=2)[1])  # what stays for good: files of the dataset
    gc.collect()
    before, shared = (children(), len(os.listdir("/proc/self/fd"))), shared_memory()
    most = 0
    for number in range(10):
        dataset, loader = (map_loader, iterable_loader)[number % 2](shuffled, num_workers=2)
        dataset.set_epoch(number)
        batches = iter(loader)
        next(batches)
        most = max(most, shared_memory())
        del batches, loader, dataset
    settled(before)
    assert shared_memory() <= shared < most


NAMED = """
import json, os, torch
import tfrkit as tfr
from torch.utils.data import DataLoader

torch.multiprocessing.set_sharing_strategy("file_system")
pids, names = [os.getpid()], set()
for number in range(4):
    ds = tfr.Dataset.range(1000).global_shuffle(seed=1)
    dataset = (tfr.torch.MapDataset, tfr.torch.IterableDataset)[number % 2](ds)
    batches = iter(DataLoader(dataset, batch_size=10, num_workers=2))
    next(batches)
    pids += [worker.pid for worker in batches._workers]
    names |= {name for name in os.listdir("/dev/shm") if name.startswith("torch_")}
    del batches, dataset
print(json.dumps([pids, sorted(names)]))
"""


def test_abandoned_loaders_leave_no_names_in_dev_shm(tmp_path):
    pids, names = run_apart(NAMED, tmp_path)
    own = {name for name in names if int(name.split("_")[1]) in pids}
    assert own  # where torch shares memory by name
    deadline = time.monotonic() + 20
    while own & set(os.listdir("/dev/shm")):  # torch's manager removes them when their processes have ended
        assert time.monotonic() < deadline, f"left behind: {own & set(os.listdir('/dev/shm'))}"
        time.sleep(0.05)


INTERRUPTED = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import numpy as np, tfrkit as tfr
from torch.utils.data import DataLoader

def slow(x):
    time.sleep(0.01)
    return x

ds = tfr.Dataset.range(10**6).map(slow).batch(2)
try:
    batches = iter(DataLoader(tfr.torch.IterableDataset(ds), batch_size=None, num_workers=2))
    next(batches)
    print(*(worker.pid for worker in batches._workers), flush=True)
    for _ in batches:
        pass
except (KeyboardInterrupt, RuntimeError):  # torch may hear first that a worker was interrupted
    print("interrupted", flush=True)
    sys.exit(3)
"""


def test_interrupt_ends_the_loop_and_its_workers(tmp_path):
    (tmp_path / "program.py").write_text(INTERRUPTED)
    with subprocess.Popen(
        [sys.executable, "program.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    ) as program:
        end = threading.Timer(SECONDS, os.killpg, (program.pid, signal.SIGKILL))
        end.start()
        try:
            assert program.stdout is not None
            workers = [int(pid) for pid in program.stdout.readline().split()]
            assert len(workers) == 2
            os.killpg(program.pid, signal.SIGINT)  # as a terminal does
            output, _ = program.communicate(timeout=30)
        finally:
            end.cancel()
            program.kill()
    assert (program.returncode, output.strip()) == (3, "interrupted")
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{pid}").exists() for pid in workers):
        assert time.monotonic() < deadline, "workers were left behind"
        time.sleep(0.05)


# ---- random changes of ranks, workers, buffers and sizes of batches


class Topology:
    """One stretch of an epoch: ranks that each take so many batches, in one of the ways that there are."""

    def __init__(self, draw: random.Random) -> None:
        self.ranks = draw.randint(1, 4)
        self.batch = draw.randint(1, 9)
        self.steps = draw.randint(0, 4)
        self.kind = draw.choice(["loader", "loader", "loader ahead", "map", "iterable"])
        self.workers = draw.choice([0, 0, 0, 1, 2]) if self.kind in ("map", "iterable") else 0
        self.tail = draw.choice([None, "drop", "repeat"])
        self.last = False  # it goes on to the end

    def __repr__(self) -> str:
        return repr(vars(self))

    def run(self, samples: tfr.Dataset, position: dict[str, Any]) -> tuple[list[int], dict[str, Any]]:
        """Return what all ranks took, without fillers, and the position then."""
        if not self.last or position["size"] - position["samples"] < self.ranks:
            self.tail = None
        taken: list[Any] = []
        after: dict[str, Any] = {}
        for rank in reversed(
            range(self.ranks)
        ):  # the position of the first, who has the most steps at the end
            batches, after = getattr(self, f"_{self.kind.split()[0]}")(samples, rank, position)
            taken += batches
        pairs = [(batch["id"].tolist(), batch.get("real")) for batch in taken]
        return [
            number
            for ids, real in pairs
            for number, is_real in zip(ids, [True] * len(ids) if real is None else real.tolist(), strict=True)
            if is_real
        ], after

    def _shard(self, samples: tfr.Dataset, rank: int) -> tfr.Dataset:
        return samples.shard(self.ranks, rank, tail=self.tail, mask="real" if self.tail == "repeat" else None)

    def _cut(self, batches: Iterator[Any]) -> list[Any]:
        return list(batches if self.last else itertools.islice(batches, self.steps))

    def _loader(self, samples: tfr.Dataset, rank: int, position: Any) -> tuple[list[Any], Any]:
        ds = self._shard(samples, rank).batch(self.batch)
        loader = tfr.torch.loader(ds, "cpu" if self.kind == "loader ahead" else None)
        loader.load_state_dict(position)
        batches = iter(loader)
        return self._cut(batches), batches.position()

    def _iterable(self, samples: tfr.Dataset, rank: int, position: Any) -> tuple[list[Any], Any]:
        dataset = tfr.torch.IterableDataset(self._shard(samples, rank).batch(self.batch))
        dataset.load_state_dict(position)
        dataset.set_epoch(position["epoch"])
        after = dataset.position(self.steps)  # a loop in this process forgets where it resumed
        return self._cut(iter(DataLoader(dataset, batch_size=None, num_workers=self.workers))), after

    def _map(self, samples: tfr.Dataset, rank: int, position: Any) -> tuple[list[Any], Any]:
        dataset = tfr.torch.MapDataset(self._shard(samples.skip(position["samples"]), rank))
        dataset.set_epoch(position["epoch"])
        done = position["samples"] + self.steps * self.batch * self.ranks
        after = {**position, "samples": min(position["size"], done)}
        if not len(dataset):
            return [], after
        options = {"num_workers": self.workers, "collate_fn": tfr.torch.collate}
        return self._cut(iter(DataLoader(dataset, batch_size=self.batch, **options))), after


@pytest.mark.parametrize("part", range(4))
def test_any_change_of_topology_gives_every_sample_once(part):
    draw = random.Random(part)
    for _ in range(-(-TOPOLOGIES // 4)):
        size, epoch = draw.randint(1, 120), draw.randint(0, 3)
        samples = tfr.Dataset.range(size).global_shuffle(seed=draw.randint(0, 99)).map(lambda x: {"id": x})
        samples.set_epoch(epoch)
        wanted = [int(sample["id"]) for sample in samples.epoch(epoch)]
        position = iter(samples).position()
        stretches = [Topology(draw) for _ in range(draw.randint(1, 4))]
        stretches[-1].last = True
        found: list[int] = []
        for stretch in stretches:
            begun = position["samples"]
            taken, position = stretch.run(samples, position)
            found += taken
            if not stretch.last:  # always a beginning of the order
                assert sorted(found) == sorted(wanted[: position["samples"]]), (size, epoch, stretches)
        missing = (size - begun) % stretch.ranks if stretch.tail == "drop" else 0
        assert sorted(found) == sorted(wanted[: size - missing]), (size, epoch, stretches)
