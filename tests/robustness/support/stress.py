"""Random pipelines with threads, treated roughly: `python -m tests.robustness.support.stress SECONDS SEED`.

Each is closed, dropped, closed by another thread while it waits, or saved and continued, at random moments. What it
gives is compared with the same pipeline without threads; in the end no thread, iterator or file may be left. If nothing
moves any more, all threads are printed and the process ends.
"""

from __future__ import annotations

import faulthandler
import gc
import json
import random
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import tfrkit as tfr
from tests.data.support.outcomes import outcomes, wait_for
from tests.robustness.test_abandoned import open_files
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.node import NodeIterator

STUCK_SECONDS = 60
COUNT = 120  # elements of a source


class ToldError(Exception):
    """An error on purpose."""


def numbers() -> Iterator[int]:
    yield from range(COUNT)


def make_function(rng: random.Random) -> Callable[[Any], Any]:
    """Sometimes slow, sometimes failing, the same for the same random numbers."""
    add, fail, slow = rng.randrange(5), rng.choice([0, 0, 0, 7, 11]), rng.choice([0, 0, 0, 0, 0.0003, 0.002])

    def function(x: Any) -> Any:
        if slow and x % 5 == 0:
            time.sleep(slow)
        if fail and x % fail == 3:
            raise ToldError(int(x))
        return x + add

    return function


def make_inner(rng: random.Random, threads: bool) -> Callable[[Any], tfr.Dataset]:
    """A function that makes datasets, with threads of their own."""
    count, add, ahead = rng.randrange(6), rng.randrange(5), rng.randrange(3)

    def function(x: Any) -> tfr.Dataset:
        made = tfr.Dataset.range(x, x + count)
        made = made.map(lambda y: y + add, num_parallel_calls=2 if threads and ahead else None)
        return made.prefetch(ahead) if threads else made

    return function


def make_source(rng: random.Random, files: list[str], threads: bool) -> tfr.Dataset:
    kind = rng.randrange(4)
    if kind == 0:
        return tfr.Dataset.range(COUNT)
    if kind == 1:
        return tfr.Dataset.from_generator(numbers, output_signature=tfr.TensorSpec((), "int64"))
    if kind == 2:
        return tfr.TFRecordDataset(files).map(int)
    return (
        tfr.TFRecordDataset(files).batch(rng.randint(1, 40)).prefetch(2 if threads else 0).unbatch().map(int)
    )


def make_dataset(seed: int, files: list[str], threads: bool) -> tfr.Dataset:
    """The pipeline of a seed, with or without threads."""
    rng = random.Random(seed)
    made = make_source(rng, files, threads)
    for _ in range(rng.randint(1, 5)):
        kind, parallel = rng.randrange(10), rng.choice([-1, 1, 2, 3])
        if kind < 3:
            made = made.map(make_function(rng), num_parallel_calls=parallel if threads else None)
        elif kind < 6:
            depth = rng.choice([-1, 1, 2, 7])
            made = made.prefetch(depth) if threads else made
        elif kind == 6:
            made = made.shuffle(rng.randint(1, 30), seed=rng.randrange(9), reshuffle_each_iteration=False)
        elif kind == 7:
            size, depth = rng.randint(1, 9), rng.randrange(3)
            made = made.batch(size).prefetch(depth if threads else 0).unbatch()
        elif kind == 8:
            cycle, block = rng.randint(1, 4), rng.randint(1, 3)
            inner = make_inner(rng, threads)
            made = made.ignore_errors().take(40)
            made = made.interleave(inner, cycle, block, num_parallel_calls=1 if threads else None)
        else:
            made = rng.choice(
                [lambda ds: ds.cache(), lambda ds: ds.take(70).repeat(2), lambda ds: ds.skip(3)]
            )(made)
    return made


class Stress:
    """One pipeline after the other, with one random order of everything."""

    def __init__(self, seed: int, files: list[str]) -> None:
        self.rng = random.Random(seed)
        self.files = files
        self.kept: list[Any] = []  # iterators that are dropped later

    def one(self, seed: int) -> None:
        """Treat the pipeline of a seed."""
        wanted = outcomes(make_dataset(seed, self.files, threads=False))
        for _ in range(4):
            dataset = make_dataset(seed, self.files, threads=True)
            iterator, at = iter(dataset), 0
            for _ in range(self.rng.randint(1, 4)):
                count = self.rng.choice([0, 1, 3, 17, 90, 1000])
                found = outcomes(iterator, count)
                assert found == wanted[at : at + count], f"seed {seed}, from {at}: {found} not {wanted[at:]}"
                at += len(found)
                if self.rng.random() < 0.5:
                    state = json.loads(json.dumps(iterator.state()))
                    fresh = self.rng.choice([dataset, make_dataset(seed, self.files, threads=True)])
                    iterator = self.rng.choice([fresh.iter_from, partial(moved, fresh)])(state)
            self.end(iterator)

    def end(self, iterator: Any) -> None:
        """Close, drop or keep it; or close it while another thread takes from it."""
        how = self.rng.randrange(4)
        if how == 0:
            iterator.close()
            assert outcomes(iterator) == []
        elif how == 1:
            self.kept = [*self.kept[-5:], iterator]
        elif how == 2:
            thread = threading.Thread(target=outcomes, args=(iterator,))
            thread.start()
            time.sleep(self.rng.choice([0, 0.0001, 0.001, 0.005]))
            iterator.close()
            thread.join()


def moved(dataset: tfr.Dataset, state: Any) -> Any:
    """An iterator that had begun elsewhere."""
    iterator = iter(dataset)
    outcomes(iterator, 2)
    iterator.load_state_dict(state)
    return iterator


def left_over() -> list[object]:
    gc.collect()
    kinds = (NodeIterator, Cursor)
    return [each for each in gc.get_objects() if isinstance(each, kinds)]


def write_files(folder: Path) -> list[str]:
    paths = [str(folder / f"{number}.tfrecord") for number in range(3)]
    for number, path in enumerate(paths):
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many([b"%d" % each for each in range(40 * number, 40 * number + 40)])
    return paths


def main() -> None:
    """Run for so many seconds; print the number of pipelines."""
    seconds, seed = float(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        files = write_files(Path(folder))
        stress = Stress(seed, files)
        done, end = 0, time.monotonic() + seconds
        while time.monotonic() < end:
            faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
            stress.one(seed + done)
            done += 1
        faulthandler.dump_traceback_later(STUCK_SECONDS, exit=True)
        stress.kept = []
        assert wait_for(lambda: not any(thread.name == "tfrkit" for thread in threading.enumerate()))
        assert not left_over()
        assert not open_files(Path(folder))
    print(done)


if __name__ == "__main__":
    main()
