"""TensorFlow's bytes, as kept in this folder, are read and written without TensorFlow."""

from __future__ import annotations

from pathlib import Path

import pytest

import tfrkit as tfr
from tests.golden.contents import FILES, FLUSH_AFTER, RECORDS

HERE = Path(__file__).parent


@pytest.mark.parametrize("name", FILES)
def test_golden_file_is_read(name: str) -> None:
    expected = [] if name.startswith("empty") else RECORDS
    compression, _ = FILES[name]
    assert list(tfr.read_records(HERE / name)) == expected
    assert (
        list(tfr.read_records(str(HERE / name), policy=tfr.TENSORFLOW, compression=compression)) == expected
    )


@pytest.mark.parametrize("name", FILES)
def test_golden_file_is_written(tmp_path: Path, name: str) -> None:
    compression, options = FILES[name]
    path = tmp_path / "file"
    with tfr.TFRecordWriter(
        str(path), tfr.TFRecordOptions(compression, **options), policy=tfr.TENSORFLOW
    ) as writer:
        for number, record in enumerate([] if name.startswith("empty") else RECORDS):
            writer.write(record)
            if name.startswith("flushed") and number in FLUSH_AFTER:
                writer.flush()
    assert path.read_bytes() == (HERE / name).read_bytes()
