"""Claim: `decode_png` keeps up with TensorFlow, which has no part in the codec but libpng, both on one core.

Photos that scikit-image brings, as they are and as `encode_png` writes them; what comes out is compared first. Gray of
colours, small images and encoding are for information.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks import rivals
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child

OURS: Final = "tfrkit"
THEIRS: Final = "TensorFlow"
PHOTOS: Final = ("chelsea", "camera", "coffee", "motorcycle_left")
REPEATS: Final = 10  # images of one run


def _many(call: Callable[[], Any], count: int) -> int:
    for _ in range(count):
        call()
    return count


def _cases() -> dict[str, tuple[Callable[[], Any], Callable[[], Any]]]:
    """Ours and TensorFlow's of each case."""
    import skimage

    from tfrkit import image

    tf = rivals.tensorflow()
    folder = Path(skimage.__file__).parent / "data"
    made: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {}

    def decoding(name: str, contents: bytes, **options: Any) -> None:
        theirs = partial(tf.io.decode_png, tf.constant(contents), **options)
        made[name] = (partial(image.decode_png, contents, **options), theirs)

    for name in PHOTOS:
        decoding(f"decode {name}.png", (folder / f"{name}.png").read_bytes())
    pixels = image.decode_png((folder / "coffee.png").read_bytes(), channels=3)
    written = image.encode_png(pixels)
    decoding("decode what encode_png wrote", written)
    decoding("decode to gray", written, channels=1)
    decoding("decode 28x28 gray", image.encode_png(pixels[:28, :28, :1]))
    wide = image.encode_png(pixels.astype(np.uint16) * 257)
    decoding("decode 16 bits", wide, dtype="uint16")
    made["encode"] = (partial(image.encode_png, pixels), partial(tf.io.encode_png, tf.constant(pixels)))
    return made


def contenders(settings: Settings) -> list[Contender]:
    """Both ways of every case."""
    rivals.tensorflow().config.threading.set_intra_op_parallelism_threads(1)
    count = max(1, round(REPEATS * settings.scale))
    found = []
    for case, (ours, theirs) in _cases().items():
        if case != "encode" and np.asarray(ours()).tobytes() != theirs().numpy().tobytes():
            raise RuntimeError(f"{case}: the results differ")
        found += [
            Contender(f"{name}, {case}", partial(_many, call, count), "records", count, count)
            for name, call in ((OURS, ours), (THEIRS, theirs))
        ]
    return found


def run(settings: Settings) -> Report:
    """Measure every case on one core."""
    report = Report("png")
    found = by_name(in_child("png", "contenders", settings, cores=1))
    rows, claims = [], []
    for case in (name.removeprefix(f"{OURS}, ") for name in found if name.startswith(OURS)):
        ours, theirs = (found[f"{name}, {case}"] for name in (OURS, THEIRS))
        micros = [result.best / result.records * 1e6 for result in (ours, theirs)]
        ratio = ours.rate / theirs.rate
        rows.append([case, *(f"{value:.0f}" for value in micros), f"{ratio:.1f}"])
        claims.append(Claim(f"{case}, 1 core", ratio, None))
    report.add_table("One image, 1 core: microseconds", ["case", OURS, THEIRS, "times"], rows)
    for claim in claims:
        report.add_claim(claim)
    return report
