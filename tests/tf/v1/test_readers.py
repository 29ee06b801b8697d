"""Readers over queues of names: counts, states, what comes after errors."""

from __future__ import annotations

import pytest

import tfrkit as tfr
from tfrkit.errors import DataLossError, InvalidArgumentError, NotFoundError, OutOfRangeError
from tfrkit.tf.v1.readers import TFRecordReader


class Names:
    """A queue of names."""

    @property
    def queue_ref(self):
        """The queue itself."""
        return self

    def __init__(self, *names):
        self.names = [str(name).encode() for name in names]

    def next_work(self):
        """The next one."""
        if not self.names:
            raise OutOfRangeError("closed")
        return self.names.pop(0)


@pytest.fixture
def files(tmp_path):
    paths = []
    for name, records in (("a", [b"a0", b"a1"]), ("b", []), ("c", [b"c0"])):
        with tfr.TFRecordWriter(tmp_path / name) as writer:
            writer.write_many(records)
        paths.append(tmp_path / name)
    return paths


def test_files_are_counted_when_the_next_read_notices(files):
    reader, names = TFRecordReader(), Names(*files)
    seen = []
    for _ in range(3):
        value = reader.read(names).value.numpy()
        seen.append((value, int(reader.num_records_produced()), int(reader.num_work_units_completed())))
    assert seen == [(b"a0", 1, 0), (b"a1", 2, 0), (b"c0", 3, 2)]
    with pytest.raises(OutOfRangeError):
        reader.read(names)
    assert int(reader.num_work_units_completed()) == 3


def test_reading_several_stops_at_the_end_of_a_file(files):
    reader, names = TFRecordReader(), Names(*files)
    assert reader.read_up_to(names, 9).values.numpy().tolist() == [b"a0", b"a1"]
    assert int(reader.num_work_units_completed()) == 1
    assert reader.read_up_to(names, 0).values.numpy().tolist() == []
    with pytest.raises(InvalidArgumentError):
        reader.read_up_to(names, -1)


@pytest.mark.parametrize("compression", ["", "GZIP", "ZLIB"])
def test_state_in_the_middle_of_a_file(tmp_path, compression):
    path = tmp_path / "x"
    with tfr.TFRecordWriter(path, compression) as writer:
        writer.write_many([b"x" * n for n in range(200)])
    reader, names = TFRecordReader(options=compression), Names(path)
    for _ in range(77):
        reader.read(names)
    other = TFRecordReader(options=compression)
    other.restore_state(reader.serialize_state())
    assert int(other.num_records_produced()) == 77
    mine, theirs = other.read(Names()), reader.read(names)
    assert (mine.key.numpy(), mine.value.numpy()) == (theirs.key.numpy(), theirs.value.numpy())
    rest, others = other.read_up_to(Names(), 500), reader.read_up_to(names, 500)
    assert rest.keys.numpy().tolist() == others.keys.numpy().tolist()
    assert rest.values.numpy().tolist() == others.values.numpy().tolist()


def test_state_that_is_none_resets(files):
    reader, names = TFRecordReader(), Names(*files)
    reader.read(names)
    for state, text in (
        (b"xxx", "Could not parse state"),
        (b"\x08\x05", "Inconsistent work started vs. finished"),
        (b"\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "Unexpected negative value"),
    ):
        with pytest.raises(InvalidArgumentError, match=text):
            reader.restore_state(state)
        assert int(reader.num_records_produced()) == 0
    with pytest.raises(NotFoundError):
        reader.restore_state(b'\x08\x01"\x0cno such file')


def test_damage_repeats_and_a_missing_file_does_not(files, tmp_path):
    whole = files[0].read_bytes()
    (tmp_path / "bad").write_bytes(whole[:-1])
    reader, names = TFRecordReader(), Names(tmp_path / "none", tmp_path / "bad", files[2])
    with pytest.raises(NotFoundError):
        reader.read(names)
    assert reader.read(names).value.numpy() == b"a0"
    for _ in range(2):
        with pytest.raises(DataLossError, match="truncated record at 18"):
            reader.read(names)
    reader.reset()
    assert reader.read(names).value.numpy() == b"c0"
