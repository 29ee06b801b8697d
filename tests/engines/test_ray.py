"""The engine of Ray: workers and drivers that are killed, and clusters that are not there."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

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
