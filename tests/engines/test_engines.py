"""What every engine does: the same suite over all of them."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tests.build.support.made import Numbers, job, left_over, mixed, train, tree
from tests.data.support.outcomes import wait_for
from tests.engines.support.sample_tasks import Configured, Dies, Fails, Square, Waits
from tests.support import ray as ray_support
from tests.support import spark as spark_support
from tfrkit.build.job.job import run_job
from tfrkit.build.job.progress import Progress
from tfrkit.engines.engine import Engine, Outcome, add_counts, outcomes
from tfrkit.engines.engine_table import engine_named, engine_names
from tfrkit.errors import CancelledError, InternalError, InvalidArgumentError, UnavailableError

CLUSTERS = {"ray": ray_support.cluster, "spark": spark_support.cluster}


@pytest.fixture(params=[pytest.param(name, marks=CLUSTERS.get(name, ())) for name in engine_names()])
def engine(request: pytest.FixtureRequest) -> Engine:
    if request.param in CLUSTERS:
        request.getfixturevalue(request.param)  # starts it
    return engine_named(request.param)


def run_all(
    engine: Engine, tasks: list[Any], workers: int = 2
) -> tuple[list[Outcome[Any]], dict[str, float]]:
    """All outcomes in the order of the tasks, and what was counted."""
    found, counts = list[Outcome[Any]](), dict[str, float]()
    with closing(engine.start(tasks, workers)) as running:
        for ended in outcomes(running, len(tasks)):
            found += ended
            add_counts(counts, running.counts())
    return sorted(found, key=lambda outcome: outcome.number), counts


def test_every_task_is_done_once_and_its_counts_arrive(engine):
    found, counts = run_all(engine, [Square(number) for number in range(20)], workers=3)
    assert [outcome.result for outcome in found] == [number**2 for number in range(20)]
    assert counts == {"records": sum(range(20)), "done_bytes": 10}


def test_no_tasks_are_no_outcomes(engine):
    assert run_all(engine, []) == ([], {})


def test_error_of_a_task_is_its_outcome_and_others_are_done(engine):
    found, _ = run_all(engine, [Fails(), Square(3)])
    error = found[0].error
    assert isinstance(error, InvalidArgumentError)
    assert (str(error), error.path, error.record) == ("the cell is not a number", "a.csv", 7)
    assert found[1].result == 9
    if not engine.shares_memory:
        assert "raised in a worker, by fails:" in error.__notes__[0]
        assert "sample_tasks.py" in error.__notes__[0]


@pytest.mark.parametrize(("how", "said"), [("odd", "OddError"), ("strict", "StrictError: a.csv:7")])
def test_error_that_cannot_be_sent_is_told_as_text(engine, how, said):
    found, _ = run_all(engine, [Fails(how)])
    if engine.shares_memory:
        assert type(found[0].error).__name__ == said.partition(":")[0]
    else:
        assert isinstance(found[0].error, InternalError)
        assert said in str(found[0].error)
        assert "sample_tasks.py" in str(found[0].error)


def test_tasks_have_the_settings_of_stores(engine):
    url = f"s3://bucket-{secrets.token_hex(4)}"
    tfr.configure_store(url, endpoint="http://127.0.0.1:9", region="nowhere")
    found, _ = run_all(engine, [Configured(url)])
    assert (found[0].result["endpoint"], found[0].result["region"]) == ("http://127.0.0.1:9", "nowhere")


def test_tasks_have_the_settings_of_stores_as_they_are_now(engine):
    url = f"s3://bucket-{secrets.token_hex(4)}"
    for region in ("one", "two", "two", "three"):  # workers may be those of the run before
        tfr.configure_store(url, region=region)
        found, _ = run_all(engine, [Configured(url), Configured(url)])
        assert [outcome.result for outcome in found] == [{"region": region}] * 2


def test_task_that_cannot_be_sent_says_so():
    class Local(Square):
        pass

    with pytest.raises(
        InvalidArgumentError, match=r"^square-1; the task cannot be sent to another process: .*'threads'"
    ):
        run_all(engine_named("processes"), [Local(1)])


def test_tasks_after_a_number_are_stopped(engine, tmp_path):
    tasks = [
        Square(0),
        Waits(str(tmp_path), "one"),
        Waits(str(tmp_path), "two"),
        Waits(str(tmp_path), "three"),
    ]
    running = engine.start(tasks, 2)
    found: list[Outcome[Any]] = []
    with closing(running):
        while not (tmp_path / "one.begun").exists():
            found += running.wait()
        running.stop_after(0)
        while len(found) < 4:
            found += running.wait()
    found.sort(key=lambda outcome: outcome.number)
    assert found[0].result == 0
    assert all(isinstance(outcome.error, CancelledError) for outcome in found[1:])
    assert sorted(tmp_path.glob("*.begun")) != []
    assert len(list(tmp_path.glob("*.begun"))) == len(list(tmp_path.glob("*.ended")))


def test_closing_ends_what_runs(engine, tmp_path):
    running = engine.start([Waits(str(tmp_path), str(number)) for number in range(4)], 2)
    while len(list(tmp_path.glob("*.begun"))) < 2:
        running.wait()
    running.close()
    assert len(list(tmp_path.glob("*.begun"))) == len(list(tmp_path.glob("*.ended"))) == 2


def test_task_of_a_worker_that_dies_is_done_by_another(tmp_path):
    found, counts = run_all(engine_named("processes"), [Dies(str(tmp_path), 2), Square(4)])
    assert [outcome.result for outcome in found] == [2, 16]
    assert counts["records"] == 2 + 4  # of attempts that were lost nothing counts


def test_task_that_always_kills_its_worker_is_an_error(tmp_path):
    found, _ = run_all(engine_named("processes"), [Dies(str(tmp_path), 99)])
    assert isinstance(found[0].error, UnavailableError)
    assert str(found[0].error).startswith("dies; the process that made it was killed by signal 9, 4 times.")
    assert len(list(tmp_path.iterdir())) == 4


def test_workers_end_with_their_coordinator(tmp_path):
    program = (
        "from tests.engines.support.sample_tasks import Waits\n"
        "from tfrkit.engines.engine_table import engine_named\n"
        "if __name__ == '__main__':\n"
        f"    running = engine_named('processes').start([Waits({str(tmp_path)!r}, 'one')], 1)\n"
        "    while True:\n"
        "        running.wait()\n"
    )
    with subprocess.Popen([sys.executable, "-c", program], cwd=Path(__file__).parents[2]) as process:
        wait_for((tmp_path / "one.begun").exists, 60)
        process.send_signal(signal.SIGKILL)
    wait_for((tmp_path / "one.ended").exists, 60)
    assert (tmp_path / "one.ended").exists()


def test_unknown_engine_and_needless_address_are_named():
    with pytest.raises(
        InvalidArgumentError, match=r"Expected one of 'threads', .* as engine but got 'thread'\."
    ):
        engine_named("thread")
    with pytest.raises(
        InvalidArgumentError, match=r"The engine 'threads' runs on this machine: it takes no address"
    ):
        engine_named("threads", "localhost:1")


# -- jobs ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("groups", [(train(bad_every=70),), (mixed(shards=3), train(prefix="b"))])
@pytest.mark.parametrize("compression", ["", "GZIP"])
def test_a_job_has_the_same_bytes_report_and_counts(engine, groups, compression, tmp_path):
    def run(name: str, engine: Engine) -> tuple[Any, Progress]:
        seen: list[Progress] = []
        made = job(tmp_path / name, *groups, compression=compression)
        report = run_job(made, workers=2, zones=True, engine=engine, progress=seen.append).to_dict()
        return {key: report[key] for key in report.keys() - {"folder", "seconds"}}, seen[-1]

    wanted, last = run("threads", engine_named("threads"))
    found, end = run("other", engine)
    assert found == wanted
    assert tree(tmp_path / "other") == tree(tmp_path / "threads")
    assert left_over(tmp_path / "other") == []
    counts = ("done_bytes", "records", "bad", "shards_done", "written_bytes")
    assert [getattr(end, name) for name in counts] == [getattr(last, name) for name in counts]


def test_first_bad_input_in_order_ends_a_job(engine, tmp_path):
    groups = train(4, 20_000, bad_every=7000)
    with pytest.raises(
        InvalidArgumentError, match=r"^0\.txt, line 7000: bad number: it is 6999\. Fix the input"
    ):
        run_job(job(tmp_path, groups), workers=2, on_bad="raise", engine=engine)
    assert not list(tmp_path.glob("*.tfrecord"))
    assert left_over(tmp_path) == []


class _Killed:
    """Kills a worker of an engine of processes whenever some time has passed."""

    def __init__(self, pauses: list[float]) -> None:
        self._pauses = pauses
        self._next = time.monotonic() + pauses[0]

    def __call__(self, _: Progress) -> None:
        import multiprocessing

        children = multiprocessing.active_children()
        if self._pauses and children and time.monotonic() >= self._next:
            os.kill(children[len(self._pauses) % len(children)].pid or 0, signal.SIGKILL)
            self._pauses.pop()
            self._next = time.monotonic() + (self._pauses or [0])[0]


@pytest.mark.parametrize("shuffled", [False, True])
def test_workers_that_are_killed_change_nothing(shuffled, tmp_path):
    recipes = tuple(Numbers(number, 4000) for number in range(6))
    group = mixed(recipes, shards=4) if shuffled else train(6, 4000)
    run_job(job(tmp_path / "calm", group))
    report = run_job(
        job(tmp_path / "killed", group),
        workers=2,
        engine=engine_named("processes"),
        progress=_Killed([0.3, 0.2, 0.4]),
    )
    assert report.records == sum(shard.records for shard in report.shards)
    assert tree(tmp_path / "killed") == tree(tmp_path / "calm")
