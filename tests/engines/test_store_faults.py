"""Jobs of clusters into S3 on a bad day: connections are cut, requests fail, and workers or the driver are killed.

`TFRKIT_KILLS` says at how many random moments a worker is killed, and given has TensorFlow read the output, too. It is
the same, byte for byte, as that of threads into a local folder.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.build.job.test_remote_job import tree
from tests.build.support.made import Numbers, job, mixed, train
from tests.data.support.outcomes import wait_for
from tests.engines.support.slow_job import slow_job
from tests.support import ray as ray_support
from tests.support import spark as spark_support
from tests.support.servers.fault_proxy import Fault, FaultProxy
from tests.support.spark import ROOT
from tfrkit.build.job.job import Job, Progress, run_job
from tfrkit.engines.engine_table import engine_named
from tfrkit.records.manifest import read_manifest
from tfrkit.stores import files
from tfrkit.stores.object_config import configure_store

KILLS = int(os.environ.get("TFRKIT_KILLS", "2"))
MOST = 5  # kills in one job: a task may be the only one that runs, and is given up after eight
FAULTS = (
    Fault("refuse", every=10),  # every tenth connection
    Fault("error", every=20, status=503),  # every twentieth answer
    Fault("cut", every=10),
    Fault("cut_upload", every=10, methods=("PUT", "POST")),
)
ENGINES = [
    pytest.param("ray", marks=ray_support.cluster),
    pytest.param("spark", marks=spark_support.cluster),
]
Killed = Callable[[], int]


@pytest.fixture
def bad_day(s3_server, s3_bucket, s3_folder, fault_proxy) -> FaultProxy:
    """A proxy with faults, through which tfrkit reaches the folder `s3_folder` until the test resets that."""
    proxy: FaultProxy = fault_proxy(s3_server.port, *FAULTS)
    configure_store(f"s3://{s3_bucket}", **s3_server.options(endpoint=proxy.endpoint))
    return proxy


def made(folder: str, engine: str, *, shuffled: bool) -> Job:
    """A job of some seconds."""
    if engine == "spark":
        return slow_job(folder, shuffled=shuffled)
    recipes = tuple(Numbers(number, 40_000) for number in range(12))
    return job(folder, mixed(recipes, shards=6) if shuffled else train(12, 40_000))  # type: ignore[arg-type]


def killer(engine: str, cluster: Any, most: int, seed: int) -> tuple[Callable[[Progress], None], Killed]:
    """What kills workers of an engine while a job runs, and how many it has killed."""
    most = min(most, MOST)
    if engine == "ray":
        of_ray = ray_support.Killer(most, seed)
        return of_ray, lambda: of_ray.kills
    of_spark = spark_support.Killer(cluster, most, seed, executors=1)
    return of_spark, lambda: len(of_spark.killed)


def check_same(url: str, folder: Path, tmp_path: Path) -> None:
    """The objects are the files of a folder, byte for byte, nothing is beside them, and no record is there twice."""
    assert tree(url) == tree(str(folder))
    manifest = read_manifest(url)
    assert manifest == read_manifest(str(folder))
    records = sum(entry["records"] for entry in manifest["shards"])
    read = list(tfr.read_records([f"{url}/{entry['name']}" for entry in manifest["shards"]]))
    assert len(read) == len(set(read)) == records
    if "TFRKIT_KILLS" not in os.environ:
        return  # 40 s for the import alone where the machine is busy
    copies = []
    for entry in manifest["shards"]:
        copies.append(tmp_path / entry["name"])
        copies[-1].write_bytes(files.read_bytes(f"{url}/{entry['name']}"))
    import tensorflow as tf

    batches = tf.data.TFRecordDataset(list(map(str, copies))).batch(5000)
    assert [record for batch in batches.as_numpy_iterator() for record in batch] == read


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("shuffled", [False, True])
def test_killed_workers_and_faults_of_the_store_change_nothing(
    engine, shuffled, request, s3_server, s3_bucket, s3_folder, bad_day, tmp_path
):
    cluster = request.getfixturevalue(engine)
    calm = run_job(made(str(tmp_path / "calm"), engine, shuffled=shuffled))
    rounds: list[str] = []
    kills = 0
    while kills < KILLS or not all(bad_day.counts()[fault.kind] for fault in FAULTS):
        progress, killed = killer(
            engine, cluster, max(1, KILLS - kills), seed=40 + 2 * len(rounds) + shuffled
        )
        rounds.append(f"{s3_folder}/{len(rounds)}")
        report = run_job(
            made(rounds[-1], engine, shuffled=shuffled),
            workers=2,
            engine=engine_named(engine),
            progress=progress,
        )
        assert (report.records, report.bad) == (calm.records, calm.bad)
        kills += killed()
        assert len(rounds) < 5 + KILLS, bad_day.counts()
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    for url in rounds[:-1]:
        assert tree(url) == tree(str(tmp_path / "calm"))
    check_same(rounds[-1], tmp_path / "calm", tmp_path)
    assert s3_server.uploads(s3_bucket) == []


PROGRAM = """
import json, sys
import tfrkit
from tests.engines.support.slow_job import slow_job
from tfrkit.build.job.job import run_job
from tfrkit.engines.engine_table import engine_named
if __name__ == '__main__':
    tfrkit.configure_store(sys.argv[1], **json.load(sys.stdin))
    run_job(slow_job(sys.argv[1]), workers=1, engine=engine_named(*sys.argv[2:]))
"""


@pytest.mark.parametrize("engine", ENGINES)
def test_killed_driver_is_resumed_through_faults(
    engine, request, s3_server, s3_bucket, s3_folder, bad_day, tmp_path
):
    cluster = request.getfixturevalue(engine)
    address = cluster.get_runtime_context().gcs_address if engine == "ray" else "local[2]"
    command = [sys.executable, "-c", PROGRAM, s3_folder, engine, address]
    settings = {**os.environ, "PYTHONPATH": str(ROOT), "JAVA_TOOL_OPTIONS": spark_support.JVM}
    store = tmp_path / "store.json"
    store.write_text(json.dumps(s3_server.options(endpoint=bad_day.endpoint)))

    def shards() -> int:
        return len([name for name in files.list_names(s3_folder) if name.endswith(".tfrecord")])

    with (
        store.open() as options,
        subprocess.Popen(command, env=settings, stdin=options, stderr=subprocess.DEVNULL) as process,
    ):
        wait_for(lambda: shards() >= 3, 100)
        process.send_signal(signal.SIGKILL)
    begun = shards()
    assert 3 <= begun < 10
    run_job(slow_job(tmp_path / "calm"))
    report = run_job(slow_job(s3_folder), workers=2, engine=engine_named(engine))
    assert report.resumed >= begun - 1  # the last one may not have been noted
    assert bad_day.counts()["refuse"] > 0
    configure_store(f"s3://{s3_bucket}", **s3_server.options())
    check_same(s3_folder, tmp_path / "calm", tmp_path)
