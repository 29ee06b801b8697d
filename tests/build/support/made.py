"""Jobs out of nothing: recipes whose records are numbers, and what a folder holds."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from tfrkit.build.job.job import BadInput, Job, ShardGroup, TaskReporter
from tfrkit.model.block import Block

PER_BLOCK = 50


@dataclass(frozen=True, slots=True)
class Numbers:
    """Records `<recipe>:<number>:...`; every `bad_every`-th is bad, counted from 1."""

    recipe: int
    count: int
    size: int = 40
    bad_every: int = 0
    claimed: float = 1.0

    @property
    def input_bytes(self) -> int:
        return int(self.count * self.size * self.claimed)

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        for first in range(0, self.count, PER_BLOCK):
            records = []
            for number in range(first, min(first + PER_BLOCK, self.count)):
                if self.bad_every and (number + 1) % self.bad_every == 0:
                    reporter.bad(BadInput(f"{self.recipe}.txt", number + 1, "bad number", f"it is {number}"))
                else:
                    records.append(record(self.recipe, number, self.size))
            yield Block.from_records(records)
            reporter.advance(len(records) * self.size)


@dataclass(frozen=True, slots=True)
class Failing:
    """Gives some records, then an error."""

    error: BaseException
    count: int = PER_BLOCK

    input_bytes = 1000

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        yield Block.from_records([b"half"] * self.count)
        raise self.error


@dataclass(frozen=True, slots=True)
class Endless:
    """Gives records until the job is stopped."""

    input_bytes = 1000

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        while True:
            yield Block.from_records([b"more"])
            reporter.advance(1)


def record(recipe: int, number: int, size: int = 40) -> bytes:
    return (b"%d:%d:" % (recipe, number)).ljust(size - number % 7, b".")


def job(folder: Path, *groups: ShardGroup, **changes: object) -> Job:
    arguments: dict[str, object] = {"compression": "", "level": None, "made_by": {"source": "one", "size": 3}}
    return Job(str(folder), groups or (train(),), **{**arguments, **changes})  # type: ignore[arg-type]


def train(shards: int = 4, count: int = 300, *, prefix: str = "train", bad_every: int = 0) -> ShardGroup:
    recipes = tuple(Numbers(number, count + number, bad_every=bad_every) for number in range(shards))
    return ShardGroup(prefix, recipes, shards)


def mixed(
    recipes: Sequence[Numbers] = tuple(Numbers(number, 100 + 50 * number) for number in range(5)),
    shards: int | None = 3,
    *,
    seed: int = 1,
    prefix: str = "train",
) -> ShardGroup:
    return ShardGroup(prefix, tuple(recipes), shards, shuffle_seed=seed)


def tree(folder: Path) -> dict[str, bytes | None]:
    """Everything under a folder: files with their content, folders with None."""
    return {
        str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
        for path in sorted(folder.rglob("*"))
    }


def left_over(folder: Path) -> list[str]:
    """Names of files that only unfinished or killed jobs have."""
    marks = ("/job-", "/mix-", "/tmp")
    return [name for name in tree(folder) if name.endswith(".tmp") or any(mark in name for mark in marks)]
