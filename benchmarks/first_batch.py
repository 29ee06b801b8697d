"""Claim: the first batch of B is there 4 x sooner than TensorFlow's, counted from the start of Python.

Each run is a new interpreter that runs the seed's pipeline; the files are in the page cache. Measure an installed
wheel: an editable install that rebuilds on import looks for changed sources first.
"""

from __future__ import annotations

import subprocess
import sys
import time

from benchmarks import images
from benchmarks.harness import Claim, Report, Settings

SOONER = 4.0
_SCRIPT = """
import os, sys
from benchmarks import images
batch = next(iter(images.seed_program(images.MODULES[{module!r}](), {paths!r})))
print(len(batch[0]), flush=True)
os._exit(0)  # TensorFlow's threads would hold it up
"""


def _seconds(settings: Settings, module: str) -> float:
    paths = [str(path) for path in images.photos(settings)[0]]
    script = _SCRIPT.format(module=module, paths=paths)
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, check=True)
    seconds = time.perf_counter() - start
    if int(done.stdout.split()[-1]) != images.BATCH:
        raise RuntimeError(f"expected a batch of {images.BATCH} but got {done.stdout!r}")
    return seconds


def run(settings: Settings) -> Report:
    """Start both in turns."""
    report = Report("first_batch")
    turns = max(3, settings.repeat)
    found = {
        module: [_seconds(settings, module) for _ in range(turns)] for module in ("tfrkit.tf", "TensorFlow")
    }
    rows = [[module, f"{min(seconds):.3f}"] for module, seconds in found.items()]
    report.add_table("Seconds from the start of Python to the first batch of B", ["library", "best s"], rows)
    ratio = min(found["TensorFlow"]) / min(found["tfrkit.tf"])
    report.add_claim(Claim("First batch of B, TensorFlow's seconds / tfrkit's", ratio, SOONER))
    return report
