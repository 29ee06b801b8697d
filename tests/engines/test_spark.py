"""Jobs in a Spark cluster of processes, some of which are killed; and what is said where there is no cluster."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.build.support.made import job, left_over, tree
from tests.data.support.outcomes import wait_for
from tests.engines.support.sample_tasks import Dies, Square
from tests.engines.support.slow_job import slow_job
from tests.engines.test_engines import run_all
from tests.support.spark import ROOT, Killer
from tfrkit.build.job.job import run_job
from tfrkit.cli.main import main
from tfrkit.engines import spark_session
from tfrkit.engines.engine import outcomes
from tfrkit.engines.engine_table import engine_named
from tfrkit.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    MissingExtraError,
    UnavailableError,
)

# -- without a cluster -------------------------------------------------------------------------------------------------


@pytest.fixture
def no_session(monkeypatch):
    pytest.importorskip("pyspark")
    monkeypatch.setattr(spark_session, "_active", lambda _sql: None)


def test_missing_package_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with pytest.raises(
        MissingExtraError,
        match=r"^The engine 'spark' needs the package pyspark, .*: pip install 'tfrkit\[spark\]'",
    ):
        engine_named("spark")


def test_missing_java_is_said(no_session, monkeypatch, tmp_path):
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    with pytest.raises(FailedPreconditionError, match=r"needs Java 17 or later, and JAVA_HOME is '.*none\."):
        engine_named("spark")
    monkeypatch.delenv("JAVA_HOME")
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FailedPreconditionError, match=r"Java 17 or later, and there is no command `java`\."):
        engine_named("spark")


def test_master_that_does_not_answer_is_an_error_at_once(no_session):
    begun = time.monotonic()
    with pytest.raises(
        UnavailableError, match=r"^The engine 'spark': no Spark master answers at spark://127\.0\.0\.1:1: "
    ):
        engine_named("spark", "spark://127.0.0.1:1")
    assert time.monotonic() - begun < 5


def test_spark_connect_is_refused(no_session):
    with pytest.raises(InvalidArgumentError, match=r"^sc://there: .* needs the master of the cluster"):
        engine_named("spark", "sc://there")


# -- in a cluster ------------------------------------------------------------------------------------------------------


@pytest.mark.cluster
@pytest.mark.xdist_group("spark")
class TestInCluster:
    def test_each_task_is_a_job_of_its_own_group(self, spark):
        running: Any = engine_named("spark").start([Square(number) for number in range(24)], 8)
        with contextlib.closing(running):
            found = [outcome.error for ended in outcomes(running, 24) for outcome in ended]
        assert found == [None] * 24
        ids = spark.sparkContext.statusTracker().getJobIdsForGroup
        assert [len(ids(task.group)) for task in running._run._tasks] == [1] * 24

    def test_another_address_than_the_active_one_is_refused(self, spark):
        with pytest.raises(
            InvalidArgumentError, match=r"the Spark session that is active, 'local-cluster.*'yarn'"
        ):
            engine_named("spark", "yarn")
        assert engine_named("spark", spark.sparkContext.master).cores == 2

    def test_lost_worker_counts_once_and_its_task_is_done_again(self, spark, tmp_path):
        found, counts = run_all(engine_named("spark"), [Dies(str(tmp_path), 2), Square(4)])
        assert [outcome.result for outcome in found] == [2, 16]
        assert counts["records"] == 2 + 4

    def test_task_that_always_kills_its_worker_is_an_error(self, spark, tmp_path):
        found, _ = run_all(engine_named("spark"), [Dies(str(tmp_path), 99)])
        assert isinstance(found[0].error, UnavailableError)
        assert str(found[0].error).startswith("dies; Spark could not run the task, 8 times: ")
        assert len(list(tmp_path.iterdir())) == 8

    @pytest.mark.parametrize("shuffled", [False, True])
    def test_killed_executors_and_workers_change_nothing(self, shuffled, spark, tmp_path):
        calm = run_job(slow_job(tmp_path / "calm", shuffled=shuffled))
        killer = Killer(spark, 10, seed=20 + shuffled, executors=2)
        rounds = 0
        while len(killer.killed) < 10:
            rounds += 1
            report = run_job(
                slow_job(tmp_path / f"killed-{rounds}", shuffled=shuffled),
                engine=engine_named("spark"),
                progress=killer,
            )
            assert (report.records, report.bad) == (calm.records, calm.bad)
            assert tree(tmp_path / f"killed-{rounds}") == tree(tmp_path / "calm")

    def test_relative_paths_are_those_of_the_driver(self, spark, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        run_job(job(Path("out")), engine=engine_named("spark"))
        run_job(job(tmp_path / "calm"))
        assert tree(tmp_path / "out") == tree(tmp_path / "calm")

    def test_command_runs_in_spark(self, spark, tmp_path, monkeypatch, capsys):
        monkeypatch.chdir(tmp_path)
        Path("a.csv").write_text("id,word\n" + "".join(f"{n},w{n}\n" for n in range(100)))
        for engine in ("threads", "spark"):
            monkeypatch.setattr(
                sys,
                "argv",
                ["tfr", "build", "table", "a.csv", engine, "--shards", "2", "--engine", engine, "--json"],
            )
            with contextlib.suppress(SystemExit):
                main()
        assert tree(Path("spark")) == tree(Path("threads"))
        assert len(list(Path("spark").glob("*.tfrecord"))) == 2

    def test_function_of_a_program_is_taken_along(self, spark):
        program_module = type(sys)("__main__")

        class Local(Square):
            pass

        Local.__module__ = program_module.__name__
        found, _ = run_all(engine_named("spark"), [Local(3)])
        assert found[0].result == 9


DRIVER_MARK = "TFRKIT_TEST_DRIVER"


def marked(mark: str) -> list[str]:
    """Return the command lines of all processes that a driver with this mark has started, itself included."""
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.environ().get(DRIVER_MARK) == mark and process.status() != psutil.STATUS_ZOMBIE:
                found.append(" ".join(process.cmdline()))
    return found


@pytest.mark.cluster
@pytest.mark.xdist_group("spark")
def test_killed_driver_resumes(tmp_path):
    program = (
        "import sys; from pathlib import Path\n"
        "from tests.engines.support.slow_job import slow_job\n"
        "from tfrkit.build.job.job import run_job\n"
        "from tfrkit.engines.engine_table import engine_named\n"
        "report = run_job(slow_job(Path(sys.argv[1])), engine=engine_named('spark', 'local[2]'), workers=1)\n"
        "print(report.resumed)\n"
    )
    out = tmp_path / "out"
    command = [sys.executable, "-c", program, str(out)]
    settings = {
        **os.environ,
        "PYTHONPATH": str(ROOT),
        "JAVA_TOOL_OPTIONS": "-XX:+UseSerialGC -XX:TieredStopAtLevel=1",
        DRIVER_MARK: str(out),
    }
    with subprocess.Popen(command, env=settings, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 100
        while len(list(out.glob("*.tfrecord"))) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    assert wait_for(lambda: marked(str(out)) == [], 60)  # no JVM and no worker of Python's stays behind
    begun = len(list(out.glob("*.tfrecord")))
    assert 3 <= begun < 10
    wanted = tmp_path / "calm"
    run_job(slow_job(wanted))
    ended = subprocess.run(command, env=settings, capture_output=True, text=True, timeout=110)
    assert ended.returncode == 0, ended.stderr
    assert int(ended.stdout.split()[-1]) >= begun - 1  # the last one may not have been noted
    assert tree(out) == tree(wanted)
    assert left_over(out) == []
