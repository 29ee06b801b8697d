from __future__ import annotations

import pytest

import tfrkit as tfr
from tests.records.support.made import GOLDEN, GOLDEN_RECORDS, contain, frames, put
from tfrkit.errors import DataLossError, FailedPreconditionError, NotFoundError
from tfrkit.tf.v1.polling import tf_record_iterator

KINDS = ("", "GZIP", "ZLIB")


@pytest.mark.parametrize("kind", KINDS)
def test_iterator_gives_all_records(kind, tmp_path):
    records = [bytes([i % 256]) * (i * 7) for i in range(600)]
    path = str(put(tmp_path / "a", contain(frames(records), kind)))
    assert list(tf_record_iterator(path, kind)) == records


@pytest.mark.parametrize("kind", KINDS)
def test_end_is_not_final_if_the_file_grows(kind, tmp_path):
    path = tmp_path / "a"
    writer = tfr.TFRecordWriter(path, compression=kind, members=False)
    writer.write(b"one")
    writer.flush()
    found = tf_record_iterator(str(path), kind)
    assert list(found) == [b"one"]
    writer.write_many([b"two", b"three"])
    writer.flush()
    assert list(found) == [b"two", b"three"]
    writer.close()
    assert list(found) == []


def test_record_that_is_cut_is_an_error_until_it_is_complete(tmp_path):
    path = put(tmp_path / "a", GOLDEN[:-3])
    found = tf_record_iterator(str(path))
    assert [next(found), next(found)] == GOLDEN_RECORDS[:2]
    for _ in range(3):
        with pytest.raises(DataLossError, match=r"^truncated record at 35'"):
            next(found)
    path.write_bytes(GOLDEN)
    assert next(found) == GOLDEN_RECORDS[2]


def test_cut_header_is_the_end_for_now(tmp_path):
    path = put(tmp_path / "a", GOLDEN[:40])
    found = tf_record_iterator(str(path))
    assert list(found) == GOLDEN_RECORDS[:2]
    path.write_bytes(GOLDEN)
    assert list(found) == GOLDEN_RECORDS[2:]


def test_closed_iterator_is_at_its_end_until_it_is_reopened(tmp_path):
    found = tf_record_iterator(str(put(tmp_path / "a", GOLDEN)))
    assert next(found) == b"abc"
    with pytest.raises(FailedPreconditionError, match=r"^Reader is not closed\.$"):
        found.reopen()
    found.close()
    assert list(found) == []
    found.reopen()
    assert list(found) == GOLDEN_RECORDS[1:]


def test_iterator_of_a_missing_file_is_refused_at_once(tmp_path):
    with pytest.raises(NotFoundError, match=r"missing; No such file or directory$"):
        tf_record_iterator(str(tmp_path / "missing"))


def test_path_must_be_text(tmp_path):
    with pytest.raises(TypeError, match=r"^Expected binary or unicode string, got "):
        tf_record_iterator(tmp_path / "a")
