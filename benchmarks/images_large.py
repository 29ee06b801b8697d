"""Claim: photos of 2,000 x 1,500 at quality 90 through `decode_image(size=(224, 224), scaled=True)` at 2 x TensorFlow.

Peak memory is at most half of TensorFlow's.
"""

from __future__ import annotations

from pathlib import Path

from benchmarks import images, samples
from benchmarks.data import folder
from benchmarks.harness import Contender, Report, Settings, in_child

SIZE = (1500, 2000)
QUALITY = 90
DISTINCT = 12
IMAGES = 1000


def make(settings: Settings) -> tuple[Path, int]:
    """Make the file if it is missing; gives it and how many images it has."""
    import simplejpeg

    tfr = images.plain()
    count = max(images.BATCH, round(IMAGES * settings.scale))
    path = folder(settings.scale) / f"large-{count}.tfrecord"
    if not path.exists():
        pictures = samples.pictures(DISTINCT, SIZE)
        encoded = [simplejpeg.encode_jpeg(each, QUALITY, colorsubsampling="420") for each in pictures]
        with tfr.TFRecordWriter(path, atomic=True) as writer:
            for number in range(count):
                writer.write_example({"image": encoded[number % DISTINCT], "label": number})
    return path, count


def contenders(settings: Settings) -> list[Contender]:
    """Ours and TensorFlow's."""
    path, count = make(settings)
    return [
        images.contender("tfrkit, scaled", "tfrkit", "large scaled", [path], count),
        images.contender("TensorFlow", "TensorFlow", "large theirs", [path], count),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("images_large")
    results = in_child("images_large", "contenders", settings, cores=2)
    report.add_results("decode_image of 2,000 x 1,500 to 224 x 224, 2 cores", results)
    report.ratio("Photos of 2,000 x 1,500 to 224 x 224, 2 cores", results[0], results[1:], 2.0)
    path, _ = make(settings)
    mine = ("tfrkit", "large scaled")
    images.report_memory(report, settings, "large photos", mine, "large theirs", [str(path)])
    return report
