"""Claim: `import tfrkit` takes at most 0.15 s more than numpy and pulls in no optional package.

Each run is a new interpreter; the files are in the page cache. Measure an installed wheel: an editable
install that rebuilds on import looks for changed sources first.
"""

from __future__ import annotations

import json
import subprocess
import sys

from benchmarks.harness import Claim, Report, Settings

LIMIT_SECONDS = 0.15
OPTIONAL = (
    "tensorflow", "torch", "jax", "pyarrow", "pandas", "polars", "PIL", "simplejpeg", "zstandard", "obstore",
    "fsspec", "ray", "pyspark", "grain", "duckdb", "starlette",
)  # fmt: skip
_SCRIPT = """
import json, sys, time
import numpy
start = time.perf_counter()
import {package}
print(json.dumps([time.perf_counter() - start, [name for name in {names!r} if name in sys.modules]]))
"""


def _import_once(package: str) -> tuple[float, list[str]]:
    script = _SCRIPT.format(package=package, names=OPTIONAL)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    seconds, names = json.loads(done.stdout.splitlines()[-1])
    return seconds, names


def run(settings: Settings) -> Report:
    """Time the import after numpy, and TensorFlow's for comparison."""
    report = Report("import_time")
    ours = [_import_once("tfrkit") for _ in range(max(3, settings.repeat))]
    theirs = [_import_once("tensorflow") for _ in range(2)]
    best, best_theirs = (min(seconds for seconds, _ in runs) for runs in (ours, theirs))
    rows = [["import tfrkit", f"{best:.4f}"], ["import tensorflow", f"{best_theirs:.4f}"]]
    report.add_table("Seconds that an import takes after numpy", ["what", "best s"], rows)
    report.add_claim(Claim("import tfrkit after numpy", best, LIMIT_SECONDS, unit="s", sense="at most"))
    pulled = sorted({name for _, names in ours for name in names})
    text = f"Optional packages that the import pulls in ({', '.join(pulled) or 'none'})"
    report.add_claim(Claim(text, float(len(pulled)), 0.0, unit="packages", sense="at most"))
    return report
