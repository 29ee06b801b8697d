"""Claim: Examples of 26 small features are made as quickly as by TensorFlow, and a photo in a list is no slower.

As programs for TensorFlow make them, with tf.train's classes by keyword. Each run is a process of its own, in turns.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping

from benchmarks.harness import Claim, Report, Settings

_IMPORTS: Mapping[str, str] = {"TensorFlow": "import tensorflow as tf", "tfrkit": "from tfrkit import tf"}
_EXAMPLES = """
def work(number):
    features = {}
    for column in range(13):
        features[f"I{column}"] = tf.train.Feature(int64_list=tf.train.Int64List(value=[number + column]))
    for column in range(13):
        features[f"C{column}"] = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"abcd"]))
    return tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
"""
_PHOTO = """
import numpy as np
photo = np.random.default_rng(1).integers(0, 256, (427, 640, 3), dtype=np.uint8)

def work(number):
    return tf.image.resize([photo], (224, 224))
"""
_TIMED = """
import time
times = []
for _ in range({turns}):
    start = time.process_time()
    for number in range({calls}):
        work(number)
    times.append((time.process_time() - start) / {calls})
print(min(times))
"""


def _once(imported: str, program: str, turns: int, calls: int) -> float:
    script = "\n".join([imported, program, _TIMED.format(turns=turns, calls=calls)])
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return float(done.stdout.splitlines()[-1])


def run(settings: Settings) -> Report:
    """Time both, in turns."""
    report = Report("make_examples")
    rows = []
    for what, program, turns, calls in (
        ("tf.train.Example of 26 features", _EXAMPLES, 7, 1500),
        ("tf.image.resize([photo])", _PHOTO, 2, 1),
    ):
        found: dict[str, list[float]] = {name: [] for name in _IMPORTS}
        for _ in range(max(2, settings.repeat // 2)):
            for name, imported in _IMPORTS.items():
                found[name].append(_once(imported, program, turns, calls))
        best = {name: min(seconds) for name, seconds in found.items()}
        rows += [[what, name, f"{1e6 * seconds:.1f}"] for name, seconds in best.items()]
        report.add_claim(Claim(f"{what}, against TensorFlow", best["TensorFlow"] / best["tfrkit"], 1.0))
    report.add_table("Microseconds of CPU time for one", ["what", "with", "best us"], rows)
    return report
