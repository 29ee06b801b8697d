"""Tables of delimited text into shards: several files, their headers, types over all of them, and the same bytes."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

import tfrkit as tfr
from tfrkit.build.tables.delimited import row_windows
from tfrkit.errors import InvalidArgumentError


def write(folder: Path, files: dict[str, bytes]) -> list[str]:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return [str(folder / name) for name in files]


def built(out: Path) -> dict[str, list[Any]]:
    table: dict[str, list[Any]] = tfr.read_table(f"{out}/*.tfrecord").to_pydict()
    return table


def test_columns_are_matched_by_name(tmp_path: Path) -> None:
    files = {"a.csv": b"x,y\n1,p\n", "b.csv": b"y,x\nq,2\n", "c.csv": b"y,z\nr,5\n"}
    report = tfr.build.table(write(tmp_path, files), tmp_path / "out")
    assert report.records == 3
    assert built(tmp_path / "out") == {"x": [1, 2, None], "y": [b"p", b"q", b"r"], "z": [None, None, 5]}


def test_types_are_settled_over_all_inputs(tmp_path: Path) -> None:
    files = {"a.tsv": b"x\ty\tz\n1\t1\t1\n", "b.tsv": b"x\ty\tz\n2\t0.5\tw\n"}
    tfr.build.table(write(tmp_path, files), tmp_path / "out")
    assert built(tmp_path / "out") == {"x": [1, 2], "y": [1.0, 0.5], "z": [b"1", b"w"]}


def test_bad_lines_are_reported_with_file_line_and_reason(tmp_path: Path) -> None:
    files = {"a.csv": b"x,y\n1,2\nq,3\n", "b.csv": b"x,y\n4\n5,6\n\xff,7\n"}
    report = tfr.build.table(write(tmp_path, files), tmp_path / "out", column=["x:int64"])
    assert built(tmp_path / "out") == {"x": [1, 5], "y": [2, 6]}
    assert dict(report.bad) == {"not an int64": 1, "wrong number of fields": 1, "not valid utf-8": 1}
    assert [(bad.source, bad.line, bad.reason) for bad in report.listed] == [
        ("a.csv", 3, "not an int64"),
        ("b.csv", 2, "wrong number of fields"),
        ("b.csv", 4, "not valid utf-8"),
    ]


def test_the_first_bad_line_ends_the_job_if_asked_for(tmp_path: Path) -> None:
    files = write(tmp_path, {"a.csv": b"x,y\n1,2\n3\n"})
    with pytest.raises(
        InvalidArgumentError, match=r"a\.csv, line 3: wrong number of fields: expected 2 but got 1"
    ):
        tfr.build.table(files, tmp_path / "out", on_bad="raise")
    assert not list((tmp_path / "out").glob("*.tfrecord"))


@pytest.mark.parametrize("compressed", [False, True])
def test_the_number_of_workers_and_pieces_changes_no_byte(tmp_path: Path, compressed: bool) -> None:
    rows = [b'%d,%d.5,"t\n%d"\n' % (i, i, i) if i % 7 else b"bad\n" for i in range(2000)]
    data = [b"id,v,s\n" + b"".join(rows[start : start + 500]) for start in range(0, 2000, 500)]
    pack = gzip.compress if compressed else bytes
    paths = write(tmp_path, {f"{number}.csv": pack(text) for number, text in enumerate(data)})
    results = []
    for workers, window in ((1, 1 << 20), (2, 1000), (3, 100)):
        out = tmp_path / f"out{workers}"
        with mock.patch.object(row_windows, "WINDOW_BYTES", window):
            report = tfr.build.table(paths, out, shards=3, workers=workers, format="csv")
        shards = [path.read_bytes() for path in sorted(out.glob("*.tfrecord"))]
        results.append((shards, report.listed))
    assert results[0] == results[1] == results[2]
    assert [len(results[0][0]), len(results[0][1])] == [3, 286]


def test_hive_folders_become_columns_and_marker_files_are_skipped(tmp_path: Path) -> None:
    write(
        tmp_path / "t",
        {
            "dt=2024-01-01/000000_0": b"1\x01a\x02b\x01\\N\n",
            "dt=2024-01-02/000000_0": b"2\x01\x01x\n",
            "dt=2024-01-02/_SUCCESS": b"",
            "dt=2024-01-02/.000000_0.crc": b"crc",
        },
    )
    tfr.build.table(tmp_path / "t", tmp_path / "out", format="hive", names=["id", "tags", "s"])
    assert built(tmp_path / "out") == {
        "dt": [b"2024-01-01", b"2024-01-02"],
        "id": [1, 2],
        "s": [None, b"x"],
        "tags": [[b"a", b"b"], []],
    }


def test_a_map_may_be_empty_in_all_rows_of_a_file(tmp_path: Path) -> None:
    files = write(tmp_path, {"0": b"1\x01a\x035\n", "1": b"2\x01\n"})
    tfr.build.table(files, tmp_path / "out", format="hive", names=["id", "m"])
    assert built(tmp_path / "out") == {"id": [1, 2], "m/key": [b"a", None], "m/value": [5, None]}


def test_names_of_files_may_be_anything(tmp_path: Path) -> None:
    files = write(tmp_path, {"数据 文件.csv": b"x\n1\n", "odd\udcff.csv": b"x\n2\n"})
    assert tfr.build.table(files, tmp_path / "出 口").records == 2
    assert sorted(built(tmp_path / "出 口")["x"]) == [1, 2]


def test_files_without_rows_among_others_are_fine(tmp_path: Path) -> None:
    files = write(tmp_path, {"a.csv": b"", "b.csv": b"x\n", "c.csv": b"x\n1\n"})
    tfr.build.table(files, tmp_path / "out")
    assert built(tmp_path / "out") == {"x": [1]}
