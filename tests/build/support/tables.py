"""Building tables in tests: what came out, row by row."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import tfrkit
from tfrkit.build.job.job import BuildReport


def rows(folder: Path) -> list[dict[str, Any]]:
    """All records of a folder, in order; features as plain lists."""
    found = []
    for path in sorted(folder.glob("*.tfrecord*")):
        for record in tfrkit.read_records(path):
            found.append({name: list(values) for name, values in tfrkit.to_dict(record).items()})
    return found


def build(inputs: Any, folder: Path, **options: Any) -> tuple[list[dict[str, Any]], BuildReport]:
    """Build, and give the rows and the report."""
    report = tfrkit.build.table(inputs, folder, **options)
    return rows(folder), report


def one_by_one(inputs: Any, folder: Path, **options: Any) -> list[dict[str, Any]]:
    """The rows of a build in which every bad one is an error."""
    return build(inputs, folder, on_bad="raise", **options)[0]


def content(folder: Path) -> dict[str, bytes]:
    """All files of a folder but those that belong to no result."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.suffix != ".lock"
    }


def write_lines(path: Path, *lines: Any) -> Path:
    """A file of JSON lines; bytes are taken as they are."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        b"".join((line if isinstance(line, bytes) else json.dumps(line).encode()) + b"\n" for line in lines)
    )
    return path
