"""SpoolOutput: many files at once wait on the local disk, and appear whole."""

from __future__ import annotations

import gc
import os

import pytest

from tfrkit.errors import PermissionDeniedError
from tfrkit.stores.files import create, is_there, read_bytes
from tfrkit.stores.object_config import configure_store
from tfrkit.stores.object_output import MOST_AT_ONCE, UploadOutput
from tfrkit.stores.spool_output import SpoolOutput

MANY = MOST_AT_ONCE + 1


def test_few_are_uploads_and_many_wait(s3_folder):
    assert isinstance(create(f"{s3_folder}/a", at_once=MOST_AT_ONCE), UploadOutput)
    assert isinstance(create(f"{s3_folder}/a", at_once=MANY), SpoolOutput)


def test_it_appears_when_it_is_closed(s3_folder):
    output = create(f"{s3_folder}/a", at_once=MANY)
    data = os.urandom(9_000_000)
    output.write(data[:10])
    output.write_pieces([data[10:20], memoryview(data)[20:]])
    output.flush()
    output.finish()
    assert output.position == len(data)
    assert not is_there(f"{s3_folder}/a")
    output.close()
    output.close()
    output.discard()
    assert read_bytes(f"{s3_folder}/a") == data


def test_it_may_get_another_name(s3_folder):
    output = create(f"{s3_folder}/a", at_once=MANY)
    output.write(b"x")
    output.publish(f"{s3_folder}/b")
    assert read_bytes(f"{s3_folder}/b") == b"x"
    assert not is_there(f"{s3_folder}/a")


def test_what_is_taken_back_is_not_written(s3_folder):
    output = create(f"{s3_folder}/a", at_once=MANY)
    output.write(b"keep and forget")
    output.rollback(4)
    assert output.position == 4
    output.write(b"!")
    output.close()
    assert read_bytes(f"{s3_folder}/a") == b"keep!"


def test_nothing_is_left_of_what_is_given_up(s3_folder, tmp_path, monkeypatch):
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    output = create(f"{s3_folder}/a", at_once=MANY)
    output.write(b"x")
    assert os.listdir(tmp_path) == []  # it has no name
    output.discard()
    output.discard()
    dropped = create(f"{s3_folder}/b", at_once=MANY)
    dropped.write(b"x")
    del dropped
    gc.collect()
    assert not is_there(f"{s3_folder}/a")
    assert not is_there(f"{s3_folder}/b")


def test_failure_leaves_nothing(s3_server, s3_bucket, s3_folder):
    output = create(f"{s3_folder}/a", at_once=MANY)
    output.write(bytes(9_000_000))
    configure_store(f"s3://{s3_bucket}", **s3_server.options(reader=True))
    try:
        with pytest.raises(PermissionDeniedError, match="access denied"):
            output.close()
    finally:
        configure_store(f"s3://{s3_bucket}", **s3_server.options())
    output.discard()
    assert not is_there(f"{s3_folder}/a")
