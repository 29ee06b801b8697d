"""The programs in examples/ run, on little data, and say what they should."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

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
