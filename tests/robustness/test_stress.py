"""Pipelines with threads under random treatment, see `stress.py`: a few seconds of it."""

from __future__ import annotations

import random
import subprocess
import sys
from pathlib import Path

import pytest

SECONDS = 9


@pytest.mark.parametrize("seed", [0, random.SystemRandom().randrange(10**9)], ids=["known", "random"])
def test_pipelines_under_random_treatment(seed: int) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.robustness.support.stress", str(SECONDS), str(seed)],
        capture_output=True,
        text=True,
        cwd=Path(__file__).parents[2],
        timeout=240,
    )
    assert done.returncode == 0, f"seed {seed}\n{done.stderr}"
    assert int(done.stdout) > 2
