from __future__ import annotations

import errno
import fcntl
import os

import pytest

import tfrkit as tfr
from tests.build.support.made import job, train
from tfrkit.build.export.export_folder import StagedFolder
from tfrkit.build.job.job import run_job
from tfrkit.errors import OpError
from tfrkit.stores.system.file_lock import lock_file


def refuse(number: int):
    def flock(fd: int, operation: int) -> None:
        raise OSError(number, os.strerror(number))

    return flock


@pytest.fixture
def fd(tmp_path):
    number = os.open(tmp_path / "lock", os.O_RDWR | os.O_CREAT)
    yield number
    os.close(number)


def test_lock_that_another_holds_is_told_or_waited_for(fd, tmp_path):
    other = os.open(tmp_path / "lock", os.O_RDWR)
    assert lock_file(fd, "lock", wait=True)
    assert not lock_file(other, "lock", wait=False)
    fcntl.flock(fd, fcntl.LOCK_UN)
    assert lock_file(other, "lock", wait=False)
    os.close(other)


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP])
@pytest.mark.parametrize("wait", [False, True])
def test_file_system_without_locks_is_a_warning(number, wait, fd, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", refuse(number))
    with pytest.warns(
        RuntimeWarning, match=r"^a/lock: this file system has no locks \(.*\), so nothing keeps"
    ):
        assert lock_file(fd, "a/lock", wait=wait)


def test_other_errors_name_the_file(fd, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", refuse(errno.EIO))
    with pytest.raises(OpError, match=r"^a/lock; Input/output error"):
        lock_file(fd, "a/lock", wait=True)


@pytest.mark.filterwarnings("ignore:.*this file system has no locks:RuntimeWarning")
def test_shards_and_builds_work_without_locks(tmp_path, monkeypatch):
    monkeypatch.setattr(fcntl, "flock", refuse(errno.ENOSYS))
    for _ in range(2):
        with tfr.ShardWriter(tmp_path / "a", shards=2, overwrite=True) as writer:
            writer.write_many([b"x"] * 5)
    assert tfr.verify(str(tmp_path / "a-*")).records == 5
    run_job(job(tmp_path / "b", train(2)))
    assert len(list((tmp_path / "b").glob("train-*"))) == 2


def test_nothing_changes_the_umask_of_the_process(tmp_path, monkeypatch):
    mask = os.umask(0o027)
    monkeypatch.setattr(os, "umask", None)
    try:
        with StagedFolder(str(tmp_path / "export"), overwrite=False) as folder:
            assert os.stat(folder.path).st_mode & 0o777 == 0o750
        with tfr.TFRecordWriter(tmp_path / "a", atomic=True) as writer:
            writer.write(b"x")
        assert os.stat(tmp_path / "a").st_mode & 0o777 == 0o640
    finally:
        monkeypatch.undo()
        os.umask(mask)
