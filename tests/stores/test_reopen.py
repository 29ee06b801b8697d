"""Few of many sources are open, and none is another file than it was."""

from __future__ import annotations

import gc
import os
import threading
from pathlib import Path

import pytest

from tfrkit.errors import FailedPreconditionError, NotFoundError
from tfrkit.stores import reopen
from tfrkit.stores.files import open_source
from tfrkit.stores.reopen import ReopenedSource


def made(folder: Path, count: int) -> list[ReopenedSource]:
    sources = []
    for number in range(count):
        path = folder / str(number)
        path.write_bytes(b"%d" % number)
        sources.append(ReopenedSource(open_source(str(path))))
    return sources


def open_descriptors() -> int:
    return len(os.listdir("/dev/fd"))


@pytest.fixture
def few(monkeypatch):
    monkeypatch.setattr(reopen, "_MOST_OPEN", 3)


def test_the_sources_used_last_stay_open(tmp_path, few):
    before = open_descriptors()
    sources = made(tmp_path, 20)
    assert open_descriptors() <= before + 3
    kept = [source.get() for source in sources[-3:]]
    assert [sources[number].get() for number in (17, 18, 19)] == kept
    assert [source.get().read_at(0, 9) for source in sources] == [b"%d" % number for number in range(20)]
    del kept
    assert open_descriptors() <= before + 3
    del sources
    gc.collect()
    assert open_descriptors() <= before


def test_a_source_that_is_held_stays_open(tmp_path, few):
    sources = made(tmp_path, 10)
    held = sources[0].get()
    for source in sources:
        source.get()
    assert held.read_at(0, 9) == b"0"
    assert sources[0].get() is not held


def test_another_file_of_the_name_is_refused(tmp_path, few):
    sources = made(tmp_path, 10)
    (tmp_path / "other").write_bytes(b"other")
    os.replace(tmp_path / "other", tmp_path / "0")
    os.unlink(tmp_path / "1")
    with pytest.raises(FailedPreconditionError, match="another file has taken its place since it was opened"):
        sources[0].get()
    with pytest.raises(NotFoundError):
        sources[1].get()


def test_threads_share_the_few(tmp_path, few):
    sources = made(tmp_path, 12)
    wrong: list[bytes] = []

    def read() -> None:
        for turn in range(300):
            number = turn * 7 % 12
            data = sources[number].get().read_at(0, 9)
            if data != b"%d" % number:
                wrong.append(data)

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
