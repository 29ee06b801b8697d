"""Claim: the seed's pipeline over B through `tfrkit.tf` at 1.25 x TensorFlow, with equal results.

Parse, decode_jpeg, resize to 96 x 96, / 255, shuffle(1024), batch(64), prefetch. Batches are compared bit for bit
first, in their shuffled order. Peak memory is at most half of TensorFlow's.
"""

from __future__ import annotations

from benchmarks import images
from benchmarks.harness import Contender, Report, Settings, in_child


def contenders(settings: Settings) -> list[Contender]:
    """Ours and TensorFlow's."""
    paths, count = images.photos(settings)
    images.require_equal(
        images.seed_program(images.ours(), paths), images.seed_program(images.tensorflow(), paths)
    )
    return [
        images.contender("tfrkit.tf", "tfrkit.tf", "seed", paths, count),
        images.contender("TensorFlow", "TensorFlow", "seed", paths, count),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("images_seed")
    results = in_child("images_seed", "contenders", settings, cores=2)
    report.add_results("The seed's pipeline of photos: B, 2 cores", results)
    report.ratio("The seed's pipeline, B, 2 cores", results[0], results[1:], 1.25)
    images.report_memory(report, settings, "the seed's pipeline of photos", ("tfrkit.tf", "seed"), "seed")
    return report
