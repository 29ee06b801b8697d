"""Code that is run in a process of its own: what it imports would slow down, or forbid, the forks of other tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

KERAS = "ignore:__array__ implementation doesn't accept a copy keyword"  # of its own variables, under numpy 2
ROOT = Path(__file__).resolve().parents[2]


def run_apart(code: str, folder: Path, *, warnings: str = "error", **environment: str) -> Any:
    """Run code in a folder, by default with warnings as errors, and return the JSON that it prints last."""
    (folder / "program.py").write_text(code, "utf-8")
    made = subprocess.run(
        [sys.executable, "-W", warnings, "-W", KERAS, "program.py"],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "2"} | environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert made.returncode == 0, made.stderr[-4000:]
    return json.loads(made.stdout.splitlines()[-1])
