"""The engine of Ray: workers and drivers that are killed, clusters that are not there, and every kind of job."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from PIL import Image

import tfrkit as tfr
from tests.build.support.made import Numbers, job, left_over, mixed, train, tree
from tests.data.support.outcomes import wait_for
from tests.engines.support.sample_tasks import Dies, Square
from tests.engines.test_engines import run_all
from tests.support.ray import ROOT, Killer, cluster
from tfrkit.build.job.job import run_job
from tfrkit.engines import ray as ray_engine
from tfrkit.engines.engine_table import engine_named
from tfrkit.errors import InvalidArgumentError, MissingExtraError, UnavailableError

pytestmark = cluster


def test_task_of_a_worker_that_dies_is_done_by_another(ray, tmp_path):
    found, counts = run_all(engine_named("ray"), [Dies(str(tmp_path), 1), Square(4)])
    assert [outcome.result for outcome in found] == [1, 16]
    assert counts["records"] == 2 + 4  # of attempts that were lost nothing counts


def test_task_that_always_kills_its_worker_is_an_error(ray, tmp_path, monkeypatch):
    monkeypatch.setattr(ray_engine, "_MAX_ATTEMPTS", 2)
    found, _ = run_all(engine_named("ray"), [Dies(str(tmp_path), 99)])
    assert isinstance(found[0].error, UnavailableError)
    assert str(found[0].error).startswith("dies; the worker that made it was lost, 2 times: ")
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("shuffled", [False, True])
def test_workers_that_are_killed_at_random_moments_change_nothing(ray, shuffled, tmp_path):
    recipes = tuple(Numbers(number, 40_000) for number in range(12))
    group = mixed(recipes, shards=6) if shuffled else train(12, 40_000)
    calm = run_job(job(tmp_path / "calm", group))
    killer = Killer(8, seed=20 + shuffled)
    rounds = 0
    while killer.kills < 2:
        rounds += 1
        out = tmp_path / f"killed-{rounds}"
        report = run_job(job(out, group), workers=2, engine=engine_named("ray"), progress=killer)
        assert report.records == calm.records
        assert tree(out) == tree(tmp_path / "calm")
        assert left_over(out) == []


def test_tables_photos_and_reshaping_have_the_same_bytes_as_with_threads(ray, tmp_path):
    rng = np.random.default_rng(3)
    (tmp_path / "photos" / "cat").mkdir(parents=True)
    for number in range(6):
        pixels = rng.integers(0, 255, (16, 20, 3), np.uint8)
        Image.fromarray(pixels).save(tmp_path / "photos" / "cat" / f"{number}.png")
    pq.write_table(pa.table({"n": np.arange(9000), "x": rng.random(9000)}), tmp_path / "a.parquet")
    (tmp_path / "b.csv").write_text("n,name\n" + "".join(f"{number},row {number}\n" for number in range(500)))

    def build(folder: Path, engine: str) -> None:
        run = {"engine": engine, "workers": 2}
        tfr.build.table(tmp_path / "a.parquet", folder / "t", shards=3, compression="GZIP", **run)
        tfr.build.table(tmp_path / "b.csv", folder / "c", shuffle=True, seed=5, shards=2, **run)
        tfr.build.images(tmp_path / "photos", folder / "p", size="8x8", encoding="jpeg", shards=2, **run)
        tfr.reshard(folder / "t" / "*.gz", folder / "r", shards=2, zones=True, **run)
        tfr.shuffle(folder / "t" / "*.gz", folder / "s.tfrecord", seed=1, **run)

    build(tmp_path / "threads", "threads")
    build(tmp_path / "ray", "ray")
    assert tree(tmp_path / "ray") == tree(tmp_path / "threads")


def test_unreachable_address_is_named(tmp_path):
    (tmp_path / "a.csv").write_text("n\n1\n")
    program = "import tfrkit\ntfrkit.build.table('a.csv', 'out', engine='ray', address='127.0.0.1:9')\n"
    made = subprocess.run(
        [sys.executable, "-c", program],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=tmp_path,
    )
    assert "UnavailableError: There is no Ray cluster at the address '127.0.0.1:9': " in made.stderr


def test_another_cluster_than_the_connected_one_is_refused(ray):
    with pytest.raises(InvalidArgumentError, match=r"connected to but got '127\.0\.0\.1:9'"):
        engine_named("ray", "127.0.0.1:9")
    there = ray.get_runtime_context().gcs_address
    assert engine_named("ray", there).cores == 2


def test_missing_package_is_named_with_its_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"the engine 'ray' needs the package ray.*'tfrkit\[ray\]'"):
        engine_named("ray")


PROGRAM = """
import sys
from tests.build.support.made import job, train
from tfrkit.build.job.job import run_job
from tfrkit.engines.engine_table import engine_named
if __name__ == '__main__':
    run_job(job(sys.argv[1], train(8, 250_000)), workers=2, engine=engine_named('ray', sys.argv[2]))
"""


@pytest.mark.parametrize("way", [signal.SIGKILL, signal.SIGINT])
def test_driver_that_is_killed_or_interrupted_is_resumed(ray, way, tmp_path):
    run_job(job(tmp_path / "calm", train(8, 250_000)))
    out, address = tmp_path / "out", ray.get_runtime_context().gcs_address
    command = [sys.executable, "-c", PROGRAM, str(out), address]
    with subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        wait_for(lambda: len(list(out.glob("*.tfrecord"))) >= 2, 100)
        process.send_signal(way)
    assert process.returncode != 0
    if way == signal.SIGINT:
        assert not (out / ".tfrkit" / "tmp").exists()  # attempts were stopped, and have cleared up
    run_job(job(out, train(8, 250_000)), engine=engine_named("ray"))
    assert tree(out) == tree(tmp_path / "calm")
    assert left_over(out) == []
