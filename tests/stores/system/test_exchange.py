"""Names that are exchanged in one step, and how it is told that this cannot be done."""

from __future__ import annotations

import ctypes
import errno
import os
import sys
from types import SimpleNamespace

import pytest

from tfrkit.stores.system.exchange import exchange


def folders(tmp_path):
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / f"{name}.txt").write_text(name)
    return str(tmp_path / "one"), str(tmp_path / "other")


@pytest.mark.skipif(sys.platform != "linux", reason="renameat2 is Linux's")
def test_folders_exchange_their_names(tmp_path):
    one, other = folders(tmp_path)
    if exchange(one, other):  # else the file system cannot
        assert (os.listdir(one), os.listdir(other)) == (["other.txt"], ["one.txt"])
    with pytest.raises(FileNotFoundError):
        exchange(one, str(tmp_path / "missing"))


def test_without_the_call_nothing_happens(tmp_path, monkeypatch):
    one, other = folders(tmp_path)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_args, **_options: SimpleNamespace())
    assert not exchange(one, other)
    assert (os.listdir(one), os.listdir(other)) == (["one.txt"], ["other.txt"])


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EINVAL])
def test_a_file_system_that_cannot_is_no_error(tmp_path, monkeypatch, number):
    one, other = folders(tmp_path)
    monkeypatch.setattr(ctypes, "CDLL", lambda *_args, **_options: SimpleNamespace(renameat2=lambda *_: -1))
    monkeypatch.setattr(ctypes, "get_errno", lambda: number)
    assert not exchange(one, other)
