"""The programs in examples/ run, on little data, and say what they should."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.servers.seaweed import S3Server

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"


@pytest.mark.parametrize(
    ("program", "size", "expected"),
    [
        ("demo.py", 20_000, "examples with label 1, as in one go"),
        ("photos.py", 100, "Both gave the same 2 batches of (64, 96, 96, 3), bit for bit."),
    ],
)
def test_example_runs(program: str, size: int, expected: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / program), str(size)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout


def test_example_of_s3_reads_what_it_has_written(
    s3_server: S3Server, s3_bucket: str, unique_prefix: str, tmp_path: Path
) -> None:
    done = subprocess.run(
        [sys.executable, str(EXAMPLES / "s3_batches.py"), f"s3://{s3_bucket}/{unique_prefix}", "2500"],
        cwd=tmp_path,
        env={**os.environ, **s3_server.environment(), "TFRKIT_CACHE": str(tmp_path / "cache")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    first, *epochs = done.stdout.splitlines()
    assert first.startswith("2500 records in 4 shards; the last has ")
    assert [line.partition(" rows")[0] for line in epochs] == ["epoch 0: 2500", "epoch 1: 2500"]
