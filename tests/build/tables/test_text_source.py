"""The checksum of a text input: that of all its bytes, taken in the read of the survey."""

from __future__ import annotations

import bz2
import gzip
import zlib
from pathlib import Path

import pytest

from tfrkit.build.job.progress import TaskReporter
from tfrkit.build.tables.delimited import row_survey
from tfrkit.build.tables.delimited.delimited import DelimitedFormat
from tfrkit.build.tables.jsonl.jsonl import JsonlFormat
from tfrkit.build.tables.table_format import TableFormat
from tfrkit.build.tables.table_inputs import find_inputs
from tfrkit.codecs.checksum import crc32, crc32_combine
from tfrkit.engines.local import Stop
from tfrkit.stores.source import ByteSource

ROWS = "name,text\n" + "".join(f'{number},"some\ntext {number}"\n' for number in range(4000))
LINES = "".join(f'{{"name": {number}, "text": "{"x" * (number % 50)}"}}\n' for number in range(4000))
FILES = {
    "plain.csv": ROWS.encode(),
    "mark.csv": b"\xef\xbb\xbf" + ROWS.encode(),
    "wide.csv": ROWS.encode("utf-16"),
    "packed.csv.gz": gzip.compress(ROWS.encode()),
    "members.csv.gz": 2 * gzip.compress(ROWS.encode()),
    "packed.csv.bz2": bz2.compress(ROWS.encode()),
    "empty.csv": b"",
    "lines.jsonl": LINES.encode(),
    "packed.jsonl.gz": gzip.compress(LINES.encode()),
    "mark.jsonl": b"\xef\xbb\xbf" + LINES.encode(),
    "long.jsonl": LINES.encode() + b'{"name": "' + b"x" * (9 << 20) + b'"}\n' + LINES.encode(),
}


def reader_of(name: str) -> TableFormat:
    if ".jsonl" in name:
        return JsonlFormat(1 << 20)
    return DelimitedFormat(kind="csv", encoding="utf-16" if name.startswith("wide") else "utf-8")


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize("section", [1 << 12, 64 << 20])
def test_a_survey_has_the_checksum_of_all_bytes(
    name: str, section: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(row_survey, "SECTION_BYTES", section)
    (tmp_path / name).write_bytes(FILES[name])
    (file,) = find_inputs([tmp_path / name])
    survey = reader_of(name).survey(file, TaskReporter(Stop(), "skip", lambda *_: None))
    assert survey.fingerprint == (len(FILES[name]), zlib.crc32(FILES[name]))


@pytest.mark.parametrize(
    "name", ["plain.csv", "packed.csv.gz", "lines.jsonl", "mark.jsonl", "packed.jsonl.gz"]
)
def test_a_survey_reads_a_file_once(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    read_at = ByteSource.read_at

    def counted(self: ByteSource, position: int, count: int) -> bytes:
        nonlocal read
        data = read_at(self, position, count)
        read += len(data)
        return data

    data = 20 * FILES["lines.jsonl" if ".jsonl" in name else "plain.csv"]
    data = gzip.compress(data) if name.endswith(".gz") else data
    (tmp_path / name).write_bytes(data)
    (file,) = find_inputs([tmp_path / name])
    reader = reader_of(name)
    reader.survey(
        file, TaskReporter(Stop(), "skip", lambda *_: None)
    )  # which looks at the header, once for all
    monkeypatch.setattr(ByteSource, "read_at", counted)
    reader.survey(file, TaskReporter(Stop(), "skip", lambda *_: None))
    assert len(data) <= read < 1.1 * len(data) + 100


def test_checksums_combine() -> None:
    data = bytes(range(256)) * 30
    for cut in (0, 1, 7, 4096, len(data)):
        assert crc32_combine(crc32(data[:cut]), crc32(data[cut:]), len(data) - cut) == crc32(data)
