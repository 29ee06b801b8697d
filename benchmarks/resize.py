"""Claim: `resize`, bilinear, 500x375 of uint8 to 224x224 of float32, at 2 x TensorFlow, both on one core.

The same pixels go through both again and again, image by image as a pipeline does it; what comes out is compared
first. Other sizes, channels and methods are for information.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np

from benchmarks import rivals
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child

OURS: Final = "tfrkit"
THEIRS: Final = "TensorFlow"
REPEATS: Final = 40  # images of one run


class Case(NamedTuple):
    """One kind of call."""

    shape: tuple[int, int, int]
    size: tuple[int, int]
    method: str = "bilinear"
    antialias: bool = False

    def __str__(self) -> str:
        height, width, channels = self.shape
        spread = ", antialias" if self.antialias else ""
        return f"{width}x{height}x{channels} -> {self.size[1]}x{self.size[0]}, {self.method}{spread}"


CASES: Final = (
    Case((375, 500, 3), (224, 224)),
    Case((375, 500, 3), (96, 96)),
    Case((1500, 2000, 3), (224, 224)),
    Case((375, 500, 1), (224, 224)),
    Case((375, 500, 4), (224, 224)),
    Case((375, 500, 3), (224, 224), "nearest"),
    Case((375, 500, 3), (224, 224), "bicubic"),
    Case((375, 500, 3), (224, 224), "area"),
    Case((375, 500, 3), (224, 224), "bilinear", antialias=True),
    Case((375, 500, 3), (224, 224), "lanczos3", antialias=True),
)


def _many(call: Callable[[], Any], count: int) -> int:
    for _ in range(count):
        call()
    return count


def _pair(case: Case, count: int) -> list[Contender]:
    """Ours and TensorFlow's, on the same pixels; they must agree."""
    from tfrkit import image

    tf = rivals.tensorflow()
    pixels = np.random.default_rng(1).integers(0, 256, case.shape, np.uint8)
    ours = partial(image.resize, pixels, case.size, case.method, antialias=case.antialias)
    theirs = partial(tf.image.resize, tf.constant(pixels), case.size, case.method, antialias=case.antialias)
    if ours().tobytes() != theirs().numpy().tobytes():
        raise RuntimeError(f"{case}: the results differ")
    return [
        Contender(f"{name}, {case}", partial(_many, call, count), "records", count, count * pixels.nbytes)
        for name, call in ((OURS, ours), (THEIRS, theirs))
    ]


def contenders(settings: Settings) -> list[Contender]:
    """Both ways of every case."""
    rivals.tensorflow().config.threading.set_intra_op_parallelism_threads(1)
    count = max(1, round(REPEATS * settings.scale))
    return [contender for case in CASES for contender in _pair(case, count)]


def run(settings: Settings) -> Report:
    """Measure every case on one core."""
    report = Report("resize")
    found = by_name(in_child("resize", "contenders", settings, cores=1))
    rows, claims = [], []
    for case in CASES:
        ours, theirs = (found[f"{name}, {case}"] for name in (OURS, THEIRS))
        micros = [result.best / result.records * 1e6 for result in (ours, theirs)]
        ratio = ours.rate / theirs.rate
        rows.append([str(case), *(f"{value:.0f}" for value in micros), f"{ratio:.1f}"])
        claims.append(Claim(f"resize {case}, 1 core", ratio, 2.0 if case == CASES[0] else None))
    report.add_table("One image of uint8, 1 core: microseconds", ["case", OURS, THEIRS, "times"], rows)
    for claim in claims:
        report.add_claim(claim)
    return report
