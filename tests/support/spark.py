"""A Spark cluster of processes with Hive's tables, started when a test first asks for it and shared by all that do."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.forks import unlimited
from tfrkit.build.job.progress import Progress

ROOT = Path(__file__).resolve().parents[2]
MASTER = "local-cluster[2,1,768]"  # two executors with a core each

MARK = "TFRKIT_TEST_CLUSTER"
EXECUTOR = "CoarseGrainedExecutorBackend"
JVM = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1"  # starts in half the time

cluster = [pytest.mark.cluster, pytest.mark.xdist_group("spark")]  # the marks of all tests that use it


def settings(folder: Path) -> dict[str, str]:
    """Return what a session of tests is made with; all that it writes is in a folder."""
    return {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.memory": "768m",
        "spark.driver.extraJavaOptions": f"{JVM} -Dderby.system.home={folder}/derby -Djava.io.tmpdir={folder}",
        "spark.executor.extraJavaOptions": JVM,
        "spark.executor.memory": "768m",
        f"spark.executorEnv.{MARK}": str(folder),
        "spark.executorEnv.PYTHONPATH": str(ROOT),
        "spark.local.dir": str(folder / "local"),
        "spark.log.level": "OFF",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.hadoop.javax.jdo.option.ConnectionURL": f"jdbc:derby:;databaseName={folder}/metastore;create=true",
        "spark.task.maxFailures": "8",  # tests kill workers all the time
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
    }


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A session in a cluster of two executors, with Hive on embedded Derby."""
    from pyspark.sql import SparkSession

    os.environ.update(PYSPARK_PYTHON=sys.executable, SPARK_LOCAL_IP="127.0.0.1")
    folder = tmp_path_factory.mktemp("spark")
    before = os.getcwd()
    os.chdir(folder)  # where executors keep their work
    builder = SparkSession.builder.master(MASTER).enableHiveSupport()
    for name, value in settings(folder).items():
        builder = builder.config(name, value)
    try:
        with unlimited():
            session = builder.getOrCreate()
    finally:
        os.chdir(before)
    yield session
    session.stop()


def processes(session: Any, *signs: str) -> list[int]:
    """Return the ids of processes of a session's executors, with one of some signs in their command lines.

    By a mark in their environment: a worker whose parent was killed is nobody's child, and works all the same. Workers
    that plan queries for the driver have it, too, but below a JVM that is not an executor: Spark does not replace them.
    """
    mark = session.conf.get(f"spark.executorEnv.{MARK}")
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            line = " ".join(process.cmdline())
            if (
                any(sign in line for sign in signs)
                and process.environ().get(MARK) == mark
                and not _is_driver(process)
            ):
                found.append(process.pid)
    return found


def _is_driver(process: psutil.Process) -> bool:
    """Say whether a process is a Python worker of the driver's."""
    if EXECUTOR in " ".join(process.cmdline()):
        return False
    above = (" ".join(each.cmdline()) for each in process.parents() if each.name() == "java")
    return EXECUTOR not in next(above, EXECUTOR)


class Killer:
    """Kills executors and their Python workers at random moments while a job runs: a `progress` callback.

    Attributes:
        killed: which, so far.
    """

    SIGNS = (EXECUTOR, "pyspark.daemon")

    def __init__(self, session: Any, kills: int, seed: int, *, executors: int = 1) -> None:
        self._session, self._random = session, random.Random(seed)
        self._signs = [self.SIGNS[0]] * executors + [self.SIGNS[1]] * (kills - executors)
        self._random.shuffle(self._signs)
        self._next = time.monotonic() + self._random.uniform(0.2, 0.6)
        self._seen: object = None
        self.killed: list[str] = []

    def __call__(self, progress: Progress) -> None:
        moved = (progress.done_bytes, progress.records, progress.shards_done)
        if not self._signs or time.monotonic() < self._next or moved == self._seen:
            return  # a task may be killed three times, so that each kill waits for some work to be done
        self._seen = moved
        sign = self._signs[-1]
        found = processes(self._session, sign)  # Python's workers, and the daemon that forks them
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._random.choice(found), signal.SIGKILL)
                self.killed.append(self._signs.pop())
        self._next = time.monotonic() + self._random.uniform(0.5, 1.0)
