"""KeyboardInterrupt while an iterator waits for something: nothing is lost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import tfrkit as tfr
from tfrkit.records.read import reader as reader_module


class Interrupted:
    """An iterator that is interrupted once, and is no generator: those end then."""

    def __init__(self, at: int) -> None:
        self.number = 0
        self.at = at

    def __iter__(self) -> Iterator[int]:
        return self

    def __next__(self) -> int:
        if self.number == self.at:
            self.at = -1
            raise KeyboardInterrupt
        if self.number == 25:
            raise StopIteration
        self.number += 1
        return self.number - 1


def source(at: int) -> Any:
    return tfr.Dataset.from_generator(lambda: Interrupted(at), output_signature=tfr.TensorSpec((), "int64"))


PIPELINES: dict[str, Callable[[int], Any]] = {
    "generator": source,
    "prefetch": lambda at: source(at).prefetch(2),
    "batch": lambda at: source(at).prefetch(2).batch(10).unbatch(),
    "batch of a generator": lambda at: source(at).batch(10).unbatch(),
    "padded_batch": lambda at: source(at).prefetch(1).padded_batch(10).unbatch(),
    "ragged_batch": lambda at: source(at).prefetch(1).ragged_batch(10).unbatch(),
    "map": lambda at: source(at).map(lambda x: x, num_parallel_calls=2).batch(5).unbatch(),
}


@pytest.mark.parametrize("name", PIPELINES)
@pytest.mark.parametrize("at", [0, 1, 7, 10, 24])
def test_elements_that_were_collected_are_kept(name: str, at: int) -> None:
    iterator = iter(PIPELINES[name](at))
    found: list[int] = []
    interrupts = 0
    while True:
        try:
            found.append(int(next(iterator)))
        except KeyboardInterrupt:
            interrupts += 1
        except StopIteration:
            break
    assert interrupts == 1
    assert found == list(range(25))


def test_a_block_that_is_waited_for_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.tfrecord"
    records = [b"%d" % number for number in range(2000)]
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(records)
    iterator = tfr.read_records(path, threads=2, block_bytes=1000)
    found = [next(iterator)]
    lane: Any = iterator.blocks._lanes[0]
    assert isinstance(lane, reader_module._Lane)
    assert lane.pending
    first = lane.pending[0]

    def interrupted(timeout: float | None = None) -> Any:
        monkeypatch.undo()
        raise KeyboardInterrupt

    for name in ("result", "exception"):
        monkeypatch.setattr(first, name, interrupted, raising=False)
    with pytest.raises(KeyboardInterrupt):
        found.extend(iterator)
    assert [*found, *iterator] == records
