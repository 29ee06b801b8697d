"""A Ray cluster of two nodes, started when a test first asks for it and shared by all that do."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.forks import unlimited
from tfrkit.build.job.progress import Progress

ROOT = Path(__file__).resolve().parents[2]
NODE = {"num_cpus": 1, "object_store_memory": 150 << 20}
SETTINGS = {
    "PYTHONPATH": str(ROOT),  # so that workers find what tests send them
    "RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO": "0",
    "RAY_DATA_DISABLE_PROGRESS_BARS": "1",
    "RAY_enable_metrics_collection": "0",
    "RAY_USAGE_STATS_ENABLED": "0",
    "RAY_worker_niceness": "0",  # 15 by default: beside other tests, workers would hardly run
}

cluster = [  # the marks of all tests that use it
    pytest.mark.cluster,
    pytest.mark.xdist_group("ray"),
    pytest.mark.filterwarnings(r"ignore::DeprecationWarning:ray\..*"),  # of Ray about its own settings
    pytest.mark.filterwarnings(r"ignore::FutureWarning:ray\..*"),
    pytest.mark.filterwarnings(r"ignore:Use 'expr' instead of 'fn':UserWarning"),
]


@pytest.fixture(scope="session")
def ray(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A cluster of two nodes with a core each, on this machine; the package, connected to it."""
    import ray
    from ray.cluster_utils import Cluster

    before = {name: os.environ.get(name) for name in SETTINGS}
    os.environ.update(SETTINGS)
    with unlimited():
        nodes = Cluster(initialize_head=True, head_node_args={**NODE, "include_dashboard": False})
        nodes.add_node(**NODE)
        ray.init(address=nodes.address, log_to_driver=False)
    yield ray
    ray.shutdown()
    nodes.shutdown()
    for name, value in before.items():
        os.environ.pop(name) if value is None else os.environ.update({name: value})


def worker_processes() -> list[int]:
    """Return the ids of processes of the cluster that run tasks of tfrkit; another on this machine is left alone."""
    from psutil import NoSuchProcess, Process

    found = []
    for process in Process().children(recursive=True):
        with contextlib.suppress(NoSuchProcess):
            if "ray::tfrkit" in " ".join(process.cmdline()):
                found.append(process.pid)
    return found


class Killer:
    """Kills workers that run tasks at random moments while a job runs: a `progress` callback.

    Attributes:
        kills: how many, so far.
    """

    def __init__(self, most: int, seed: int, pause: float = 0.4) -> None:
        self._most, self._random, self._pause = most, random.Random(seed), pause
        self._next = time.monotonic() + self._random.uniform(0, pause)
        self.kills = 0

    def __call__(self, _: Progress) -> None:
        if self.kills >= self._most or time.monotonic() < self._next:
            return
        found = worker_processes()
        if found:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._random.choice(found), signal.SIGKILL)
                self.kills += 1
        self._next = time.monotonic() + self._random.uniform(0, self._pause)
