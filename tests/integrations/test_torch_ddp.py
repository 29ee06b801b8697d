"""A real run of DistributedDataParallel on gloo: equal steps, no duplicates; killed, and resumed on 1 and on 3 ranks.

Ranks are forked by one program that has imported torch; the test compares what they wrote.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tfrkit as tfr
from tests.support.apart import run_apart

COUNT = 403

PROGRAM = """
import json, multiprocessing, os, signal, sys, time
import numpy as np
import torch
import torch._dynamo  # DistributedDataParallel does, in every rank
import torch.distributed as dist
import tfrkit as tfr

COUNT = 403
BATCH = 5
os.environ["GLOO_SOCKET_IFNAME"] = "lo"
torch.set_num_threads(1)
spec = {"id": tfr.FixedLenFeature((), np.int64), "x": tfr.FixedLenFeature((2,), np.float32)}

def train(run, rank, ranks, tail, slow):
    mask = "real" if tail == "repeat" else None
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/{run}.store", rank=rank, world_size=ranks)
    assert tfr.world() == (rank, ranks)
    samples = tfr.TFRecordDataset("data*").parse(spec).global_shuffle(seed=9)
    ds = samples.shard(ranks, rank, tail=tail, mask=mask).batch(BATCH)
    batches = tfr.torch.loader(ds, "cpu")
    if os.path.exists("position.json"):
        with open("position.json") as file:
            batches.load_state_dict(json.load(file))
    else:
        batches.set_epoch(1)
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-6)
    with open(f"{run}-{rank}.jsonl", "w") as log:
        for batch in batches:
            model(batch["x"]).sum().backward()  # waits for the other ranks
            optimizer.step()
            optimizer.zero_grad()
            real = batch["real"].tolist() if mask else [True] * len(batch["id"])
            print(json.dumps([batch["id"].tolist(), real]), file=log, flush=True)
            dist.barrier()
            if slow and rank == 0:  # the others have not begun the next step
                with open("position.new", "w") as file:
                    json.dump(batches.position(), file)
                os.replace("position.new", "position.json")
            if slow:
                time.sleep(0.02)
    dist.barrier()
    os._exit(0)

def start(run, ranks, tail, slow=False):
    context = multiprocessing.get_context("fork")
    made = [context.Process(target=train, args=(run, rank, ranks, tail, slow)) for rank in range(ranks)]
    for each in made:
        each.start()
    return made

def wait(processes):
    for each in processes:
        each.join(60)
    codes = [each.exitcode for each in processes]
    for each in processes:
        each.kill()
        each.join()
    return codes

def read(run, ranks):
    found = []
    for rank in range(ranks):
        with open(f"{run}-{rank}.jsonl") as file:
            found.append([json.loads(line) for line in file if line.endswith("\\n")])
    return found

found = {}
found["drop codes"] = wait(start("drop", 2, "drop"))
found["drop"] = read("drop", 2)

killed = start("killed", 2, "repeat", slow=True)
deadline = time.monotonic() + 60
while time.monotonic() < deadline:
    if os.path.exists("position.json"):
        with open("position.json") as file:
            if json.load(file)["samples"] >= 100:
                break
    time.sleep(0.005)
for each in killed:
    os.kill(each.pid, signal.SIGKILL)
found["killed codes"] = wait(killed)
found["killed"] = read("killed", 2)
with open("position.json") as file:
    found["position"] = json.load(file)
for ranks in (1, 3):
    found[f"resumed {ranks} codes"] = wait(start(f"resumed{ranks}", ranks, "repeat"))
    found[f"resumed {ranks}"] = read(f"resumed{ranks}", ranks)
print(json.dumps(found))
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("ddp")
    with tfr.ShardWriter(str(made / "data"), shards=3) as writer:
        for number in range(COUNT):
            row = tfr.make_example({"id": number, "x": np.array([number, 1], np.float32)})
            writer.write(row.SerializeToString())
    return made


@pytest.fixture(scope="module")
def found(folder: Path) -> Any:
    return run_apart(PROGRAM, folder)


def order(folder: Path) -> list[int]:
    spec = {"id": tfr.FixedLenFeature((), np.int64)}
    samples = tfr.TFRecordDataset(str(folder / "data*")).parse(spec).global_shuffle(seed=9)
    return [int(sample["id"]) for sample in samples.epoch(1)]


def test_ranks_take_equally_many_steps_and_nothing_twice(found: Any, folder: Path) -> None:
    assert found["drop codes"] == [0, 0]
    first, second = ([ids for ids, _ in part] for part in found["drop"])
    assert [len(ids) for ids in first] == [len(ids) for ids in second]
    both = [number for part in (first, second) for ids in part for number in ids]
    assert sorted(both) == sorted(order(folder)[: COUNT - 1])  # exactly the remainder is missing


@pytest.mark.parametrize("ranks", [1, 3])
def test_killed_run_is_resumed_on_other_numbers_of_ranks(found: Any, folder: Path, ranks: int) -> None:
    assert found["killed codes"] == [-9, -9]
    assert found[f"resumed {ranks} codes"] == [0] * ranks
    done = found["position"]["samples"]
    assert 100 <= done < COUNT
    assert done % 10 == 0
    # What was taken after the position was saved is taken again.
    before = [(ids, real) for part in found["killed"] for ids, real in part[: done // 10]]
    after = [(ids, real) for part in found[f"resumed {ranks}"] for ids, real in part]
    seen = [
        number for ids, real in before + after for number, is_real in zip(ids, real, strict=True) if is_real
    ]
    assert sorted(seen) == list(range(COUNT))
    assert sorted(number for ids, _ in before for number in ids) == sorted(order(folder)[:done])
    assert len({len(part) for part in found[f"resumed {ranks}"]}) == 1  # equal steps
