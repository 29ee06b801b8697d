"""Claim: B through `decode_image(size=(96, 96), scaled=True)` + batch at 1.35 x TensorFlow.

TensorFlow parses, decodes and resizes in a map with parallel calls. The exact way of `decode_image` is compared bit for
bit first, and its rate stands beside; so does that of the decoder alone, on two threads. Peak memory is at most half of
TensorFlow's.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import images
from benchmarks.harness import Contender, Report, Settings, by_name, in_child


def _decoder_alone(paths: Sequence[Path], count: int) -> Contender:
    """The codec in two threads, over images that are in memory."""
    import simplejpeg

    tfr = images.plain()
    spec = {"image": tfr.FixedLenFeature([], "bytes")}
    found = [each for path in paths[:1] for block in tfr.read_blocks(path) for each in _of(tfr, block, spec)]

    def work(part: list[bytes]) -> None:
        for image in part:
            simplejpeg.decode_jpeg(image, "RGB", True, False)

    def run() -> int:
        threads = [threading.Thread(target=work, args=(found[first::2],)) for first in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return len(found)

    size = round(sum(path.stat().st_size for path in paths) * len(found) / count)
    return Contender("simplejpeg alone, decoding only", run, "records", len(found), size)


def _of(tfr: Any, block: Any, spec: Any) -> list[bytes]:
    found: list[bytes] = tfr.parse_example(block, spec)["image"].to_list()
    return found


def contenders(settings: Settings) -> list[Contender]:
    """Ours, TensorFlow's, and the decoder alone."""
    paths, count = images.photos(settings)
    tfr, tf = images.plain(), images.tensorflow()
    images.require_equal(images.WAYS["exact"](tfr, paths), images.WAYS["theirs"](tf, paths))
    return [
        images.contender("tfrkit, scaled", "tfrkit", "scaled", paths, count),
        images.contender("tfrkit, exact", "tfrkit", "exact", paths, count),
        images.contender("TensorFlow", "TensorFlow", "theirs", paths, count),
        _decoder_alone(paths, count),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("images_decode")
    results = by_name(in_child("images_decode", "contenders", settings, cores=2))
    report.add_results("decode_image to 96 x 96: B, 2 cores", list(results.values()))
    rival = [results["TensorFlow"]]
    report.ratio("decode_image to 96 x 96, B, 2 cores", results["tfrkit, scaled"], rival, 1.35)
    report.ratio("decode_image to 96 x 96, B, 2 cores", results["tfrkit, exact"], rival, None)
    images.report_memory(report, settings, "decode_image of B", ("tfrkit", "scaled"), "theirs")
    return report
