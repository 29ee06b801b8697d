"""A job that takes long enough for something to be killed meanwhile."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.build.support.made import Numbers, job, mixed
from tfrkit.build.job.job import Job, ShardGroup, TaskReporter
from tfrkit.model.block import Block


@dataclass(frozen=True, slots=True)
class SlowNumbers:
    """Numbers that take a while."""

    numbers: Numbers
    seconds: float = 0.01

    @property
    def input_bytes(self) -> int:
        return self.numbers.input_bytes

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        for block in self.numbers.blocks(reporter):
            time.sleep(self.seconds)
            yield block


def slow_job(folder: Path | str, *, shuffled: bool = False, shards: int = 10) -> Job:
    recipes = tuple(SlowNumbers(Numbers(number, 1500, bad_every=400)) for number in range(shards))
    group = mixed(recipes, shards=3) if shuffled else ShardGroup("train", recipes, shards)  # type: ignore[arg-type]
    return job(folder, group)  # type: ignore[arg-type]  # a URL is one, too
