"""Remote files are opened before it is their turn, wherever the pipeline knows their names."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

import tfrkit as tfr
from tfrkit import tf
from tfrkit.errors import NotFoundError
from tfrkit.records.read.open_ahead import OPEN_AHEAD, OpenAhead
from tfrkit.stores import remote_source, table
from tfrkit.stores.memory import MemoryStore
from tfrkit.stores.source import ByteSource
from tfrkit.stores.table import add_store

NAMES = [f"slow://bucket/a-{number:02}" for number in range(30)]


class SlowStore(MemoryStore):
    """A store that takes its time, and counts how many files are being opened at once."""

    def __init__(self) -> None:
        super().__init__()
        self.now = self.most = self.opened = 0
        self._counting = threading.Lock()

    def open(self, path: str, *, cache: bool | None = None) -> ByteSource:
        with self._counting:
            self.now += 1
            self.opened += 1
            self.most = max(self.most, self.now)
        time.sleep(0.02)
        with self._counting:
            self.now -= 1
        return super().open(path)


@pytest.fixture
def store(monkeypatch: pytest.MonkeyPatch) -> Iterator[SlowStore]:
    """The store of `slow://`, with 30 files of 10 lines and records."""
    monkeypatch.setattr(table, "_added", {})
    store = SlowStore()
    add_store("slow", lambda: store)
    for number, name in enumerate(NAMES):
        with tfr.TFRecordWriter(name) as writer:
            writer.write_many([b"%d\n" % (10 * number + each) for each in range(10)])
    yield store
    table._made.pop("slow", None)


PIPELINES: dict[str, Callable[[], Any]] = {
    "in order": lambda: tfr.TFRecordDataset(NAMES),
    "pattern": lambda: tfr.TFRecordDataset("slow://bucket/a-*"),
    "in turn": lambda: tfr.TFRecordDataset(NAMES, num_parallel_reads=4),
    "names": lambda: tfr.TFRecordDataset(tfr.Dataset.from_tensor_slices([name.encode() for name in NAMES])),
    "interleave": lambda: tf.data.Dataset.list_files("slow://bucket/*", shuffle=False).interleave(
        lambda name: tf.data.TFRecordDataset(name).map(lambda record: record), cycle_length=3
    ),
    "lines": lambda: tfr.TextLineDataset(NAMES),
    "lines in turn": lambda: tfr.TextLineDataset(NAMES, num_parallel_reads=4),
    "pieces": lambda: tf.data.FixedLengthRecordDataset(NAMES, 1),
}


@pytest.mark.parametrize("name", PIPELINES)
def test_several_files_are_opened_at_once_and_each_once(name, store):
    elements = list(
        iter(PIPELINES[name]())
    )  # list() of a dataset asks for its length, too, which makes an index
    assert store.most >= 4
    assert store.opened == len(NAMES)
    assert len(elements) >= 300


@pytest.mark.parametrize("parallel", [None, 1, 4])
def test_order_and_states_do_not_depend_on_it(parallel, store, tmp_path):
    here = [str(tmp_path / name.rpartition("/")[2]) for name in NAMES]
    for path, name in zip(here, NAMES, strict=True):
        with tfr.TFRecordWriter(path) as writer:
            writer.write_many(list(tfr.read_records(name)))
    local = tfr.TFRecordDataset(here, num_parallel_reads=parallel)
    remote = tfr.TFRecordDataset(NAMES, num_parallel_reads=parallel)
    elements = list(local)
    assert list(remote) == elements
    for done in (0, 1, 37, 250, 300):
        iterator = iter(remote)
        for _ in range(done):
            next(iterator)
        assert list(remote.iter_from(iterator.state())) == elements[done:]


def test_missing_file_is_an_error_in_its_place(store):
    store.remove(NAMES[7])
    iterator = iter(tfr.TFRecordDataset(NAMES, num_parallel_reads=1))
    for _ in range(70):
        next(iterator)
    with pytest.raises(NotFoundError, match="slow://bucket/a-07"):
        next(iterator)
    assert next(iterator) == b"80\n"
    iterator.close()


def test_closing_lets_go_of_what_was_opened(store):
    iterator = iter(tfr.TFRecordDataset(NAMES, num_parallel_reads=4))
    next(iterator)
    iterator.close()
    deadline = time.monotonic() + 5
    while (store.now or remote_source._budget.held) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert remote_source._budget.held == 0


def test_only_remote_files_and_a_few_are_opened(store, tmp_path):
    opening = OpenAhead()
    opening.begin([str(tmp_path / "none"), *NAMES])
    assert opening.take(str(tmp_path / "none")) is None
    for name in NAMES[:OPEN_AHEAD]:
        assert opening.open(name).read(100)
    assert store.opened == OPEN_AHEAD
    assert opening.take(NAMES[0]) is None
    assert opening.open(NAMES[0]).read(100)
    assert store.opened == OPEN_AHEAD + 1
