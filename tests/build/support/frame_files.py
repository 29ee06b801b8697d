"""Files of records for the tests of commands that move frames."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import tfrkit as tfr
from tests.records.support.made import contain, frames

__all__ = ["RECORDS", "contents", "files_in", "put_records", "tree"]

# Sizes from 0 to 3,000 bytes, each record once.
RECORDS = [b"%d " % number + bytes(number * 37 % 3000) for number in range(300)]


def put_records(path: Path, records: Sequence[bytes], kind: str = "") -> Path:
    """Write a file in one of the containers of `made.py`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(contain(frames(records), kind))
    return path


def contents(*paths: Path) -> list[list[bytes]]:
    """Give the records of each file."""
    return [list(tfr.read_records(path)) for path in paths]


def files_in(folder: Path) -> list[Path]:
    """Give the files of records in a folder, sorted."""
    return sorted(path for path in folder.iterdir() if ".tfrecord" in path.name)


def tree(folder: Path) -> dict[str, bytes]:
    """Give every file of a folder with its content; locks apart."""
    paths = (path for path in sorted(folder.rglob("*")) if path.is_file() and path.suffix != ".lock")
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}
